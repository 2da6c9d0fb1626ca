#!/usr/bin/env python3
"""Tests of summary.awk: what is kept of a fresh machine's log."""

import pathlib
import subprocess
import unittest

SUMMARY = pathlib.Path(__file__).resolve().with_name("summary.awk")


def tests(failed):
    lines = ["Test project /root/capstan/build"]
    for number in range(300):
        lines += [f"      Start {number}: test{number}", f"{number}/300 Test #{number}: test{number} ....   Passed   0.1 sec"]
    lines += ["", f"{90 if failed else 100}% tests passed, {failed} tests failed out of 300", "", "Label Time Summary:",
              "unit = 1.00 sec*proc (300 tests)", "", "Total Test time (real) = 398.81 sec"]
    if failed:
        lines += ["", "The following tests FAILED:", *(f"\t  {number} - broken{number} (Failed)" for number in range(failed)),
                  "Errors while running CTest"]
    return lines


def log(failed):
    return "\n".join([
        "Fresh machine: Debian 12.15, 88 packages, 2 cores of a processor", "Sources: commit abc of 2026-11-21: " + "x" * 400, "",
        "$ ./capstan run case", "capstan: installing 2 Debian packages: " + "y" * 400,
        *(f"capstan: installing packages, for {minute} min: Get:{minute} http://some.host/pool" for minute in range(100)),
        *(f"Time = {step}" for step in range(500)), "total: 20 solves", "[exit status 0 after 154 s]", "",
        "$ ./capstan test", "capstan: building (2 jobs): all", *tests(failed),
        f"[exit status {8 if failed else 0} after 641 s]", "", "Versions: g++ 12.2, openfoam 1912", f"{'FAILED' if failed else 'PASSED'}, 2026-11-21T09:05:38Z", ""])


class Summary(unittest.TestCase):
    def kept(self, failed):
        done = subprocess.run(["awk", "-f", str(SUMMARY)], input=log(failed), capture_output=True, text=True, check=True)
        lines = done.stdout.splitlines()
        self.assertLess(len(lines), 60)
        self.assertLessEqual(max(map(len, lines)), 150)
        return lines

    def test_a_good_run(self):
        lines = self.kept(0)
        for line in ("$ ./capstan run case", "total: 20 solves", "[exit status 0 after 154 s]", "$ ./capstan test",
                     "capstan: building (2 jobs): all", "100% tests passed, 0 tests failed out of 300",
                     "Total Test time (real) = 398.81 sec", "Versions: g++ 12.2, openfoam 1912", "[exit status 0 after 641 s]", "PASSED, 2026-11-21T09:05:38Z"):
            self.assertIn(line, lines)
        self.assertNotIn("test7", "\n".join(lines))
        self.assertNotIn("some.host", "\n".join(lines))

    def test_a_bad_run_names_what_failed(self):
        for failed in (3, 250):
            lines = self.kept(failed)
            self.assertIn("\t  0 - broken0 (Failed)", lines)
            self.assertIn(f"90% tests passed, {failed} tests failed out of 300", lines)
            self.assertEqual(lines[-1], "FAILED, 2026-11-21T09:05:38Z")

    def test_a_run_that_was_interrupted_tells_how_far_it_came(self):
        lines = log(0).splitlines()
        lines[lines.index("287/300 Test #287: test287 ....   Passed   0.1 sec")] = "287/300 Test #287: test287 ....***Failed   0.1 sec"
        begin = lines.index("      Start 290: test290")
        lines[begin:lines.index("[exit status 0 after 641 s]")] = []
        done = subprocess.run(["awk", "-f", str(SUMMARY)], input="\n".join(lines), capture_output=True, text=True, check=True)
        self.assertIn("289 tests passed before it was interrupted, 1 did not:\n287/300 Test #287: test287 ....***Failed   0.1 sec\n"
                      "[exit status 0 after 641 s]", done.stdout)


if __name__ == "__main__":
    unittest.main()
