#!/usr/bin/env python3
"""Tests of how a program ends, and of the nearest word."""

import contextlib
import io
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

# pylint: disable=wrong-import-position
from tutorials.errors import NotInstalled, RunFailed, WrongUse, exit_status, nearest, not_allowed  # noqa: E402


class Ends(unittest.TestCase):
    def end(self, work):
        with contextlib.redirect_stderr(io.StringIO()) as said:
            return exit_status("name", work), said.getvalue()

    def test_what_work_returns(self):
        for value, status in ((None, 0), (True, 0), (False, 1)):
            self.assertEqual(self.end(lambda value=value: value), (status, ""))

    def test_errors_are_told(self):
        for kind, status in ((RunFailed, 1), (WrongUse, 2), (NotInstalled, 3)):
            def work(kind=kind):
                raise kind("one\ntwo")
            self.assertEqual(self.end(work), (status, "name: one\nname: two\n"))

    def test_a_user_who_interrupts_knows_why(self):
        def work():
            raise KeyboardInterrupt
        self.assertEqual(self.end(work), (130, ""))

    def test_other_errors_are_ours(self):
        with self.assertRaises(ZeroDivisionError):
            self.end(lambda: 1 / 0)


class Words(unittest.TestCase):
    def test_nearest(self):
        self.assertEqual(nearest("dilu", ["DIC", "DILU"]), "DILU")
        self.assertIsNone(nearest("a", []))
        self.assertEqual(nearest("capstan_gc", ["capstan_cr", "capstan_cg"]), "capstan_cg", "the same letters")
        self.assertEqual(str(not_allowed("place", "b", ["a", "bc"])), "place: found 'b'; allowed: a, bc; did you mean 'bc'?")


if __name__ == "__main__":
    unittest.main()
