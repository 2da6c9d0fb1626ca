"""What [enlarged-cg] says of its Example 2.1, and a fit of the machine that it does not describe in numbers."""

import csv
import dataclasses
import math
import pathlib

from models import equations, machines, prediction
from report import processes

ROWS, ENTRIES = 1310720, 104529920  # Example 2.1
RANKS, COLUMNS, RANKS_PER_NODE = (256, 512, 1024, 2048, 4096, 8192), (5, 10, 15, 20), 16
FILE = pathlib.Path(__file__).resolve().parent / "enlarged_cg_tables.csv"
# The unit of time of a fit to shares, which tell no times: an operation of the product takes a nanosecond.
UNIT = 1e-9


def shares():
    """(strategy, kind, ranks, columns): percent. strategy "tuned" is Table 4's."""
    lines = [line for line in FILE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {(row["strategy"], row["kind"], int(row["ranks"]), int(row["columns"])): float(row["percent"])
            for row in csv.DictReader(lines)}


def is_example(study):
    return study.rows == ROWS and study.entries == ENTRIES


@dataclasses.dataclass(frozen=True)
class Fit:
    machine: machines.Machine
    deviation: float  # root of the mean square, in percentage points
    worst: float
    standard: float  # likewise, of the measured shares of standard communication, which were not fitted
    narrow: float  # deviation of the best machine with one time for all operations and one latency, (3.1) and (3.3) as such


def _machine(values):
    """Of seven logarithms; of five where all operations and all latencies between nodes are alike."""
    latency, slope, injection, local_latency, local_slope, *more = (UNIT * math.exp(value) for value in values)
    dense, reduction = more or (None, None)
    return machines.Machine(
        "Blue Waters, fitted", "", "fit", ranks_per_node=RANKS_PER_NODE, flop_time=UNIT, dense_flop_time=dense,
        reduction_latency=reduction, on_node=[machines.Link(local_latency, 1 / local_slope)],
        network=[machines.Link(latency, 1 / slope, 1 / injection)])


def _modelled(machine, plans):
    found = []
    for plan in plans:
        exchange = prediction.exchange(machine, plan["plan"], RANKS_PER_NODE).paper
        found.append(equations.share(exchange, *prediction.rest(machine, ROWS, ENTRIES, plan["ranks"],
                                                                plan["plan"]["columns"])))
    return found


def fit(study, published=None):
    """The latencies and rates, in units of the time of an operation, with which (4.2) and (4.3) with this study's counts
    come nearest to the 48 modelled shares of Table 2: Levenberg's and Marquardt's least squares in logarithms, from a few
    starts. published: as shares() has them."""
    import numpy  # pylint: disable=import-outside-toplevel
    published = shares() if published is None else published
    wanted = {key: value for key, value in published.items() if key[1] == "modelled"}
    plans, target = [], []
    for line in study.lines:
        for plan in line["plans"]:
            key = (plan["strategy"], "modelled", line["ranks"], plan["columns"])
            if key in wanted:
                plans.append({"ranks": line["ranks"], "plan": plan})
                target.append(wanted[key])
    if not is_example(study) or len(target) != len(wanted) or study.ranks_per_node != RANKS_PER_NODE:
        raise processes.Misuse("--fit: the matrix, ranks, columns or ranks per node are not those of the paper's Table 2; "
                               f"allowed: Example 2.1, --ranks {','.join(map(str, RANKS))}, --columns with "
                               f"{','.join(map(str, COLUMNS))}, --ranks-per-node {RANKS_PER_NODE}")
    target = numpy.array(target)

    def residual(values):
        return numpy.array(_modelled(_machine(values), plans)) - target

    def improve(values):
        damping, found = 1.0, residual(values)
        for _ in range(200):
            slopes = numpy.array([(residual(values + 1e-4 * unit) - found) / 1e-4 for unit in numpy.eye(len(values))]).T
            while damping < 1e8:
                step = -numpy.linalg.solve(slopes.T @ slopes + damping * numpy.eye(len(values)), slopes.T @ found)
                step = numpy.clip(step, -1.5, 1.5)
                tried = residual(values + step)
                if tried @ tried < found @ found:
                    break
                damping *= 4
            else:
                break
            gain = 1 - (tried @ tried) / (found @ found)
            values, found, damping = values + step, tried, max(damping / 3, 1e-9)
            if gain < 1e-8:
                break
        return values, found

    starts = ((4e3, .5, .3, 500, .3, 5, 4e3), (2e4, .1, .05, 1e3, .05, 50, 2e4), (1e5, .5, 1, 1e4, 1, 20, 1e5),
              (1e4, 3, .3, 5e3, .1, 100, 1e3))
    def best(size):
        return min((improve(numpy.log(numpy.array(start[:size]))) for start in starts), key=lambda one: one[1] @ one[1])

    def mean(deviations):
        return float(numpy.sqrt(deviations @ deviations / len(deviations)))

    values, found = best(7)
    machine = dataclasses.replace(
        _machine(values), source="fitted to the modelled shares of [enlarged-cg], Table 2 (a) and (b), by ./capstan study "
        "--fit; shares tell no times, so that the unit is arbitrary and only ratios mean something")
    measured = numpy.array(against(machine, study, published, "standard", "measured"))
    return Fit(machine, mean(found), float(numpy.abs(found).max()), mean(measured), mean(best(5)[1]))


def against(machine, study, published, strategy, kind):
    """Modelled share less the published one, in points, wherever there is one."""
    plans = [{"ranks": line["ranks"], "plan": plan} for line in study.lines for plan in line["plans"]
             if plan["strategy"] == strategy and (strategy, kind, line["ranks"], plan["columns"]) in published]
    return [value - published[strategy, kind, plan["ranks"], plan["plan"]["columns"]]
            for value, plan in zip(_modelled(machine, plans), plans)]
