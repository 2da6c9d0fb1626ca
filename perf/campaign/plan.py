"""A campaign: reads its YAML, says what is wrong with it, and makes its cells.

A cell is one run of solvers_bench: one problem, one preconditioner, a number of ranks, one transport, one latency, and all
solvers that compete there. Its key is made of all that decides what is measured. A deck is a campaign, too: a cell for each
system and latency.
"""

import dataclasses
import hashlib
import itertools
import json
import pathlib
import re

from campaign.papers import NUMBERS
from report import machine, processes
from report.transports import TRANSPORTS

KEYS = {"title", "about", "base", "repeat", "seed", "pinning", "timeout", "kernels", "sets", "preconditioners", "experiments", "curves",
        "claims", "counts"}
EXPERIMENT = {"name", "problem", "sets", "petsc", "hypre", "ranks", "transport", "latency_us", "latency_later", "drift", "preconditioner", "scaling", "settings",
              "repeat", "right_hand_side", "histories", "targets", "timeout"}
TARGET = {"group", "at_most", "peer", "ours", "of", "ranks", "transport", "latency_us", "preconditioner", "tried"}
SET = {"common", "solvers"}
CURVE = {"experiment", "group", "label", "source", "kind", "points", "solver", "model", "iteration_us"}
CLAIM = {"what", "speedup", "where", "source", "experiments", "ours", "over", "differs", "simulated"}
COUNT = {"what", "experiment", "solver", "paper", "source"}
PINNING = ("core", "none")
SCALING = ("strong", "weak")
DIMENSIONS = {"laplace2d": 2, "laplace3d": 3}


def _methods(given):
    """Methods of a peer's library as solvers_bench takes them."""
    return ",".join(given) if isinstance(given, list) else given


class Wrong(processes.Misuse):
    """The campaign cannot be run as it stands."""


def _later(given, latency, where):
    """Words of solvers_bench for a latency that changes: {turn: N, us: U}."""
    if given is None:
        return ()
    if not isinstance(given, dict) or set(given) != {"turn", "us"} or not latency:
        raise Wrong(f"{where}.latency_later: found {given}; allowed: turn and us, with a latency_us above 0 to begin with")
    return ("--latency-later", f"{_number(given['turn'], f'{where}.latency_later.turn', 1)}:{_number(given['us'], f'{where}.latency_later.us', 0, float):g}")


def _drift(given, where):
    """Words of solvers_bench for a matrix whose entries grow by that part of them."""
    return () if given is None else ("--drift", f"{_number(given, f'{where}.drift', 0, float):g}")


@dataclasses.dataclass(frozen=True)
class Cell:
    """What is run at once, so that its times may be compared."""
    experiment: str
    key: str
    deck: str  # JSON, which is YAML
    ranks: int
    transport: str
    latency_us: float
    preconditioner: str
    scaling: str
    pinning: str
    repeat: int
    seed: int
    petsc: str  # "all", "off", or names of methods
    hypre: str
    timeout: int
    histories: bool
    words: tuple = ()  # more of solvers_bench's command line
    file: str = ""  # the deck where it is not generated: its path

    def title(self):
        """For people; tells the cells of an experiment apart."""
        latency = f", {self.latency_us:g} us emulated" if self.latency_us else ""
        preconditioner = f", {self.preconditioner}" if self.preconditioner != "none" else ""
        plural = "s" if self.ranks > 1 else ""
        return f"{self.experiment}{preconditioner}, {self.ranks} rank{plural}, {self.transport}{latency}"


def _known(block, allowed, where):
    if not isinstance(block, dict):
        raise Wrong(f"{where}: found {block!r}; allowed: keys and values")
    for key in block:
        if key not in allowed:
            raise Wrong(f"{where}: unknown key '{key}'; allowed: {', '.join(sorted(allowed))}")


def _list(value):
    return value if isinstance(value, list) else [value]


def _number(value, where, least, kind=int):
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and value >= least
    if not good or (kind is int and value != int(value)):
        raise Wrong(f"{where}: found {value!r}; allowed: a {'whole ' * (kind is int)}number from {least} on")
    return kind(value)


def _word(value, where, allowed):
    if value not in allowed:
        raise Wrong(f"{where}: found '{value}'; allowed: {', '.join(allowed)}")
    return value


def _load(text):
    """YAML as decks have it: 1e-6 is a number, which PyYAML, of YAML 1.1, takes for a word."""
    import yaml  # pylint: disable=import-outside-toplevel

    class Loader(yaml.SafeLoader):  # pylint: disable=too-many-ancestors
        """With exponents that need no dot."""

    number = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)[eE][-+]?\d+$")
    Loader.add_implicit_resolver("tag:yaml.org,2002:float", number, list("-+.0123456789"))
    try:
        return yaml.load(text, Loader)
    except yaml.YAMLError as error:
        raise Wrong(f"no YAML: {error}") from error


