#!/usr/bin/env python3
"""The commands of docs/openfoam.md that start a case on Debian, with nothing else in the environment, and then with Capstan.

usage: test_start.py BUILD
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path()


def commands():
    """The block of commands that begins with WM_PROJECT_DIR."""
    text = (ROOT / "docs/openfoam.md").read_text(encoding="utf-8")
    return re.search(r"```sh\n(export WM_PROJECT_DIR=.*?)```", text, re.DOTALL)[1].splitlines()


class Start(unittest.TestCase):
    def sh(self, lines, folder):
        # What a container or the tests' environment says of MPI is no part of the recipe, but needed to run as root.
        env = {key: text for key, text in os.environ.items() if not key.startswith(("WM_", "FOAM_"))}
        done = subprocess.run(["bash", "-e"], input="\n".join(lines), cwd=folder, env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=240, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-6000:])
        return done.stdout

    def test_case_without_and_with_capstan(self):
        with tempfile.TemporaryDirectory() as scratch:
            lines = commands()
            self.assertIn("icoFoam", lines)
            self.assertRegex(self.sh(lines, scratch), r"PCG:\s+Solving for p")
            case = pathlib.Path(scratch) / "cavity"
            files = [case / "system" / name for name in ("controlDict", "fvSolution")]
            before = [file.read_bytes() for file in files]
            tool = f"python3 '{ROOT}/app-inputs/openfoam/switch_case.py'"
            enable = f"{tool} enable . --library '{BUILD}/lib/libcapstanFoam.so'"
            self.assertRegex(self.sh([lines[0], enable, "icoFoam"], case), r"capstan_cg:\s+Solving for p")
            self.assertRegex(self.sh([lines[0], f"{enable} capstan_gmres --field p", "icoFoam"], case), r"capstan_gmres:\s+Solving for p")
            self.sh([f"{tool} disable ."], case)
            self.assertEqual([file.read_bytes() for file in files], before)

    def test_serial_runs_share_no_folder_of_mpi(self):
        """A serial run with multigrid starts MPI. The folder of Open MPI 4 is one for all of a user, and one run would remove it from another."""
        said = subprocess.run(["mpirun", "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
        if not re.search(r"Open MPI\) [1-4]\.", said):
            self.skipTest("Open MPI 5 and later cannot start without a folder; each run has one of its own")
        with tempfile.TemporaryDirectory() as scratch:
            lines = commands()
            self.sh(lines, scratch)
            case = pathlib.Path(scratch) / "cavity"
            self.sh([f"python3 '{ROOT}/app-inputs/openfoam/switch_case.py' enable . --library '{BUILD}/lib/libcapstanFoam.so'"], case)
            solution = case / "system/fvSolution"
            text, changed = re.subn(r"preconditioner\s+DIC;", "preconditioner muelu;", solution.read_text(encoding="utf-8"))
            self.assertGreater(changed, 0)
            solution.write_text(text, encoding="utf-8")
            self.assertRegex(self.sh([lines[0], "export TMPDIR=/dev/null", "icoFoam"], case), r"capstan_cg:\s+Solving for p")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
