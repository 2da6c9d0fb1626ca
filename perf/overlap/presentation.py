"""The results of the overlap benchmark as text, pictures and files."""

import os

import measurement
from report import columns, files, machine, plots


def text(results):
    """Everything, as it is printed."""
    lines = [*machine.lines(results), *results["notes"], f"{results['ranks']} ranks; medians of {results['turns']} turns"]
    if not results["complete"]:
        lines.append("Not complete: the run was interrupted or failed, or goes on.")
    if results["quick"]:
        lines.append("--quick: these are not measurements.")
    for run in results["runs"]:
        lines += ["", run["name"] + (f" ({run['samples'][0]['mpi']})" if run.get("samples") else "")]
        rows = [[str(line["bytes"]), *(f"{line[key]['median']:.2f}" for key in measurement.TIMES)] for line in run["overlap"]]
        if rows:
            lines += columns.aligned(["bytes", "t_pure", "t_CPU", "alone", "t_ovrl", "t_wait", "overlap %", "IMB %"], rows)
        for size in sorted({one["bytes"] for one in run["simultaneous"]}):
            ratios = [f"{one['count']}: {one['ratio']['median']:.2f}" for one in run["simultaneous"] if one["bytes"] == size]
            lines.append(f"l all-reduces of {size} bytes together, over the time of one: " + ", ".join(ratios))
        lines += run["problems"]
    return "\n".join(lines)


def _draw_lines(axes, runs, name, x, y):
    for run in runs:
        lines = run[name]
        if name == "simultaneous" and lines:
            lines = [line for line in lines if line["bytes"] == lines[0]["bytes"]]
        label = " ".join(word for word in run["name"].split() if word != run["transport"])
        axes.plot([line[x] for line in lines], [line[y]["median"] for line in lines], marker="o", markersize=3, label=label)


def draw(results, folder):
    """overlap.png and simultaneous.png: one panel a transport."""
    pyplot = plots.load_pyplot()
    transports = list(dict.fromkeys(run["transport"] for run in results["runs"]))
    for name, x, y, label in (("overlap", "bytes", "overlap_percent", "overlap in percent (OSU)"),
                              ("simultaneous", "count", "ratio", "time of l all-reduces over that of one")):
        figure, panels = pyplot.subplots(1, len(transports), figsize=(5 * len(transports), 4), squeeze=False, sharey=True)
        for axes, transport in zip(panels[0], transports):
            _draw_lines(axes, [run for run in results["runs"] if run["transport"] == transport], name, x, y)
            if name == "overlap":
                axes.set_xscale("log", base=2)
            axes.set_xlabel("bytes" if name == "overlap" else "all-reduces in flight")
            axes.set_title(f"{transport}, {results['ranks']} ranks", fontsize="medium")
            axes.legend(fontsize="x-small")
        panels[0][0].set_ylabel(label)
        figure.tight_layout()
        figure.savefig(folder / f"{name}.png", dpi=100)
        pyplot.close(figure)


def keep(results, runs, folder):
    """overlap.json and table.txt."""
    results["runs"] = [measurement.summarize(run) for run in runs]
    results["load_average"]["end"] = os.getloadavg()[0]
    files.write_json(folder / "overlap.json", results)
    files.write(folder / "table.txt", text(results) + "\n")
