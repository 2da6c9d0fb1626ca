#!/usr/bin/env python3
"""Every method of Capstan through a deck, and the parameters of the pipelined ones. Arguments: see solve_case.py."""

import json
import pathlib
import re
import sys
from itertools import accumulate

import solve_case as case
from solve_case import DECK, SolveCase

DECKS = pathlib.Path(__file__).resolve().parents[3] / "app-inputs" / "decks"
METHODS = {
    "capstan_gmres": "CAPSTAN GMRES",
    "capstan_sstep_gmres": "CAPSTAN GMRES S-STEP",
    "capstan_pipelined_gmres": "CAPSTAN GMRES PIPELINE",
    "capstan_pipelined_sstep_gmres": "CAPSTAN GMRES S-STEP PIPELINE",
    "capstan_cg": "CAPSTAN CG",
    "capstan_pipelined_cg": "CAPSTAN CG PIPELINE",
    "capstan_ecg": "CAPSTAN CG ENLARGED",
    "capstan_embedded_cg": "CAPSTAN CG EMBEDDED",
    "capstan_cr": "CAPSTAN CR",
    "capstan_pipelined_cr": "CAPSTAN CR PIPELINE",
    "capstan_bicgstab": "CAPSTAN BICGSTAB",
    "capstan_pipelined_bicgstab": "CAPSTAN BICGSTAB PIPELINE",
    "capstan_idr": "CAPSTAN IDR",
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
                       "capstan_pipelined_cr": 1,
                       "capstan_pipelined_bicgstab": 1}
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

    def march(self, deck, *changes, ranks=1):
        """The solves of 50 time steps of one of the project's decks, by solver: iterations and cycles of each, the most memory
        that guesses took, and the last solution."""
        words = [word for change in (*changes, "write_matrix_files=yes") for word in ("--set", change)]
        run = self.run_solve(str(DECKS / deck), *words, "--report", "r.json", ranks=ranks)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        marches = {}
        for solve in json.loads((self.folder / "r.json").read_text())["solves"]:
            self.assertTrue(solve["converged"])
            report = solve["capstan"]
            march = marches.setdefault(solve["solver"], {"iterations": [], "cycles": [], "memory": 0})
            march["iterations"].append(solve["iterations"])
            march["cycles"].append(report["preconditioner_applications"])
            march["memory"] = max(march["memory"], report["initial_guess"]["bytes"])
            march["system"] = solve["system"]
        for solver, march in marches.items():
            march["x"] = self.vector(f"{march['system']}_{solver}_{len(march['cycles']) - 1}_x.mtx")
        return marches

    def compare(self, own, guessed, share, tolerance):
        """Fewer iterations by this share, never more cycles than without a guess, the same x."""
        print({name: (sum(march["iterations"]), sum(march["cycles"]), march["memory"])
               for name, march in (("own", own), ("guessed", guessed))}, file=sys.stderr)
        self.assertEqual(len(own["iterations"]), len(guessed["iterations"]))
        self.assertGreaterEqual(len(own["iterations"]), 50)
        self.assertLess(sum(guessed["iterations"]), share * sum(own["iterations"]))
        self.assertLess(sum(guessed["cycles"]), sum(own["cycles"]))
        for first, second in zip(accumulate(own["cycles"]), accumulate(guessed["cycles"])):
            self.assertLessEqual(second, first, "up to any time")
        self.assertEqual(own["memory"], 0)
        self.assertGreater(guessed["memory"], 0)
        size = max(abs(value) for value in own["x"])
        self.assertLess(max(abs(a - b) for a, b in zip(own["x"], guessed["x"])), tolerance * size)

    def test_fifty_steps_of_heat_with_guesses_of_earlier_ones(self):
        """The deck heat on a smaller grid, by its own method and others."""
        cells = "systems[0].generate.cells=30"
        for method in ("capstan_cg", "capstan_gmres", "capstan_sstep_gmres"):
            for guess, share in (("projection 8", 0.85), ("extrapolation 2", 0.95)):
                with self.subTest(method=method, guess=guess):
                    marches = self.march("heat.yaml", cells, f"method={method}",
                                         f"linear_solvers[1].parameters.Initial Guess={guess}",
                                         ranks=2 if method == "capstan_cg" else 1)
                    own, guessed = marches["from_the_step_before"], marches["from_earlier_steps"]
                    self.assertEqual(len(own["iterations"]), 50)
                    self.compare(own, guessed, share, 1e-6)

    def test_fifty_steps_of_a_lid_driven_cavity_with_guesses_of_earlier_ones(self):
        """The deck cavity_flow on a smaller grid, two solves of momentum and of pressure a step."""
        changes = [f"systems[{system}].{change}" for system in (0, 1) for change in ("generate.cells=10", "sequence.steps=50")]
        own, projected, extrapolated = (self.march("cavity_flow.yaml", *changes, f"parameters.Initial Guess={guess}")
                                        for guess in ("application", "projection 8", "extrapolation 2"))
        for solver, share in (("solve_momentum", 0.4), ("solve_pressure", 0.8)):
            for guessed, left in ((projected, share), (extrapolated, 1)):
                with self.subTest(solver=solver, share=left):
                    self.assertEqual(len(own[solver]["iterations"]), 100)
                    self.compare(own[solver], guessed[solver], left, 1e-5)

    def vector(self, name):
        """The numbers of a Matrix Market file with one column."""
        lines = [line for line in (self.folder / name).read_text().splitlines() if not line.startswith("%")]
        return [float(line) for line in lines[1:]]

    def test_pipeline_depth_in_a_deck(self):
        """A deeper pipeline has started more reductions by the time the last iteration needs its own."""
        for method in ("capstan_pipelined_gmres", "capstan_pipelined_sstep_gmres", "capstan_pipelined_cg"):
            deck = METHODS_DECK.format(methods="".join(
                METHOD_ENTRY.format(name=f"l{depth}", method=method, preconditioner="sgs")
                # It begins with depth 1 where it has to learn its shifts.
                + f"    parameters: {{Pipeline Depth: {depth}, State Cache: no, Eigenvalue Bounds: '[0, 1.1]'}}\n"
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
