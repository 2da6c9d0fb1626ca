#!/usr/bin/env python3
"""perf/choice/table, on results that are made up.

usage: test_choice_table.py
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TABLE = pathlib.Path(__file__).resolve().parents[1] / "choice/table"


def solver(name, method, seconds, solves=True, parameters=None):
    samples = [{"seconds": one, "claimed_converged": solves, "relative_residual": 1e-9, "failure": None} for one in seconds]
    return {"name": name, "method": method, "tolerance": 1e-8, "parameters": parameters or {}, "first": samples[0], "samples": samples[1:]}


def cell(*solvers):
    return {"kind": "cell", "format": 1, "key": "a", "status": "done", "experiment": "laplace", "title": "laplace, 2 ranks", "latency_us": 50.0, "solvers": list(solvers)}


class Table(unittest.TestCase):
    def run_with(self, *cells, end=""):
        """What the program did with these lines of results, and one that is cut off."""
        campaign = {"kind": "campaign", "format": 1, "name": "choice", "keys": ["a"]}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "results.jsonl"
            path.write_text("".join(json.dumps(one) + "\n" for one in (campaign, *cells)) + end, encoding="utf-8")
            return subprocess.run([TABLE, path], capture_output=True, text=True, check=False)

    def table(self, *cells, end=""):
        done = self.run_with(*cells, end=end)
        return done.returncode, [line.split() for line in done.stdout.splitlines()][1:]

    def test_of_a_cell_that_is_measured_again_the_last_one_counts(self):
        """As --resume --again-noisy leaves it; a line that an interruption cut off is passed over."""
        first, again = (cell(solver("capstan", "CAPSTAN", [each] * 60), solver("cg", "CAPSTAN CG", [1.0] * 60)) for each in (3.0, 2.0))
        status, rows = self.table(first, again, end='{"kind": "cell", "form')
        self.assertEqual((status, [row[4] for row in rows]), (0, ["2.00"]))

    def test_refuses_results_without_the_chooser(self):
        done = self.run_with(cell(solver("cg", "CAPSTAN CG", [1.0] * 60)))
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("found no solves of CAPSTAN in 1 cells", done.stderr)
        done = self.run_with({"kind": "cell", "format": 99})
        self.assertEqual(done.returncode, 2)
        self.assertIn("line 2: not a line of a campaign's results", done.stderr)

    def test_a_residual_that_disagrees_is_no_solve(self):
        claims = solver("capstan", "CAPSTAN", [1.0] * 60)
        claims["samples"][3]["relative_residual"] = 1e-3
        status, rows = self.table(cell(claims, solver("cg", "CAPSTAN CG", [1.0] * 60)))
        self.assertEqual((status, rows[0][-1]), (1, "NO"))

    def test_compares_with_the_best_fixed_method(self):
        # 40 solves of 1 s after 20 of 2 s: late 1, whole 80 / 60; the fixed methods take 1 and 4 s.
        chosen = solver("capstan", "CAPSTAN", [2.0] * 20 + [1.0] * 40)
        status, rows = self.table(cell(chosen, solver("cr", "CAPSTAN CR", [1.0] * 60), solver("cg", "CAPSTAN CG", [4.0] * 60)))
        self.assertEqual(status, 0)
        self.assertEqual(rows, [["laplace", "50", "cr", "1000.00", "1.00", "1.33", "2.00", "0.50", "yes"]])

    def test_means_where_the_latency_changes(self):
        changing = {**cell(solver("capstan", "CAPSTAN", [1.0] * 30 + [2.0] * 30), solver("cg", "CAPSTAN CG", [0.5] * 30 + [4.5] * 30),
                           solver("cr", "CAPSTAN CR", [1.0] * 30 + [2.0] * 30)), "latency_us": 1.0, "latency_later": "30:200"}
        status, rows = self.table(changing)
        self.assertEqual((status, rows), (0, [["laplace", "1,", "200", "cr", "1508.47", "1.00", "0.99", "-", "-", "yes"]]))

    def test_leaves_out_what_did_not_solve(self):
        chosen = solver("capstan", "CAPSTAN", [1.0] * 60)
        quick = solver("quick", "CAPSTAN CR", [0.1] * 60, solves=False)
        _, rows = self.table(cell(chosen, quick, solver("slow", "CAPSTAN GMRES", [2.0] * 60)))
        self.assertEqual(rows[0][2:], ["slow", "2000.00", "0.50", "0.50", "0.50", "-", "yes"])

    def test_fails_where_only_a_fixed_method_solves(self):
        chosen = solver("capstan", "CAPSTAN", [1.0] * 60, solves=False)
        status, rows = self.table(cell(chosen, solver("cg", "CAPSTAN CG", [1.0] * 60)))
        self.assertEqual((status, rows[0][-1]), (1, "NO"))
        status, rows = self.table(cell(chosen, solver("cg", "CAPSTAN CG", [1.0] * 60, solves=False)))
        self.assertEqual((status, rows[0][2], rows[0][-1]), (0, "none", "no"))

    def test_says_how_it_is_used(self):
        done = subprocess.run([TABLE, "nowhere.jsonl"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("usage: ", done.stderr)
        self.assertIn("nowhere.jsonl", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv, verbosity=2)
