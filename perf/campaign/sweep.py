"""Cells that differ in emulated latency alone: who is how fast where, and from which latency who beats whom."""

import textwrap

from report import solvers
from report.columns import aligned

# What the solvers that differ in depth and step size only are called, by their canonical name; others by that name.
FAMILIES = {
    "CAPSTAN GMRES": "classical GMRES",
    "CAPSTAN GMRES S-STEP": "s-step GMRES",
    "CAPSTAN GMRES PIPELINE": "p(l)-GMRES",
    "CAPSTAN GMRES S-STEP PIPELINE": "pipelined CA-GMRES",
    "CAPSTAN CG": "CG",
    "CAPSTAN CG PIPELINE": "p(l)-CG",
}
# Who may overtake whom, besides a method "... PIPELINE" and the one without that word.
PAIRS = [
    ("pipelined CA-GMRES", "p(l)-GMRES"),
    ("pipelined CA-GMRES", "s-step GMRES"),
    ("pipelined CA-GMRES", "classical GMRES"),
    ("p(l)-GMRES", "classical GMRES"),
    ("s-step GMRES", "classical GMRES"),
    ("p(l)-CG", "CG"),
]
DEFAULTS = {"Pipeline Depth": "1", "Step Size": "auto"}
# Times of single solvers over each other: what, over what, and what the paper found. t: block, d: blocks in flight;
# the paper's depth is d + 1, and its comparisons are with (t, d) = (5, 1).
RATIOS = [
    ("best p(l)-GMRES over best pipelined CA-GMRES", ("CAPSTAN GMRES PIPELINE", {}),
     ("CAPSTAN GMRES S-STEP PIPELINE", {}), "up to 1.67"),
    ("s-step GMRES s=5 over pipelined CA-GMRES (5,1)", ("CAPSTAN GMRES S-STEP", {"Step Size": "5"}),
     ("CAPSTAN GMRES S-STEP PIPELINE", {"Step Size": "5", "Pipeline Depth": "1"}), "up to 1.22"),
    ("s-step GMRES s=10 over pipelined CA-GMRES (5,1)", ("CAPSTAN GMRES S-STEP", {"Step Size": "10"}),
     ("CAPSTAN GMRES S-STEP PIPELINE", {"Step Size": "5", "Pipeline Depth": "1"}), "up to 1.09"),
    ("p(1)-CG over CG", ("CAPSTAN CG PIPELINE", {"Pipeline Depth": "1"}), ("CAPSTAN CG", {}), None),
]
# What stands beside the ratios of the paper, so that nobody takes them for the same experiment.
PAPER = textwrap.wrap(
    "The paper: Yamazaki, Hoemmen, Luszczek, Dongarra 2017, section V: up to 300 processes of Tsubame2 (12 Xeon cores a node, "
    "MPICH 3.2 over IP on InfiniBand, one core a process left to MPI's progress thread; an all-reduce over 240 processes took "
    "it about 230 us), 2D and 3D Laplace with 1e6 to 2e6 unknowns, 20 restart cycles of 20 or 30 steps, best of five runs. "
    "Here: the ranks of one machine, the system named above solved to its tolerance, medians; the latency is emulated: a "
    "reduction costs time, but no bandwidth, no noise and no work of the cores.", 124)


def series(cells, key):
    """Groups of cells that are done and differ in `key` only, two at least, ascending."""
    found = {}
    for cell in cells:
        if cell["status"] == "done":
            rest = tuple(cell[name] for name in ("experiment", "preconditioner", "ranks", "transport", "latency_us") if name != key)
            found.setdefault(rest, {})[cell[key]] = cell
    return [[group[value] for value in sorted(group)] for group in found.values() if len(group) > 1]


def wins(latencies, ours, theirs):
    """Ranges of latency in which ours is the faster one: pairs, None for an end that was not reached. Ends are where the
    straight lines through neighbouring medians meet; latencies at which one of the two has no time are passed over."""
    points = [(x, a - b) for x, a, b in zip(latencies, ours, theirs) if a is not None and b is not None]
    ranges, start, winning = [], None, False
    for index, (x, lead) in enumerate(points):
        if index > 0 and (lead < 0) != winning:
            before, last = points[index - 1]
            meeting = before + (x - before) * last / (last - lead)
            if winning:
                ranges.append((start, meeting))
            start = meeting
        winning = lead < 0
    return ranges + ([(start, None)] if winning else [])


