#!/usr/bin/env python3
"""Applications of the preconditioner in cavity3d, in pressure solves of a few iterations: by every method hardly more than
iterations, counted from the report of each solve.

usage: test_applications.py <build folder> <ranks>
"""

import json
import pathlib
import sys
import unittest

import foam

BUILD = pathlib.Path(sys.argv[1]).resolve()
RANKS = int(sys.argv[2])
STEPS = 5
CELLS = 12
SOLVES = 2 * STEPS

# method: (applications an iteration, beyond the iterations: of the first solve, of a later one in the mean). The target of the
# 2-norm moves when OpenFOAM's norm is measured near the end of the first solve; guesses from earlier solves shorten later ones, one
# more than the other, and s-step methods go by how long they were.
METHODS = {
    "capstan_gmres": (1, 0, 0),
    "capstan_sstep_gmres": (1, 2, 0.6),
    "capstan_pipelined_gmres": (1, 3, 2),
    "capstan_pipelined_sstep_gmres": (1, 3, 2),
    "capstan_cg": (1, 0, 0.5),  # the corrections that multigrid scales are no fixed M
    "capstan_pipelined_cg": (1, 3, 1),
    "capstan_ecg": (1, 1, 1),
    "capstan_embedded_cg": (1, 1, 1),
    "capstan_cr": (1, 1, 1),
    "capstan_pipelined_cr": (1, 1, 1),
    "capstan_bicgstab": (2, 2, 1),
    "capstan_pipelined_bicgstab": (2, 3, 1),
    "capstan_idr": (1, 2, 1),
}
# OpenFOAM's multigrid is not linear: only these bear it as they are.
FLEXIBLE = ("capstan_gmres", "capstan_cg")


def folder(name):
    return BUILD / f"regression/openfoam/applications-np{RANKS}-{name}"


class Applications(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.environment = foam.environment(BUILD)
        cls.prepared = folder("prepared")
        foam.run_or_raise([foam.ROOT / "app-inputs/openfoam/cavity3d/run", "--n", CELLS, "--steps", STEPS, "--ranks", RANKS,
                           "--solver", "PCG", "--folder", cls.prepared], cls.environment)

    def solves_of(self, method, preconditioner):
        """(iterations, applications of M) of each solve of p."""
        case = folder(f"{method}-{preconditioner}")
        log = foam.launch_copy(
            self.prepared, case,
            f'"p.*" {{ solver capstan; method {method}; preconditioner {preconditioner}; tolerance 1e-7; relTol 1e-4; '
            'capstan { Report_File "report.json"; } }\n'
            "U { solver PBiCGStab; preconditioner DILU; tolerance 1e-7; }\n", RANKS, self.environment)
        found = [solve for solve in foam.read_solves(log) if solve.field == "p"]
        self.assertEqual({solve.solver for solve in found}, {method})
        reports = json.loads((case / "report.json").read_text(encoding="utf-8"))
        self.assertEqual(len(reports), SOLVES, "a solve took several passes")
        self.assertEqual([report["converged"] for report in reports], [True] * SOLVES)
        self.assertEqual([report["iterations"] for report in reports], [solve.iterations for solve in found])
        return [(report["iterations"], report["preconditioner_applications"]) for report in reports]

    def check(self, method, preconditioner):
        each, first, later = METHODS[method]
        solves = self.solves_of(method, preconditioner)
        print(f"\n{method}, {preconditioner}, {RANKS} rank(s), iterations and applications: {solves}", file=sys.stderr)
        self.assertGreater(min(iterations for iterations, _ in solves), 1)
        wasted = [applications - each * iterations for iterations, applications in solves]
        self.assertGreaterEqual(min(wasted), 1 - each, "the last iteration of BiCGStab may be half a one")
        self.assertLessEqual(wasted[0], first)
        self.assertLessEqual(sum(wasted[1:]) / (SOLVES - 1), later)

    def test_no_method_is_left_out(self):
        self.assertEqual(set(METHODS), foam.methods())


def add_tests():
    for method in METHODS:
        for preconditioner in ("muelu", "GAMG") if method in FLEXIBLE else ("muelu",):
            def test(self, method=method, preconditioner=preconditioner):
                self.check(method, preconditioner)
            setattr(Applications, f"test_{method}_{preconditioner}", test)


add_tests()

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
