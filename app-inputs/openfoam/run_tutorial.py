#!/usr/bin/env python3
"""Runs a case of app-inputs/openfoam that is made of an installed tutorial. The cases' scripts `run` start it.

usage: run_tutorial.py <case folder> [arguments]; `--help` tells them.
Exit status: 0 done, 1 failed, 2 wrong use, 3 something must be installed or built first.
"""

import argparse
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

# pylint: disable=wrong-import-position
from tutorials import case as case_file  # noqa: E402
from tutorials import compare, results, solvers, workspace, yaml_text  # noqa: E402
from tutorials.errors import WrongUse, exit_status, nearest  # noqa: E402

WIDTH = 120


class Parser(argparse.ArgumentParser):
    """argparse, with our words for mistakes."""

    def error(self, message):
        found = next((word for word in sys.argv[2:] if word.startswith("--") and word.partition("=")[0] not in
                      self._option_string_actions), None)
        if "unrecognized" in message and found:
            message = f"unknown argument '{found}'; did you mean '{nearest(found, self._option_string_actions)}'?"
        raise WrongUse(f"{message}\nSee: {self.prog} --help")


def whole(text):
    if not text.isdigit() or not 1 <= int(text) <= 1000000:
        raise argparse.ArgumentTypeError(f"found '{text}'; allowed: a whole number from 1 on")
    return int(text)


def number(text):
    try:
        if 0 <= float(text) < 1e9:
            return text
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"found '{text}'; allowed: a number from 0 on")


def edit(text):
    """(file, entry, value)"""
    found = re.fullmatch(r"([^:]+):([^=]+)=(.*)", text)
    if not found or found[1].startswith("/") or ".." in found[1].split("/"):
        raise argparse.ArgumentTypeError(f"found '{text}'; allowed: FILE:ENTRY=VALUE, with a file inside the case")
    return found.groups()


def parser_for(case):
    parser = Parser(prog=f"./capstan run {case.name}", description=f"{case.name}: {case.about or case.tutorial.name}. "
                    f"The tutorial {case.tutorial} is copied, edited and run below the build folder.",
                    allow_abbrev=False, formatter_class=lambda prog: argparse.HelpFormatter(prog, width=WIDTH))
    add = parser.add_argument
    add("--ranks", type=whole, default=1, metavar="R", help="MPI ranks (default 1)")
    add("--steps", type=whole, default=case.steps, metavar="S", help=f"time steps or iterations (default {case.steps})")
    add("--solver", default=solvers.PLAIN, metavar="NAME",
        help="capstan (default): every solver entry of fvSolution says `solver capstan;` and nothing else changes; own: the "
             f"tutorial's solvers; or, for the pressure ({', '.join(case.pressure)}), a method: "
             f"{', '.join([*solvers.METHODS, *solvers.OPENFOAM])}. The other fields get Capstan's method, too, where it is one "
             "for asymmetric matrices, else plain capstan; with OpenFOAM's methods they keep their solvers")
    add("--preconditioner", metavar="NAME", help="the pressure's: "
        f"{', '.join(solvers.OPENFOAM_PRECONDITIONERS)}; with Capstan also {', '.join(solvers.TRILINOS_PRECONDITIONERS)}")
    add("--caching", metavar="HOW", help=f"when Capstan renews a preconditioner: {', '.join(solvers.CACHING)}")
    add("--tolerance", type=number, metavar="T", help="tolerance of all solves (default: the tutorial's)")
    add("--rel-tol", type=number, metavar="T", help="relTol of all solves (default: the tutorial's)")
    add("--pressure-only", action="store_true", help="the other fields keep the tutorial's solvers")
    add("--compare", action="store_true", help="run the tutorial's own solvers, too, and print a table of both")
    add("--against", default=solvers.OWN, metavar="NAME[+PRECONDITIONER]",
        help="what --compare compares with (default own), such as PCG+DIC")
    add("--repeat", type=whole, default=1, metavar="N",
        help="with --compare: run both N times in turn; seconds are the smallest of each")
    add("--edit", type=edit, action="append", default=[], metavar="FILE:ENTRY=VALUE",
        help="one more edit, such as system/fvSolution:PIMPLE/nCorrectors=3; may be given again")
    add("--folder", type=pathlib.Path, help=f"where to work (default <build folder>/run/{case.name}); its old contents go")
    return parser


