#!/usr/bin/env python3
"""Tests of campaigns of many cells: what the YAML makes, verdicts on made-up times, and small real runs.

usage: test_campaign.py <build folder> [arguments of unittest]. Nothing here depends on how fast anything is.
"""

import json
import os
import pathlib
import pty
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
PERF = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(PERF), str(PERF / "test")]

# pylint: disable=wrong-import-position
import campaign_records as made  # noqa: E402
from campaign import cell_run, limits, papers, records, tables, verdicts  # noqa: E402
from campaign.plan import DeckPlan, Plan, Wrong  # noqa: E402
from report import processes, solvers  # noqa: E402

BUILD = None
PLAN = """
title: Small
repeat: 2
pinning: core
sets:
  gmres:
    common: {tolerance: 1e-6, kspace: 30, max_iterations: 300}
    solvers:
      block gmres: {method: BLOCK GMRES}
      capstan s-step: {method: CAPSTAN GMRES S-STEP}
  cg:
    common: {tolerance: 1e-6, max_iterations: 300}
    solvers:
      pseudoblock cg: {method: PSEUDOBLOCK CG}
      capstan cg pipeline: {method: CAPSTAN CG PIPELINE, vary: {Pipeline Depth: [1, 3]}}
preconditioners: {sgs: {preconditioner: sgs}}
experiments:
  - name: small
    problem: {generate: {problem: laplace2d, cells: 12}}
    sets: [gmres, cg]
    ranks: [1, 2]
    latency_us: [0, 30]
    histories: true
    targets: [{group: GMRES, at_most: 1000, ranks: 2}, {group: CG, at_most: 1e-9, ranks: 1, tried: everything}]
"""
BROKEN = """
experiments:
  - {name: none, problem: {generate: {problem: laplace2d, cells: 0}}, sets: cg, ranks: 1}
  - {name: fine, problem: {generate: {problem: laplace2d, cells: 8}}, sets: cg, transport: tcp, preconditioner: jacobi, ranks: 1}
preconditioners: {jacobi: {preconditioner: jacobi}}
repeat: 1
sets: {cg: {common: {tolerance: 1e-6, max_iterations: 100}, solvers: {cg: {method: CAPSTAN CG}, peer: {method: BLOCK CG}}}}
"""


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="capstan campaign ")  # a blank on purpose
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def plan_file(self, text=PLAN):
        path = self.folder / "small.yaml"
        path.write_text(text, encoding="utf-8")
        return path


