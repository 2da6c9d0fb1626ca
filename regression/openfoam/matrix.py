#!/usr/bin/env python3
"""Runs cases with solvers on numbers of ranks, as a YAML list says, and compares each run with the case's own solvers.

usage: matrix.py <list.yaml> [options]; `--help` tells the options.

An entry of the list is a case and what to run it with. A single value may stand where a list may:

    case            [pitzDaily, ...]: folders of app-inputs/openfoam with a case.yaml; or the case itself, with the keys of
                    app-inputs/openfoam/tutorials/case.py: tutorial or folder, prepare, pressure, ...
    name            what results call a case without a `case`; default: the last part of the folder's name
    solver          [capstan_cg, ...]: own, capstan or a method of the pressure, see `./capstan run <case> --help`
    preconditioner  [DIC, ...] of the pressure
    caching         [adaptive, ...]
    ranks           [1, 2]
    steps           of every run; default: the case's
    tolerance       of every solve, with relTol 0; default: the case's `tight`
    iterations      {field: most} or {field: [least, most]}: iterations a solve, on average

An entry stands for all combinations of its values. Checked of each run, against the tutorial's own solvers at the same
tolerance: it ends; no field has more unconverged solves; every field of the last STEPS_COMPARED steps agrees to MARGIN times
what the tolerance leaves open; iterations are within their bounds; Capstan's summary counts the solves and iterations of the
log. What a tolerance T leaves open in a field is T, or, where the equations magnify errors, the most that the own solvers'
field changes by in these steps from 10 T to T. (A tenth of that would do for one method; but with the same residual GMRES
leaves larger errors than CG. And one step alone would not tell: errors come and go, so that 10 T and T may differ by a
tenth of what they do a step earlier.)

Exit status: 0 all pass, 1 some do not, 2 wrong use, 3 something must be installed or built first.
"""

import argparse
import collections
import dataclasses
import fnmatch
import itertools
import math
import os
import pathlib
import re
import shutil
import sys
import xml.etree.ElementTree as xml

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "app-inputs/openfoam"))

# pylint: disable=wrong-import-position
from tutorials import case as case_file  # noqa: E402
from tutorials import compare, results, solvers, workspace, yaml_text  # noqa: E402
from tutorials.errors import RunFailed, WrongUse, exit_status, not_allowed, say  # noqa: E402

CASES = ROOT / "app-inputs/openfoam"
OWN_KEYS = ("case", "name", "solver", "preconditioner", "caching", "ranks", "steps", "tolerance", "iterations")
MARGIN = 10
STEPS_COMPARED = 4
COLUMNS = ("case", "solver", "ranks", "verdict", "field", "difference", "bound", "unconverged", "own unconv.", "its/solve",
           "own its/solve", "seconds", "own seconds", "message")


@dataclasses.dataclass
class Test:
    """One combination."""
    case: case_file.Case
    choice: solvers.Choice
    ranks: int
    steps: int
    tolerance: float
    iterations: "dict[str, tuple[float, float]]"

    def name(self):
        return f"{self.case.name}.{self.choice.label()}.np{self.ranks}"

    def row(self):
        """The columns that name it."""
        return {"case": self.case.name, "solver": self.choice.label(), "ranks": self.ranks, "name": self.name()}

    def group(self):
        """Tests of a group have the same baseline."""
        return (self.case.name, self.ranks, self.steps, self.tolerance)


# Reading the list

def read_tests(path, tutorials):
    return [test for row in case_file.read_list(path, "entries") for test in read_entry(row, path, tutorials)]


def read_entry(row, path, tutorials):
    """The combinations of an entry."""
    keys = OWN_KEYS if isinstance(row, dict) and row.get("case") is not None else (*OWN_KEYS, *case_file.KEYS)
    checker = case_file.Checker(row, path, list(dict.fromkeys(keys)))
    bounds = read_bounds(checker)
    tests = []
    axes = (read_cases(checker, row, path, tutorials), checker.texts("solver", [solvers.PLAIN]),
            checker.texts("preconditioner", [None]), checker.texts("caching", [None]), checker.wholes("ranks", [1]))
    for case, solver, preconditioner, caching, ranks in itertools.product(*axes):
        tolerance = checker.number("tolerance", case.tight)
        choice = solvers.Choice(solver, preconditioner, caching, f"{tolerance:.10g}", "0")
        try:
            solvers.check_choice(choice, case)
        except WrongUse as error:
            raise WrongUse(f"{path}:{row.line}: {str(error).replace('--', '', 1)}") from None
        if case.ranks and ranks > case.ranks:
            raise WrongUse(f"{checker.where('ranks')}: ranks: found {ranks}; allowed: at most {case.ranks} for {case.name}")
        tests.append(Test(case, choice, ranks, checker.whole("steps", case.steps), tolerance, bounds))
    return tests


