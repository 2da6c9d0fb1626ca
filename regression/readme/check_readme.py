#!/usr/bin/env python3
"""Keeps the tables of README.md equal to the tables in the code.

usage: check_readme.py [--update] <README.md> <capstan-solve>

`capstan-solve list --markdown` prints two tables, the solvers and then the parameters. README.md holds them between
"<!-- begin generated: solvers -->" and "<!-- end generated: solvers -->", and the same with "parameters". Without
--update, a difference is shown and the exit status is 1; with it, the file is rewritten.
"""

import difflib
import pathlib
import re
import subprocess
import sys

NAMES = ["solvers", "parameters"]


def tables(markdown):
    """The tables in a Markdown text: runs of lines that begin with a bar."""
    found = re.findall(r"(?:^\|.*\n?)+", markdown, re.MULTILINE)
    if len(found) != len(NAMES) or any(table.count("\n") < 3 for table in found):
        sys.exit(f"'capstan-solve list --markdown' should print {len(NAMES)} tables ({', '.join(NAMES)}), each with rows; "
                 f"it printed:\n{markdown}")
    return dict(zip(NAMES, (table.strip() for table in found)))


def filled(readme, contents):
    """README.md with the text between its markers replaced."""
    for name, table in contents.items():
        pattern = re.compile(rf"(<!-- begin generated: {name} -->\n).*?(<!-- end generated: {name} -->)", re.DOTALL)
        readme, count = pattern.subn(lambda match, table=table: f"{match[1]}\n{table}\n\n{match[2]}", readme)
        if count != 1:
            sys.exit(f"README.md must hold exactly one pair of markers for '{name}'; it holds {count}")
    return readme


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--update"]
    readme, program = pathlib.Path(arguments[0]), arguments[1]
    run = subprocess.run([program, "list", "--markdown"], capture_output=True, text=True, check=False,
                         stdin=subprocess.DEVNULL)
    if run.returncode != 0:
        sys.exit(f"'{program} list --markdown' failed ({run.returncode}):\n{run.stdout}{run.stderr}")
    have = readme.read_text(encoding="utf-8")
    want = filled(have, tables(run.stdout))
    if have == want:
        print("the tables are current")
        return
    if "--update" in sys.argv:
        readme.write_text(want, encoding="utf-8")
        print("the tables are updated")
        return
    print("".join(difflib.unified_diff(have.splitlines(True), want.splitlines(True), "README.md", "the code's tables")))
    sys.exit("README.md is not current; update it: python3 regression/readme/check_readme.py --update README.md "
             "build/bin/capstan-solve")


if __name__ == "__main__":
    main()
