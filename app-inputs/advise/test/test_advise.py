#!/usr/bin/env python3
"""Tests of `capstan advise`: which solver it names, what it refuses, and a run of it.

usage: test_advise.py [--runs BUILD]; with --runs a deck is solved by what is in the build folder."""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "app-inputs/advise"))

# pylint: disable=wrong-import-position
import advise  # noqa: E402
import hosts  # noqa: E402
import subjects  # noqa: E402
from subjects import OWN, Candidate, Sample  # noqa: E402
from tutorials import results, timing  # noqa: E402
from tutorials.case import Case  # noqa: E402
from tutorials.errors import RunFailed, WrongUse  # noqa: E402

PROGRAM = ROOT / "app-inputs/advise/advise.py"
SOLUTION = """solvers
{{
    p {{ solver {solver}; {more} tolerance 1e-06; relTol 0.05; }}
    pFinal {{ $p; relTol 0; }}
    U {{ solver smoothSolver; smoother symGaussSeidel; tolerance 1e-05; relTol 0; }}
}}
"""


DECK = """linear_solvers:
  - {name: classical, type: tpetra, method: gmres, preconditioner: jacobi, tolerance: 1e-6, max_iterations: 500, kspace: 60}
systems:
  - {name: laplace, generate: {problem: laplace3d, cells: [10, 10, 10]}, rhs: random}
"""


class Told:
    """A subject whose runs take what a table says: {label: seconds, or an exception}."""

    def __init__(self, seconds, unconverged=()):
        self.table, self.unconverged, self.runs = seconds, unconverged, []

    def candidates(self):
        return [Candidate(label, None, f"write {label}") for label in self.table]

    def measure(self, candidate, latency, timeout):
        self.runs.append((candidate.label, latency, timeout))
        seconds = self.table[candidate.label]
        if isinstance(seconds, list):  # of one run after the other
            seconds = seconds.pop(0)
        if isinstance(seconds, Exception):
            raise seconds
        return Sample(seconds, 10, int(candidate.label in self.unconverged), 100, seconds)


def trial_of(subject, turns=3, latency=0.0):
    trial = advise.Trial(latency, subject.candidates())
    advise.run(subject, [trial], turns)
    return trial


class Choosing(unittest.TestCase):
    def said(self, seconds, unconverged=(), latency=0.0):
        subject = Told({OWN: 1.0, **seconds}, unconverged)
        return advise.verdict(trial_of(subject, latency=latency), subject.candidates())

    def test_the_fastest_is_named_with_what_to_write(self):
        self.assertEqual(self.said({"capstan_cg": 0.8, "capstan_ecg": 0.7}),
                         "On this machine: capstan_ecg, 0.70 of your own solver's time. Write\n  write capstan_ecg")
        self.assertIn("If an all-reduce took 200 us (emulated): capstan_cg", self.said({"capstan_cg": 0.5}, latency=200.0))

    def test_a_gain_that_is_not_worth_it_keeps_the_own_solver(self):
        for seconds in (0.96, 1.0, 3.0):
            self.assertIn("keep your own solver", self.said({"capstan_cg": seconds}))

    def test_what_does_not_converge_or_fails_is_never_named(self):
        self.assertIn("keep your own", self.said({"capstan_cg": 0.1}, unconverged=("capstan_cg",)))
        subject = Told({OWN: 1.0, "capstan_cg": RunFailed("it took more than 30 s; its log is x"), "capstan_ecg": 0.5})
        trial = trial_of(subject)
        self.assertEqual(trial.dropped, {"capstan_cg": "it took more than 30 s"})
        self.assertEqual(trial.ranking()[0], "capstan_ecg")
        with self.assertRaises(RunFailed):
            trial_of(Told({OWN: RunFailed("the own one")}))

    def test_an_own_solver_that_leaves_solves_is_no_measure_of_others(self):
        self.assertIn("capstan_cg, 0.50", self.said({"capstan_cg": 0.5}, unconverged=(OWN, "capstan_cg")))

    def test_those_far_behind_run_once(self):
        table = {OWN: 1.0, **{f"s{i}": 0.5 + 0.01 * i for i in range(5)}, "slow": 0.9, "near": 0.6}
        subject = Told(table)
        trial = trial_of(subject)
        self.assertEqual(trial.dropped, {"slow": "slower"})
        count = {label: sum(run[0] == label for run in subject.runs) for label in table}
        self.assertEqual((count["slow"], count["near"], count[OWN]), (1, 3, 3))

    def test_conjugate_residuals_are_named_with_their_price(self):
        text = self.said({"capstan_cr": 0.5, "capstan_cg": 0.8})
        self.assertIn("capstan_cr, 0.50", text)
        self.assertIn("docs/methods/cr.md). Without them: capstan_cg, 0.80.", text)

    def test_a_busy_machine_is_told(self):
        trial = trial_of(Told({OWN: 1.0}))
        self.assertTrue(trial.is_quiet())
        trial.samples[OWN][0].seconds = 1.4
        self.assertFalse(trial.is_quiet())

    def test_a_slow_run_is_cut_short(self):
        subject = Told({OWN: 1.0, "capstan_cg": 1.0})
        trial_of(subject, turns=1)
        self.assertEqual([run[2] for run in subject.runs], [3600, advise.LEAST_SECONDS])


