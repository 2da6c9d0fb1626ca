#!/usr/bin/env python3
"""Tests of the reader of case files. Where Python has a YAML reader of its own, both must say the same."""

import importlib.util
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

# pylint: disable=wrong-import-position
from tutorials.errors import WrongUse  # noqa: E402
from tutorials.plain_yaml import Reader  # noqa: E402

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


def read(text):
    return Reader(text, "file").read()


class Reading(unittest.TestCase):
    def test_document(self):
        found = read(DOCUMENT)
        self.assertEqual(found["about"], "text:with 'quotes', a#hash and [brackets")
        self.assertEqual(found["prepare"], ["blockMesh", "setFields # -x: 'y'", ["nested", ["twice"]]])
        self.assertEqual(found["edits"], {"system/fvSolution": {"PIMPLE/n (a|b)": "3", "removed": None}})
        self.assertEqual(found["list"], ["a", {"b": "c", "d e": ["f", "g, h"]}, "two", "lines"])
        self.assertEqual((found["empty"], found["braces"], found["last"]), (None, {}, "end"))
        self.assertEqual(found["more"], [{"case": "x", "ranks": ["one", "two"]}, {"case": "y"}])

    def test_lines(self):
        found = read(DOCUMENT)
        self.assertEqual((found.lines["about"], found.lines["list"], found["more"][1].line), (3, 15, 22))

    @unittest.skipUnless(importlib.util.find_spec("yaml"), "python3-yaml is not installed")
    def test_as_yaml(self):
        import yaml  # pylint: disable=import-outside-toplevel
        self.assertEqual(without_nulls(read(DOCUMENT)), without_nulls(yaml.load(DOCUMENT, yaml.BaseLoader)))
        for file in pathlib.Path(__file__).resolve().parents[3].glob("*/openfoam/**/*.yaml"):
            with self.subTest(file=file):
                text = file.read_text(encoding="utf-8")
                expected = yaml.load(text, yaml.BaseLoader)
                self.assertEqual(without_nulls(read(text)), without_nulls(expected))

    def test_a_list_of_one_level(self):
        self.assertEqual(read("- a\n- b: c\n  d: e\n"), ["a", {"b": "c", "d": "e"}])
        self.assertEqual(read("---\na: b"), {"a": "b"})

    def test_mistakes_name_file_and_line(self):
        for text, expected in (("a: b\na: c", "file:2: a: stands twice, first in line 1"), ("a: b\nc", "file:2: found 'c'"),
                               ("a: b\n  c: d", "file:2: 'c: d' is indented"), ("a: *b", "aliases"), ("a: b: c", "found 'b: c'"),
                               ("a: |\n  b", "block scalars"),
                               ("a: [b, c", "never closed"), ("a: [b c}", "found '}'"), ("a: [b] c", "behind the closing"),
                               ("a: {b}", "'key: value'"), ('a: "b', "quoted text"), ("\ta: b", "found a tab"), ("", "empty")):
            with self.subTest(text=text), self.assertRaises(WrongUse) as caught:
                read(text)
            self.assertIn(expected, str(caught.exception))


def without_nulls(value):
    """BaseLoader keeps '~' and nothing as text."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return None if value in ("~", "", None) else value


if __name__ == "__main__":
    unittest.main()
