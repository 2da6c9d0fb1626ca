#!/usr/bin/env python3
"""Keeps the sample output in README.md true in form: the same words in the same columns, whatever the numbers.

usage: check_output.py [--update] <root of the source tree> <capstan-solve> [mpirun ...]

README.md holds the output between "<!-- begin output: laplace3d -->" and "<!-- end output: laplace3d -->". The deck is solved on a
small mesh, on one rank, and compared with numbers, rules and blanks masked. With --update the deck is solved as it is, on 2 ranks by
the MPI launcher given, and README.md rewritten.
"""

import difflib
import pathlib
import re
import subprocess
import sys

PLACE = "README.md"
MARKED = re.compile(r"(<!-- begin output: laplace3d -->\n\n```\n).*?(```\n\n<!-- end output: laplace3d -->)", re.DOTALL)
DECK = "app-inputs/decks/laplace3d.yaml"
SMALL = ["--set", "systems[0].generate.cells=[12,12,12]"]


def masked(text):
    """The lines of a table without what may differ from run to run: numbers (or "-" for none), the width of columns."""
    cells = (re.split(r"\s+", line.strip()) for line in text.strip().splitlines())
    return [" ".join("#" if re.fullmatch(r"-+|[\d.,]+(?:e[-+]?\d+)?", cell) else cell for cell in line) for line in cells]


def output_of(command):
    run = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if run.returncode != 0:
        sys.exit(f"'{' '.join(command)}' failed ({run.returncode}):\n{run.stdout}{run.stderr}")
    return run.stdout


def shown(text):
    """What the document shows."""
    found = MARKED.findall(text)
    if len(found) != 1:
        sys.exit(f"{PLACE} must hold exactly one pair of markers for the output 'laplace3d'; it holds {len(found)}")
    return MARKED.search(text)[0][len(found[0][0]):-len(found[0][1])]


def differences(said, printed):
    return list(difflib.unified_diff(masked(said), masked(printed), PLACE, "what capstan-solve prints", lineterm=""))


def main():
    root, program, *launcher = [argument for argument in sys.argv[1:] if argument != "--update"]
    place = pathlib.Path(root) / PLACE
    command = [program, str(pathlib.Path(root) / DECK), "--solver", "all"]
    text = place.read_text(encoding="utf-8")
    if "--update" in sys.argv:
        shown(text)
        printed = output_of([*launcher, "-n", "2", *command] if launcher else command)
        lines = "\n".join(line.rstrip() for line in printed.strip().splitlines())
        place.write_text(MARKED.sub(lambda found: f"{found[1]}{lines}\n{found[2]}", text), encoding="utf-8")
        return
    found = differences(shown(text), output_of([*command, *SMALL]))
    if found:
        sys.exit("\n".join([*found, "update: python3 regression/documents/check_output.py --update . build/bin/capstan-solve mpirun"]))
    print("the sample output has the form of what is printed")


if __name__ == "__main__":
    main()