def choices(options, case):
    """[reference, choice], or [choice] without --compare. Checked."""
    common = {"tolerance": options.tolerance, "rel_tol": options.rel_tol}
    choice = solvers.Choice(options.solver, options.preconditioner, options.caching, everything=not options.pressure_only,
                            **common)
    solvers.check_choice(choice, case)
    if not options.compare:
        return [choice]
    solver, _, preconditioner = options.against.partition("+")
    reference = solvers.Choice(solver, preconditioner or None, everything=not options.pressure_only, **common)
    solvers.check_choice(reference, case)
    return [reference, choice]


def show(line):
    """Passes the log on, without what OpenFOAM says about its look-ups."""
    if not results.NOISE.match(line):
        sys.stdout.write(line)
        sys.stdout.flush()


def run(folder, words):
    case = case_file.read_case(folder / "case.yaml", workspace.tutorials_folder())
    options = parser_for(case).parse_args(words)
    if case.ranks and options.ranks > case.ranks:
        raise WrongUse(f"--ranks: found {options.ranks}; allowed: at most {case.ranks} in {case.name}")
    wanted = choices(options, case)
    for file, entry, value in options.edit:
        case.edits.setdefault(file, {})[entry] = value
    build = workspace.build_folder()
    workspace.check_installed([case.application[0], "decomposePar", "foamDictionary", "mpirun"], build,
                              any(choice.uses_capstan() for choice in wanted))
    work = (options.folder or build / "run" / case.name).resolve()
    env = workspace.environment(build, options.ranks)
    workspace.fresh_folder(work)
    print(f"{case.name}: {case.about}; {options.ranks} rank(s), {options.steps} steps, in {work}", flush=True)
    workspace.prepare(case, options.ranks, work / "prepared", env)
    if not options.compare:
        single(case, options, wanted[0], work, env)
    else:
        pair(case, options, wanted, work, env)


def single(case, options, choice, work, env):
    done = workspace.start(case, work / "prepared", work / "case", choice, options.ranks, env, options.steps, 36000, show)
    rows = [compare.field_row(done, choice.label(), name, {}) for name in compare.field_names(done)]
    print("\n" + compare.table(rows, compare.COLUMNS[:-1]))


def pair(case, options, wanted, work, env):
    """Runs reference and choice in turn and prints them side by side."""
    labels = [choice.label() for choice in wanted]
    if labels[0] == labels[1]:
        labels = [labels[0] + ", first", labels[1] + ", again"]
    runs, seconds = [None, None], [{}, {}]
    for turn in range(options.repeat):
        for i, choice in enumerate(wanted):
            print(f"{case.name}: {labels[i]} ...", flush=True)
            runs[i] = workspace.start(case, work / "prepared", work / ("reference", "case")[i], choice, options.ranks, env,
                                      options.steps, 36000)
            for field, value in runs[i].seconds.items():
                seconds[i][field] = min(value, seconds[i].get(field, value)) if turn else value
            runs[i].seconds = seconds[i]
    found = results.differences(runs[1].folder, runs[0].folder, options.ranks, case.no_mean)
    print("\n" + compare.table(compare.compare_rows(*runs, found, labels)))
    print("\nlast residuals: of the last solve; difference: ||run - reference|| / ||reference|| at the end"
          + (f", {', '.join(case.no_mean)} without the means" if case.no_mean else ""))
    print("all fields: " + ", ".join(f"{name} {value:.1e}" for name, value in sorted(found.items())))
    for label, one in zip(labels, runs):
        pressure, whole_sum = compare.summed_seconds(one.seconds, case.pressure)
        print(f"{label}: pressure solves {pressure:.3f} s, all solves {whole_sum:.3f} s, whole run {one.wall:.1f} s, "
              f"{one.unconverged()} unconverged of {len(one.solves)} solves")


def main(words):
    yaml_text.ensure_pyyaml()
    if len(words) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder = pathlib.Path(words[1]).resolve()
    return exit_status(folder.name, lambda: run(folder, words[2:]))


if __name__ == "__main__":
    sys.exit(main(sys.argv))
