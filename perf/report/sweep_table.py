"""A latency sweep as text."""

import textwrap

from report.columns import aligned, applications

# What stands beside the ratios of the paper, so that nobody takes them for the same experiment.
PAPER = textwrap.wrap(
    "The paper: Yamazaki, Hoemmen, Luszczek, Dongarra 2017, section V: up to 300 processes of Tsubame2 (12 Xeon cores a node, "
    "MPICH 3.2 over IP on InfiniBand, one core a process left to MPI's progress thread; an all-reduce over 240 processes took "
    "it about 230 us), 2D and 3D Laplace with 1e6 to 2e6 unknowns, 20 restart cycles of 20 or 30 steps, best of five runs. "
    "Here: the ranks of one machine, the system named above solved to its tolerance, medians; the latency is emulated: a "
    "reduction costs time, but no bandwidth, no noise and no work of the cores.", 124)


def _cell(solver, index):
    seconds, ratio = solver["seconds"][index], solver["over_fastest_peer"][index]
    if seconds is None:
        return "not solved"
    return f"{1e3 * seconds:.1f} ({ratio:.2f})" if ratio is not None else f"{1e3 * seconds:.1f}"


def _numbers(values):
    return ["-" if value is None else f"{value:.2f}" for value in values]


def _count_lines(group, solvers, titles):
    """Applications of M at each latency, of A where no solver has a preconditioner; none where nobody knows."""
    for what, name in (("M", "preconditioner_applications"), ("A", "operator_applications")):
        rows = [[solver["name"], *(applications(counts) for counts in solver.get(name, []))] for solver in solvers]
        if any(cell != "-" for row in rows for cell in row[1:]):
            return ["", *aligned([f"{group['name']}: applications of {what}, first solve/mean of the later ones", *titles], rows)]
    return []


def _group_lines(group, latencies):
    titles = [f"{latency:g} us" for latency in latencies]
    last = {solver["name"]: solver["seconds"][-1] for solver in group["solvers"]}
    solvers = sorted(group["solvers"], key=lambda solver: last[solver["name"]] or float("inf"))
    rows = [[solver["name"], solver["library"], *(_cell(solver, index) for index in range(len(latencies)))]
            for solver in solvers]
    counts = _count_lines(group, solvers, titles)
    lines = ["", *aligned([f"{group['name']} solver", "library", *titles], rows), ""]
    ratios = [["Capstan's fastest over the fastest peer", *_numbers(group["own_over_peer"]), ""]]
    ratios += [[ratio["name"], *_numbers(ratio["values"]), ratio["paper"] or ""] for ratio in group["ratios"]]
    lines += aligned(["ratio of times", *titles, "paper"], ratios)
    return lines + [duel["text"] for duel in group["duels"]] + counts


def lines(sweep):
    """All lines of one element of results.json's "sweeps"."""
    out = []
    for system in sweep["systems"]:
        out += [f"EMULATED latency, campaign {sweep['campaign']}, {system['name']}, {sweep['ranks']} ranks: ms, and in "
                "brackets the ratio to the fastest peer (Belos, PETSc, hypre) of the group.",
                "No all-reduce completes sooner than the latency after its start; 0 us: without the emulating layer."]
        for group in system["groups"]:
            out += _group_lines(group, sweep["latencies_us"])
        out += [""]
    if any(ratio["paper"] for system in sweep["systems"] for group in system["groups"] for ratio in group["ratios"]):
        out += PAPER
    return out
