#!/usr/bin/env python3
"""Two tables of perf/oracle/run: which counts of iterations differ, and by how much.

usage: perf/oracle/compare.py BEFORE.csv AFTER.csv

For two versions of Trilinos, of a compiler, or of Capstan. Rows that only one table has are named, too. A cell with several
right-hand sides counts by its median. Exit status: 0 all cells have the same counts, 1 some differ, 2 wrong use.
"""

import argparse
import csv
import importlib.machinery
import importlib.util
import math
import pathlib
import statistics
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
LOADER = importlib.machinery.SourceFileLoader("oracle_run", str(HERE / "run"))
RUN = importlib.util.module_from_spec(importlib.util.spec_from_loader("oracle_run", LOADER))
LOADER.exec_module(RUN)


def read(path):
    if not path.is_file():
        raise RUN.processes.Misuse(f"found '{path}', which is no file")
    with open(path, encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        table = {(row["matrix"], row["preconditioner"], row["ranks"]): row for row in rows}
        return [title for title in rows.fieldnames if title not in RUN.KEYS], table


def stopped(cell):
    """A cell without what scatters in solves that did not converge: "900 stagnation 3.1e-07" and "901 stagnation 2e-07"."""
    return [part if part.isdigit() else " ".join(part.split()[1:-1]) for part in cell.split("/")]


def column(title, pairs):
    """One line for a solver: how many cells are the same, and how the others stand. pairs: cells before and after."""
    same = sum(stopped(before) == stopped(after) for before, after in pairs)
    solved = [(RUN.iterations(before), RUN.iterations(after)) for before, after in pairs]
    ratios = [after / before for before, after in solved if before and after]
    lost = sum(bool(before) and not after for before, after in solved)
    won = sum(bool(after) and not before for before, after in solved)
    line = f"{title}: {len(pairs)} cells, {same} the same, solved only before {lost}, only after {won}"
    if ratios:
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        line += f"; after over before {mean:.3f} in the geometric mean, {min(ratios):.2f} to {max(ratios):.2f}"
    return line


def compare(before, after):
    """The lines to print, and whether all counts are the same."""
    titles, first = before
    others, second = after
    if titles != others:
        raise RUN.processes.Misuse(f"the tables have other solvers: {', '.join(titles)}; {', '.join(others)}")
    lines = []
    for key in sorted(first.keys() ^ second.keys()):
        lines.append(f"{', '.join(key)} ranks: only {'before' if key in first else 'after'}")
    keys = sorted(first.keys() & second.keys())
    for key in keys:
        changed = [title for title in titles if stopped(first[key][title]) != stopped(second[key][title])]
        if changed:
            lines.append(f"{', '.join(key)} ranks: " + "; ".join(
                f"{title} {first[key][title] or '-'} -> {second[key][title] or '-'}" for title in changed))
    same = not lines
    return lines + [column(title, [(first[key][title], second[key][title]) for key in keys]) for title in titles], same


def main(words):
    parser = argparse.ArgumentParser(prog="perf/oracle/compare.py", description=__doc__.splitlines()[0])
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    arguments = parser.parse_args(words)
    lines, same = compare(read(arguments.before), read(arguments.after))
    print("\n".join(lines))
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(RUN.processes.command("oracle/compare", lambda: main(sys.argv[1:])))
