"""The solves of a run, of any of the files that tell them: capstanReport.csv of OpenFOAM, a report (JSON), a history (CSV); and
the runs that `./capstan advise` has compared."""

import csv
import dataclasses
import json

import choices

# From best to worst, by the first word.
OUTCOMES = ("converged", "at rounding level", "fell back", "unconverged", "returned the guess")
PHASES = ("operator", "preconditioner", "vectors", "reductions", "set-up", "rest")

REPORT_COLUMNS = ["time", "region", "field", "component", "solver", "preconditioner", "solves", "unconverged", "iterations",
                  "reductions", "checks", "operator_applications", "preconditioner_applications", "setups", "seconds_operator",
                  "seconds_preconditioner", "seconds_reductions", "seconds_setup", "seconds_total", "initial_residual",
                  "final_residual", "outcome"]
HISTORY_COLUMNS = (["solve", "system", "step", "solver", "iteration", "column", "residual"],
                   ["solve", "solver", "label", "iteration", "column", "residual"])
ADVICE_COLUMNS = ["latency_us", "solver", "turn", "seconds", "iterations", "all_reduces", "unconverged"]
EXPECTED = ("capstanReport.csv of OpenFOAM, a report (JSON) or a history (CSV) of capstan-solve or of \"Report File\", \"History File\", "
            "advice.csv of capstan advise")


class FileError(Exception):
    """A file that cannot be drawn; the message begins with what is wrong with it."""


@dataclasses.dataclass
class Point:
    """What one field took in one time step, or one solve. None: not known."""
    x: float
    iterations: int
    solves: int = 1
    reductions: int = None   # of the Krylov method
    checks: int = None       # for the application's own residual
    seconds: dict = dataclasses.field(default_factory=dict)  # by phase
    outcome: str = "converged"

    def add(self, other):
        """Other solves of the same step."""
        def both(mine, yours):
            return None if mine is None or yours is None else mine + yours
        self.iterations += other.iterations
        self.solves += other.solves
        self.reductions = both(self.reductions, other.reductions)
        self.checks = both(self.checks, other.checks)
        for phase, seconds in other.seconds.items():
            self.seconds[phase] = self.seconds.get(phase, 0) + seconds
        if severity(other.outcome) > severity(self.outcome):
            self.outcome = other.outcome


@dataclasses.dataclass
class Run:
    """Points of each field in order of appearance, or residuals of each solve."""
    axis: str
    fields: dict = dataclasses.field(default_factory=dict)     # name: [Point]
    histories: dict = dataclasses.field(default_factory=dict)  # name: {solve: [(iteration, residual)]}
    choices: dict = dataclasses.field(default_factory=dict)    # name: [choices.Chosen], where CAPSTAN has chosen
    contests: dict = dataclasses.field(default_factory=dict)   # latency in microseconds: {solver: [seconds]}

    def add(self, name, point):
        points = self.fields.setdefault(name, [])
        if points and points[-1].x == point.x:
            points[-1].add(point)
        else:
            points.append(point)


def severity(outcome):
    return next(i for i, name in enumerate(OUTCOMES) if outcome.startswith(name))


def _number(path, line, column, text, kind):
    """A cell; None where it is empty."""
    if text == "":
        return None
    try:
        return kind(text)
    except ValueError:
        words = {int: "a whole number", float: "a number"}[kind]
        raise FileError(f"{path}, line {line}, column {column}: found '{text}'; allowed: {words}") from None


def _rows(path, text, columns):
    """(number of the line, {column: text}) of each row; a last line that is still being written is left out."""
    if not text.endswith("\n"):
        text = text[:text.rfind("\n") + 1]
    reader = csv.reader(text.splitlines())
    next(reader)
    for cells in reader:
        if len(cells) != len(columns):
            raise FileError(f"{path}, line {reader.line_num}: found {len(cells)} cells; allowed: {len(columns)}, as the first line has")
        yield reader.line_num, dict(zip(columns, cells))


def _openfoam(path, text):
    run = Run("time")
    for line, row in _rows(path, text, REPORT_COLUMNS):
        def cell(column, kind, line=line, row=row, needed=True):
            value = _number(path, line, column, row[column], kind)
            if value is None and needed:
                raise FileError(f"{path}, line {line}, column {column}: found nothing; allowed: a number")
            return value
        if not row["outcome"].startswith(OUTCOMES):
            raise FileError(f"{path}, line {line}, column outcome: found '{row['outcome']}'; allowed: {', '.join(OUTCOMES)}")
        parts = {phase: cell("seconds_" + name, float, needed=False)
                 for phase, name in (("operator", "operator"), ("preconditioner", "preconditioner"),
                                     ("reductions", "reductions"), ("set-up", "setup"))}
        seconds = {phase: value for phase, value in parts.items() if value is not None}
        seconds["rest"] = max(0.0, cell("seconds_total", float) - sum(seconds.values()))
        region = "" if row["region"] in ("region0", "-") else row["region"] + "/"
        run.add(region + row["field"] + row["component"].strip("-"),
                Point(cell("time", float), cell("iterations", int), cell("solves", int), cell("reductions", int, needed=False),
                      cell("checks", int), seconds, row["outcome"]))
    return run


