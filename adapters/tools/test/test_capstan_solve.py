#!/usr/bin/env python3
"""Runs capstan-solve as a user does: tables, files, exit statuses, and what it says about wrong input.

usage: test_capstan_solve.py <capstan-solve> <mpiexec> <flag for the number of ranks>
"""

import csv
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM, MPIEXEC, RANKS_FLAG = str(pathlib.Path(sys.argv[1]).resolve()), *sys.argv[2:4]

DECK = """\
linear_solvers:
  - name: gm
    method: block gmres
    preconditioner: sgs
    tolerance: 1.e-6
    max_iterations: 200
    kspace: 50
  - name: cg
    method: pseudoblock cg
    preconditioner: jacobi
    tolerance: 1.e-6
    max_iterations: 200
systems:
  - name: small
    generate: {problem: laplace2d, cells: 12}
"""

METHODS = {
    "capstan_gmres": "CAPSTAN GMRES",
    "capstan_sstep_gmres": "CAPSTAN GMRES S-STEP",
    "capstan_pipelined_gmres": "CAPSTAN GMRES PIPELINE",
    "capstan_pipelined_sstep_gmres": "CAPSTAN GMRES S-STEP PIPELINE",
    "capstan_cg": "CAPSTAN CG",
    "capstan_pipelined_cg": "CAPSTAN CG PIPELINE",
}

METHODS_DECK = """\
linear_solvers:
{methods}
systems:
  - name: small
    generate: {{problem: laplace2d, cells: 20}}
    solver: all
"""

METHOD_ENTRY = """
  - name: {name}
    method: {method}
    preconditioner: {preconditioner}
    tolerance: 1.e-6
    max_iterations: 200
    kspace: 60
"""

MATRIX = "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 4\n2 2 3\n3 3 5\n1 3 -1\n"
VECTOR = "%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n"


