#!/usr/bin/env python3
"""Checks that each method has its page.

usage: check_methods.py <root of the source tree> <capstan-solve>

For each solver of `capstan-solve list`, such as capstan_sstep_gmres, there are docs/methods/sstep-gmres.md, which has the solver's
name as its heading, the sections below and the picture sstep-gmres.png in it, and a link in a row of the table of docs/methods.md.
The page cites papers of docs/references.md only, by their keys, and so does the solver's source in the list. A picture has less
than 60 kB. There are no other pages and
pictures. Prints one line a violation and exits with 1 where there is one.
"""

import pathlib
import re
import subprocess
import sys

SECTIONS = ["Algorithm", "Cost", "When to use it", "Parameters", "Convergence", "References"]
LARGEST_PICTURE = 60000


def methods(markdown):
    """Triples (solver, alias, source) of the first table of `capstan-solve list --markdown`."""
    return re.findall(r"^\| `(CAPSTAN [^`]+)` \| `(capstan_\w+)` \| [^|]+ \| ([^|]*) \|$", markdown, re.MULTILINE)


def source_problems(solver, source, known):
    keys = re.findall(r"\[([^\]]+)\]", source)
    if source != ", ".join(f"[{key}]" for key in keys) or not keys:
        yield f"{solver}: found the source '{source}'; expected keys of docs/references.md, in brackets, separated by commas"
    for key in keys:
        if key not in known:
            yield f"{solver}: the key [{key}] of its source does not stand in docs/references.md"


def page_problems(root, solver, name, known):
    page = root / "docs/methods" / f"{name}.md"
    where = f"docs/methods/{name}.md"
    if not page.is_file():
        yield f"{where}: the page of {solver} is missing"
        return
    text = page.read_text(encoding="utf-8")
    if not text.startswith(f"# {solver}\n"):
        yield f"{where}: the heading is not '# {solver}'"
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    if headings != SECTIONS:
        yield f"{where}: found the sections {headings}; expected {SECTIONS}"
    for key in re.findall(r"\[([^\]\[`!]+)\](?!\()", re.sub(r"```.*?```|``.*?``", "", text, flags=re.DOTALL)):
        key = " ".join(key.split())
        if key not in known:
            yield f"{where}: the key [{key}] does not stand in docs/references.md"
    picture = page.with_suffix(".png")
    if f"]({picture.name})" not in text or not picture.is_file():
        yield f"{where}: there is no picture {picture.name}, or the page does not show it; perf/figures/methods draws it"
    elif picture.stat().st_size >= LARGEST_PICTURE:
        yield f"docs/methods/{picture.name}: {picture.stat().st_size} bytes; at most {LARGEST_PICTURE}"


def problems(root, listed):
    index = (root / "docs/methods.md").read_text(encoding="utf-8")
    known = set(re.findall(r"^\| \[([^\]]+)\] \|", (root / "docs/references.md").read_text(encoding="utf-8"), re.MULTILINE))
    names = {alias.replace("capstan_", "", 1).replace("_", "-"): solver for solver, alias, _ in listed}
    for solver, _, source in listed:
        yield from source_problems(solver, source, known)
    for name, solver in names.items():
        yield from page_problems(root, solver, name, known)
        if not re.search(rf"^\| \[{re.escape(solver)}\]\(methods/{re.escape(name)}\.md\) \|", index, re.MULTILINE):
            yield f"docs/methods.md: the table has no row that begins with a link to the page of {solver}"
    for path in sorted((root / "docs/methods").iterdir()):
        if path.stem not in names:
            yield f"docs/methods/{path.name}: there is no method of this name"
    if not names:
        yield "'capstan-solve list --markdown' lists no solvers"


def main():
    root, program = pathlib.Path(sys.argv[1]), sys.argv[2]
    run = subprocess.run([program, "list", "--markdown"], capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    found = list(problems(root, methods(run.stdout)))
    print("\n".join(found) if found else f"{len(methods(run.stdout))} methods have their pages")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
