#!/usr/bin/env python3
"""Tests of `./capstan bench openfoam`: its list, its table, and one run of a small case.

usage: test_openfoam_bench.py <build folder> [arguments of unittest]. Nothing here depends on how fast anything is.
"""

import importlib.machinery
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[1] / "app-inputs" / "openfoam")]

# pylint: disable=wrong-import-position
import comparison  # noqa: E402
from tutorials import errors, solvers, timing  # noqa: E402

BUILD = None
LOG = """
Capstan: solves of this run on 1 rank
field method        preconditioner  solves unconverged  builds  iterations  passes reductions/it   with checks        M/it   set-up s    solve s
Ux    capstan_sstep_gmres DILU           8           0       0          90       8         0.500         0.600       1.000      0.000      0.008
p_rgh capstan_cg    DIC                  8           0       0         200       8         1.075         1.100       1.035      0.000      0.008
p_rgh capstan_gmres GAMG               292           0       0         800     292         1.729         2.100       1.000      0.000      0.159
total: 300 solves, 1124 iterations, 0.167 s
"""


class List(unittest.TestCase):

    def read(self, text, **how):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "list.yaml"
            path.write_text(text, encoding="utf-8")
            return comparison.read_cases(path, **how)

    def test_the_list_that_is_shipped(self):
        entries = comparison.read_cases(HERE / "pressure.yaml")
        self.assertEqual(len(entries), 6)
        for entry in entries:
            self.assertIn(solvers.OWN, [line[0].solver for line in entry.lines])
            self.assertFalse(any(choice.everything for choice in entry.choices()), "only the pressure's solver changes")
        self.assertEqual(entries[2].case.edits["system/caseSettings"]["n"], "48")

    def test_the_list_of_coarsest_levels(self):
        for entry in comparison.read_cases(HERE / "coarse.yaml"):
            self.assertTrue(entry.counted)
            self.assertEqual({choice.coarsest_cells for choice in entry.choices()}, {300})
            self.assertEqual(entry.lines[0][0].label(), "GAMG/PCG")
        with self.assertRaises(errors.WrongUse) as caught:
            self.read("- {case: pitzDaily, coarsest_cells: 9, compare: [[GAMG/PCG, PCG]]}")
        self.assertIn("solvers without GAMG", str(caught.exception))

    def test_a_tutorial_that_has_no_case(self):
        entry, = self.read("- {tutorial: incompressible/icoFoam/cavity/cavity, prepare: [blockMesh], steps: 7, coarsest_cells: 9, "
                           "compare: [[GAMG/PCG, GAMG/capstan_cg]]}")
        self.assertEqual((entry.case.name, entry.case.prepare, entry.steps), ("cavity", [["blockMesh"]], 7))
        with self.assertRaises(errors.WrongUse) as caught:
            self.read("- {tutorial: incompressible/icoFoam/cavitty, compare: [[own, capstan]]}")
        self.assertIn("did you mean 'incompressible/icoFoam/cavity/", str(caught.exception))
        with self.assertRaises(errors.WrongUse) as caught:
            self.read("- {case: pitzDaily, compare: [[own, capstan]]}\n- {tutorial: incompressible/simpleFoam/pitzDaily, compare: [[own, capstan]]}")
        self.assertIn("two entries are of pitzDaily", str(caught.exception))

    def test_one_run_serves_every_line_that_names_it(self):
        entry, = self.read("- {case: pitzDaily, compare: [[PCG+DIC, capstan_cg+DIC], [PCG+DIC, capstan]]}")
        self.assertEqual([choice.label() for choice in entry.choices()], ["PCG+DIC", "capstan_cg+DIC", "capstan"])

    def test_mistakes(self):
        for text, found in (("- {case: pitzDayly, compare: [[own, capstan]]}", "did you mean 'pitzDaily'"),
                            ("- {case: pitzDaily, compare: [own, capstan]}", "a list of lists"),
                            ("- {case: pitzDaily, compare: [[own]]}", "two solvers or more"),
                            ("- {case: pitzDaily, compare: [[own, capstan_gc]]}", "capstan_cg"),
                            ("- {case: squareBend, compare: [[own, capstan_cg]]}", "asymmetric"),
                            ("- {case: pitzDaily, step: 3, compare: [[own, capstan]]}", "unknown key"),
                            ("{case: pitzDaily}", "a list of cases")):
            with self.subTest(text), self.assertRaises(errors.WrongUse) as caught:
                self.read(text)
            self.assertIn(found, str(caught.exception))
        with self.assertRaises(errors.WrongUse):
            self.read("- {case: pitzDaily, compare: [[own, capstan]]}", only=["damBreak"])

    def test_a_latency_needs_ranks(self):
        entries = self.read("- {case: pitzDaily, compare: [[own, capstan]]}")
        self.assertEqual([(one.ranks, one.latency) for one in comparison.settings(entries, [1, 2], [0.0, 100.0])],
                         [(1, 0.0), (2, 0.0), (2, 100.0)])
        with self.assertRaises(errors.WrongUse):
            comparison.settings(entries, [1], [100.0])


