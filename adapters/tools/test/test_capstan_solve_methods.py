#!/usr/bin/env python3
"""Every method of Capstan through a deck, and the parameters of the pipelined ones. Arguments: see solve_case.py."""

import json
import re
import sys

import solve_case as case
from solve_case import DECK, SolveCase

METHODS = {
    "capstan_gmres": "CAPSTAN GMRES",
    "capstan_sstep_gmres": "CAPSTAN GMRES S-STEP",
    "capstan_pipelined_gmres": "CAPSTAN GMRES PIPELINE",
    "capstan_pipelined_sstep_gmres": "CAPSTAN GMRES S-STEP PIPELINE",
    "capstan_cg": "CAPSTAN CG",
    "capstan_pipelined_cg": "CAPSTAN CG PIPELINE",
    "capstan_ecg": "CAPSTAN CG ENLARGED",
    "capstan_embedded_cg": "CAPSTAN CG EMBEDDED",
    "capstan_bicgstab": "CAPSTAN BICGSTAB",
    "capstan_pipelined_bicgstab": "CAPSTAN BICGSTAB PIPELINE",
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


class Methods(SolveCase):
    def test_no_method_is_left_out(self):
        listed = self.run_solve("list", "--markdown").stdout
        rows = re.findall(r"^\| `(CAPSTAN [^`]+)` \| `(capstan_\w+)` \|", listed, re.MULTILINE)
        self.assertEqual({alias: name for name, alias in rows}, METHODS)

    def test_every_method_with_every_kind_of_preconditioner(self):
        """All of Capstan's methods by name: counted reductions tell that the method named is the one that ran."""
        nonblocking = {"capstan_pipelined_gmres": 1, "capstan_pipelined_sstep_gmres": 1 / 5, "capstan_pipelined_cg": 1,
                       "capstan_pipelined_bicgstab": 2}
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
                        self.assertGreaterEqual(hidden, nonblocking[method] * iterations * 0.9 - 1)
                    else:
                        self.assertEqual(hidden, 0)

    def test_communication_strategies(self):
        """By their keys in a deck: the same iterations as without, messages counted, the plan kept over the steps."""
        entry = METHOD_ENTRY + "    parameters: {{Communication Strategy: {strategy}{more}}}\n"
        words = {"application": "", "standard": ", Ranks Per Node: 2", "two-step": ", Ranks Per Node: 2",
                 "three-step": ", ranks_per_node: 2", "optimal": ", Ranks Per Node: 2, Message Size Cutoff: 100",
                 "tuned": ", Ranks Per Node: 2"}
        deck = METHODS_DECK.format(methods="".join(
            entry.format(name=strategy, method="capstan_cg", preconditioner="jacobi", strategy=strategy, more=more)
            for strategy, more in words.items())) + "    sequence: {steps: 2, change: 0.02}\n"
        for ranks in (1, 4):
            run = self.solve(deck, "--report", "r.json", ranks=ranks)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            solves = json.loads((self.folder / "r.json").read_text())["solves"]
            self.assertEqual(len(solves), 2 * len(words))
            iterations = [solve["iterations"] for solve in solves if solve["solver"] == "application"]
            for place, solve in enumerate(solves):
                with self.subTest(ranks=ranks, solver=solve["solver"], place=place):
                    told = solve["capstan"]["communication"]
                    self.assertTrue(solve["converged"])
                    self.assertIn(solve["iterations"], iterations)
                    self.assertEqual(told["strategy"], solve["solver"])
                    if solve["solver"] in ("application", "tuned"):
                        continue
                    self.assertEqual(told["used"], solve["solver"])
                    self.assertEqual(told["nodes"], (ranks + 1) // 2)
                    self.assertGreater(told["products"], 0)
                    self.assertEqual(told["between_nodes"]["messages"]["total"] > 0, ranks > 1)
            for strategy in words:
                kept = [solve["capstan"]["communication"]["from_earlier_solve"] for solve in solves
                        if solve["solver"] == strategy]
                self.assertEqual(kept, [False, strategy != "application"], strategy)

    def test_a_communication_strategy_that_is_none(self):
        deck = METHODS_DECK.format(methods=METHOD_ENTRY.format(name="one", method="capstan_cg", preconditioner="none")
                                   + "    parameters: {Communication Strategy: tow-step}\n")
        self.refused(deck, "deck.yaml", "Communication Strategy", "tow-step", 'did you mean "two-step"')
        self.refused(deck.replace("tow-step", "two-step, Ranks Per Node: -2"), "Ranks Per Node", "-2", ">= 0")

    def test_every_method_with_several_right_hand_sides_and_steps(self):
        self.write("b.mtx", "%%MatrixMarket matrix array real general\n400 2\n"
                   + "".join(f"{1 + row % 7}\n" for row in range(400)) + "".join(f"{row % 3 - 1}\n" for row in range(400)))
        deck = METHODS_DECK.format(methods="".join(
            METHOD_ENTRY.format(name=method, method=method, preconditioner="sgs") for method in METHODS))
        deck += "    rhs: b.mtx\n    sequence: {steps: 2, change: 0.02}\n"
        for ranks in (1, 3):
            run = self.solve(deck, "--report", "r.json", ranks=ranks)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            solves = json.loads((self.folder / "r.json").read_text())["solves"]
            self.assertEqual([solve["method"] for solve in solves], [method for method in METHODS for _ in range(2)])
            for solve in solves:
                self.assertEqual((solve["right_hand_sides"], len(solve["capstan"]["right_hand_sides"])), (2, 2))
                self.assertLessEqual(solve["relative_residual"], 1.0001e-6, solve["method"])
            for line in run.stdout.splitlines()[2:]:
                most = 3.0 if "bicgstab" in line or "ecg" in line else 2.0
                self.assertLess(float(line.split()[-1]), most, "several right-hand sides need no more an iteration\n" + line)

    def test_right_hand_sides_that_stop_one_by_one(self):
        """Ifpack2's Chebyshev throws when the number of its columns changes; MueLu's presets smooth with it."""
        self.write("b.mtx", "%%MatrixMarket matrix array real general\n400 4\n" + "".join(
            f"{value(row)}\n" for value in (lambda row: 1 + row % 7, lambda row: 0, lambda row: 1, lambda row: row % 3 - 1)
            for row in range(400)))
        chebyshev = '    preconditioner_parameters: {"chebyshev: degree": 3}\n'
        multigrid = "    muelu_xml_file_name: pressure_poisson\n"
        entries = [METHOD_ENTRY.format(name=f"{method} {name}", method=method, preconditioner=name) + more
                   for method in METHODS for name, more in (("chebyshev", chebyshev), ("muelu", multigrid))]
        for ranks in (1, 3):
            run = self.solve(METHODS_DECK.format(methods="".join(entries)) + "    rhs: b.mtx\n", "--report", "r.json",
                             ranks=ranks)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            for solve in json.loads((self.folder / "r.json").read_text())["solves"]:
                self.assertEqual(solve["capstan"]["right_hand_sides"][1]["iterations"], 0)
                self.assertLessEqual(solve["relative_residual"], 1.0001e-6, solve["solver"])

    def test_a_multigrid_cycle_is_not_wasted(self):
        """Atop MueLu a cycle costs more than all else: one an iteration, and one more a solve."""
        multigrid = "muelu\n    muelu_xml_file_name: no_reductions"
        deck = METHODS_DECK.format(methods="".join(
            METHOD_ENTRY.format(name=method, method=method, preconditioner=multigrid) for method in METHODS))
        deck = deck.replace("{problem: laplace2d, cells: 20}", "{problem: laplace3d, cells: 16}")
        deck += "    rhs: random\n    sequence: {steps: 6, change: 0.05, guess: same}\n"
        for ranks in (1, 2):
            run = self.solve(deck, "--report", "r.json", ranks=ranks)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            wasted = {}
            for solve in json.loads((self.folder / "r.json").read_text())["solves"]:
                each = 2 if "bicgstab" in solve["method"] else 1
                applications = solve["capstan"]["preconditioner_applications"]
                wasted.setdefault(solve["method"], []).append(applications - each * solve["iterations"])
            for method, (first, *later) in wasted.items():
                ahead = 3 if "pipelined_sstep" in method else 1 if "pipelined" in method else 0
                with self.subTest(ranks=ranks, method=method, first=first, later=later):
                    self.assertLessEqual(first, 2 + ahead)
                    self.assertLessEqual(sum(later), 0 if method == "capstan_gmres" else len(later))

    def test_fifty_time_steps_with_guesses_of_earlier_ones(self):
        """Heat in a plate: fewer iterations by projection and extrapolation, no cycle more, the same temperatures."""
        guesses = {"own": "application", "extrapolation": "extrapolation 2", "projection": "projection 8"}
        multigrid = "muelu\n    muelu_xml_file_name: no_reductions"
        entries = "".join(
            METHOD_ENTRY.format(name=f"{method} {name}", method=method, preconditioner=multigrid)
            + f"    recompute_preconditioner: no\n    write_matrix_files: yes\n    parameters: {{Initial Guess: {guess}}}\n"
            for method in ("capstan_gmres", "capstan_sstep_gmres", "capstan_cg") for name, guess in guesses.items())
        deck = METHODS_DECK.format(methods=entries).replace("cells: 20", "cells: 30")
        deck += "    rhs: random\n    sequence: {steps: 50, change: 0.01, time_step: 20}\n"
        run = self.solve(deck, "--report", "r.json", ranks=2)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        cost = {}
        for solve in json.loads((self.folder / "r.json").read_text())["solves"]:
            self.assertTrue(solve["converged"])
            iterations, cycles, memory = cost.get(solve["solver"], (0, 0, 0))
            report = solve["capstan"]
            cost[solve["solver"]] = (iterations + solve["iterations"], cycles + report["preconditioner_applications"],
                                     max(memory, report["initial_guess"]["bytes"]))
        for method in ("capstan_gmres", "capstan_sstep_gmres", "capstan_cg"):
            last = {name: self.vector(f"small_{method} {name}_49_x.mtx") for name in guesses}
            size = max(abs(value) for value in last["own"])
            for name in ("extrapolation", "projection"):
                with self.subTest(method=method, guess=name):
                    (own, ownCycles, _), (iterations, cycles, memory) = cost[f"{method} own"], cost[f"{method} {name}"]
                    self.assertLess(iterations, 0.9 * own)
                    self.assertLess(cycles, ownCycles)
                    self.assertLessEqual(cycles, iterations + 51, "one more a solve, and one in the first")
                    self.assertGreater(memory, 0)
                    self.assertLess(max(abs(a - b) for a, b in zip(last["own"], last[name])), 1e-4 * size)
            print(method, {name: cost[f"{method} {name}"] for name in guesses}, file=sys.stderr)

    def vector(self, name):
        """The numbers of a Matrix Market file with one column."""
        lines = [line for line in (self.folder / name).read_text().splitlines() if not line.startswith("%")]
        return [float(line) for line in lines[1:]]

    def test_pipeline_depth_in_a_deck(self):
        """A deeper pipeline has started more reductions by the time the last iteration needs its own."""
        for method in ("capstan_pipelined_gmres", "capstan_pipelined_sstep_gmres", "capstan_pipelined_cg"):
            # p(l)-CG begins with depth 1 where it has to learn its shifts.
            more = ", Eigenvalue Bounds: '[0, 1.1]'" if method == "capstan_pipelined_cg" else ""
            deck = METHODS_DECK.format(methods="".join(
                METHOD_ENTRY.format(name=f"l{depth}", method=method, preconditioner="sgs")
                + f"    parameters: {{Pipeline Depth: {depth}, State Cache: no{more}}}\n"
                for depth in (1, 3)))
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


if __name__ == "__main__":
    case.main()
