"""What follows from the cells: targets held or missed, and whether the machine was steady."""

import statistics

from campaign import limits
from report import solvers
from report.statistics import spread

# How far the reference may move before a cell is flagged: the medians of the last third of its turns over those of the
# first third, and over the median of all cells on as many ranks.
DRIFT = {"memory_bytes_per_second": 1.15, "working_set_bytes_per_second": 1.15}
NOISE = 0.25  # distance of the quartiles over the median
REDUCTION_NOISE = 5.0  # median over least


def _apart(value, other):
    return max(value, other) / min(value, other)


def noise(cell):
    """What is wrong with the machine during a cell, in words; empty where it was steady."""
    reference = cell.get("reference") or []
    if len(reference) < 6:
        return []
    flags = []
    third = len(reference) // 3
    for name, most in DRIFT.items():
        values = [sample[name] for sample in reference]
        moved = _apart(statistics.median(values[:third]), statistics.median(values[-third:]))
        what = name.split("_bytes")[0].replace("_", " ")
        if moved > most:
            flags.append(f"drifting: bandwidth of {what} moved by {100 * (moved - 1):.0f} %")
        quartiles = statistics.quantiles(values, n=4)
        width = (quartiles[2] - quartiles[0]) / statistics.median(values)
        if width > NOISE:
            flags.append(f"noisy: bandwidth of {what} varies by {100 * width:.0f} %")
    reductions = [sample["all_reduce_seconds"] for sample in reference]
    waited = statistics.median(reductions) / min(reductions)
    if waited > REDUCTION_NOISE:
        flags.append(f"noisy: all-reduces take {waited:.0f} times what they take at best: cores are shared with others")
    return flags


def drifting_cells(cells):
    """{key: words} of cells in which the same reference was far from its median over the run."""
    found = {}
    for ranks in {cell["ranks"] for cell in cells}:
        group = {cell["key"]: statistics.median(sample["memory_bytes_per_second"] for sample in cell["reference"])
                 for cell in cells if cell["ranks"] == ranks and cell.get("reference")}
        middle = statistics.median(group.values()) if group else None
        for key, value in group.items():
            if _apart(value, middle) > 1.2:
                found[key] = f"drifting: memory bandwidth is {value / middle:.2f} of the run's median"
    return found


def flags(cells):
    """{key: [words]} of every cell that is not steady."""
    found = {cell["key"]: noise(cell) for cell in cells}
    for key, words in drifting_cells(cells).items():
        found[key].append(words)
    return {key: words for key, words in found.items() if words}


def _named(group, word):
    """Those of a library, or the one of that name; all where no word is given."""
    return [one for one in group if word is None or word in (one["library"], one["name"])]


def compare(cell, target):
    """{"value", "spread", "ours", "peer"} of a target in a cell; "value" None with "reason" where there is none."""
    group = [one for one in cell["solvers"] if target.get("group") in (None, one["group"])]
    own = _named([one for one in group if one["library"] == "capstan"], target.get("ours"))
    if target.get("of") == "limit":
        found = [(limits.over(cell, one), one) for one in own if one["summary"]["solved"]]
        found = [(value, one) for value, one in found if value is not None]
        if not found:
            return {"value": None, "reason": "no solver with a limit solved"}
        value, ours = min(found, key=lambda pair: pair[0])
        limit = limits.seconds(cell, ours)["seconds"]
        return {"value": value, "spread": spread([t / limit for t in solvers.seconds_by_turn(ours).values()]), "ours": ours["name"],
                "peer": "limit"}
    ours = solvers.fastest(own)
    peer = solvers.fastest(_named([one for one in group if one["library"] != "capstan"], target.get("peer")))
    if ours is None or peer is None:
        return {"value": None, "reason": "none of ours solved" if ours is None else "no peer solved"}
    compared = solvers.compare(ours, peer)
    return {"value": compared["ratio"], "spread": compared["paired"], "ours": ours["name"],
            "peer": f"{peer['library']}: {peer['name']}"}


def _applies(target, cell):
    return all(cell[key] == target[key] for key in ("ranks", "transport", "latency_us", "preconditioner") if key in target)


def targets(results):
    """One row for every target and every cell it stands for, in the order of the campaign. "held" None: not measured."""
    rows = []
    for campaign in results.campaigns.values():
        for experiment in campaign["experiments"]:
            cells = [cell for cell in results.cells if cell["experiment"] == experiment["name"]]
            for target in experiment.get("targets", []):
                matching = [cell for cell in cells if _applies(target, cell)]
                for cell in matching:
                    found = compare(cell, target) if cell["status"] == "done" else {"value": None, "reason": cell["reason"]}
                    held = None if found["value"] is None else found["value"] <= target["at_most"]
                    rows.append({"title": cell["title"], "key": cell["key"], **target, **found, "held": held})
                if not matching:
                    rows.append({"title": experiment["name"], "key": None, **target, "value": None, "held": None,
                                 "reason": "not measured"})
    return rows


def kind(target):
    """What is compared, in a word or two: "GMRES", "CG / limit"."""
    word = target.get("group") or "all"
    return f"{word} / limit" if target.get("of") == "limit" else word
