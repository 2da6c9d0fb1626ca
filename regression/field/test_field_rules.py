#!/usr/bin/env python3
"""Tests of the rules that cases from the field are judged by: each problem is found, and a sound solve has none."""

import pathlib
import tempfile
import unittest

import field_foam
import field_rules
import field_solutions


def solve(**changes):
    sound = {"system": "A", "solver": "cg-none", "method": "capstan_cg", "preconditioner": "none", "claimed_converged": True,
             "converged": True, "iterations": 10, "reason": "converged", "relative_residual": 1e-9, "scaled_by": "initial residual"}
    return {**sound, **changes}


def failed(**changes):
    return solve(claimed_converged=False, converged=False, reason="max iterations", relative_residual=0.5, **changes)


class Always(unittest.TestCase):
    def test_a_sound_solve_has_no_problem(self):
        self.assertEqual(field_rules.always([solve(), failed(), solve(method="PSEUDOBLOCK CG", preconditioner="jacobi")]), [])

    def test_a_false_claim_is_found(self):
        self.assertIn("claims", field_rules.always([{**failed(), "claimed_converged": True}])[0])

    def test_a_false_claim_of_belos_is_not_ours(self):
        self.assertEqual(field_rules.always([{**failed(method="PSEUDOBLOCK CG"), "claimed_converged": True}]), [])

    def test_an_x_worse_than_the_guess_is_found(self):
        for residual in (1.1, float("inf"), float("nan")):
            self.assertIn("worse", field_rules.always([{**failed(), "relative_residual": residual}])[0])

    def test_what_belos_solves_is_not_lost(self):
        peer = solve(method="PSEUDOBLOCK CG", solver="pcg-none")
        self.assertIn("PSEUDOBLOCK CG solves it in 10", field_rules.always([failed(), peer])[0])
        self.assertEqual(field_rules.always([failed(), {**peer, "method": "BLOCK GMRES"}]), [])
        self.assertEqual(field_rules.always([failed(), {**peer, "system": "B"}]), [])


class OfCase(unittest.TestCase):
    def test_an_outcome_other_than_expected_is_found(self):
        problems = field_rules.of_case("G26", [solve(method="capstan_gmres"), failed(method="capstan_bicgstab", solver="b")])
        self.assertEqual(problems, ["A, b: max iterations, expected converged"])

    def test_too_many_iterations_are_found(self):
        problems = field_rules.of_case("G26", [solve(method="capstan_gmres", iterations=18), solve(method="capstan_bicgstab")])
        self.assertEqual(problems, ["A, cg-none: 18 iterations, 17 at most"])

    def test_a_solve_that_is_missing_is_found(self):
        self.assertIn("no such solve", field_rules.of_case("G26", [solve(method="capstan_gmres")])[0])

    def test_what_holds_on_one_rank_is_asked_of_one_rank(self):
        self.assertEqual(len(field_rules.of_case("G24", [solve(iterations=4)], 1)), 1)
        self.assertEqual(field_rules.of_case("G24", [solve(iterations=4)], 2), [])

    def test_every_method_of_capstan_has_a_family(self):
        for methods in field_rules.FAMILIES.values():
            for method in methods:
                self.assertNotEqual(field_rules.family_of(method), "")
        self.assertEqual(field_rules.family_of("BLOCK GMRES"), "GMRES")

    def test_a_residual_that_is_not_reached_is_found(self):
        variant = field_rules.Variant("G08", (), (field_rules.Expected("A", None, residual=1e-12),))
        self.assertEqual(field_rules.of_case("G08", [solve(relative_residual=1e-13), solve(relative_residual=0)], 1, variant), [])
        self.assertIn("1e-12 expected", field_rules.of_case("G08", [solve(relative_residual=1e-9)], 1, variant)[0])

    def test_a_type_of_gmres_that_stays_behind_is_found(self):
        peer, ours = solve(method="BLOCK GMRES", solver="b", iterations=100), solve(method="capstan_gmres", iterations=121)
        self.assertIn("BLOCK GMRES 100", field_rules.as_block_gmres("R16", [peer, ours])[0])
        self.assertEqual(field_rules.as_block_gmres("R16", [peer, {**ours, "iterations": 120}]), [])
        self.assertEqual(field_rules.as_block_gmres("G08", [peer, ours]), [])
        stuck = failed(method="BLOCK GMRES", solver="b")
        self.assertIn("BLOCK GMRES 5.00e-01", field_rules.as_block_gmres("R07", [stuck, {**failed(method="capstan_gmres"),
                                                                                         "relative_residual": 0.9}])[0])

    def test_every_row_names_a_case_once(self):
        names = {*field_rules.EXPECTED, *field_rules.TESTS, *(variant.case for variant in field_rules.VARIANTS), *field_foam.MOST}
        for name in names:
            self.assertRegex(name, r"^[BFGR]\d\d$")


class OfSolutions(unittest.TestCase):
    def write(self, folder, name, kind, lines):
        (folder / name).write_text(f"%%MatrixMarket matrix {kind} real general\n" + "\n".join(lines) + "\n", encoding="utf-8")

    def test_an_x_that_grows_and_one_that_is_not_finite_are_found(self):
        with tempfile.TemporaryDirectory() as made:
            folder = pathlib.Path(made)
            for name, value in (("a", "1"), ("b", "101"), ("c", "nan")):
                self.write(folder, f"A_{name}_0_x.mtx", "array", ["1 1", value])
            solves = [solve(solver="a"), failed(solver="b"), failed(solver="c")]
            self.assertEqual(len(field_solutions.bounded(folder, solves)), 2)
            self.assertEqual(field_solutions.finite(folder, solves), ["A, c: x is not finite"])


class OfOpenFoam(unittest.TestCase):
    OWN = "F03 own ranks 1: exit 0 (124: hang)\n  p              solves 40, iterations 1000, most 75 | last: p\n"

    def test_a_sound_run_has_no_problem(self):
        self.assertEqual(field_foam.judge("F03", self.OWN, self.OWN.replace("own", "capstan")), [])

    def test_what_is_wrong_is_found(self):
        for changed in (self.OWN.replace("exit 0", "exit 124"), self.OWN.replace("40", "39"), self.OWN.replace("1000", "1300"),
                        self.OWN + "      3 Capstan: fallback\n"):
            self.assertEqual(len(field_foam.judge("F03", self.OWN, changed)), 1, changed)


if __name__ == "__main__":
    unittest.main()