class Cells(InFolder):
    def test_axes_are_multiplied(self):
        cells = Plan(self.plan_file()).cells()
        self.assertEqual([(cell.ranks, cell.latency_us) for cell in cells], [(1, 0.0), (1, 30.0), (2, 0.0), (2, 30.0)])
        self.assertEqual(len({cell.key for cell in cells}), 4)
        names = [one["name"] for one in json.loads(cells[0].deck)["linear_solvers"]]
        self.assertEqual(names, ["block gmres", "capstan s-step", "pseudoblock cg", "capstan cg pipeline, Pipeline Depth 1",
                                 "capstan cg pipeline, Pipeline Depth 3"])

    def test_a_key_stands_for_what_is_measured(self):
        before = [cell.key for cell in Plan(self.plan_file()).cells()]
        self.assertEqual(before, [cell.key for cell in Plan(self.plan_file(PLAN.replace("title: Small", "title: Other"))).cells()])
        for changed in ("kspace: 31", "repeat: 3", "cells: 13"):
            word = changed.split(":")[0]
            text = "\n".join(line.replace({"kspace": "kspace: 30", "repeat": "repeat: 2", "cells": "cells: 12"}[word], changed)
                             for line in PLAN.splitlines())
            self.assertFalse(set(before) & {cell.key for cell in Plan(self.plan_file(text)).cells()}, changed)

    def test_a_key_stands_for_how_ranks_are_started_and_for_files(self):
        """--resume takes no cell for another one."""
        matrix = self.folder / "a.mtx"
        matrix.write_text("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n", encoding="utf-8")
        text = PLAN.replace("generate: {problem: laplace2d, cells: 12}", "matrix: a.mtx")
        self.assertIn("matrix: a.mtx", text)
        asked = {"systems": ["a"], "repeat": None, "latency": []}
        deck = self.folder / "deck.yaml"
        deck.write_text("systems: [{name: a, matrix: a.mtx}]\n", encoding="utf-8")

        def keys(start=()):
            return {frozenset(cell.key for cell in plan.cells()) for plan in
                    (Plan(self.plan_file(text), start=start), DeckPlan(deck, asked, {}, (), start))}

        before = keys()
        self.assertEqual(before, keys())
        changes = [keys(["--mca", "btl", "self,tcp"]), keys(["--mca", "btl", "self,sm"]), keys(["launcher", "srun", "-n", "{ranks}"])]
        os.utime(matrix, ns=(1, 1))
        changes.append(keys())
        matrix.write_text("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 22\n", encoding="utf-8")
        os.utime(matrix, ns=(1, 1))
        changes.append(keys())
        found = [key for each in (before, *changes) for some in each for key in some]
        self.assertEqual(len(set(found)), len(found))

    def test_peers_are_asked_for_by_name(self):
        plain = Plan(self.plan_file()).cells()
        self.assertEqual({(cell.petsc, cell.hypre) for cell in plain}, {("off", "off")})
        asked = Plan(self.plan_file(PLAN.replace("histories: true", "histories: true\n    hypre: [pcg, gmres]\n    petsc: cg"))).cells()
        self.assertEqual({(cell.petsc, cell.hypre) for cell in asked}, {("cg", "pcg,gmres")})
        self.assertFalse({cell.key for cell in plain} & {cell.key for cell in asked})

    def test_the_latency_may_change_in_a_run(self):
        plain = [cell for cell in Plan(self.plan_file()).cells() if cell.latency_us]
        text = PLAN.replace("latency_us: [0, 30]", "latency_us: 30\n    latency_later: {turn: 2, us: 50}")
        asked = Plan(self.plan_file(text)).cells()
        self.assertEqual({cell.words for cell in asked}, {("--latency-later", "2:50")})
        self.assertFalse({cell.key for cell in plain} & {cell.key for cell in asked})
        self.assertEqual({cell.words for cell in Plan(self.plan_file(text), changes={"latency_us": [0.0]}).cells()}, {()})

    def test_the_matrix_may_drift_in_a_run(self):
        asked = Plan(self.plan_file(PLAN.replace("histories: true", "histories: true\n    drift: 0.3"))).cells()
        self.assertEqual({cell.words for cell in asked}, {("--drift", "0.3")})

    def test_weak_scaling_keeps_the_rows_of_a_rank(self):
        text = PLAN.replace("    ranks: [1, 2]", "    scaling: weak\n    ranks: [1, 4]")
        decks = [json.loads(cell.deck) for cell in Plan(self.plan_file(text)).cells()]
        self.assertEqual([deck["systems"][0]["generate"]["cells"] for deck in decks], [[12, 12]] * 2 + [[12, 48]] * 2)

    def test_wrong_plans_say_what_is_wrong(self):
        for old, new, expected in (("ranks: [1, 2]", "ranks: [0]", "ranks: found 0"), ("repeat: 2", "repeat: x", "repeat: found 'x'"),
                                   ("pinning: core", "pinning: yes", "allowed: core, none"), ("sets: [gmres, cg]", "sets: qmr", "'qmr'"),
                                   ("title: Small", "titel: Small", "unknown key 'titel'"),
                                   ("latency_us: [0, 30]", "latency_us: -1", "latency_us: found -1"),
                                   ("latency_us: [0, 30]", "latency_us: 0\n    latency_later: {turn: 2, us: 50}", "with a latency_us above 0"),
                                   ("latency_us: [0, 30]", "latency_us: 1\n    latency_later: 50", "allowed: turn and us"),
                                   ("histories: true", "drift: -1", "drift: found -1"),
                                   ("histories: true", "transport: ib", "allowed: default, shm, tcp"),
                                   ("title: Small", "curves: [{experiment: large, points: []}]", "allowed: small"),
                                   ("title: Small", "curves: [{experiment: small}]", "one of points, model and iteration_us"),
                                   ("title: Small", "claims: [{what: a, ours: b}]", "experiments, ours, over and differs"),
                                   ("title: Small", "claims: [{what: a, ours: b, over: c, differs: d, experiments: [e]}]", "allowed: small"),
                                   ("title: Small", "counts: [{experiment: small, paper: {flop: 1}}]", "unknown key 'flop'"),
                                   ("at_most: 1000", "at_mots: 1000", "unknown key 'at_mots'")):
            with self.subTest(new), self.assertRaisesRegex(Wrong, expected):
                Plan(self.plan_file(PLAN.replace(old, new))).cells()

    def test_the_projects_campaigns_can_be_read(self):
        for path in (PERF / "campaigns" / f"{name}.yaml" for name in ("headline", "papers", "scaling", "choice-matrices")):  # test_bench.py runs the others
            decks = {cell.deck: cell for cell in Plan(path).cells()}
            self.assertTrue(decks)
            for index, (deck, cell) in enumerate(decks.items()):
                file = self.folder / f"{path.stem}-{index}.yaml"
                file.write_text(deck, encoding="utf-8")
                programs = processes.Programs(BUILD, 60, [])
                programs.run(programs.mpi_command(1, "solvers_bench", str(file), "--check", *cell_run.peer_words(cell)))


