#!/usr/bin/env python3
"""perf/overhead/run, on results that are made up.

usage: test_overhead.py
"""

import importlib.machinery
import importlib.util
import json
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
LOADER = importlib.machinery.SourceFileLoader("overhead_run", str(pathlib.Path(__file__).with_name("run")))
RUN = importlib.util.module_from_spec(importlib.util.spec_from_loader("overhead_run", LOADER))
LOADER.exec_module(RUN)


def solver(name, **changes):
    sample = {"seconds": 2e-6, "iterations": 9, "claimed_converged": True, "failure": None}
    return {"name": name, "first": sample, "samples": [sample, {**sample, **changes}]}


class Solves(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def found(self, situation, *solvers):
        (self.folder / "result.json").write_text(json.dumps({"systems": [{"solvers": solvers}]}), encoding="utf-8")
        return RUN.solvers_of(self.folder, ["A", "B"], situation)

    def refused(self, expected, situation, *solvers):
        with self.assertRaises(RUN.processes.Failure) as refused:
            self.found(situation, *solvers)
        self.assertEqual(str(refused.exception), f"{situation}: {expected}")

    def test_solves_that_converge_are_measured(self):
        self.assertEqual(sorted(self.found("kept", solver("A"), solver("B"))), ["A", "B"])

    def test_what_threw_or_ended_early_is_no_measure(self):
        self.refused("B: non-positive value", "kept", solver("A"), solver("B", failure="non-positive\n value", claimed_converged=False))
        self.refused("B: not converged", "anew-loose", solver("A"), solver("B", claimed_converged=False))
        self.refused("B: no solves", "kept", solver("A"))

    def test_all_iterations_are_taken_where_they_are_asked_for(self):
        def five(name, **changes):
            made = solver(name)
            made["first"] = {**made["first"], "iterations": 5, "claimed_converged": False}
            return {**made, "samples": [made["first"], {**made["first"], **changes}]}

        self.assertEqual(len(self.found(RUN.FIXED, five("A"), five("B"))), 2)
        self.refused("B: 5 5 4 iterations; expected: 5, not converged", RUN.FIXED, five("A"), five("B", iterations=4))
        self.refused("A: 9 9 9 iterations; expected: 5, not converged", RUN.FIXED, solver("A"), five("B"))

    def test_times_are_of_solves_that_did_what_was_asked(self):
        class Programs:
            """That runs nothing."""

            def run(self, _):
                """Nothing."""

            def mpi_command(self, *_):
                """Nothing."""

        arguments = RUN.parse(["--seconds", "3"])
        self.found("kept", solver("A"), solver("B"))
        self.assertEqual(RUN.microseconds(Programs(), arguments, self.folder, ["A", "B"], "kept"), {"A": 2.0, "B": 2.0})
        (self.folder / "result.json").write_text(json.dumps({"systems": [{"solvers": [solver("A", failure="x"), solver("B")]}]}), encoding="utf-8")
        with self.assertRaises(RUN.processes.Failure):
            RUN.microseconds(Programs(), arguments, self.folder, ["A", "B"], "kept")


if __name__ == "__main__":
    unittest.main()
