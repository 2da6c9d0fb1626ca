#!/usr/bin/env python3
"""A case with the libraries of an installation that has been moved: they find each other, and the presets of their own prefix.

usage: test_installed.py BUILD FOLDER

FOLDER holds the libraries, and share/capstan/app-inputs/muelu of its prefix a preset moved_only.xml.
"""

import pathlib
import sys

import foam


def main(build, folder):
    case = build / "regression/openfoam/installed"
    foam.copy_case("channel", case, 1, '"p.*" { solver capstan; preconditioner { preconditioner muelu; file moved_only; } tolerance 1e-6; }\n'
                                       "U { solver capstan; tolerance 1e-6; }\n")
    settings = case / "system/caseSettings"
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text.replace("libcapstanFoam.so", f"{folder}/libcapstanFoam.so"), encoding="utf-8")
    log = foam.solve(case, 1, {**foam.environment(build), "LD_LIBRARY_PATH": ""})
    solves = foam.read_solves(log)
    fields = {solve.field for solve in solves}
    if not {"p", "Ux"} <= fields or any(solve.final >= 1e-6 for solve in solves):
        sys.exit(f"not all solves converged:\n{log[-3000:]}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve())
