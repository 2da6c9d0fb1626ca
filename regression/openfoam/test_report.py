#!/usr/bin/env python3
"""What a run tells about its solves: the function object capstanReport, and the failures counted at the end.

usage: test_report.py <build folder>
"""

import csv
import os
import pathlib
import re
import shutil
import sys
import unittest

import foam

BUILD = pathlib.Path(sys.argv[1]).resolve()
PRESSURE = '"p.*" {{ solver capstan; method {}; preconditioner DIC; tolerance 1e-6; {} }}\n'
VELOCITY = "U { solver capstan; tolerance 1e-6; }\n"
COLUMNS = ["time", "region", "field", "component", "solver", "preconditioner", "solves", "unconverged", "iterations",
           "reductions", "checks", "operator_applications", "preconditioner_applications", "setups", "seconds_operator",
           "seconds_preconditioner", "seconds_reductions", "seconds_setup", "seconds_total", "initial_residual",
           "final_residual", "outcome"]


def functions(entries=""):
    """The text of the function object in system/controlDict."""
    return f'functions {{ watch {{ type capstanReport; libs ("libcapstanFoam.so"); {entries} }} }}\n'


def prepare(name, pressure=PRESSURE.format("capstan_cg", ""), velocity=VELOCITY, report=functions(), ranks=1, speed=0.1):
    case = BUILD / f"regression/openfoam/report-{name}"
    foam.copy_case("channel", case, ranks, pressure + velocity, speed=speed)
    with open(case / "system/controlDict", "a", encoding="utf-8") as file:
        file.write(report)
    foam.prepare(case, ranks, foam.environment(BUILD))
    return case


def launch(case, ranks=1):
    return foam.launch(case, ranks, foam.environment(BUILD))


