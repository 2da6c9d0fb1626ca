"""Cases from the field that are OpenFOAM's: foam.sh beside the cases prepares and runs them, with the case's own solvers and with
Capstan's defaults. Then the prepared case is run once more with each, with other entries for some fields, to tighter tolerances.

What is asked: an end without an error or a message of Capstan's, as many solves of each field, no more iterations than `most` has, and
the same fields.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

from field_report import Done

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "app-inputs/openfoam"))

# pylint: disable=wrong-import-position
from tutorials import results  # noqa: E402


@dataclass(frozen=True)
class Foam:
    """A case, and what is asked of it besides what is asked of all."""

    application: str
    ranks: tuple
    steps: int
    most: dict = field(default_factory=dict)  # iterations of a field over those of the own solver, and so many more
    compared: tuple = ()  # fields that are to be the same, with their regions
    within: float = 1e-6  # relative difference
    tolerance: str = "1e-11"  # of all fields then; "": the case's own
    entries: tuple = ()  # variants: entries of fields' solvers, as {pattern of fields: words}
    refused: tuple = ()  # pairs of such entries and a word of the message that refuses them
    solves: tuple = ()  # fields that Capstan solves where fields are compared; (): all
    idle: tuple = ()  # fields whose solves have nothing to do
    later: bool = False  # what setFields makes of it goes on from there


CASES = {
    "F01": Foam("pimpleFoam", (1, 2, 4), 5, {"cellMotionUx": (1, 0)}, ("p", "U"), idle=("cellMotionUx",), entries=tuple(
        {"cellMotionUx": f"preconditioner {word}; minIter {least};"} for word in ("DIC", "GAMG", "muelu") for least in (0, 1))),
    # No norm of a residual holds for the smallest cells there: with another solver for U, U is another one, and p of OpenFOAM's GAMG is
    # 6e-3 apart from that of its PCG.
    "F03": Foam("icoFoam", (1, 2, 4), 20, {"p": (1.2, 5)}, ("p", "U"), 2e-2, solves=("p", "pFinal"), entries=tuple(
        {"p": f"{method} preconditioner {word};"} for method in ("", "method capstan_cg;", "method capstan_pipelined_cg;")
        for word in ("DIC", "GAMG"))),
    "F05": Foam("chtMultiRegionFoam", (1, 4), 10, {"h": (1.2, 20), "p_rgh": (1.2, 20)},
                ("heater/T", "bottomWater/U", "topAir/p_rgh"), 1e-2, "", entries=tuple(
                    {"heater/h": f"preconditioner {word}; dumpSystems {{ solves (1); }}"} for word in ("muelu", "jacobi", "boomeramg"))),
    "F07": Foam("interFoam", (1, 2, 4), 20, {"p_rgh": (1, 0), "pcorr": (1, 0)}, ("alpha.water", "U", "p_rgh"),
                idle=("alpha.water", "pcorr"), later=True),
    "F09": Foam("simpleFoam", (1, 2, 4, 5), 20, {"p": (2, 10)}, ("p", "U"), 5e-3, "1e-8", entries=tuple(
        {"p": f"verify yes; {words}"} for words in ("", "preconditioner DIC;", "preconditioner GAMG;")),
                refused=(({"p": "preconditioner muelu;"}, "cyclicAMI"),)),
}
FIELD = re.compile(r"^\s+(\S+)\s+solves (\d+), iterations (\d+), most", re.MULTILINE)
END = re.compile(r"exit (\d+) \(")
TROUBLE = re.compile(r"floating point|sigFpe|\bnan\b|FATAL|Capstan:|does not know|differ", re.IGNORECASE)

SOUND = re.compile(r"trapping|equal OpenFOAM's$")


def fields(text):
    """Solves and iterations of each field."""
    return {name: (int(solves), int(iterations)) for name, solves, iterations in FIELD.findall(text)}


def judge(name, own, ours):
    """Problems of a run with Capstan's solvers, beside one with the case's own; both as foam.sh tells them."""
    end = END.search(ours)
    if end is None or end[1] != "0":
        return [f"exit status {end[1] if end else 'unknown'}: {ours.strip().splitlines()[-1:]}"]
    problems = [f"told: {line.strip()}" for line in ours.splitlines() if TROUBLE.search(line)]
    found, expected = fields(ours), fields(own)
    if not expected:
        problems.append("the case's own solvers solved nothing")
    for one, (solves, iterations) in expected.items():
        if one not in found or found[one][0] != solves:
            problems.append(f"{one}: {found.get(one, (0, 0))[0]} solves, own solvers {solves}")
        elif one in CASES[name].most:
            factor, more = CASES[name].most[one]
            if found[one][1] > factor * iterations + more:
                problems.append(f"{one}: {found[one][1]} iterations, own solvers {iterations}")
    return problems + [f"{one}: {found[one][1]} iterations, nothing was to be done" for one in CASES[name].idle
                       if found.get(one, (0, 0))[1] > 0]


def environment():
    """What foam.sh sets for OpenFOAM and MPI."""
    return {**os.environ, "WM_PROJECT_DIR": "/usr/share/openfoam", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_mpi_yield_when_idle": "1"}


def set_entry(path, key, value):
    """Every line `key value;` of a dictionary gets another value."""
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(rf"^(\s*{key}\s+)[^;]*;", rf"\g<1>{value};", text, flags=re.MULTILINE), encoding="utf-8")


def add_entries(path, words):
    """Words in the entries of some fields' solvers: what a dictionary says again is merged with what it has said before."""
    text = path.read_text(encoding="utf-8")
    at = re.search(r"^solvers\s*\{", text, re.MULTILINE)
    if at is None:
        raise ValueError(f"{path} has no solvers")
    depth, end = 1, at.end()
    while depth > 0:
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        end += 1
    more = "".join(f"    {name} {{ {own} }}\n" for name, own in words.items())
    path.write_text(text[:end - 1] + more + text[end - 1:], encoding="utf-8")


