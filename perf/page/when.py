"""Which method when: the fastest of Capstan's methods over the latency of an all-reduce, the cost of M and the iterations.

A model: the counts of a measured cell (cost data, and what its solves took beyond them), its bandwidth and its product's
time, at latencies, costs of M and numbers of iterations that were not measured. What it says of the cells that were measured
stands beside what was found there.
"""

import statistics

from campaign import limits
from page.figures import WIDTH
from report import solvers

STEPS = 90
LATENCIES = (0.5, 1000.0)  # microseconds
COSTS = (0.1, 100.0)  # of M, in products with A
ITERATIONS = (10, 50, 200)
COLORS = {"CAPSTAN GMRES": "#9ecae1", "CAPSTAN GMRES S-STEP": "#e07b00", "CAPSTAN GMRES PIPELINE": "#41ab5d",
          "CAPSTAN GMRES S-STEP PIPELINE": "#b3261e", "CAPSTAN CG": "#9ecae1", "CAPSTAN CG PIPELINE": "#41ab5d"}
OTHER = "#7d55a8"


def base_cell(cells, group):
    """The cell with most methods of a group, the least latency, and no preconditioner; None where fewer than two are there."""
    able = [(len(members(cell, group)), -cell["latency_us"], cell["ranks"], cell) for cell in cells
            if cell["status"] == "done" and cell["preconditioner"] == "none"]
    best = max(able, key=lambda entry: entry[:3], default=None)
    return best[3] if best and best[0] > 1 else None


def members(cell, group):
    """Capstan's solvers of the group that solved and tell their cost."""
    return [one for one in cell["solvers"] if one["library"] == "capstan" and one["group"] == group and one["summary"]["solved"]
            and (one.get("details") or {}).get("cost")]


def _mean(solver, name):
    return statistics.mean(sample[name] for sample in solver["samples"])


class Model:
    """Seconds of a solver's solve, as the cell's counts make them."""

    def __init__(self, cell, solver):
        self.cost, rows = solver["details"]["cost"], cell["rows"]
        rate, _ = limits.bandwidth(cell, self.cost)
        done = _mean(solver, "iterations")
        self.product = limits.product_bytes(rows, cell["entries"]) / rate
        self.vectors = self.cost["bytes_of_a_row"] * rows / rate
        self.more_products = max(0.0, _mean(solver, "operator_applications") - done * self.cost["operators"])
        blocking = _mean(solver, "reductions_blocking")
        # Those of start, restarts and end are waited for; an iteration's are not where they are hidden.
        self.waited = blocking if self.cost["hidden"] else max(0.0, blocking - done * self.cost["reductions"])

    def seconds(self, latency, cost_of_m, iterations):
        """latency in seconds; cost_of_m in products."""
        work = (self.cost["operators"] + self.cost["preconditioners"] * cost_of_m) * self.product + self.vectors
        wait = self.cost["reductions"] * latency
        each = max(work, wait / max(1, self.cost["pipeline_depth"])) if self.cost["hidden"] else work + wait
        return iterations * each + self.more_products * (1 + cost_of_m) * self.product + self.waited * latency


def method(solver):
    return solver["details"]["solver"]


def _between(ends, share):
    return ends[0] * (ends[1] / ends[0]) ** share


def winners(cell, group, iterations, steps=STEPS):
    """[[method, ...] by latency] by cost of M."""
    models = [(method(one), Model(cell, one)) for one in members(cell, group)]
    grid = []
    for row in range(steps):
        cost = _between(COSTS, row / (steps - 1))
        grid.append([min(models, key=lambda pair: pair[1].seconds(1e-6 * _between(LATENCIES, column / (steps - 1)),  # pylint: disable=cell-var-from-loop
                                                                  cost, iterations))[0] for column in range(steps)])
    return grid


def checked(cell, cells, group):
    """Rows for a table: what the model says and what was found in cells that differ from `cell` in latency only."""
    keys = ("experiment", "preconditioner", "ranks", "transport")
    rows = []
    models = [(method(one), one["name"], Model(cell, one)) for one in members(cell, group)]
    for other in cells:
        if other["status"] != "done" or any(other[key] != cell[key] for key in keys) or not members(other, group):
            continue
        found = min(members(other, group), key=solvers.median)
        latency = limits.machine(other["reference"])["all_reduce"]
        said = min(models, key=lambda entry: entry[2].seconds(latency, 0.0, _mean(found, "iterations")))  # pylint: disable=cell-var-from-loop
        rows.append([f"{1e6 * latency:.1f} us", said[0], method(found), "agree" if said[0] == method(found) else "differ"])
    return rows


def figure(pyplot, cell, group):
    """Three maps, for few and many iterations."""
    names = list(dict.fromkeys(method(one) for one in members(cell, group)))
    colors = [COLORS.get(name, OTHER) for name in names]
    from matplotlib.colors import ListedColormap  # pylint: disable=import-outside-toplevel
    made, all_axes = pyplot.subplots(1, len(ITERATIONS), figsize=(WIDTH, 3.7), sharey=True)
    for iterations, axes in zip(ITERATIONS, all_axes):
        grid = [[names.index(name) for name in row] for row in winners(cell, group, iterations)]
        edges = [[_between(ends, k / STEPS) for k in range(STEPS + 1)] for ends in (LATENCIES, COSTS)]
        axes.pcolormesh(*edges, grid, cmap=ListedColormap(colors), vmin=-0.5, vmax=len(names) - 0.5)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_title(f"{iterations} iterations")
        axes.set_xlabel("latency of an all-reduce, us")
    all_axes[0].set_ylabel("cost of M, in products with A")
    made.tight_layout()
    made.legend([pyplot.Rectangle((0, 0), 1, 1, color=color) for color in colors], names, loc="upper center",
                bbox_to_anchor=(0.5, 0.0), ncol=len(names), fontsize=9)
    return made
