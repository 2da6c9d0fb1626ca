#!/usr/bin/env python3
"""Tests of what is read from a run: log, profile, fields; and of the tables."""

import math
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

# pylint: disable=wrong-import-position
from tutorials import compare, results  # noqa: E402
from tutorials.errors import RunFailed  # noqa: E402

LOG = """Time = 1

Solving for fluid region air
Lookup solver for UFinal
DILUPBiCGStab:  Solving for Ux, Initial residual = 0.1, Final residual = 1e-08, No Iterations 3
DILUPBiCGStab:  Solving for Uy, Initial residual = 0.1, Final residual = 2e-06, No Iterations 3
Lookup solver for p
capstan_cg:  Solving for p, Initial residual = 0.5, Final residual = 0.004, No Iterations 7
Lookup solver for pFinal
capstan_cg:  Solving for p, Initial residual = 0.5, Final residual = 0.004, No Iterations 7
Solving for solid region wall
Lookup solver for h
diagonal:  Solving for h, Initial residual = 0, Final residual = 0, No Iterations 0
PCG:  Solving for h, Initial residual = nan, Final residual = nan, No Iterations 1000
"""
CONTROLS = {"air": 'solvers { p { tolerance 1e-6; relTol 0.01; } pFinal { tolerance 1e-6; relTol 0; } '
                   '"(U|k)Final" { tolerance 1e-6; } }',
            "wall": "solvers { h { solver PCG; } }"}


def field(values, kind="scalar"):
    rows = "\n".join(str(value).replace(",", "") for value in values)
    return (f"FoamFile {{ class vol{kind.capitalize()}Field; }}\ninternalField   nonuniform List<{kind}> \n{len(values)}\n(\n"
            f"{rows}\n)\n;\nboundaryField {{ wall {{ value nonuniform List<{kind}> 1(5); }} }}\n")


class Logs(unittest.TestCase):
    def test_solves(self):
        solves = results.read_solves(LOG)
        self.assertEqual([(solve.region, solve.field, solve.entry, solve.iterations) for solve in solves],
                         [("air", "Ux", "UFinal", 3), ("air", "Uy", "UFinal", 3), ("air", "p", "p", 7),
                          ("air", "p", "pFinal", 7),
                          ("wall", "h", "h", 0), ("wall", "h", "h", 1000)])

    def test_a_solve_is_judged_by_its_own_entry(self):
        solves = results.read_solves(LOG)
        results.judge(solves, CONTROLS)
        self.assertEqual([solve.converged for solve in solves], [True, False, True, False, True, False])

    def test_an_entry_that_is_not_there_is_an_error(self):
        with self.assertRaisesRegex(RunFailed, "no solver entry for 'UFinal'"):
            results.judge(results.read_solves(LOG), {"air": "solvers { p { tolerance 1; } }"})

    def test_names(self):
        for name, base in (("Ux", "U"), ("sigmaxx", "sigma"), ("k", "k"), ("p_rgh", "p_rgh"), ("omega", "omega"), ("x", "x")):
            self.assertEqual(results.base_name(name), base)


