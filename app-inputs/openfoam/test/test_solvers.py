#!/usr/bin/env python3
"""Tests of what a choice of solver changes in fvSolution."""

import pathlib
import re
import sys
import types
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "app-inputs/openfoam"))

# pylint: disable=wrong-import-position
from tutorials import errors, solvers  # noqa: E402
from tutorials.foam_text import FoamText  # noqa: E402
from tutorials.solvers import Choice, edit_solution  # noqa: E402

SOLUTION = """solvers
{
    "pcorr.*" { solver GAMG; smoother GaussSeidel; tolerance 0.02; relTol 0; }
    p { $pcorr; tolerance 1e-06; relTol 0.01; }
    p_rgh { solver PCG; preconditioner DIC; tolerance 1e-07; relTol 0.05; }
    p_rghFinal { $p_rgh; relTol 0; }
    "(U|k)" { solver smoothSolver; smoother symGaussSeidel; nSweeps 2; }
    "alpha.*" { nAlphaCorr 2; cAlpha 1; }
    "beta.*" { nLimiterIter 5; solver smoothSolver; smoother GaussSeidel; tolerance 1e-8; }
    D { type coupled; solver PBiCCCG; preconditioner DILU; tolerance (1e-5 1e-5 1e-5); }
}
SIMPLE { solver untouched; }
"""
CASE = types.SimpleNamespace(name="name", pressure=["p", "p_rgh", "pcorr"], asymmetric=[])


def edited(**choice):
    return FoamText(edit_solution(SOLUTION, Choice(**choice), CASE))