class Table(unittest.TestCase):

    def test_reductions_are_the_pressures(self):
        self.assertAlmostEqual(timing.reductions(LOG, ["p_rgh"]), (200 * 1.1 + 800 * 2.1) / 1000)
        self.assertIsNone(timing.reductions(LOG, ["p"]))

    def test_ratios_are_of_the_same_turn(self):
        entry, = List().read("- {case: pitzDaily, compare: [[own, capstan]]}")
        one = comparison.Setting(entry, 2, 0.0)
        self.assertIn("not measured", one.lines()[0])
        for turn, (own, ours) in enumerate(((1.0, 2.0), (10.0, 5.0), (100.0, 100.0))):
            for choice, seconds in zip(one.choices, (own, ours)):
                one.samples[choice].append({"turn": turn, "seconds": seconds, "solves": 3, "iterations": 9,
                                            "unconverged": 0, "reductions_an_iteration": None})
        self.assertIn("1.00 [0.50..2.00]", one.lines()[-1])
        self.assertEqual(one.as_data()["samples"]["own"][1]["seconds"], 10.0)

    def test_a_turn_with_solves_that_have_not_converged_is_told(self):
        """Whichever it is; iterations are of the turn that took least."""
        entry, = List().read("- {case: pitzDaily, compare: [[own, capstan]]}")
        one = comparison.Setting(entry, 2, 0.0)
        for choice in one.choices:
            one.samples[choice] = [{"turn": turn, "seconds": seconds, "solves": 3, "iterations": iterations, "unconverged": unconverged,
                                    "reductions_an_iteration": None}
                                   for turn, (seconds, iterations, unconverged) in enumerate(((2.0, 7, 4), (1.0, 8, 1), (3.0, 9, 0)))]
        self.assertEqual([line.split()[1:4] for line in one.lines()[2:]], [["3", "8", "4"]] * 2)


