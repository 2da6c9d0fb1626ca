"""What `capstan advise` measures: the pressure solves of an OpenFOAM case, or the systems of a deck, with one solver or another. Programs:
hosts.py."""

import dataclasses
import json
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "openfoam"))

# pylint: disable=wrong-import-position
from tutorials import solvers, timing, workspace, yaml_text  # noqa: E402
from tutorials.case import Case  # noqa: E402
from tutorials.errors import RunFailed, WrongUse, not_allowed  # noqa: E402
from tutorials.foam_text import FoamText, lookup  # noqa: E402

PRESSURES = tuple(field for field in solvers.SYMMETRIC_FIELDS if field != "cellDisplacement")
NUMBERED = re.compile(r"[0-9.]+(e[-+]?[0-9]+)?")
DEGREES = (4, 8)
OWN = "own"


@dataclasses.dataclass(frozen=True)
class Candidate:
    """A solver to try. choice: how a subject runs it; write: what the user is to write, lines of text."""
    label: str
    choice: object
    write: str = ""


@dataclasses.dataclass
class Sample:
    """One run: seconds of the solves that are compared, and what they took. all_reduces: of the whole run, None where nobody has
    counted; busy: seconds of all its solves."""
    seconds: float
    iterations: int
    unconverged: int
    all_reduces: "float | None"
    busy: float


def method_words(symmetric):
    """The methods that may solve it, conjugate gradients also with polynomials of some degrees."""
    words = [word for word, needs in solvers.METHODS.items() if symmetric or not needs]
    return words + [f"{word}:{degree}" for word in words if word in solvers.WITH_POLYNOMIAL for degree in DEGREES]


def reporting(env, report):
    """The environment with options that write a report, beside those of the user's own."""
    options = f"{{report_file: {report}}}"
    if "CAPSTAN_OPTIONS" not in env:
        return {**env, "CAPSTAN_OPTIONS": options}
    if "CAPSTAN_OPTIONS_FILE" in env:
        raise RunFailed("CAPSTAN_OPTIONS and CAPSTAN_OPTIONS_FILE are both taken")
    file = report.with_suffix(".yaml")
    file.write_text(options + "\n", encoding="utf-8")
    return {**env, "CAPSTAN_OPTIONS_FILE": str(file)}


class FoamSubject:
    """A case of OpenFOAM: a copy of it runs some steps. Only the pressure's solver changes."""

    def __init__(self, folder, options, work, build):
        self.folder, self.ranks, self.steps, self.work, self.build = folder, options.ranks, options.steps or 5, work, build
        text = FoamText.read(folder / "system/fvSolution")
        keys = [key for key in text.keys("solvers") if text.get(["solvers", key, "solver"])]
        known = [field for field in PRESSURES if lookup(keys, field)]
        if options.field and not lookup(keys, options.field):
            raise not_allowed("--field", options.field, keys)
        if not options.field and not known:
            raise WrongUse(f"{folder}/system/fvSolution: no entry of 'solvers' is known to be a pressure's; name one with --field: "
                           f"{', '.join(keys)}")
        self.field = options.field or known[0]
        self.entry = ["solvers", lookup(keys, self.field)]
        own = text.get([*self.entry, "solver"])
        self.preconditioner = text.get([*self.entry, "preconditioner"])
        self.own = own + (f"+{self.preconditioner}" if self.preconditioner else "")
        self.symmetric = own in solvers.SYMMETRIC_SOLVERS or self.field in PRESSURES and own != "PBiCGStab"
        self.multigrid = own == "GAMG"
        self.name = options.subject
        self.what = f"{self.field} of {self.name}: {self.own}"

    def candidates(self):
        """The case's own solver, then ours with its own preconditioner, or those that stand for it."""
        plain = "DIC" if self.symmetric else "DILU"
        preconditioners = [None] if self.preconditioner else ["GAMG", plain] if self.multigrid else [plain]
        found = [Candidate(OWN, solvers.Choice())]
        for word in method_words(self.symmetric):
            for name in preconditioners:
                choice = solvers.Choice(word, name, everything=False)
                entries = {"solver": "capstan", **solvers.method_entries(word), **({"preconditioner": name} if name else {})}
                lines = " ".join(f"{key} {value}{'' if value.endswith('}') else ';'}" for key, value in entries.items())
                found.append(Candidate(choice.label(), choice,
                                       f"system/fvSolution, {'/'.join(self.entry)}: {lines}\n"
                                       + ("" if name else f"or: ./capstan enable {self.name} {word} --field {self.field}")))
        return found

    def prepare(self):
        slim = self.work / "case.own"
        copy_case(self.folder, slim)
        application = FoamText.read(slim / "system/controlDict").get("application")
        if not application:
            raise WrongUse(f"{self.folder}/system/controlDict: application: found nothing; allowed: the program that solves the case")
        workspace.check_installed([application, "decomposePar", "foamDictionary", "mpirun"], self.build)
        steps = []
        if not (slim / "0").is_dir() and (slim / "0.orig").is_dir():
            steps.append(["restore0"])
        if not (slim / "constant/polyMesh/points").is_file() and not (slim / "constant/polyMesh/points.gz").is_file():
            steps.append(["blockMesh"])
        self.case = Case(self.folder.name, slim, prepare=steps, application=[application], steps=self.steps, pressure=[self.field])
        self.env = workspace.environment(self.build, self.ranks)
        workspace.prepare(self.case, self.ranks, self.work / "prepared", self.env)

    def choose(self, report):
        choice = solvers.Choice(solvers.PLAIN, everything=False)
        workspace.start(self.case, self.work / "prepared", self.work / "run", choice, self.ranks, reporting(self.env, report), self.steps, 3600)
        return self.field

    def measure(self, candidate, latency, timeout):
        one = timing.Contest(self.case, self.steps, [candidate.choice], self.ranks, latency, counted=True)
        one.use(self.work / "prepared", self.work / "run", self.build)
        one.measure(0, candidate.choice, timeout)
        sample = one.samples[candidate.choice][0]
        if not sample["solves"]:
            raise WrongUse(f"'{self.field}' is not solved for in {self.steps} steps of {self.folder}; name another one with --field")
        each = sample["reductions_a_step"]
        return Sample(sample["seconds"], sample["iterations"], sample["unconverged"], None if each is None else each * self.steps,
                      sample["seconds_of_all_fields"])