def _outcome(converged, report):
    """Of a solve that a report tells."""
    if any(event["kind"] == "fallback" for event in report.get("events", ())) and converged:
        return "fell back to CAPSTAN GMRES"
    if converged:
        return "converged"
    return "at rounding level" if report.get("reason") == "attainable accuracy" else "unconverged"


def _solve(number, solve):
    """(name, point) of a solve in a report, of capstan-solve or of "Report File"."""
    own = solve.get("capstan", solve) or {}  # null: a solver that is none of Capstan's
    seconds = solve["seconds"]
    phases = {}
    if own:
        spent = own["seconds"]
        phases = {"operator": spent["operator"], "preconditioner": spent["preconditioner"], "vectors": spent["orthogonalization"],
                  "reductions": spent["reduction_wait"], "rest": spent["rest"]}
        reductions = sum(own["reductions"].values())
    else:
        phases["rest"] = seconds["solve"]
        reductions = None
    if "preconditioner_setup" in seconds:
        phases["set-up"] = seconds["preconditioner_setup"]
    name = solve.get("system") if "capstan" in solve else solve["label"] or solve["solver"]
    if "capstan" in solve:
        name = f"{name}, {solve['solver']}"
    return name, Point(number, int(solve["iterations"]), 1, reductions, None, phases, _outcome(solve["converged"], own))


def _report(path, text):
    try:
        whole = json.loads(text)
        solves = whole["solves"] if isinstance(whole, dict) else whole
        run = Run("solve")
        for number, solve in enumerate(solves, start=1):
            name, point = _solve(number, solve)
            run.add(name, point)
            chosen = choices.of_solve(number, solve.get("capstan", solve) or {}, sum(point.seconds.values()))
            if chosen:
                run.choices.setdefault(name, []).append(chosen)
    except json.JSONDecodeError as error:
        raise FileError(f"{path}, line {error.lineno}: this is no JSON: {error.msg}") from None
    except (KeyError, TypeError, AttributeError) as error:
        raise FileError(f"{path}: this is no report of a solve ({type(error).__name__}: {error}); allowed: {EXPECTED}") from None
    return run


def _history(path, text, columns):
    run = Run("iteration")
    owner = "label" if "label" in columns else "system"
    for line, row in _rows(path, text, columns):
        values = {name: _number(path, line, name, row[name], float if name == "residual" else int)
                  for name in ("solve", "iteration", "column", "residual")}
        if None in values.values():
            raise FileError(f"{path}, line {line}: found an empty cell; allowed: numbers for solve, iteration, column and residual")
        name = ", ".join(filter(None, (row[owner], row["solver"])))
        if values["column"] > 0:
            name += f", column {values['column']}"
        run.histories.setdefault(name, {}).setdefault(values["solve"], []).append((values["iteration"], values["residual"]))
    return run


def _advice(path, text):
    run = Run("seconds")
    for line, row in _rows(path, text, ADVICE_COLUMNS):
        latency, seconds = (_number(path, line, name, row[name], float) for name in ("latency_us", "seconds"))
        if latency is None or seconds is None:
            raise FileError(f"{path}, line {line}: found an empty cell; allowed: numbers for latency_us and seconds")
        run.contests.setdefault(latency, {}).setdefault(row["solver"], []).append(seconds)
    return run


def is_trace(path):
    """Whether it is a trace, for traces.py. False where it cannot be read."""
    try:
        with path.open(encoding="utf-8") as file:
            return '"traceEvents"' in file.read(4096)
    except (OSError, UnicodeDecodeError):
        return False


def read(path):
    """The Run that a file tells. Raises FileError where it tells none."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise FileError(f"{path}: it cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise FileError(f"{path}: this is no text; allowed: {EXPECTED}") from None
    if not text.strip():
        raise FileError(f"{path}: it is empty; allowed: {EXPECTED}")
    head = text.split("\n", 1)[0].strip().split(",")
    if text.lstrip()[0] in "[{":
        run = _report(path, text)
    elif head == REPORT_COLUMNS:
        run = _openfoam(path, text)
    elif head in HISTORY_COLUMNS:
        run = _history(path, text, head)
    elif head == ADVICE_COLUMNS:
        run = _advice(path, text)
    else:
        raise FileError(f"{path}: found a first line of the columns {', '.join(head[:8])}{', ...' if len(head) > 8 else ''}; "
                        f"allowed: {EXPECTED}")
    if not run.fields and not run.histories and not run.contests:
        raise FileError(f"{path}: it holds no solve: no field was solved by Capstan, or the run has not come so far")
    return run
