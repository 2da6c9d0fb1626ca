#!/usr/bin/env python3
"""Tests of check_output.py with a program that prints what it is told."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent / "check_output.py"
SHOWN = """system   rows  solver  converged  seconds
-------  ----  ------  ---------  -------
laplace    64  s_step  yes          0.500
"""
README = "# T\n<!-- begin output: laplace3d -->\n\n```\n{}```\n\n<!-- end output: laplace3d -->\nend\n"


class CheckOutput(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.root = pathlib.Path(holder.name)

    def run_it(self, printed, *options, shown=SHOWN, status=0):
        """Status and output of the check, and README.md after it."""
        (self.root / "README.md").write_text(README.format(shown), encoding="utf-8")
        (self.root / "printed").write_text(printed, encoding="utf-8")
        program = self.root / "program"
        program.write_text(f"#!/bin/sh\ncat '{self.root}/printed'\nexit {status}\n", encoding="utf-8")
        program.chmod(0o755)
        run = subprocess.run([sys.executable, str(SCRIPT), *options, str(self.root), str(program)], capture_output=True, text=True,
                             check=False)
        return run.returncode, run.stdout + run.stderr, (self.root / "README.md").read_text(encoding="utf-8")

    def test_other_numbers_and_widths_pass(self):
        other = SHOWN.replace("   64", "12345").replace("0.500", "1e-07").replace("  s_step", "      s_step")
        self.assertEqual(self.run_it(other)[0], 0)
        self.assertEqual(self.run_it(SHOWN.replace("0.500", "    -"))[0], 0)

    def test_another_column_row_or_outcome_is_found(self):
        for old, new in (("seconds", "minutes"), ("  yes", "  NO "), ("s_step", "gmres"), ("  converged", ""),
                         ("laplace    64  s_step  yes          0.500\n", "")):
            status, said, _ = self.run_it(SHOWN.replace(old, new))
            self.assertEqual(status, 1, old)
            self.assertIn("update: ", said)

    def test_a_program_that_fails_is_told(self):
        status, said, _ = self.run_it(SHOWN, status=3)
        self.assertEqual(status, 1)
        self.assertIn("failed (3)", said)

    def test_update_writes_what_is_printed_and_nothing_else(self):
        status, _, readme = self.run_it(SHOWN, "--update", shown="old\n")
        self.assertEqual((status, readme), (0, README.format(SHOWN)))

    def test_missing_markers_are_told(self):
        self.run_it(SHOWN)
        (self.root / "README.md").write_text("# T\n", encoding="utf-8")
        run = subprocess.run([sys.executable, str(SCRIPT), str(self.root), "true"], capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 1)
        self.assertIn("it holds 0", run.stderr)


if __name__ == "__main__":
    unittest.main()