class Records(InFolder):
    def test_the_latest_counts_but_a_failure_undoes_nothing(self):
        path = self.folder / records.NAME
        for record in (made.campaign(["a", "b", "c"]), made.cell("a"), {**made.cell("b"), "status": "failed", "reason": "no"},
                       made.cell("b", rows=7), {**made.cell("a"), "status": "failed", "reason": "later"}, made.cell("old")):
            records.append(path, record)
        results = records.load(path)
        self.assertEqual(results.finished(), {"a", "b"})
        self.assertEqual([cell["rows"] for cell in results.cells], [1000, 7])
        self.assertEqual((results.missing, [cell["key"] for cell in results.outdated]), (["c"], ["old"]))

    def test_a_line_cut_off_is_passed_over(self):
        path = self.folder / records.NAME
        records.append(path, made.cell("a"))
        with open(path, "a", encoding="utf-8") as file:
            file.write('{"kind": "cell", "key": "b", "sol')
        records.append(path, made.cell("c"))
        self.assertEqual([record["key"] for record in records.read(path)], ["a", "c"])
        path.write_text('{"something": "else"}\n', encoding="utf-8")
        with self.assertRaisesRegex(records.Damaged, "line 1"):
            records.read(path)


class Verdicts(unittest.TestCase):
    def results(self, targets, *cells):
        return records.Results([made.ENVIRONMENT, made.campaign([cell["key"] for cell in cells], targets), *cells])

    def test_targets(self):
        targets = [{"group": "GMRES", "at_most": 0.5}, {"group": "GMRES", "at_most": 0.4}, {"group": "CG", "at_most": 1},
                   {"group": "GMRES", "at_most": 0.3, "peer": "petsc"}, {"group": "GMRES", "at_most": 1, "latency_us": 200}]
        rows = verdicts.targets(self.results(targets, made.cell("a")))
        self.assertEqual([row["held"] for row in rows], [True, False, None, True, None])
        self.assertEqual((rows[0]["value"], rows[0]["spread"]), (0.5, {"median": 0.5, "upper_quartile": 0.55, "min": 0.25, "max": 0.6}))
        self.assertEqual(rows[0]["peer"], "belos: block gmres")
        self.assertEqual(rows[4]["reason"], "not measured")
        self.assertIn("MISSED", tables.text(self.results(targets, made.cell("a"))))

    def test_peers_that_did_not_solve_are_none(self):
        liar = made.solver("liar", "belos", [1e-6] * 3, relative_residual=0.9)
        cell = made.cell("a", members=[made.solver("ours", "capstan", [1e-3] * 3), liar])
        self.assertEqual(verdicts.compare(cell, {"group": "GMRES"})["reason"], "no peer solved")

    def test_the_reference_shows_drift_and_noise(self):
        self.assertEqual(verdicts.flags([made.cell("a")]), {})
        slower = made.cell("b", reference=made.reference([10e9] * 4 + [7e9] * 4))
        wild = made.cell("c", reference=made.reference([10e9, 5e9] * 4))
        found = verdicts.flags([made.cell("a"), made.cell("d"), slower, wild])
        self.assertEqual(set(found), {"b", "c"})
        self.assertIn("drifting", found["b"][0])
        self.assertIn("noisy", found["c"][0])
        moved = verdicts.flags([made.cell("a"), made.cell("b"), made.cell("c", reference=made.reference([6e9] * 8))])
        self.assertRegex(moved["c"][0], "0.60 of the run's median")
        shared = made.reference()
        for sample in shared[1:]:
            sample["all_reduce_seconds"] = 1e-3
        self.assertIn("shared with others", verdicts.flags([made.cell("a", reference=shared)])["a"][0])

    def test_limits(self):
        """20 iterations: 12 bytes an entry, 24 a row, 100 a row for the vectors; 2 all-reduces."""
        cell = made.cell("a")
        limit = limits.seconds(cell, cell["solvers"][0])
        self.assertEqual(limit["bytes"], 20 * (12 * 6400 + 24 * 1000 + 100 * 1000))
        self.assertAlmostEqual(limit["seconds"], limit["bytes"] / 40e9 + 2 * 1e-6)
        self.assertAlmostEqual(limits.over(cell, cell["solvers"][0]), 2e-3 / limit["seconds"])
        large = {**cell, "cache_bytes": 12 * 6400 + 8 * 1000 + 7 * 8 * 1000 - 1}  # matrix, five vectors, x and b: a byte too many
        self.assertAlmostEqual(limits.seconds(large, cell["solvers"][0])["seconds"], limit["bytes"] / 10e9 + 2 * 1e-6)
        alone = {**cell, "ranks": 1}
        self.assertAlmostEqual(limits.seconds(alone, cell["solvers"][0])["seconds"], limit["bytes"] / 40e9)
        self.assertIsNone(limits.seconds(cell, cell["solvers"][1]), "peers tell no cost")
        hidden = made.cell("b", reference=made.reference(all_reduce=1e-3))
        hidden["solvers"][0]["details"] = {"cost": {**made.COST, "hidden": True, "reductions": 1, "pipeline_depth": 4}}
        self.assertAlmostEqual(limits.seconds(hidden, hidden["solvers"][0])["seconds"], 20 * 1e-3 / 4)
        hidden["solvers"][0]["preconditioner"] = "muelu (no_reductions)"
        self.assertIsNone(limits.seconds(hidden, hidden["solvers"][0]), "the bytes of a multigrid cycle are not known")


    def test_the_limit_of_each_phase(self):
        cell = made.cell("a")
        limit = limits.seconds(cell, cell["solvers"][0])
        self.assertAlmostEqual(sum(limit["phases"].values()), limit["seconds"])
        self.assertAlmostEqual(limit["phases"]["operator"], 20 * (12 * 6400 + 24 * 1000) / 40e9)
        self.assertAlmostEqual(limit["phases"]["reduction_wait"], 2e-6)
        found = limits.phases(cell["solvers"][0])  # shares of the last solve, of the median of 2 ms
        self.assertAlmostEqual(found["operator"], 1e-3)
        self.assertAlmostEqual(sum(found.values()), 2e-3)
        self.assertIsNone(limits.phases(cell["solvers"][1]), "peers tell no phases")
        self.assertEqual([row[0] for row in tables.phase_rows(cell)], ["capstan s-step"])


