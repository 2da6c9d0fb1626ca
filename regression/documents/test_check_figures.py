#!/usr/bin/env python3
"""Tests of check_figures.py on a small made-up tree, and on the project's own with one figure changed."""

import pathlib
import re
import shutil
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

import check_figures  # noqa: E402  pylint: disable=wrong-import-position

TABLE = """laplace, 2 ranks

GMRES solver         library  iterations  all-reduces     ms   least..most
-------------------  -------  ----------  -----------  -----  ------------
capstan s-step auto  capstan         143    0.06+0.00  93.01  [81.72..121]
block gmres            belos         143    3.03+0.01  186.0  [75.20..120]
"""


class Reading(unittest.TestCase):
    def test_a_table_of_solvers(self):
        said = check_figures.solvers(TABLE, "laplace, 2 ranks", "GMRES", ["capstan s-step auto", "block gmres"], "over Belos")
        self.assertEqual(said.splitlines()[2:], ["| `CAPSTAN GMRES S-STEP` | 143 | 0.06 | 93 (81.7 to 121) | 0.50 |",
                                                 "| Belos `BLOCK GMRES` | 143 | 3.04 | 186 (75.2 to 120) | 1 |"])

    def test_the_upper_quartile_stands_beside_the_median_if_the_file_has_it(self):
        table = "\n".join(line + end for line, end in zip(TABLE.splitlines(), ("", "", "  upper quartile", "  --------------", "  99.4", "  188")))
        said = check_figures.solvers(table, "laplace, 2 ranks", "GMRES", ["capstan s-step auto"], "over Belos")
        self.assertIn("Milliseconds: median, upper quartile (least to greatest)", said)
        self.assertIn("| 93, 99.4 (81.7 to 121) |", said)

    def test_turns_without_a_range_are_named(self):
        with self.assertRaisesRegex(check_figures.Wrong, "no least and greatest turn"):
            check_figures.solvers(re.sub(r"\[(.*)\.\.", r"[\1 ", TABLE), "laplace, 2 ranks", "GMRES", ["block gmres"], "")

    def test_what_is_missing_is_named(self):
        for words, wanted in ((("laplace", "CG", [], ""), "no table 'CG solver'"), (("heat", "GMRES", [], ""), "after 'heat'"),
                              (("laplace", "GMRES", ["nobody"], ""), "no solver 'nobody'")):
            with self.assertRaisesRegex(check_figures.Wrong, wanted):
                check_figures.solvers(TABLE, *words)


class Tree(unittest.TestCase):
    """The project's documents and results, in a copy."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.root = pathlib.Path(holder.name)
        for place in [*check_figures.documents(ROOT), *(f"{check_figures.RESULTS}/{path.name}" for path in (ROOT / check_figures.RESULTS).iterdir())]:
            (self.root / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / place, self.root / place)

    def change(self, place, old, new):
        path = self.root / place
        text = path.read_text(encoding="utf-8")
        self.assertIn(old, text)
        path.write_text(text.replace(old, new), encoding="utf-8")

    def test_all_is_well(self):
        self.assertEqual(check_figures.check(self.root, False), [])

    def test_a_table_that_differs_is_shown_and_mended(self):
        self.change("README.md", "| 276 (190 to 334) | 0.82 |", "| 276 (190 to 334) | 1.82 |")
        (problem,) = check_figures.check(self.root, False)
        self.assertIn("-| PETSc gmres | 143 | 2.02 | 276 (190 to 334) | 1.82 |", problem)
        self.assertIn("+| PETSc gmres | 143 | 2.02 | 276 (190 to 334) | 0.82 |", problem)
        self.assertEqual(check_figures.check(self.root, True), [])
        self.assertIn("| 276 (190 to 334) | 0.82 |", (self.root / "README.md").read_text(encoding="utf-8"))

    def test_a_result_that_differs_is_found_in_tables_and_sentences(self):
        self.change(f"{check_figures.RESULTS}/{check_figures.HEADLINE}", "  93.01    [81.72..121.62]", "  67.50    [61.72..121.62]")
        problems = "\n".join(check_figures.check(self.root, False))
        self.assertIn("the result file says 0.20", problems)

    def test_a_number_that_the_cited_file_lacks(self):
        self.change("docs/boomeramg.md", "s-step auto 36 (35 to 63)", "s-step auto 987 (35 to 63)")
        (problem,) = check_figures.check(self.root, False)
        self.assertRegex(problem, r"docs/boomeramg.md:\d+: 987: not in 2026-11-25-boomeramg.txt")
        self.change("docs/boomeramg.md", "| | Capstan | PETSc |", "<!-- derived: 987 -->\n\n| | Capstan | PETSc |")
        self.assertEqual(check_figures.check(self.root, False), [])

    def test_a_number_that_stands_elsewhere_in_the_cited_file(self):
        """86.9 is there, of another solver."""
        self.change("docs/boomeramg.md", "s-step auto 36 (35 to 63)", "s-step auto 87 (35 to 63)")
        self.assertIn("86.9", (self.root / check_figures.RESULTS / "2026-11-25-boomeramg.txt").read_text(encoding="utf-8"))
        (problem,) = check_figures.check(self.root, False)
        self.assertRegex(problem, r"docs/boomeramg.md:\d+: 87: in 2026-11-25-boomeramg.txt, but in no line with another number of this row")

    def test_a_number_is_no_thousandth_of_another(self):
        self.assertTrue(check_figures.stands_in("1,234", [1234.4]))
        self.assertFalse(check_figures.stands_in("1234", [1.234]))

    def test_a_row_that_is_gathered_from_many_lines_is_left_in_peace(self):
        lines = [(check_figures.names(text), check_figures.read(check_figures.numbers(text))) for text in ("cg 11 22", "gmres 33", "idr 44 55")]
        self.assertEqual(check_figures.strays(" `CG` ", ["11", "22", "33"], lines), ["33"])
        self.assertEqual(check_figures.strays(" `CG` ", ["11", "22", "33", "44"], lines), [])
        self.assertEqual(check_figures.strays(" `CG` ", ["11", "33"], lines), [])
        self.assertEqual(check_figures.strays("gmres", ["33", "44", "55"], lines), [])

    def test_documents_in_folders_are_read(self):
        folder = self.root / "docs/methods"
        folder.mkdir(exist_ok=True)
        (folder / "made_up.md").write_text("`2026-11-25-boomeramg.txt`:\n\n| a | b |\n|---|---|\n| c | 98765 |\n", encoding="utf-8")
        self.assertEqual(check_figures.check(self.root, False), ["docs/methods/made_up.md:5: 98765: not in 2026-11-25-boomeramg.txt"])

    def test_citations(self):
        (self.root / check_figures.RESULTS / check_figures.OVERHEAD).rename(self.root / check_figures.RESULTS / "2027-01-01-new.txt")
        problems = check_figures.check(self.root, False)
        self.assertIn(f"docs/benchmarks.md: cites perf/results/{check_figures.OVERHEAD}, which is not there", problems)
        self.assertIn("perf/results/2027-01-01-new.txt: no document cites it", problems)


if __name__ == "__main__":
    unittest.main()
