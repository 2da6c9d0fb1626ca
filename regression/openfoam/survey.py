#!/usr/bin/env python3
"""Replaces every linear solver of installed tutorials by plain `solver capstan;` and compares with the tutorial's own solvers.

usage: survey.py [list.yaml] [options], with the list survey.yaml beside this script by default; `--help` tells the options.

Each tutorial runs three times, shortened: with its own solvers; with Capstan's, tolerances kept; and, as the reference, with
its own solvers, a hundredth of their tolerances and relTol 0. A tutorial passes where Capstan's run ends, has no more
unconverged solves of any field than the tutorial's own run, and no field is further off the reference than FACTOR times what
the own solvers leave open. Where one is further off, the own solvers run once more, with other smoothers and another coarsest
level of multigrid: what they leave open is luck, and the larger one counts.
Exit status: 0 all pass, 1 some do not, 2 wrong use, 3 something must be installed or built first.
"""

import argparse
import csv
import fnmatch
import math
import pathlib
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "app-inputs/openfoam"))

# pylint: disable=wrong-import-position
from tutorials import case as case_file  # noqa: E402
from tutorials import compare, results, solvers, workspace, yaml_text  # noqa: E402
from tutorials.errors import RunFailed, WrongUse, exit_status, say  # noqa: E402

# relTol leaves errors of about the same size open in both runs, but not the same errors.
FACTOR = 10
# Below this, what the own solvers leave open is luck: the tutorials' relTol are from 1e-3 to 0.1.
FLOOR = 1e-4
COLUMNS = ("tutorial", "verdict", "solves", "solves_own", "unconverged", "unconverged_own", "field", "off", "off_own",
           "iterations", "iterations_own", "seconds", "seconds_own", "message")


def read_list(path, tutorials):
    """The cases of a list."""
    cases = []
    for row in case_file.read_list(path, "tutorials"):
        name = row.get("tutorial", "?") if isinstance(row, dict) else "?"
        cases.append(case_file.make_case(row, path, tutorials, str(name)))
    return cases


def judge(run, own, off, off_own):
    """(verdict, message) of a run that ended. off, off_own: {field: difference from the reference}."""
    worse = compare.more_unconverged(run, own)
    if worse:
        return "unconverged", "; ".join(f"{name}: {count} against {other}" for name, (count, other) in worse.items())
    # Beside an own run that has diverged anything would pass.
    unknown = sorted(name for name, value in off_own.items() if not math.isfinite(value))
    if unknown:
        return "not run", f"the own solvers' run or the reference is not finite: {', '.join(unknown)}"
    wrong = {name: value for name, value in off.items()
             if not value <= FACTOR * max(off_own.get(name, 0.0), FLOOR)}
    if wrong:
        return "wrong", "; ".join(f"{name}: off by {value:.1e}, own {off_own.get(name, math.nan):.1e}"
                                  for name, value in sorted(wrong.items(), key=lambda item: -item[1]))
    return "passed", ""


def worst_field(off, off_own):
    """The field that stands out most against what the own solvers leave open."""
    return max(off, key=lambda name: off[name] / max(off_own.get(name, 0.0), FLOOR))


def larger(first, second):
    """The larger one of two {field: difference}, field by field; one that is not finite in the second counts for nothing."""
    finite = {name: value for name, value in second.items() if math.isfinite(value)}
    return {name: max(first.get(name, 0.0), finite.get(name, 0.0)) for name in {**first, **second}}


def counts(run, suffix=""):
    """The columns that count what a run did."""
    return {f"solves{suffix}": len(run.solves), f"unconverged{suffix}": run.unconverged(),
            f"iterations{suffix}": sum(solve.iterations for solve in run.solves), f"seconds{suffix}": sum(run.seconds.values())}