def read(path):
    """The rows of a report; every one has all columns."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        assert rows.fieldnames == COLUMNS, rows.fieldnames
        rows = list(rows)
    for row in rows:
        assert None not in row and None not in row.values(), row
    return rows


def name_of(row):
    return row["field"] + row["component"].strip("-")


class Report(unittest.TestCase):
    def check_against_log(self, rows, log):
        """Each step has one row a field and component; it counts what the log shows."""
        steps = re.split(r"^Time = ", log, flags=re.MULTILINE)[1:]
        times = list(dict.fromkeys(row["time"] for row in rows))
        self.assertEqual(times, [step.split()[0] for step in steps])
        for time, step in zip(times, steps):
            ours = {name_of(row): row for row in rows if row["time"] == time}
            self.assertEqual(len(ours), sum(row["time"] == time for row in rows), "a field has two rows")
            shown = foam.read_solves(step)
            self.assertEqual(set(ours), {solve.field for solve in shown})
            for name, row in ours.items():
                solves = [solve for solve in shown if solve.field == name]
                self.assertEqual(row["solver"], solves[0].solver)
                self.assertEqual((int(row["solves"]), int(row["iterations"])),
                                 (len(solves), sum(solve.iterations for solve in solves)))
                for cell, logged in (("initial_residual", solves[0].initial), ("final_residual", solves[-1].final)):
                    self.assertAlmostEqual(float(row[cell]), logged, delta=1e-5 * logged)
                self.assertEqual((row["outcome"], row["unconverged"], row["region"]), ("converged", "0", "region0"))

    def test_a_run(self):
        for ranks in (1, 2):
            with self.subTest(ranks=ranks):
                pressure = PRESSURE.format("capstan_cg", "summary yes;")
                case = prepare(f"run-np{ranks}", pressure=pressure, ranks=ranks)
                log = launch(case, ranks)
                self.assertEqual(len(list(case.rglob("*.csv"))), 1)
                rows = read(case / "postProcessing/watch/0/capstanReport.csv")
                self.check_against_log(rows, log)
                self.assertEqual({(row["field"], row["component"], row["preconditioner"]) for row in rows},
                                 {("p", "-", "DIC"), ("U", "x", "DILU"), ("U", "y", "DILU"), ("U", "z", "DILU")})
                self.check_counts([row for row in rows if row["field"] == "p"], log)
                for row in (row for row in rows if row["iterations"] != "0"):
                    parts = [float(row["seconds_" + part]) for part in ("operator", "preconditioner", "reductions", "setup")]
                    self.assertGreater(min(parts[:2]), 0)
                    self.assertLessEqual(sum(parts), float(row["seconds_total"]))

    def check_counts(self, rows, log):
        """Reductions and applications are those of the summary, which counts the whole run."""
        line = next(line for line in log.splitlines() if line.startswith("p ")).split()
        iterations = int(line[6])
        for value, names in ((line[8], ("reductions",)), (line[9], ("reductions", "checks")),
                             (line[10], ("preconditioner_applications",))):
            counted = sum(int(row[name]) for row in rows for name in names)
            self.assertEqual(f"{counted / iterations:.3f}", value, names)
        # One for OpenFOAM's residual, one proves convergence, one or another restarts from a computed residual.
        for row in rows:
            applied, least = int(row["operator_applications"]), int(row["iterations"]) + 2 * int(row["solves"])
            self.assertTrue(least <= applied <= least + 2 * int(row["solves"]), row)

    def test_restart(self):
        case = prepare("restart")
        launch(case)
        first = (case / "postProcessing/watch/0/capstanReport.csv").read_bytes()
        control = case / "system/controlDict"
        text = control.read_text(encoding="utf-8")
        control.write_text(text.replace("startFrom startTime", "startFrom latestTime").replace("endTime 0.06", "endTime 0.1"),
                           encoding="utf-8")
        launch(case)
        self.assertEqual((case / "postProcessing/watch/0/capstanReport.csv").read_bytes(), first)
        times = [row["time"] for row in read(case / "postProcessing/watch/0.06/capstanReport.csv")]
        self.assertEqual(list(dict.fromkeys(times)), ["0.08", "0.1"])
        # The same start again: as OpenFOAM does with its own files.
        control.write_text(text, encoding="utf-8")
        launch(case)
        self.assertEqual((case / "postProcessing/watch/0/capstanReport.csv").read_bytes(), first)
        self.assertEqual(len(read(case / "postProcessing/watch/0/capstanReport_0.csv")), 12)

    def test_chosen_fields_and_steps(self):
        case = prepare("chosen", report=functions('fields (p "U[xy]"); executeControl timeStep; executeInterval 2; '
                                                     'writeControl timeStep; writeInterval 2;'))
        launch(case)
        rows = read(case / "postProcessing/watch/0/capstanReport.csv")
        self.assertEqual([(row["time"], name_of(row)) for row in rows], [("0.04", "Ux"), ("0.04", "Uy"), ("0.04", "p")])

    def test_wrong_entries(self):
        case = prepare("unknown", report=functions("field (p);"))
        log = launch(case)
        self.assertEqual(log.count("function object capstanReport does not know the entry 'field'"), 1)
        self.assertIn('did you mean "fields"', log)
        for entry in ("fields ();", "fields 3;"):
            case = prepare("wrong", report=functions(entry))
            status, log = foam.launch(case, 1, foam.environment(BUILD), foam.run)
            self.assertNotEqual(status, 0)
            self.assertRegex(log, r"FOAM FATAL IO ERROR(.|\n)*controlDict.functions.watch")

    def test_methods_of_belos(self):
        """They count neither reductions nor preconditioners; those cells are empty."""
        case = prepare("belos", pressure=PRESSURE.format('"PSEUDO BLOCK CG"', ""))
        launch(case)
        for row in read(case / "postProcessing/watch/0/capstanReport.csv"):
            if row["iterations"] == "0":
                continue
            known = row["field"] != "p"
            for name in ("reductions", "preconditioner_applications", "seconds_preconditioner", "seconds_reductions"):
                self.assertEqual(row[name] != "", known, row)
            self.assertGreater(int(row["operator_applications"]), int(row["iterations"]))
            self.assertGreater(float(row["seconds_operator"]), 0)

    def test_region(self):
        """A mesh by another name, and a program that has no time steps."""
        case = prepare("region")
        for folder in ("constant", "system", "0"):
            (case / folder / "fluid").mkdir()
        for name in ("U", "p"):
            shutil.move(case / "0" / name, case / "0/fluid")
            path = case / "0/fluid" / name
            path.write_text(path.read_text(encoding="utf-8").replace("../system", "../../system"), encoding="utf-8")
        shutil.move(case / "constant/polyMesh", case / "constant/fluid")
        for name in ("fvSchemes", "fvSolution"):
            shutil.move(case / "system" / name, case / "system/fluid")
        for name in ("caseSettings", "solvers"):
            shutil.copy(case / "system" / name, case / "system/fluid")
        with open(case / "system/fluid/fvSolution", "a", encoding="utf-8") as file:
            file.write("solvers { Phi { solver capstan; tolerance 1e-6; } }\n"
                       "potentialFlow { nNonOrthogonalCorrectors 1; PhiRefCell 0; PhiRefValue 0; }\n")
        foam.run_or_raise(["potentialFoam", "-withFunctionObjects", "-region", "fluid"], foam.environment(BUILD), case)
        rows = read(case / "postProcessing/watch/0/capstanReport.csv")
        self.assertEqual([(row["region"], row["field"], row["component"]) for row in rows], [("fluid", "Phi", "-")])
        self.assertEqual(rows[0]["solves"], "2")


class Failures(unittest.TestCase):
    def counted(self, log):
        return [line for line in log.splitlines() if re.match(r"Capstan: \S+: \d+ of \d+ solves? not converged", line)]

    def test_nothing_to_tell(self):
        log = launch(prepare("well", report=""))
        self.assertEqual(self.counted(log), [])
        told = [line for line in log.splitlines() if "Capstan:" in line]
        self.assertEqual([line for line in told if ": goes on with CAPSTAN " not in line], [])

    def test_limit_of_iterations(self):
        case = prepare("limit", pressure=PRESSURE.format("capstan_cg", "maxIter 8; "))
        log = launch(case)
        solves = [solve for solve in foam.read_solves(log) if solve.field == "p"]
        missed = sum(solve.final >= 1e-6 for solve in solves)
        self.assertGreater(missed, 0)
        self.assertEqual(self.counted(log), [f"Capstan: p: {missed} of {len(solves)} solves not converged"])
        rows = [row for row in read(case / "postProcessing/watch/0/capstanReport.csv") if row["field"] == "p"]
        self.assertEqual(sum(int(row["unconverged"]) for row in rows), missed)
        self.assertIn("unconverged", [row["outcome"] for row in rows])

    def test_a_method_that_fails(self):
        """A preconditioner that overflows: each solve of p goes on with another, is told, and counted."""
        pressure = ('"p.*" { solver capstan; method capstan_gmres; tolerance 1e-6; '
                    'preconditioner { preconditioner jacobi; "relaxation:_damping_factor" 1e300; } }\n')
        case = prepare("falls", pressure=pressure)
        log = launch(case)
        next_one = "capstan_cg and DIC"
        message = f"capstan_gmres with jacobi fails; going on with {next_one}"
        self.assertEqual(len(re.findall(f"solver capstan, field p: {message}", " ".join(log.split()))), 1)
        self.assertEqual([int(count) for count in re.findall(rf"^Capstan: p: {message} \((\d+) times so far\)$", log, re.MULTILINE)],
                         [2, 3, 4, 5, 6])
        self.assertEqual(self.counted(log), [f"Capstan: p: 0 of 6 solves not converged; 6 by {next_one}"])
        rows = [row for row in read(case / "postProcessing/watch/0/capstanReport.csv") if row["field"] == "p"]
        self.assertEqual({row["outcome"] for row in rows}, {f"fell back to {next_one}"})

    def test_overflow(self):
        os.environ["FOAM_SIGFPE"] = "false"
        try:
            case = prepare("overflow", speed=1e200)
            # OpenFOAM does not read the NaN that it wrote: one solve of each field.
            for path, old, new in (("fvSolution", "nCorrectors 2", "nCorrectors 1"), ("controlDict", "0.06", "0.02")):
                text = (case / "system" / path).read_text(encoding="utf-8")
                (case / "system" / path).write_text(text.replace(old, new), encoding="utf-8")
            _, log = foam.launch(case, 1, foam.environment(BUILD), foam.run)
        finally:
            del os.environ["FOAM_SIGFPE"]
        line = next(line for line in self.counted(log) if line.startswith("Capstan: Ux:"))
        self.assertEqual(line, "Capstan: Ux: 1 of 1 solve not converged; 1 left as NaN was found")
        row = next(row for row in read(case / "postProcessing/watch/0/capstanReport.csv") if row["component"] == "x")
        self.assertEqual((row["outcome"], row["initial_residual"]), ("returned the guess", "nan"))


def runs_function_objects():
    """Whether this OpenFOAM runs one of its own. That of Debian unstable, v1912 compiled by GCC 16, ends with an error of its stream sha1."""
    solvers = '"p.*" { solver PCG; preconditioner DIC; tolerance 1e-6; }\n', "U { solver PBiCGStab; preconditioner DILU; tolerance 1e-6; }\n"
    own = 'functions { own { type residuals; libs ("libutilityFunctionObjects.so"); fields (p); } }\n'
    case = prepare("own", *solvers, own)
    status, log = foam.launch(case, 1, foam.environment(BUILD), foam.run)
    return status == 0 or 'error in IOstream "sha1"' not in log


def skip(reason):
    print(reason)
    if "CAPSTAN_SKIPPED_TESTS" in os.environ:
        with open(os.environ["CAPSTAN_SKIPPED_TESTS"], "a", encoding="utf-8") as file:
            file.write(reason + "\n")
    sys.exit(77)


if __name__ == "__main__":
    if not runs_function_objects():
        skip("openfoam.report is skipped: this OpenFOAM runs no function object, not even its own")
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
