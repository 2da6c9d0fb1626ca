#!/usr/bin/env python3
"""Keeps the tables of README.md, docs/parameters.md and docs/methods.md equal to the tables in the code.

usage: check_tables.py [--update] <root of the source tree> <capstan-solve>

`capstan-solve list --markdown` prints a table of the solvers, those of the parameters, each under its heading, and one of the
costs. README.md holds the first between "<!-- begin generated: solvers -->" and "<!-- end generated: solvers -->",
docs/parameters.md and docs/methods.md the others, with "parameters" and "costs". Without --update, a difference is shown and the exit status is 1; with it, the files are rewritten.
"""

import difflib
import pathlib
import re
import subprocess
import sys

PLACES = {"solvers": "README.md", "parameters": "docs/parameters.md", "costs": "docs/methods.md"}


def tables(markdown):
    """The first table of a Markdown text, what stands between it and the last one, and the last one."""
    found = list(re.finditer(r"(?:^\|.*\n?)+", markdown, re.MULTILINE))
    if len(found) < len(PLACES) or any(table[0].count("\n") < 3 for table in found):
        sys.exit(f"'capstan-solve list --markdown' should print tables of {', '.join(PLACES)}, each with rows; it printed:\n"
                 f"{markdown}")
    between = markdown[found[0].end():found[-1].start()]
    return dict(zip(PLACES, (part.strip() for part in (found[0][0], between, found[-1][0]))))


def filled(text, name, table, place):
    """The text with what is between the markers of `name` replaced."""
    pattern = re.compile(rf"(<!-- begin generated: {name} -->\n).*?(<!-- end generated: {name} -->)", re.DOTALL)
    text, count = pattern.subn(lambda match: f"{match[1]}\n{table}\n\n{match[2]}", text)
    if count != 1:
        sys.exit(f"{place} must hold exactly one pair of markers for '{name}'; it holds {count}")
    return text


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--update"]
    root, program = pathlib.Path(arguments[0]), arguments[1]
    run = subprocess.run([program, "list", "--markdown"], capture_output=True, text=True, check=False,
                         stdin=subprocess.DEVNULL)
    if run.returncode != 0:
        sys.exit(f"'{program} list --markdown' failed ({run.returncode}):\n{run.stdout}{run.stderr}")
    stale = []
    for name, table in tables(run.stdout).items():
        file = root / PLACES[name]
        have = file.read_text(encoding="utf-8")
        want = filled(have, name, table, PLACES[name])
        if have == want:
            continue
        if "--update" in sys.argv:
            file.write_text(want, encoding="utf-8")
            print(f"{PLACES[name]} is updated")
            continue
        stale.append(PLACES[name])
        print("".join(difflib.unified_diff(have.splitlines(True), want.splitlines(True), PLACES[name],
                                           "the code's table")))
    if stale:
        sys.exit(f"not current: {', '.join(stale)}; update: python3 regression/documents/check_tables.py --update . "
                 "build/bin/capstan-solve")
    print("the tables are current")


if __name__ == "__main__":
    main()
