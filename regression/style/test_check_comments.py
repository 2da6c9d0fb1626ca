#!/usr/bin/env python3
"""Shows that check_comments.py notices broken tables and citations that lead nowhere."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parent / "check_comments.py"
REFERENCES = "| Key | Paper |\n|---|---|\n| [Saad 1993] | Y. Saad |\n| [low-sync] | I. Yamazaki |\n"
SOURCE = ("/// Source: [Saad 1993], algorithm 1; [low-sync].\n///\n/// | a  | b |\n/// |----|---|\n/// | c  | d |\n///\n"
          "/// [V_1 V_2] has 1993 rows.\n")


class CheckComments(unittest.TestCase):
    def problems(self, source, references=REFERENCES):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in (("docs/references.md", references), ("belos_ext/a.hpp", source)):
                (root / name).parent.mkdir()
                (root / name).write_text(text, encoding="utf-8")
            run = subprocess.run([sys.executable, str(CHECK), folder, "belos_ext"], capture_output=True, text=True,
                                 check=False)
            self.assertEqual(run.returncode == 1, ":" in run.stdout, run.stdout + run.stderr)
            return run.stdout

    def test_sound_comments_pass(self):
        self.assertEqual(self.problems(SOURCE), "1 files, 2 references\n")

    def test_joined_rows_are_found(self):
        self.assertIn("a.hpp:5: a table row with 5 cells; its head has 2",
                      self.problems(SOURCE.replace("| c  | d |", "| c  | d | | e  | f |")))

    def test_broken_rows_are_found(self):
        broken = self.problems(SOURCE.replace("| c  | d |", "| c  |\n/// d |"))
        self.assertIn("a.hpp:5: a table row with 1 cells", broken)
        self.assertIn("a.hpp:6: text right after a table", broken)
        self.assertIn("does not end with '|'", self.problems(SOURCE.replace("| c  | d |", "| c  | d")))

    def test_a_missing_rule_and_columns_that_are_not_aligned_are_found(self):
        self.assertIn("a line of dashes", self.problems(SOURCE.replace("/// |----|---|\n", "")))
        self.assertIn("not aligned", self.problems(SOURCE.replace("| c  | d |", "| c | d  |")))

    def test_unknown_keys_are_found_also_over_two_lines(self):
        self.assertIn("a.hpp:1: the key [Saad and Schultz 1986] does not stand",
                      self.problems("/// By [Saad and\n/// Schultz 1986].\n///\n" + SOURCE))

    def test_citations_without_brackets_are_found(self):
        self.assertIn("'Saad 1993' is cited without brackets", self.problems(SOURCE + "/// As Saad 1993 says.\n"))
        self.assertIn("'O'Leary 1980' is cited without brackets", self.problems(SOURCE + "/// As O'Leary 1980 says.\n"))

    def test_a_source_without_a_key_is_found(self):
        self.assertIn("'Source:' without a key", self.problems(SOURCE + "\n/// Source: a good book.\n"))

    def test_places_in_papers_that_are_not_named_are_found(self):
        self.assertEqual(self.problems(SOURCE + "\n/// By Algorithm 4 there.\n"), "1 files, 2 references\n")
        self.assertIn("a.hpp:1: 'section 6.4' of what?", self.problems("/// Knuth, vol. 3, section 6.4.\n///\n" + SOURCE))

    def test_documents_that_are_not_here_are_found(self):
        self.assertIn("'DESIGN' is no document", self.problems(SOURCE + "\n/// Source: [low-sync] (DESIGN, section 5).\n"))

    def test_source_files_that_are_not_there_are_found(self):
        text = SOURCE + "/// See b/{}.hpp; <Tpetra_Map.hpp>.\n"
        self.assertEqual(self.problems(text.format("a")), "1 files, 2 references\n")
        self.assertIn("there is no source file 'b/c.hpp'", self.problems(text.format("c")))

    def test_references_that_nobody_cites_and_double_ones_are_found(self):
        self.assertIn("[low-sync] is cited nowhere", self.problems(SOURCE.replace("; [low-sync]", "")))
        self.assertIn("stands there twice", self.problems(SOURCE, REFERENCES + "| [low-sync] | again |\n"))

    def test_lines_that_end_early_in_a_sentence_are_found(self):
        long = "/// A sentence that is long enough to fill a whole line of a comment, as a formatter breaks it at 120 columns, when it is\n"
        self.assertIn("a.hpp:2: a line that ends early, before 'by'", self.problems(long + "/// written\n///   by the formatter.\n///\n" + SOURCE))
        self.assertIn("a.hpp:1: a line that ends early, before 'or'", self.problems("/// Where there is one rank,\n/// or none.\n///\n" + SOURCE))
        for sound in (long + "/// written by the formatter.\n", "/// As these:\n///   x = y\n", "/// short\n/// - item\n", "/// \\param a  b\n/// c\n",
                      "/// E is\n///\n///   x = y\n"):
            self.assertEqual(self.problems(sound + "///\n" + SOURCE), "1 files, 2 references\n", sound)

    def test_a_tree_without_references_fails(self):
        self.assertIn("no sources or no references", self.problems("int a;\n", "# References\n"))


if __name__ == "__main__":
    unittest.main()
