#!/usr/bin/env python3
"""Tests of perf/oracle/run: how it reads cells, judges, and passes options on. A shell script stands in for oracle_table.

usage: test_oracle.py
"""

import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def load():
    loader = importlib.machinery.SourceFileLoader("oracle_run", str(HERE / "run"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("oracle_run", loader))
    loader.exec_module(module)
    return module


RUN = load()
sys.path.insert(0, str(HERE))
import compare as COMPARE  # noqa: E402  pylint: disable=wrong-import-position


def row(*cells):
    return ["m", "10", "none", "2", *cells]


class Cells(unittest.TestCase):
    def test_a_single_count_is_itself(self):
        self.assertEqual(RUN.iterations("118"), 118)
        for cell in ("", "900 stagnation 3.1e-07", "failed: no diagonal"):
            self.assertIsNone(RUN.iterations(cell))

    def test_several_counts_are_their_median(self):
        self.assertEqual(RUN.iterations("118/90/121"), 118)
        self.assertEqual(RUN.iterations("90/no 1e-3/121"), 90)

    def test_most_right_hand_sides_have_to_converge(self):
        self.assertIsNone(RUN.iterations("118/900 stagnation 1e-7"))
        self.assertIsNone(RUN.iterations("118//"))


class Judgement(unittest.TestCase):
    family = RUN.FAMILIES["bicgstab"]

    def missed(self, *cells):
        return list(RUN.judge(self.family, [row(*cells)]))

    def test_one_right_hand_side_is_judged_by_its_bound(self):
        self.assertEqual(self.missed("100", "115", "90"), [])
        self.assertEqual(len(self.missed("100", "116", "1000 stagnation 1e-3")), 2)

    def test_medians_are_judged(self):
        self.assertEqual(self.missed("100/101/99", "115/300/20", "99/98/97"), [])
        self.assertEqual(len(self.missed("100/101/99", "116/300/20", "99/98/97")), 1)

    def test_the_oracles_own_largest_count_is_no_miss(self):
        self.assertEqual(self.missed("100/100/300", "300/300/300", "100/100/100"), [])
        self.assertEqual(len(self.missed("100/100/300", "301/301/301", "100/100/100")), 1)

    def test_what_no_oracle_solves_is_not_judged(self):
        self.assertEqual(self.missed("3000 no 1e-2", "", ""), [])

    def test_the_oracle_is_compared_with_itself_on_other_ranks(self):
        def of(ranks, preconditioner, cell):
            return ["m", "10", preconditioner, ranks, cell, cell, cell]
        rows = [of("1", "jacobi", "100/100/100"), of("2", "jacobi", "130/150/120"), of("1", "riluk", "10/10/10"),
                of("2", "riluk", "90/90/90"), of("1", "none", "200/200/200"), of("2", "none", "200/210/220")]
        self.assertIn("2 systems; at most 1.1 on 1, the largest 1.30", list(RUN.comparison(self.family, rows))[1])

    def test_the_comparison_counts_both_scatters(self):
        rows = [row("100/100/100", "100/100/100", "105/100/90"), ["n", *row("100/120/300", "200/200/200", "301/301/301")[1:]]]
        oracle, first, second = RUN.comparison(self.family, rows)
        self.assertIn("2 systems", oracle)
        self.assertIn("on 1 systems above 1.1", oracle)
        self.assertIn("2 solved; medians over the oracle's 1.291 in the geometric mean; at most 1.1 on 1, on 1 more", first)
        self.assertTrue(second.endswith("on 0 more no larger than the oracle's own largest, above both on 1"), second)


class Program(unittest.TestCase):
    def run_with(self, *options):
        """What `run` wrote and said, and the command lines of the stand-in."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "bin").mkdir()
            (folder / "m.mtx.gz").touch()
            program = folder / "bin" / "oracle_table"
            program.write_text(f'#!/bin/sh\necho "$*" >> "{folder}/calls"\n'
                               'echo "ROW m,10,none,1,100/104/96,101/99/100,120/120/120"\n'
                               'echo "CLASSICAL m,10,none,1,1,2,150,360"\n', encoding="utf-8")
            program.chmod(0o755)
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                status = RUN.main(["bicgstab", "--folder", name, "--ranks", "1", "--preconditioners", "none", "--build", name,
                                   "--out", f"{name}/table.csv", *options])
            return (status, said.getvalue(), (folder / "table.csv").read_text(encoding="utf-8"),
                    (folder / "calls").read_text(encoding="utf-8"))

    def test_right_hand_sides_reach_the_program_and_the_table(self):
        status, said, table, calls = self.run_with("--seeds", "3")
        self.assertEqual(status, 1)
        self.assertIn("--seeds 3 --first-seed 1", calls)
        self.assertIn("m,10,none,1,100/104/96,101/99/100,120/120/120\n", table)
        self.assertIn("CAPSTAN BICGSTAB PIPELINE 120/120/120, oracle 100/104/96", said)
        self.assertIn("CAPSTAN BICGSTAB PIPELINE: went on as a classical method on 1 of 1 systems, in 2 solves; 42 % of", said)
        self.assertNotIn("CAPSTAN BICGSTAB: went on", said)
        self.assertIn("1 rows, 1 solved by an oracle; 1 bounds missed, 0 runs cut short", said)

    def test_other_right_hand_sides_reach_the_program(self):
        self.assertIn("--seeds 3 --first-seed 6", self.run_with("--seeds", "3", "--first-seed", "6")[3])

    def test_one_right_hand_side_is_the_default(self):
        self.assertNotIn("--seeds", self.run_with()[3])

    def test_what_would_judge_nothing_is_refused(self):
        empty = self.enterContext(tempfile.TemporaryDirectory())
        for options, message in ((("--judge", "CAPSTAN BICGSTAP"), "--judge: found 'CAPSTAN BICGSTAP'; allowed: some of CAPSTAN BICGSTAB, "),
                                 (("--judge", "CAPSTAN BICGSTAB,x"), "found 'x'"), (("--matrices", "none such"), "no none such in"),
                                 (("--folder", empty), f"found no *.mtx.gz in {empty}")):
            with self.assertRaises(RUN.processes.Misuse) as refused:
                self.run_with(*options)
            self.assertIn(message, str(refused.exception))
            self.assertEqual(refused.exception.status, 2)

    def test_wrong_numbers_are_refused(self):
        with contextlib.redirect_stderr(io.StringIO()) as errors, self.assertRaises(SystemExit) as end:
            self.run_with("--seeds", "0")
        self.assertEqual(end.exception.code, 2)
        self.assertIn("--seeds: found 0; 1 to 100", errors.getvalue())
        for options, message in ((("--first-seed", "0"), "found 0; 1 or more"), (("--first-seed", "6"), "only with --seeds")):
            with contextlib.redirect_stderr(io.StringIO()) as errors, self.assertRaises(SystemExit):
                self.run_with(*options)
            self.assertIn(f"--first-seed: {message}", errors.getvalue())


class Comparison(unittest.TestCase):
    """Of two tables: compare.py."""

    def compared(self, before, after):
        with tempfile.TemporaryDirectory() as name:
            paths = [pathlib.Path(name) / file for file in ("before", "after")]
            for path, rows in zip(paths, (before, after)):
                path.write_text("matrix,rows,preconditioner,ranks,ORACLE,OURS\n" + "".join(f"{row}\n" for row in rows), encoding="utf-8")
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                status = COMPARE.main([str(path) for path in paths])
            return status, said.getvalue().splitlines()

    def test_equal_tables_are_the_same(self):
        status, lines = self.compared(["a,5,none,1,10,11"], ["a,5,none,1,10,11"])
        self.assertEqual(status, 0)
        self.assertEqual(lines, [f"{title}: 1 cells, 1 the same, solved only before 0, only after 0; after over before 1.000 in the "
                                 "geometric mean, 1.00 to 1.00" for title in ("ORACLE", "OURS")])

    def test_each_row_that_differs_is_named(self):
        status, lines = self.compared(["a,5,none,1,10,20", "a,5,none,2,10,10", "b,5,none,1,7,"],
                                      ["a,5,none,1,10,22", "a,5,none,2,10,10", "c,5,none,1,7,"])
        self.assertEqual(status, 1)
        self.assertEqual(lines[:3], ["b, none, 1 ranks: only before", "c, none, 1 ranks: only after", "a, none, 1 ranks: OURS 20 -> 22"])
        self.assertTrue(lines[4].startswith("OURS: 2 cells, 1 the same,"), lines)
        self.assertIn("1.00 to 1.10", lines[4])

    def test_a_solve_that_is_lost_differs_and_one_that_fails_alike_does_not(self):
        self.assertEqual(self.compared(["a,5,none,1,900 stagnation 3.1e-07,"], ["a,5,none,1,899 stagnation 2e-07,"])[0], 0)
        status, lines = self.compared(["a,5,none,1,10/11/12,9"], ["a,5,none,1,10/11/12,900 max iterations 1e-7"])
        self.assertEqual(status, 1)
        self.assertIn("solved only before 1, only after 0", lines[-1])

    def test_tables_of_other_solvers_are_refused(self):
        with tempfile.TemporaryDirectory() as name:
            paths = [pathlib.Path(name) / title for title in "AB"]
            for path in paths:
                path.write_text(f"matrix,rows,preconditioner,ranks,{path.name}\na,5,none,1,10\n", encoding="utf-8")
            done = subprocess.run([sys.executable, str(HERE / "compare.py"), *map(str, paths)], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("other solvers: A; B", done.stderr)


if __name__ == "__main__":
    unittest.main()