def survey_one(case, choice, ranks, folder, env, seconds):
    """One row of the table."""
    row = {"tutorial": case.name}
    try:
        workspace.prepare(case, ranks, folder / "prepared", env)
        own = workspace.start(case, folder / "prepared", folder / "own", solvers.Choice(), ranks, env, seconds=seconds)
        tight = workspace.start(case, folder / "prepared", folder / "reference", solvers.Choice(rel_tol="0", tighter=0.01),
                                ranks, env, seconds=2 * seconds)
    except RunFailed as error:
        return {**row, "verdict": "not run", "message": str(error)}
    row.update(counts(own, "_own"))
    try:
        run = workspace.start(case, folder / "prepared", folder / "capstan", choice, ranks, env, seconds=seconds)
    except RunFailed as error:
        return {**row, "verdict": "failed", "message": str(error)}
    row.update(counts(run))
    try:
        off = results.differences(run.folder, tight.folder, ranks, case.no_mean)
        off_own = results.differences(own.folder, tight.folder, ranks, case.no_mean)
        row["verdict"], row["message"] = judge(run, own, off, off_own)
        if row["verdict"] == "wrong":
            alone = row["message"]
            varied = workspace.start(case, folder / "prepared", folder / "varied", solvers.Choice(varied=True), ranks, env,
                                     seconds=seconds)
            off_own = larger(off_own, results.differences(varied.folder, tight.folder, ranks, case.no_mean))
            row["verdict"], row["message"] = judge(run, own, off, off_own)
            if row["verdict"] == "passed":
                row["message"] = f"{alone}; with other smoothers own {off_own[worst_field(off, off_own)]:.1e}"
    except RunFailed as error:
        return {**row, "verdict": "failed", "message": str(error)}
    worst = worst_field(off, off_own)
    row.update(field=worst, off=off[worst], off_own=off_own.get(worst, math.nan))
    return row


def read_arguments(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).with_name("survey.yaml"))
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--only", action="append", metavar="PATTERN",
                        help="only tutorials with such names, such as '*cavity*'; may be given again")
    parser.add_argument("--solver", default=solvers.PLAIN)
    parser.add_argument("--caching")
    parser.add_argument("--keep-leftovers", action="store_true",
                        help="entries of the tutorial's solvers (preconditioner, smoother, ...) stay")
    parser.add_argument("--verify", action="store_true",
                        help="end runs in which a product or preconditioner of Capstan is not OpenFOAM's own")
    parser.add_argument("--csv", type=pathlib.Path, help="default: <build folder>/survey/survey.csv")
    parser.add_argument("--seconds", type=float, default=120, help="for one run (default 120)")
    return parser.parse_args(words)


def survey(options):
    build = workspace.build_folder()
    choice = solvers.Choice(options.solver, caching=options.caching, leftovers=options.keep_leftovers, verify=options.verify)
    solvers.check_choice(choice)
    cases = [case for case in read_list(options.list, workspace.tutorials_folder())
             if any(fnmatch.fnmatch(case.name, pattern) for pattern in options.only or ["*"])]
    if not cases:
        raise WrongUse(f"--only: found {options.only}, which no tutorial of {options.list} matches")
    workspace.check_installed(["foamDictionary", "mpirun"], build)
    env = workspace.environment(build)
    folder = build / "survey"
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    with (options.csv or folder / "survey.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS)
        table.writeheader()
        for number, case in enumerate(cases, 1):
            work = folder / case.name
            row = survey_one(case, choice, options.ranks, work, env, options.seconds)
            table.writerow(row)
            file.flush()
            rows.append(row)
            say(f"{number}/{len(cases)} {case.name}: {row['verdict']} {row['message']}")
            if row["verdict"] == "passed":
                shutil.rmtree(work)
    print(compare.table(rows, COLUMNS[:-1]))
    passed = sum(row["verdict"] == "passed" for row in rows)
    print(f"{passed} of {len(rows)} pass")
    return passed == len(rows)


def main(words):
    yaml_text.ensure_pyyaml()
    return exit_status("survey", lambda: survey(read_arguments(words)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
