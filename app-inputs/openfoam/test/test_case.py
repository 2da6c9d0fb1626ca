#!/usr/bin/env python3
"""Tests of case files: what they say, and that mistakes are named before anything runs. A folder of made-up tutorials takes
the place of the installed ones."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HERE))

# pylint: disable=wrong-import-position
from tutorials import workspace, yaml_text  # noqa: E402
from tutorials.case import make_case  # noqa: E402
from tutorials.errors import WrongUse  # noqa: E402


class CaseFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tutorials = pathlib.Path(folder.name)
        for name in ("solver/one", "solver/other"):
            (self.tutorials / name / "system").mkdir(parents=True)
            (self.tutorials / name / "system/controlDict").write_text("application true;\n", encoding="utf-8")

    def case(self, text):
        return make_case(yaml_text.read_text(text, "file"), "file", self.tutorials, "name")

    def test_values_and_defaults(self):
        case = self.case("tutorial: solver/one\nprepare: [restore0, 'true -x \"a b\"', m4 a b]\nsteps: 3\nasymmetric: p\n"
                         "tight: 1e-8\nedits: {system/a: {b/c: 'd', e: ~}}\n")
        self.assertEqual(case.tutorial, self.tutorials / "solver/one")
        self.assertEqual(case.prepare, [["restore0"], ["true", "-x", "a b"], ["m4", "a", "b"]])
        self.assertEqual((case.application, case.steps, case.tight), (["true"], 3, 1e-8))
        self.assertEqual((case.pressure, case.asymmetric), (["p", "pcorr"], ["p"]))
        self.assertEqual(case.edits, {"system/a": {"b/c": "d", "e": None}})
        self.assertEqual(self.case("tutorial: solver/one\napplication: false -a\nslices: z").application, ["false", "-a"])

    def test_mistakes(self):
        for text, *expected in (
                ("a: b", "file:1: unknown key: found 'a'", "did you mean"), ("steps: 1", "found neither"),
                ("tutorial: solver/won", "file:1: tutorial: found 'solver/won'", "of 2 below", "did you mean 'solver/one'"),
                ("folder: nowhere", "folder: found 'nowhere'", "no folder with"),
                ("tutorial: solver/one\nsteps: 0", "file:2: steps: found '0'; allowed: a whole number"),
                ("tutorial: solver/one\ntight: -1", "file:2: tight: found '-1'; allowed: a number above 0"),
                ("tutorial: solver/one\nslices: w", "file:2: slices: found 'w'; allowed: x, y, z"),
                ("tutorial: solver/one\nprepare: [blokMesh]", "no program: found 'blokMesh'", "did you mean 'blockMesh'"),
                ("tutorial: solver/one\nprepare: [m4 a]", "found 'm4 a'; allowed: m4 with 2"),
                ("tutorial: solver/one\nprepare: [remove ../x]", "found '../x'; allowed: a path inside the case"),
                ("tutorial: solver/one\nprepare: {a: b}", "prepare: found a mapping; allowed: a list"),
                ("tutorial: solver/one\nedits: {/etc/x: {a: b}}", "edits: /etc/x", "inside the case"),
                ("tutorial: solver/one\nedits: {x: {a: [b]}}", "edits: x: a: found a list"),
                ("tutorial: solver/one\npressure: [p]\nasymmetric: [q]", "file:3: asymmetric: found 'q'; allowed: p"),
                ("- a", "found a list; allowed: a mapping")):
            with self.subTest(text=text), self.assertRaises(WrongUse) as caught:
                self.case(text)
            for part in expected:
                self.assertIn(part, str(caught.exception))


class Commands(unittest.TestCase):
    """The script of a case: what it refuses before it works."""

    def run_case(self, *words):
        done = subprocess.run([HERE / "squareBend/run", *words], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    @unittest.skipUnless(workspace.EXAMPLES.is_dir(), "openfoam-examples is not installed")
    def test_wrong_arguments(self):
        for words, *expected in ((["--solver", "capstan_bicstab"], "--solver: found 'capstan_bicstab'",
                                  "did you mean 'capstan_bicgstab'"),
                                 (["--solver", "capstan_cg"], "the matrix of p in squareBend is asymmetric"),
                                 (["--preconditioner", "DIC"], "did you mean 'DILU'"),
                                 (["--preconditioner", "dilu"], "found 'dilu'; allowed: none, diagonal, DIC",
                                  "did you mean 'DILU'"),
                                 (["--solver", "own", "--preconditioner", "DIC"], "the tutorial's own solvers have their own"),
                                 (["--solver", "GAMG", "--caching", "never"], "allowed with Capstan's solvers only"),
                                 (["--caching", "sometimes"], "allowed: always, periodic, adaptive, never"),
                                 (["--compare", "--against", "PCG"], "the matrix of p in squareBend is asymmetric"),
                                 (["--rank", "2"], "unknown argument '--rank'; did you mean '--ranks'?"),
                                 (["--edit", "a=b"], "--edit: found 'a=b'; allowed: FILE:ENTRY=VALUE"),
                                 (["--edit", "../a:b=c"], "with a file inside the case"),
                                 (["--ranks", "0"], "--ranks: found '0'; allowed: a whole number"),
                                 (["--tolerance", "tight"], "--tolerance: found 'tight'; allowed: a number")):
            with self.subTest(words=words):
                status, text = self.run_case(*words)
                self.assertEqual(status, 2, text)
                for part in expected:
                    self.assertIn(part, text)

    @unittest.skipUnless(workspace.EXAMPLES.is_dir(), "openfoam-examples is not installed")
    def test_help(self):
        status, text = self.run_case("--help")
        self.assertEqual(status, 0)
        self.assertIn("--compare", text)


if __name__ == "__main__":
    unittest.main()
