#!/usr/bin/env python3
"""Tests of matrix.py, survey.py and foam.py themselves: reading lists, judging runs, writing results. No OpenFOAM is run."""

import pathlib
import sys
import tempfile
import types
import unittest
import xml.etree.ElementTree as xml

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

# pylint: disable=wrong-import-position
import foam  # noqa: E402
import matrix  # noqa: E402
import survey  # noqa: E402
from tutorials import solvers, workspace  # noqa: E402
from tutorials.errors import RunFailed, WrongUse  # noqa: E402
from tutorials.results import Solve  # noqa: E402

FIELD = """FoamFile {{ class volScalarField; }}
internalField nonuniform List<scalar> 3(1 2 {});
"""


def solve(field, iterations, converged=True, solver="capstan_cg"):
    return Solve("", field, solver, 1.0, 0.1, iterations, field, converged)


SUMMARY = """\
field method        preconditioner solves unconverged builds iterations passes
p     capstan_cg    DIC                 1           0      0         10      1
Ux    capstan_gmres none                1           0      0         20      1
{}total: {} solves, {} iterations, 0.1 s
"""


def run_of(folder, solves, log=SUMMARY.format("", 2, 30), last="3"):
    (folder / "1").mkdir(parents=True)
    (folder / "1/p").write_text(FIELD.format(last), encoding="utf-8")
    return workspace.Run(folder, 1, solvers.Choice("capstan_cg"), log, solves, {"p": 1.0}, 2.0)


class Temporary(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)


@unittest.skipUnless(workspace.tutorials_folder().is_dir(), "openfoam-examples is not installed")
class Lists(Temporary):
    def read(self, text):
        path = self.root / "list.yaml"
        path.write_text(text, encoding="utf-8")
        return matrix.read_tests(path, workspace.tutorials_folder())

    def test_lists_of_the_project(self):
        for path in sorted((HERE / "matrix").glob("*.yaml")):
            tests = matrix.read_tests(path, workspace.tutorials_folder())
            names = [test.name() for test in tests]
            self.assertEqual(len(names), len(set(names)), f"{path}: a test stands twice")
            self.assertTrue(names)

    def test_the_full_list_has_every_case_and_kind_of_method(self):
        tests = matrix.read_tests(HERE / "matrix/full.yaml", workspace.tutorials_folder())
        cases = {path.parent.name for path in matrix.CASES.glob("*/run")}
        kinds = {"own", "capstan", "capstan_cg", "capstan_pipelined_cg", "capstan_sstep_gmres", "capstan_pipelined_gmres",
                 "capstan_bicgstab"}
        found = {(test.case.name, test.choice.label(), test.ranks) for test in tests}
        for case in cases:
            for kind in kinds - ({"capstan_cg", "capstan_pipelined_cg"} if case == "squareBend" else set()):
                for ranks in (1, 2, 4):
                    self.assertIn((case, kind, ranks), found)
        self.assertTrue(all(test.steps >= 10 for test in tests))

    def test_an_entry_is_all_combinations(self):
        tests = self.read("- case: pitzDaily\n  solver: [capstan_cg, capstan_gmres]\n  preconditioner: [DIC, none]\n"
                          "  ranks: [1, 2]\n"
                          "  iterations: {p: [2, 50], U: 9}\n  steps: 3\n  tolerance: 1e-6\n")
        self.assertEqual(len(tests), 8)
        self.assertEqual(tests[-1].name(), "pitzDaily.capstan_gmres+none.np2")
        self.assertEqual([test.name() for test in self.read("- case: [damBreak, hotRoom]\n  solver: own\n")],
                         ["damBreak.own.np1", "hotRoom.own.np1"])
        self.assertEqual((tests[0].steps, tests[0].tolerance, tests[0].iterations), (3, 1e-6, {"p": (2, 50), "U": (0, 9)}))
        self.assertEqual((tests[0].choice.tolerance, tests[0].choice.rel_tol), ("1e-06", "0"))

    def test_a_case_of_ones_own(self):
        (self.root / "mine/case/system").mkdir(parents=True)
        tests = self.read("- {folder: mine/case, application: 'true', steps: 4, solver: own}\n"
                          "- {name: other, folder: mine/case, application: 'true'}\n")
        self.assertEqual([(test.name(), test.steps) for test in tests], [("mine.own.np1", 4), ("other.capstan.np1", 10)])

    def test_mistakes(self):
        for text, *expected in (("- case: pitzDaly", ":1: case: found 'pitzDaly'", "did you mean 'pitzDaily'"),
                                ("- {case: squareBend, solver: capstan_cg}", "solver: found 'capstan_cg'", "asymmetric"),
                                ("- {case: pitzDaily, rank: 1}", "found 'rank'", "did you mean 'ranks'"),
                                ("- {case: pitzDaily, ranks: many}", "ranks: found 'many'"),
                                ("- {case: pitzDaily, iterations: {p: few}}", "iterations: p: found few"),
                                ("- solver: own", "found neither"), ("a: b", "allowed: a list of entries")):
            with self.subTest(text=text), self.assertRaises(WrongUse) as caught:
                self.read(text)
            for part in expected:
                self.assertIn(part, str(caught.exception))

    def test_mistakes_in_the_list_of_the_survey(self):
        path = self.root / "list.yaml"
        for text, expected in (("a: b", f"{path}: found a mapping; allowed: a list of tutorials"),
                               ("- tutorial: one", f"{path}:1: tutorial: found 'one'; allowed: one of ")):
            path.write_text(text, encoding="utf-8")
            with self.assertRaises(WrongUse) as caught:
                survey.read_list(path, workspace.tutorials_folder())
            self.assertTrue(str(caught.exception).startswith(expected), caught.exception)

    def test_the_survey_has_40_tutorials_of_all_kinds(self):
        cases = survey.read_list(HERE / "survey.yaml", workspace.tutorials_folder())
        self.assertGreaterEqual(len({case.name for case in cases}), 40)
        self.assertEqual(len(cases), len({case.name for case in cases}))
        self.assertGreaterEqual({case.name.split("/")[0] for case in cases},
                                {"basic", "incompressible", "compressible", "multiphase", "heatTransfer", "combustion",
                                 "stressAnalysis", "electromagnetics"})


