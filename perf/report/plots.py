"""Plots of results.json. Modules that draw import matplotlib when they draw: nothing else needs it."""

import importlib.util
import sys

from report import sweep_plot

MISSING = f"{sys.executable} has no matplotlib (Debian: python3-matplotlib, for /usr/bin/python3)"

COLORS = {"capstan": "tab:orange", "belos": "tab:blue", "petsc": "tab:gray", "hypre": "tab:red", "hpddm": "tab:green"}


def available():
    return importlib.util.find_spec("matplotlib") is not None


def _file_name(*words):
    return "-".join("".join(c if c.isalnum() else "_" for c in word) for word in words) + ".png"


def _save(pyplot, figure, path):
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def load_pyplot():
    """matplotlib's pyplot, for files only."""
    import matplotlib  # pylint: disable=import-outside-toplevel
    matplotlib.use("Agg")
    from matplotlib import pyplot  # pylint: disable=import-outside-toplevel
    return pyplot


def save_sweep(pyplot, sweep, system, machine, path):
    """The picture of one system of a latency sweep."""
    figure = sweep_plot.draw(pyplot, sweep, system, machine)
    figure.savefig(path, dpi=75, bbox_inches="tight")
    pyplot.close(figure)


def _draw_system(pyplot, campaign, system, name, folder):
    group = [s for s in system["solvers"] if s["group"] == name and s["summary"]["solved"]]
    if not group:
        return
    group.sort(key=lambda s: s["summary"]["seconds"]["median"], reverse=True)
    seconds = [s["summary"]["seconds"] for s in group]
    middle = [1e3 * s["median"] for s in seconds]
    errors = [[1e3 * (s["median"] - s["min"]) for s in seconds], [1e3 * (s["max"] - s["median"]) for s in seconds]]
    figure, axes = pyplot.subplots(figsize=(8, 0.3 * len(group) + 1.2))
    axes.barh([s["name"] for s in group], middle, xerr=errors, color=[COLORS[s["library"]] for s in group])
    axes.set_xlabel("milliseconds: median, least and greatest")
    emulated = ", emulated latency" if campaign.get("emulation") else ""
    axes.set_title(f"{system['name']}, {name}, {campaign['ranks']} ranks{emulated}")
    _save(pyplot, figure, folder / _file_name(campaign["name"], system["name"], name))


def _draw_kernels(pyplot, run, folder):
    cases = run["cases"]
    rows = max(case["n"] for case in cases)
    names = sorted({case["kernel"] for case in cases})
    steps = sorted({case["s"] for case in cases})
    figure, axes = pyplot.subplots(figsize=(9, 4))
    for index, s in enumerate(steps):
        shares = {case["kernel"]: case["summary"]["of_stream"]["median"] for case in cases
                  if case["n"] == rows and case["s"] == s}
        places = [at + 0.8 * index / len(steps) for at, name in enumerate(names) if name in shares]
        axes.bar(places, [shares[name] for name in names if name in shares], 0.8 / len(steps), label=f"s = {s}")
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.set_xticks(range(len(names)), names, rotation=30, ha="right")
    axes.set_ylabel("share of STREAM's bandwidth")
    axes.set_title(f"{rows} rows each, {run['workers']} at once")
    axes.legend()
    _save(pyplot, figure, folder / _file_name("kernels", str(run["workers"])))


def draw(results, folder):
    """Writes one picture for each group of solvers, each latency sweep and each number of workers into the folder."""
    pyplot = load_pyplot()
    for sweep in results["sweeps"]:
        for system in sweep["systems"]:
            path = folder / _file_name("latency", sweep["campaign"], system["name"])
            save_sweep(pyplot, sweep, system, results["machine"], path)
    for campaign in results["campaigns"]:
        if campaign.get("emulated_latency_us") is not None:
            continue  # the sweep shows it
        for system in campaign["systems"]:
            for name in dict.fromkeys(solver["group"] for solver in system["solvers"]):
                _draw_system(pyplot, campaign, system, name, folder)
    for run in results["kernels"]:
        _draw_kernels(pyplot, run, folder)
