#!/usr/bin/env python3
"""PETSc's own tutorials with Capstan's methods by options alone, beside PETSc's; nested solvers; wrong uses.

usage: test_petsc.py LIBRARY MPIEXEC

Needs PETSc with its examples (Debian: libpetsc3.18-dev-examples); they are compiled as they are, and so are the programs
beside this script.
"""

import glob
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TUTORIALS = "/usr/share/petsc/3.*/share/petsc/examples/src"
HERE = pathlib.Path(__file__).resolve().parent
GMRES = ("capstan_gmres", "capstan_sstep_gmres", "capstan_pipelined_gmres")
CG = ("capstan_cg", "capstan_pipelined_cg", "capstan_embedded_cg")


def run(*words, status=0):
    if words[0] == MPIEXEC and "CAPSTAN_TEST_PRELOAD" in os.environ:  # a sanitizer, for the ranks
        words = [*words[:3], "env", "LD_PRELOAD=" + os.environ["CAPSTAN_TEST_PRELOAD"], *words[3:]]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=800)
    if (done.returncode == 0) != (status == 0):
        raise AssertionError(f"{' '.join(map(str, words))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


class Programs(unittest.TestCase):
    """What compiles programs as a user of PETSc does, and runs them."""

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        cls.flags = run("pkg-config", "--cflags", "--libs", "PETSc").split()
        cls.programs = {}

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def compiled(self, name, *sources):
        if name not in self.programs:
            target = self.folder / name.replace("/", "_")
            run("mpicc", "-w", *sources, "-o", target, *self.flags, "-lm")
            self.programs[name] = target
        return self.programs[name]


class Tutorials(Programs):
    def program(self, source):
        found = glob.glob(f"{TUTORIALS}/{source}.c")
        self.assertTrue(found, f"no {source}.c below {TUTORIALS}")
        return self.compiled(source, found[0])

    def solve(self, source, method, *options, ranks=2, status=0):
        words = [MPIEXEC, "-n", ranks, self.program(source)]
        if method.startswith("capstan"):
            words += ["-dll_append", LIBRARY]
        return run(*words, "-ksp_type", method, *options, status=status)

    def iterations(self, *given, **ranks):
        """Of all linear solves of a run, each of which has converged."""
        text = self.solve(*given, "-ksp_converged_reason", "-options_left", **ranks)
        reasons = re.findall(r"Linear solve (converged|did not converge) due to (\w+) iterations (\d+)", text)
        self.assertTrue(reasons, text)
        self.assertEqual({verdict for verdict, _, _ in reasons}, {"converged"}, text)
        self.assertNotIn("were set that were not used", text)
        return [int(count) for _, _, count in reasons]

    def test_as_many_iterations_as_petscs(self):
        right = ("-ksp_pc_side", "right", "-ksp_norm_type", "unpreconditioned")
        for ranks, pcs in ((1, ("none",)), (2, ("jacobi", "bjacobi"))):
            for pc in pcs:
                size = ("-m", 40, "-n", 40, "-pc_type", pc, "-ksp_rtol", 1e-7)
                restart = ("-ksp_gmres_restart", 100)
                gmres = self.iterations("ksp/ksp/tutorials/ex2", "gmres", *size, *right, *restart, ranks=ranks)[0]
                cg = self.iterations("ksp/ksp/tutorials/ex2", "cg", *size, "-ksp_norm_type", "unpreconditioned", ranks=ranks)[0]
                for method in GMRES:
                    with self.subTest(f"{method}, {pc}, {ranks} ranks"):
                        found = self.iterations("ksp/ksp/tutorials/ex2", method, *size, *right, *restart, ranks=ranks)[0]
                        slack = 10 if "sstep" in method else 1
                        self.assertTrue(gmres - 1 <= found <= gmres + slack, f"{found} for {gmres}")
                for method in CG:
                    with self.subTest(f"{method}, {pc}, {ranks} ranks"):
                        found = self.iterations("ksp/ksp/tutorials/ex2", method, *size, ranks=ranks)[0]
                        self.assertTrue(0.95 * cg - 2 <= found <= 1.05 * cg + 2, f"{found} for {cg}")

    def test_the_answers_of_tutorials(self):
        for source, options in (("ksp/ksp/tutorials/ex23", ("-n", 60)), ("ksp/ksp/tutorials/ex5", ("-m", 20)),
                                ("ksp/ksp/tutorials/ex50", ("-da_grid_x", 9, "-da_grid_y", 9))):
            for method in ("capstan_gmres", "capstan_sstep_gmres", "capstan_bicgstab"):
                with self.subTest(f"{source}, {method}"):
                    self.iterations(source, method, *options, "-ksp_rtol", 1e-10, "-ksp_capstan_num_blocks", 60)

    def test_the_lid_driven_cavity(self):
        grid = ("-da_grid_x", 12, "-da_grid_y", 12, "-snes_converged_reason", "-ksp_gmres_restart", 60)
        newton = re.compile(r"Nonlinear solve converged due to \w+ iterations (\d+)")
        own = newton.search(self.solve("snes/tutorials/ex19", "gmres", *grid))
        for method in ("capstan_gmres", "capstan_sstep_gmres", "capstan_auto"):
            with self.subTest(method):
                text = self.solve("snes/tutorials/ex19", method, *grid)
                self.assertEqual(newton.search(text)[1], own[1], text)

    def test_options_and_what_is_told(self):
        ex2 = "ksp/ksp/tutorials/ex2"
        text = self.solve(ex2, "capstan_sstep_gmres", "-ksp_capstan_step_size", 4, "-ksp_view", "-ksp_monitor", ranks=1)
        self.assertIn("type: capstan_sstep_gmres", text)
        self.assertIn("Step Size: 4", text)
        norms = [float(norm) for norm in re.findall(r"KSP Residual norm (\S+)", text)]
        self.assertGreaterEqual(len(norms), 3)
        self.assertLess(norms[-1], 1e-3 * norms[0])
        text = self.solve(ex2, "capstan_cg", "-help", ranks=1)
        self.assertIn("-ksp_capstan_polynomial_degree", text)
        self.assertNotIn("-ksp_capstan_convergence_tolerance", text)
        self.assertIn("KSP Object", self.solve(ex2, "capstan_cg", "-ksp_view", "-log_view", ranks=1))

    def test_the_norms_that_petsc_has_saved(self):
        """Without a preconditioner the norms of all CG types are those of b - A x: PETSc keeps them with this tutorial."""
        saved = pathlib.Path(glob.glob(f"{TUTORIALS}/ksp/ksp/tutorials/output/ex2_pipelcg.out")[0]).read_text()
        line = re.compile(r"(\d+) KSP Residual norm (\S+)")
        expected = line.findall(saved)[:-1]  # the last one is rounding
        self.assertEqual(len(expected), 13, saved)
        for ranks in (1, 2):
            for method in CG[:2]:
                with self.subTest(f"{method}, {ranks} ranks"):
                    text = self.solve("ksp/ksp/tutorials/ex2", method, "-ksp_monitor_short", "-m", 9, "-n", 9, "-pc_type", "none", ranks=ranks)
                    self.assertEqual(line.findall(text)[:-1], expected)
                    self.assertIn("iterations 13", text)

    def test_the_log(self):
        text = self.solve("ksp/ksp/tutorials/ex2", "capstan_cg", "-log_view")
        events = dict(re.findall(r"^(KSPSolve|MatMult|PCApply) +(\d+) ", text, re.MULTILINE))
        iterations = int(re.search(r"iterations (\d+)", text)[1])
        self.assertEqual(events["KSPSolve"], "1", text)
        self.assertGreaterEqual(int(events["MatMult"]), iterations, text)
        self.assertGreaterEqual(int(events["PCApply"]), iterations, text)
        self.assertGreater(float(re.search(r"^Flops: +(\S+)", text, re.MULTILINE)[1]), 0)

    def test_no_iterate_is_given_away(self):
        text = self.solve("ksp/ksp/tutorials/ex2", "capstan_cg", "-ksp_monitor_true_residual", status=1)
        self.assertIn("gives no iterate away", text)
        text = self.solve("ksp/ksp/tutorials/ex2", "capstan_cg", "-ksp_view_final_residual", "-ksp_rtol", 1e-9)
        self.assertLess(float(re.search(r"final norm of residual (\S+)", text)[1]), 1e-6)

    def test_how_solves_end(self):
        ex2 = "ksp/ksp/tutorials/ex2"
        reason = "-ksp_converged_reason"
        for options, says in ((("-ksp_max_it", 3), "DIVERGED_ITS iterations 3"),
                              (("-ksp_atol", 1e3, "-ksp_rtol", 1e-30), "CONVERGED_ATOL"),
                              (("-ksp_divtol", 1e-3, "-ksp_rtol", 1e-8), "DIVERGED_DTOL"),
                              (("-ksp_norm_type", "none", "-ksp_max_it", 5), "CONVERGED_ITS iterations 5"),
                              (("-ksp_convergence_test", "skip", "-ksp_norm_type", "none", "-ksp_max_it", 4), "CONVERGED_ITS iterations 4")):
            with self.subTest(says):
                self.assertIn(says, self.solve(ex2, "capstan_cg", *options, reason))

    def test_a_solver_within_another(self):
        inner = ("-pc_type", "ksp", "-ksp_ksp_type", "capstan_cg", "-ksp_ksp_rtol", 1e-2, "-ksp_capstan_flexible_gmres", "yes")
        self.iterations("ksp/ksp/tutorials/ex2", "capstan_gmres", *inner)

    def test_wrong_options(self):
        ex2 = "ksp/ksp/tutorials/ex2"
        for options, says in ((("-ksp_capstan_step_size", "many"), "Step Size"),
                              (("-ksp_capstan_step_size", "1000"), "Step Size"),
                              (("-ksp_pc_side", "left", "-ksp_norm_type", "preconditioned"), "KSP")):
            with self.subTest(says):
                text = self.solve(ex2, "capstan_sstep_gmres", *options, ranks=1, status=1)
                self.assertIn(says, text)
                self.assertIn("PETSC ERROR", text)


class OwnPrograms(Programs):
    def test_wrong_uses(self):
        sources = [HERE / f"wrong_{name}.c" for name in ("inputs", "systems", "settings")]
        program = self.compiled("wrong_inputs", *sources)
        for ranks in (1, 2):
            with self.subTest(f"{ranks} ranks"):
                text = run(MPIEXEC, "-n", ranks, program, "-library", LIBRARY, "-cases", 240)
                self.assertRegex(text, r"240 cases of \d\d kinds: .* 0 wrong")

    def test_a_preconditioner_that_adds_to_the_null_space(self):
        """What M adds of it is taken out of M's result, as PETSc does on the left."""
        program = self.compiled("null_space", HERE / "null_space.c")
        for ranks, method in ((1, "capstan_cg"), (2, "capstan_cg"), (2, "capstan_pipelined_cg")):
            with self.subTest(f"{ranks} ranks, {method}"):
                text = run(MPIEXEC, "-n", ranks, program, "-dll_append", LIBRARY, "-own_ksp_type", "cg", "-own_ksp_norm_type",
                           "unpreconditioned", "-own_ksp_rtol", 1e-8, "-ksp_type", method, "-ksp_rtol", 1e-8, "-ksp_max_it", 1000)
                found = re.search(r"own (\d+), other (\d+), residual (\S+), mean (\S+)", text)
                self.assertLessEqual(int(found[2]), 1.05 * int(found[1]) + 2, text)
                self.assertLess(float(found[3]), 1e-8, text)
                self.assertLess(float(found[4]), 1e-6, text)

    def test_vectors_with_ghosts(self):
        """A of the program writes entries of other ranks behind the rows of the vector that it is given."""
        program = self.compiled("ghosts", HERE / "ghosts.c")
        own = ("-own_ksp_type", "gmres", "-own_ksp_pc_side", "right", "-own_ksp_gmres_restart", 300, "-own_ksp_rtol", 1e-8)
        for ranks in (1, 2):
            with self.subTest(f"{ranks} ranks"):
                text = run(MPIEXEC, "-n", ranks, program, "-dll_append", LIBRARY, *own, "-n", 200, "-ksp_type", "capstan_gmres",
                           "-ksp_gmres_restart", 300, "-ksp_rtol", 1e-8)
                found = re.search(r"own (\d+), other (\d+), residual (\S+)", text)
                self.assertLessEqual(abs(int(found[1]) - int(found[2])), 1, text)
                self.assertLess(float(found[3]), 1.1e-8, text)

    def entries(self, ranks, *options):
        text = run(MPIEXEC, "-n", ranks, self.compiled("entries", HERE / "entries.c"), "-dll_append", LIBRARY, "-ksp_rtol", 1e-8, *options)
        found = re.findall(r"reason (-?\d+), iterations (\d+), products (\d+), residual (\S+), told (\S+)", text)
        self.assertEqual(len(found), 8, text)
        for reason, _, _, residual, told in found:
            self.assertEqual(reason, "2", text)
            self.assertLess(float(residual), 1.001e-8, text)
            self.assertAlmostEqual(float(residual), float(told), delta=1e-3 * float(told) + 1e-13, msg=text)
        return [int(one[1]) for one in found], [int(one[2]) for one in found]

    def test_products_with_a_copy_of_entries(self):
        """After the first solve with a matrix, with values as they are now; PETSc's own for another pattern, or without the copy."""
        for ranks, method, pc in ((1, "capstan_cg", "jacobi"), (2, "capstan_cg", "none"), (3, "capstan_gmres", "none"), (2, "capstan_bicgstab", "jacobi")):
            with self.subTest(f"{ranks} ranks, {method}, {pc}"):
                common = ("-ksp_type", method, "-pc_type", pc)
                own, by_petsc = self.entries(ranks, *common, "-ksp_capstan_copy_entries", "no")
                copied, left = self.entries(ranks, *common)
                self.assertLessEqual(max(abs(a - b) - 0.1 * a for a, b in zip(own, copied)), 2)
                for solve, (iterations, count) in enumerate(zip(copied, left)):
                    self.assertGreaterEqual(by_petsc[solve], own[solve])
                    few = solve in (1, 2, 3, 4, 6, 7) and (left[0] >= 20 or solve > 5)
                    self.assertTrue(count <= 2 if few else count >= iterations, f"solve {solve}: {copied}, {left}")

    def guess(self, method, own, *options, ranks=1, given=()):
        """(iterations, reason) of a type of PETSc's and of Capstan's method, from a guess."""
        both = [word for prefix in ("-own_", "-") for key, value in options for word in (f"{prefix}ksp_{key}", value)]
        text = run(MPIEXEC, "-n", ranks, self.compiled("guess", HERE / "guess.c"), "-dll_append", LIBRARY, "-own_ksp_type", own,
                   "-own_ksp_pc_side", "right", "-ksp_type", method, *given, *both)
        found = re.search(r"own (\d+) \((\w+)\), other (\d+) \((\w+)\)", text)
        return (int(found[1]), found[2]), (int(found[3]), found[4])

    def test_divergence_is_measured_over_b(self):
        """Also from a guess whose residual is far below b, and rises again after an iteration, or above it; over that of the guess
        where PETSc is told so. Monitors change nothing."""
        first = (("converged_use_initial_residual_norm", 1),)
        for distance, also, reason in ((1e-3, (), "CONVERGED_RTOL"), (1e3, (), "DIVERGED_DTOL"), (1e3, first, "CONVERGED_RTOL")):
            for more in ((), (("monitor", ":/dev/null"),)):
                with self.subTest(f"{distance}, {also}, {more}"):
                    own, other = self.guess("capstan_bicgstab", "bcgs", ("rtol", 1e-8), ("divtol", 1.5), *also, *more,
                                            given=("-distance", distance))
                    self.assertEqual((own[1], other[1]), (reason, reason))

    def test_settings_that_have_no_meaning_here(self):
        with self.assertRaisesRegex(AssertionError, "test every norm"):
            self.guess("capstan_gmres", "gmres", ("check_norm_iteration", 3))

    def test_without_a_right_hand_side(self):
        """rtol is measured over the residual of the guess."""
        for ranks in (1, 2):
            for distance in (1e-9, 1e9):
                with self.subTest(f"{distance}, {ranks} ranks"):
                    own, other = self.guess("capstan_gmres", "gmres", ("rtol", 1e-6), ("atol", 0), ("gmres_restart", 100), ranks=ranks,
                                            given=("-zero", "-distance", distance))
                    self.assertEqual((own[1], other[1]), ("CONVERGED_RTOL", "CONVERGED_RTOL"))
                    self.assertLessEqual(abs(own[0] - other[0]), 1)

    def test_a_saddle_point_with_nested_solvers(self):
        """By PCFIELDSPLIT: the same outer iterations and the same solution with Capstan inside, outside, and both."""
        program = self.compiled("nested", HERE / "nested.c")
        common = {"pc_type": "fieldsplit", "pc_fieldsplit_type": "schur", "pc_fieldsplit_schur_fact_type": "lower",
                  "pc_fieldsplit_schur_precondition": "a11", "fieldsplit_0_ksp_rtol": 1e-3, "fieldsplit_0_pc_type": "jacobi",
                  "fieldsplit_1_pc_type": "none", "fieldsplit_1_ksp_max_it": 40, "ksp_rtol": 1e-8}
        own = {"ksp_type": "fgmres", "fieldsplit_0_ksp_type": "cg", "fieldsplit_1_ksp_type": "gmres"}
        outside = {"ksp_type": "capstan_gmres", "ksp_capstan_flexible_gmres": "yes"}
        inside = {"fieldsplit_0_ksp_type": "capstan_cg", "fieldsplit_1_ksp_type": "capstan_gmres"}
        both = {**inside, **outside}
        for ranks, shape, choice in ((1, (), inside), (1, ("-shell",), both), (1, ("-vectors",), outside), (2, (), both),
                                     (2, ("-shell",), inside), (2, ("-vectors",), both), (4, ("-vectors",), both), (4, ("-shell",), outside)):
            with self.subTest(f"{ranks} ranks, {shape}, {choice}"):
                words = [word for key, value in {**common, **own}.items() for word in (f"-own_{key}", value)]
                words += [word for key, value in {**common, **own, **choice}.items() for word in (f"-{key}", value)]
                text = run(MPIEXEC, "-n", ranks, program, "-dll_append", LIBRARY, "-n", 8, *shape, *words)
                found = re.search(r"own (\d+), other (\d+), apart (\S+), residual (\S+)", text)
                self.assertLessEqual(abs(int(found[1]) - int(found[2])), 2, text)
                self.assertLess(float(found[3]), 1e-7, text)
                self.assertLess(float(found[4]), 1.1e-8, text)


if __name__ == "__main__":
    LIBRARY, MPIEXEC = os.path.abspath(sys.argv[1]), sys.argv[2]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
