"""What solvers_bench's samples say: who solved, medians, and the ratios that follow."""

from report import statistics

LIBRARIES = ("belos", "petsc", "hypre")
# A solver that tests another norm may stop a little early or late; beyond this factor it has not solved the system.
AGREEMENT = 10.0
APPLICATIONS = ("operator_applications", "preconditioner_applications")


def solved(solver):
    """Whether every solve of it ended with a residual that agrees with the tolerance."""
    samples = solver["samples"]
    return bool(samples) and all(
        sample["failure"] is None and sample["claimed_converged"] and sample["relative_residual"] is not None
        and sample["relative_residual"] <= AGREEMENT * solver["tolerance"] for sample in samples)


def failure(solver):
    """What stopped it, on one line, or None."""
    for sample in (solver["first"], *solver["samples"]):
        if sample["failure"] is not None:
            return " ".join(sample["failure"].split())
    return None


def applications(solver, name):
    """Those of the first solve, and the mean of the later ones; None where they are not known. name: of APPLICATIONS."""
    later = [sample[name] for sample in solver["samples"] if sample.get(name) is not None]
    return {"first": solver["first"].get(name), "later": sum(later) / len(later) if later else None}


def seconds_by_turn(solver):
    """{turn: seconds of its solve}"""
    return {sample["turn"]: sample["seconds"] for sample in solver["samples"]}


def median(solver):
    """The median of the seconds of its solves."""
    return solver["summary"]["seconds"]["median"]


def of_library(group, library):
    """Those of a library."""
    return [solver for solver in group if solver["library"] == library]


def fastest(group):
    """The solver with the smallest median among those that solved, or None."""
    return min((solver for solver in group if solver["summary"]["solved"]), key=median, default=None)


def compare(solver, peer):
    """Median against the peer's median, and the spread of the ratio over turns."""
    paired = statistics.spread(statistics.paired_ratios(seconds_by_turn(solver), seconds_by_turn(peer)))
    return {"peer": peer["name"], "ratio": median(solver) / median(peer), "paired": paired}


def summarize(system):
    """Adds "summary" to every solver of a system: seconds, and the ratio to the fastest peers of its group."""
    for solver in system["solvers"]:
        samples = [sample for sample in solver["samples"] if sample["failure"] is None]
        solver["summary"] = {"solved": solved(solver), "failure": failure(solver),
                             "seconds": statistics.spread([sample["seconds"] for sample in samples]),
                             "iterations": statistics.spread([sample["iterations"] for sample in samples]),
                             **{name: applications(solver, name) for name in APPLICATIONS}}
    for name in dict.fromkeys(solver["group"] for solver in system["solvers"]):
        group = [solver for solver in system["solvers"] if solver["group"] == name]
        for library in LIBRARIES:
            peer = fastest(of_library(group, library))
            for solver in group:
                able = peer is not None and solver["summary"]["solved"]
                solver["summary"][f"against_{library}"] = compare(solver, peer) if able else None
    return system
