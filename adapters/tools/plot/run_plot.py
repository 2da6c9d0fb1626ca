"""The picture of a run: iterations, all-reduces, seconds by phase and outcomes of each field; or residual histories; or the
seconds of solvers that were compared."""

import statistics

import matplotlib
from matplotlib import pyplot

import choices
from run_files import OUTCOMES, PHASES, severity

matplotlib.use("Agg")  # files only

PHASE_COLORS = {"operator": "tab:blue", "preconditioner": "tab:orange", "vectors": "tab:green", "reductions": "tab:red",
                "set-up": "tab:purple", "rest": "tab:gray"}
# A good outcome has no mark.
MARKS = {"at rounding level": ("o", "tab:blue"), "fell back": ("^", "tab:orange"), "unconverged": ("x", "tab:red"),
         "returned the guess": ("X", "black")}
MOST_PANELS = 12
# More points than pixels: neighbours are drawn as one.
MOST_POINTS = 1000


def iterations(points):
    """Of one solve, the mean of each step."""
    return [point.iterations / point.solves for point in points]


def reductions(points, with_checks=False):
    """All-reduces an iteration; NaN where they were not counted, or there was no iteration."""
    values = []
    for point in points:
        known = point.iterations > 0 and point.reductions is not None and (not with_checks or point.checks is not None)
        all_of_them = (point.reductions + (point.checks if with_checks else 0)) if known else float("nan")
        values.append(all_of_them / point.iterations if known else float("nan"))
    return values


def stack(points):
    """{phase: seconds of each point}, of the phases that took any."""
    values = {phase: [point.seconds.get(phase, 0.0) for point in points] for phase in PHASES}
    return {phase: seconds for phase, seconds in values.items() if any(seconds)}


def marked(points):
    """{outcome: [(x, iterations)]} of the points that did not just converge."""
    found = {}
    for point, height in zip(points, iterations(points)):
        outcome = OUTCOMES[severity(point.outcome)]
        if outcome in MARKS:
            found.setdefault(outcome, []).append((point.x, height))
    return found


def condensed(points, most=MOST_POINTS):
    """As many points or fewer: neighbours added up, at the place of the last of them."""
    size = -(-len(points) // most)
    if size == 1:
        return points
    result = []
    for start in range(0, len(points), size):
        group = points[start:start + size]
        whole = type(group[0])(group[-1].x, 0, 0, 0, 0)
        for point in group:
            whole.add(point)
        if group[0].checks is None:
            whole.checks = None
        result.append(whole)
    return result


def dearest(fields):
    """The names of the fields that took the most seconds, in their own order, as many as have room."""
    def seconds(name):
        return sum(sum(point.seconds.values()) for point in fields[name])
    kept = set(sorted(fields, key=seconds, reverse=True)[:MOST_PANELS])
    return [name for name in fields if name in kept]


def _lines(axes, fields, values, **style):
    for number, (name, points) in enumerate(fields.items()):
        alone = "o" if len(points) == 1 else None
        axes.plot([point.x for point in points], values(points), color=f"C{number % 10}", marker=alone, linewidth=1.2, **style)


def _draw_iterations(axes, fields):
    axes.set_ylabel("iterations a solve")
    _lines(axes, fields, iterations)
    for number, name in enumerate(fields):
        axes.plot([], [], color=f"C{number % 10}", label=name)
    said = set()
    for points in fields.values():
        for outcome, places in marked(points).items():
            shape, color = MARKS[outcome]
            label = None if outcome in said else outcome
            said.add(outcome)
            axes.plot(*zip(*places), linestyle="none", marker=shape, color=color, markersize=6, label=label, zorder=3)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize="small", frameon=False)


def _draw_reductions(axes, fields):
    axes.set_ylabel("all-reduces an iteration")
    _lines(axes, fields, reductions)
    styles = [("-", "of the method")]
    if any(point.checks is not None for points in fields.values() for point in points):
        _lines(axes, fields, lambda points: reductions(points, with_checks=True), linestyle=":")
        styles.append((":", "with the application's residual"))
    for style, label in styles:
        axes.plot([], [], color="black", linestyle=style, label=label)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize="small", frameon=False)


