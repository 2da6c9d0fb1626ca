#!/usr/bin/env python3
"""Runs capstan-solve as a user does: tables, files, exit statuses. Arguments: see solve_case.py."""

import csv
import gzip
import json
import pathlib
import re

import solve_case as case
from solve_case import DECK, MATRIX, VECTOR, SolveCase


class Results(SolveCase):
    def test_table_and_report(self):
        run = self.solve(DECK, "--solver", "all", "--report", "r.json")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stderr, "", "no progress into a pipe")
        lines = run.stdout.splitlines()
        self.assertEqual(len(lines), 4, run.stdout)
        self.assertTrue(lines[0].startswith("system"))
        self.assertEqual(lines[2].split()[:4], ["small", "1", "144", "gm"])
        column = lines[0].index("converged")
        self.assertEqual([line[column:column + 3] for line in lines[2:]], ["yes", "yes"])

        report = json.loads((self.folder / "r.json").read_text())
        self.assertTrue(report["converged"])
        self.assertEqual(report["ranks"], 1)
        self.assertEqual([solve["solver"] for solve in report["solves"]], ["gm", "cg"])
        for solve in report["solves"]:
            self.assertLessEqual(solve["relative_residual"], 1e-5)
            self.assertGreater(solve["iterations"], 3)
            self.assertEqual(solve["rows"], 144)
            self.assertIsNone(solve["capstan"], "Belos' own solvers give no report")

    def test_history(self):
        for method in ("block gmres", "pseudoblock gmres", "capstan_gmres", "capstan_cg"):
            with self.subTest(method):
                run = self.solve(DECK.replace("block gmres", method), "--report", "r.json", "--history", "h.csv", ranks=2)
                self.assertEqual(run.returncode, 0, run.stderr)
                solve = json.loads((self.folder / "r.json").read_text())["solves"][0]
                with (self.folder / "h.csv").open() as file:
                    rows = list(csv.DictReader(file))
                history = [float(row["residual"]) for row in rows]
                self.assertGreaterEqual(len(history), solve["iterations"])
                self.assertEqual(int(rows[-1]["iteration"]), solve["iterations"])
                self.assertLess(history[-1], 1e-5)
                self.assertGreater(history[0], 10 * history[-1])
                self.assertEqual(rows[0]["system"], "small")
                self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["deck.yaml", "h.csv", "r.json"])

    def test_capstan_solvers_report(self):
        deck = DECK.replace("block gmres", "capstan_sstep_gmres")
        run = self.solve(deck, "--report", "r.json", ranks=2)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertRegex(run.stdout.splitlines()[2].split()[-1], r"^\d+\.\d\d$", "all-reduces an iteration")
        solve = json.loads((self.folder / "r.json").read_text())["solves"][0]
        self.assertEqual(solve["capstan"]["solver"], "CAPSTAN GMRES S-STEP")
        self.assertTrue(solve["capstan"]["converged"])

    def test_options_for_one_system_by_its_name(self):
        deck = DECK.replace("block gmres", "capstan_gmres") + "  - {name: other, generate: {problem: laplace2d, cells: 12}}\n"
        run = self.solve(deck, "--report", "r.json", ranks=2,
                         variables={"CAPSTAN_OPTIONS": "labels: {small: {maximum_iterations: 3}}"})
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        small, other = json.loads((self.folder / "r.json").read_text())["solves"]
        self.assertEqual((small["iterations"], small["converged"]), (3, False))
        self.assertTrue(other["converged"])
        self.assertEqual([solve["capstan"]["label"] for solve in (small, other)], ["small", "other"])

    def test_not_converging_is_status_one(self):
        run = self.solve(DECK, "--set", "max_iterations=2", "--report", "r.json")
        self.assertEqual(run.returncode, 1)
        self.assertIn("NO: max iterations", run.stdout)
        self.assertFalse(json.loads((self.folder / "r.json").read_text())["converged"])

    def test_the_table_says_why_a_solve_ended(self):
        """Capstan's reason, and of Belos' own solvers what they let know."""
        deck = DECK.replace("block gmres", "capstan_cg").replace(
            "generate: {problem: laplace2d, cells: 12}", "generate: {problem: diagonal, values: [1, 2, 0]}\n    rhs: ones")
        run = self.solve(deck.replace("preconditioner: sgs", "preconditioner: none"), "--report", "r.json")
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        solve = json.loads((self.folder / "r.json").read_text())["solves"][0]
        self.assertNotIn(solve["reason"], (None, "converged"))
        self.assertEqual(solve["reason"], solve["capstan"]["reason"])
        self.assertIn(f"NO: {solve['reason']}", run.stdout)

    def test_the_table_says_what_was_thrown(self):
        """Of what Teuchos throws the reason, not the source file that it begins with."""
        deck = DECK.replace("generate: {problem: laplace2d, cells: 12}", "generate: {problem: diagonal, values: [1, 2, -9]}\n    rhs: ones")
        for ranks in (1, 2):
            run = self.solve(deck.replace("preconditioner: jacobi", "preconditioner: none"), "--solver", "cg", "--report", "r.json", ranks=ranks)
            self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
            solve = json.loads((self.folder / "r.json").read_text())["solves"][0]
            self.assertIn("Throw test that evaluated", solve["failure"])
            last = run.stdout.splitlines()[-1]
            self.assertRegex(last, "^small with cg stopped: .*non-positive value")
            self.assertNotRegex(last, r"\.hpp|Throw")

    def test_a_later_preconditioner_that_cannot_be_built(self):
        """That solve has failed; those before it and after it stand, in the table and in the report."""
        self.write("A.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 7\n1 1 4\n1 2 1\n2 1 1\n2 2 0\n2 3 2\n3 2 2\n3 3 5\n")
        deck = DECK.replace("generate: {problem: laplace2d, cells: 12}", "matrix: A.mtx").replace("preconditioner: sgs", "preconditioner: none")
        deck = deck.replace("preconditioner: jacobi", "preconditioner: polynomial").replace(
            "systems:\n", "  - {name: last, method: capstan_gmres, preconditioner: none, tolerance: 1e-6, max_iterations: 200}\nsystems:\n")
        for ranks in (1, 2):
            run = self.solve(deck, "--solver", "all", "--report", "r.json", "--history", "h.csv", ranks=ranks)
            self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
            report = json.loads((self.folder / "r.json").read_text())
            self.assertFalse(report["converged"])
            self.assertEqual([solve["converged"] for solve in report["solves"]], [True, False, True])
            failure = report["solves"][1]["failure"]
            self.assertRegex(failure, r"linear_solvers\[1\]\.preconditioner: .*cannot be built")
            self.assertRegex(run.stdout.splitlines()[-1], r"^small with cg stopped: .*linear_solvers\[1\]\.preconditioner: ")
        first = self.solve(deck, "--solver", "cg", "--report", "first.json")
        self.assertEqual((first.returncode, first.stdout), (2, ""), "nothing was solved before")
        self.assertFalse((self.folder / "first.json").exists())

    def test_the_table_shows_a_redirect(self):
        run = self.solve(DECK, variables={"CAPSTAN_OPTIONS": "redirect: {BLOCK GMRES: CAPSTAN GMRES}"})
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("block gmres -> CAPSTAN GMRES", run.stdout)
        self.assertNotIn("->", self.solve(DECK.replace("block gmres", "CAPSTAN gmres")).stdout)

    def test_a_redirected_solve_is_recorded_and_checked_as_capstans(self):
        redirect = {"CAPSTAN_OPTIONS": "redirect: {BLOCK GMRES: CAPSTAN GMRES, TPETRA GMRES S-STEP: CAPSTAN GMRES S-STEP}"}
        run = self.solve(DECK, "--report", "r.json", "--history", "h.csv", variables=redirect)
        self.assertEqual(run.returncode, 0, run.stderr)
        solve = json.loads((self.folder / "r.json").read_text())["solves"][0]
        with (self.folder / "h.csv").open() as file:
            rows = list(csv.DictReader(file))
        self.assertGreaterEqual(len(rows), solve["iterations"])
        sstep = DECK.replace("block gmres", "TPETRA GMRES S-STEP").replace(
            "    kspace: 50\n", "    kspace: 50\n    parameters: {Step Size: 5}\n")
        self.assertEqual(self.solve(sstep, variables=redirect).returncode, 0)
        wrong = self.solve(sstep.replace("Step Size: 5", "Step Size: five"), variables=redirect)
        self.assertNotEqual(wrong.returncode, 0)
        self.assertIn('parameters.Step Size: parameter "Step Size" = "five"', wrong.stderr)

    def test_reductions_of_all_solvers_are_counted(self):
        run = self.solve(DECK + "    solver: all\n", "--report", "r.json", ranks=2)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        gmres, cg = ([float(line.split()[-1])] for line in run.stdout.splitlines()[2:4])
        self.assertGreater(gmres[0], 2.0, "Gram-Schmidt twice and a norm")
        self.assertGreater(cg[0], 1.9, "two inner products")
        own = self.solve(DECK.replace("block gmres", "capstan_gmres"), "--report", "r.json", ranks=2)
        solve = json.loads((self.folder / "r.json").read_text())["solves"][0]
        counted = solve["capstan"]["reductions"]
        self.assertEqual(solve["reductions"], counted["blocking"] + counted["nonblocking"], own.stdout)

    def test_only_the_implicit_scaling_given(self):
        """Then it also scales the computed residual, so the deck's own check must use it."""
        deck = DECK.replace("block gmres", "capstan_gmres").replace(
            "    kspace: 50\n", "    kspace: 50\n    parameters: {Implicit Residual Scaling: Norm of RHS}\n")
        run = self.solve(deck + "    guess: random\n", "--report", "r.json")
        solve = json.loads((self.folder / "r.json").read_text())["solves"][0]
        self.assertEqual((run.returncode, solve["scaled_by"], solve["capstan"]["scaling"]),
                         (0, "right-hand side", "Norm of RHS"), run.stdout)

    def test_the_check_is_in_the_norm_and_scaling_asked_for(self):
        """A solve that meets its tolerance is not called a false claim: M^-1 r is larger than r by far here."""
        for parameters, options, scaled in (
                ("{Residual Scaling: Norm of Preconditioned Initial Residual}", "", "preconditioned initial residual"),
                ("{Residual Scaling: User Provided, User Defined Residual Scaling: 1000.0}", "", "a number of the user"),
                ("{}", "{residual_scaling: none}", "nothing"),
                ("{Residual Norm: OneNorm}", "", "initial residual")):
            deck = DECK.replace("block gmres", "capstan_cg").replace("preconditioner: sgs", "preconditioner: jacobi").replace(
                "    kspace: 50\n", "    kspace: 50\n    preconditioner_side: left\n"
                f"    preconditioner_parameters: {{'relaxation: damping factor': 1000.0}}\n    parameters: {parameters}\n")
            with self.subTest(scaled):
                run = self.solve(deck, "--report", "r.json", ranks=2, variables={"CAPSTAN_OPTIONS": options})
                self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
                solve = json.loads((self.folder / "r.json").read_text())["solves"][0]
                self.assertEqual(solve["scaled_by"], scaled)
                own = solve["capstan"]
                self.assertAlmostEqual(solve["relative_residual"] / own["true_residual"], 1, places=4)

    def test_numbers_as_yaml_spells_them(self):
        """A leading zero makes no octal number, and a tolerance of 0 goes on to a limit."""
        deck = DECK.replace("block gmres", "capstan_gmres")
        for text, iterations in (("010", 10), ("0o10", 8), ("0x10", 16)):
            with self.subTest(text):
                self.solve(deck, "--set", f"max_iterations={text}", "--set", "tolerance=0", "--report", "r.json")
                solve = json.loads((self.folder / "r.json").read_text())["solves"][0]
                self.assertEqual((solve["iterations"], solve["reason"]), (iterations, "max iterations"))
        deck = deck.replace("    max_iterations: 200\n    kspace: 50", "    parameters: {Maximum Iterations: 010}")
        self.solve(deck, "--report", "r.json")
        self.assertEqual(json.loads((self.folder / "r.json").read_text())["solves"][0]["iterations"], 10)

    def test_same_iterations_on_ranks_without_rows(self):
        deck = DECK.replace("cells: 12", "cells: [2, 1]")
        for ranks in (1, 3):
            run = self.solve(deck, "--solver", "cg", ranks=ranks)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_files_and_sequences(self):
        self.write("a.mtx.gz", gzip.compress(MATRIX.encode()))
        self.write("b.mtx", VECTOR)
        run = self.solve(DECK + "  - {matrix: a.mtx.gz, rhs: b.mtx, guess: b.mtx, sequence: {steps: 2, outer_iterations: 2}}\n",
                         ranks=2)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        steps = [line.split()[1] for line in run.stdout.splitlines()[3:]]
        self.assertEqual(steps, ["1.1", "1.2", "2.1", "2.2"])

    def test_quiet_says_nothing(self):
        run = self.solve(DECK, "--quiet")
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))

    def test_progress_on_request(self):
        run = self.solve(DECK, variables={"CAPSTAN_PROGRESS": "1"})
        self.assertIn("[1/1] small (144 rows), step 1, gm ... converged in", run.stderr)

    def test_matrix_files_on_request(self):
        run = self.solve(DECK, "--set", "write_matrix_files=yes", ranks=2)
        self.assertEqual(run.returncode, 0, run.stderr)
        names = sorted(path.name for path in self.folder.iterdir())
        self.assertEqual(names, ["deck.yaml", "small_gm_0_A.mtx", "small_gm_0_b.mtx", "small_gm_0_x.mtx"])

    def test_list(self):
        text = self.run_solve("list")
        self.assertEqual(text.returncode, 0, text.stderr)
        for word in ("CAPSTAN GMRES S-STEP", "capstan_cg", "Step Size", "Convergence Tolerance"):
            self.assertIn(word, text.stdout)
        markdown = self.run_solve("list", "--markdown")
        self.assertEqual(markdown.returncode, 0)
        self.assertTrue(markdown.stdout.startswith("|"), markdown.stdout[:100])
        costs = self.run_solve("list", "--costs")
        self.assertEqual(costs.returncode, 0)
        row = next(line for line in costs.stdout.splitlines() if line.startswith("CAPSTAN GMRES S-STEP "))
        self.assertEqual(row.split()[3:7], ["0.2", "no", "1", "1"])

    def test_help_is_its_own_and_appears_once(self):
        for option, ranks in (("--help", 1), ("-h", 1), ("--help", 2)):
            run = self.run_solve(option, ranks=ranks)
            self.assertEqual((run.returncode, run.stderr), (0, ""))
            self.assertTrue(run.stdout.startswith("Solves the linear systems of a deck"), run.stdout[:200])
            self.assertEqual(run.stdout.count("--report"), 1, run.stdout)
            self.assertNotIn("Kokkos", run.stdout)

    def test_version_is_that_of_the_project(self):
        run = self.run_solve("--version", ranks=2)
        text = (pathlib.Path(__file__).resolve().parents[3] / "CMakeLists.txt").read_text(encoding="utf-8")
        version = re.search(r"project\(\s*Capstan\s+VERSION (\S+)", text)[1]
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, f"capstan-solve {version}\n", ""))

    def test_wrong_coarse_solver_is_not_used(self):
        """A coarse solver either solves or is named; it never spoils the iteration quietly."""
        self.write("own.xml", "<ParameterList name='MueLu'><Parameter name='verbosity' type='string' value='none'/>"
                              "<Parameter name='coarse: type' type='string' value='KLU2'/></ParameterList>")
        deck = DECK.replace("preconditioner: sgs", "preconditioner: muelu\n    muelu_xml_file_name: own.xml")
        deck = deck.replace("cells: 12", "cells: 60")
        for ranks in (1, 2):
            run = self.solve(deck, ranks=ranks)
            if run.returncode == 2 and ranks > 1:
                self.assertIn("own.xml: MueLu's coarse solver (KLU2", run.stderr)
                self.assertIn("Set 'coarse: type' to CHEBYSHEV", run.stderr)
            else:
                self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
                self.assertLess(int(run.stdout.splitlines()[2].split()[7]), 20, run.stdout)


if __name__ == "__main__":
    case.main()