class Expected(unittest.TestCase):
    """The table of what CAPSTAN, which chooses, expects of each method."""

    ARMS = [{"arm": name, "seconds_a_digit": seconds, "seconds_a_digit_at_us": {"1": seconds, "20": 2 * seconds, "200": 9 * seconds},
             "spread": 0.1, "solves": 3, "left_out": False} for name, seconds in (("CAPSTAN CG", 2e-3), ("CAPSTAN CG PIPELINE", 1e-3))]

    def lines(self, solves, label=None):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

        def choose(report):
            if solves is None:
                raise RunFailed("it ended early")
            report.write_text(json.dumps(solves))
            return label

        return advise.expected(types.SimpleNamespace(work=folder, choose=choose))

    def test_the_last_table_of_the_field_is_told_the_fastest_first(self):
        solves = [{"label": "p", "choice": {"arms": self.ARMS}}, {"label": "p", "choice": None}, {"label": "U", "choice": {"arms": self.ARMS[:1]}}]
        lines = self.lines(solves, "p")
        self.assertIn("before solve 1 of", lines[0])
        self.assertEqual([re.findall(r"CAPSTAN CG PIPELINE|CAPSTAN CG", line) for line in lines[2:4]], [["CAPSTAN CG PIPELINE"], ["CAPSTAN CG"]])
        self.assertRegex(lines[2], r"PIPELINE +1 +11% +1 +2 +9 +3")
        self.assertIn("before solve 3 of", self.lines(solves)[0])
        solves[2]["label"] = "Ux"
        self.assertIn("before solve 3 of", self.lines(solves, "U")[0])

    def test_nothing_is_told_where_nothing_is_known(self):
        self.assertEqual([self.lines(solves) for solves in (None, [], [{"label": "p"}], [{"label": "p", "choice": None}])], [[], [], [], []])

    def test_the_users_options_stay(self):
        report = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "chosen.json"
        self.assertEqual(subjects.reporting({}, report), {"CAPSTAN_OPTIONS": f"{{report_file: {report}}}"})
        own = {"CAPSTAN_OPTIONS": "{verbosity: 1}"}
        found = subjects.reporting(own, report)
        self.assertEqual(found, {**own, "CAPSTAN_OPTIONS_FILE": str(report.with_suffix(".yaml"))})
        with self.assertRaises(RunFailed):
            subjects.reporting(found, report)


class Checked(unittest.TestCase):
    """perf/advise/check: the named solver beside the best of all."""

    def checker(self):
        loader = importlib.machinery.SourceFileLoader("check", str(ROOT / "perf/advise/check"))
        check = importlib.util.module_from_spec(importlib.util.spec_from_loader("check", loader))
        loader.exec_module(check)
        return check

    def row(self, table, named, unconverged=()):
        subject = Told(table, unconverged)
        trial = advise.Trial(200.0, subject.candidates())
        advise.run(subject, [trial], 2, all_stay=True)
        self.assertEqual(len(subject.runs), 2 * len(table))
        return self.checker().judged("case", named, trial)

    def test_it_tells_the_best_and_the_ratio(self):
        self.assertEqual(self.row({OWN: 1.0, "capstan_cg": 0.6, "capstan_ecg": 0.5, "slow": 9.0}, "capstan_cg"),
                         {"subject": "case", "latency_us": "200", "named": "capstan_cg", "best": "capstan_ecg",
                          "named_over_best": "1.20", "named_over_own": "0.60"})

    def test_what_fails_in_the_first_turn_alone_is_left_out(self):
        """The other turns of it have nothing to be compared with; what others have measured stays."""
        subject, told = Told({OWN: [1.0, 1.1, 1.2], "capstan_cg": [RunFailed("it ended early"), 0.5, 0.5], "capstan_ecg": [0.6, 0.7, 0.8]}), []
        trial = advise.Trial(200.0, subject.candidates())
        advise.run(subject, [trial], 3, all_stay=True, after=lambda: told.append(len(trial.samples["capstan_ecg"])))
        self.assertEqual((trial.dropped, told), ({"capstan_cg": "it ended early"}, [1, 2, 3]))
        self.assertEqual(trial.ranking(), ["capstan_ecg", OWN])
        self.assertEqual(self.checker().judged("case", "capstan_cg", trial),
                         {"subject": "case", "latency_us": "200", "named": "capstan_cg", "best": "capstan_ecg", "named_over_best": "",
                          "named_over_own": ""})

    def test_what_does_not_converge_is_not_the_best(self):
        row = self.row({OWN: 1.0, "capstan_cg": 0.6, "capstan_ecg": 0.5}, "capstan_cg", unconverged=("capstan_ecg",))
        self.assertEqual((row["best"], row["named_over_best"]), ("capstan_cg", "1.00"))


