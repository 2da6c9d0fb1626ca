"""Cells that differ in emulated latency alone: who is how fast where, and from which latency who beats whom."""

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
    return {"name": name, "fastest_peer": peer, "own_over_peer": _over(own["seconds"], peer["seconds"]), "families": families,
            "crossings": crossings}


def summarize(cells):
    """What a series of cells by latency says: each family's fastest, the fastest peer, crossings."""
    latencies = [cell["latency_us"] for cell in cells]
    names = dict.fromkeys(solver["group"] for cell in cells for solver in cell["solvers"])
    return {"experiment": cells[0]["experiment"], "ranks": cells[0]["ranks"], "latencies_us": latencies,
            "groups": [_group(name, latencies, [[solver for solver in cell["solvers"] if solver["group"] == name]
                                                for cell in cells]) for name in names]}


def rows(group):
    """Of a table by latency: milliseconds of each family's fastest and of the fastest peer, then a ratio of times."""
    lines = [*group["families"].items(), ("fastest peer", group["fastest_peer"])]
    times = [[name, *("-" if value is None else f"{1e3 * value:.2f}" for value in line["seconds"])] for name, line in lines]
    return times + [["Capstan's fastest / fastest peer", *("-" if value is None else f"{value:.2f}" for value in group["own_over_peer"])]]


def head(swept, group):
    return [f"{group['name']}: ms, then a ratio", *(f"{latency:g} us" for latency in swept["latencies_us"])]


def lines(cells):
    """All series by latency as text."""
    out = []
    for swept in map(summarize, series(cells, "latency_us")):
        out += ["", f"EMULATED latency, {swept['experiment']}, {swept['ranks']} ranks: no all-reduce completes sooner than the "
                "latency after its start; 0 us: without the emulating layer."]
        for group in swept["groups"]:
            out += ["", *aligned(head(swept, group), rows(group)), *(one["text"] for one in group["crossings"])]
    return out