class Editing(unittest.TestCase):
    def entry(self, text, key):
        return {word: text.get(["solvers", key, word]) for word in text.keys(["solvers", key])}

    def test_own_changes_nothing(self):
        self.assertEqual(edit_solution(SOLUTION, Choice(), CASE), SOLUTION)

    def test_plain_changes_one_word(self):
        text = edited(solver="capstan").text
        self.assertEqual(text, re.sub(r"solver (GAMG|PCG|smoothSolver);", "solver capstan;", SOLUTION))
        self.assertEqual(text.count("solver capstan;"), 4)

    def test_without_leftovers(self):
        text = edited(solver="capstan", leftovers=False)
        self.assertEqual(self.entry(text, "p_rgh"), {"solver": "capstan", "tolerance": "1e-07", "relTol": "0.05"})
        self.assertEqual(self.entry(text, "(U|k)"), {"solver": "capstan"})
        self.assertEqual(self.entry(text, "beta.*"), {"nLimiterIter": "5", "solver": "capstan", "tolerance": "1e-8"})
        self.assertEqual(text.get("SIMPLE/solver"), "untouched")

    def test_a_symmetric_method_is_the_pressures_alone(self):
        text = edited(solver="capstan_cg", preconditioner="DIC", caching="never")
        self.assertEqual(self.entry(text, "pcorr.*")["method"], "capstan_cg")
        self.assertEqual(self.entry(text, "p_rgh")["preconditioner"], "DIC")
        self.assertEqual(self.entry(text, "p_rgh")["solver"], "capstan")
        self.assertTrue(text.is_dictionary("solvers/p_rgh/caching/preconditioner"))
        self.assertEqual(edited(solver="capstan", caching="periodic").get("solvers/p_rgh/caching/preconditioner/periodicCoeffs/frequency"),
                         "3")
        rest = self.entry(text, "(U|k)")
        self.assertEqual((rest["solver"], rest.get("method"), rest.get("preconditioner")), ("capstan", None, None))

    def test_an_asymmetric_method_is_everybodys(self):
        text = edited(solver="capstan_bicgstab")
        for key in ("pcorr.*", "p_rgh", "(U|k)"):
            self.assertEqual(self.entry(text, key)["method"], "capstan_bicgstab")
        self.assertEqual(self.entry(text, "D")["solver"], "PBiCCCG", "a coupled solver is another interface")

    def test_pressure_only(self):
        text = edited(solver="capstan_bicgstab", everything=False)
        self.assertEqual(self.entry(text, "(U|k)")["solver"], "smoothSolver")
        self.assertEqual(self.entry(text, "p_rgh")["solver"], "capstan")

    def test_openfoams_solvers(self):
        text = edited(solver="PCG", preconditioner="GAMG")
        self.assertEqual(text.get("solvers/pcorr.*/preconditioner/smoother"), "GaussSeidel")
        self.assertEqual(self.entry(text, "(U|k)")["solver"], "smoothSolver")
        text = edited(solver="PCG")
        self.assertEqual([self.entry(text, key)["preconditioner"] for key in ("pcorr.*", "p_rgh")], ["DIC", "DIC"])
        self.assertEqual(self.entry(edited(solver="GAMG"), "p_rgh")["smoother"], "GaussSeidel")

    def test_a_polynomial_degree(self):
        text = edited(solver="capstan_cg:4", preconditioner="DIC")
        self.assertEqual(text.get(["solvers", "p_rgh", "method"]), "capstan_cg")
        self.assertEqual(text.get(["solvers", "p_rgh", "capstan", "Polynomial_Degree"]), "4")
        text = edited(solver="capstan_cg", preconditioner="GAMG", coarsest="capstan_pipelined_cg:8")
        level = ["solvers", "p_rgh", "preconditioner", "coarsestLevelCorr"]
        self.assertEqual([text.get([*level, *key]) for key in (("method",), ("capstan", "Polynomial_Degree"))],
                         ["capstan_pipelined_cg", "8"])
        self.assertTrue(Choice("GAMG", coarsest="capstan_cg:4").uses_capstan())
        for choice, part in ((Choice("capstan_gmres:4"), "allowed with capstan_cg and capstan_pipelined_cg"),
                             (Choice("capstan_cg:x"), "a degree is a whole number"),
                             (Choice("GAMG", coarsest="capstan_ecg:2"), "capstan_ecg has no degree"),
                             (Choice("PCG:4"), "found 'PCG:4'")):
            with self.assertRaises(errors.WrongUse) as caught:
                solvers.check_choice(choice)
            self.assertIn(part, str(caught.exception))

    def test_the_coarsest_level_of_multigrid(self):
        text = edited(solver="GAMG", coarsest="capstan_cg", coarsest_cells=300)
        found = text.get(["solvers", "p_rgh", "coarsestLevelCorr", "method"])
        self.assertEqual(found, "capstan_cg")
        self.assertEqual(self.entry(text, "p_rgh")["nCellsInCoarsestLevel"], "300")
        self.assertTrue(Choice("GAMG", coarsest="capstan_cg").uses_capstan())
        own = Choice("GAMG", coarsest="PCG")
        self.assertFalse(own.uses_capstan())
        self.assertEqual(own.label(), "GAMG/PCG")
        text = edited(solver="capstan_cg", preconditioner="GAMG", coarsest="capstan_sstep_gmres", coarsest_cells=30)
        cycle = ["solvers", "p_rgh", "preconditioner"]
        self.assertEqual([text.get([*cycle, *key]) for key in (("smoother",), ("coarsestLevelCorr", "method"),
                                                               ("nCellsInCoarsestLevel",))],
                         ["GaussSeidel", "capstan_sstep_gmres", "30"])
        self.assertEqual(Choice("PCG", "GAMG", coarsest="PCG").label(), "PCG/PCG+GAMG")
        for choice, part in ((Choice("PCG", coarsest="PCG"), "only GAMG"),
                             (Choice("GAMG", coarsest="GAMG"), "allowed: PCG, capstan_cg")):
            with self.assertRaises(errors.WrongUse) as caught:
                solvers.check_choice(choice)
            self.assertIn(part, str(caught.exception))

    def test_own_solvers_varied(self):
        text = edited(varied=True)
        self.assertEqual(self.entry(text, "(U|k)")["smoother"], "GaussSeidel")
        multigrid = self.entry(text, "pcorr.*")
        self.assertEqual((multigrid["smoother"], multigrid["nCellsInCoarsestLevel"]), ("symGaussSeidel", "20"))
        for key in ("p", "p_rgh", "p_rghFinal", "alpha.*", "D"):
            self.assertEqual(self.entry(text, key), self.entry(FoamText(SOLUTION), key))
        with self.assertRaises(errors.WrongUse):
            solvers.check_choice(Choice("PCG", varied=True))

    def test_verify(self):
        self.assertEqual(self.entry(edited(solver="capstan_cg", verify=True), "p_rgh")["verify"], "yes")
        self.assertNotIn("verify", self.entry(edited(solver="capstan_cg"), "p_rgh"))
        for choice in (Choice("PCG", verify=True), Choice(verify=True), Choice("GAMG", coarsest="capstan_cg", verify=True)):
            with self.assertRaises(errors.WrongUse) as caught:
                solvers.check_choice(choice)
            self.assertIn("--verify: ", str(caught.exception))

    def test_tolerances_win_over_macros(self):
        text = edited(tolerance="1e-9", rel_tol="0")
        for key in ("pcorr.*", "p", "p_rgh", "p_rghFinal", "(U|k)", "beta.*"):
            found = self.entry(text, key)
            self.assertEqual((found["tolerance"], found["relTol"], found["maxIter"]), ("1e-9", "0", "5000"), key)
        self.assertEqual(text.keys("solvers/p_rghFinal")[0], "$p_rgh")
        self.assertEqual(self.entry(text, "alpha.*"), {"nAlphaCorr": "2", "cAlpha": "1"})

    def test_tighter(self):
        text = edited(tighter=0.01, rel_tol="0")
        self.assertEqual([self.entry(text, key).get("tolerance") for key in ("p", "p_rgh", "p_rghFinal", "(U|k)")],
                         ["1e-08", "1e-09", None, "1e-08"])