def with_capstan(folder, library, words, fields_of_ours=()):
    """Capstan for some fields, () for all, with more words in the entries of some. words: {"name" or "region/name": words}"""
    control = folder / "system/controlDict"
    control.write_text(control.read_text(encoding="utf-8") + f'\nlibs ("{library}");\n', encoding="utf-8")
    for path in (folder / "system").rglob("fvSolution"):
        if fields_of_ours:
            add_entries(path, {name: "solver capstan;" for name in fields_of_ours})
        else:
            set_entry(path, "solver", "capstan")
        region = "" if path.parent.name == "system" else path.parent.name + "/"
        own = {name[len(region):]: text for name, text in words.items() if name.startswith(region) and "/" not in name[len(region):]}
        if own:
            add_entries(path, own)


def tighten(folder, case):
    """Another tolerance for all fields; what the last step finds is written."""
    set_entry(folder / "system/controlDict", "writeInterval", case.steps)
    for path in (folder / "system").rglob("fvSolution") if case.tolerance else ():
        set_entry(path, "tolerance", case.tolerance)
        set_entry(path, "relTol", "0")


def execute(words, folder, ranks, limit):
    """Exit status and output of a program in a prepared case."""
    if ranks > 1:
        words = ["mpirun", "--oversubscribe", "-np", str(ranks), *words, "-parallel"]
    try:
        done = subprocess.run(words, cwd=folder, env=environment(), capture_output=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return None, f"no end after {limit:g} s"
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace")


def run_on(case, folder, ranks, limit):
    """Runs a prepared case to its end; and once more as far, from what setFields makes of it, where that is asked for."""
    status, text = execute([case.application], folder, ranks, limit)
    if status != 0 or not case.later:
        return status, text
    control = folder / "system/controlDict"
    end = float(re.search(r"^endTime\s+([^;]*);", control.read_text(encoding="utf-8"), re.MULTILINE)[1])
    set_entry(control, "startFrom", "latestTime")
    set_entry(control, "endTime", f"{2 * end:g}")
    for words in (["setFields"], [case.application]):
        status, more = execute(words, folder, ranks, limit)
        text += more
        if status != 0:
            return status, text
    return status, text


def difference(folder, reference, name, ranks):
    """Relative difference of a field at the last time, that of pressures without the means."""
    read = []
    for where in (folder, reference):
        paths = [part / results.last_time(part) / name for part in results.rank_folders(where, ranks)]
        read.append([results.read_field(path) for path in paths if path.is_file()])
    if not read[1]:
        return float("inf")
    return results.field_difference(*read, name.rsplit("/", maxsplit=1)[-1].startswith("p"))


def vary(case, folders, ranks, choices, words):
    """Problems of a prepared case with these words, beside the own solvers in another folder."""
    prepared, own, ours = folders
    shutil.rmtree(ours, ignore_errors=True)
    shutil.copytree(prepared, ours)
    tighten(ours, case)
    with_capstan(ours, library_of(choices), words, case.solves)
    title = "; ".join(f"{key} {{ {text} }}" for key, text in words.items()) or "defaults"
    status, text = run_on(case, ours, ranks, choices.timeout)
    if status != 0:
        return [f"{title}: exit status {status}: {text.strip()[-300:]}"]
    problems = [f"{title}: told: {line.strip()}" for line in text.splitlines() if TROUBLE.search(line) and not SOUND.search(line)]
    for name in case.compared:
        apart = difference(ours, own, name, ranks)
        if not apart <= case.within:
            problems.append(f"{title}: {name} is {apart:.1e} apart from the own solvers'")
    return problems


def refuse(case, folders, ranks, choices, words, told):
    """Problems where a prepared case is not refused with these words, by a message that names what is refused."""
    shutil.rmtree(folders[2], ignore_errors=True)
    shutil.copytree(folders[0], folders[2])
    with_capstan(folders[2], library_of(choices), words)
    status, text = execute([case.application], folders[2], ranks, choices.timeout)
    error = text[text.find("FATAL"):] if "FATAL" in text else ""
    return [] if status not in (0, None) and told in error else [f"{words}: exit status {status}, no error that names {told}"]


def library_of(choices):
    return choices.build / "lib/libcapstanFoam.so"


def prepare(choices, name, ranks, folder, who):
    """What foam.sh tells of a case that it has prepared and run."""
    done = subprocess.run([choices.cases / "foam.sh", name, folder, who, str(ranks)],
                          env={**os.environ, "CAPLIB": str(library_of(choices)), "LIMIT": f"{choices.timeout:g}"}, capture_output=True,
                          text=True, timeout=2 * choices.timeout, check=False)
    return done.stdout + done.stderr


def run(choices, name, ranks):
    """Runs a case; good: the fields that are solved, and the variants."""
    case = CASES[name]
    if not library_of(choices).is_file():
        return Done(problems=[f"{library_of(choices)}: no such library; build Capstan with OpenFOAM"])
    with tempfile.TemporaryDirectory() as made:
        folders = [pathlib.Path(made) / word for word in ("own", "tight", "ours")]
        try:
            own = prepare(choices, name, ranks, folders[0], "own")
            ours = prepare(choices, name, ranks, folders[2], "capstan")
        except subprocess.TimeoutExpired:
            return Done(problems=[f"no end after {2 * choices.timeout:g} s"])
        done = Done(len(fields(ours)), len(fields(own)), judge(name, own, ours))
        shutil.copytree(folders[0], folders[1])
        tighten(folders[1], case)
        status, text = run_on(case, folders[1], ranks, choices.timeout)
        if status != 0:
            done.problems.append(f"own solvers: exit status {status}: {text.strip()[-300:]}")
            return done
        found = [vary(case, folders, ranks, choices, words) for words in ({}, *case.entries)]
        found += [refuse(case, folders, ranks, choices, *row) for row in case.refused]
    done.good, done.total = done.good + sum(not problems for problems in found), done.total + len(found)
    done.problems += [problem for problems in found for problem in problems]
    return done
