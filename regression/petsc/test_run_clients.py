#!/usr/bin/env python3
"""What run_clients.py reads and how it judges, and how times are judged, without PETSc."""

import contextlib
import io
import pathlib
import struct
import tempfile
import unittest

import petsc_runs
import run_clients
from petsc_runs import host_runs

OUTPUT = """    0 KSP Residual norm 2.0
    1 KSP Residual norm 1e-11
  Linear solve converged due to CONVERGED_RTOL iterations 55
KSP final norm of residual 1e-10
    0 KSP Residual norm 4.0
  Linear solve {} due to CONVERGED_RTOL iterations {}
KSP final norm of residual {}
Nonlinear solve converged due to CONVERGED_FNORM_RELATIVE iterations {}
"""
LOG = """KSPSetUp               2 1.0 4.1709e-05 1.3 0.00e+00 0.0 0.0e+00
KSPSolve               1 1.0 1.5000e-02 1.0 5.00e+06 1.0 2.5e+02
KSPSolve               1 1.0 2.5000e-02 1.0 5.00e+06 1.0 2.5e+02
"""


def outcome(verdict="converged", iterations=54, residual=1e-10, newton=3, solution=(3.0, 4.0)):
    return petsc_runs.Outcome(OUTPUT.format(verdict, iterations, residual, newton), solution)


class RunClients(unittest.TestCase):
    def test_reads_what_programs_print(self):
        found = outcome()
        self.assertEqual((found.iterations, found.converged, found.newton), ([55, 54], True, [("CONVERGED_FNORM_RELATIVE", 3)]))
        self.assertEqual(found.residual, 5e-11)
        self.assertFalse(petsc_runs.Outcome("nothing").converged)
        self.assertIsNone(petsc_runs.Outcome("Linear solve converged due to CONVERGED_RTOL iterations 5\n").residual)
        self.assertAlmostEqual(petsc_runs.seconds_of(OUTPUT.format("converged", 5, 1e-10, 3) + LOG), 0.04)
        self.assertEqual(petsc_runs.seconds_of(OUTPUT.format("did not converge", 5, 1e-10, 3) + LOG), float("inf"))
        stages = "--- Event Stage 0: Main Stage\n\n" + LOG + "--- Event Stage 2: Steps\n\n" + LOG.splitlines()[1] + "\n"
        self.assertAlmostEqual(petsc_runs.seconds_of(OUTPUT.format("converged", 5, 1e-10, 3) + stages), 0.015)
        with self.assertRaises(SystemExit):
            petsc_runs.seconds_of("nothing")

    def test_reads_vectors(self):
        with tempfile.TemporaryDirectory() as scratch:
            path = pathlib.Path(scratch) / "x"
            path.write_bytes(struct.pack(">ii2d", 1211214, 2, 1.5, -2) + struct.pack(">iid", 1211214, 1, 7))
            self.assertEqual(petsc_runs.entries_in(path), [1.5, -2, 7])
            for wrong in (struct.pack(">ii", 1211214, 2), struct.pack("<iid", 1211214, 1, 7), b"text"):
                path.write_bytes(wrong)
                with self.assertRaises(SystemExit):
                    petsc_runs.entries_in(path)

    def test_judges(self):
        own = outcome()
        for family, method, found, wrong in (
                ("gmres", "capstan_gmres", {"iterations": 55}, 0), ("gmres", "capstan_gmres", {"iterations": 56}, 1),
                ("gmres", "capstan_gmres", {"iterations": 52}, 1), ("gmres", "capstan_sstep_gmres", {"iterations": 59}, 0),
                ("gmres", "capstan_sstep_gmres", {"iterations": 60}, 1), ("cg", "capstan_cg", {"iterations": 56}, 0),
                ("cg", "capstan_cg", {"iterations": 57}, 1), ("cg", "capstan_cg", {"residual": 5e-10}, 1),
                ("cg", "capstan_cg", {"residual": "nan"}, 1), ("cg", "capstan_cg", {"verdict": "did not converge"}, 1),
                ("cg", "capstan_cg", {"newton": 4}, 1), ("cg", "capstan_cg", {"solution": (3.0, 4.1)}, 1)):
            with self.subTest(f"{method}, {found}"):
                other = outcome(**found)
                problems = run_clients.problems_of(family, method, own, other, run_clients.apart(other.solution, own.solution))
                self.assertEqual(len(problems), wrong, problems)
        self.assertEqual(run_clients.apart((1.0, 2.0), (3.0,)), float("inf"))
        self.assertAlmostEqual(run_clients.apart((3.0, 5.0), (0.0, 2.0), constant=True), 0)


class Times(unittest.TestCase):
    def judged(self, latency, multigrid, ours):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            times = host_runs.Times("PETSc", 3)
            times.add("ex2", 2, latency, multigrid, {"cg": [4.0, 4.0, 4.0], "pipecg": [1.0, 2.0, 4.0]}, ours)
            times.end()
        return len(times.missed), printed.getvalue()

    def test_over_the_fastest_of_the_host_in_the_same_round(self):
        missed, text = self.judged(200, False, {"capstan_sstep_gmres": [0.4, 0.8, 2.0], "capstan_cg": [0.1, 0.1, 0.1]})
        self.assertRegex(text, r"capstan_sstep_gmres +0.8000 +0.40 +0.40 +0.50")
        self.assertIn("capstan_sstep_gmres, takes 0.40 of pipecg; goal 0.50: met", text)
        self.assertEqual(missed, 0)

    def test_goals_can_be_missed(self):
        for latency, multigrid, method, share, missed in ((200, False, "capstan_pipelined_cg", 0.6, 1), (200, True, "capstan_pipelined_cg", 0.6, 0),
                                                          (0, False, "capstan_cg", 1.1, 1), (0, True, "capstan_cg", 0.9, 0), (50, True, "capstan_cg", 9, 0)):
            with self.subTest(f"{latency}, {multigrid}, {share}"):
                self.assertEqual(self.judged(latency, multigrid, {method: [share, 2 * share, 4 * share]})[0], missed)

    def test_rounds_go_forwards_and_backwards_until_the_time_is_over(self):
        calls = []
        contestants = {name: (lambda name=name: calls.append(name) or len(calls)) for name in "ab"}
        self.assertEqual(host_runs.interleaved(contestants, 3), {"a": [1, 4, 5], "b": [2, 3, 6]})
        self.assertEqual("".join(calls), "abbaab")
        self.assertEqual(len(host_runs.interleaved(contestants, 3, minutes=0)["a"]), 1)


if __name__ == "__main__":
    unittest.main()