def read_cases(checker, row, path, tutorials):
    """The cases that an entry names, or the one that it describes."""
    if checker.has("case"):
        known = sorted(found.parent.name for found in CASES.glob("*/case.yaml"))
        for name in checker.texts("case"):
            if name not in known:
                raise not_allowed(f"{checker.where('case')}: case", name, known)
        return [case_file.read_case(CASES / name / "case.yaml", tutorials) for name in checker.texts("case")]
    given = checker.text("tutorial") or checker.text("folder")
    parts = [part for part in given.split("/") if part not in ("..", ".", "case", "")]
    # `steps` and `ranks` are the list's here.
    mapping = row.without(OWN_KEYS)
    return [case_file.make_case(mapping, path, tutorials, checker.text("name") or (parts[-1] if parts else "case"))]


def read_bounds(checker):
    """{field: (least, most)} iterations a solve."""
    bounds = checker.mapping.get("iterations")
    if bounds is None:
        return {}
    if not isinstance(bounds, dict):
        checker.fail("iterations", "{field: most} or {field: [least, most]}")
    result = {}
    for field, value in bounds.items():
        words = ["0", value] if isinstance(value, str) else value
        try:
            least, most = (float(word) for word in words)
        except (TypeError, ValueError):
            least, most = 1.0, 0.0
        if not 0 <= least <= most:
            raise WrongUse(f"{checker.where('iterations')}: iterations: {field}: found {value}; allowed: most, or "
                             "[least, most]")
        result[field] = (least, most)
    return result


# Running

@dataclasses.dataclass
class Baseline:
    """What the own solvers did, and what a tolerance leaves open in each field."""
    run: workspace.Run
    spread: "dict[str, float]"


def make_baseline(test, folder, env, seconds):
    workspace.prepare(test.case, test.ranks, folder / "prepared", env)
    own = solvers.Choice(tolerance=f"{test.tolerance:.10g}", rel_tol="0")
    loose = dataclasses.replace(own, tolerance=f"{10 * test.tolerance:.10g}")
    runs = [workspace.start(test.case, folder / "prepared", folder / name, choice, test.ranks, env, test.steps, seconds,
                            written=STEPS_COMPARED)
            for name, choice in (("own", own), ("loose", loose))]
    spread = results.differences(runs[1].folder, runs[0].folder, test.ranks, test.case.no_mean, STEPS_COMPARED)
    shutil.rmtree(folder / "loose")
    return Baseline(runs[0], spread)


def iterations_per_solve(run, fields):
    """{region/field: iterations a solve}; fields: only these, by name without region."""
    counts = collections.defaultdict(lambda: [0, 0])
    for solve in run.solves:
        if solve.field in fields or results.base_name(solve.field) in fields:
            count = counts[solve.name()]
            count[0] += solve.iterations
            count[1] += 1
    return {name: iterations / solves for name, (iterations, solves) in counts.items()}


def agreement(test, run, baseline):
    """(field, difference, bound) that is nearest to failing, and the messages of those that fail."""
    found = results.differences(run.folder, baseline.run.folder, test.ranks, test.case.no_mean, STEPS_COMPARED)
    spread = {name: baseline.spread.get(name, 0.0) for name in found}
    bounds = {name: MARGIN * max(test.tolerance, value if math.isfinite(value) else 0.0) for name, value in spread.items()}
    worst = max(found, key=lambda name: found[name] / bounds[name])
    messages = [f"{name} differs by {found[name]:.1e}, allowed {bounds[name]:.1e}" for name in found
                if not found[name] <= bounds[name]]
    messages += [f"{name}: of the own solvers' runs one is not finite, so that nothing is known of ours" for name, value in spread.items()
                 if not math.isfinite(value)]
    return (worst, found[worst], bounds[worst]), messages


def unconverged(run, baseline):
    """Messages of fields with more unconverged solves than the baseline's."""
    return [f"{name}: {count} unconverged solves, own {own}"
            for name, (count, own) in compare.more_unconverged(run, baseline.run).items()]


def out_of_bounds(test, run):
    messages = []
    for field, (least, most) in test.iterations.items():
        counts = iterations_per_solve(run, [field])
        messages += [f"{name}: {count:.1f} iterations a solve, allowed {least:g} to {most:g}" for name, count in counts.items()
                     if not least <= count <= most]
        if not counts:
            messages.append(f"iterations: no solve of {field} in the log")
    return messages


def summary(run):
    """Messages where Capstan's summary and the log of its solves differ."""
    found = re.search(r"^total: (\d+) solves, (\d+) iterations", run.log, re.MULTILINE)
    if not found:
        return ["Capstan's summary is missing"]
    # Field, method, preconditioner, solves, unconverged, builds, iterations. Solves by OpenFOAM's own solvers may be its own.
    rows = [(row[1], int(row[3]), int(row[6])) for row in map(str.split, run.log[:found.start()].splitlines())
            if len(row) > 7 and all(cell.isdecimal() for cell in row[3:7])]
    ours = [solve for solve in run.solves if re.match(r"capstan", solve.solver)]
    counted = len(ours), sum(solve.iterations for solve in ours)
    said = tuple(sum(row[k] for row in rows if row[0].startswith("capstan")) for k in (1, 2))
    messages = []
    if said != counted:
        messages.append(f"summary: {said[0]} solves, {said[1]} iterations; the log has {counted[0]}, {counted[1]}")
    total = tuple(sum(row[k] for row in rows) for k in (1, 2))
    if total != (int(found[1]), int(found[2])):
        messages.append(f"summary: the rows have {total[0]} solves, {total[1]} iterations; the total says {found[1]}, {found[2]}")
    return messages


