#!/usr/bin/env python3
"""Runs the case that `run` has just run again, in turn with OpenFOAM's own solvers, and prints what the pressure solves took.

usage: against_own.py FOLDER --ranks R --steps S --turns N --latency US --label TEXT

FOLDER holds the case with its mesh, system/solvers and system/solvers.openfoam; the runs take place in FOLDER/in_turn.
Exit status: 0 done, 1 a run failed, 130 interrupted.
"""

import argparse
import pathlib
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

# pylint: disable=wrong-import-position
from tutorials import timing, workspace  # noqa: E402
from tutorials.case import Case  # noqa: E402
from tutorials.errors import exit_status  # noqa: E402
from tutorials.solvers import Choice  # noqa: E402

OWN = "PCG+DIC"
AS_IT_IS = Choice()  # the case's files already say which solvers it has


def prepared(run, folder, solvers):
    """A copy of the run's case as it was before its first step, with these solvers."""
    folder.mkdir(parents=True)
    for part in ("0", "constant", "system"):
        shutil.copytree(run / part, folder / part)
    for rank in run.glob("processor*"):
        for part in ("0", "constant"):
            shutil.copytree(rank / part, folder / rank.name / part)
    shutil.copy(run / "system" / solvers, folder / "system/solvers")
    return folder


def contests(options, build):
    """{(latency, solver): Contest}, of each latency OpenFOAM's own solver first."""
    work = options.folder / "in_turn"
    workspace.fresh_folder(work)
    cases = {OWN: prepared(options.folder, work / "own.prepared", "solvers.openfoam"),
             options.label: prepared(options.folder, work / "capstan.prepared", "solvers")}
    with_layer = options.ranks > 1 and (build / "lib" / timing.LAYER).is_file()
    if options.ranks > 1 and not with_layer:
        print(f"{build / 'lib' / timing.LAYER} is not built (target capstan_latency): all-reduces are not counted, slow ones not emulated")
    found = {}
    for latency in [0.0, *([options.latency] if with_layer and options.latency else [])]:
        for label, case in cases.items():
            one = timing.Contest(Case(label, case, application=["icoFoam"], steps=options.steps), options.steps, [AS_IT_IS],
                                 options.ranks, latency, counted=with_layer)
            one.use(case, work / "case", build)
            found[latency, label] = one
    return found


def row(label, one, own):
    """One line of the table: ratios are of the same turn."""
    samples, theirs = one.samples[AS_IT_IS], own.samples[AS_IT_IS]
    least, unconverged = timing.shown(samples, "seconds")
    reductions = least["reductions_a_step"]

    def ratio(key):
        return "1" if one is own else timing.spread((ours[key] / other[key] for ours, other in zip(samples, theirs)), 2)

    return [label, str(least["iterations"]), str(unconverged),
            "-" if reductions is None else f"{reductions:.0f}", timing.spread((sample["seconds"] for sample in samples), 3),
            ratio("seconds"), ratio("seconds_of_all_fields")]


def table(found):
    head = ["solver of p", "iterations", "unconverged", "all-reduces a step", "seconds", f"over {OWN}", "all fields"]
    rows = {key: row(key[1], one, found[key[0], OWN]) for key, one in found.items()}
    widths = [max(map(len, column)) for column in zip(head, *rows.values())]

    def line(words):
        return "  ".join(word.rjust(width) if i else word.ljust(width) for i, (word, width) in enumerate(zip(words, widths))).rstrip()

    lines = [line(head)]
    for (latency, label), words in rows.items():
        if latency and label == OWN:
            lines.append(f"if an all-reduce took {latency:g} us (emulated):")
        lines.append(line(words))
    return "\n".join(lines)


def compare(options):
    found = contests(options, workspace.build_folder())
    for turn in range(options.turns):
        # Who goes first changes from turn to turn.
        for (latency, label), one in list(found.items())[::-1 if turn % 2 else 1]:
            timing.progress(f"turn {turn + 1} of {options.turns}: {label}" + (f", {latency:g} us emulated" if latency else ""))
            one.measure(turn, AS_IT_IS, 3600)
    timing.progress("")
    print(f"\nAgainst OpenFOAM's own {OWN} (U: PBiCGStab+DILU), {options.turns} turns, {options.ranks} rank(s):\n")
    print(table(found))
    print(f"\nseconds: in the solves of p, slowest rank, median [least..greatest] of the turns; over {OWN}: turn by turn, and likewise\n"
          "of the solves of all fields; all-reduces: of the whole run, all fields' and OpenFOAM's own.")


def main(words):
    parser = argparse.ArgumentParser(prog="against_own.py", allow_abbrev=False)
    parser.add_argument("folder", type=lambda text: pathlib.Path(text).resolve())
    for name, kind in (("ranks", int), ("steps", int), ("turns", int), ("latency", float), ("label", str)):
        parser.add_argument(f"--{name}", type=kind, required=True)
    options = parser.parse_args(words)
    return exit_status("cavity3d", lambda: compare(options))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
