"""What a run left behind: the solves in its log, the seconds in its profile, its fields."""

import dataclasses
import math
import re

from .errors import RunFailed
from .foam_text import FoamText, lookup

SOLVE = re.compile(r"^(\S+):  Solving for ([\w.:]+), Initial residual = (\S+), Final residual = (\S+), No Iterations (\d+)")
REGION = re.compile(r"^Solving for (?:fluid|solid) region (\S+)")
LOOKUP = re.compile(r"^Lookup solver for (\S+)")
# What OpenFOAM prints besides, once it tells which entry of fvSolution a solve reads; nobody wants to read that.
NOISE = re.compile(r"^(Lookup |Find |Cache: |Field relaxation|Solution relaxation|--> FOAM Function.*solution)")
COMPONENT = re.compile(r"^(.+?)(x|y|z|xx|xy|xz|yy|yz|zz)$")
NUMBER = re.compile(r"[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?")


@dataclasses.dataclass
class Solve:
    region: str
    field: str
    solver: str
    initial: float
    final: float
    iterations: int
    # The name under which OpenFOAM looked the solver up, such as pFinal; "" where it did not say so.
    entry: str = ""
    converged: "bool | None" = None

    def name(self):
        """region/field, or the field alone."""
        return f"{self.region}/{self.field}" if self.region else self.field


def read_solves(log):
    """The solves of a log, in order."""
    region, entry, solves = "", "", []
    for line in log.splitlines():
        if line.startswith("Solving for ") and (found := REGION.match(line)):
            region = found[1]
        elif found := LOOKUP.match(line):
            entry = found[1]
        elif found := SOLVE.match(line):
            solver, field, initial, final, count = found.groups()
            solves.append(Solve(region, field, solver, to_number(initial), to_number(final), int(count), entry))
    return solves


def to_number(word):
    try:
        return float(word.rstrip(","))
    except ValueError:
        return math.nan


def judge(solves, controls):
    """Sets `converged` of each solve: OpenFOAM's test, with the tolerances of its entry. controls: {region: text of fvSolution
    with all macros expanded}."""
    tables = {region: FoamText(text, f"fvSolution of {region or 'the case'}") for region, text in controls.items()}
    for solve in solves:
        if not (math.isfinite(solve.initial) and math.isfinite(solve.final)):
            solve.converged = False
            continue
        # Finite areas have a file of their own.
        searched = [tables[key] for key in (solve.region, f"{solve.region}/faSolution", "", "/faSolution") if key in tables]
        found = (entry_limits(table, solve.entry or base_name(solve.field)) for table in searched)
        limits = next((one for one in found if one is not None), None)
        if limits is None:
            # OpenFOAM has found this entry; not to find it would judge nothing, silently.
            if solve.entry and searched:
                raise RunFailed(f"fvSolution of {solve.region or 'the case'} has no solver entry for '{solve.entry}'")
            solve.converged = solve.iterations < 1000
            continue
        tolerance, rel_tol, most = limits
        # The log's digits are rounded.
        met = solve.final <= max(tolerance, rel_tol * solve.initial) * (1 + 1e-4)
        solve.converged = met or (solve.iterations < most and solve.solver == "diagonal")


def entry_limits(table, name):
    """(tolerance, relTol, maxIter) of a solver entry, with OpenFOAM's defaults."""
    key = lookup(table.keys("solvers"), name) or lookup(table.keys("solvers"), base_name(name))
    if key is None:
        return None
    values = []
    for word, default in (("tolerance", 1e-6), ("relTol", 0.0), ("maxIter", 1000.0)):
        text = table.get(["solvers", key, word])
        number = to_number(text) if text else default
        values.append(default if math.isnan(number) else number)
    return tuple(values)


def base_name(field):
    """U for Ux, sigma for sigmaxx; fields that end in x by themselves are no matter here, as both runs are read alike."""
    found = COMPONENT.match(field)
    return found[1] if found else field


def is_one_of(field, names):
    """Whether a field, or the vector of which it is a component, is among the names."""
    return field in names or base_name(field) in names


def times(folder):
    """The written times of a folder, ascending."""
    names = [path.name for path in folder.iterdir() if path.is_dir() and NUMBER.fullmatch(path.name)]
    return sorted(names, key=float)


def last_times(folder, count):
    """The last `count` written times of a folder, or all that there are, ascending."""
    found = times(folder)[-count:]
    if not found:
        raise RunFailed(f"{folder} holds no written time")
    return found


def last_time(folder):
    return last_times(folder, 1)[0]


def rank_folders(case_folder, ranks):
    return [case_folder] if ranks == 1 else [case_folder / f"processor{rank}" for rank in range(ranks)]


