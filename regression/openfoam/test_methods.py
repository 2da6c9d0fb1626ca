#!/usr/bin/env python3
"""Every method of Capstan, with MueLu, Ifpack2 and no preconditioner, gives OpenFOAM's own fields: symmetric and asymmetric
matrices, cells coupled across cyclic, and on more ranks processor and processorCyclic, patches. hypre's BoomerAMG serves
some of them the same, where the build has it.

Conjugate gradients solve p alone; an asymmetric U has a method of GMRES type beside them.

usage: test_methods.py <build folder> <ranks>
"""

import json
import pathlib
import re
import sys
import unittest

import foam

TOLERANCE = 1e-11
AGREEMENT = 1e-6
BUILD = pathlib.Path(sys.argv[1]).resolve()
RANKS = int(sys.argv[2])

# method: (the method for U beside it, parameters)
METHODS = {
    "capstan_gmres": ("capstan_gmres", ""),
    "capstan_sstep_gmres": ("capstan_sstep_gmres", ""),
    "capstan_pipelined_gmres": ("capstan_pipelined_gmres", "Pipeline_Depth 2;"),
    "capstan_pipelined_sstep_gmres": ("capstan_pipelined_sstep_gmres", "Step_Size 4; Pipeline_Depth 1;"),
    "capstan_cg": ("capstan_gmres", ""),
    "capstan_pipelined_cg": ("capstan_gmres", "Pipeline_Depth 2;"),
    "capstan_ecg": ("capstan_gmres", "Enlarging_Factor 4;"),
    "capstan_embedded_cg": ("capstan_gmres", 'Hypercube_Mapping klf; Report_File "report.json";'),
    "capstan_cr": ("capstan_gmres", ""),
    "capstan_pipelined_cr": ("capstan_gmres", ""),
    "capstan_bicgstab": ("capstan_bicgstab", ""),
    "capstan_pipelined_bicgstab": ("capstan_pipelined_bicgstab", ""),
    "capstan_idr": ("capstan_idr", "Shadow_Space 2;"),
    "capstan_auto": ("capstan_auto", 'Choice_File "choice.json";'),
}
# name: (for p, for U)
PRECONDITIONERS = {
    "muelu": ("muelu", "{ preconditioner muelu; file momentum; }"),
    "ifpack2": ("riluk", "ilut"),
    "none": ("none", "none"),
    "boomeramg": ("boomeramg", "{ preconditioner boomeramg; strong_threshold 0.5; }"),
}
# The deck's tests try BoomerAMG with all of them.
OWN = ("PCG", "PBiCGStab")  # which an entry with a preconditioner was written for
WITH_BOOMERAMG = ("capstan_cg", "capstan_pipelined_cg", "capstan_sstep_gmres")


def entry(field, method, preconditioner, parameters):
    end = "" if preconditioner.endswith("}") else ";"
    return (f"{field} {{ solver capstan; method {method}; preconditioner {preconditioner}{end} tolerance {TOLERANCE}; "
            f"verify yes; summary yes; capstan {{ {parameters} }} }}\n")


def names(method):
    """Those under which its solves are printed: of CAPSTAN those of the methods that it chooses, and of OpenFOAM's own solvers."""
    return sorted(set(METHODS) - {"capstan_auto"}) + list(OWN) if method == "capstan_auto" else [method]


def folder(name):
    return BUILD / f"regression/openfoam/methods-np{RANKS}-{name}"


class Methods(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.environment = foam.environment(BUILD)
        cls.prepared = folder("prepared")
        foam.copy_case("channel", cls.prepared, RANKS, "")
        foam.prepare(cls.prepared, RANKS, cls.environment)
        cls.reference, _ = cls.run_channel("openfoam", foam.own_solvers(TOLERANCE))

    @classmethod
    def run_channel(cls, name, solvers):
        """Runs a copy of the prepared case; returns its folder and the log."""
        case = folder(name)
        return case, foam.launch_copy(cls.prepared, case, solvers, RANKS, cls.environment)

    def check(self, method, preconditioner):
        for_u, parameters = METHODS[method]
        p_preconditioner, u_preconditioner = PRECONDITIONERS[preconditioner]
        case, log = self.run_channel(
            f"{method}-{preconditioner}",
            entry('"p.*"', method, p_preconditioner, parameters)
            + entry("U", for_u, u_preconditioner, parameters if for_u == method else ""))
        solves = foam.read_solves(log)
        self.assertEqual(len(solves), 3 * (3 + 2))
        for solve in solves:
            self.assertIn(solve.solver, names(method if solve.field == "p" else for_u))
            self.assertLess(solve.final, TOLERANCE, solve.field)
        rows = re.findall(rf"^p +({'|'.join(names(method))}) +(?:{'|'.join((p_preconditioner, *OWN))}) +(\d+) +0 ", log, re.MULTILINE)
        self.assertEqual(sum(int(count) for _, count in rows), 6, "solves of p in the summary:\n" + log[-2000:])
        for field in ("p", "U"):
            self.assertLess(foam.field_difference(case, self.reference, field, RANKS), AGREEMENT, field)

        if method == "capstan_embedded_cg":
            self.check_report(json.loads((case / "report.json").read_text(encoding="utf-8")))
        if method == "capstan_auto":
            self.check_choices(json.loads((case / "choice.json").read_text(encoding="utf-8")))

    def check_report(self, solves):
        """A is OpenFOAM's own product, whatever the preconditioner: nothing is embedded, and the report says so."""
        self.assertTrue(solves)
        for solve in solves:
            communication = solve["communication"]
            self.assertEqual((communication["used"], communication["embedded"]), ("application", None))
            self.assertEqual(communication["reason"], "the operator's own: it is not a Tpetra::CrsMatrix")

    def check_choices(self, file):
        """Each field has a choice of its own, whose arms are methods for it."""
        chosen = {one["system"].split(",")[0]: one["best"] for one in file["systems"]}
        self.assertEqual(set(chosen), {"p", "Ux", "Uy", "Uz"})
        for component in ("Ux", "Uy", "Uz"):
            self.assertNotRegex(chosen[component], "CAPSTAN (CG|CR)")
        self.assertEqual({one["ranks"] for one in file["systems"]}, {RANKS})

    def test_no_method_is_left_out(self):
        self.assertEqual(set(METHODS) - {"capstan_auto"}, foam.methods())


def add_tests():
    for method in METHODS:
        for preconditioner in PRECONDITIONERS:
            if preconditioner == "boomeramg" and (method not in WITH_BOOMERAMG or not foam.has_hypre(BUILD)):
                continue

            def test(self, method=method, preconditioner=preconditioner):
                self.check(method, preconditioner)
            setattr(Methods, f"test_{method}_{preconditioner}", test)


add_tests()

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
