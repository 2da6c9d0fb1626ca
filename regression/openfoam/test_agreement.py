#!/usr/bin/env python3
"""cavity3d by Capstan and by OpenFOAM's own PCG and PBiCGStab: pressure and velocity agree to 1e-6.

usage: test_agreement.py <build folder> <ranks>
"""

import pathlib
import re
import sys
import unittest

import foam

METHOD = "capstan_sstep_gmres"
TOLERANCE = 1e-11
AGREEMENT = 1e-6
BUILD = pathlib.Path(sys.argv[1]).resolve()
RANKS = int(sys.argv[2])


def run_cavity(solver):
    folder = BUILD / f"regression/openfoam/cavity3d-np{RANKS}-{solver}"
    script = foam.ROOT / "app-inputs/openfoam/cavity3d/run"
    log = foam.run_or_raise([script, "--n", 12, "--steps", 3, "--ranks", RANKS, "--solver", solver, "--method", METHOD,
                             "--tolerance", TOLERANCE, "--rel-tol", 0, "--precision", 14, "--folder", folder],
                            foam.environment(BUILD))
    return folder, log


class Agreement(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder, cls.log = run_cavity("capstan")
        cls.reference, cls.reference_log = run_cavity("PCG")

    def test_each_run_used_its_own_solver(self):
        self.assertEqual({line[0] for line in foam.solver_lines(self.log)}, {METHOD})
        self.assertEqual({line[0] for line in foam.solver_lines(self.reference_log)}, {"DICPCG", "DILUPBiCGStab"})

    def test_every_solve_meets_the_tolerance(self):
        lines = foam.solver_lines(self.log)
        self.assertEqual(len(lines), 3 * (3 + 2))
        for _, field, _, last, _ in lines:
            self.assertLess(last, TOLERANCE, field)

    def test_first_residuals_are_openfoams(self):
        ours, theirs = foam.solver_lines(self.log), foam.solver_lines(self.reference_log)
        for (_, field, first, _, _), (_, _, expected, _, _) in zip(ours, theirs):
            self.assertAlmostEqual(first, expected, delta=1e-6 * expected + 1e-12, msg=field)

    def test_pressure(self):
        fields = [foam.without_mean(foam.read_field(case, "p", RANKS)) for case in (self.folder, self.reference)]
        self.assertLess(foam.relative_difference(*fields), AGREEMENT)

    def test_velocity(self):
        fields = [foam.read_field(case, "U", RANKS) for case in (self.folder, self.reference)]
        self.assertLess(foam.relative_difference(*fields), AGREEMENT)

    def test_summary(self):
        match = re.search(r"^total: (\d+) solves, (\d+) iterations, ([0-9.]+) s$", self.log, re.MULTILINE)
        self.assertIsNotNone(match, "the summary is missing")
        lines = foam.solver_lines(self.log)
        self.assertEqual(int(match.group(1)), len(lines))
        self.assertEqual(int(match.group(2)), sum(line[4] for line in lines))
        row = re.search(r"^p +%s +muelu +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +([0-9.]+) +([0-9.]+) " % METHOD, self.log, re.MULTILINE)
        self.assertIsNotNone(row, "the summary has no complete row for p")
        solves, unconverged, builds, iterations, passes = (int(row.group(i)) for i in range(1, 6))
        self.assertEqual((solves, unconverged), (6, 0))
        self.assertIn(builds, range(1, 7))
        self.assertEqual(iterations, sum(line[4] for line in lines if line[1] == "p"))
        self.assertLessEqual(passes, 2 * solves, "OpenFOAM's test was missed more often than not")
        self.assertLess(float(row.group(6)), 1, "an s-step method needs less than one reduction an iteration")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
