#!/usr/bin/env python3
"""Tests of the rules that cases from the field are judged by: each problem is found, and a sound solve has none."""

import json
import pathlib
import tempfile
import unittest
from unittest import mock

import field_decks
import field_foam
import field_report
import field_rules
import field_solutions
import field_tests


def solve(**changes):
    sound = {"system": "A", "solver": "cg-none", "method": "capstan_cg", "preconditioner": "none", "claimed_converged": True,
             "converged": True, "iterations": 10, "reason": "converged", "relative_residual": 1e-9, "tolerance": 1e-8,
             "failure": None, "scaled_by": "initial residual", "capstan": {"right_hand_sides": [{"scale": 2.0}]}}
    return {**sound, **changes}


def failed(**changes):
    return solve(claimed_converged=False, converged=False, reason="max iterations", relative_residual=0.5, **changes)


# || b || of the systems.
GUESSES = {"A": [2.0], "B": [2.0]}


def always(solves):
    return field_rules.always(solves, GUESSES)


class Always(unittest.TestCase):
    def test_a_sound_solve_has_no_problem(self):
        self.assertEqual(always([solve(), failed(), solve(method="PSEUDOBLOCK CG", preconditioner="jacobi")]), [])

    def test_a_false_claim_is_found(self):
        self.assertIn("claims", always([{**failed(), "claimed_converged": True}])[0])

    def test_a_false_claim_of_belos_is_not_ours(self):
        self.assertEqual(always([solve(), {**failed(method="PSEUDOBLOCK CG"), "claimed_converged": True}]), [])

    def test_what_was_thrown_is_found(self):
        self.assertEqual(always([{**failed(), "failure": "/a/file.cpp:3:\n\nx", "capstan": None}]), ["A, cg-none: failed: /a/file.cpp:3: x"])
        self.assertEqual(always([solve(), {**failed(method="PSEUDOBLOCK CG"), "failure": "x", "capstan": None}]), [])

    def test_a_deck_without_solves_of_ours_is_found(self):
        self.assertEqual(always([failed(method="PSEUDOBLOCK CG")]), ["no solve of Capstan's"])

    def test_an_x_worse_than_the_guess_is_found(self):
        for residual in (1.1, float("inf"), float("nan")):
            self.assertIn("worse", always([{**failed(), "relative_residual": residual}])[0])

    def test_an_x_is_compared_with_the_guess_whatever_the_scale(self):
        """Residuals are divided by 0.5, || b || is 2."""
        other = {"scaled_by": "right-hand side", "capstan": {"right_hand_sides": [{"scale": 0.5}]}}
        self.assertEqual(always([{**failed(), "relative_residual": 3.9, **other}]), [])
        self.assertIn("worse", always([{**failed(), "relative_residual": 4.1, **other}])[0])

    def test_what_belos_solves_is_not_lost(self):
        peer = solve(method="PSEUDOBLOCK CG", solver="pcg-none")
        self.assertIn("PSEUDOBLOCK CG solves it in 10", always([failed(), peer])[0])
        self.assertEqual(always([failed(), {**peer, "method": "BLOCK GMRES"}]), [])
        self.assertEqual(always([failed(), {**peer, "system": "B"}]), [])
        self.assertEqual(always([failed(), {**peer, "relative_residual": 2e-8}]), [])


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

    def test_every_row_names_a_case(self):
        for name in {*field_rules.EXPECTED, *field_tests.TESTS, *field_foam.CASES}:
            self.assertRegex(name, r"^[BFGR]\d\d$")

    def test_every_variant_and_every_look_at_x_is_of_a_case_that_is_run(self):
        runs = {(name, ()) for name in field_rules.EXPECTED} | {(one.case, one.changes) for one in field_rules.VARIANTS}
        self.assertLessEqual({one.case for one in field_rules.VARIANTS}, set(field_rules.EXPECTED))
        self.assertLessEqual(set(field_solutions.CHECKS), runs)
        self.assertLessEqual(set(field_rules.AS_BLOCK_GMRES), set(field_rules.EXPECTED))


