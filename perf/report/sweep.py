"""One campaign under several emulated latencies: who is how fast where, and from which latency on who beats whom."""

from report import solvers

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
DUELS = [
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


def _least(group, chosen):
    """Least median of the solvers chosen, and who that is; None of both where none solved."""
    best = solvers.fastest(solver for solver in group if chosen(solver))
    return (None, None) if best is None else (solvers.median(best), best["name"])


def _over(ours, theirs):
    return [a / b if a is not None and b is not None else None for a, b in zip(ours, theirs)]


def _line(groups, chosen):
    """{"seconds": [...], "names": [...]}: the fastest of those chosen, latency by latency."""
    found = [_least(group, chosen) for group in groups]
    return {"seconds": [seconds for seconds, _ in found], "names": [name for _, name in found]}


def _pipelines(titles):
    """Pairs (pipelined method, its form without a pipeline), by the names of their families."""
    return [(FAMILIES.get(f"{title} PIPELINE", f"{title} PIPELINE"), FAMILIES.get(title, title))
            for title in titles if f"{title} PIPELINE" in titles]


def _group(name, latencies, groups):
    """One group of methods; `groups`: its solvers at each latency."""
    peer = _line(groups, lambda solver: solver["library"] != "capstan")
    own = _line(groups, lambda solver: solver["library"] == "capstan")
    rows = []
    for one in dict.fromkeys((solver["name"], solver["library"]) for group in groups for solver in group):
        line = _line(groups, lambda solver, one=one: (solver["name"], solver["library"]) == one)
        spread = [next((solver["summary"]["seconds"] for solver in group if (solver["name"], solver["library"]) == one), None)
                  for group in groups]
        counts = {name: [next((solver["summary"].get(name) for solver in group
                               if (solver["name"], solver["library"]) == one), None) for group in groups]
                  for name in solvers.APPLICATIONS}
        rows.append({"name": one[0], "library": one[1], "seconds": line["seconds"], "spread": spread, **counts,
                     "over_fastest_peer": _over(line["seconds"], peer["seconds"])})
    present = dict.fromkeys(_canonical(solver) for group in groups for solver in group if solver["library"] == "capstan")
    families = {FAMILIES.get(title, title): _line(groups, lambda solver, title=title: _canonical(solver) == title)
                for title in sorted(present, key=[*FAMILIES, *present].index)}
    duels = []
    for first, second in dict.fromkeys([*DUELS, *_pipelines(present)]):
        if first in families and second in families:
            ranges = wins(latencies, families[first]["seconds"], families[second]["seconds"])
            duels.append({"first": first, "second": second, "first_wins_us": ranges, "text":
                          f"{first} beats {second} {phrase(ranges)}"})
    ratios = []
    for title, over, under, paper in RATIOS:
        lines = [_line(groups, lambda solver, wanted=wanted: _matches(solver, wanted)) for wanted in (over, under)]
        values = _over(*(line["seconds"] for line in lines))
        if any(value is not None for value in values):
            ratios.append({"name": title, "values": values, "paper": paper})
    return {"name": name, "fastest_peer": peer, "fastest_own": own,
            "own_over_peer": _over(own["seconds"], peer["seconds"]), "solvers": rows, "families": families,
            "duels": duels, "ratios": ratios}


def _system(name, latencies, systems):
    groups = dict.fromkeys(solver["group"] for system in systems for solver in system["solvers"])
    return {"name": name, "groups": [
        _group(group, latencies, [[solver for solver in system["solvers"] if solver["group"] == group]
                                  for system in systems]) for group in groups]}


def summarize(campaigns):
    """One element of results.json's "sweeps" for each campaign that was run under more than one emulated latency."""
    sweeps = []
    for name in dict.fromkeys(campaign["name"] for campaign in campaigns):
        runs = [run for run in campaigns if run["name"] == name and run.get("emulated_latency_us") is not None]
        if len(runs) < 2:
            continue
        runs.sort(key=lambda run: run["emulated_latency_us"])
        latencies = [run["emulated_latency_us"] for run in runs]
        # A run that was interrupted may lack systems.
        titles = [system["name"] for system in runs[0]["systems"]
                  if all(any(one["name"] == system["name"] for one in run["systems"]) for run in runs)]
        systems = [_system(title, latencies, [next(one for one in run["systems"] if one["name"] == title)
                                              for run in runs]) for title in titles]
        sweeps.append({"campaign": name, "latencies_us": latencies, "ranks": runs[0]["ranks"], "systems": systems})
    return sweeps
