"""The solver benchmark: one campaign, all solvers taking turns, and the ratios that follow."""

import json
import pathlib
import sys
import tempfile

from report import processes, statistics

PROGRAM = "solvers_bench"
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


def _run(programs, command_of, folder, name, crashed):
    """Runs solvers_bench, and again without the solver at work where it crashes. `crashed` grows; `command_of`: the
    command line for a list of such solvers."""
    log = folder / f"{name}.log"  # what the solvers print
    marker = folder / f"{name}.running.tmp"
    while True:
        try:
            programs.run([*command_of(crashed), "--marker", str(marker)], log=log)
            return
        except processes.Crash:
            at_work = marker.read_text(encoding="utf-8") if marker.exists() else ""
            if not at_work or at_work in crashed:
                raise
            print(f"bench: note: '{at_work}' crashed; starting again without it", file=sys.stderr)
            crashed.append(at_work)
        finally:
            marker.unlink(missing_ok=True)
            if log.exists() and log.stat().st_size == 0:
                log.unlink()


def _words(arguments, campaign):
    """What solvers_bench is told of a campaign in any case."""
    words = [str(campaign)]
    for override in arguments.overrides:
        words += ["--set", override]
    for library in ("petsc", "hypre"):
        methods = getattr(arguments, library)
        words += [f"--{library}", methods] if methods else []
    return words


def check(programs, arguments, campaign):
    """What the campaign asks for itself: {"repeat": turns, "latency": [microseconds, ...]}, None for what it leaves open.
    Raises Misuse, after solvers_bench has said why, where it cannot be run as asked for."""
    with tempfile.TemporaryDirectory(prefix="capstan-bench-") as folder:
        said = pathlib.Path(folder) / "campaign.json"
        programs.run(programs.mpi_command(1, PROGRAM, *_words(arguments, campaign), "--check", "--output", str(said)))
        return json.loads(said.read_text(encoding="utf-8"))


def turns(arguments, asked=None):
    """Timed solves of each solver: the command line comes first, then the campaign. asked: see check()."""
    return arguments.repeat or (3 if arguments.quick else (asked or {}).get("repeat") or 7)


def latencies(arguments, asked):
    """The emulated latencies to run a campaign under, ascending; [None]: as the machine is. asked: see check()."""
    return arguments.latency or sorted(set(asked["latency"] or [])) or [None]


def measure(programs, arguments, campaign, folder, keep, latency=None, crashed=None, asked=None):
    """Runs one campaign and hands its element of results.json's "campaigns" to `keep`; where the run is interrupted or
    fails, one with the systems that were done, if any.

    latency: emulated, in microseconds; 0 and None: the machine's own. crashed: solvers known to crash; grows. asked: what
    check() returned."""
    crashed = [] if crashed is None else crashed
    name = campaign.stem + (f"-{latency:g}us" if latency is not None else "")
    raw = folder / f"{name}.json.tmp"
    words = [*_words(arguments, campaign), "--output", str(raw), "--seed", str(arguments.seed),
             "--repeat", str(turns(arguments, asked))]
    words += ["--mpi-threads"] if arguments.mpi_threads else []

    def command_of(known):
        left_out = [word for solver in known for word in ("--crashed", solver)]
        return programs.mpi_command(arguments.ranks, PROGRAM, *words, *left_out, latency=latency)

    try:
        _run(programs, command_of, folder, name, crashed)
    finally:
        raw.with_name(raw.name + ".tmp").unlink(missing_ok=True)  # its draft, where solvers_bench was ended
        if raw.exists():
            result = json.loads(raw.read_text(encoding="utf-8"))
            raw.unlink()
            result.update(name=campaign.stem, mpirun_command=command_of(crashed), emulated_latency_us=latency)
            if latency and not result["emulation"]:
                raise processes.Failure("the latency layer did not reach solvers_bench; its times are not used")
            for system in result["systems"]:
                summarize(system)
            keep(result)