def _draw_seconds(axes, name, points):
    values = stack(points)
    places = [point.x for point in points]
    if len(points) == 1:
        height = 0
        for phase, (seconds,) in values.items():
            axes.bar([f"{places[0]:g}"], [seconds], bottom=height, color=PHASE_COLORS[phase], label=phase)
            height += seconds
    elif values:
        axes.stackplot(places, *values.values(), labels=list(values), colors=[PHASE_COLORS[phase] for phase in values],
                       step="mid", linewidth=0)
    axes.set_title(name, fontsize="medium")
    axes.set_ylabel("seconds")
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize="small", frameon=False)


def _draw_history(axes, name, solves):
    colors = pyplot.get_cmap("viridis")
    last = max(len(solves) - 1, 1)
    for number, (solve, points) in enumerate(solves.items()):
        edge = number in (0, len(solves) - 1)
        axes.semilogy(*zip(*points), color=colors(number / last), linewidth=1.2, marker="o" if len(points) == 1 else None,
                      label=f"solve {solve}" if edge else None)
    axes.set_title(name, fontsize="medium")
    axes.set_ylabel("residual")
    axes.legend(fontsize="small")


def fastest_first(solvers):
    """[(solver, median, least, greatest)] of the solvers that ran most often, others having been left out on the way."""
    most = max(map(len, solvers.values()))
    rows = [(name, statistics.median(values), min(values), max(values)) for name, values in solvers.items() if len(values) == most]
    return sorted(rows, key=lambda row: row[1])[:MOST_PANELS]


def _draw_contests(contests, title):
    figure, panels = pyplot.subplots(1, len(contests), figsize=(5.5 * len(contests), 4.5), squeeze=False)
    for axes, (latency, solvers) in zip(panels[0], contests.items()):
        rows = fastest_first(solvers)
        names, medians, least, greatest = zip(*rows)
        errors = [[middle - low for middle, low in zip(medians, least)], [high - middle for middle, high in zip(medians, greatest)]]
        axes.barh(names, medians, xerr=errors, color=["tab:gray" if name.endswith("(your own)") else "tab:blue" for name in names])
        axes.invert_yaxis()
        axes.set_xlabel("seconds: median, least and greatest")
        axes.set_title(f"all-reduce of {latency:g} us, emulated" if latency else "as the machine is", fontsize="medium")
        axes.grid(axis="x", alpha=0.3)
    figure.suptitle(title, fontsize="medium")
    figure.tight_layout(rect=(0, 0, 1, 0.97))
    return figure


def draw(run, title):
    """A figure. Of more fields than have room, those that took the most seconds are drawn."""
    if run.contests:
        return _draw_contests(run.contests, title)
    if run.histories:
        names = list(run.histories)[:MOST_PANELS]
        figure, panels = pyplot.subplots(len(names), 1, figsize=(9, 3.2 * len(names)), squeeze=False)
        for axes, name in zip(panels[:, 0], names):
            _draw_history(axes, name, run.histories[name])
        total = len(run.histories)
    else:
        names = dearest(run.fields)
        fields = {name: condensed(run.fields[name]) for name in names}
        chosen = [name for name in names if name in run.choices]
        rows = 2 + len(names) + len(chosen)
        figure, panels = pyplot.subplots(rows, 1, figsize=(10, 2.3 * rows), sharex=False, squeeze=False)
        _draw_iterations(panels[0, 0], fields)
        _draw_reductions(panels[1, 0], fields)
        for axes, name in zip(panels[2:, 0], names):
            _draw_seconds(axes, name, fields[name])
        for axes, name in zip(panels[2 + len(names):, 0], chosen):
            choices.draw(axes, name, run.choices[name])
        total = len(run.fields)
    for axes in panels[:, 0]:
        axes.grid(alpha=0.3)
        if axes.get_yscale() != "log" and axes.get_ylabel():  # that of choices has names
            axes.set_ylim(bottom=0)
    panels[-1, 0].set_xlabel(run.axis)
    figure.suptitle(title + (f" ({len(names)} of {total} fields)" if len(names) < total else ""), fontsize="medium")
    figure.tight_layout(rect=(0, 0, 1, 0.98))
    return figure