class Shares(unittest.TestCase):
    def test_the_share_of_all_reduces(self):
        # 1000 all-reduces of 10 us in 0.1 s: a tenth; at 100 us 0.1 s of 0.19 s.
        self.assertAlmostEqual(advise.share(1000, 1e-5, 0.1, 1e-5), 0.1)
        self.assertAlmostEqual(advise.share(1000, 1e-4, 0.1, 1e-5), 0.1 / 0.19)
        self.assertEqual(advise.share(0, 1e-4, 0.1, 1e-5), 0.0)

    def test_an_emulated_latency_is_no_work(self):
        # 1000 all-reduces in 0.3 s, 0.2 s of them emulated: 0.1 s of work. At 100 us they would be 0.2 s.
        trials = [advise.Trial(latency, [Candidate(OWN, None)]) for latency in (400.0, 200.0)]
        for trial, seconds in zip(trials, (0.5, 0.3)):
            trial.samples[OWN][0] = Sample(seconds, 500, 0, 1000, seconds)
        for told in (trials, trials[1:], trials[:1]):
            self.assertIn("make 1000: 9 % here, 33 % if one took 50 us, 67 % if 200 us of the time", advise.said_of_reductions(told, 1e-5))

    def test_one_rank_has_none(self):
        self.assertIn("One rank", advise.said_of_reductions([trial_of(Told({OWN: 1.0}))], None))


