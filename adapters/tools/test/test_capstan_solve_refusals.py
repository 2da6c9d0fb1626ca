#!/usr/bin/env python3
"""What capstan-solve says about wrong input: where it stands, what is allowed. Arguments: see solve_case.py."""

import gzip
import json

import solve_case as case
from solve_case import DECK, MATRIX, VECTOR, SolveCase


class Refusals(SolveCase):
    def test_command_line(self):
        for arguments in ([], ["--no-such-option"], ["deck.yaml", "--report"]):
            run = self.run_solve(*arguments)
            self.assertEqual(run.returncode, 2, arguments)
            self.assertEqual(run.stdout, "")
            self.assertNotEqual(run.stderr, "")

    def test_missing_deck(self):
        run = self.run_solve("nothing.yaml", ranks=2)
        self.assertEqual(run.returncode, 2)
        self.assertIn("nothing.yaml: no such file", run.stderr)

    def test_message_appears_once(self):
        message = self.refused(DECK.replace("kspace", "kspase"), "deck.yaml:7:5: linear_solvers[0].kspase: unknown key",
                               'did you mean "kspace"?', ranks=3)
        self.assertEqual(message.count("unknown key"), 1)

    def test_systems_too_large_to_build(self):
        self.refused(DECK.replace("{problem: laplace2d, cells: 12}", "{problem: laplace3d, cells: 100000}"),
                     "systems[0].generate: found cells [100000, 100000, 100000], 1e+15 rows; allowed: at most", ranks=2)

    def test_matrix_files_too_large_to_build(self):
        self.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n3000000000 3000000000 1\n1 1 4\n")
        self.refused(DECK.replace("generate: {problem: laplace2d, cells: 12}", "matrix: a.mtx"),
                     "systems[0].matrix: ", "a.mtx: found 3e+09 rows; allowed: at most 2.147e+09 on 1 rank(s)")

    def test_malformed_yaml(self):
        self.refused("linear_solvers: [\n", "deck.yaml:", "malformed YAML")

    def test_yaml_that_nobody_can_mean(self):
        """An alias inside what it names has no end; a second document would be ignored."""
        self.refused(DECK.replace("kspace: 50", "parameters: &p {a: *p}"), "deck.yaml:7:24:",
                     "an alias inside what it names")
        self.refused(DECK + "---\nsystems: []\n", "deck.yaml:", "a second YAML document; only one is allowed")
        self.refused(DECK, "--set: parameters=&p {a: *p}: the value is not YAML: an alias inside what it names",
                     arguments=["--set", "parameters=&p {a: *p}"])
        many = "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 9))
        self.refused("a0: &a0 [x]\n" + many + DECK, "deck.yaml:", "aliases that unfold into more than a million values")

    def test_more_solves_than_can_be_counted(self):
        self.refused(DECK + "    sequence: {steps: 65536, outer_iterations: 65536}\n",
                     "systems[0].sequence.outer_iterations: found 65536 in each of 65536 steps; allowed: at most 2147483647 "
                     "solves in all, so here at most 32767")

    def test_wrong_type(self):
        self.refused(DECK.replace("kspace: 50", "kspace: 1.5"),
                     "deck.yaml:7:13: linear_solvers[0].kspace: found '1.5'; allowed: a whole number at least 1")

    def test_unknown_names(self):
        self.refused(DECK.replace("block gmres", "blok gmres"), "linear_solvers[0].method: found 'blok gmres'; allowed:",
                     'did you mean "BLOCK GMRES"?')
        self.refused(DECK.replace("block gmres", "capstan_gmress"), "linear_solvers[0].method: found 'capstan_gmress'",
                     'did you mean "')
        self.refused(DECK, "--solver: found 'gmm'; allowed: gm, cg or all", arguments=["--solver", "gmm"])

    def test_capstan_parameters(self):
        own = DECK.replace("block gmres", "capstan_sstep_gmres")

        def with_parameter(text):
            return own.replace("    kspace: 50\n", f"    kspace: 50\n    parameters: {{{text}}}\n")

        self.refused(with_parameter("Step Size: 0"), "deck.yaml:8:29: linear_solvers[0].parameters.Step Size", "= 0",
                     "1 to 100")
        self.refused(with_parameter("Step Size: 1000000"), "linear_solvers[0].parameters.Step Size", "1000000")
        self.refused(with_parameter("Step Sise: 5"), "linear_solvers[0].parameters.Step Sise: unknown parameter",
                     'did you mean "Step Size"?')
        self.refused(with_parameter("Basis: newtonian"), "linear_solvers[0].parameters.Basis", "newtonian")
        self.refused(with_parameter("Block Orthogonalization: single-reduce cgs2, Intra Orthogonalization: tsqr"),
                     "linear_solvers[0]", "tsqr")

    def test_wrong_options_in_the_environment(self):
        """What is wrong is the variable, not the method that reads it."""
        for options, expected in (("step_sice: 5", 'did you mean "Step Size"?'), ("{a: [", "CAPSTAN_OPTIONS"),
                                  ("num_blocks: many", "Num Blocks"),
                                  ("redirect: {BLOCK GMRES: CAPSTAN GMRESS}", 'there is no solver "CAPSTAN GMRESS"')):
            run = self.solve(DECK.replace("block gmres", "capstan_gmres"), variables={"CAPSTAN_OPTIONS": options})
            self.assertEqual((run.returncode, run.stdout), (2, ""), options)
            self.assertIn("CAPSTAN_OPTIONS", run.stderr)
            self.assertIn(expected, run.stderr)
            self.assertNotIn("found 'capstan_gmres'", run.stderr)

    def test_conflicts(self):
        self.refused(DECK.replace("    kspace: 50\n", "    parameters: {Maximum Iterations: 5}\n"),
                     "conflicts with linear_solvers[0].max_iterations")
        self.refused(DECK + "    matrix: a.mtx\n", "systems[0].generate: conflicts with matrix")
        for method in ("capstan_sstep_gmres", "block gmres"):
            flexible = "    kspace: 50\n    preconditioner_side: left\n    parameters: {Flexible Gmres: yes}\n"
            self.refused(DECK.replace("block gmres", method).replace("    kspace: 50\n", flexible),
                         'linear_solvers[0]: preconditioner_side: left conflicts with "Flexible Gmres"')

    def test_what_has_no_effect_says_how_to_go_on(self):
        deck = DECK.replace("block gmres", "capstan_pipelined_gmres")
        self.refused(deck.replace("    kspace: 50\n", "    parameters: {Estimate Condition Number: yes}\n"),
                     '"Estimate Condition Number" = true has no effect', "parameters: {Strict Parameters: no} makes this a warning")
        run = self.solve(deck.replace("    kspace: 50\n", "    parameters: {Estimate Condition Number: yes, Strict Parameters: no}\n"))
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn('"Estimate Condition Number" = true has no effect', run.stderr + run.stdout)

    def test_a_rank_that_fails_alone_ends_all(self):
        """Debian's two-stage Gauss-Seidel throws on a rank without rows; the others wait for it."""
        deck = ("linear_solvers: [{name: gm, method: capstan_gmres, preconditioner: sgs2}]\n"
                "systems: [{generate: {problem: diagonal, values: [1, 2]}}]\n")
        run = self.solve(deck, ranks=3)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("rank 2 failed, and the others wait for it: ", run.stderr)

    def test_matrix_files(self):
        def with_files(matrix="a.mtx", rhs="b.mtx"):
            return DECK + f"  - {{name: file, matrix: {matrix}, rhs: {rhs}}}\n"

        self.refused(with_files(), "systems[1].matrix: ", "a.mtx: no such file", "b.mtx: no such file", ranks=2)
        self.write("a.mtx", MATRIX)
        self.write("b.mtx", VECTOR)
        self.write("truncated.mtx", MATRIX[:-7])
        self.refused(with_files("truncated.mtx"), "truncated.mtx:5: the file is truncated: 3 of 4 entries", ranks=2)
        self.write("truncated.mtx.gz", gzip.compress((MATRIX * 50).encode())[:-20])
        self.refused(with_files("truncated.mtx.gz"), "truncated.mtx.gz: the gzip file is truncated", ranks=2)
        self.write("wide.mtx", MATRIX.replace("3 3 4", "3 4 4"))
        self.refused(with_files("wide.mtx"), "found 3 rows and 4 columns; allowed: a square matrix")
        self.write("short.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n2\n")
        self.refused(with_files(rhs="short.mtx"), "systems[1].rhs: ", "short.mtx: found 2 rows; allowed: 3", ranks=2)
        self.write("words.mtx", MATRIX.replace("2 2 3", "2 2 three"))
        self.refused(with_files("words.mtx"), "systems[1].matrix: ", "words.mtx:4: found '2 2 three'", ranks=2)
        self.write("two.mtx", "%%MatrixMarket matrix array real general\n3 2\n1\n2\n3\n1\n2\n3\n")
        self.refused(with_files().replace("}\n", ", guess: two.mtx}\n").replace("cells: 12, guess: two.mtx", "cells: 12"),
                     "systems[1].guess: ", "two.mtx: found 2 columns; allowed: 1")

    def test_preconditioner_files(self):
        muelu = DECK.replace("preconditioner: sgs", "preconditioner: muelu\n    muelu_xml_file_name: own.xml")
        self.refused(muelu, "linear_solvers[0].muelu_xml_file_name: found 'own.xml'; allowed: an XML file, or a preset:",
                     ranks=2)
        self.write("own.xml", "<ParameterList name='MueLu'>")
        self.refused(muelu, "own.xml: malformed parameter XML", ranks=2)
        self.write("own.xml", "<ParameterList name='MueLu'><Parameter name='smother: type' type='string' value='x'/>"
                              "</ParameterList>")
        self.refused(muelu, "own.xml: unknown MueLu parameter 'smother: type'", 'did you mean "smoother: type"?')

    def test_outputs_that_cannot_be_written(self):
        run = self.solve(DECK, "--report", "no/such/folder/r.json", ranks=2)
        self.assertEqual(run.returncode, 2)
        self.assertIn("--report: 'no/such/folder/r.json' cannot be written: there is no folder \"no/such/folder\"", run.stderr)
        self.assertEqual(run.stdout, "")

    def test_outputs_leave_what_is_there_as_it_is(self):
        """Devices, links and FIFOs stay what they are, and files beside an output stay their owner's."""
        (self.folder / "null").symlink_to("/dev/null")
        (self.folder / "link.csv").symlink_to("real.csv")
        for name in ("r.json.tmp", "h.csv.tmp", "link.csv.solves.tmp", "null.tmp"):
            self.write(name, "mine")
        self.assertEqual(self.solve(DECK, "--report", "null", "--history", "link.csv").returncode, 0)
        self.assertEqual(self.solve(DECK, "--report", "r.json", "--history", "h.csv").returncode, 0)
        self.assertTrue((self.folder / "null").is_symlink())
        self.assertTrue((self.folder / "link.csv").is_symlink())
        self.assertIn("residual", (self.folder / "real.csv").read_text())
        for name in ("r.json.tmp", "h.csv.tmp", "link.csv.solves.tmp", "null.tmp"):
            self.assertEqual((self.folder / name).read_text(), "mine", name)

    def test_outputs_that_would_replace_other_files(self):
        """By whatever spelling or link; what is there stays as it is."""
        (self.folder / "link.csv").symlink_to("deck.yaml")
        self.write("A.mtx", MATRIX)
        deck = DECK.replace("generate: {problem: laplace2d, cells: 12}", "matrix: A.mtx")
        own = DECK.replace("block gmres", "capstan_gmres")
        cases = [
            (DECK, ["--report", "x", "--history", "./x"], "--report: found 'x', which is the file of --history; allowed: a"),
            (DECK, ["--report", "deck.yaml"], "--report: found 'deck.yaml', which is the file of the deck"),
            (DECK, ["--history", "link.csv"], "--history: found 'link.csv', which is the file of the deck"),
            (deck, ["--report", str(self.folder / "A.mtx")], "deck.yaml:15:13: systems[0].matrix; allowed: a file of its own"),
            (own.replace("kspace: 50", "parameters: {report file: r.json}"), ["--report", "r.json"],
             "deck.yaml:2:5: linear_solvers[0].parameters.Report File; allowed: a file of its own"),
            (own.replace("kspace: 50", "parameters: {History File: ../{}/deck.yaml}".replace("{}", self.folder.name)), [],
             "parameters.History File: found '../"),
        ]
        for text, arguments, message in cases:
            with self.subTest(message):
                run = self.solve(text, *arguments, ranks=2)
                self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
                self.assertIn(message, run.stderr)
                self.assertEqual((self.folder / "deck.yaml").read_text(), text)
                self.assertEqual((self.folder / "A.mtx").read_text(), MATRIX)
        self.assertEqual(self.solve(DECK, "--report", "/dev/null", "--history", "/dev/null").returncode, 0)

    def test_report_into_the_standard_output(self):
        run = self.solve(DECK, "--report", "/dev/stdout", "--quiet", ranks=2)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertTrue(json.loads(run.stdout)["converged"])


if __name__ == "__main__":
    case.main()
