"""A campaign's results as text."""

import textwrap

from campaign import limits, papers, sweep, verdicts
from report import kernels, machine, solvers
from report.columns import aligned, applications


def _spread(values, form="{:.2f}"):
    return f"[{form.format(values['min'])}..{form.format(values['max'])}]" if values and values["median"] is not None else ""


def ratio(found):
    """A ratio and its range turn by turn, of verdicts.compare()."""
    return "-" if found["value"] is None else f"{found['value']:.2f} {_spread(found['spread'])}"


def solver_rows(cell, group):
    """Cells of the table of one group under SOLVER_HEAD, fastest first."""
    members = [one for one in cell["solvers"] if one["group"] == group]
    rows = []
    for one in sorted(members, key=lambda s: s["summary"]["seconds"]["median"] or float("inf")):
        summary = one["summary"]
        if summary["seconds"]["median"] is None:
            rows.append([one["name"], one["library"], *["-"] * (SOLVED - 2), "FAILED", *["-"] * (len(SOLVER_HEAD) - SOLVED - 1)])
            continue
        last = one["samples"][-1]
        per = max(1, last["iterations"])
        over = limits.over(cell, one) if summary["solved"] else None
        milliseconds = {key: 1e3 * value for key, value in summary["seconds"].items()}
        against = [summary[f"against_{library}"] for library in solvers.LIBRARIES]
        rows.append([one["name"], one["library"], iterations(summary["iterations"]),
                     f"{last['reductions_blocking'] / per:.2f}+{last['reductions_nonblocking'] / per:.2f}",
                     *(applications(summary[name]) for name in solvers.APPLICATIONS),
                     "-" if last["relative_residual"] is None else f"{last['relative_residual']:.1e}",
                     f"{milliseconds['median']:.2f}", f"{milliseconds['upper_quartile']:.2f}", _spread(milliseconds), f"{1e3 * one['first']['seconds']:.1f}",
                     "yes" if summary["solved"] else "FAILED" if summary["failure"] else "NO",
                     *("-" if peer is None else f"{peer['ratio']:.2f}" for peer in against), f"{over:.2f}" if over else "-"])
    return rows


def failures(cell, group):
    return [f"{one['name']}: {one['summary']['failure']}" for one in cell["solvers"]
            if one["group"] == group and one["summary"]["failure"]]


def best_lines(cell, group):
    """One sentence: the fastest of ours against the fastest of Belos."""
    found = verdicts.compare(cell, {"group": group, "peer": "belos"})
    if found["value"] is None:
        return []
    return [f"fastest {group}: '{found['ours']}' takes {found['value']:.2f} of the time of Belos' fastest, "
            f"'{found['peer'].partition(': ')[2]}' (turn by turn {found['spread']['median']:.2f} {_spread(found['spread'])})"]


def iterations(spread):
    """The median, and the least and greatest where turns differ."""
    if spread["min"] == spread["max"]:
        return str(spread["max"])
    return f"{spread['median']:g} {_spread(spread, '{:g}')}"


SOLVER_HEAD = ["solver", "library", "iterations", "all-reduces", "A: first/later", "M: first/later", "residual", "ms", "upper quartile", "least..most",
               "first", "solved", *(f"/{library}" for library in solvers.LIBRARIES), "/ limit"]
SOLVED = SOLVER_HEAD.index("solved")
LEGEND = ("all-reduces: an iteration, blocking+nonblocking. A, M: applications of matrix and preconditioner in the first solve, and the "
          "mean of the later ones. first: the warm-up solve, ms. /belos, /petsc, /hypre: median over that of the fastest solver of the "
          "library in this table that solved. / limit: median over bytes / bandwidth + all-reduces * time of one, both measured in the run.")
TARGET_HEAD = ["cell", "kind", "at most", "found", "upper quartile", "turn by turn", "verdict", "ours", "peer"]


def target_rows(results):
    rows = []
    for one in verdicts.targets(results):
        verdict = {None: f"NONE: {one.get('reason')}", True: "held", False: "MISSED"}[one["held"]]
        found = "-" if one["value"] is None else f"{one['value']:.2f}"
        upper = (one.get("spread") or {}).get("upper_quartile")
        rows.append([one["title"], verdicts.kind(one), f"{one['at_most']:.2f}", found, "-" if upper is None else f"{upper:.2f}", _spread(one.get("spread")),
                     verdict, one.get("ours") or "-", one.get("peer") or "-"])
    return rows