def _files(value, folder):
    """[path, bytes, time of change] of the files that a deck names, such as matrices: what is measured is decided by them, too."""
    if isinstance(value, (dict, list)):
        return [one for each in (value.values() if isinstance(value, dict) else value) for one in _files(each, folder)]
    if not isinstance(value, str) or not value or len(value) > 1000 or not (folder / value).is_file():
        return []
    status = (folder / value).stat()
    return [[value, status.st_size, status.st_mtime_ns]]


def _key(*decides, files=(), start=()):
    """Of a cell. start: words that start ranks otherwise than mpirun by itself does. Without these and files, as it was ever."""
    more = [{"files": list(files), "start": list(start)}] if files or start else []
    return hashlib.sha256(json.dumps([*decides, *more], sort_keys=True).encode()).hexdigest()[:12]


class Plan:
    """A campaign's YAML, checked. Raises Wrong."""

    def __init__(self, path, changes=None, words=(), start=()):
        """changes: what the command line puts in the place of every experiment's own, by key. words: of every cell. start: of
        mpirun, or those of another launcher; they are part of the keys."""
        self.name, self.start = pathlib.Path(path).stem, tuple(start)
        self.path, self.changes, self.words = pathlib.Path(path).resolve(), changes or {}, tuple(words)
        self.data = _load(self.path.read_text(encoding="utf-8"))
        _known(self.data, KEYS, self.name)
        base = _load((self.path.parent / self.data["base"]).read_text(encoding="utf-8")) if "base" in self.data else {}
        self.preconditioners = {"none": {"preconditioner": "none"}, **self.data.get("preconditioners", {})}
        self.sets = {**base.get("sets", {}), **self.data.get("sets", {})}
        for name, one in self.sets.items():
            _known(one, SET, f"sets.{name}")
        self.pinning = _word(self.data.get("pinning", "none"), "pinning", PINNING)
        self.experiments = self.data["experiments"] or []
        names = [one.get("name") for one in self.experiments]
        for index, one in enumerate(self.experiments):
            where = f"experiments[{index}]"
            _known(one, EXPERIMENT, where)
            for key in ("name", "problem", "sets"):
                if key not in one:
                    raise Wrong(f"{where}: '{key}' is missing")
            if names.count(one["name"]) > 1:
                raise Wrong(f"{where}: found the name '{one['name']}' more than once; allowed: a name of its own")
            for target in one.get("targets", []):
                _known(target, TARGET, f"{where}.targets")
                _number(target.get("at_most"), f"{where}.targets.at_most", 0, float)
                _word(target.get("of", "peer"), f"{where}.targets.of", ("peer", "limit"))
        for curve in self.data.get("curves", []):
            _known(curve, CURVE, "curves")
            _word(curve.get("experiment"), "curves.experiment", names)
            if sum(key in curve for key in ("points", "model", "iteration_us")) != 1:
                raise Wrong("curves: allowed: one of points, model and iteration_us")
        for claim in self.data.get("claims", []):
            _known(claim, CLAIM, "claims")
            measured = [key in claim for key in ("experiments", "ours", "over", "differs")]
            if any(measured) and not all(measured):
                raise Wrong("claims: allowed: experiments, ours, over and differs, or none of them")
            for name in claim.get("experiments", []):
                _word(name, "claims.experiments", names)
            _known(claim.get("simulated", {}), {"ours", "over", "source"}, "claims.simulated")
        for count in self.data.get("counts", []):
            _known(count, COUNT, "counts")
            _word(count.get("experiment"), "counts.experiment", names)
            _known(count.get("paper"), NUMBERS, "counts.paper")
        self.kernels = bool(self.data.get("kernels", False))

    def solvers(self, experiment, preconditioner):
        """The deck's linear_solvers; `vary` makes several of one entry."""
        entries = []
        for name in _list(experiment["sets"]):
            if name not in self.sets:
                raise Wrong(f"{experiment['name']}: no set '{name}'; allowed: {', '.join(self.sets)}")
            common = {**self.sets[name].get("common", {}), **experiment.get("settings", {})}
            for title, own in self.sets[name].get("solvers", {}).items():
                own = dict(own)
                varied = own.pop("vary", {})
                for values in itertools.product(*(_list(each) for each in varied.values())):
                    entry = {"name": ", ".join([title, *(f"{key} {value}" for key, value in zip(varied, values))]),
                             **common, **own, **preconditioner}
                    if varied:
                        entry["parameters"] = {**own.get("parameters", {}), **dict(zip(varied, values))}
                    entries.append(entry)
        if not entries:
            raise Wrong(f"{experiment['name']}: no solvers")
        return entries

    def _system(self, experiment, ranks, scaling):
        problem = json.loads(json.dumps(experiment["problem"]))
        generate = problem.get("generate")
        if scaling == "weak":
            if not generate or generate.get("problem") not in DIMENSIONS:
                raise Wrong(f"{experiment['name']}: scaling weak: allowed with generate: {', '.join(DIMENSIONS)}")
            cells = generate["cells"]
            cells = cells if isinstance(cells, list) else [cells] * DIMENSIONS[generate["problem"]]
            generate["cells"] = [*cells[:-1], cells[-1] * ranks]
        for key in ("matrix", "rhs"):  # files of a deck are found from the deck, and ours is elsewhere
            if isinstance(problem.get(key), str) and (self.path.parent / problem[key]).is_file():
                problem[key] = str(self.path.parent / problem[key])
        return {"name": experiment["name"], **problem, "solvers": "all"}

    def _cell(self, experiment, preconditioner, ranks, transport, latency):
        where = experiment["name"]
        if preconditioner not in self.preconditioners:
            raise Wrong(f"{where}: no preconditioner '{preconditioner}'; allowed: {', '.join(self.preconditioners)}")
        scaling = _word(experiment.get("scaling", "strong"), f"{where}.scaling", SCALING)
        deck = {"systems": [self._system(experiment, _number(ranks, f"{where}.ranks", 1), scaling)],
                "linear_solvers": self.solvers(experiment, self.preconditioners[preconditioner])}
        right = _word(experiment.get("right_hand_side", "fixed"), f"{where}.right_hand_side", ("fixed", "changing"))
        deck["campaign"] = {"right_hand_side": right}
        words = (*self.words, *_later(experiment.get("latency_later"), latency, where), *_drift(experiment.get("drift"), where))
        petsc, hypre = (_methods(experiment.get(library, "off")) for library in ("petsc", "hypre"))
        decides = {
            "deck": json.dumps(deck), "ranks": ranks,
            "transport": _word(transport, f"{where}.transport", list(TRANSPORTS)),
            "latency_us": _number(latency, f"{where}.latency_us", 0, float), "preconditioner": preconditioner,
            "scaling": scaling, "pinning": self.pinning,
            "repeat": _number(experiment.get("repeat", self.data.get("repeat", 7)), f"{where}.repeat", 1),
            "seed": _number(self.data.get("seed", 1), "seed", 0),
            "petsc": petsc, **({"hypre": hypre} if hypre != "off" else {}), **({"words": words} if words else {}),
            "histories": bool(experiment.get("histories", False))}
        key = _key(where, decides, files=_files(deck, self.path.parent), start=self.start)
        timeout = _number(experiment.get("timeout", self.data.get("timeout", 1800)), f"{where}.timeout", 1)
        return Cell(experiment=where, key=key, timeout=timeout, **{"hypre": hypre, **decides})

    def cells(self):
        """All cells, in the order of the file: experiment, preconditioner, ranks, transport, latency."""
        made = []
        for experiment in self.experiments:
            experiment = {**experiment, **self.changes}
            if "latency_us" in self.changes:  # the user's own from the first turn to the last
                experiment.pop("latency_later", None)
            axes = [_list(experiment.get(key, standard)) for key, standard in
                    (("preconditioner", "none"), ("ranks", machine.cores()), ("transport", "default"), ("latency_us", 0))]
            made += [self._cell(experiment, *values) for values in itertools.product(*axes)]
        return made

    def described(self):
        """What a report must know beside the cells."""
        keys = ("name", "targets", "scaling", "problem")
        return {"kind": "campaign", "name": self.name, "title": self.data.get("title", self.name),
                "about": self.data.get("about", ""), "curves": self.data.get("curves", []), **{key: self.data.get(key, []) for key in ("claims", "counts")},
                "keys": [c.key for c in self.cells()],
                "experiments": [{key: one[key] for key in keys if key in one} for one in self.experiments]}