def run_test(test, baseline, folder, env, seconds):
    """One row of the table."""
    row = {**test.row(), "own unconv.": baseline.run.unconverged(), "own seconds": sum(baseline.run.seconds.values()),
           "own its/solve": mean(iterations_per_solve(baseline.run, test.case.pressure))}
    try:
        run = workspace.start(test.case, folder / "prepared", folder / "run", test.choice, test.ranks, env, test.steps, seconds,
                              written=STEPS_COMPARED)
        nearest_to_failing, messages = agreement(test, run, baseline)
    except RunFailed as error:
        return {**row, "verdict": "failed", "message": str(error)}
    messages += unconverged(run, baseline) + out_of_bounds(test, run)
    if test.choice.uses_capstan():
        messages += summary(run)
    row.update(zip(("field", "difference", "bound"), nearest_to_failing))
    row.update(unconverged=run.unconverged(), seconds=sum(run.seconds.values()),
               **{"its/solve": mean(iterations_per_solve(run, test.case.pressure))}, wall=run.wall)
    return {**row, "verdict": "failed" if messages else "passed", "message": "; ".join(messages)}


def mean(counts):
    return round(math.fsum(counts.values()) / len(counts), 1) if counts else math.nan


def run_all(tests, folder, env, seconds):
    """The rows of all tests, group by group; baselines are made once."""
    rows = []
    groups = collections.defaultdict(list)
    for test in tests:
        groups[test.group()].append(test)
    for group in groups.values():
        work = folder / f"{group[0].case.name}.np{group[0].ranks}"
        try:
            baseline, why = make_baseline(group[0], work, env, seconds), ""
        except RunFailed as error:
            baseline, why = None, f"the baseline failed: {error}"
        for test in group:
            if baseline is None:
                row = {**test.row(), "verdict": "failed", "message": why}
            else:
                row = run_test(test, baseline, work, env, seconds)
            rows.append(row)
            say(f"{len(rows)}/{len(tests)} {row['name']}: {row['verdict']} {row['message']}")
        if all(row["verdict"] == "passed" for row in rows[-len(group):]):
            shutil.rmtree(work)
    return rows


def write_junit(rows, path, suite):
    """JUnit's XML, which CI systems show."""
    failed = [row for row in rows if row["verdict"] != "passed"]
    root = xml.Element("testsuite", name=suite, tests=str(len(rows)), failures=str(len(failed)))
    for row in rows:
        test = xml.SubElement(root, "testcase", classname=suite, name=row["name"], time=f"{row.get('wall', 0):.2f}")
        if row["verdict"] != "passed":
            xml.SubElement(test, "failure", message=row["message"]).text = row["message"]
    xml.indent(root)
    xml.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def read_arguments(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list", type=pathlib.Path)
    parser.add_argument("--only", default="*", metavar="PATTERN", help="only tests with such names, such as 'pitzDaily.*.np2'")
    parser.add_argument("--junit", type=pathlib.Path, metavar="FILE", help="default: <folder>/<list>.xml")
    parser.add_argument("--folder", type=pathlib.Path, help="where to work (default: <build folder>/matrix)")
    parser.add_argument("--seconds", type=float, default=600, help="for one run (default 600)")
    parser.add_argument("--verify", action="store_true",
                        help="end runs in which a product or preconditioner of Capstan is not OpenFOAM's own")
    parser.add_argument("--names", action="store_true", help="show the names of the tests, run nothing")
    return parser.parse_args(words)


def run_list(options):
    tests = [test for test in read_tests(options.list, workspace.tutorials_folder())
             if fnmatch.fnmatch(test.name(), options.only)]
    if not tests:
        raise WrongUse(f"--only: found '{options.only}', which no test of {options.list} matches")
    if options.verify:
        tests = [dataclasses.replace(test, choice=dataclasses.replace(test.choice, verify=test.choice.uses_capstan()))
                 for test in tests]
    if options.names:
        print("\n".join(test.name() for test in tests))
        return True
    build = workspace.build_folder()
    workspace.check_installed(["foamDictionary", "mpirun", *{test.case.application[0] for test in tests}], build)
    folder = (options.folder or build / "matrix").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["CAPSTAN_FOAM_SUMMARY"] = "1"
    rows = run_all(tests, folder, workspace.environment(build), options.seconds)
    write_junit(rows, options.junit or folder / f"{options.list.stem}.xml", f"openfoam.{options.list.stem}")
    print(compare.table(rows, COLUMNS[:-1]))
    failed = [row for row in rows if row["verdict"] != "passed"]
    for row in failed:
        print(f"{row['name']}: {row['message']}")
    print(f"{len(rows) - len(failed)} of {len(rows)} pass")
    return not failed


def main(words):
    yaml_text.ensure_pyyaml()
    return exit_status("matrix", lambda: run_list(read_arguments(words)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