def copy_case(folder, target):
    """The case without what earlier runs have left: parts of ranks, later times, results and logs. It begins at its first time."""
    times = sorted((path.name for path in folder.iterdir() if path.is_dir() and NUMBERED.fullmatch(path.name)), key=float)

    def left_out(where, names):
        if pathlib.Path(where) != folder:
            return []
        return [name for name in names if re.match(r"processor\d|postProcessing$|VTK$|log\.|dynamicCode$", name) or name in times[1:]]

    shutil.copytree(folder, target, ignore=left_out)
    workspace.edit_file(target / "system/controlDict", {"startFrom": "firstTime"})


class DeckSubject:
    """The systems of a deck, with one of its linear solvers: capstan-solve with another method."""

    def __init__(self, deck, options, work, build):
        self.deck, self.ranks, self.work, self.build = deck, options.ranks, work, build
        entries = yaml_text.read(deck)
        names = [str(entry.get("name")) for entry in (entries or {}).get("linear_solvers") or [] if isinstance(entry, dict)]
        if not names:
            raise WrongUse(f"{deck}: linear_solvers: found nothing; allowed: a list of solvers")
        if options.solver and options.solver not in names:
            raise not_allowed("--solver", options.solver, names)
        self.solver = options.solver or names[0]
        entry = entries["linear_solvers"][names.index(self.solver)]
        self.method = str(entry.get("method"))
        self.own = f"{self.method}+{entry.get('preconditioner') or 'none'}"
        self.name = options.subject
        self.what = f"{self.name}, {self.solver}: {self.own}"

    def candidates(self):
        found = [Candidate(OWN, [])]
        for word in method_words(True):
            method, _, degree = word.partition(":")
            if word != self.method:
                found.append(Candidate(word, [f"method={method}", *([f"parameters.Polynomial Degree={degree}"] if degree else [])],
                                       f"{self.name}, {self.solver}: method: {method}"
                                       + (f"; parameters: {{Polynomial Degree: {degree}}}" if degree else "")))
        return found

    def prepare(self):
        self.env = workspace.environment(self.build, self.ranks)

    def choose(self, report):
        self.run(["method=CAPSTAN"], 0.0, self.work / "solves.json", reporting(self.env, report), 3600)

    def measure(self, candidate, latency, timeout):
        report = self.work / "report.json"
        report.unlink(missing_ok=True)
        try:
            self.run(candidate.choice, latency, report, self.env, timeout)
        except RunFailed:
            if not report.is_file():
                raise
        solves = json.loads(report.read_text(encoding="utf-8"))["solves"]
        if not solves:
            raise WrongUse(f"{self.deck}: it has no systems to solve")
        seconds = sum(solve["seconds"]["solve"] for solve in solves)
        unconverged = sum(not solve["converged"] or solve["failure"] is not None for solve in solves)
        counted = [solve["reductions"] for solve in solves]  # none of a solve that has thrown
        return Sample(seconds, sum(solve["iterations"] for solve in solves), unconverged, None if None in counted else sum(counted), seconds)

    def run(self, changes, latency, report, env, timeout):
        variables = {} if not latency else {"LD_PRELOAD": str(self.build / "lib" / timing.LAYER), "CAPSTAN_LATENCY_US": f"{latency:g}",
                                            "CAPSTAN_LATENCY_WAIT": "yield"}
        words = ["mpirun", "-n", str(self.ranks), *(word for item in variables.items() for word in ("-x", "=".join(item))),
                 str(self.build / "bin/capstan-solve"), str(self.deck), "--quiet", "--solver", self.solver, "--report", str(report),
                 *(word for change in changes for word in ("--set", change))]
        workspace.execute(words, pathlib.Path.cwd(), env, self.work / "log", timeout)


def all_reduce_seconds(build, ranks, work):
    """What an all-reduce takes here, in seconds; None on one rank."""
    if ranks == 1:
        return None
    text = workspace.execute(["mpirun", "-n", str(ranks), str(build / "bin/ping_pong"), "--bytes", "8", "--iterations", "1000"], work,
                             workspace.environment(build, ranks), work / "log.ping_pong", 120)
    return json.loads(text[text.index("{"):])["all_reduce"]["seconds"]


def subject_of(path, options, work, build):
    """The case or the deck that a path names."""
    if path.is_dir():
        for part in ("system/controlDict", "system/fvSolution"):
            if not (path / part).is_file():
                raise WrongUse(f"'{path}' is no OpenFOAM case: it holds no {part}")
        if options.solver:
            raise WrongUse("--solver: found with an OpenFOAM case; allowed with a deck only")
        return FoamSubject(path, options, work, build)
    if not path.is_file():
        raise WrongUse(f"'{path}' is neither a folder nor a file; allowed: the folder of an OpenFOAM case, or a deck (a YAML file)")
    for name in ("field", "steps"):
        if getattr(options, name):
            raise WrongUse(f"--{name}: found with a deck; allowed with an OpenFOAM case only")
    return DeckSubject(path, options, work, build)
