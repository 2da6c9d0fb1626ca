#!/usr/bin/env python3
"""Writes Capstan into the dictionaries of an OpenFOAM case, and takes it out again. `capstan enable` and `disable` start it.

usage: switch_case.py enable CASE [SOLVER] [--field NAME ...] [--dry-run] --library FILE
       switch_case.py disable CASE [--dry-run]

The dictionaries are edited as text (foamDictionary would drop comments). CASE/.capstan-enabled.json keeps the files as they
were, so that `disable` brings them back byte for byte; of a file that was changed since, only what `enable` wrote is taken
back. Exit status: 0 done, 1 a file cannot be read or written, 2 wrong use.
"""

import argparse
import json
import os
import pathlib
import re
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

# pylint: disable=wrong-import-position
from tutorials import solvers  # noqa: E402
from tutorials.errors import RunFailed, WrongUse, exit_status, nearest, not_allowed  # noqa: E402
from tutorials.foam_text import FoamText, lookup  # noqa: E402

STATE = ".capstan-enabled.json"
FORMAT = 1
LIBRARY = re.compile(r'"?(\S*/)?libcapstanFoam\.so"?')


def read(path):
    """The text of a file, of which write() makes the same bytes."""
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise RunFailed(f"{path}: {error.strerror}") from None


def write(path, text):
    """Puts a whole file in the place of the old one, or leaves that as it is."""
    target = path.resolve()
    try:
        number, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(number, "wb") as file:
                file.write(text.encode("utf-8", "surrogateescape"))
            os.chmod(name, target.stat().st_mode & 0o7777 if target.exists() else 0o644)
            os.replace(name, target)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise RunFailed(f"{path} cannot be written: {error.strerror}; it is as it was") from None


# What a case is

def case_files(case):
    """(controlDict, files that name linear solvers), relative to the case."""
    if not case.is_dir():
        raise WrongUse(f"'{case}' is no folder")
    control = pathlib.Path("system/controlDict")
    found = sorted(path.relative_to(case) for name in ("fvSolution", "faSolution") for path in (case / "system").rglob(name))
    for path in (control, pathlib.Path("system/fvSolution")):
        if (case / f"{path}.gz").exists() and not (case / path).exists():
            raise WrongUse(f"{case / path}.gz is compressed; unpack it first: gunzip {case / path}.gz")
    if not (case / control).is_file() or not found:
        raise WrongUse(f"'{case}' is no OpenFOAM case: it holds no {control if found else 'system/fvSolution'}")
    return control, found


def solver_entries(text):
    """The entries of solvers { } that say themselves which solver they have."""
    return [key for key in text.keys("solvers")
            if text.is_dictionary(["solvers", key]) and text.get(["solvers", key, "solver"]) is not None]


def is_symmetric(text, key):
    own = text.get(["solvers", key, "solver"])
    return own in solvers.SYMMETRIC_SOLVERS or any(lookup([key], name) for field in solvers.SYMMETRIC_FIELDS for name in (field, field + "Final"))


# What enable writes, and how it is taken back

def with_library(text, library):
    """controlDict with the library in libs."""
    control = FoamText(text, "system/controlDict")
    value = (control.get("libs") or "").strip()
    if LIBRARY.search(value):
        return text
    inner = value[1:-1].strip() if value.startswith("(") and value.endswith(")") else value
    control.set("libs", f'({inner}{" " if inner else ""}"{library}")')
    return control.text


def without_library(text, library):
    control = FoamText(text, "system/controlDict")
    value = control.get("libs")
    if value is None or library not in value:
        return text
    rest = value.replace(f'"{library}"', "")
    if re.fullmatch(r"\s*\(\s*\)\s*", rest):
        control.remove("libs")
    else:
        control.set("libs", re.sub(r"\s+", " ", rest).replace("( ", "(").replace(" )", ")").strip())
    return control.text


def with_solver(text, name, solver, fields):
    """(fvSolution with the solver, {entry: {key: text it had, or None}}, [entries left alone])."""
    solution = FoamText(text, name)
    old, left = {}, []
    for key in solver_entries(solution):
        path = ["solvers", key]
        # OpenFOAM's last solve of p in a step looks for pFinal; an entry of other fields may match it, too.
        names = {key, key.removesuffix("Final")}
        if fields and not any(lookup([name], field) for field in fields for name in names):
            continue
        if solution.get([*path, "type"]) == "coupled" or solution.get([*path, "solver"]) == "diagonal":
            left.append(f"{key} (solver {solution.get([*path, 'solver'])})")
            continue
        wanted = {"solver": "capstan", **(solvers.method_entries(solver) if solver != solvers.PLAIN else {})}
        if solvers.METHODS.get(solvers.without_degree(solver)) and not is_symmetric(solution, key):
            if fields:
                raise WrongUse(f"{name}: solvers/{key}: found solver {solution.get([*path, 'solver'])}, and its matrix is not known to be "
                               f"symmetric as {solver} needs it; allowed: capstan, "
                               f"{', '.join(method for method, symmetric in solvers.METHODS.items() if not symmetric)}")
            left.append(f"{key} ({solver} needs a symmetric matrix)")
            continue
        before = {word: solution.get([*path, word]) for word in wanted}
        if any(solution.find([*path, word]) is not None and before[word] is None for word in wanted):
            raise WrongUse(f"{name}: solvers/{key}: it holds a dictionary {', '.join(wanted)} of its own; edit it by hand")
        for word, value in wanted.items():
            solution.set([*path, word], value)
        old[key] = before
    return solution.text, old, left


