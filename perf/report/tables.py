"""results.json as text."""

from report import solvers, sweep_table
from report.columns import aligned, applications

# Share of STREAM's bandwidth a kernel should reach, by the number of columns of V.
TARGETS = {1: 0.8, 5: 0.8, 10: 0.6}


def _range(spread, form):
    return f"{form.format(spread['median'])} [{form.format(spread['min'])}..{form.format(spread['max'])}]"


def kernel_lines(run):
    """One block of lines for one number of workers: a line a case."""
    stream = _range(run["stream_triad_gigabytes_per_second"], "{:.1f}")
    lines = [f"Kernels, {run['workers']} at once on {run['execution_space']}; STREAM triad {stream} GB/s"]
    rows = []
    for case in sorted(run["cases"], key=lambda case: (case["kernel"], case["n"], case["s"])):
        summary = case["summary"]
        rows.append([case["kernel"], str(case["n"]), str(case["k"]), str(case["s"]),
                     _range(summary["gigabytes_per_second"], "{:.1f}"), f"{summary['of_stream']['median']:.2f}",
                     f"{summary['moved_of_stream']['median']:.2f}", f"{TARGETS.get(case['s'], 0.8):.2f}"])
    head = ["kernel", "n", "k", "s", "GB/s [min..max]", "of STREAM", "read+write", "target"]
    return lines + aligned(head, rows)


def _reductions(sample):
    per = max(sample["iterations"], 1)
    return f"{sample['reductions_blocking'] / per:.2f}+{sample['reductions_nonblocking'] / per:.2f}"


def _ratio(comparison):
    return "-" if comparison is None else f"{comparison['ratio']:.2f}"


def iterations(spread):
    """The median, and the least and greatest where turns differ."""
    if spread["min"] == spread["max"]:
        return str(spread["max"])
    return _range(spread, "{:g}")


def solver_row(solver):
    summary = solver["summary"]
    if not solver["samples"]:
        return [solver["name"], solver["library"], *["-"] * 7, "FAILED", *["-"] * len(solvers.LIBRARIES)]
    last = solver["samples"][-1]
    residual = "-" if last["relative_residual"] is None else f"{last['relative_residual']:.1e}"
    milliseconds = {name: 1e3 * value if value is not None else float("nan")
                    for name, value in summary["seconds"].items()}
    return [solver["name"], solver["library"], iterations(summary["iterations"]), _reductions(last),
            *(applications(summary[name]) for name in solvers.APPLICATIONS), residual,
            _range(milliseconds, "{:.1f}"), f"{1e3 * solver['first']['seconds']:.1f}",
            "yes" if summary["solved"] else "FAILED" if summary["failure"] else "NO",
            *(_ratio(summary.get(f"against_{library}")) for library in solvers.LIBRARIES)]


def best_lines(group, name):
    """One sentence: the fastest of ours against the fastest of Belos."""
    ours, peer = (solvers.fastest(solvers.of_library(group, library)) for library in ("capstan", "belos"))
    if ours is None or peer is None:
        return []
    found = solvers.compare(ours, peer)
    return [f"fastest {name}: '{ours['name']}' takes {found['ratio']:.2f} of the time of Belos' fastest, "
            f"'{peer['name']}' (turn by turn {_range(found['paired'], '{:.2f}')})"]


def emulation_lines(campaign):
    """A line that nobody overlooks where the latency layer was loaded."""
    emulation = campaign.get("emulation")
    if not emulation:
        return []
    return ["EMULATED latency, not this machine's times: " + ", ".join(f"{name}={value}" for name, value in emulation.items())]


def system_lines(campaign, system):
    lines = [*emulation_lines(campaign), f"{system['name']}: {system['rows']} rows, {system['entries']} entries, "
             f"{campaign['ranks']} ranks, {campaign['repeat']} turns, seed {campaign['seed']}"
             + (", another right-hand side in each turn" if campaign.get("right_hand_side") == "changing" else "")]
    head = ["solver", "library", "iterations", "all-reduces/iteration", "A: first/later",
            "M: first/later", "residual", "ms [min..max]", "first", "solved",
            *(f"/{library}" for library in solvers.LIBRARIES)]
    for name in dict.fromkeys(solver["group"] for solver in system["solvers"]):
        group = [solver for solver in system["solvers"] if solver["group"] == name]
        group.sort(key=lambda solver: solver["summary"]["seconds"]["median"] or float("inf"))
        lines += ["", *aligned([f"{name} solver", *head[1:]], [solver_row(solver) for solver in group])]
        lines += [f"{solver['name']}: {solver['summary']['failure']}" for solver in group
                  if solver["summary"]["failure"]]
        lines += best_lines(group, name)
    return lines


def busy_lines(results):
    """A warning where others were using the machine when we began."""
    load, cores = results["load_average"]["start"], results["machine"]["cores"]
    if load <= 0.25 * cores:
        return []
    return [f"Warning: the machine was busy at the start (load {load:.1f} on {cores} cores); do not trust the times."]


def text(results):
    """Everything, as it is printed."""
    machine = results["machine"]
    changed = " with changes" if results["changed_since_commit"] else ""
    lines = [f"{machine['processor']}, {machine['cores']} cores; commit {(results['commit'] or 'unknown')[:12]}{changed}; "
             f"{results['date']}"]
    lines += busy_lines(results) + [f"Note: {remark}" for remark in results["remarks"]]
    if not results["complete"]:
        lines.append("Not complete: the run was interrupted or failed, or goes on.")
    for run in results["kernels"]:
        lines += ["", *kernel_lines(run)]
    if results["kernels"]:
        lines += ["of STREAM: bytes of distinct data over the triad's bandwidth; read+write: a vector that is read and "
                  "written counted twice, as STREAM counts."]
    for campaign in results["campaigns"]:
        for system in campaign["systems"]:
            lines += ["", *system_lines(campaign, system)]
        lines += campaign["notes"]
    for sweep in results["sweeps"]:
        lines += ["", *sweep_table.lines(sweep)]
    if results["campaigns"]:
        lines += ["", "all-reduces: blocking+nonblocking, of the last turn. A, M: applications of matrix and preconditioner in the "
                  "first solve, and the mean of the later ones.",
                  "first: the warm-up solve, ms. /belos, /petsc, /hypre: median over that of the fastest solver of the library in "
                  "this table."]
    return "\n".join(lines) + "\n"
