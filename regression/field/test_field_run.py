#!/usr/bin/env python3
"""Cases that can be made, run as those from the field: what is sound has no problem, and what is not has one.

usage: test_field_run.py <build folder>
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD = sys.argv[1]
RUN = pathlib.Path(__file__).resolve().parent / "run"
CG, GMRES = ("cg", "pipelined_cg", "ecg", "embedded_cg"), ("gmres", "sstep_gmres", "pipelined_gmres", "pipelined_sstep_gmres")
BICGSTAB = ("bicgstab", "pipelined_bicgstab")


def write(path, kind, lines):
    path.write_text(f"%%MatrixMarket matrix {kind}\n" + "\n".join(map(str, lines)) + "\n", encoding="utf-8")


def write_case(folder, name, entries, columns, deck):
    """A case as those from the field are. entries: (row, column, value) from 1 on; columns: of the right-hand side."""
    case = folder / name
    case.mkdir()
    (case / "case.md").write_text(f"# {name}\n", encoding="utf-8")
    rows = len(columns[0])
    write(case / "A.mtx", "coordinate real general", [f"{rows} {rows} {len(entries)}"] + [" ".join(map(str, one)) for one in entries])
    write(case / "b.mtx", "array real general", [f"{rows} {len(columns)}"] + [value for column in columns for value in column])
    solvers = [f"  - {{name: {method}-{preconditioner}, method: capstan_{method}, preconditioner: {preconditioner}, {words}}}"
               for method, preconditioner, words in deck]
    (case / "deck.yaml").write_text("\n".join(["linear_solvers:", *solvers, "systems:",
                                               "  - {name: A, matrix: A.mtx, rhs: b.mtx, solver: all}", ""]), encoding="utf-8")


def exact_steps(folder, iterations=20):
    """G08: two eigenvalues."""
    deck = [(method, preconditioner, f"tolerance: 1e-12, max_iterations: {iterations}") for method in CG + GMRES + BICGSTAB
            for preconditioner in ("none", "jacobi")]
    write_case(folder, "G08", [(i, i, 2 + (i - 1) % 2) for i in range(1, 7)], [[1, 1, 2, 2, 3, 3]], deck)


def cyclic_shift(folder, rows=14):
    """G22: a residual that stays as it is until the last step."""
    deck = [(method, "none", f"tolerance: 1e-5, max_iterations: {rows}" + (f", kspace: {rows}" if method in GMRES else ""))
            for method in GMRES + BICGSTAB]
    entries = [(1, rows, 1.0)] + [(i, i - 1, 1 + (i - 1) / (rows - 1)) for i in range(2, rows + 1)]
    write_case(folder, "G22", entries, [[1] + [0] * (rows - 1), [1] * rows], deck)


class Run(unittest.TestCase):
    def run_on(self, make, *words, ranks="1,2"):
        with tempfile.TemporaryDirectory() as made:
            folder = pathlib.Path(made)
            make(folder)
            table = folder / "table.md"
            run = subprocess.run([sys.executable, RUN, "--cases", folder, "--build", BUILD, "--ranks", ranks, "--table", table, *words],
                                 capture_output=True, text=True, check=False, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
            return run.returncode, run.stdout + run.stderr, table.read_text(encoding="utf-8") if table.is_file() else ""

    def test_sound_cases_have_no_problem(self):
        def make(folder):
            exact_steps(folder)
            cyclic_shift(folder)
        status, text, table = self.run_on(make)
        self.assertEqual(status, 0, text)
        self.assertIn("2 cases", table)
        self.assertRegex(table, r"\| G08 +\| \d+ of \d+ +\| \d+ of \d+ +\|")
        self.assertIn("0 falsely, 0 with an x worse than the guess, 0 lost", table)

    def test_an_outcome_that_is_not_the_expected_one_is_a_problem(self):
        status, text, table = self.run_on(lambda folder: exact_steps(folder, 1), ranks="1")
        self.assertEqual(status, 1, text)
        self.assertIn("A, gmres-none: max iterations, expected converged", text)
        self.assertIn("problems**", table)

    def test_a_case_of_which_nothing_is_asked_is_a_problem(self):
        def make(folder):
            (folder / "G99").mkdir()
            (folder / "G99/case.md").write_text("# G99\n", encoding="utf-8")
        status, text, _ = self.run_on(make, ranks="1")
        self.assertEqual(status, 1, text)
        self.assertIn("nothing is asked of this case", text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