class OfDecks(unittest.TestCase):
    LINES = ["linear_solvers:", "  - {name: a, method: capstan_cg, preconditioner: ilut, tolerance: 1e-6}",
             "  - {name: b, method: BLOCK GMRES, preconditioner: none}", "systems:", "  - {name: A, rhs: b.mtx.gz, solver: all}"]

    def taken(self, **changes):
        variant = field_rules.Variant("G01", (), **changes)
        return [line[11:12] for line in self.LINES if line.startswith("  - {name: ") and field_decks.takes(variant, line)]

    def test_a_residual_that_is_no_number_is_infinite(self):
        """The report holds null for it."""
        with tempfile.TemporaryDirectory() as made:
            folder = pathlib.Path(made)
            (folder / "deck.yaml").write_text("systems:\n", encoding="utf-8")
            (folder / "report.json").write_text(json.dumps({"solves": [{**failed(), "relative_residual": None}]}), encoding="utf-8")
            solves = field_decks.read_solves(folder / "report.json")
            self.assertEqual(solves[0]["relative_residual"], float("inf"))
            with mock.patch.object(field_decks, "guesses", return_value=GUESSES):
                done = field_decks.judge(folder, "no such case", solves, 1, None, None)
        self.assertEqual((len(done.problems), done.counts.worse), (1, 1))
        self.assertIn("worse", done.problems[0])

    def test_a_variant_takes_the_solvers_that_it_says(self):
        self.assertEqual(self.taken(), ["a", "b", "A"])
        self.assertEqual(self.taken(ours=True), ["a", "A"])
        self.assertEqual(self.taken(only=("GMRES",)), ["b", "A"])
        self.assertEqual(self.taken(preconditioners=("ilut",)), ["a", "A"])


class OfTests(unittest.TestCase):
    TEXT = "[ RUN      ] All/A.B/1\n[       OK ] All/A.B/1 (3 ms)\n[  SKIPPED ] All/C.D/1 (0 ms)\n[  PASSED  ] 1 test.\n"

    def test_a_pattern_of_which_no_test_passes_is_found(self):
        self.assertEqual(field_tests.passed_of(self.TEXT, "*/A.*"), (1, []))
        self.assertEqual(field_tests.passed_of(self.TEXT, "*/A.B/*:*/C.*:*/E.*"), (1, ["*/C.*", "*/E.*"]))


class OfReport(unittest.TestCase):
    def test_what_was_not_run_is_a_problem(self):
        report = field_report.Report([1, 2])
        report.add("G01", 1, "", field_report.Done(1, 1, [], field_report.Counts(1, 1)))
        report.close(["G01", "F05"], {"F05": (1,)})
        self.assertEqual(report.failed(), 2)
        self.assertIn("| G01  | 1 of 1 ", report.table())
        self.assertIn("| F05  | 0 of 0, **1 problem** | - ", report.table())
        self.assertIn("1 solves, 1 converged, 0 falsely", report.summary())

    def test_a_run_of_nothing_is_a_problem(self):
        report = field_report.Report([1])
        report.add("G01", 1, "", field_report.Done())
        self.assertEqual(report.failed(), 1)


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

    def test_entries_come_to_the_solvers_of_their_region(self):
        with tempfile.TemporaryDirectory() as made:
            folder = pathlib.Path(made)
            (folder / "system/heater").mkdir(parents=True)
            (folder / "system/controlDict").write_text("endTime 1;\n", encoding="utf-8")
            for path in (folder / "system/fvSolution", folder / "system/heater/fvSolution"):
                path.write_text("solvers\n{\n    h\n    {\n        solver PCG;\n        relTol 0.1;\n    }\n}\nPIMPLE { }\n",
                                encoding="utf-8")
            field_foam.tighten(folder, field_foam.CASES["F09"])
            field_foam.with_capstan(folder, "lib.so", {"heater/h": "minIter 1;"})
            texts = [(folder / name).read_text(encoding="utf-8") for name in ("system/fvSolution", "system/heater/fvSolution")]
        self.assertNotIn("minIter", texts[0])
        self.assertIn("    h { minIter 1; }\n}\nPIMPLE", texts[1])
        for text in texts:
            self.assertIn("solver capstan;", text)
            self.assertIn("relTol 0;", text)


if __name__ == "__main__":
    unittest.main()
