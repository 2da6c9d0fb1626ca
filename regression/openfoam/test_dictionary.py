#!/usr/bin/env python3
"""What a user may write in system/fvSolution: everything has an effect, and mistakes are named.

usage: test_dictionary.py <build folder>
"""

import pathlib
import re
import sys
import tempfile
import unittest

import foam

METHOD = "capstan_sstep_gmres"
BUILD = pathlib.Path(sys.argv[1]).resolve()
OWN_U = "U { solver PBiCGStab; preconditioner DILU; tolerance 1e-6; }\n"
PLAIN_U = f"U {{ solver capstan; method {METHOD}; preconditioner jacobi; tolerance 1e-6; }}\n"


def run_with(name, pressure, coupling="cyclic", velocity=PLAIN_U, ranks=1, speed=0.1, solver="capstan"):
    """Runs the channel with the given text in p's entry; returns (exit status, log)."""
    case = BUILD / f"regression/openfoam/dictionary-{name}"
    solvers = velocity + f'"p.*" {{ solver {solver}; tolerance 1e-6; {pressure} }}\n'
    foam.copy_case("channel", case, ranks, solvers, coupling, speed)
    return foam.solve(case, ranks, foam.environment(BUILD), foam.run)


class Mistakes(unittest.TestCase):
    def refused(self, name, pressure, *expected, **options):
        status, log = run_with(name, pressure, **options)
        self.assertNotEqual(status, 0, "the run went through:\n" + log[-2000:])
        flat = " ".join(log.split())
        for text in expected:
            self.assertIn(text, flat)

    def test_unknown_preconditioner(self):
        self.refused("preconditioner", f"method {METHOD}; preconditioner muelo;", "found 'muelo'", "allowed: DIC, FDIC, GAMG,",
                     'did you mean "muelu"', "system/fvSolution.solvers.p")
        self.refused("dilu", "method capstan_cg; preconditioner DILU;",
                     "found 'DILU', which OpenFOAM has for asymmetric matrices only")

    def test_unknown_method(self):
        self.refused("method", "method capstan_sstep_gmress; preconditioner none;", "capstan_sstep_gmress",
                     "field p", "system/fvSolution.solvers.p")

    def test_conjugate_gradients_for_an_asymmetric_matrix(self):
        self.refused("asymmetric", f"method {METHOD};", "found 'capstan_cg', but the matrix is asymmetric",
                     velocity="U { solver capstan; method capstan_cg; tolerance 1e-6; }\n")

    def test_unknown_preset(self):
        case = BUILD / "regression/openfoam/dictionary-preset"
        self.refused("preset", f"method {METHOD}; preconditioner {{ preconditioner muelu; file no-such-file; }}",
                     "no file 'no-such-file'", "presets:", f"Tried: {case}/no-such-file", "app-inputs/muelu/no-such-file.xml")

    def test_boomeramg(self):
        expected = ["unknown parameter 'strong treshold'", 'did you mean "Strong Threshold"']
        if not foam.has_hypre(BUILD):
            expected = ["apt-get install libhypre-dev"]
        self.refused("boomeramg", f"method {METHOD}; preconditioner {{ preconditioner boomeramg; strong_treshold 0.5; }}",
                     *expected)

    def test_wrong_update_policy(self):
        self.refused("caching", f"method {METHOD}; caching {{ preconditioner {{ update sometimes; }} }}",
                     "found 'sometimes'", "allowed: always, periodic, adaptive, never")

    def test_wrong_frequency(self):
        self.refused("frequency", f"method {METHOD}; caching {{ matrix {{ update periodic; periodicCoeffs {{ frequency 0; }} }} }}",
                     "frequency: found 0", "allowed: 1 or more")

    def test_what_openfoam_decides(self):
        for entry in ("convergence_tolerance 1e-3", "maximum_iterations 3", "residual_norm TwoNorm",
                      'residual_scaling "Norm of RHS"', "implicit_residual_scaling None", 'Explicit_Residual_Scaling "Norm of RHS"',
                      "user_defined_residual_scaling 10"):
            with self.subTest(entry=entry):
                self.refused("reserved", f"method {METHOD}; capstan {{ {entry}; }}", f"'{entry.split()[0]}' cannot be set here",
                             "tolerance, relTol and maxIter of the field's entry")

    def refused_options(self, options, *expected):
        """The options are to blame, and no entry of fvSolution."""
        with foam.variable("CAPSTAN_OPTIONS", options):
            status, log = run_with("options", f"method {METHOD}; preconditioner none; capstan {{ Num_Blocks 20; }}", ranks=2,
                                   velocity=OWN_U)
        self.assertNotEqual(status, 0, "the run went through:\n" + log[-2000:])
        flat = " ".join(log.split())
        for text in ("FOAM FATAL ERROR", "solver capstan, field p: Capstan options: ", "CAPSTAN_OPTIONS") + expected:
            self.assertIn(text, flat)
        self.assertNotIn("FATAL IO ERROR", flat)

    def test_options_that_change_what_is_judged(self):
        for key, value in (("residual_norm", "TwoNorm"), ("residual_scaling", "Norm of RHS"), ("implicit_residual_scaling", "None"),
                           ("explicit_residual_scaling", "Norm of RHS"), ("user_defined_residual_scaling", "10")):
            with self.subTest(key=key):
                name = key.replace("_", " ").title()
                self.refused_options(f"labels: {{p: {{{key}: {value}}}}}", f'"{name}" = ', "cannot be set here",
                                     "||b - A x||_1 / normFactor", "set tolerance and relTol of the field in system/fvSolution")

    def test_errors_in_options(self):
        """By what is wrong: a key, a value, the text, a value beside those of the entry."""
        for options, expected in (("labels: {p: {step_siz: 3}}", 'did you mean "Step Size"'), ("step_size: 0", "out of range"),
                                  ("{step_size: 3", "is not valid YAML"), ("labels: {p: {step_size: 90}}", '"Num Blocks"')):
            with self.subTest(options=options):
                self.refused_options(options, expected)

    def test_solver_parameter_out_of_range(self):
        self.refused("step-size", f"method {METHOD}; preconditioner none; capstan {{ step_size 0; }}", "Step Size")

    def test_pipeline_depth_out_of_range(self):
        for depth in ("0", "-1"):
            self.refused("depth", f"method capstan_pipelined_cg; preconditioner none; capstan {{ Pipeline_Depth {depth}; }}",
                         '"Pipeline Depth"', f"= {depth} is out of range", ">= 1", "field p")

    def test_unsupported_coupling(self):
        self.refused("ami", f"method {METHOD}; preconditioner muelu;", "patch left of type cyclicAMI", "Supported couplings: processor, cyclic",
                     coupling="cyclicAMI")


