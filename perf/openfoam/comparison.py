"""What `./capstan bench openfoam` compares: cases, solvers, and what their runs took."""

import dataclasses
import pathlib

from report import columns, statistics
from tutorials import case as case_file
from tutorials import solvers, timing, workspace, yaml_text
from tutorials.errors import WrongUse, not_allowed

CASES = workspace.ROOT / "app-inputs/openfoam"
KEYS = ("case", "steps", "edits", "compare", "coarsest_cells")


@dataclasses.dataclass
class Entry:
    """A case of the list and the solvers that are compared there: the first of each line is what the others stand against."""
    case: case_file.Case
    steps: int
    lines: "list[list[solvers.Choice]]"
    # Whether the all-reduces of whole runs are counted, OpenFOAM's own among them.
    counted: bool = False

    def choices(self):
        return list(dict.fromkeys(choice for line in self.lines for choice in line))


def read_choice(word, case, where, coarsest_cells=None):
    name, _, preconditioner = word.partition("+")
    solver, _, coarsest = name.partition("/")
    choice = solvers.Choice(solver, preconditioner or None, everything=False, coarsest=coarsest or None,
                            coarsest_cells=coarsest_cells)
    try:
        solvers.check_choice(choice, case)
    except WrongUse as error:
        raise WrongUse(f"{where}: compare: {error}") from None
    return choice


def read_case(mapping, path):
    """The case of an entry: one of app-inputs/openfoam by its name, or described as there, by `tutorial` and other keys."""
    tutorials = workspace.tutorials_folder()
    if isinstance(mapping, yaml_text.Mapping) and "tutorial" in mapping:
        name = pathlib.PurePath(str(mapping["tutorial"])).name
        return case_file.make_case(mapping.without(("compare", "coarsest_cells")), path, tutorials, name)
    checker = case_file.Checker(mapping, path, KEYS)
    name = checker.text("case")
    known = sorted(found.parent.name for found in CASES.glob("*/case.yaml"))
    if name not in known:
        raise not_allowed(f"{checker.where('case')}: case", name, known)
    return case_file.read_case(CASES / name / "case.yaml", tutorials)


def read_cases(path, only=None, steps=None):
    """The entries of a list. only: names of cases; steps: in place of the list's."""
    entries = []
    for mapping in case_file.read_list(path, "cases"):
        case = read_case(mapping, path)
        if case.name in [entry.case.name for entry in entries]:
            raise WrongUse(f"{path}: two entries are of {case.name}: they would run in the same folder")
        checker = case_file.Checker(mapping, path, (*KEYS, *case_file.KEYS))
        for file, changes in case_file.read_edits(checker).items():
            case.edits.setdefault(file, {}).update(changes)
        found = mapping.get("compare")
        if not isinstance(found, list) or not all(isinstance(line, list) and len(line) > 1 for line in found):
            checker.fail("compare", "a list of lists of two solvers or more")
        cells = checker.whole("coarsest_cells", 0)
        lines = [[read_choice(word, case, checker.where("compare"), cells or None) for word in line] for line in found]
        if cells and not all(choice.has_multigrid() for line in lines for choice in line):
            checker.fail("coarsest_cells", "nothing where solvers without GAMG are compared")
        entries.append(Entry(case, steps or checker.whole("steps", case.steps), lines, counted=cells > 0))
    unknown = [name for name in only or [] if name not in [entry.case.name for entry in entries]]
    if unknown:
        raise not_allowed("--only", unknown[0], [entry.case.name for entry in entries])
    return [entry for entry in entries if only is None or entry.case.name in only]


def settings(entries, ranks, latencies):
    """Every case with every number of ranks and latency that go together."""
    found = [Setting(entry, count, latency) for entry in entries for count in ranks for latency in latencies
             if (count > 1 or not latency) and not (entry.case.ranks and count > entry.case.ranks)]
    if not found:
        raise WrongUse("nothing to measure: an emulated latency needs two ranks or more (--ranks)")
    return found


class Setting(timing.Contest):
    """An entry of the list on so many ranks, under a latency: its solvers and their samples."""

    def __init__(self, entry, ranks, latency):
        super().__init__(entry.case, entry.steps, entry.choices(), ranks, latency, entry.counted)
        self.entry = entry

    def name(self):
        emulated = f", {self.latency:g} us emulated" if self.latency else ""
        return f"{self.entry.case.name}, {self.ranks} rank(s){emulated}"

    def prepare(self, folder, build):
        own = folder / f"{self.entry.case.name}.{self.ranks}.{self.latency:g}"
        workspace.fresh_folder(own)
        self.use(own / "prepared", own / "case", build)
        workspace.prepare(self.entry.case, self.ranks, own / "prepared", self.env)

    def row(self, choice, against):
        sample, unconverged = timing.shown(self.samples[choice], "seconds")
        taken = statistics.spread(list(self.seconds(choice).values()))
        ratio = statistics.spread(statistics.paired_ratios(self.seconds(choice), self.seconds(against)))
        each = sample["reductions_a_step" if self.counted else "reductions_an_iteration"]
        return ["  " + choice.label(), str(sample["solves"]), str(sample["iterations"]), str(unconverged),
                "-" if each is None else f"{each:.2f}", f"{taken['median']:.3f} [{taken['min']:.3f}..{taken['max']:.3f}]",
                "1" if choice == against else f"{ratio['median']:.2f} [{ratio['min']:.2f}..{ratio['max']:.2f}]"]

    def lines(self):
        if not all(self.samples.values()):
            return [f"{self.name()}: not measured yet"]
        rows = [self.row(choice, line[0]) for line in self.entry.lines for choice in line]
        head = [f"{self.name()}, {self.entry.steps} steps", "solves", "iterations", "unconverged",
                "all-reduces a step" if self.counted else "all-reduces", "seconds", "ratio"]
        return columns.aligned(head, rows)

    def as_data(self):
        return {"case": self.entry.case.name, "ranks": self.ranks, "emulated_latency_us": self.latency,
                "steps": self.entry.steps, "lines": [[choice.label() for choice in line] for line in self.entry.lines],
                "samples": {choice.label(): found for choice, found in self.samples.items()}}