class Cases(unittest.TestCase):
    """What is tried in a case of OpenFOAM, from its fvSolution."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())).resolve()
        self.write("PCG", "preconditioner DIC;")
        (self.folder / "system/controlDict").write_text("application icoFoam;\nstartFrom latestTime;\n")

    def write(self, solver, more=""):
        (self.folder / "system").mkdir(exist_ok=True)
        (self.folder / "system/fvSolution").write_text(SOLUTION.format(solver=solver, more=more))

    def subject(self, **options):
        chosen = types.SimpleNamespace(**{"subject": "a/case", "ranks": 2, "steps": None, "field": None, "solver": None, **options})
        return subjects.subject_of(self.folder, chosen, self.folder, self.folder)

    def labels(self, **options):
        return [candidate.label for candidate in self.subject(**options).candidates()]

    def test_a_symmetric_one_gets_every_method_with_its_preconditioner(self):
        labels = self.labels()
        self.assertEqual(labels[0], OWN)
        self.assertEqual(set(labels[1:]), {*subjects.solvers.METHODS, "capstan_cg:4", "capstan_cg:8", "capstan_pipelined_cg:4",
                                           "capstan_pipelined_cg:8"})
        self.assertIn("./capstan enable a/case capstan_cg --field p", next(
            candidate.write for candidate in self.subject().candidates() if candidate.label == "capstan_cg"))

    def test_multigrid_becomes_a_preconditioner(self):
        self.write("GAMG", "smoother GaussSeidel;")
        self.assertIn("capstan_cg+GAMG", self.labels())
        self.assertIn("capstan_cg+DIC", self.labels())

    def test_an_asymmetric_one_gets_methods_for_it(self):
        self.write("PBiCGStab", "preconditioner DILU;")
        self.assertEqual([label for label in self.labels() if "cg" in label and "bicg" not in label], [])
        self.assertIn("capstan_sstep_gmres", self.labels())
        self.write("PCG", "preconditioner DIC;")
        self.assertIn("capstan_idr+DILU", self.labels(field="U"))

    def test_the_components_of_a_vector_are_its_solves(self):
        line = "DILUPBiCGStab:  Solving for {}, Initial residual = 1, Final residual = 0.1, No Iterations {}"
        log = "\n".join(line.format(*words) for words in (("Ux", 3), ("Uy", 4), ("p", 50), ("Ux", 5)))
        log += "\ncapstan latency layer: 30 blocking and 0 nonblocking all-reduces\n"
        done = types.SimpleNamespace(log=log, solves=results.read_solves(log), seconds={"U": 0.5, "p": 2.0})
        for solve in done.solves:
            solve.converged = solve.field != "Uy"
        subject = self.subject(field="U")
        subject.case = Case("case", self.folder, pressure=[subject.field])
        with mock.patch.object(timing.workspace, "start", return_value=done), mock.patch.object(timing.workspace, "environment", return_value={}):
            sample = subject.measure(Candidate(OWN, subjects.solvers.Choice()), 0.0, 60)
        self.assertEqual((sample.seconds, sample.iterations, sample.unconverged, sample.busy), (0.5, 12, 1, 2.5))

    def test_all_reduces_of_a_vector_are_those_of_its_components(self):
        row = "{}  capstan_idr  DILU  3  0  0  {}  0  1.0  {}  1.0  1.0  1.0\n"
        log = "".join(row.format(*words) for words in (("Ux", 10, 2.0), ("air/Uy", 30, 4.0), ("p", 100, 9.0)))
        self.assertEqual(timing.reductions(log, ["U"]), 3.5)
        self.assertEqual(timing.reductions(log, ["Ux"]), 2.0)

    def test_a_copy_begins_anew(self):
        for name in ("0", "0.5", "1", "processor0", "postProcessing", "constant"):
            (self.folder / name).mkdir()
        (self.folder / "log.icoFoam").touch()
        target = self.folder.parent / (self.folder.name + ".copy")
        self.addCleanup(subjects.shutil.rmtree, target)
        subjects.copy_case(self.folder, target)
        self.assertEqual(sorted(path.name for path in target.iterdir()), ["0", "constant", "system"])
        self.assertIn("startFrom firstTime;", (target / "system/controlDict").read_text())

    def test_what_is_refused(self):
        for options, word in (({"field": "q"}, "did you mean 'p'"), ({"solver": "x"}, "with a deck only")):
            with self.assertRaisesRegex(WrongUse, word):
                self.subject(**options)
        (self.folder / "system/controlDict").unlink()
        with self.assertRaisesRegex(WrongUse, "holds no system/controlDict"):
            self.subject()


class Decks(unittest.TestCase):
    def subject(self, text, **options):
        path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "deck.yaml"
        path.write_text(text)
        chosen = types.SimpleNamespace(**{"subject": "deck.yaml", "ranks": 2, "steps": None, "field": None, "solver": None, **options})
        return subjects.subject_of(path, chosen, path.parent, path.parent)

    def test_every_method_but_its_own(self):
        subject = self.subject("linear_solvers:\n  - {name: a, method: capstan_cg, preconditioner: jacobi}\n  - {name: b, method: cg}\n")
        self.assertEqual(subject.own, "capstan_cg+jacobi")
        labels = [candidate.label for candidate in subject.candidates()]
        self.assertNotIn("capstan_cg", labels)
        self.assertEqual(len(labels), len(subjects.solvers.METHODS) + 4)
        written = next(candidate.write for candidate in subject.candidates() if candidate.label == "capstan_cg:4")
        self.assertEqual(written, "deck.yaml, a: method: capstan_cg; parameters: {Polynomial Degree: 4}")

    def test_a_solve_that_threw_is_one_that_is_left(self):
        """Nobody has counted its reductions; the others are measured all the same."""
        subject = self.subject("linear_solvers:\n  - {name: a, method: capstan_cg}\n")
        subject.env = {}
        fine = {"converged": True, "failure": None, "iterations": 7, "reductions": 14, "seconds": {"solve": 0.5}}
        thrown = {"converged": False, "failure": "non-positive value", "iterations": 0, "reductions": None, "seconds": {"solve": 0.0}}
        for solves, expected in (([fine, fine], Sample(1.0, 14, 0, 28, 1.0)), ([fine, thrown], Sample(0.5, 7, 1, None, 0.5)),
                                 ([fine, {**thrown, "converged": True}], Sample(0.5, 7, 1, None, 0.5))):
            def run(_, __, report, *___, solves=solves):
                report.write_text(json.dumps({"solves": solves}), encoding="utf-8")

            with mock.patch.object(subject, "run", run):
                self.assertEqual(subject.measure(Candidate(OWN, []), 0.0, 60), expected)

    def test_what_is_refused(self):
        good = "linear_solvers:\n  - {name: pressure, method: cg}\n"
        for text, options, word in (("systems: []\n", {}, "linear_solvers: found nothing"),
                                    (good, {"solver": "presure"}, "did you mean 'pressure'"), (good, {"steps": 3}, "an OpenFOAM case only")):
            with self.assertRaisesRegex(WrongUse, word):
                self.subject(text, **options)

    def test_arguments(self):
        for words, text in ((["x", "--latency", "-1"], "0 to 1e6"), (["x", "--turns", "0"], "from 1 on"), ([], "required")):
            with contextlib.redirect_stderr(io.StringIO()) as said:
                self.assertEqual(advise.main(words), 2)
            self.assertIn(text, said.getvalue())


class Hosts(unittest.TestCase):
    def subject(self, name, *command, **options):
        chosen = types.SimpleNamespace(**{"command": list(command), "ranks": 2, "steps": None, "field": None, "solver": None, **options})
        return hosts.HostSubject(name, chosen, pathlib.Path("/work"), pathlib.Path("/build"))

    def test_what_is_tried(self):
        symmetric = {candidate.label for candidate in self.subject("hypre_pcg", "app").candidates()}
        self.assertEqual(symmetric, {OWN, *subjects.method_words(True)})
        for name, command in (("hypre_gmres", ["app"]), ("saturne_velocity", ["./cs_solver", "--mpi"]), ("petsc", ["app"]),
                              ("petsc", ["app", "-ksp_type", "cg", "-ksp_type", "bcgs"])):
            self.assertNotIn("capstan_cg", [candidate.label for candidate in self.subject(name, *command).candidates()])
        self.assertIn("capstan_cg", [candidate.label for candidate in self.subject("petsc", "app", "-ksp_type", "cg").candidates()])

    def test_only_options_of_ours_that_are_left_tell_that_the_host_has_solved(self):
        """A debug build of PETSc warns of each option of the user's own that nobody asks for, in every run."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        subject = self.subject("petsc", "app")
        subject.work, subject.env = folder, {}
        head = "WARNING! There are options you set that were not used!\nWARNING! could be spelling mistake, etc!\n"
        own, ours = "Option left: name:-my_grid value: 3\n", "Option left: name:{} value: x source: command line\n"
        told = {"seconds": 1.0, "iterations": 3, "unconverged": 0, "all_reduces": 6}
        candidate = Candidate("capstan_cg", "capstan_cg")

        def measured(text):
            def execute(*_, **__):
                (folder / "times.json").write_text(json.dumps(told), encoding="utf-8")
                return text

            with mock.patch.object(hosts.workspace, "execute", execute):
                return subject.measure(candidate, 0.0, 60)

        for text in ("", head + own, head + own + "Option left: name:-ksp_types value: cg\n"):
            self.assertEqual(measured(text), Sample(1.0, 3, 0, 6, 1.0))
        for name in ("-ksp_type", "-ksp_capstan_polynomial_degree", "-dll_append"):
            with self.assertRaisesRegex(RunFailed, f"petsc has solved it; .*{name}"):
                measured(head + own + ours.format(name))
        with self.assertRaises(RunFailed):
            measured("Capstan: hypre solves it\n")

    def test_what_is_to_be_written(self):
        def written(subject, label):
            return next(candidate.write for candidate in subject.candidates() if candidate.label == label)

        self.assertEqual(written(self.subject("hypre_pcg", "app", "-n", "3"), "capstan_cg:4"),
                         "CAPSTAN_OPTIONS='{redirect: {hypre_pcg: capstan_cg}, polynomial_degree: 4}' ./capstan preload hypre -- "
                         "mpirun -n 2 app -n 3")
        self.assertEqual(written(self.subject("petsc", "app"), "capstan_idr"),
                         "app -dll_append /build/lib/libcapstanPetsc.so -ksp_type capstan_idr")

    def test_how_it_is_started(self):
        choice = Candidate("capstan_gmres", "capstan_gmres")
        words = [str(word) for word in self.subject("hypre_gmres", "app", "3").words(choice, 200.0)]
        self.assertEqual((words[:4], words[-2:]), (["mpirun", "-n", "2", "env"], ["app", "3"]))
        self.assertIn("CAPSTAN_LATENCY_US=200", words)
        self.assertIn("LD_PRELOAD=/work/host_timer.so:/build/lib/libcapstan_latency.so:/build/lib/libcapstanHypre.so", words)
        words = [str(word) for word in self.subject("hypre_gmres", "app").words(Candidate(OWN, None), 0.0)]
        self.assertNotIn("CAPSTAN_OPTIONS", " ".join(words))
        # What the command says of -ksp_type is stronger than PETSC_OPTIONS.
        for command, last in ((["app", "-ksp_type", "gmres"], "capstan_gmres"), (["app"], "app")):
            subject = self.subject("petsc", *command)
            self.assertEqual(str(subject.words(choice, 0.0)[-1]), last)

    def test_what_is_refused(self):
        for name, command, options, word in (("hypre_cg", ["app"], {}, "did you mean 'hypre_pcg'"), ("petsc", [], {}, "found no command"),
                                             ("petsc", ["mpirun", "app"], {}, "--ranks says"), ("petsc", ["app"], {"steps": 3}, "--steps")):
            with self.assertRaisesRegex(WrongUse, word):
                self.subject(name, *command, **options)
        for words, text in ((["deck.yaml", "--", "app"], "behind --"), (["hypre_pcg"], "found no command")):
            with contextlib.redirect_stderr(io.StringIO()) as said:
                self.assertNotEqual(advise.main(words), 0)
            self.assertTrue(text in said.getvalue() or "is missing" in said.getvalue(), said.getvalue())


