#!/usr/bin/env python3
"""Counts what has to be read to check a method: its header and all it includes inside belos_ext/solvers.

usage: method_lines.py <root of the source tree>

Prints a table (method, files, lines, most). Exits with 1 where a method has more lines than LIMITS allow, and where a file of
a method's folder includes one of another method's. A limit that is no longer needed is to be lowered: the second number is
where it is meant to go.
"""

import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*"(belos_ext/solvers/[^"]+)"', re.M)
# Header of the method: lines at most, and the goal.
LIMITS = {
    "gmres/gmres.hpp": (100, 100),
    "gmres/sstep_gmres.hpp": (350, 335),
    "gmres/pipelined_gmres.hpp": (480, 470),
    "cr/cr.hpp": (300, 300),
    "cg/cg.hpp": (380, 400),
    "cg/flexible_cg.hpp": (325, 400),
    "pipelined_cg/pipelined_cg.hpp": (800, 800),
    "enlarged_cg/enlarged_cg.hpp": (1056, 1056),
    "embedded_cg/embedded_cg.hpp": (525, 600),
    "idr/idr.hpp": (330, 330),
    "bicgstab/bicgstab.hpp": (370, 350),
    "bicgstab/pipelined_bicgstab.hpp": (560, 500),
}
# Folders that methods share, and the one whose method is another's with a product of its own.
SHARED = {"common"}
BUILT_ON = {("embedded_cg", "cg")}


def reach(root, header):
    """All files of belos_ext/solvers that a header includes, itself among them."""
    found, waiting = set(), [header]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        waiting += INCLUDE.findall((root / path).read_text(encoding="utf-8"))
    return sorted(found)


def folder(path):
    return path.split("/")[2]


def main():
    root = pathlib.Path(sys.argv[1])
    problems = []
    print(f"{'method':<34} {'files':>5} {'lines':>6} {'most':>6} {'goal':>6}")
    for name, (most, goal) in LIMITS.items():
        files = reach(root, "belos_ext/solvers/" + name)
        lines = sum(len((root / path).read_text(encoding="utf-8").splitlines()) for path in files)
        print(f"{name:<34} {len(files):>5} {lines:>6} {most:>6} {goal:>6}")
        if lines > most:
            problems.append(f"{name}: {lines} lines to read, {most} at most")
    for path in sorted((root / "belos_ext/solvers").rglob("*.hpp")):
        here = path.relative_to(root).as_posix()
        for target in INCLUDE.findall(path.read_text(encoding="utf-8")):
            pair = (folder(here), folder(target))
            if pair[0] != pair[1] and pair[1] not in SHARED and pair not in BUILT_ON:
                problems.append(f"{here}: names a file of another method, {target}")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