class CapstanSolve(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def write(self, name, text):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    def run_solve(self, *arguments, ranks=1, variables=None):
        command = [MPIEXEC, RANKS_FLAG, str(ranks)] if ranks > 1 else []
        return subprocess.run([*command, PROGRAM, *arguments], capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL, cwd=self.folder, timeout=120,
                              env={**os.environ, **(variables or {})})

    def solve(self, deck, *arguments, **options):
        return self.run_solve(self.write("deck.yaml", deck), *arguments, **options)

    def refused(self, deck, *expected, arguments=(), ranks=1):
        """The deck is refused with status 2, says what is expected, prints no result and leaves no file behind."""
        before = sorted(self.folder.iterdir())
        outputs = ["--report", "report.json", "--history", "history.csv"]
        run = self.solve(deck, *outputs, *arguments, ranks=ranks)
        self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
        for text in expected:
            self.assertIn(text, run.stderr)
        self.assertEqual(run.stdout, "")
        after = [path for path in sorted(self.folder.iterdir()) if path.name != "deck.yaml"]
        self.assertEqual(after, [path for path in before if path.name != "deck.yaml"], "something was left behind")
        return run.stderr

    # What works

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

    def test_every_method_with_every_kind_of_preconditioner(self):
        """All of Capstan's methods by name: counted reductions tell that the method named is the one that ran."""
        nonblocking = {"capstan_pipelined_gmres": 1, "capstan_pipelined_sstep_gmres": 1 / 5, "capstan_pipelined_cg": 1}
        deck = METHODS_DECK.format(methods="".join(
            METHOD_ENTRY.format(name=f"{method}+{preconditioner.split()[0]}", method=method, preconditioner=preconditioner)
            for method in METHODS
            for preconditioner in ("none", "sgs", "muelu\n    muelu_xml_file_name: no_reductions")))
        plain = {}
        for ranks in (1, 2, 3):
            run = self.solve(deck, "--report", "r.json", ranks=ranks)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            for solve in json.loads((self.folder / "r.json").read_text())["solves"]:
                with self.subTest(ranks=ranks, solver=solve["solver"]):
                    method, preconditioner = solve["solver"].split("+")
                    report, iterations = solve["capstan"], solve["iterations"]
                    self.assertTrue(solve["converged"])
                    self.assertLessEqual(solve["relative_residual"], 1.0001e-6)
                    if preconditioner == "none":
                        plain[method] = iterations
                    else:
                        self.assertLess(iterations, plain[method], "the preconditioner was left out")
                    self.assertEqual(report["solver"], METHODS[method])
                    hidden = report["reductions"]["nonblocking"]
                    if method in nonblocking:
                        self.assertGreaterEqual(hidden, nonblocking[method] * iterations * 0.9)
                    else:
                        self.assertEqual(hidden, 0)

    def test_pipeline_depth_in_a_deck(self):
        """A deeper pipeline has started more reductions by the time the last iteration needs its own."""
        for method in (name for name in METHODS if "pipelined" in name):
            deck = METHODS_DECK.format(methods="".join(
                METHOD_ENTRY.format(name=f"l{depth}", method=method, preconditioner="sgs")
                + f"    parameters: {{Pipeline Depth: {depth}, State Cache: no}}\n" for depth in (1, 3)))
            run = self.solve(deck, "--report", "r.json", ranks=2)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            shallow, deep = (solve["capstan"] for solve in json.loads((self.folder / "r.json").read_text())["solves"])
            self.assertGreater(deep["reductions"]["nonblocking"] - deep["iterations"],
                               shallow["reductions"]["nonblocking"] - shallow["iterations"], method)
            for depth in ("0", "-2", "deep"):
                self.refused(deck.replace("Pipeline Depth: 3", f"Pipeline Depth: {depth}"),
                             "linear_solvers[1].parameters.Pipeline Depth", depth)
        self.refused(DECK.replace("method: block gmres", "method: capstan_gmres\n    parameters: {Pipeline Depth: 2}"),
                     "linear_solvers[0].parameters.Pipeline Depth: 'Pipeline Depth' has no effect on CAPSTAN GMRES")

    def test_progress_thread_in_a_deck(self):
        """A progress thread needs --mpi-threads; without it the solver polls and says why."""
        deck = METHODS_DECK.format(methods=METHOD_ENTRY.format(
            name="cg", method="capstan_pipelined_cg", preconditioner="none").replace("    kspace: 60\n", "")
            + "    parameters: {Progress: thread}\n")
        for arguments, mode in (([], "poll"), (["--mpi-threads"], "thread")):
            run = self.solve(deck, "--report", "r.json", *arguments, ranks=2)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            report = json.loads((self.folder / "r.json").read_text())["solves"][0]["capstan"]
            self.assertEqual(report["progress"]["mode"], mode)
            told = [event["detail"] for event in report["events"] if event["kind"] == "progress"]
            self.assertEqual(len(told), 1 if mode == "poll" else 0)
            warning = '"Progress" = "thread" becomes "poll": a progress thread needs MPI_THREAD_MULTIPLE'
            self.assertEqual(run.stdout.count(warning), 1 if mode == "poll" else 0, run.stdout)

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
        self.assertIn("NO", run.stdout)
        self.assertFalse(json.loads((self.folder / "r.json").read_text())["converged"])

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

    # What is refused

    def test_command_line(self):
        for arguments in ([], ["--no-such-option"], ["deck.yaml", "--report"]):
            run = self.run_solve(*arguments)
            self.assertEqual(run.returncode, 2, arguments)
            self.assertEqual(run.stdout, "")
            self.assertNotEqual(run.stderr, "")

    def test_help_is_its_own_and_appears_once(self):
        for option, ranks in (("--help", 1), ("-h", 1), ("--help", 2)):
            run = self.run_solve(option, ranks=ranks)
            self.assertEqual((run.returncode, run.stderr), (0, ""))
            self.assertTrue(run.stdout.startswith("Solves the linear systems of a deck"), run.stdout[:200])
            self.assertEqual(run.stdout.count("--report"), 1, run.stdout)
            self.assertNotIn("Kokkos", run.stdout)

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

    def test_malformed_yaml(self):
        self.refused("linear_solvers: [\n", "deck.yaml:", "malformed YAML")

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

    def test_outputs_that_cannot_be_written(self):
        run = self.solve(DECK, "--report", "no/such/folder/r.json", ranks=2)
        self.assertEqual(run.returncode, 2)
        self.assertIn("--report: 'no/such/folder/r.json' cannot be written: No such file or directory", run.stderr)
        self.assertEqual(run.stdout, "")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
