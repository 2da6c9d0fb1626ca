#!/usr/bin/env python3
"""Numbers that shell scripts write have a decimal point, also where the user's language has a comma."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
CASE = ROOT / "app-inputs/openfoam/cavity3d"
SOURCE = pathlib.Path("/usr/share/i18n/locales/de_DE")
# Programs of OpenFOAM and MPI, and Python, which is told what to run.
STAND_INS = {"blockMesh": "", "decomposePar": "", "mpirun": "", "icoFoam": "echo End", "python3": 'printf "%s\\n" "$@"'}


@unittest.skipUnless(shutil.which("localedef") and SOURCE.exists(), f"no localedef, or no {SOURCE} (Debian: locales)")
@unittest.skipUnless(shutil.which("mawk"), "no mawk: other kinds of awk write a point by themselves")
class WithAComma(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.locales = cls.enterClassContext(tempfile.TemporaryDirectory())
        # Its status is 1 for warnings.
        subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", f"{cls.locales}/de_DE.UTF-8"], capture_output=True, check=False)

    def setUp(self):
        self.work = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.work / "bin").mkdir()
        (self.work / "bin/awk").symlink_to(shutil.which("mawk"))
        for name, body in STAND_INS.items():
            (self.work / "bin" / name).write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
            (self.work / "bin" / name).chmod(0o755)
        (self.work / "build/lib").mkdir(parents=True)
        (self.work / "build/lib/libcapstanFoam.so").touch()
        self.environment = {**os.environ, "LOCPATH": self.locales, "LC_ALL": "de_DE.UTF-8", "PATH": f"{self.work}/bin:{os.environ['PATH']}",
                            "CAPSTAN_BUILD_DIR": str(self.work / "build")}
        # Else nothing is tested.
        self.assertEqual(self.run_words("mawk", 'BEGIN { printf "%g", 0.5 }'), "0,5")

    def run_words(self, *words):
        done = subprocess.run(words, capture_output=True, text=True, check=False, env=self.environment, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_the_settings_of_the_cavity(self):
        self.run_words(CASE / "run", "--n", "40", "--ranks", "1", "--steps", "3", "--turns", "0", "--folder", self.work / "case")
        written = (self.work / "case/system/caseSettings").read_text(encoding="utf-8")
        self.assertIn("\ndeltaT 0.0125;\nendTime 0.0375;\n", written)

    def test_what_a_comparison_is_told(self):
        self.assertIn("\nsystem/caseSettings:deltaT=0.0125\n", self.run_words(CASE / "run", "--compare", "--n", "40"))

    def test_the_minutes_of_a_soak(self):
        self.assertEqual(self.run_words("bash", "-c", f'source "{ROOT}/cmake/launcher/soak.sh"; minutes_share 1 2'), "0.5")


if __name__ == "__main__":
    sys.exit(unittest.main())