class Judging(Temporary):
    def setUp(self):
        super().setUp()
        self.own = run_of(self.root / "own", [solve("p", 10, solver="PCG"), solve("p", 20, False, "PCG")], "")
        self.baseline = matrix.Baseline(self.own, {"p": 1e-6})
        case = types.SimpleNamespace(no_mean=[], pressure=["p"])
        self.test = types.SimpleNamespace(case=case, ranks=1, tolerance=1e-9, iterations={"p": (5, 20)})

    def ran(self, *solves, **values):
        return run_of(self.root / f"run{len(list(self.root.iterdir()))}", list(solves), **values)

    def test_agreement(self):
        for last, passes in (("3", True), ("3.00003", True), ("3.0001", False), ("nan", False)):
            (_, difference, bound), messages = matrix.agreement(self.test, self.ran(solve("p", 1), last=last), self.baseline)
            self.assertEqual(not messages, passes, f"{last}: {difference}")
            self.assertAlmostEqual(bound, 1e-5)

    def test_agreement_with_a_baseline_that_is_not_finite(self):
        """Nothing agrees with it, not even what is not finite either."""
        baseline = matrix.Baseline(self.own, {"p": float("inf")})
        for last in ("3", "3.0001", "nan"):
            (_, _, bound), messages = matrix.agreement(self.test, self.ran(solve("p", 1), last=last), baseline)
            self.assertEqual((bound, "not finite" in messages[-1]), (1e-8, True), messages)

    def test_unconverged(self):
        self.assertEqual(matrix.unconverged(self.ran(solve("p", 1, False)), self.baseline), [])
        self.assertEqual(matrix.unconverged(self.ran(solve("p", 1, False), solve("p", 1, False)), self.baseline),
                         ["p: 2 unconverged solves, own 1"])

    def test_bounds(self):
        for counts, passes in (((10, 20), True), ((20, 21), False), ((1, 2), False)):
            messages = matrix.out_of_bounds(self.test, self.ran(*(solve("p", count) for count in counts)))
            self.assertEqual(not messages, passes, messages)
        self.assertEqual(matrix.out_of_bounds(self.test, self.ran(solve("U", 1))), ["iterations: no solve of p in the log"])

    def test_summary(self):
        solves = [solve("p", 10), solve("Ux", 20, solver="capstan_gmres"), solve("rho", 0, solver="diagonal")]
        self.assertEqual(matrix.summary(self.ran(*solves)), [])
        self.assertEqual(len(matrix.summary(self.ran(solve("p", 10)))), 1)
        own = "Uy    smoothSolver  smoothSolver        1           0      0          5      1\n"
        for total, problems in (((3, 35), 0), ((2, 30), 1)):
            text = SUMMARY.format(own, *total)
            self.assertEqual(len(matrix.summary(self.ran(*solves, solve("Uy", 5, solver="smoothSolver"), log=text))), problems)
        self.assertEqual(matrix.summary(self.ran(*solves, log="End")), ["Capstan's summary is missing"])

    def test_survey(self):
        ours = self.ran(solve("p", 1, False), solve("k", 1, False))
        self.assertEqual(survey.judge(ours, self.own, {}, {}), ("unconverged", "k: 1 against 0"))
        ours = self.ran(solve("p", 1))
        self.assertEqual(survey.judge(ours, self.own, {"p": 0.09, "k": 5e-4}, {"p": 0.01, "k": 0.0})[0], "passed")
        for off in (0.11, float("inf"), float("nan")):
            self.assertEqual(survey.judge(ours, self.own, {"p": off}, {"p": 0.01})[0], "wrong")
        nan = float("nan")
        self.assertEqual(survey.larger({"p": 1, "k": 3}, {"p": 2, "U": 4}), {"p": 2, "k": 3, "U": 4})
        for varied in ({"p": nan}, {"p": 0.002}, {}):
            self.assertEqual(survey.judge(ours, self.own, {"p": 0.11}, survey.larger({"p": 0.01}, varied))[0], "wrong")
        self.assertEqual(survey.judge(ours, self.own, {"p": 0.11}, survey.larger({"p": 0.01}, {"p": 0.02}))[0], "passed")
        for own in (float("inf"), nan):
            for off in (0.0, 1e3, float("inf"), nan):
                self.assertEqual(survey.judge(ours, self.own, {"p": off}, {"p": own})[0], "not run")
        self.assertEqual(survey.judge(ours, self.own, {"p": 0.11}, survey.larger({"p": 0.01}, {"p": float("inf")}))[0], "wrong")
        self.assertEqual(survey.worst_field({"p": 0.1, "k": 0.2}, {"p": 0.01, "k": 0.1}), "p")

    def test_junit(self):
        rows = [{"name": "a.b.np1", "verdict": "passed", "message": "", "wall": 1.5},
                {"name": "c", "verdict": "failed", "message": "p differs <much>"}]
        matrix.write_junit(rows, self.root / "junit.xml", "suite")
        root = xml.parse(self.root / "junit.xml").getroot()
        self.assertEqual((root.get("tests"), root.get("failures")), ("2", "1"))
        self.assertEqual([(test.get("name"), test.get("time"), len(test)) for test in root],
                         [("a.b.np1", "1.50", 0), ("c", "0.00", 1)])
        self.assertEqual(root[1][0].get("message"), "p differs <much>")


