#!/usr/bin/env python3
"""Compiles client.c and client.f90 as users of capstan.h and capstan.f90 would, and runs both on one and two ranks.

usage: test_clients.py LIBRARY MPIEXEC
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
LINE = re.compile(r"(CAPSTAN [\w -]+), (entries|a function): converged after (\d+) iterations")


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, words))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Clients(unittest.TestCase):
    def test_solve_alike_in_c_and_fortran(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            link = [f"-L{LIBRARY.parent}", "-lcapstanC", f"-Wl,-rpath,{LIBRARY.parent}"]
            warnings = ["-Wall", "-Wextra", "-Werror", "-pedantic"]
            run("mpicc", "-std=c99", *warnings, f"-I{HERE.parent}", HERE / "client.c", "-o", folder / "c", *link, "-lm")
            run("mpif90", "-std=f2008", *warnings, f"-J{folder}", HERE.parent / "capstan.f90", HERE / "client.f90", "-o",
                folder / "fortran", *link)
            for ranks in (1, 2):
                found = [LINE.findall(run(MPIEXEC, "-n", ranks, folder / program)) for program in ("c", "fortran")]
                self.assertEqual([how for _, how, _ in found[0]], ["entries", "entries", "a function"])
                self.assertEqual(found[0], found[1])
                self.assertEqual(found[0][0][2], found[0][2][2], "entries and a function")


if __name__ == "__main__":
    LIBRARY, MPIEXEC = pathlib.Path(os.path.abspath(sys.argv[1])), sys.argv[2]
    unittest.main(argv=sys.argv[:1])