def without_solver(text, name, old):
    solution = FoamText(text, name)
    for key, before in old.items():
        for word, value in before.items():
            path = ["solvers", key, word]
            # Who has chosen another solver since has it.
            if word == "solver" and solution.get(path) != "capstan":
                break
            if value is None:
                solution.remove(path)
            else:
                solution.set(path, value)
    return solution.text


def originals(case, state):
    """{file: text without Capstan} of the files that an earlier `enable` has written."""
    texts = {}
    for file, kept in state["files"].items():
        if not (case / file).is_file():
            continue
        now = read(case / file)
        if now == kept["written"]:
            texts[file] = kept["original"]
        elif "library" in kept:
            texts[file] = without_library(now, kept["library"])
        else:
            texts[file] = without_solver(now, file, kept["old"])
    return texts


def read_state(case):
    path = case / STATE
    if not path.is_file():
        return {"format": FORMAT, "files": {}}
    try:
        state = json.loads(read(path))
        if state["format"] == FORMAT and isinstance(state["files"], dict):
            return state
    except (ValueError, KeyError, TypeError):
        pass
    raise RunFailed(f"{path} is not what 'capstan enable' wrote; the case is as it was")


# The two commands

def check_names(case, texts, solver, fields):
    allowed = [solvers.PLAIN, *solvers.METHODS]
    if solver != solvers.PLAIN and not solvers.is_method(solver):
        raise not_allowed("solver", solver, allowed)
    if solvers.is_method(solver):
        solvers.check_degree(solver)
    entries = {file: solver_entries(FoamText(text, file)) for file, text in texts.items()}
    known = list(dict.fromkeys(key for keys in entries.values() for key in keys))
    if not known:
        raise WrongUse(f"{', '.join(str(case / file) for file in texts)}: no entry of 'solvers' names a solver; if they stand in a file that "
                       "is included, edit that one by hand")
    for field in fields:
        if not lookup(known, field):
            raise WrongUse(f"--field: found '{field}', for which no solver entry stands; there are: {', '.join(known)}; did you mean "
                           f"'{nearest(field, known)}'?")


def enable(options):
    case = options.case
    control, solutions = case_files(case)
    state = read_state(case)
    before = originals(case, state)
    bases = {str(file): before.get(str(file), read(case / file)) for file in (control, *solutions)}
    check_names(case, {file: text for file, text in bases.items() if file != str(control)}, options.solver, options.field)
    files, said = {}, []
    texts = {str(control): with_library(bases[str(control)], options.library)}
    if texts[str(control)] != bases[str(control)]:
        files[str(control)] = {"library": options.library}
        said.append(f"{control}: libs has {options.library}")
    for file in map(str, solutions):
        texts[file], old, left = with_solver(bases[file], file, options.solver, options.field)
        if old:
            files[file] = {"old": old}
            said.append(f"{file}: {', '.join(old)}: {options.solver}")
        said += [f"{file}: left as it is: {entry}" for entry in left]
    if not any("old" in kept for kept in files.values()):
        raise WrongUse("\n".join(["no solver entry takes it; the case is as it was", *said]))
    for file, kept in files.items():
        kept.update(original=bases[file], written=texts[file])
    store(case, {"format": FORMAT, "files": files}, texts, options.dry_run, said)


def disable(options):
    case = options.case
    state = read_state(case)
    if not state["files"]:
        raise WrongUse(f"'{case}' has no Capstan that 'capstan enable' has written: it holds no {STATE}")
    store(case, None, originals(case, state), options.dry_run, [f"{file}: as it was" for file in state["files"]])


def store(case, state, texts, dry_run, said):
    """Writes what changed. The order leaves, whenever it is cut short, a case that runs and that `disable` brings back: the
    library is named before a solver needs it, and what was there is kept before anything changes."""
    changed = {file: text for file, text in texts.items() if (case / file).is_file() and read(case / file) != text}
    if state and not changed:
        print(f"{case}: nothing to change")
        return
    print("\n".join(said))
    if dry_run:
        return
    if state:
        write(case / STATE, json.dumps(state, indent=1))
    control_first = sorted(changed, key=lambda file: (pathlib.Path(file).name != "controlDict", file))
    for file in control_first if state else reversed(control_first):
        write(case / file, changed[file])
    if not state:
        (case / STATE).unlink()


COMMANDS = {"enable": enable, "disable": disable}


def main(words):
    command = words[0] if words else ""
    if command not in COMMANDS:
        print(__doc__, file=sys.stderr)
        return 2
    parser = argparse.ArgumentParser(prog=f"capstan {command}", allow_abbrev=False, description=__doc__.splitlines()[0])
    parser.add_argument("case", type=pathlib.Path, metavar="CASE")
    parser.add_argument("--dry-run", action="store_true")
    if command == "enable":
        parser.add_argument("solver", nargs="?", default=solvers.PLAIN, metavar="SOLVER")
        parser.add_argument("--field", action="append", default=[], metavar="NAME")
        parser.add_argument("--library", default="libcapstanFoam.so", metavar="FILE")
    # The solver may stand behind options.
    options = parser.parse_intermixed_args(words[1:])
    return exit_status(f"capstan {command}", lambda: COMMANDS[command](options))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