class Agreement(Temporary):
    def write(self, case, time, values, ranks=2):
        for rank in range(ranks):
            folder = self.root / case / f"processor{rank}" / time
            folder.mkdir(parents=True)
            (folder / "p").write_text(f"internalField {values};\n", encoding="utf-8")
        return self.root / case

    def test_difference(self):
        own = self.write("own", "0.1", "nonuniform List<scalar> 2(1 3)")
        for number, (values, expected) in enumerate((("2(1 3)", 0), ("2(6 8)", 0), ("2(0 4)", 1), ("2(nan 3)", float("inf")))):
            case = self.write(f"case{number}", "0.1", f"nonuniform List<scalar> {values}")
            self.assertEqual(foam.field_difference(case, own, "p", 2), expected)

    def test_what_no_run_has_worked_out_is_refused(self):
        own = self.write("own", "0.1", "nonuniform List<scalar> 2(1 3)")
        for name, time, values, expected in (("first", "0", "nonuniform List<scalar> 2(1 3)", "no written time but 0"),
                                             ("uniform", "1", "uniform 0", "all cells have the same value"),
                                             ("same", "1", "nonuniform List<scalar> 2(0 0)", "all cells have the same value")):
            case = self.write(name, time, values)
            for pair in ((case, own), (own, case)):
                with self.assertRaisesRegex(RunFailed, expected):
                    foam.field_difference(*pair, "p", 2)
        with self.assertRaisesRegex(RunFailed, "processor0/0.1/U is missing"):
            foam.field_difference(own, own, "U", 2)


if __name__ == "__main__":
    unittest.main()