class DeckPlan:
    """A deck whose solvers are compared: a cell for each system and latency. asked: what `solvers_bench --check` says of it."""

    kernels = False

    def __init__(self, path, asked, changes, words, start=()):
        self.name, self.path, self.asked, self.changes, self.words = path.stem, path, asked, changes, tuple(words)
        self.start = tuple(start)

    def cells(self):
        changes, text = self.changes, self.path.read_text(encoding="utf-8")
        decides = {"repeat": changes.get("repeat") or self.asked["repeat"] or 7,
                   "seed": changes.get("seed", 1), "petsc": changes.get("petsc", "all"), "hypre": changes.get("hypre", "all")}
        made, named = [], _files(re.findall(r"[^\s'\"\[\]{},:]+", text), self.path.parent)
        axes = (self.asked["systems"], _list(changes.get("ranks", machine.cores())),
                _list(changes.get("latency_us", sorted(set(self.asked["latency"] or [0])))))
        for system, ranks, latency in itertools.product(*axes):
            words = (*self.words, "--system", system)
            key = _key(text, words, ranks, latency, decides, files=named, start=self.start)
            made.append(Cell(experiment=system, key=key, deck=text, file=str(self.path), ranks=ranks, transport="default",
                             latency_us=float(latency), preconditioner="none", scaling="strong", pinning="none",
                             timeout=changes.get("timeout", 7200), histories=False, words=words, **decides))
        return made

    def described(self):
        return {"kind": "campaign", "name": self.name, "title": self.name, "about": "", "curves": [], "claims": [], "counts": [],
                "keys": [cell.key for cell in self.cells()], "experiments": [{"name": name} for name in self.asked["systems"]]}


class NoPlan(DeckPlan):
    """Kernels alone."""

    kernels = True

    def __init__(self):
        super().__init__(pathlib.Path("kernels"), {"systems": []}, {}, ())

    def cells(self):
        return []