class Papers(unittest.TestCase):
    CLAIM = {"what": "a pair", "speedup": "up to 2", "where": "there", "source": "a-paper", "experiments": ["small"],
             "ours": "capstan s-step pipeline", "over": ["block gmres", "PETSc gmres"], "differs": "all"}
    COUNT = {"what": "one", "experiment": "small", "solver": "capstan s-step pipeline, Pipeline Depth 2", "source": "a-paper", "paper": {"reductions": 1}}

    def results(self, *cells, **changes):
        return records.Results([made.ENVIRONMENT, made.campaign([cell["key"] for cell in cells], **changes), *cells])

    def cell(self, key="a", **changes):
        members = [made.solver("capstan s-step pipeline, Pipeline Depth 1", "capstan", [2e-3] * 3),
                   made.solver("capstan s-step pipeline, Pipeline Depth 2", "capstan", [1e-3, 1e-3, 2e-3]),
                   made.solver("capstan s-step pipelined", "capstan", [1e-6] * 3), made.solver("block gmres", "belos", [4e-3, 3e-3, 2e-3])]
        return made.cell(key, members=members, **changes)

    def test_the_fastest_of_each_side_is_compared(self):
        found = papers.speedup(self.cell(), self.CLAIM)
        self.assertEqual((found["ours"], found["over"]), ("capstan s-step pipeline, Pipeline Depth 2", "block gmres"))
        self.assertEqual((found["value"], found["spread"]), (3.0, {"median": 3.0, "upper_quartile": 3.5, "min": 1.0, "max": 4.0}))
        self.assertIsNone(papers.speedup(self.cell(), {**self.CLAIM, "ours": "nobody"}))

    def test_a_column_for_each_latency_and_a_claim_that_is_only_told(self):
        told = {key: self.CLAIM[key] for key in ("what", "speedup", "where", "source")}
        results = self.results(self.cell(), self.cell("b", latency_us=230.0), claims=[self.CLAIM, told], counts=[self.COUNT])
        head, rows = papers.claim_table(results)
        self.assertEqual(head[2:-1], ["shm", "shm, 230 us"])
        self.assertEqual(rows, [["a pair", "up to 2", "3.00 [1.00..4.00]", "3.00 [1.00..4.00]", "-"], ["a pair", "up to 2", "-", "-", "-"]])
        said = tables.text(results)
        self.assertIn("Differs, a pair: there. Here: all.", said)
        # 2 all-reduces and 21 products in 20 iterations.
        self.assertEqual(papers.count_rows(results), [["one", "1", "0.1", "0.1", "-", "1", "1.05", "-", "10", "-", "5"]])


