"""Results of simulated CG with an embedded halo exchange: as CSV, and as a table with the judgement of the solver's report."""

import collections
import csv
import math
import pathlib

from report import columns, processes

LIMIT = 200  # valuesOfAMessage of belos_ext/report/embedding_verdict.hpp, by which reports judge
FIELDS = ["matrix", "rows", "neighbours", "ranks", "topology", "overhead", "method", "messages", "values", "seconds"]


def rows_of(paths):
    """What an earlier run wrote to these files, by matrix and ranks; a later one replaces the same simulations of an earlier one."""
    found = {}
    for path in paths:
        try:
            lines = list(csv.DictReader(pathlib.Path(path).read_text(encoding="utf-8").splitlines()))
            for line in lines:
                row = {key: line[key] if key in ("matrix", "topology", "method") else float(line[key] or "nan") for key in FIELDS}
                row |= {key: int(row[key]) for key in ("rows", "ranks")}
                row["seconds"] = None if math.isnan(row["seconds"]) else row["seconds"]
                found[tuple(row[key] for key in ("matrix", "topology", "overhead", "ranks", "method"))] = row
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise processes.Misuse(f"--results: found '{path}'; allowed: simulation.csv of this benchmark ({error})") from error
    if paths and not found:
        raise processes.Misuse(f"--results: found '{paths[0]}'; allowed: simulation.csv with at least one simulation")
    matrices = list(dict.fromkeys(row["matrix"] for row in found.values()))
    return sorted(found.values(), key=lambda row: (matrices.index(row["matrix"]), row["ranks"]))


def verdict(pairs):
    """How the report's rule does. pairs: (overhead, values for each message saved, time over that of capstan-cg)."""
    lines = []
    for overhead in sorted({one[0] for one in pairs}):
        parts = []
        for title, inside in ((f"up to {LIMIT} values for each message saved", True), ("more", False)):
            ratios = [ratio for other, values, ratio in pairs if other == overhead and (values <= LIMIT) == inside]
            if ratios:
                faster = sum(ratio < 1 for ratio in ratios)
                parts.append(f"{title}: {faster} of {len(ratios)} faster than capstan-cg, {min(ratios):.2f} to {max(ratios):.2f}")
        lines.append(f"overhead {1e6 * overhead:g} us, embedded-nodes: {'; '.join(parts)}")
    return lines


def text_of(rows, arguments, machine):
    """One table: a line for each matrix, number of ranks, network and overhead. Below it, how the report's rule does."""
    lines = [f"{arguments.partition} partition; {machine.ranks_per_node} ranks a node; machine: {machine.name}",
             "Simulated microseconds of an iteration; in brackets over that of capstan-cg. -: not simulated, or longer than "
             "--timeout.",
             "values: of those that a rank sends, embedded (nodes) over conventional. a message: embedded ones for each message saved."]
    grouped = collections.defaultdict(dict)
    for row in rows:
        grouped[row["matrix"], row["ranks"], row["topology"], row["overhead"]][row["method"]] = row
    body, pairs = [], []
    for (matrix, ranks, topology, overhead), found in grouped.items():
        neighbours = next(iter(found.values()))["neighbours"]
        seconds = {name: row["seconds"] for name, row in found.items() if row["seconds"]}
        ratios = {name: value / seconds["capstan-cg"] for name, value in seconds.items() if "capstan-cg" in seconds}
        cells = [f"{1e6 * seconds[name]:.1f}" + (f" ({ratios[name]:.2f})" if name in ratios and name != "capstan-cg" else "")
                 if name in seconds else "-" for name in arguments.methods]
        growth = saved = "-"
        if {"embedded-nodes", "capstan-cg"} <= found.keys() and found["capstan-cg"]["values"]:
            sent = found["embedded-nodes"]["values"]
            growth, saved = f"{sent / found['capstan-cg']['values']:.2f}", f"{sent / neighbours:.0f}"
            if "embedded-nodes" in ratios:
                pairs.append((overhead, sent / neighbours, ratios["embedded-nodes"]))
        body.append([matrix, str(ranks), f"{neighbours:.1f}", f"{math.log2(ranks):.3g}", growth, saved, topology,
                     f"{1e6 * overhead:g}", *cells])
    head = ["matrix", "ranks", "neighbours", "lg K", "values", "a message", "network", "overhead us", *arguments.methods]
    return "\n".join([*lines, "", *columns.aligned(head, body), "", *verdict(pairs)]) + "\n"