class Runs(unittest.TestCase):
    """The whole program; what it names depends on the machine."""

    def run_program(self, *words):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        done = subprocess.run([sys.executable, str(PROGRAM), *words, "--ranks", "2", "--turns", "1", "--latency", "100", "--folder", folder],
                              capture_output=True, text=True, check=False, timeout=600)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertRegex(done.stdout, r"(?m)^An all-reduce takes [\d.]+ us on these ranks\. Your own solvers make \d+: ")
        self.assertRegex(done.stdout, r"(?m)^If an all-reduce took 100 us \(emulated\): (keep your own solver|capstan_\w+)")
        self.assertEqual(re.findall(r"(?m)^left out, (?!slower)(.*)", done.stdout), [])
        return done.stdout

    def test_a_program(self):
        """A program over hypre: its own solver and one of Capstan's are seen, and told apart."""
        build, folder = pathlib.Path(os.environ["CAPSTAN_BUILD_DIR"]).resolve(), pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        if not (build / "lib/libcapstanHypre.so").is_file():
            self.skipTest("libcapstanHypre.so was not built")
        program = folder / "client"
        subprocess.run(["mpicc", "-w", "-I/usr/include/hypre", ROOT / "adapters/hypre/test/client.c", "-o", program, "-lHYPRE", "-lm"], check=True)
        options = types.SimpleNamespace(command=[str(program)], ranks=2, steps=None, field=None, solver=None)
        subject = hosts.HostSubject("hypre_pcg", options, folder, build)
        subject.prepare()
        own, ours = (subject.measure(Candidate(name, method), 20.0, 200) for name, method in ((OWN, None), ("capstan_cg", "capstan_cg")))
        self.assertEqual((own.unconverged, ours.unconverged), (0, 0))
        self.assertTrue(0 < ours.all_reduces < own.all_reduces, f"{own}, {ours}")
        self.assertAlmostEqual(ours.iterations, own.iterations, delta=0.05 * own.iterations + 2)
        # The program has no solve of this name: that is told, and no sample.
        options.command = ["/bin/true"]
        with self.assertRaisesRegex(WrongUse, "no solve of that name was seen"):
            hosts_subject = hosts.HostSubject("hypre_pcg", options, folder, build)
            hosts_subject.prepare()
            hosts_subject.measure(Candidate(OWN, None), 0.0, 60)

    def test_a_deck(self):
        deck = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "deck.yaml"
        deck.write_text(DECK)
        self.assertIn("deck.yaml, classical: gmres+jacobi; 2 rank(s)", self.run_program(str(deck)))


if __name__ == "__main__":
    if "--runs" in sys.argv:
        os.environ["CAPSTAN_BUILD_DIR"] = sys.argv[2]
        sys.exit(unittest.main(argv=[sys.argv[0], "Runs", *sys.argv[3:]]))
    del Runs
    unittest.main()