def read_seconds(case_folder, ranks):
    """{field, or region/field: seconds in fvMatrix::solve}, the largest of the ranks; {} where the run wrote no profile."""
    result = {}
    for folder in rank_folders(case_folder, ranks):
        path = folder / last_time(folder) / "uniform/profiling"
        if not path.is_file():
            continue
        text = FoamText.read(path)
        own = {}
        for key in text.keys("profiling"):
            found = re.fullmatch(r'"f[va]Matrix::solve\w*\.(.+)"', text.get(["profiling", key, "description"]) or "")
            if found:
                name = found[1].replace("::", "/")
                own[name] = own.get(name, 0.0) + float(text.get(["profiling", key, "totalTime"]))
        for field, seconds in own.items():
            result[field] = max(result.get(field, 0.0), seconds)
    return result


def field_files(folder, time):
    """{name: path} of the volume fields of a written time, those of regions as region/name."""
    result = {}
    for path in sorted((folder / time).rglob("*")):
        name = path.relative_to(folder / time).as_posix()
        if path.is_file() and name.count("/") <= 1 and not name.startswith(("uniform/", "polyMesh/", "lagrangian/")):
            with path.open(encoding="utf-8", errors="replace") as file:
                head = file.read(2000)
            if re.search(r"\bclass\s+(vol|area)\w*Field\s*;", head):
                result[name] = path
    return result


def read_field(path):
    """(number of components, values in one list) of internalField. A uniform field has one cell."""
    text = path.read_text(encoding="utf-8", errors="replace")
    found = re.search(r"internalField\s+nonuniform\s+List<\w+>\s*(\d+)\s*\(", text)
    if found:
        end = text.find("\n)", found.end() - 1)
        single = end < 0 or int(found[1]) < 11
        if single:  # short lists stand in one line
            end = text.index(";", found.end())
        words = text[found.end():end].replace("(", " ").replace(")", " ").split()
        values, cells = [float(word) for word in words], int(found[1])
        if cells == 0:
            return 1, []
        if len(values) % cells or not values:
            raise RunFailed(f"{path}: {len(values)} values for {cells} cells")
        return len(values) // cells, values
    found = re.search(r"internalField\s+uniform\s+(\([^)]*\)|\S+?)\s*;", text)
    if not found:
        if re.search(r"internalField\s+nonuniform\s+(List<\w+>\s*)?0", text):
            return 1, []
        raise RunFailed(f"{path} holds no internalField that can be read")
    values = [float(word) for word in found[1].strip("()").split()]
    return len(values), values


def field_difference(ours, theirs, without_mean):
    """||ours - theirs||_2 / ||theirs||_2 over the cells of all ranks, ||ours||_2 where theirs are zero. ours, theirs: [(components,
    values)], one a rank. Infinite where one of them is not finite."""
    width = max(components for components, _ in theirs)
    rows_a, rows_b = [], []
    for (_, a), (_, b) in zip(ours, theirs):
        # One of them may be written as uniform.
        if len(a) != len(b) and min(len(a), len(b)) == width:
            a, b = (a * (len(b) // width), b) if len(a) < len(b) else (a, b * (len(a) // width))
        if len(a) != len(b):
            raise RunFailed(f"{len(a)} values against {len(b)}")
        rows_a += a
        rows_b += b
    if not all(map(math.isfinite, rows_a)) or not all(map(math.isfinite, rows_b)):
        return math.inf
    if without_mean:
        rows_a, rows_b = take_mean_off(rows_a, width), take_mean_off(rows_b, width)
    difference = math.sqrt(math.fsum((x - y) ** 2 for x, y in zip(rows_a, rows_b)))
    scale = math.sqrt(math.fsum(y * y for y in rows_b))
    return difference / scale if scale > 0 else difference


def take_mean_off(values, width):
    for component in range(width):
        part = values[component::width]
        mean = math.fsum(part) / max(1, len(part))
        values[component::width] = [value - mean for value in part]
    return values


def differences(ours, theirs, ranks, no_mean, count=1):
    """{field: relative difference} of two runs, the largest of their last `count` written times; only fields that both have."""
    folders = list(zip(rank_folders(ours, ranks), rank_folders(theirs, ranks)))
    found = last_times(folders[0][0], count), last_times(folders[0][1], count)
    result = {}
    for pair in zip(*found):
        if not math.isclose(float(pair[0]), float(pair[1]), rel_tol=1e-6, abs_tol=1e-12):
            raise RunFailed(f"the last times differ: {pair[0]} in {ours}, {pair[1]} in {theirs}")
        for name, value in differences_at(folders, pair, no_mean).items():
            result[name] = max(value, result.get(name, 0.0))
    if not result:
        raise RunFailed(f"{ours} and {theirs} have no written field in common")
    return result


def differences_at(folders, pair, no_mean):
    """{field: relative difference} at one time, which may have two names."""
    paths = [(field_files(a, pair[0]), field_files(b, pair[1])) for a, b in folders]
    result = {}
    for name in paths[0][0]:
        if all(name in a and name in b for a, b in paths):
            values = [read_field(a[name]) for a, _ in paths], [read_field(b[name]) for _, b in paths]
            result[name] = field_difference(*values, name.rpartition("/")[2] in no_mean)
    return result