def phase_rows(cell):
    """Where the time beyond the limit goes: of each solver that has one, milliseconds of each phase, and of its limit."""
    rows = []
    for one in cell["solvers"]:
        limit, found = limits.seconds(cell, one), limits.phases(one)
        if limit and found and one["summary"]["solved"]:
            row = [one["name"], f"{limits.over(cell, one):.2f}"]
            for name in limits.PHASES[:-1]:
                row += [f"{1e3 * found[name]:.2f}", f"{1e3 * limit['phases'][name]:.2f}"]
            rows.append([*row, f"{1e3 * found['rest']:.2f}"])
    return rows


PHASE_HEAD = ["solver", "/ limit", "operator, ms", "limit", "M", "limit", "vectors", "limit", "reduction wait", "limit", "rest"]


def cell_lines(cell, flags):
    lines = ["", cell["title"]]
    if cell["status"] != "done":
        return [*lines, f"  FAILED: {cell['reason']}"]
    found = limits.machine(cell["reference"])
    changing = ", another right-hand side in each" if cell.get("right_hand_side") == "changing" else ""
    lines += [f"  {cell['rows']} rows, {cell['entries']} entries, {cell['repeat']} turns{changing}; triad {found['memory'] / 1e9:.1f} GB/s in "
              f"memory, {found['working_set'] / 1e9:.1f} on the working set; all-reduce {1e6 * found['all_reduce']:.1f} us"]
    lines += [f"  Warning: {word}" for word in flags] + [f"  Note: {word}" for word in cell["notes"]]
    for group in dict.fromkeys(one["group"] for one in cell["solvers"]):
        head = [f"{group} solver", *SOLVER_HEAD[1:]]
        lines += ["", *aligned(head, solver_rows(cell, group)), *failures(cell, group), *best_lines(cell, group)]
    rows = phase_rows(cell)
    return lines + (["", *aligned(PHASE_HEAD, rows)] if rows else [])


def paper_lines(results):
    """What papers report, and what was found here."""
    lines = []
    head, rows = papers.claim_table(results)
    if any(cells for _, cells in papers.claims(results)):
        lines += ["", *aligned(head, rows), *(f"Differs, {claim['what']}: {claim['where']}. Here: {claim['differs']}."
                                              for claim, cells in papers.claims(results) if cells)]
    rows = papers.count_rows(results)
    return lines + (["", *aligned(papers.COUNT_HEAD, rows)] if rows else [])


def text(results):
    """Everything, as it is printed."""
    lines = []
    for campaign in results.campaigns.values():
        lines += [campaign["title"]]
    for where in results.environments.values():
        lines += machine.lines(where)
    if len({cell["environment"] for cell in results.cells}) > 1:
        lines += ["Note: cells come from different machines, builds or commits; compare only within a cell."]
    flags = verdicts.flags([cell for cell in results.cells if cell["status"] == "done"])
    for cell in results.cells:
        lines += cell_lines(cell, flags.get(cell["key"], []))
    lines += sweep.lines(results.cells)
    for run in results.kernels:
        lines += ["", kernels.title(run), *aligned(kernels.HEAD, kernels.rows(run))]
    if results.kernels_reason:
        lines += ["", f"Kernels FAILED: {results.kernels_reason}"]
    if results.missing:
        lines += ["", f"Not run yet: {len(results.missing)} cells."]
    rows = target_rows(results)
    if rows:
        lines += ["", *aligned(TARGET_HEAD, rows)]
        flagged = sorted({one["title"] for one in verdicts.targets(results) if one["key"] in flags})
        lines += [f"Flagged by the noise check: {title}" for title in flagged]
        lines += [f"Tried for '{one['title']}' ({verdicts.kind(one)}): {one['tried']}"
                  for one in verdicts.targets(results) if one["held"] is False and one.get("tried")]
    lines += paper_lines(results)
    if results.cells:
        lines += ["", *textwrap.wrap(LEGEND, 140)]
    if results.kernels:
        lines += ["", "of STREAM: bytes of distinct data over the triad's bandwidth; read+write: a vector that is read and written counted "
                  "twice, as STREAM counts."]
    return "\n".join(lines) + "\n"