def phrase(ranges):
    """Those ranges in words."""
    words = []
    for start, end in ranges:
        if start is None and end is None:
            return "at every latency measured"
        if end is None:
            words.append(f"from about {start:.0f} us on")
        elif start is None:
            words.append(f"up to about {end:.0f} us")
        else:
            words.append(f"between about {start:.0f} and {end:.0f} us")
    return " and ".join(words) or "at no latency measured"


def _canonical(solver):
    return (solver.get("details") or {}).get("solver") or solver["method"].upper()


def _matches(solver, wanted):
    name, parameters = wanted
    given = {**DEFAULTS, **solver["parameters"]}
    return _canonical(solver) == name and all(given[key] == value for key, value in parameters.items())


def _over(ours, theirs):
    return [a / b if a is not None and b is not None else None for a, b in zip(ours, theirs)]


def _line(groups, chosen):
    """{"seconds", "names", "spread"}: the fastest of those chosen, latency by latency; None where none solved."""
    found = [solvers.fastest(solver for solver in group if chosen(solver)) for group in groups]
    return {"seconds": [one and solvers.median(one) for one in found], "names": [one and one["name"] for one in found],
            "spread": [one and one["summary"]["seconds"] for one in found]}


def _group(name, latencies, groups):
    """One group of methods; `groups`: its solvers at each latency."""
    peer = _line(groups, lambda solver: solver["library"] != "capstan")
    own = _line(groups, lambda solver: solver["library"] == "capstan")
    present = dict.fromkeys(_canonical(solver) for group in groups for solver in group if solver["library"] == "capstan")
    families = {FAMILIES.get(title, title): _line(groups, lambda solver, title=title: _canonical(solver) == title)
                for title in sorted(present, key=[*FAMILIES, *present].index)}
    pipelines = [(FAMILIES.get(f"{title} PIPELINE", f"{title} PIPELINE"), FAMILIES.get(title, title))
                 for title in present if f"{title} PIPELINE" in present]
    crossings = []
    for first, second in dict.fromkeys([*PAIRS, *pipelines]):
        if first in families and second in families:
            ranges = wins(latencies, families[first]["seconds"], families[second]["seconds"])
            crossings.append({"first": first, "second": second, "first_wins_us": ranges,
                              "text": f"{first} beats {second} {phrase(ranges)}"})
    ratios = []
    for title, over, under, paper in RATIOS:
        lines = [_line(groups, lambda solver, wanted=wanted: _matches(solver, wanted)) for wanted in (over, under)]
        values = _over(*(line["seconds"] for line in lines))
        if any(value is not None for value in values):
            ratios.append({"name": title, "values": values, "paper": paper})
    return {"name": name, "fastest_peer": peer, "own_over_peer": _over(own["seconds"], peer["seconds"]), "families": families,
            "crossings": crossings, "ratios": ratios}


def summarize(cells):
    """What a series of cells by latency says: each family's fastest, the fastest peer, crossings, the paper's ratios."""
    latencies = [cell["latency_us"] for cell in cells]
    names = dict.fromkeys(solver["group"] for cell in cells for solver in cell["solvers"])
    return {"experiment": cells[0]["experiment"], "ranks": cells[0]["ranks"], "latencies_us": latencies,
            "groups": [_group(name, latencies, [[solver for solver in cell["solvers"] if solver["group"] == name]
                                                for cell in cells]) for name in names]}


def rows(group):
    """Of a table by latency: milliseconds of each family's fastest and of the fastest peer, then ratios of times."""
    lines = [*group["families"].items(), ("fastest peer", group["fastest_peer"])]
    times = [[name, *("-" if value is None else f"{1e3 * value:.2f}" for value in line["seconds"]), ""] for name, line in lines]
    ratios = [("Capstan's fastest / fastest peer", group["own_over_peer"], ""),
              *((one["name"], one["values"], one["paper"] or "") for one in group["ratios"])]
    return times + [[name, *("-" if value is None else f"{value:.2f}" for value in values), paper] for name, values, paper in ratios]


def head(swept, group):
    return [f"{group['name']}: ms, then ratios", *(f"{latency:g} us" for latency in swept["latencies_us"]), "paper"]


def lines(cells):
    """All series by latency as text."""
    out = []
    for swept in map(summarize, series(cells, "latency_us")):
        out += ["", f"EMULATED latency, {swept['experiment']}, {swept['ranks']} ranks: no all-reduce completes sooner than the "
                "latency after its start; 0 us: without the emulating layer."]
        for group in swept["groups"]:
            out += ["", *aligned(head(swept, group), rows(group)), *(one["text"] for one in group["crossings"])]
        if any(ratio["paper"] for group in swept["groups"] for ratio in group["ratios"]):
            out += PAPER
    return out
