#!/usr/bin/env python3
"""Tests of cmake/when_installed.py: runs, skips or refuses a test by what is installed."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "cmake" / "when_installed.py"
THERE = ["program:no-such-program,sh:dash", "module:json:python3"]
MISSING = ["program:no-such-program,nor-this:some-package", "module:no_such_module:another-package"]


class WhenInstalled(unittest.TestCase):
    def call(self, needs, *command, **environment):
        kept = {key: value for key, value in os.environ.items() if key != "CI" and not key.startswith("CAPSTAN_")}
        done = subprocess.run([sys.executable, str(SCRIPT), "drawing", *needs, "--", *command], capture_output=True, text=True,
                              check=False, env={**kept, **environment}, timeout=60)
        return done.returncode, done.stdout

    def test_the_command_runs_with_its_own_status_and_arguments(self):
        self.assertEqual(self.call(THERE, "sh", "-c", 'echo "$0"; exit 5', "a b"), (5, "a b\n"))

    def test_what_is_missing_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            kept = pathlib.Path(folder) / "skipped"
            status, said = self.call(MISSING, "echo", "ran", CAPSTAN_SKIPPED_TESTS=str(kept))
            self.assertEqual(kept.read_text(encoding="utf-8"), said)
        self.assertEqual(status, 77)
        self.assertEqual(said, "drawing is skipped: no-such-program is not installed (Debian: some-package); "
                         f"{sys.executable} has no module no_such_module (Debian: another-package, for /usr/bin/python3)\n")

    def test_nothing_may_be_missing_after_the_set_up(self):
        for environment, expected in (({"CAPSTAN_COMPLETE_TESTS": "1"}, 1), ({"CAPSTAN_COMPLETE_TESTS": "0"}, 77),
                                      ({"CAPSTAN_COMPLETE_TESTS": "0", "CI": "true"}, 77), ({"CI": "false"}, 77)):
            with self.subTest(environment=environment):
                status, said = self.call(MISSING[:1], "echo", "ran", **environment)
                self.assertEqual(status, expected)
                self.assertIn("cannot run" if expected == 1 else "is skipped", said)

    def test_what_debian_12_alone_has_is_skipped_elsewhere(self):
        release = pathlib.Path("/etc/os-release")
        words = release.read_text(encoding="utf-8").splitlines() if release.exists() else []
        expected = 1 if "ID=debian" in words and 'VERSION_ID="12"' in words else 77
        status, said = self.call([MISSING[0] + "=12"], "echo", CAPSTAN_COMPLETE_TESTS="1")
        self.assertEqual(status, expected)
        self.assertIn("(Debian: some-package)", said)
        self.assertEqual(self.call([MISSING[0] + "=12", MISSING[1]], "echo", CAPSTAN_COMPLETE_TESTS="1")[0], 1)

    def test_nothing_may_be_missing_where_ci_could_have_installed_it(self):
        release = pathlib.Path("/etc/os-release")
        words = release.read_text(encoding="utf-8").splitlines() if release.exists() else []
        debian = "ID=debian" in words and 'VERSION_ID="12"' in words
        self.assertEqual(self.call(MISSING[1:], "echo", CI="true")[0], 1 if debian else 77)


if __name__ == "__main__":
    unittest.main()