class Folders(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def test_seconds_are_summed_by_field_and_the_slowest_ranks(self):
        for rank, seconds in ((0, 1.5), (1, 2.5)):
            rows = "".join(f'trigger{i} {{ description "{name}"; totalTime {value}; }}\n' for i, (name, value) in enumerate(
                (("fvMatrix::solve.p", seconds), ("fvMatrix::solve.p", 1), ("air::fvMatrix::solve.U", 9),
                 ("fvMatrix::solve.air::U", 3),
                 ("lduMatrix::solver.p", 7))))
            self.write(f"case/processor{rank}/0.5/uniform/profiling", f"profiling\n{{\n{rows}}}\n")
        self.assertEqual(results.read_seconds(self.root / "case", 2), {"p": 3.5, "air/U": 3.0})

    def test_last_time(self):
        for name in ("0", "0.5", "1e-05", "constant", "0.orig"):
            (self.root / name).mkdir()
        self.assertEqual(results.times(self.root), ["0", "1e-05", "0.5"])
        with self.assertRaises(RunFailed):
            results.last_time(self.root / "constant")

    def test_fields(self):
        self.write("1/p", field([1, 2, 4]))
        self.write("1/air/U", field([(1, 0, 0), (0, 1, 2)], "vector"))
        self.write("1/phi", field([1]).replace("volScalar", "surfaceScalar"))
        self.write("1/uniform/time", "class volScalarField;")
        self.assertEqual(set(results.field_files(self.root, "1")), {"p", "air/U"})
        self.assertEqual(results.read_field(self.root / "1/p"), (1, [1, 2, 4]))
        self.assertEqual(results.read_field(self.root / "1/air/U"), (3, [1, 0, 0, 0, 1, 2]))
        self.write("short", "internalField nonuniform List<scalar> 3(1 2 3);\nboundaryField { a { value (1); } }")
        self.assertEqual(results.read_field(self.root / "short"), (1, [1, 2, 3]))
        self.write("uniform", "internalField   uniform (1 2 3);")
        self.assertEqual(results.read_field(self.root / "uniform"), (3, [1, 2, 3]))
        self.write("wrong", "internalField something;")
        with self.assertRaises(RunFailed):
            results.read_field(self.root / "wrong")

    def test_differences(self):
        self.write("a/1/p", field([101, 102, 104]))
        self.write("b/1/p", field([1, 2, 4]))
        self.write("a/1/k", field([3, 4]))
        self.write("b/1/k", field([3, 5]))
        found = results.differences(self.root / "a", self.root / "b", 1, ["p"])
        self.assertAlmostEqual(found["p"], 0)
        self.assertAlmostEqual(found["k"], 1 / math.sqrt(34))
        self.write("a/2/k", field([3, 4]))
        self.write("b/2/k", field([3, 4]))
        self.assertEqual(results.differences(self.root / "a", self.root / "b", 1, []), {"k": 0})
        self.assertAlmostEqual(results.differences(self.root / "a", self.root / "b", 1, ["p"], 2)["k"], 1 / math.sqrt(34))
        self.write("c/3/p", field([1, 2, 4]))
        with self.assertRaisesRegex(RunFailed, "the last times differ"):
            results.differences(self.root / "a", self.root / "c", 1, [])

    def test_difference(self):
        def difference(ours, theirs, without_mean=False):
            return results.field_difference([(1, ours)], [(1, theirs)], without_mean)
        self.assertEqual(difference([math.nan, 1.0], [1.0, 1.0]), math.inf)
        self.assertEqual(difference([0.0, 0.0], [0.0, 0.0]), 0)
        self.assertEqual(difference([1e-9, 0.0], [0.0, 0.0]), 1e-9, "there is nothing to divide by")
        self.assertEqual(difference([math.inf, 0.0], [0.0, 0.0]), math.inf)
        self.assertEqual(difference([2.0], [2.0, 2.0]), 0, "one is written as uniform")
        self.assertEqual(results.field_difference([(3, [1.0, 2.0, 3.0])], [(3, [1.0, 2.0, 3.0] * 2)], False), 0)
        with self.assertRaises(RunFailed):
            difference([1.0, 2.0], [1.0, 2.0, 3.0])


class Tables(unittest.TestCase):
    def test_columns(self):
        text = compare.table([{"field": "p", "solves": 10, "seconds": 0.5, "difference": math.nan},
                              {"field": "epsilon", "solves": 2, "seconds": 12.25, "difference": 1e-7}],
                             ("field", "solves", "seconds", "difference"))
        self.assertEqual(text.splitlines(), ["field    solves  seconds  difference", "p            10    0.500",
                                             "epsilon       2   12.250     1.0e-07"])

    def test_components_have_the_seconds_of_their_vector(self):
        table = {"U": 1, "air/p": 2, "cellMotionUx": 3}
        names = (("Ux", ""), ("p", "air"), ("p", "water"), ("cellMotionUx", ""))
        self.assertEqual([compare.known_as(*name, table) for name in names], [1, 2, None, 3])
        self.assertEqual(compare.summed_seconds(table, ["p"]), (2, 6))


if __name__ == "__main__":
    unittest.main()
