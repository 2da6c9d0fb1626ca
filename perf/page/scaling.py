"""Scaling over cells: rows, and pictures with lines of models and simulations."""

import math

from campaign import limits
from page.figures import LIBRARIES, WIDTH
from report import solvers

MARKS = {"model": "--", "simulation": "-", "claim": ":"}


def _fastest(cell, group, own):
    return solvers.fastest(one for one in cell["solvers"] if one["group"] == group and (one["library"] == "capstan") == own)


def rows_of(cells, group):
    """(ranks, ours, peer, limit of ours) in seconds; None where there is none."""
    rows = []
    for cell in cells:
        ours, peer = _fastest(cell, group, True), _fastest(cell, group, False)
        limit = limits.seconds(cell, ours) if ours else None
        rows.append((cell["ranks"], ours, peer, limit["seconds"] if limit else None))
    return rows


def model_points(cells, curve):
    """Points of a curve "model": the limit of a solver, spread over more ranks. Bytes are shared out among the nodes of
    `node_gb_s` with `ranks_per_node` ranks each; an all-reduce takes `hop_us` for each of log2(ranks) steps."""
    cell = cells[0]
    solver = next((one for one in cell["solvers"] if one["name"] == curve["solver"]), None)
    limit = limits.seconds(cell, solver) if solver else None
    if limit is None:
        return []
    model, points = curve["model"], []
    weak = cell["scaling"] == "weak"
    for power in range(int(math.log2(model.get("from", 1))), int(math.log2(model["to"])) + 1):
        ranks = 2 ** power
        bandwidth = 1e9 * model["node_gb_s"] * ranks / model["ranks_per_node"]
        bytes_moved = limit["bytes"] * (ranks / cell["ranks"] if weak else 1)
        wait = limit["reductions"] * 1e-6 * model["hop_us"] * power
        points.append([ranks, limits.together(solver["details"]["cost"], bytes_moved / bandwidth, wait)])
    return points


def curve_points(cells, curve):
    """[[ranks, seconds], ...] of a curve of the campaign; none where its solver has no result."""
    if "model" in curve:
        return model_points(cells, curve)
    if "iteration_us" not in curve:
        return curve["points"]
    solver = next((one for one in cells[0]["solvers"] if one["name"] == curve["solver"]), None)
    iterations = solver["summary"]["iterations"]["median"] if solver else None
    return [[ranks, 1e-6 * each * iterations] for ranks, each in curve["iteration_us"]] if iterations else []


def title_of(cells):
    """What the cells of a scaling have in common."""
    one = cells[0]
    words = [one["experiment"], f"{one['scaling']} scaling", one["transport"]]
    words += [one["preconditioner"]] if one["preconditioner"] != "none" else []
    words += [f"{one['latency_us']:g} us emulated"] if one["latency_us"] else []
    return ", ".join(words)


def draw(pyplot, cells, curves):
    """Time by ranks of the fastest of each kind, with the lines that the campaign gives for the experiment."""
    from matplotlib import ticker  # pylint: disable=import-outside-toplevel
    groups = list(dict.fromkeys(one["group"] for one in cells[0]["solvers"]))
    figure, all_axes = pyplot.subplots(1, len(groups), figsize=(WIDTH, 4.4), squeeze=False)
    for group, axes in zip(groups, all_axes[0]):
        rows = rows_of(cells, group)
        for index, label, color in ((1, "Capstan's fastest", LIBRARIES["capstan"]), (2, "fastest peer", "black")):
            points = [(row[0], row[index]["summary"]["seconds"]) for row in rows if row[index]]
            if points:
                middle = [seconds["median"] for _, seconds in points]
                ends = [[s["median"] - s["min"] for _, s in points], [s["max"] - s["median"] for _, s in points]]
                axes.errorbar([ranks for ranks, _ in points], middle, yerr=ends, marker="o", capsize=3, color=color, label=label)
        bounds = [(row[0], row[3]) for row in rows if row[3]]
        if bounds:
            axes.plot(*zip(*bounds), "_", color=LIBRARIES["capstan"], markersize=14, label="limit of Capstan's fastest")
        for curve in curves:
            points = curve_points(cells, curve)
            if curve.get("group") in (None, group) and points:
                axes.plot(*zip(*points), MARKS[curve.get("kind", "model")], marker="." if len(points) < 9 else "", alpha=0.8,
                          label=curve["label"])
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        ticks = sorted({row[0] for row in rows} | {2 ** k for k in range(0, 14, 2 if curves else 1)
                                                   if axes.get_xlim()[0] <= 2 ** k <= axes.get_xlim()[1]})
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.minorticks_off()
        axes.yaxis.set_major_locator(ticker.LogLocator(base=10, subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{1e3 * value:g}"))
        axes.set_title(f"{group}, {cells[0]['scaling']} scaling")
        axes.set_xlabel("ranks")
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncol=3)
    all_axes[0][0].set_ylabel("milliseconds of a solve")
    figure.tight_layout()
    return figure
