"""Cases from the field that capstan-solve runs: the deck of a case with what a variant changes, and what became of it."""

import json
import os
import pathlib
import re
import subprocess
import tempfile

import field_rules
import field_solutions
from field_report import Counts, Done


def mpirun(ranks, command, folder, timeout, environment=None):
    """The finished process, or None where it did not end in time."""
    words = [word for name, value in (environment or {}).items() for word in ("-x", f"{name}={value}")]
    try:
        return subprocess.run(["mpirun", "--oversubscribe", "-np", str(ranks), *words, *map(str, command)], cwd=folder, timeout=timeout,
                              capture_output=True, text=True, check=False, env=os.environ)
    except subprocess.TimeoutExpired:
        return None


def word_of(line, key):
    found = re.search(rf"\b{key}: ([^,}}]*)[,}}]", line)
    return found[1] if found else None


def takes(variant, line):
    """Whether a variant runs the solver in this line of a deck; other lines stand."""
    method = word_of(line, "method")
    if variant is None or method is None:
        return True
    if variant.ours and not field_rules.is_ours({"method": method}):
        return False
    return ((not variant.only or field_rules.family_of(method) in variant.only)
            and (not variant.preconditioners or word_of(line, "preconditioner") in variant.preconditioners))


def prepare(case, variant, folder):
    """The deck of a case in another folder, beside links to its data: what is written there is thrown away."""
    for path in case.iterdir():
        if path.name != "deck.yaml":
            (folder / path.name).symlink_to(path)
    lines = (case / "deck.yaml").read_text(encoding="utf-8").splitlines()
    (folder / "deck.yaml").write_text("\n".join(line for line in lines if takes(variant, line)) + "\n", encoding="utf-8")


def guesses(folder):
    """|| b || of each system of a deck: that of the residual of the guess, which is zero in all of them."""
    systems = (line for line in (folder / "deck.yaml").read_text(encoding="utf-8").splitlines() if word_of(line, "rhs"))
    return {word_of(line, "name"): field_solutions.norms(folder / word_of(line, "rhs")) for line in systems}


def solve(choices, name, ranks, variant=None):
    """Runs a case's deck."""
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        prepare(choices.cases / name, variant, folder)
        changes = variant.changes if variant is not None else ()
        look = field_solutions.CHECKS.get((name, changes))
        changes += ("write_matrix_files=true",) if look else ()
        words = [word for change in changes for word in ("--set", change)]
        environment = {}
        if variant is not None and variant.traps:
            environment["LD_PRELOAD"] = choices.build / "test/libcapstan_test_traps.so"
            if not environment["LD_PRELOAD"].is_file():
                return Done(problems=[f"{environment['LD_PRELOAD']}: no such library; build it"])
        run = mpirun(ranks, [choices.build / "bin/capstan-solve", "deck.yaml", "--quiet", "--report", "report.json", *words], folder,
                     choices.timeout, environment)
        if run is None:
            return Done(problems=[f"no end after {choices.timeout:g} s"])
        if not (folder / "report.json").is_file():
            last = (run.stderr.strip() or run.stdout.strip()).splitlines()[:1]
            return Done(problems=[f"no report, exit status {run.returncode}: {''.join(last)}"])
        return judge(folder, name, read_solves(folder / "report.json"), ranks, variant, look)


def read_solves(report):
    """The solves of a report. A residual that is not finite, which JSON cannot hold, is infinite."""
    solves = json.loads(report.read_text(encoding="utf-8"))["solves"]
    for one in solves:
        if one["relative_residual"] is None:
            one["relative_residual"] = float("inf")
    return solves


def judge(folder, name, solves, ranks, variant, look):
    ours = list(filter(field_rules.is_ours, solves))
    first = guesses(folder)
    problems = field_rules.always(solves, first) + field_rules.of_case(name, solves, ranks, variant)
    if look:
        problems += look(folder, ours)
    counts = Counts(len(ours), sum(one["converged"] for one in ours), sum(map(field_rules.is_false, ours)),
                    sum(field_rules.is_worse(one, first) for one in ours),
                    sum(field_rules.lost_to(one, solves) is not None for one in ours))
    return Done(counts.converged, counts.solves, problems, counts)
