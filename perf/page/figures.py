"""Pictures of single cells and of targets. Each returns a figure of matplotlib, or None where there is nothing to draw."""

from campaign import limits, verdicts
from report import solvers

LIBRARIES = {"capstan": "#e07b00", "belos": "#2f6db3", "petsc": "#8a8f98", "hypre": "#b0413e"}
PHASES = (("operator", "operator", "#2f6db3"), ("preconditioner", "preconditioner", "#7d55a8"),
          ("orthogonalization", "local orthogonalisation and vectors", "#e07b00"), ("reduction_wait", "reduction wait", "#b3261e"),
          ("rest", "rest", "#b9bec6"))
WIDTH = 10.6  # inches; with the margins of the page 1280 px


def style(pyplot):
    """What all pictures share."""
    pyplot.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.titlesize": 11,
                            "axes.titleweight": "bold", "axes.titlelocation": "left", "legend.frameon": False})


def _solved(cell, group=None):
    found = [one for one in cell["solvers"] if one["summary"]["solved"] and group in (None, one["group"])]
    return sorted(found, key=solvers.median, reverse=True)


def targets(pyplot, rows):
    """Ratio found, its range turn by turn, and the target, a line each."""
    from matplotlib import ticker  # pylint: disable=import-outside-toplevel
    rows = [row for row in rows if row["value"] is not None]
    if not rows:
        return None
    figure, axes = pyplot.subplots(figsize=(WIDTH, 0.34 * len(rows) + 1.1))
    for at, row in enumerate(reversed(rows)):
        color = "#1b7a3d" if row["held"] else "#b3261e"
        spread = row["spread"]
        if spread["median"] is not None:
            axes.plot([spread["min"], spread["max"]], [at, at], color=color, alpha=0.35, linewidth=4, solid_capstyle="butt")
        axes.plot(row["value"], at, "o", color=color)
        axes.plot(row["at_most"], at, "|", color="black", markersize=16, markeredgewidth=1.8)
    axes.set_yticks(range(len(rows)), [f"{row['title']}: {verdicts.kind(row)}" for row in reversed(rows)])
    numbers = [value for row in rows for value in (row["value"], row["at_most"])]
    axes.set_xscale("log")
    axes.set_xlim(0.6 * min(numbers), 1.7 * max(numbers))
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.xaxis.set_major_locator(ticker.LogLocator(base=10, subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axes.minorticks_off()
    axes.set_xlabel("time over that of the fastest peer, or over the limit; | target; bar: least and greatest turn")
    axes.grid(axis="x", alpha=0.3)
    return figure


def phases(pyplot, cell):
    """Times of all solvers of a cell; Capstan's with their phases, which other libraries do not tell."""
    groups = [(group, _solved(cell, group)) for group in dict.fromkeys(one["group"] for one in cell["solvers"])]
    groups = [(group, members) for group, members in groups if members]
    if not groups:
        return None
    heights = [len(members) + 1.6 for _, members in groups]
    figure, all_axes = pyplot.subplots(len(groups), 1, figsize=(WIDTH, 0.27 * sum(heights) + 0.9), squeeze=False,
                                       gridspec_kw={"height_ratios": heights})
    for (group, members), axes in zip(groups, all_axes[:, 0]):
        for at, one in enumerate(members):
            _phase_bar(axes, at, one)
        axes.set_yticks(range(len(members)), [one["name"] for one in members])
        axes.set_title(f"{group}: milliseconds of a solve")
        axes.set_xlim(0, 1.08e3 * max(solvers.median(one) for one in members))
        axes.grid(axis="x", alpha=0.3)
    handles = [pyplot.Rectangle((0, 0), 1, 1, color=color) for _, _, color in PHASES]
    handles.append(pyplot.Rectangle((0, 0), 1, 1, facecolor="#e6e8eb", edgecolor="#8a8f98"))
    figure.tight_layout()
    figure.legend(handles, [*(words for _, words, _ in PHASES), "not told by the library"], loc="upper center",
                  bbox_to_anchor=(0.5, 0.0), ncol=6, fontsize=9)
    return figure


def _phase_bar(axes, at, one):
    seconds = limits.phases(one)
    if seconds is None:
        axes.barh(at, 1e3 * solvers.median(one), color="#e6e8eb", edgecolor="#8a8f98")
        return
    left = 0.0
    for key, _, color in PHASES:
        axes.barh(at, 1e3 * seconds[key], left=left, color=color)
        left += 1e3 * seconds[key]


def histories(pyplot, cell):
    """Residual by iteration."""
    found = {name: points for name, points in (cell.get("histories") or {}).items() if len(points) > 1}
    if not found:
        return None
    figure, axes = pyplot.subplots(figsize=(WIDTH, 3.6))
    for index, (name, points) in enumerate(found.items()):
        # Residuals of one kind lie on each other: marks at places of their own tell whose they are.
        stride = max(len(found), len(points) // 6)
        axes.semilogy(*zip(*points), label=name, linewidth=1.2, marker="osD^vP<>X*"[index % 10], markersize=6,
                      markevery=(index * stride // len(found), stride))
    axes.set_xlabel("iteration")
    axes.set_ylabel("scaled residual")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=9, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def roofline(pyplot, runs):
    """Share of STREAM's bandwidth of each kernel, of data in memory, on all cores and on one."""
    if not runs:
        return None
    figure, all_axes = pyplot.subplots(1, len(runs), figsize=(WIDTH, 3.8), sharey=True, squeeze=False)
    for run, axes in zip(runs, all_axes[0]):
        rows = max(case["n"] for case in run["cases"])
        names = sorted({case["kernel"] for case in run["cases"] if case["n"] == rows})
        steps = sorted({case["s"] for case in run["cases"] if case["n"] == rows})
        for index, s in enumerate(steps):
            shares = {case["kernel"]: case["summary"]["of_stream"] for case in run["cases"] if case["n"] == rows and case["s"] == s}
            places = [at + 0.8 * (index - (len(steps) - 1) / 2) / len(steps) for at, name in enumerate(names) if name in shares]
            middle = [shares[name]["median"] for name in names if name in shares]
            ends = [[shares[name]["median"] - shares[name]["min"] for name in names if name in shares],
                    [shares[name]["max"] - shares[name]["median"] for name in names if name in shares]]
            axes.bar(places, middle, 0.8 / len(steps), yerr=ends, error_kw={"linewidth": 0.8}, label=f"s = {s}",
                     color=pyplot.get_cmap("viridis")(0.15 + 0.3 * index))
        axes.axhline(1.0, color="black", linewidth=0.8)
        axes.set_xticks(range(len(names)), names, rotation=35, ha="right", fontsize=8)
        stream = run["stream_triad_gigabytes_per_second"]["median"]
        axes.set_title(f"{run['workers']} at once, {rows} rows each; triad {stream:.1f} GB/s", fontsize=10)
    all_axes[0][0].set_ylabel("share of the triad's bandwidth")
    all_axes[0][-1].legend(fontsize=9)
    figure.tight_layout()
    return figure