class Words(unittest.TestCase):
    def test_methods_are_those_of_the_registry(self):
        rows = (ROOT / "belos_ext/registry/methods.cpp").read_text(encoding="utf-8")
        self.assertEqual(set(re.findall(r'"(capstan_\w+)",', rows)), set(solvers.METHODS))

    def test_those_with_a_polynomial_are_those_of_the_registry(self):
        rows = (ROOT / "belos_ext/registry/methods.cpp").read_text(encoding="utf-8")
        taking = {re.search(r'"(capstan_\w+)",', row)[1] for row in re.split(r"\brow<", rows)[1:] if "WithPolynomial<" in row.split("(")[0]}
        self.assertEqual(taking, set(solvers.WITH_POLYNOMIAL))

    def test_preconditioners_are_those_of_the_adapter(self):
        rows = (ROOT / "adapters/preconditioners/preconditioner.cpp").read_text(encoding="utf-8")
        table = rows[rows.index("preconditionerNames() {"):rows.index("return names;")]
        self.assertEqual(re.findall(r'\{"(\w+)",', table), ["none", *solvers.TRILINOS_PRECONDITIONERS])

    def test_leftovers_are_those_of_the_adapter(self):
        """What the adapter keeps for multigrid or tells to have no effect."""
        text = (ROOT / "adapters/openfoam/solver_controls.C").read_text(encoding="utf-8")
        lists = [re.search(rf"> {name}{{([^}}]*)}};", text)[1] for name in ("baseKeys", "otherKeys")]
        compat = (ROOT / "adapters/openfoam/foam_compat.H").read_text(encoding="utf-8")
        # What all releases of ESI-OpenCFD have, and the Foundation's have not.
        lists.append(re.search(r"newMultigridControls\(\) {(.*?)#if OPENFOAM >", compat, re.DOTALL)[1])
        keys = [key for words in lists for key in re.findall(r'"(\w+)"', words)]
        self.assertEqual(sorted(solvers.LEFTOVERS), sorted(["preconditioner", *keys]))

    def test_entries_of_the_pressure(self):
        for key, expected in (("p", True), ("pFinal", True), ("p.*", True), ("(p_rgh|p_rghFinal)", True), ("pp", False),
                              ("(U|k)", False), ("U", False)):
            self.assertEqual(solvers.is_pressure(key, CASE.pressure), expected, key)

    def test_labels(self):
        self.assertEqual(Choice("capstan_cg", "DIC", "never").label(), "capstan_cg+DIC+never")


if __name__ == "__main__":
    unittest.main()
