#!/usr/bin/env python3
"""What run_clients.py reads and how it judges, without hypre."""

import array
import contextlib
import io
import math
import pathlib
import tempfile
import types
import unittest

import hypre_sources
import nalu_wind
import run_clients
import times
import untouched

IJ_OUTPUT = "PCG_Iterations = 3\nGMRES Iterations = 93\nFinal GMRES Relative Residual Norm = 8.225661e-09\nindex 19 value -7.5e-11\n"
JOBS = """mpirun -np 2 ./ij -solver 1 -rhsrand > solvers.out.0
#mpirun -np 2 ./ij -solver 8 -rhsrand > solvers.out.7
mpirun -np 2 ./ij -solver 20 -rhsrand > solvers.out.8
mpirun -np 8 ./ij -solver 3 > solvers.out.9
mpirun -np 2 ./ij -n 20 20 20 > solvers.out.10
"""
SAVED = """# Output file: solvers.out.0
Iterations = 7
Final Relative Residual Norm = 3.095059e-09

# Output file: solvers.out.sysh
 Average Convergence Factor = 0.119746
"""


class RunClients(unittest.TestCase):
    def judged(self, family, method, own, found, errors=""):
        outcome = hypre_sources.Outcome(f"Iterations = {found[0]}\nFinal Relative Residual Norm = {found[1]}\n", errors)
        with contextlib.redirect_stdout(io.StringIO()):
            table = run_clients.Table("title", "own")
            table.judge("ij", 2, "AMG", family, method, own, outcome, 1e-8)
        return table.wrong

    def test_reads_what_drivers_print(self):
        found = hypre_sources.Outcome(IJ_OUTPUT, "Capstan: told\nanother line\n")
        self.assertEqual((found.iterations, found.residual, found.entry, found.told), (93, 8.225661e-09, "-7.5e-11", ["Capstan: told"]))
        found = hypre_sources.Outcome("    2    1.4e-04    0.004    1.9e-05\n    3    8.4e-07    0.006    1.1e-07\n", "")
        self.assertEqual((found.iterations, found.residual), (3, 1.1e-07))
        with self.assertRaises(SystemExit):
            hypre_sources.Outcome("nothing", "")

    def test_judges_iterations_residuals_and_what_is_told(self):
        for family, method, own, found, wrong in (
                ("gmres", "capstan_gmres", 93, 94, 0), ("gmres", "capstan_gmres", 93, 95, 1), ("gmres", "capstan_gmres", 93, 91, 1),
                ("gmres", "capstan_sstep_gmres", 93, 98, 0), ("gmres", "capstan_sstep_gmres", 93, 99, 1),
                ("pcg", "capstan_cg", 100, 105, 0), ("pcg", "capstan_cg", 100, 106, 1), ("pcg", "capstan_cg", 7, 8, 0), ("pcg", "capstan_cg", 7, 9, 1)):
            self.assertEqual(self.judged(family, method, own, (found, 1e-9)), wrong, (method, own, found))
        self.assertEqual(self.judged("gmres", "capstan_gmres", 9, (9, 2e-8)), 1)
        self.assertEqual(self.judged("gmres", "capstan_gmres", 9, (9, "nan")), 1)
        self.assertEqual(self.judged("gmres", "capstan_gmres", 9, (9, 1e-9), "Capstan: hypre_gmres is left to hypre\n"), 1)

    def test_takes_the_lines_of_the_test_that_use_a_solver_of_ours(self):
        with tempfile.TemporaryDirectory() as scratch:
            path = pathlib.Path(scratch) / "file"
            path.write_text(JOBS, encoding="utf-8")
            self.assertEqual(list(run_clients.jobs(path, 4)), [("solvers.out.0", 2, ["-solver", "1", "-rhsrand"], 1)])
            self.assertEqual([job[0] for job in run_clients.jobs(path, 8)], ["solvers.out.0", "solvers.out.9"])
            path.write_text(SAVED, encoding="utf-8")
            self.assertEqual(run_clients.saved_results(path), {"solvers.out.0": (7, 3.095059e-09, None)})

    def test_leaves_out_times_where_outputs_are_compared(self):
        text = ("MINRES solver took 3s.\nwall clock time = 1\n\nIterations = 7\n"
                "Capstan: redirect: hypre_pcg: no solve was asked for by that name\n")
        self.assertEqual(untouched.settled(text), ["", "Iterations = 7"])
        runs = {None: ("Iterations = 7\ntook 1 s\n", ""), 7: ("Iterations = 7\ntook 2 s\n", ""), 8: ("Iterations = 8\n", ""),
                "told": ("Iterations = 7\n", "Capstan: told")}
        for kind, wrong in ((7, 0), (8, 1), ("told", 1)):
            run = types.SimpleNamespace(output=lambda name, words, ranks, redirect=None, kind=kind: runs[kind if redirect else None])
            with contextlib.redirect_stdout(io.StringIO()):
                table = run_clients.Table("title", "own")
                self.assertEqual(untouched.compare_untouched(run, [1], {"struct": ([], [[]])}, table), wrong)

    def test_measures_how_far_solutions_are_apart(self):
        self.assertAlmostEqual(nalu_wind.difference([3.0, 4.0], [3.0, 4.5]), 0.5 / math.hypot(3, 4.5))
        with tempfile.TemporaryDirectory() as scratch:
            path = pathlib.Path(scratch) / "x.bin"
            path.write_bytes(array.array("d", [1, 2]).tobytes())
            self.assertEqual(list(nalu_wind.read(path)), [1, 2])

    def test_a_difference_counts_as_wrong(self):
        outcome = hypre_sources.Outcome("Iterations = 9\nFinal Relative Residual Norm = 1e-9\ncomputed residual: 1e-9\nseconds of the solve: 0.5\n", "")
        self.assertEqual((outcome.seconds, outcome.computed), (0.5, 1e-9))
        with contextlib.redirect_stdout(io.StringIO()):
            table = run_clients.Table("title", "own")
            table.judge("nalu-wind", 2, "AMG", "gmres", "capstan_gmres", 9, outcome, 1e-8, problems=["difference"])
        self.assertEqual(table.wrong, 1)

    def test_what_is_measured_redirects_a_solver_of_the_same_driver(self):
        given = types.SimpleNamespace(small=True, nalu="tree")
        found = times.contests(given, pathlib.Path("mfem"), pathlib.Path("scratch"))
        self.assertEqual([one["program"] for one in found], ["ij", "ij", "ex5", "ex5", "ex2p", "nalu-wind", "nalu-wind"])
        for one in found:
            self.assertTrue(all(redirect is None for _, redirect, _ in one["own"].values()))
            for method, (words, redirect, parameters) in one["ours"].items():
                (name, to), = redirect.items()
                self.assertEqual((method.split(",")[0], words), (to, one["own"][name][0]))
                self.assertEqual(sorted(parameters), sorted(times.PARAMETERS[each.split()[0]] for each in method.split(", ")[1:]))


if __name__ == "__main__":
    unittest.main()
