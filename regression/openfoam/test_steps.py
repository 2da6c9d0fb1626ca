#!/usr/bin/env python3
"""What solves take from the steps before: initial guesses, and entries of fvSolution that are edited meanwhile.

usage: test_steps.py <build folder>
"""

import pathlib
import re
import subprocess
import sys
import time
import unittest

import foam

BUILD = pathlib.Path(sys.argv[1]).resolve()
TOLERANCE = 1e-7
VELOCITY = f"U {{ solver capstan; tolerance {TOLERANCE}; }}\n"
NO_GUESS = "capstan { initial_guess application; }"
READ_AT_ONCE = "OptimisationSwitches { fileModificationSkew 0; fileModificationChecking timeStamp; }\n"


def pressure(entries="", method="capstan_cg", preconditioner="DIC"):
    return (f'"p.*" {{ solver capstan; method {method}; preconditioner {preconditioner}; tolerance {TOLERANCE}; {entries} }}\n'
            + VELOCITY)


def folder(name):
    return BUILD / f"regression/openfoam/steps-{name}"


def prepared(ranks=1, steps=15, control=""):
    """The channel, meshed and decomposed, for so many steps."""
    case = folder(f"prepared-{steps}-np{ranks}")
    foam.copy_case("channel", case, ranks, pressure())
    path = case / "system/controlDict"
    text = path.read_text(encoding="utf-8").replace("endTime 0.06", f"endTime {0.02 * steps:g}")
    text = text.replace("writeInterval 3", f"writeInterval {steps}")
    if control:
        text = text.replace("runTimeModifiable false", "runTimeModifiable true") + control
    path.write_text(text, encoding="utf-8")
    foam.prepare(case, ranks, foam.environment(BUILD))
    return case


def iterations(log, field="p"):
    return [int(found) for found in re.findall(rf"Solving for {field}, .*No Iterations (\d+)", log)]


class Guesses(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.channel = {ranks: prepared(ranks) for ranks in (1, 2)}

    def run_of(self, name, solvers, ranks=1):
        """What icoFoam prints with this system/solvers."""
        return foam.launch_copy(self.channel[ranks], folder(name), solvers, ranks, foam.environment(BUILD))

    def test_save_iterations_and_change_no_field(self):
        asked = 'capstan { initial_guess "projection 3"; }'  # GMRES has none of itself
        for method, extra in (("capstan_cg", ""), ("capstan_pipelined_cg", ""), ("capstan_gmres", asked)):
            for ranks in (1, 2):
                with self.subTest(method=method, ranks=ranks):
                    plain = iterations(self.run_of("without", pressure(NO_GUESS, method), ranks))
                    log = self.run_of("with", pressure(extra, method), ranks)
                    self.assertEqual(len(iterations(log)), len(plain))
                    self.assertLess(sum(iterations(log)), 0.9 * sum(plain), f"{iterations(log)} for {plain}")
                    self.assertGreater(min(iterations(log)), 0, "each solve makes an iteration")
                    self.assertNotIn("not converged", log)
                    for name in ("p", "U"):
                        self.assertLess(foam.field_difference(folder("with"), folder("without"), name, ranks), 100 * TOLERANCE, name)

    def test_initial_residuals_are_those_of_the_field_as_it_was(self):
        loose = "relTol 0.05; "
        logs = self.run_of("initial", pressure(loose)), self.run_of("initial-own", pressure(loose + NO_GUESS))
        read = [[(float(first), float(last)) for first, last in re.findall(
            r"Solving for p, Initial residual = (\S+), Final residual = (\S+), No", log)] for log in logs]
        for (first, last), (own, _) in zip(*read):
            self.assertAlmostEqual(first / own, 1, delta=0.5)
            self.assertLess(last, max(TOLERANCE, 0.05 * first))

    def test_are_not_taken_for_asymmetric_matrices_or_where_the_user_says_so(self):
        log = self.run_of("velocity", pressure(NO_GUESS))
        other = self.run_of("velocity-own", pressure(NO_GUESS).replace(
            VELOCITY, f"U {{ solver capstan; tolerance {TOLERANCE}; {NO_GUESS} }}\n"))
        self.assertEqual(iterations(log, "Ux"), iterations(other, "Ux"))

    def test_of_gmres_are_taken_with_multigrid_only(self):
        for preconditioner, same in (("DIC", True), ("GAMG", False)):
            with self.subTest(preconditioner=preconditioner):
                log = self.run_of("gmres", pressure("", "capstan_gmres", preconditioner))
                plain = self.run_of("gmres-own", pressure(NO_GUESS, "capstan_gmres", preconditioner))
                self.assertEqual(iterations(log) == iterations(plain), same, f"{iterations(log)}, {iterations(plain)}")


class Entries(unittest.TestCase):
    def test_are_read_again_where_they_have_been_edited(self):
        case = prepared(steps=10 ** 6, control=READ_AT_ONCE)
        environment = {**foam.environment(BUILD), "PWD": str(case)}
        names = []
        with subprocess.Popen(["icoFoam"], cwd=case, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True) as running:
            try:
                end = time.monotonic() + 120
                for line in running.stdout:
                    if found := re.match(r"(\S+):  Solving for p,", line):
                        names += [found[1]]
                        if len(names) == 4:
                            time.sleep(1.1)  # file systems that keep times in seconds
                            (case / "system/solvers").write_text(pressure(method="capstan_gmres"), encoding="utf-8")
                            (case / "system/fvSolution").touch()
                        if found[1] != "capstan_cg" or time.monotonic() > end:
                            break
            finally:
                running.kill()
        self.assertEqual(set(names[:4]), {"capstan_cg"})
        self.assertEqual(names[-1], "capstan_gmres", f"after {len(names)} solves")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
