#!/usr/bin/env python3
"""Tests the soak itself: faults committed on purpose are seen, seeds repeat, wrong use is refused.

usage: test_soak.py <soak> <mpiexec> <flag for the number of ranks>
"""

import os
import re
import subprocess
import sys
import unittest

PROGRAM, MPIEXEC, FLAG = sys.argv[1:4]
# The seeds must be those of problems that hold.
FEW = ("--first", "1", "--problems", "1")


def soak(*arguments, ranks=2, **environment):
    run = subprocess.run([MPIEXEC, FLAG, str(ranks), PROGRAM, *arguments], capture_output=True, text=True, check=False,
                         env={**os.environ, "CAPSTAN_PROGRESS": "0", **environment}, timeout=200)
    return run.returncode, run.stdout, run.stderr


class Soak(unittest.TestCase):
    def test_the_same_seeds_give_the_same_results(self):
        results = []
        for _ in range(2):
            status, output, errors = soak("--first", "40", "--problems", "6")
            self.assertEqual(status, 0, errors)
            self.assertIn("seeds 40 to 45", output)
            results.append(re.search(r"digest (\w+)", output).group(1))
        self.assertEqual(*results)
        self.assertNotIn(results[0], soak("--first", "41", "--problems", "6")[1], "other seeds, other problems")

    def test_a_run_that_holds_is_quiet_in_a_pipe(self):
        status, output, errors = soak(*FEW)
        self.assertEqual((status, errors), (0, ""))
        self.assertEqual(len(output.splitlines()), 1)
        self.assertIn("all held", output)

    def test_progress_is_shown_where_asked_for(self):
        errors = soak("--minutes", "0.05", "--without", "update-tests,no-columns", CAPSTAN_PROGRESS="1")[2]
        self.assertRegex(errors, r"soak: 2 ranks, \d+ problems, \d+ solves, \d+ failures, \d s of 3")

    def test_faults_are_seen_and_can_be_repeated(self):
        for fault, words in (("converged", "false converged"), ("nan", "x not finite"), ("ranks", "ranks differ"),
                             ("throw", "a fault on purpose")):
            with self.subTest(fault=fault):
                status, output, errors = soak(*FEW, "--fault", fault, "--failures", "1", "--without", "nan",
                                              CAPSTAN_SOAK_COMMAND="./capstan test --soak 1")
                self.assertNotEqual(status, 0)
                self.assertIn(words, errors)
                self.assertIn("1 FAILED", output)
                command = re.search(r"reproduce: (.*)", errors).group(1)
                self.assertRegex(command, r"^\./capstan test --soak 1 --ranks 2 --seed \d+ --without \"nan")
                again = re.search(r"--seed (\d+) --without \"(.*)\"", command)
                _, _, errors = soak("--seed", again.group(1), "--without", again.group(2), "--fault", fault)
                self.assertIn(words, errors)

    def test_a_failure_is_made_simpler(self):
        _, _, errors = soak("--seed", "3", "--fault", "throw")
        simple = errors[errors.index("fails likewise"):]
        self.assertEqual(simple.count("  step "), 1)
        self.assertIn("preconditioner none", simple)

    def test_a_hang_and_a_crash_name_the_problem(self):
        for fault, words in (("hang", "no progress"), ("crash", "on rank 0")):
            with self.subTest(fault=fault):
                status, _, errors = soak(*FEW, "--fault", fault, "--stall", "3")
                self.assertNotEqual(status, 0)
                self.assertIn("seed 1, step 0", errors)
                self.assertIn("--seed 1", errors)
                self.assertIn(words, errors)

    def test_the_problems_have_every_ingredient(self):
        _, output, _ = soak("--survey", "--problems", "4000", ranks=1)
        counts = {line.split(None, 1)[1]: int(line.split()[0]) for line in output.splitlines()}
        self.assertGreater(sum(name.startswith("parameter ") for name in counts), 40)
        self.assertEqual([name for name, count in counts.items()
                          if count == 0 and name != "parameter Output Stream"], [], "every solver gets one")
        for kind, words in {
                "right-hand sides": range(8), "A x": ("1e300", "1e-300"), "b x": ("1e300", "1e-300"),
                "rows x": ("1e+-100", "1e+-10"), "map": ("first", "last", "cyclic", "uneven"),
                "spoilt": [f"{what} in {where}" for what in ("nan", "inf") for where in ("A", "b", "x0")],
                "wrapper": ("nested", "nan later", "operator"), "side": ("left", "right", "both"),
                "preconditioner": ("nested", "nan later", "varying", "indefinite", "jacobi"),
                "reuse": ("new", "same", "clone", "again"), "reset": ("problem", "recycle", "both"),
                "split": ("first from rest", "last from rest", "even from odd", "each alone"),
                "combination": ("OR", "AND", "SEQ"),
                "user test": ("never passes", "passes later", "reads all", "Belos iterations",
                              "Belos implicit residual", "Belos explicit residual"),
                "debug test": ("reads all", "Belos explicit residual")}.items():
            for word in words:
                self.assertIn(f"{kind} {word}", counts)

    def test_wrong_use_is_refused(self):
        for arguments, word in ((("--minutes", "-1"), "--minutes"), (("--without", "sense"), "sense"),
                                (("--seed", "1", "--problems", "2"), "--problems"), (("--fault", "none"), "--fault"),
                                (("--nonsense",), "nonsense")):
            with self.subTest(arguments=arguments):
                status, _, errors = soak(*arguments)
                self.assertEqual(status, 2, errors)
                self.assertIn(word, errors)

    def test_parameters_are_difficulties_too(self):
        self.assertEqual(soak(*FEW, "--without", "Num Blocks,split")[0], 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
