#!/usr/bin/env python3
"""An application with Capstan ends as it would without, whoever is finalised or destroyed last: exit code 0, and no message.

usage: test_endings_app.py <application> <application linked with Capstan> <libcapstan.so> <mpiexec> <flag for the number of ranks>
       [RANKS ...]
"""

import os
import subprocess
import sys
import unittest

PLAIN, LINKED, LIBRARY, MPIEXEC, RANKS_FLAG = sys.argv[1:6]
RANKS = [int(word) for word in sys.argv[6:]] or [1, 2]
QUIET = ("main", "static", "exit", "own-mpi")
SOLVERS = ("CAPSTAN CG", "CAPSTAN GMRES S-STEP", "CAPSTAN CG PIPELINE")


class Endings(unittest.TestCase):
    def run_app(self, end, ranks, how, solver, rows=100):
        words = [f"--end={end}", f"--n={rows}", f"--solver={solver}"]
        variables = ["CAPSTAN_OPTIONS=Initial Guess: projection 3"] if solver.startswith("CAPSTAN") else []
        if how == "preloaded":
            variables.append(f"LD_PRELOAD={LIBRARY}")
            if "ASAN_OPTIONS" in os.environ:  # the preloaded library comes before the sanitizer's own
                variables.append("ASAN_OPTIONS=" + os.environ["ASAN_OPTIONS"] + ":verify_asan_link_order=0")
        elif how == "opened":
            words.append(f"--plugin={LIBRARY}")
        run = subprocess.run([MPIEXEC, RANKS_FLAG, str(ranks), "env", *variables, LINKED if how == "linked" else PLAIN, *words],
                             capture_output=True, text=True, timeout=120, check=False)
        return run.returncode, run.stdout, run.stderr

    def expect_quiet(self, end, ranks, how, solver, rows=100):
        with self.subTest(end=end, how=how, ranks=ranks, solver=solver, rows=rows):
            status, out, told = self.run_app(end, ranks, how, solver, rows)
            self.assertEqual((status, out), (0, "solved\n" * (2 if end == "exit" else 1)), told)
            if end in QUIET:
                self.assertEqual(told, "")
            # The application's maps are destroyed after MPI, which Tpetra calls an error.
            self.assertNotIn("apstan", told)

    @classmethod
    def setUpClass(cls):
        """The orders in which the application ends well with Belos' own solver, and without Capstan. With Kokkos 5 (Trilinos 17) those do
        not in which a solver outlives Kokkos."""
        runs = {end: cls().run_app(end, RANKS[-1], "alone", "BLOCK GMRES") for end in (*QUIET, "no-mpi")}
        cls.ends = [end for end, (status, _, _) in runs.items() if status == 0]
        print("the application alone ends well in the orders", ", ".join(cls.ends))

    def test_the_application_alone_ends_well(self):
        """In all orders where Kokkos is part of Trilinos' own libraries, as in Debian's Trilinos 13.2."""
        needed = subprocess.run(["ldd", PLAIN], capture_output=True, text=True, check=True).stdout
        orders = {*QUIET, "no-mpi"} if "libtrilinos_kokkoscore" in needed else {"main", "own-mpi"}
        self.assertLessEqual(orders, set(self.ends))

    def test_every_end_is_quiet(self):
        for end in self.ends:
            for how in ("preloaded", "linked", "opened"):
                for ranks in RANKS:
                    self.expect_quiet(end, ranks, how, SOLVERS[0])
            for solver in SOLVERS[1:]:
                self.expect_quiet(end, RANKS[-1], "preloaded", solver)

    def test_two_rows_are_no_exception(self):
        for end in self.ends:
            self.expect_quiet(end, RANKS[-1], "preloaded", SOLVERS[0], 2)

    def test_belos_own_solvers_end_alike(self):
        for end in self.ends:
            self.expect_quiet(end, RANKS[-1], "preloaded", "BLOCK GMRES")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