class Run(unittest.TestCase):

    def test_a_coarsest_level(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "list.yaml"
            path.write_text("- {case: pitzDaily, steps: 2, coarsest_cells: 300, compare: [[GAMG/PCG, GAMG/capstan_cg]]}\n",
                            encoding="utf-8")
            done = subprocess.run([sys.executable, str(HERE / "run"), str(path), "--ranks", "2", "--repeat", "1", "--out",
                                   folder], capture_output=True, text=True, check=False,
                                  env={**os.environ, "CAPSTAN_BUILD_DIR": str(BUILD)})
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            setting, = json.loads((pathlib.Path(folder) / "openfoam.json").read_text(encoding="utf-8"))["settings"]
            theirs, ours = (setting["samples"][label][0] for label in ("GAMG/PCG", "GAMG/capstan_cg"))
            self.assertEqual((theirs["unconverged"], ours["unconverged"]), (0, 0))
            self.assertEqual(theirs["iterations"], ours["iterations"])
            self.assertLess(ours["reductions_a_step"], theirs["reductions_a_step"])

    def test_a_small_case(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "list.yaml"
            path.write_text("- {case: damBreak, steps: 1, compare: [[PCG+DIC, capstan_cg+DIC]]}\n", encoding="utf-8")
            done = subprocess.run([sys.executable, str(HERE / "run"), str(path), "--ranks", "2", "--latency", "0,50",
                                   "--repeat", "1", "--out", folder], capture_output=True, text=True, check=False,
                                  env={**os.environ, "CAPSTAN_BUILD_DIR": str(BUILD)})
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            found = json.loads((pathlib.Path(folder) / "openfoam.json").read_text(encoding="utf-8"))
            self.assertTrue(found["complete"])
            for setting in found["settings"]:
                theirs, ours = (setting["samples"][label][0] for label in ("PCG+DIC", "capstan_cg+DIC"))
                self.assertEqual(theirs["solves"], ours["solves"])
                self.assertEqual((theirs["unconverged"], ours["unconverged"]), (0, 0))
                self.assertLess(ours["reductions_an_iteration"], 1.5)
                self.assertGreater(min(theirs["seconds"], ours["seconds"]), 0)
            self.assertEqual((pathlib.Path(folder) / "table.txt").read_text(encoding="utf-8").strip(),
                             done.stdout.rpartition("\n\nresults:")[0].strip())


class WholeRuns(unittest.TestCase):
    """perf/openfoam/whole"""

    def module(self):
        loader = importlib.machinery.SourceFileLoader("whole", str(HERE / "whole"))
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader("whole", loader))
        loader.exec_module(module)
        return module

    def test_the_sums(self):
        module = self.module()
        rows = [{"tutorial": name, "own": own, "capstan": ours, "ratio": ours / own}
                for name, own, ours in (("a", 10.0, 7.0), ("b", 4.0, 5.0), ("c", 0.2, 0.5), ("d", 2.0, 2.1))]
        self.assertEqual(module.sums(rows), ["whole runs of 4 tutorials: 14.6 s for 16.2 s with their own solvers, 0.90",
                                             "3 take 2 s or more: 2 at most 1.05 of their own; above it: b 1.25"])

    def test_a_row_tells_of_all_turns(self):
        module = self.module()
        tutorial = module.Tutorial.__new__(module.Tutorial)
        tutorial.case, tutorial.steps = types.SimpleNamespace(name="a"), 3

        def run_of(wall, iterations, unconverged):
            return types.SimpleNamespace(wall=wall, solves=[types.SimpleNamespace(iterations=iterations)], unconverged=lambda: unconverged)

        tutorial.runs = {"own": (None, [run_of(4.0, 1, 0), run_of(2.0, 2, 0)]), "capstan": (None, [run_of(1.0, 5, 3), run_of(3.0, 6, 0)])}
        self.assertEqual(tutorial.row(), {"tutorial": "a", "steps": 3, "own": 2.0, "capstan": 1.0, "ratio": 0.5, "iterations_own": 2,
                                          "iterations": 5, "unconverged_own": 0, "unconverged": 3})

    def run_it(self, *words):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, HERE / "whole", *words, "--csv", f"{folder}/whole.csv"], capture_output=True, text=True,
                                  env={**os.environ, "CAPSTAN_BUILD_DIR": str(BUILD)}, check=False, timeout=250)
            table = pathlib.Path(folder, "whole.csv")
            return done, table.read_text(encoding="utf-8") if table.exists() else ""

    def test_a_run(self):
        done, table = self.run_it("--only", "*icoFoam/cavity/cavity", "--turns", "1", "--ranks", "2", "--latency", "20")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("whole runs of 1 tutorials: ", done.stdout)
        self.assertRegex(table, r"(?m)^incompressible/icoFoam/cavity/cavity,50,[\d.]+,[\d.]+,[\d.]+,\d+,\d+,0,0$")

    def test_what_is_refused(self):
        for words, text in ((["--latency", "20"], "with --ranks 2"), (["--solver", "capstan_gc"], "capstan_cg"), (["--only", "nothing"], "nothing")):
            done, _ = self.run_it(*words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(text, done.stderr)


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
