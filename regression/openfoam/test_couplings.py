#!/usr/bin/env python3
"""The assembled matrix equals OpenFOAM's own product, and so do product, DIC, FDIC and DILU with the cells in another
order, and the solution OpenFOAM's own, where cells are coupled across patches: cyclic, processor and processorCyclic,
symmetric and asymmetric matrices.

The channel is periodic along two axes; the sector's coupling rotates vectors, which scales their components.

usage: test_couplings.py <build folder> <ranks> <channel or sector>
"""

import pathlib
import sys
import unittest

import foam

METHOD = "capstan_sstep_gmres"
TOLERANCE = 1e-11
AGREEMENT = 1e-6
BUILD = pathlib.Path(sys.argv[1]).resolve()
RANKS = int(sys.argv[2])
CASE = sys.argv[3]

# `verify` compares products and preconditioners with OpenFOAM's and ends the run where they differ.
CAPSTAN = f"""
"p.*" {{ solver capstan; method {METHOD}; preconditioner muelu; tolerance {TOLERANCE}; verify yes; }}
U {{ solver capstan; method {METHOD}; preconditioner ilut; tolerance {TOLERANCE}; verify yes; }}
"""
# Their cells are put in another order.
ORDERED = f"""
p {{ solver capstan; method capstan_cg; preconditioner DIC; tolerance {TOLERANCE}; verify yes; }}
pFinal {{ $p; preconditioner FDIC; }}
U {{ solver capstan; method capstan_bicgstab; preconditioner DILU; tolerance {TOLERANCE}; verify yes; }}
"""


def run_case(name, solvers):
    case = BUILD / f"regression/openfoam/{CASE}-np{RANKS}-{name}"
    foam.copy_case(CASE, case, RANKS, solvers)
    return case, foam.solve(case, RANKS, foam.environment(BUILD))


class Couplings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.case, cls.log = run_case("capstan", CAPSTAN)
        cls.ordered, cls.ordered_log = run_case("ordered", ORDERED)
        cls.reference, _ = run_case("openfoam", foam.own_solvers(TOLERANCE))

    def test_every_solve_meets_the_tolerance(self):
        solves = foam.read_solves(self.log)
        self.assertEqual(len(solves), 3 * (3 + 2))
        self.assertEqual({solve.solver for solve in solves}, {METHOD})
        for solve in solves:
            self.assertLess(solve.final, TOLERANCE, solve.field)

    def test_cells_in_another_order(self):
        for field, preconditioner in (("p", "DIC"), ("p", "FDIC"), ("Ux", "DILU"), ("Uz", "DILU")):
            self.assertIn(f"Capstan: {field}: product and {preconditioner} in another order of the cells equal OpenFOAM's",
                          self.ordered_log)
        for solve in foam.read_solves(self.ordered_log):
            self.assertLess(solve.final, TOLERANCE, solve.field)

    def test_fields(self):
        for case in (self.case, self.ordered):
            for name in ("p", "U"):
                self.assertLess(foam.field_difference(case, self.reference, name, RANKS), AGREEMENT, name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
