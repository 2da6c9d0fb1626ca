"""The picture of cells by latency: times and crossovers of each group."""

COLORS = {"classical GMRES": "tab:blue", "s-step GMRES": "tab:orange", "p(l)-GMRES": "tab:green",
          "pipelined CA-GMRES": "tab:red", "CG": "tab:blue", "p(l)-CG": "tab:green"}
PEER = "fastest of Belos, PETSc and hypre"


def crossovers(group):
    """Where families overtake each other: (latency, seconds, in words), ascending. Between the latencies measured a time
    is taken for a straight line in the latency, as in sweep.wins()."""
    found = []
    for one in group["crossings"]:
        first, second = one["first"], one["second"]
        for start, end in one["first_wins_us"]:
            found += [(start, first, second)] if start is not None else []
            found += [(end, second, first)] if end is not None else []
    return [(at, group["families"][winner]["seconds"], f"{at:.0f} us: {winner} overtakes {loser}")
            for at, winner, loser in sorted(found)]


def between(latencies, values, at):
    """The value at a latency, on the straight lines through those that are there."""
    points = [(x, y) for x, y in zip(latencies, values) if y is not None]
    for (x, y), (next_x, next_y) in zip(points, points[1:]):
        if x <= at <= next_x:
            return y + (next_y - y) * (at - x) / (next_x - x)
    return None


def _curve(latencies, values, pieces=40):
    """Points of those straight lines, close enough together to look right on logarithmic axes."""
    ends = [x for x, y in zip(latencies, values) if y is not None]
    steps = [x + (after - x) * piece / pieces for x, after in zip(ends, ends[1:]) for piece in range(pieces)] + ends[-1:]
    return steps, [between(latencies, values, x) if len(ends) > 1 else values[latencies.index(x)] for x in steps]


def _milliseconds(values):
    return [None if value is None else 1e3 * value for value in values]


def _spread(line):
    """Least and greatest time of the solver behind each point of a line, milliseconds."""
    return [[float("nan") if one is None else 1e3 * one[end] for one in line["spread"]] for end in ("min", "max")]


def _latency_axis(axes, latencies):
    least = min((x for x in latencies if x > 0), default=1)
    axes.set_xscale("symlog", linthresh=least, linscale=0.5)
    axes.set_xlim(latencies[0], latencies[-1] * 1.05)
    axes.set_xticks(latencies, [f"{x:g}" for x in latencies])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("emulated latency of an all-reduce, us")
    axes.grid(alpha=0.3)


def _plain_numbers(axis, ticker, pieces):
    axis.set_major_locator(ticker.LogLocator(subs=pieces))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(ticker.NullLocator())


def _draw_times(axes, ticker, group, latencies):
    """The fastest solver of each family and the fastest peer; the band is from the least to the greatest time."""
    for label, line in {**group["families"], PEER: group["fastest_peer"]}.items():
        if all(value is None for value in line["seconds"]):
            continue
        style = {"color": "black", "linestyle": "--"} if label == PEER else {"color": COLORS.get(label, "tab:gray")}
        axes.plot(*_curve(latencies, _milliseconds(line["seconds"])), **style, linewidth=1.5)
        axes.plot(latencies, [float("nan") if y is None else y for y in _milliseconds(line["seconds"])], marker="o",
                  markersize=4, **{**style, "linestyle": "none"})
        axes.plot([], [], marker="o", markersize=4, label=label, **style)
        axes.fill_between(latencies, *_spread(line), color=style["color"], alpha=0.12, linewidth=0)
    _latency_axis(axes, latencies)
    for number, (at, seconds, words) in enumerate(crossovers(group)):
        height = 1e3 * between(latencies, seconds, at)
        axes.plot([at], [height], marker="Dsv^<>"[number % 6], markersize=8, markerfacecolor="none", markeredgecolor="black",
                  linestyle="none", label=words, zorder=5)
    axes.set_yscale("log")
    _plain_numbers(axes.yaxis, ticker, (1, 2, 5))
    axes.set_ylabel("ms a solve: median, least to greatest")
    axes.set_title(f"{group['name']}: fastest of each family", fontsize="medium")


def draw(pyplot, swept):
    """A figure of a series of cells by latency, as sweep.summarize() has it."""
    from matplotlib import ticker  # pylint: disable=import-outside-toplevel
    groups = [group for group in swept["groups"] if group["families"]]
    figure, panels = pyplot.subplots(1, max(1, len(groups)), figsize=(max(10.6, 5.2 * len(groups)), 6), squeeze=False)
    for axes, group in zip(panels[0], groups):
        _draw_times(axes, ticker, group, swept["latencies_us"])
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), fontsize="small", frameon=False)
    figure.tight_layout()
    return figure
