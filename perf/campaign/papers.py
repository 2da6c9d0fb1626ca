"""What papers report beside what was measured here: speed-ups, and counts of an iteration.

A campaign's `claims` name solvers of its experiments, and say what differs; `counts` do so for an iteration's work.
"""

import statistics

from report import solvers

NUMBERS = ("reductions", "products", "flops", "vectors")  # of an iteration, without a preconditioner; flops for each row


def _chosen(cell, words):
    """The fastest of the solvers that solved and are named so, or so and varied ("capstan cg pipeline" for "capstan cg pipeline, Pipeline
    Depth 3"); None where there is none."""
    words = words if isinstance(words, list) else [words]
    return solvers.fastest(one for one in cell["solvers"]
                           if any(one["name"] == word or one["name"].startswith(word + ",") for word in words))


def speedup(cell, claim):
    """{"value", "spread", "ours", "over"}: the time of `over` divided by that of `ours`; None where one did not solve."""
    ours, over = _chosen(cell, claim["ours"]), _chosen(cell, claim["over"])
    if ours is None or over is None:
        return None
    compared = solvers.compare(over, ours)
    return {"value": compared["ratio"], "spread": compared["paired"], "ours": ours["name"], "over": over["name"]}


def where(cell):
    """The transport and latency of a cell in a word or two."""
    return cell["transport"] + (f", {cell['latency_us']:g} us" if cell["latency_us"] else "")


def simulated(claim):
    """[[ranks, speed-up], ...] of the iterations simulated of both, which are taken to be worth the same."""
    found = claim.get("simulated", {})
    over = dict(map(tuple, found.get("over", [])))
    return [[ranks, over[ranks] / each] for ranks, each in found.get("ours", []) if ranks in over]


def claims(results):
    """[(claim, [(cell, speed-up), ...]), ...] in the order of the campaign; no cells for a claim that is only told."""
    rows = []
    for campaign in results.campaigns.values():
        for claim in campaign.get("claims", []):
            cells = [cell for cell in results.cells if cell["status"] == "done" and cell["experiment"] in claim.get("experiments", [])]
            rows.append((claim, [(cell, speedup(cell, claim)) for cell in cells]))
    return rows


def counted(solver):
    """Reductions and products of an iteration as MPI and the operator counted them, in the mean of the solves."""
    samples = [sample for sample in solver["samples"] if sample["iterations"]]
    if not samples:
        return {}
    found = {"reductions": lambda one: one["reductions_blocking"] + one["reductions_nonblocking"],
             "products": lambda one: one["operator_applications"]}
    return {key: statistics.mean(count(one) / one["iterations"] for one in samples) for key, count in found.items()
            if all(count(one) is not None for one in samples)}


def data(solver):
    """The same of the solver's cost data; empty for other libraries."""
    cost = (solver.get("details") or {}).get("cost")
    return {"reductions": cost["reductions"], "products": cost["operators"], "flops": cost["flops_of_a_row"],
            "vectors": cost["vectors"]} if cost else {}


def counts(results):
    """Rows (entry of the campaign, paper's numbers, cost data, counted), of the first cell that has the solver."""
    rows = []
    for campaign in results.campaigns.values():
        for entry in campaign.get("counts", []):
            cells = [cell for cell in results.cells if cell["status"] == "done" and cell["experiment"] == entry["experiment"]]
            solver = next((one for cell in cells if (one := _chosen(cell, entry["solver"]))), None)
            if solver:
                rows.append((entry, entry["paper"], data(solver), counted(solver)))
    return rows


CLAIM_HEAD = ("speed-up", "paper")
COUNT_HEAD = ["an iteration", "all-reduces: paper", "cost data", "counted", "products: paper", "cost data", "counted", "flops a row: paper",
              "cost data", "vectors: paper", "cost data"]


def _number(value):
    return "-" if value is None else f"{value:.2f}".rstrip("0").rstrip(".")


def count_rows(results):
    """Cells of a table under COUNT_HEAD."""
    rows = []
    for entry, paper, ours, found in counts(results):
        row = [entry["what"]]
        for key in NUMBERS:
            row += [_number(paper.get(key)), _number(ours.get(key)), *([_number(found.get(key))] if key in ("reductions", "products") else [])]
        rows.append(row)
    return rows


def claim_table(results):
    """(head, rows): a column for every transport and latency, the last one for simulations."""
    told = claims(results)
    columns = list(dict.fromkeys(where(cell) for _, cells in told for cell, _ in cells))
    rows = []
    for claim, cells in told:
        found = {where(cell): one for cell, one in cells}
        row = [claim["what"], claim["speedup"]]
        for column in columns:
            one = found.get(column)
            row.append(f"{one['value']:.2f} [{one['spread']['min']:.2f}..{one['spread']['max']:.2f}]" if one else "-")
        rows.append([*row, ", ".join(f"{ranks}: {value:.2f}" for ranks, value in simulated(claim)) or "-"])
    return [*CLAIM_HEAD, *columns, "simulated, ranks: speed-up"], rows
