#!/usr/bin/env python3
"""An application over hypre (client.c) by itself, and with libcapstanHypre.so preloaded: redirected and not.

usage: test_hypre.py LIBRARY MPIEXEC "FLAGS of hypre for the compiler"
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
LINE = re.compile(r"(\w+), (\w+): status (\d+), (\d+) iterations, residual (\S+), told (\S+)")
CONVERGED_NOT = 256  # HYPRE_ERROR_CONV
METHODS = {"hypre_pcg": "capstan_cg", "hypre_flexgmres": "capstan_gmres", "hypre_cogmres": "capstan_gmres", "hypre_bicgstab": "capstan_bicgstab"}


def compiled(source, folder, *more):
    program = pathlib.Path(folder) / pathlib.Path(source).stem
    subprocess.run(["mpicc", "-std=c99", HERE / source, *more, "-o", program, *shlex.split(FLAGS), "-lm"], check=True)
    return program


class Client(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.program = compiled("client.c", cls.scratch.name)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def run_client(self, *arguments, ranks=2, preload=True, redirect=None, options=None, status=0):
        environment = dict(os.environ)
        if options is not None:
            environment["CAPSTAN_OPTIONS"] = options
        if preload:
            environment["LD_PRELOAD"] = LIBRARY
        if redirect is not None:
            environment["CAPSTAN_OPTIONS"] = "redirect: {" + ", ".join(f"{old}: {new}" for old, new in redirect.items()) + "}"
        done = subprocess.run([MPIEXEC, "-n", str(ranks), self.program, *arguments], capture_output=True, text=True,
                              env=environment, timeout=250)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        found = {}
        for family, preconditioner, status_of, iterations, residual, told in LINE.findall(done.stdout):
            found[family, preconditioner] = int(status_of), int(iterations), float(residual), float(told)
        return found, done.stderr

    def test_nothing_changes_where_nothing_is_redirected(self):
        for ranks in (1, 2):
            own, _ = self.run_client(ranks=ranks, preload=False)
            self.assertEqual(len(own), 12)
            self.assertEqual(self.run_client(ranks=ranks), (own, ""))

    def test_solves_by_capstan_as_hypre_would(self):
        for ranks in (1, 2):
            own, _ = self.run_client(ranks=ranks, preload=False)
            for gmres, cg in (("capstan_gmres", "capstan_cg"), ("capstan_sstep_gmres", "capstan_pipelined_cg"),
                              ("capstan_pipelined_gmres", "capstan_embedded_cg")):
                found, errors = self.run_client(ranks=ranks, redirect={
                    "hypre_pcg": cg, "hypre_gmres": gmres, "hypre_flexgmres": "capstan_gmres" if "pipelined" in gmres else gmres, "hypre_lgmres": gmres,
                    "hypre_cogmres": gmres, "hypre_bicgstab": "capstan_bicgstab"})
                self.assertEqual(errors, "")
                for (family, preconditioner), (status, iterations, residual, told) in found.items():
                    with self.subTest(f"{family}, {preconditioner}, {gmres}, {cg}, {ranks} ranks"):
                        self.assertEqual(status, 0)
                        self.assertLessEqual(residual, 1e-8 * (1 + 1e-6))
                        self.assertAlmostEqual(told, residual, delta=1e-3 * residual + 1e-15)
                        theirs = own["GMRES" if family == "LGMRES" else family, preconditioner][1]
                        if family == "BiCGSTAB":
                            continue
                        most = 1.05 * theirs + 2 if family == "PCG" else theirs + (10 if "sstep" in gmres else 1)
                        self.assertLessEqual(iterations, most, f"hypre {theirs}")

    def test_ends_at_the_limit_as_hypre_does(self):
        own, _ = self.run_client("few", preload=False)
        found, _ = self.run_client("few", redirect={"hypre_pcg": "capstan_cg", "hypre_gmres": "capstan_gmres"})
        for key in (("PCG", "none"), ("GMRES", "none")):
            self.assertEqual(found[key][1], 3)
            self.assertEqual(found[key][0], CONVERGED_NOT)
        self.assertEqual(own["GMRES", "none"][:2], found["GMRES", "none"][:2])

    def test_judges_pcg_by_the_energy_norm_where_hypre_does(self):
        for ranks in (1, 2):
            own, _ = self.run_client("energy", ranks=ranks, preload=False)
            for cg in ("capstan_cg", "capstan_pipelined_cg"):
                found, errors = self.run_client("energy", ranks=ranks, redirect={"hypre_pcg": cg})
                self.assertEqual(errors, "")
                for preconditioner in ("none", "BoomerAMG"):
                    with self.subTest(f"{cg}, {preconditioner}, {ranks} ranks"):
                        status, iterations, residual, told = found["PCG", preconditioner]
                        self.assertEqual(status, 0)
                        self.assertLessEqual(told, 1e-8 * (1 + 1e-6))
                        self.assertLessEqual(abs(iterations - own["PCG", preconditioner][1]), 2)
                        self.assertLess(residual, 1e-6)

    def test_without_a_right_hand_side_it_does_as_hypre_does(self):
        """PCG makes x zero, others measure residuals over the first one."""
        for ranks in (1, 2):
            own, _ = self.run_client("zero", ranks=ranks, preload=False)
            found, errors = self.run_client("zero", ranks=ranks, redirect={**METHODS, "hypre_gmres": "capstan_gmres", "hypre_lgmres": "capstan_gmres"})
            self.assertEqual(errors, "")
            for key, (status, iterations, residual, told) in found.items():
                with self.subTest(f"{key}, {ranks} ranks"):
                    self.assertEqual(status, 0)
                    if key[0] == "PCG":
                        self.assertEqual((iterations, residual), (0, 0))
                    elif key[0] != "BiCGSTAB":
                        theirs = own["GMRES" if key[0] == "LGMRES" else key[0], key[1]][1]
                        self.assertLessEqual(abs(iterations - theirs), 1)
                    self.assertLessEqual(residual, 1e-15)  # 6.5e-8 to begin with
                    self.assertAlmostEqual(told, residual, delta=1e-3 * residual)

    def test_leaves_to_hypre_what_cannot_be_done_as_asked(self):
        own, _ = self.run_client(preload=False)
        for redirect, says in (({"hypre_pcg": "capstan_gc"}, "capstan_cg"),
                               ({"hypre_flexgmres": "capstan_pipelined_gmres"}, "hypre_flexgmres is left to hypre: ")):
            found, errors = self.run_client(redirect=redirect)
            self.assertEqual(found, own)
            self.assertIn(says, errors)
        factor, modify = "the convergence factor decides, too", "a function changes the preconditioner"
        for mode, left in (("factor", {"hypre_pcg": factor, "hypre_bicgstab": factor}),
                           ("modify", {"hypre_flexgmres": modify, "hypre_cogmres": modify}),
                           ("least", {"hypre_bicgstab": "a least number of iterations is asked for"})):
            own, _ = self.run_client(mode, preload=False)
            found, errors = self.run_client(mode, redirect={name: METHODS[name] for name in left})
            self.assertEqual(found, own)
            self.assertEqual(sorted(errors.splitlines()), [f"Capstan: {name} is left to hypre: {why}" for name, why in sorted(left.items())])

    def test_takes_no_notice_of_a_function_of_hypres_that_changes_nothing(self):
        found, errors = self.run_client("default", ranks=1, redirect={"hypre_flexgmres": "capstan_gmres"})
        self.assertEqual((found["FlexGMRES", "none"][0], errors), (0, ""))

    def test_leaves_all_to_hypre_where_options_cannot_be_read(self):
        own, _ = self.run_client(ranks=1, preload=False)
        for options, says in (("redirect: 3", "redirect: is not a map"), ("redirect: {hypre_pcg: [1, 2]}", "is not a solver's name"),
                              ("redirect: {hypre_pcg: ", "not valid YAML"), ("redirct: {hypre_pcg: capstan_cg}", "did you mean")):
            with self.subTest(options):
                found, errors = self.run_client(ranks=1, options=options)
                self.assertEqual(found, own)
                self.assertIn(says, errors)

    def test_says_which_redirects_nobody_asked_for(self):
        found, errors = self.run_client(redirect={"hypre_pgc": "capstan_cg"})
        self.assertEqual(found[("PCG", "none")][0], 0)
        self.assertIn("no solve was asked for by that name", errors)


class Addresses(unittest.TestCase):
    def test_a_destroyed_solver_is_an_error_and_a_new_one_in_its_place_is_none(self):
        with tempfile.TemporaryDirectory() as scratch:
            program = compiled("same_address.c", scratch)
            done = subprocess.run([MPIEXEC, "-n", "1", "env", f"LD_PRELOAD={LIBRARY}", program], capture_output=True, text=True, timeout=250,
                                  env=dict(os.environ, CAPSTAN_OPTIONS="redirect: {hypre_pcg: capstan_cg}"))
        # HYPRE_ERROR_ARG, argument 1
        wanted = "destroyed: solve 12, ParCSR solve 12, destroy 12\nof struct in its place: solve 0, converged 1\n"
        self.assertEqual((done.returncode, done.stdout), (0, wanted), done.stderr)


class NewerFunctions(unittest.TestCase):
    def test_a_preconditioner_that_is_given_as_an_object_and_its_matrix(self):
        """Functions of hypre 2.31 and 3.0, of which newer_hypre.c has some for an older one."""
        with tempfile.TemporaryDirectory() as scratch:
            stand_in = pathlib.Path(scratch) / "libnewer_hypre.so"
            subprocess.run(["mpicc", "-shared", "-fPIC", HERE / "newer_hypre.c", "-o", stand_in, *shlex.split(FLAGS)], check=True)
            program = compiled("newer.c", scratch, stand_in, f"-Wl,-rpath,{scratch}")
            done = subprocess.run([MPIEXEC, "-n", "1", "env", f"LD_PRELOAD={LIBRARY}", program], capture_output=True, text=True, timeout=250,
                                  env=dict(os.environ, CAPSTAN_OPTIONS="redirect: {hypre_pcg: capstan_cg}"))
        solves = re.findall(r"status 0, (\d+) calls, (\d+) for the other matrix", done.stdout)
        self.assertEqual((len(solves), done.stderr), (2, ""), done.stdout)
        for (calls, others), wanted in zip(solves, (0, 1)):
            self.assertGreater(int(calls), 5, done.stdout)
            self.assertEqual(int(others), wanted * int(calls), done.stdout)


class WrongInputs(unittest.TestCase):
    def test_uses_that_are_wrong_end_in_errors_and_nothing_else(self):
        names = ("hypre_pcg", "hypre_gmres", "hypre_flexgmres", "hypre_lgmres", "hypre_cogmres", "hypre_bicgstab")
        several = ("capstan_cg", "capstan_sstep_gmres", "capstan_gmres", "capstan_gmres", "capstan_pipelined_gmres", "capstan_bicgstab")
        # What chooses a method meets matrices that are not symmetric, too.
        chosen = [method if method == "capstan_gmres" else "capstan_auto" for method in several]
        with tempfile.TemporaryDirectory() as scratch:
            program = compiled("wrong_inputs.c", scratch)
            for ranks, methods in ((1, several), (2, several), (2, chosen)):
                redirect = "redirect: {" + ", ".join(f"{name}: {method}" for name, method in zip(names, methods)) + "}"
                done = subprocess.run([MPIEXEC, "-n", str(ranks), "env", f"LD_PRELOAD={LIBRARY}", program, "1", "0", "200"],
                                      capture_output=True, text=True, timeout=800, env=dict(os.environ, CAPSTAN_OPTIONS=redirect))
                self.assertEqual((done.returncode, done.stdout), (0, "200 cases, 0 wrong\n"), done.stderr)


if __name__ == "__main__":
    LIBRARY, MPIEXEC, FLAGS = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3]
    if "CAPSTAN_TEST_PRELOAD" in os.environ:  # a sanitizer
        LIBRARY = os.environ["CAPSTAN_TEST_PRELOAD"] + ":" + LIBRARY
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
