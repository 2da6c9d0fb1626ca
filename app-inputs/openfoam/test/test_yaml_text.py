#!/usr/bin/env python3
"""Tests of the reader of case files, and of what happens without PyYAML."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HERE))

# pylint: disable=wrong-import-position
from tutorials.errors import WrongUse  # noqa: E402
from tutorials.yaml_text import DEBIANS_PYTHON, read, read_text  # noqa: E402

DOCUMENT = """# comment
tutorial: a/b   # behind a value
about: text:with 'quotes', a#hash and [brackets
prepare:
- blockMesh
- "setFields # -x: 'y'"
-
  - nested
  - - twice
edits:
  system/fvSolution:
    "PIMPLE/n (a|b)": '3'
    removed: ~
empty:
list: [a, {b: c, "d e": [f, "g, h"]},   # over
  two, lines]
braces: {}
more:
  - case: x
    ranks: [one, two]

  - case: y
last: end
"""


class Reading(unittest.TestCase):
    def test_document(self):
        found = read_text(DOCUMENT, "file")
        self.assertEqual(found["about"], "text:with 'quotes', a#hash and [brackets")
        self.assertEqual(found["prepare"], ["blockMesh", "setFields # -x: 'y'", ["nested", ["twice"]]])
        self.assertEqual(found["edits"], {"system/fvSolution": {"PIMPLE/n (a|b)": "3", "removed": None}})
        self.assertEqual(found["list"], ["a", {"b": "c", "d e": ["f", "g, h"]}, "two", "lines"])
        self.assertEqual((found["empty"], found["braces"], found["last"]), (None, {}, "end"))
        self.assertEqual(found["more"], [{"case": "x", "ranks": ["one", "two"]}, {"case": "y"}])

    def test_lines(self):
        found = read_text(DOCUMENT, "file")
        self.assertEqual((found.lines["about"], found.lines["list"], found["more"][1].line), (3, 15, 22))
        self.assertEqual(found["edits"]["system/fvSolution"].lines["removed"], 13)

    def test_scalars_stay_text(self):
        self.assertEqual(read_text("[1e-8, 010, yes, 2026-11-22, null, 'null', '']", "file"),
                         ["1e-8", "010", "yes", "2026-11-22", None, "null", ""])

    def test_a_list_of_one_level(self):
        self.assertEqual(read_text("- a\n- b: c\n  d: e\n", "file"), ["a", {"b": "c", "d": "e"}])
        self.assertEqual(read_text("---\na: b", "file"), {"a": "b"})

    def test_what_is_written_once_may_stand_twice(self):
        self.assertEqual(read_text("- &steps [blockMesh]\n- *steps\n- |\n  b\n", "file"), [["blockMesh"], ["blockMesh"], "b\n"])

    def test_mistakes_name_file_and_line(self):
        for text, expected in (("a: b\na: c", "file:2: a: stands twice, first in line 1"),
                               ("a: {b: c,\n b: d}", "file:2: b: stands twice, first in line 1"),
                               ("a: b\nc\n\nd: e", "file:2: found 'c': could not find expected ':'"),
                               ("a: b\n  c: d", "file:2: found 'c: d': mapping values are not allowed here"),
                               ("a: b: c", "file:1: found 'a: b: c': mapping values are not allowed here"),
                               ("a: *b", "file:1: found 'a: *b': found undefined alias 'b'"),
                               ("a: &b\n  - *b", "file:1: found an alias inside of what it stands for"),
                               ("a: b\nc: !d e", "file:2: found the tag '!d'; allowed: no tags"),
                               ("!d a: b", "file:1: found a key with the tag '!d'"),
                               ("a: b\n? [c]\n: d", "file:2: found a key with the tag 'tag:yaml.org,2002:seq'"),
                               ("a: [b,\n c\n", "file:2: found 'c': expected ',' or ']', but got '<stream end>', "
                                                "while parsing a flow sequence from line 1"),
                               ("a: [b c}", "file:1: found 'a: [b c}': expected ',' or ']', but got '}'"),
                               ("a: [b] c", "file:1: found 'a: [b] c': expected <block end>"),
                               ('a:\n  "b\n', "file:2: found '\"b': found unexpected end of stream"),
                               ("\ta: b", "file:1: found 'a: b': found character '\\t'"),
                               ("a: b\n--- c", "file:2: found '--- c': but found another document"),
                               ("a: b\nc: \0", "file:2: found the character U+0000"), ("", "file:1: the file is empty"),
                               ("# nothing", "file:1: the file is empty")):
            with self.subTest(text=text), self.assertRaises(WrongUse) as caught:
                read_text(text, "file")
            self.assertEqual(str(caught.exception)[:len(expected)], expected)

    def test_a_file_that_cannot_be_read(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "list.yaml"
            with self.assertRaisesRegex(WrongUse, f"{path}: cannot be read: .*No such file"):
                read(path)
            path.write_bytes(b"a: \xff")
            with self.assertRaisesRegex(WrongUse, f"{path}: cannot be read: .*utf-8"):
                read(path)


PROGRAM = f"""import sys
sys.path.insert(0, {str(HERE)!r})
from tutorials import errors, yaml_text
yaml_text.ensure_pyyaml()
sys.exit(errors.exit_status("program", lambda: print(sys.executable, *sys.argv[1:], yaml_text.read_text("a: b", "file"))))
"""


def imports_yaml(python, **environment):
    return subprocess.run([python, "-c", "import yaml"], stderr=subprocess.DEVNULL, env={**os.environ, **environment},
                          check=False).returncode == 0


class WithoutPyyaml(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "program.py").write_text(PROGRAM, encoding="utf-8")

    def run_program(self, python, **environment):
        done = subprocess.run([python, self.root / "program.py", "one", "two words"], capture_output=True, text=True,
                              check=False, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment}, timeout=60)
        return done.returncode, done.stdout, done.stderr

    def test_the_package_is_named(self):
        (self.root / "yaml.py").write_text("raise ImportError\n", encoding="utf-8")
        status, _, said = self.run_program(sys.executable, PYTHONPATH=str(self.root))
        self.assertEqual(status, 3, said)
        self.assertRegex(said, r"^program: \S+ has no module yaml .*apt-get install python3-yaml")
        self.assertEqual(said.count("\n"), 1)

    @unittest.skipUnless(pathlib.Path("/etc/debian_version").exists() and imports_yaml(DEBIANS_PYTHON),
                         "Debian's python3-yaml is not installed")
    def test_debians_python_takes_over(self):
        # A virtual environment: the Python that is asked for, without the modules of the machine.
        (self.root / "bin").mkdir()
        (self.root / "bin/python3").symlink_to(sys.executable)
        (self.root / "pyvenv.cfg").write_text(f"home = {pathlib.Path(sys.executable).parent}\n"
                                              "include-system-site-packages = false\n", encoding="utf-8")
        bare = {name: "" for name in ("PYTHONPATH", "PYTHONHOME") if name in os.environ}
        self.assertFalse(imports_yaml(self.root / "bin/python3", **bare))
        self.assertEqual(self.run_program(self.root / "bin/python3", **bare),
                         (0, f"{DEBIANS_PYTHON} one two words {{'a': 'b'}}\n", ""))


if __name__ == "__main__":
    unittest.main()
