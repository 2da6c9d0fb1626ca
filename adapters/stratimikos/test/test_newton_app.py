#!/usr/bin/env python3
"""A Newton solve over Thyra whose linear solver is Belos', and one of Capstan's by preload.

usage: test_newton_app.py <newton_app> <the same linked with Capstan> <the same with another Tpetra>
       <libcapstanStratimikos.so> <mpiexec> <flag for the number of ranks>
"""

import os
import re
import subprocess
import sys
import unittest

APPLICATION, LINKED, WITH_ANOTHER_TPETRA, LIBRARY, MPIEXEC, RANKS_FLAG = sys.argv[1:7]
METHODS = ("CAPSTAN GMRES S-STEP", "capstan_gmres", "Capstan BiCGStab")
BELOS = "Pseudo Block GMRES"


class NewtonApp(unittest.TestCase):
    def output(self, *words, ranks=2, preload=True, options="", program=APPLICATION):
        """What the application prints, with "status <exit status>" at the end."""
        variables = [f"CAPSTAN_OPTIONS={options}"]
        if preload:
            variables.append(f"LD_PRELOAD={LIBRARY}")
        if "ASAN_OPTIONS" in os.environ:  # the preloaded library comes before the sanitizer's own
            variables.append("ASAN_OPTIONS=" + os.environ["ASAN_OPTIONS"] + ":verify_asan_link_order=0")
        run = subprocess.run([MPIEXEC, RANKS_FLAG, str(ranks), "env", *variables, program, *words], capture_output=True,
                             text=True, check=False)
        return f"{run.stdout}{run.stderr}status {run.returncode}"

    def numbers(self, *words, **how):
        """(Newton iterations, linear iterations, norm of the solution) of a run that converges."""
        output = self.output(*words, **how)
        found = re.search(r"newton (\d+), linear (\d+), \|u\| (\S+)\n", output)
        self.assertTrue(found and output.endswith("status 0"), output)
        return int(found[1]), int(found[2]), float(found[3])

    def test_newton_goes_as_with_belos(self):
        for ranks, preconditioner in ((2, "None"), (2, "Ifpack2"), (2, "MueLu"), (1, "MueLu")):
            words = (f"--prec={preconditioner}",)
            newton, linear, norm = self.numbers(*words, ranks=ranks, preload=False)
            self.assertEqual((newton, linear, norm), self.numbers(*words, ranks=ranks), "a bystander is disturbed")
            for method in METHODS:
                with self.subTest(ranks=ranks, preconditioner=preconditioner, method=method):
                    own = self.numbers(*words, f"--solver={method}", ranks=ranks)
                    self.assertEqual(own[0], newton)
                    self.assertAlmostEqual(own[2] / norm, 1, delta=1e-8)
                    if "gmres" in method.lower():
                        self.assertLessEqual(abs(own[1] - linear), newton)

    def test_a_linked_program_needs_no_preload(self):
        self.assertEqual(self.numbers("--solver=capstan_gmres", preload=False, program=LINKED),
                         self.numbers("--solver=capstan_gmres"))

    def test_without_preload_stratimikos_refuses_the_name(self):
        output = self.output("--solver=CAPSTAN GMRES", preload=False)
        self.assertIn("error: ", output)
        self.assertNotIn("|u|", output)

    def test_the_list_is_validated(self):
        output = self.output("--solver=capstan_gmres", "--parameter=Step Sise=5")
        self.assertIn('there is no parameter "Step Sise"; did you mean "Step Size"?', output)
        self.assertIn("Linear Solver Types->Belos->Solver Types->capstan_gmres", output)
        self.assertIn('did you mean "CAPSTAN GMRES"', self.output("--solver=capstan_gmrs"))

    def test_an_unchanged_list_can_be_redirected(self):
        expected = self.numbers(preload=False)
        found = self.numbers(options="redirect: {Pseudo Block GMRES: capstan_bicgstab}")
        self.assertEqual(found[0], expected[0])
        self.assertLess(found[1], 0.9 * expected[1], "BiCGStab takes two products an iteration")

    def test_a_program_with_another_trilinos_keeps_its_own_solvers(self):
        expected = self.numbers(ranks=1, preload=False)
        self.assertEqual(self.numbers(ranks=1, program=WITH_ANOTHER_TPETRA), expected)
        output = self.output("--solver=CAPSTAN GMRES", ranks=1, program=WITH_ANOTHER_TPETRA)
        self.assertIn("this program uses another Trilinos", output)
        self.assertIn("error: ", output)
        self.assertNotIn("|u|", output)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