class Entries(unittest.TestCase):
    def accepted(self, name, pressure, **options):
        status, log = run_with(name, pressure, **options)
        self.assertEqual(status, 0, log[-4000:])
        return log

    def summary(self, log):
        """(field, method, preconditioner) of each row of the table printed at the end."""
        table = log[log.index("Capstan: solves of this run"):].splitlines()
        return {tuple(line.split()[:3]) for line in table[2:] if re.match(r"(p|U[xyz]) ", line)}

    def pressure_solves(self, log):
        return [solve for solve in foam.read_solves(log) if solve.field == "p"]

    def pressure_iterations(self, log):
        return [solve.iterations for solve in self.pressure_solves(log)]

    def test_file_of_the_case(self):
        """A preconditioner's file lies in the case, wherever the program is started."""
        xml = (foam.ROOT / "app-inputs/muelu/no_reductions.xml").read_text(encoding="utf-8")
        for ranks, place in ((1, "system"), (2, "system"), (2, "processor0"), (2, "nowhere")):
            with self.subTest(ranks=ranks, place=place), tempfile.TemporaryDirectory() as elsewhere:
                case = BUILD / "regression/openfoam/dictionary-file"
                name = "system/mine.xml" if place == "system" else "mine.xml"
                foam.copy_case("channel", case, ranks, PLAIN_U + f'"p.*" {{ solver capstan; tolerance 1e-6; preconditioner '
                                                                 f'{{ preconditioner muelu; file "{name}"; }} }}\n')
                env = foam.environment(BUILD)
                foam.prepare(case, ranks, env)
                folders = [case / f"processor{rank}" for rank in range(ranks)] if place == "processor0" else [case]
                for folder in folders if place != "nowhere" else []:
                    (folder / name).write_text(xml, encoding="utf-8")
                status, log = foam.run(foam.launch_words(["icoFoam", "-case", case], ranks), env, elsewhere)
                if place == "nowhere":
                    self.assertNotEqual(status, 0)
                    for path in (case / name, case / "processor0" / name, pathlib.Path(elsewhere) / name):
                        self.assertIn(str(path), log)
                else:
                    self.assertEqual(status, 0, log[-3000:])

    def test_unknown_entry_is_warned_about_once(self):
        log = self.accepted("unknown", f"method {METHOD}; preconditoner muelu;")
        self.assertEqual(log.count("does not know the entry 'preconditoner'"), 1)
        self.assertIn('did you mean "preconditioner"', log)

    def test_entries_of_the_application_are_no_matter_of_the_solver(self):
        """interFoam, interIsoFoam and others read their own controls in the entry of a field's solver."""
        log = self.accepted("application", f"method {METHOD}; nAlphaCorr 2; MULESCorr yes; nLimiterIter 5; isoFaceTol 1e-8; cAlfa 1;")
        self.assertEqual([word for word in ("nAlphaCorr", "MULESCorr", "nLimiterIter", "isoFaceTol") if f"entry '{word}'" in log], [])
        self.assertEqual(log.count("does not know the entry 'cAlfa'"), 1)

    def test_defaults(self):
        log = self.accepted("defaults", "summary yes;", velocity="U { solver capstan; tolerance 1e-6; }\n")
        summary = self.summary(log)
        self.assertIn(("p", "capstan_cg", "DIC"), summary)
        conjugate = {"capstan_cg", "capstan_pipelined_cg", "capstan_embedded_cg", "capstan_ecg"}
        ways = {("p", method, "DIC") for method in conjugate} | {("p", "capstan_gmres", "GAMG"), ("p", "capstan_cg", "GAMG")}
        self.assertLessEqual({row for row in summary if row[0] == "p"}, ways)
        for component in ("Ux", "Uy", "Uz"):
            self.assertIn((component, "capstan_bicgstab", "DILU"), summary)
            self.assertLessEqual({row[1:] for row in summary if row[0] == component},
                                 {("capstan_bicgstab", "DILU"), ("capstan_pipelined_bicgstab", "DILU"),
                                  ("capstan_gmres", "GAMG")})

    def test_choice_that_every_run_repeats(self):
        """On one rank: sums over several may differ in their last bits from run to run."""
        runs = [self.accepted(f"counted-{run}", "capstan { Choice counted; }") for run in ("first", "second")]
        solvers = [[line.split(":")[0] for line in log.splitlines() if "Solving for p," in line] for log in runs]
        self.assertEqual(*solvers)

    def test_openfoams_own_preconditioners(self):
        """The same iterations as OpenFOAM's PCG: the preconditioner is the same, and so are norm and tolerance."""
        gamg = "{ preconditioner GAMG; smoother GaussSeidel; nVcycles 1; }"
        for name in ("DIC;", "FDIC;", "diagonal;", "none;", gamg):
            with self.subTest(preconditioner=name):
                word = name.strip(";").split()[2].strip(";") if name == gamg else name.strip(";")
                log = self.accepted("own", f"method capstan_cg; preconditioner {name} summary yes;", ranks=2)
                self.assertIn(("p", "capstan_cg", word), self.summary(log))
                theirs = self.pressure_iterations(self.accepted("pcg", f"preconditioner {name}", solver="PCG", ranks=2))
                ours = self.pressure_iterations(log)
                self.assertLessEqual(sum(ours), 1.05 * sum(theirs) + len(theirs), (ours, theirs))

    def test_multigrid_in_one_word(self):
        log = self.accepted("gamg-word", "method capstan_cg; preconditioner GAMG; summary yes;", ranks=2)
        self.assertIn(("p", "capstan_cg", "GAMG"), self.summary(log))

    def test_entries_that_one_agglomerator_alone_reads(self):
        """`dummy` has no default for its levels: the run ends where nLevels is not handed on. `manual` knows no cyclic patches."""
        log = self.accepted("agglomerator", "method capstan_cg; preconditioner GAMG; agglomerator dummy; nLevels 2; "
                                            "processorAgglomeration ((1 ((0 1)))); summary yes;")
        self.assertNotIn("does not know", log)
        self.assertIn(("p", "capstan_cg", "GAMG"), self.summary(log))

    def test_methods_atop_multigrid(self):
        """Flexible GMRES begins; a field whose cycles are many may go on with conjugate gradients."""
        for name, more in (("long", "minIter 35;"), ("short", "")):
            log = self.accepted(name, f"preconditioner GAMG; {more} summary yes;", ranks=2)
            solves = [line.split(":")[0] for line in log.splitlines() if "Solving for p," in line]
            self.assertEqual(solves[0], "capstan_gmres")
            self.assertLessEqual(set(solves), {"capstan_gmres", "capstan_cg"})
            self.assertEqual({row[2] for row in self.summary(log) if row[0] == "p"}, {"GAMG"})

    def test_one_changed_word(self):
        """The old solver begins, with what its entry held; what nothing reads is told where a method is named."""
        old = "smoother GaussSeidel; nCellsInCoarsestLevel 20; cacheAgglomeration yes; agglomerator faceAreaPair; mergeLevels 1;"
        log = self.accepted("one-word", old + " summary yes;")
        self.assertNotIn("does not know", log)
        self.assertIn(("p", "GAMG", "GAMG"), self.summary(log))
        smooth = "smoother symGaussSeidel; nSweeps 2; summary yes;"
        log = self.accepted("one-word-smooth", smooth)
        self.assertNotIn("belong to other solvers of OpenFOAM", log)
        self.assertIn(("p", "smoothSolver", "smoothSolver"), self.summary(log))
        log = self.accepted("named-smooth", "method capstan_cg; preconditioner DIC; " + smooth)
        self.assertEqual(log.count("smoother, nSweeps belong to other solvers of OpenFOAM"), 1)
        self.assertIn(("p", "capstan_cg", "DIC"), self.summary(log))

    def test_multigrid_that_keeps_no_levels(self):
        """The solver GAMG deletes those of the mesh: no preconditioner GAMG may live beside it."""
        log = self.accepted("no-levels", "smoother GaussSeidel; cacheAgglomeration no; maxIter 2; tolerance 1e-11; summary yes;")
        both = {row[1] for row in self.summary(log) if row[0] == "p"}
        self.assertIn("GAMG", both)
        self.assertTrue(both & {"capstan_gmres", "capstan_cg"}, "no trial was made")

    def test_coupling_that_only_openfoam_knows(self):
        """The product is OpenFOAM's own, so that any coupled patch works; an assembled matrix knows some."""
        log = self.accepted("ami-native", "method capstan_cg; preconditioner DIC; tolerance 1e-8;", coupling="cyclicAMI",
                            velocity="U { solver capstan; preconditioner DILU; tolerance 1e-8; }\n")
        for solve in foam.read_solves(log):
            self.assertLess(solve.final, 1e-8)

    def test_pipeline_depth(self):
        """Each reduction more in flight is one more for a solve."""
        parameters = "preconditioner riluk; tolerance 1e-4; summary yes; " \
                     "capstan {{ State_Cache no; Eigenvalue_Bounds (0 2); Pipeline_Depth {}; }}"
        for method in ("capstan_pipelined_gmres", "capstan_pipelined_cg"):
            rows = []
            for depth in (1, 3):  # it begins with depth 1 where it has to learn its shifts
                text = parameters.format(depth)
                log = self.accepted("pipeline", f"method {method}; {text}", ranks=2)
                rows.append(next(line for line in log.splitlines() if line.startswith("p ")).split())
            # field, method, preconditioner, solves, unconverged, builds, iterations, passes, reductions/it
            shallow, deep = ((float(row[8]) - 1) * int(row[6]) for row in rows)
            self.assertGreater(deep - shallow, int(rows[0][7]), method)

    def test_parameters_of_pipelined_methods(self):
        common = "Pipeline_Depth 2; Progress poll; Measure_Overlap yes; Strict_Parameters yes;"
        gmres = common + " Num_Blocks 40; Shifts (0.2 1 1.8); "
        for method, parameters in (("capstan_pipelined_gmres", gmres),
                                   ("capstan_pipelined_sstep_gmres", gmres + "Step_Size 4; Change_of_Basis_Drop_Tolerance 1e-12;"),
                                   ("capstan_pipelined_cg", common + "Eigenvalue_Bounds (0 2.1); Residual_Replacement 50;")):
            log = self.accepted("parameters", f"method {method}; preconditioner riluk; capstan {{ {parameters} }}", ranks=2)
            self.assertNotIn("warning", log.lower(), method)
            for solve in foam.read_solves(log):
                self.assertLess(solve.final, 1e-6)

    def test_progress(self):
        """OpenFOAM initialises MPI for one thread: a progress thread cannot be had, and the solver polls instead."""
        parameters = "preconditioner riluk; tolerance 1e-9; capstan {{ Pipeline_Depth 2; Progress {}; }}"
        for ranks in (1, 2):
            found = {}
            for mode in ("none", "poll", "thread"):
                log = self.accepted("progress", f"method capstan_pipelined_cg; {parameters.format(mode)}", ranks=ranks)
                warning = 'Capstan warning: "Progress" = "thread" becomes "poll": a progress thread needs ' \
                          "MPI_THREAD_MULTIPLE, the application has initialised MPI with MPI_THREAD_SINGLE"
                self.assertEqual(log.count('"Progress" ='), 1 if mode == "thread" else 0, log[-3000:])
                self.assertEqual(log.count(warning), 1 if mode == "thread" else 0, log[-3000:])
                solves = self.pressure_solves(log)
                self.assertEqual(len(solves), 6)
                for solve in solves:
                    self.assertLess(solve.final, 1e-9)
                found[mode] = self.pressure_iterations(log)
            self.assertEqual(found["thread"], found["none"])

    def test_parameter_without_effect_is_warned_about(self):
        log = self.accepted("effect", f"method {METHOD}; preconditioner riluk; capstan {{ Pipeline_Depth 2; }}")
        self.assertEqual(log.count('parameter "Pipeline Depth" = 2 has no effect'), 1, log[-3000:])

    def test_a_method_that_fails_is_followed_by_another(self):
        log = self.accepted("ladder", "method capstan_gmres; preconditioner none; tolerance 1e-9; "
                                      "capstan { Num_Blocks 2; Maximum_Restarts 0; }")
        warning = "solver capstan, field p: capstan_gmres with none fails; going on with capstan_cg and DIC"
        self.assertEqual(" ".join(log.split()).count(warning), 1)
        for solve in self.pressure_solves(log):
            self.assertLess(solve.final, 1e-9)

    def test_a_preconditioner_of_no_use(self):
        """Chebyshev with bounds far below the spectrum is indefinite: random vectors tell before any solve is tried."""
        log = self.accepted("useless", "method capstan_cg; tolerance 1e-8; preconditioner { preconditioner chebyshev; "
                                       "chebyshev:_degree 2; chebyshev:_max_eigenvalue 0.1; chebyshev:_ratio_eigenvalue 10.0; }", ranks=2)
        self.assertIn("preconditioner chebyshev is of no use here: it is not positive definite", log)
        self.assertIn("going on with capstan_cg and DIC", log)
        for solve in self.pressure_solves(log):
            self.assertLess(solve.final, 1e-8)

    def test_a_limit_made_for_multigrid(self):
        """No preconditioner is named: the limit is not one for that which was chosen."""
        for limit in (100, 9):
            log = self.accepted("limit", f"method capstan_cg; tolerance 1e-9; maxIter {limit};")
            for solve in self.pressure_solves(log):
                self.assertLess(solve.final, 1e-9, limit)

    def test_maximum_iterations(self):
        log = self.accepted("max", f"method {METHOD}; preconditioner none; maxIter 7; tolerance 1e-12;")
        self.assertEqual(set(self.pressure_iterations(log)), {7})
        for solve in self.pressure_solves(log):
            # Divided by OpenFOAM's factor, as the first one is.
            self.assertLess(solve.final, 2 * solve.initial)
            self.assertGreater(solve.final, solve.initial / 200)

    def test_solves_that_end_early_are_counted(self):
        """As OpenFOAM counts them: by the residual that it tells."""
        log = self.accepted("early", f"method {METHOD}; preconditioner none; maxIter 1; tolerance 0.01; summary yes;",
                            speed=1e-6)  # far from 1 is the factor, too
        row = next(line for line in log.splitlines() if line.startswith("p ")).split()
        missed = sum(solve.final >= 0.01 for solve in self.pressure_solves(log))
        self.assertEqual(int(row[4]), missed)
        self.assertGreater(missed, 0)

    def test_maximum_iterations_while_the_residual_grows(self):
        """The residual of conjugate gradients grows at first: what a few iterations bring is kept, and it is told."""
        for method in ("capstan_cg", '"PSEUDOBLOCK CG"'):
            for ranks in (1, 2):
                with self.subTest(method=method, ranks=ranks):
                    log = self.accepted("few", f"method {method}; preconditioner none; maxIter 3; tolerance 1e-9;", ranks=ranks)
                    solves = self.pressure_solves(log)
                    self.assertEqual([solve.iterations for solve in solves], [3] * 6)
                    for solve in solves:
                        self.assertNotEqual(solve.final, solve.initial)
                    self.assertLess(solves[1].initial, 0.9, "the first corrector's pressure is lost")
                    self.assertLess(solves[-1].final, 0.9)
                    self.assertNotIn("going on with", log)
                    flat = " ".join(log.split())
                    self.assertIn("field p: maxIter ends the solve where its residual is larger than at the start; the field goes part "
                                  "of the way", flat)
                    self.assertRegex(flat, r"p: 6 of 6 solves not converged; \d part of the way at maxIter")

    def test_minimum_iterations(self):
        log = self.accepted("min", f"method {METHOD}; preconditioner none; minIter 9; tolerance 0.9;")
        self.assertGreaterEqual(min(self.pressure_iterations(log)), 9)

    def test_stale_matrix_and_preconditioner_still_converge(self):
        never = "update never;"
        log = self.accepted("stale", f"method {METHOD}; preconditioner riluk; tolerance 1e-9; "
                                     f"caching {{ matrix {{ {never} }} preconditioner {{ {never} }} }}")
        solves = self.pressure_solves(log)
        self.assertEqual(len(solves), 6)
        for solve in solves:
            self.assertLess(solve.final, 1e-9)

    def test_preconditioner_updates(self):
        # `adaptive` goes by seconds, too: its rules are tested where seconds can be given (renewal_test.cpp).
        for name, update, builds in (("always", "update always;", 6), ("never", "update never;", 1),
                                     ("periodic", "update periodic; periodicCoeffs { frequency 4; }", 2),
                                     ("adaptive", "update adaptive; adaptiveCoeffs { growth 1; }", None)):
            with self.subTest(update=name):
                log = self.accepted(name, f"method {METHOD}; preconditioner riluk; summary yes; "
                                          f"caching {{ preconditioner {{ {update} }} }}")
                row = next(line for line in log.splitlines() if line.startswith("p "))
                solves, unconverged, found = row.split()[3:6]
                self.assertEqual((solves, unconverged), ("6", "0"))
                if builds is None:
                    self.assertGreater(int(found), 1, "iterations grow in this case")
                else:
                    self.assertEqual(int(found), builds)

    def test_options_by_field_name(self):
        with foam.variable("CAPSTAN_OPTIONS", "labels: {p: {maximum_iterations: 2, maximum_restarts: 0}}"):
            log = self.accepted("label", f"method {METHOD}; preconditioner none; tolerance 1e-4; maxIter 30; summary yes;")
        row = next(line for line in log.splitlines() if line.startswith("p "))
        passes, iterations = int(row.split()[7]), int(row.split()[6])
        self.assertEqual(iterations, 2 * passes, "the option for p did not reach its solves")
        self.assertGreater(passes, 6)

    def test_overflow_leaves_the_field_as_it_is(self):
        with foam.variable("FOAM_SIGFPE", "false"):
            _, log = run_with("overflow", f"method {METHOD};", speed="1e200")
        self.assertIn("field Ux: the matrix, the source or the field holds NaN or Inf; the field is left as it is", log)
        self.assertIn("Solving for Ux, Initial residual = nan, Final residual = nan, No Iterations 0", log)

    def test_coarsest_level_of_gamg(self):
        log = self.accepted("gamg", "smoother GaussSeidel; nCellsInCoarsestLevel 20; coarsestLevelCorr { solver capstan; "
                                    "preconditioner jacobi; tolerance 1e-10; verify yes; summary yes; }",
                            solver="GAMG", ranks=2)
        rows = [line.split() for line in log.splitlines() if line.startswith("coarsestLevelCorr ")]
        self.assertGreater(sum(int(row[3]) for row in rows), 6)
        self.assertIn("capstan_cg", {row[1] for row in rows})
        self.assertEqual({(row[2], row[4]) for row in rows}, {("jacobi", "0")})

    def test_coarsest_level_of_gamg_in_one_word(self):
        """No multigrid within multigrid, however many iterations DIC takes."""
        log = self.accepted("gamg-coarsest", "smoother GaussSeidel; nCellsInCoarsestLevel 200; coarsestLevelCorr { "
                                             "solver capstan; tolerance 1e-14; relTol 0; summary yes; }",
                            solver="GAMG", ranks=2)
        rows = [line.split() for line in log.splitlines() if line.startswith("coarsestLevelCorr ")]
        self.assertEqual({row[2] for row in rows}, {"DIC"})
        first = next(row for row in rows if row[1] == "capstan_cg")
        self.assertGreater(int(first[6]), 24 * int(first[3]), "too few iterations to prove anything")

    def test_parallel_default_run(self):
        self.accepted("parallel", "", ranks=3)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