class Runs(InFolder):
    def bench(self, *words, build=None):
        environment = {**os.environ, "CAPSTAN_BUILD_DIR": str(build or BUILD)}
        environment.pop("CAPSTAN_PROGRESS", None)
        return subprocess.run([sys.executable, str(PERF / "bench"), *map(str, words)], env=environment, capture_output=True,
                              text=True, check=False)

    def test_runs_stops_and_goes_on(self):
        out = self.folder / "out"
        first = self.bench(self.plan_file(), "--out", out, "--only", "ranks=1", "--no-page")
        self.assertEqual((first.returncode, first.stderr), (0, ""), "in a pipe there is no progress")
        self.assertIn("2 cells run, 0 done before, 0 failed", first.stdout)
        self.assertIn("Not run yet: 2 cells", first.stdout)
        again = self.bench(self.plan_file(), "--out", out)
        self.assertEqual(again.returncode, 2)
        self.assertIn("--resume", again.stderr)
        second = self.bench(self.plan_file(), "--resume", out, "--no-page")
        self.assertEqual(second.returncode, 0, second.stderr)
        self.assertIn("2 cells run, 2 done before, 0 failed", second.stdout)
        self.assertRegex(second.stdout, r"small, 1 rank, default +CG +0\.00 .* MISSED")
        self.assertIn("everything", second.stdout)
        self.check(records.load(out / records.NAME))

    def check(self, results):
        self.assertEqual([(cell["ranks"], cell["latency_us"]) for cell in results.cells], [(1, 0), (1, 30), (2, 0), (2, 30)])
        for cell in results.cells:
            self.assertEqual([sample["turn"] for sample in cell["reference"]], [0, 1, 2, 3])
            for sample in cell["reference"]:
                self.assertTrue(all(sample[name] > 0 for name in sample if name != "turn"))
                # The limit's all-reduce is that of the run: one that is emulated to be slow is.
                self.assertGreaterEqual(sample["all_reduce_seconds"], 1e-6 * cell["latency_us"])
            self.assertLessEqual({one["name"] for one in cell["solvers"] if one["library"] == "capstan"}, set(cell["histories"]))
            for one in cell["solvers"]:
                self.assertTrue(solvers.solved(one), one["name"])
                self.assertEqual(limits.seconds(cell, one) is None, one["library"] != "capstan")
        for key in ("machine", "commit", "build"):
            self.assertIn(key, results.environments[results.cells[0]["environment"]])

    def test_a_deck_makes_a_cell_for_each_system_and_latency(self):
        deck = """
systems:
  - {name: one, generate: {problem: laplace2d, cells: 8}, solvers: all}
  - {name: two, generate: {problem: laplace2d, cells: 10}, solvers: all}
linear_solvers:
  - {name: cg, method: CAPSTAN CG, tolerance: 1e-6, max_iterations: 100, preconditioner: none}
campaign: {repeat: 2, latency: [30, 0]}
"""
        asked = ["--ranks", 2, "--petsc", "off", "--hypre", "off", "--no-page"]
        for words, latencies in (([], [0, 30]), (["--latency", "10"], [10])):
            out = self.folder / f"out {len(words)}"
            done = self.bench(self.plan_file(deck), *asked, *words, "--out", out)
            self.assertEqual(done.returncode, 0, done.stderr)
            cells = records.load(out / records.NAME).cells
            self.assertEqual([(cell["experiment"], cell["rows"], cell["latency_us"]) for cell in cells],
                             [(name, rows, latency) for name, rows in (("one", 64), ("two", 100)) for latency in latencies])
            for cell in cells:
                for sample in cell["solvers"][0]["samples"]:
                    # Blocking all-reduces follow each other: a lower bound that holds on the busiest machine.
                    self.assertGreaterEqual(sample["seconds"], 1e-6 * cell["latency_us"] * sample["reductions_blocking"])
        again = self.bench(self.folder / "small.yaml", *asked, "--latency", "10", "--resume", out)
        self.assertIn("0 cells run, 2 done before, 0 failed", again.stdout, again.stderr)

    def test_noisy_cells_can_be_run_again(self):
        out = self.folder / "out"
        self.assertEqual(self.bench(self.plan_file(BROKEN), "--out", out, "--only", "experiment=fine", "--no-page").returncode, 0)
        measured = records.load(out / records.NAME).cells[0]
        for memory, expected in (([10e9] * 8, "0 cells run, 1 done before"), ([10e9] * 4 + [5e9] * 4, "1 cells run, 0 done before")):
            records.append(out / records.NAME, {**measured, "reference": made.reference(memory)})
            again = self.bench(self.plan_file(BROKEN), "--resume", out, "--again-noisy", "--only", "experiment=fine", "--no-page")
            self.assertIn(expected, again.stdout)

    def test_the_reason_is_what_the_program_said_not_mpirun(self):
        rule = "-" * 74
        said = f"deck: found '0'\n{rule}\nprterun detected that a process exited\n\n   Exit code:    2\n{rule}\n"
        self.assertEqual(cell_run._reason(said, 2), "ended with status 2: deck: found '0'")  # pylint: disable=protected-access
        self.assertIn("only mpirun", cell_run._reason(f"{rule}\nonly mpirun\n{rule}\n", 2))  # pylint: disable=protected-access

    def test_what_fails_is_a_row_with_its_reason(self):
        out = self.folder / "out"
        done = self.bench(self.plan_file(BROKEN), "--out", out, "--no-page")
        self.assertEqual(done.returncode, 1, done.stderr)
        failed, fine = records.load(out / records.NAME).cells
        self.assertEqual((failed["status"], fine["status"]), ("failed", "done"))
        self.assertIn("systems[0].generate.cells: found '0'", failed["reason"])
        self.assertIn("FAILED: ended with status 2", done.stdout)
        again = self.bench(self.plan_file(BROKEN), "--resume", out, "--no-page")
        self.assertIn("1 cells run, 1 done before, 1 failed", again.stdout)

    def build_with(self, name, script):
        """A build folder in which one program is a script."""
        build = self.folder / "build"
        (build / "bin").mkdir(parents=True)
        for program in ("solvers_bench", "capstan-solve"):
            if program != name:
                (build / "bin" / program).symlink_to(BUILD / "bin" / program)
        (build / "CMakeCache.txt").symlink_to(BUILD / "CMakeCache.txt")
        (build / "bin" / name).write_text(script, encoding="utf-8")
        (build / "bin" / name).chmod(0o755)
        return build

    def test_a_solver_that_crashes_is_left_out_and_listed(self):
        build = self.build_with("solvers_bench", f"""#!/bin/sh
            case "$*" in *--crashed*) exec '{BUILD}/bin/solvers_bench' "$@";; esac
            for word; do [ "$before" = --marker ] && printf fine/peer > "$word"; before=$word; done
            kill -SEGV $$
            """)
        out = self.folder / "out"
        done = self.bench(self.plan_file(BROKEN), "--out", out, "--only", "experiment=fine", "--no-page", build=build)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = {one["name"]: one["summary"] for one in records.load(out / records.NAME).cells[0]["solvers"]}
        self.assertEqual((found["cg"]["solved"], found["peer"]["solved"]), (True, False))
        self.assertIn("crashed", found["peer"]["failure"])

    def test_a_terminal_shows_progress_and_an_interrupted_run_goes_on(self):
        endless = """
experiments:
  - {name: short, problem: {generate: {problem: laplace2d, cells: 8}}, sets: short, ranks: 1}
  - {name: endless, problem: {generate: {problem: laplace2d, cells: 400}}, sets: endless, ranks: 1}
repeat: 1
sets:
  short: {common: {tolerance: 1e-6, max_iterations: 100}, solvers: {cg: {method: CAPSTAN CG}}}
  endless: {common: {tolerance: 1e-300, max_iterations: 2000000000}, solvers: {cg: {method: BLOCK CG}}}
"""
        out, plan = self.folder / "out", self.plan_file(endless)
        ours, theirs = pty.openpty()
        words = [sys.executable, str(PERF / "bench"), str(plan), "--out", str(out), "--no-page"]
        environment = {**os.environ, "CAPSTAN_BUILD_DIR": str(BUILD)}
        environment.pop("CAPSTAN_PROGRESS", None)
        with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=theirs) as process:
            os.close(theirs)
            said = b""
            while b"cell 2/2" not in said and process.poll() is None:
                said += os.read(ours, 4096)
            process.terminate()
            process.communicate()
        os.close(ours)
        self.assertEqual(process.returncode, 130, said)
        self.assertRegex(said, rb"cell 1/2: short")
        self.assertRegex(said, rb"short, 1 rank, default: done")
        self.assertEqual([path.name for path in out.iterdir() if path.suffix == ".tmp"], [])
        results = records.load(out / records.NAME)
        self.assertEqual((len(results.finished()), len(results.missing)), (1, 1))
        again = self.bench(plan, "--resume", out, "--no-page", "--only", "experiment=short")
        self.assertIn("0 cells run, 1 done before, 0 failed", again.stdout)

    def test_kernels_that_fail_are_a_row_and_the_cells_are_measured(self):
        build = self.build_with("kernels_benchmark", "#!/bin/sh\nexit 3\n")
        out, plan = self.folder / "out", self.plan_file(BROKEN + "kernels: true\n")
        done = self.bench(plan, "--out", out, "--only", "experiment=fine", "--no-page", build=build)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r"Kernels FAILED: .*ended with status 3")
        results = records.load(out / records.NAME)
        self.assertEqual((results.kernels, [cell["status"] for cell in results.cells]), ([], ["done"]))

    def test_pinned_are_ranks_that_were_told_to_stay(self):
        """Not those of which mpirun was told something else."""
        found = {"systems": [{"solvers": [], "rows": 1, "entries": 1, "reference": []}], "ranks": 1, "emulation": None, "notes": [],
                 "mpi": "Open MPI", "build": {}, "petsc": None, "hypre": None, "right_hand_side": "fixed"}
        plain, pinned = (Plan(self.plan_file(BROKEN.replace("repeat", f"pinning: {word}\nrepeat", 1))).cells()[1] for word in ("none", "core"))
        for cell, expected in ((plain, False), (pinned, True)):
            programs = processes.Programs(self.folder, 60, ["--mca", "btl", "self,sm"])
            one = cell_run.CellRun(cell, programs, self.folder)

            def measure(one=one):
                one.output.write_text(json.dumps(found), encoding="utf-8")

            with mock.patch.object(one, "_measure", measure), mock.patch.object(programs, "is_open_mpi", lambda: True), \
                    mock.patch.object(one, "command", list), mock.patch.object(one, "_histories", dict), \
                    mock.patch.object(cell_run, "unusable", lambda *_: None):
                self.assertEqual(one.record("here")["pinned"], expected)

    def test_a_transport_that_this_mpi_lacks_is_no_result(self):
        cell = Plan(self.plan_file(BROKEN)).cells()[1]
        found = {"mpi": "MPICH Version: 4.0.2", "ranks": 1, "emulation": None, "systems": [{"solvers": [1]}]}
        self.assertIn("transport tcp is for Open MPI; found MPICH", cell_run.unusable(cell, found))
        self.assertIsNone(cell_run.unusable(cell, {**found, "mpi": "Open MPI v4.1.4"}))
        self.assertIn("2 ranks where 1", cell_run.unusable(cell, {**found, "mpi": "Open MPI v4.1.4", "ranks": 2}))

    def test_a_cell_that_hangs_is_ended(self):
        slow = BROKEN.replace("tolerance: 1e-6, max_iterations: 100", "tolerance: 1e-14, max_iterations: 2000000000")
        slow = slow.replace("cells: 8}}", "cells: 900}}, timeout: 3")
        out = self.folder / "out"
        done = self.bench(self.plan_file(slow), "--out", out, "--only", "experiment=fine", "--no-page")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("longer than 3 seconds", records.load(out / records.NAME).cells[0]["reason"])

    def test_wrong_use(self):
        for words, status, expected in ((["--only", "ranks=9"], 2, "no cell"), (["--only", "rank=9"], 2, "found 'rank=9'"),
                                        (["--out", "a", "--resume", "b"], 2, "one of them"),
                                        (["--again-noisy"], 2, "--resume")):
            done = self.bench(self.plan_file(), *words)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(expected, done.stderr)
        self.assertEqual(self.bench(self.plan_file(), "--no-page", build=self.folder).returncode, 3)
        self.assertEqual(len(self.bench("headline", "--list").stdout.splitlines()), len(Plan(PERF / "campaigns/headline.yaml").cells()))


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
