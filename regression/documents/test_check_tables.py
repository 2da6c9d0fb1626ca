#!/usr/bin/env python3
"""Shows that check_tables.py notices a stale table, a missing marker and a listing that is no listing."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parent / "check_tables.py"
LISTING = ("| name |\n|---|\n| A |\n\n## Basic\n\n| key | type |\n|---|---|\n| k | int |\n\n## Compatibility\n\n- `c`: None.\n\n"
           "| A | M |\n|---|---|\n| 1 | 1 |\n")
README = "# T\n<!-- begin generated: solvers -->\n\n| name |\n|---|\n| A |\n\n<!-- end generated: solvers -->\ntext\n"
PARAMETERS = ("# P\n<!-- begin generated: parameters -->\n\n## Basic\n\n| key | type |\n|---|---|\n| k | int |\n\n"
              "## Compatibility\n\n- `c`: None.\n\n<!-- end generated: parameters -->\n")
METHODS = "<!-- begin generated: costs -->\n\n| A | M |\n|---|---|\n| 1 | 1 |\n\n<!-- end generated: costs -->\n"


class CheckTables(unittest.TestCase):
    def run_check(self, readme=README, parameters=PARAMETERS, listing=LISTING, update=False, status=0):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            files = {"README.md": readme, "docs/parameters.md": parameters, "docs/methods.md": METHODS}
            (root / "docs").mkdir()
            for name, text in files.items():
                (root / name).write_text(text, encoding="utf-8")
            program = root / "capstan-solve"
            program.write_text(f"#!/bin/sh\ncat <<'EOF'\n{listing}EOF\nexit {status}\n", encoding="utf-8")
            program.chmod(0o755)
            run = subprocess.run([sys.executable, str(CHECK), *(["--update"] if update else []), folder, str(program)],
                                 capture_output=True, text=True, check=False)
            after = [(root / name).read_text(encoding="utf-8") for name in files]
            return run.returncode, run.stdout + run.stderr, after

    def test_current_tables_pass(self):
        self.assertEqual(self.run_check()[0], 0)

    def test_stale_table_is_shown_and_left_alone(self):
        stale = PARAMETERS.replace("| k | int |", "| k | string |")
        status, output, after = self.run_check(parameters=stale)
        self.assertEqual(status, 1)
        self.assertIn("+| k | int |", output)
        self.assertIn("not current: docs/parameters.md;", output)
        self.assertEqual(after, [README, stale, METHODS])

    def test_what_stands_below_a_table_is_compared_too(self):
        self.assertIn("+- `c`: None.", self.run_check(parameters=PARAMETERS.replace("- `c`: None.", ""))[1])

    def test_update_writes_the_tables(self):
        status, _, after = self.run_check(README.replace("| A |", "| B |\n| C |"), update=True)
        self.assertEqual(status, 0)
        self.assertEqual(after, [README, PARAMETERS, METHODS])

    def test_missing_marker_fails(self):
        self.assertNotEqual(self.run_check(README.replace("begin generated: solvers", ""))[0], 0)

    def test_listing_without_rows_fails(self):
        self.assertNotEqual(self.run_check(listing="| name |\n|---|\n\n| key |\n|---|\n\n| A |\n|---|\n")[0], 0)

    def test_failing_program_fails(self):
        self.assertNotEqual(self.run_check(status=1)[0], 0)


if __name__ == "__main__":
    unittest.main()
