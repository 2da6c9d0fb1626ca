"""Cases from the field that are OpenFOAM's: foam.sh beside the cases prepares and runs them, with the case's own solvers and with Capstan.

What is asked: an end without an error or a message of Capstan's, as many solves of each field, and no more iterations than MOST has.
"""

import os
import pathlib
import re
import subprocess
import tempfile

RANKS = {"F01": [1, 2], "F03": [1, 2], "F05": [1, 4], "F07": [1], "F09": [1, 4]}
# Iterations of a field over those of the case's own solver, and so many more.
MOST = {"F01": {"cellMotionUx": (1, 0)}, "F03": {"p": (1.2, 5)}, "F05": {"h": (1.2, 20), "p_rgh": (1.2, 20)},
        "F07": {"p_rgh": (1, 0), "pcorr": (1, 0)}}
FIELD = re.compile(r"^\s+(\S+)\s+solves (\d+), iterations (\d+), most", re.MULTILINE)
END = re.compile(r"exit (\d+) \(")
TROUBLE = re.compile(r"floating point|sigFpe|\bnan\b|FATAL|Capstan:", re.IGNORECASE)


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
    for field, (solves, iterations) in expected.items():
        if field not in found or found[field][0] != solves:
            problems.append(f"{field}: {found.get(field, (0, 0))[0]} solves, own solvers {solves}")
        elif field in MOST.get(name, {}):
            factor, more = MOST[name][field]
            if found[field][1] > factor * iterations + more:
                problems.append(f"{field}: {found[field][1]} iterations, own solvers {iterations}")
    return problems


def run(choices, name, ranks):
    """The number of fields that are solved, twice, and the problems."""
    texts = {}
    library = choices.build / "lib/libcapstanFoam.so"
    if not library.is_file():
        return 0, 0, [f"{library}: no such library; build Capstan with OpenFOAM"]
    with tempfile.TemporaryDirectory() as made:
        for who in ("own", "capstan"):
            try:
                done = subprocess.run([choices.cases / "foam.sh", name, pathlib.Path(made) / who, who, str(ranks)],
                                      env={**os.environ, "CAPLIB": str(library), "LIMIT": f"{choices.timeout:g}"}, capture_output=True,
                                      text=True, timeout=2 * choices.timeout, check=False)
            except subprocess.TimeoutExpired:
                return 0, 0, [f"{who}: no end after {2 * choices.timeout:g} s"]
            texts[who] = done.stdout + done.stderr
    solved = len(fields(texts["capstan"]))
    return solved, len(fields(texts["own"])), judge(name, texts["own"], texts["capstan"])
