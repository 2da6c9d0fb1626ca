#!/usr/bin/env python3
"""Tests of the rules that cases from the field are judged by: each problem is found, and a sound solve has none."""

import unittest

import field_rules


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


if __name__ == "__main__":
    unittest.main()
