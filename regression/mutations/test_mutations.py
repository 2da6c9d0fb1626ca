#!/usr/bin/env python3
"""The list of faults fits the sources, and a fault leaves nothing behind.

usage: test_mutations.py BUILD    BUILD: the build folder
"""

import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
SCRIPT = pathlib.Path(__file__).resolve().with_name("run")
LOADER = importlib.machinery.SourceFileLoader("mutations", str(SCRIPT))
mutations = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutations", LOADER))
LOADER.exec_module(mutations)
BUILD = pathlib.Path()
ROW = {"name": "a fault", "file": "code.txt", "find": "one", "replace": "two", "test": "some"}


class List(unittest.TestCase):
    def test_each_fault_can_be_put_in(self):
        done = subprocess.run([SCRIPT, "--check", "--build", BUILD], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^20 faults can be put in\n$")

    def test_a_name_that_no_fault_has(self):
        done = subprocess.run([SCRIPT, "--check", "--build", BUILD, "--only", "none"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (1, "regression/mutations/run: --only: no fault is called 'none'\n"))


class Fault(unittest.TestCase):
    """In a repository of its own."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.addCleanup(setattr, mutations, "ROOT", mutations.ROOT)
        mutations.ROOT = pathlib.Path(scratch.name)
        self.file = mutations.ROOT / "code.txt"
        self.file.write_text("one and only\n")
        for words in (["init", "-q"], ["add", "."], ["-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "x"]):
            subprocess.run(["git", *words], cwd=mutations.ROOT, check=True)

    def refused(self, text, *rows):
        path = mutations.ROOT / "list.yaml"
        path.write_text(repr([dict(row) for row in rows]))
        with self.assertRaises(mutations.Refused) as caught:
            mutations.read(path)
        self.assertIn(text, str(caught.exception))

    def test_lists_that_are_refused(self):
        self.refused("'three' stands 0 times in code.txt; allowed: once", {**ROW, "find": "three"})
        self.refused("'on' stands 2 times", {**ROW, "find": "on"})
        self.refused("no.txt is not there", {**ROW, "file": "no.txt"})
        self.refused("find and replace are the same", {**ROW, "replace": "one"})
        self.refused("two faults have the same name", ROW, ROW)
        self.refused("allowed: build", {**ROW, "tests": "some"})
        self.refused("found no list of faults")

    def test_it_is_there_for_the_time_of_a_block(self):
        with self.assertRaises(KeyboardInterrupt), mutations.fault(ROW):
            self.assertEqual(self.file.read_text(), "two and only\n")
            raise KeyboardInterrupt
        self.assertEqual(self.file.read_text(), "one and only\n")

    def test_changes_of_your_own_are_refused(self):
        self.file.write_text("one and mine\n")
        with self.assertRaises(mutations.Refused), mutations.fault(ROW):
            self.fail("it was put in")
        self.assertEqual(self.file.read_text(), "one and mine\n")


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
