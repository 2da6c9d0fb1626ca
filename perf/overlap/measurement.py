"""The runs of the overlap benchmark: which there are, their turns, and the medians that follow."""

import random

import implementations
from report import processes, statistics

QUICK = ["--bytes", "8,64", "--iterations", "5", "--warmup", "1", "--simultaneous", "1,2", "--simultaneous-bytes", "8"]
TIMES = ("t_pure_us", "t_cpu_us", "t_cpu_alone_us", "t_ovrl_us", "t_wait_us", "overlap_percent", "overlap_imb_percent")


def combinations(found, arguments):
    """Every run of a turn: name and what Implementation.command needs."""
    runs = []
    for mpi in found:
        for transport in arguments.transport:
            for asynchronous in ((False, True) if mpi.name == "mpich" else (False,)):
                for emulated in (None, *arguments.emulated):
                    if emulated is not None and (transport != "shm" or asynchronous):
                        continue
                    for tests in (0, arguments.tests):
                        words = [mpi.name, transport, "async" * asynchronous, f"{tests} tests" * (tests > 0),
                                 "" if emulated is None else f"emulated {emulated:g} us"]
                        runs.append({"name": " ".join(word for word in words if word), "mpi": mpi,
                                     "transport": transport, "asynchronous": asynchronous, "emulated": emulated,
                                     "tests": tests, "samples": [], "problems": []})
    return runs


def measure(runs, arguments, keep):
    """All turns. Within a turn the order is drawn anew, so that a change of the machine's mood hits all alike. `keep` is
    called after each turn with their number, and whether that was all."""
    order = random.Random(arguments.seed)
    options = QUICK if arguments.quick else ["--iterations", str(arguments.iterations)]
    turns = 1 if arguments.quick else arguments.repeat
    for turn in range(turns):
        for run in order.sample(runs, len(runs)):
            processes.progress(f"turn {turn + 1} of {turns}: {run['name']}")
            command, environment = run["mpi"].command(arguments.ranks, run["transport"], run["asynchronous"],
                                                      run["emulated"], [*options, "--tests", str(run["tests"])])
            result, problem = implementations.attempt(command, environment, arguments.timeout)
            if result is not None:
                run["samples"].append({"turn": turn, **result})
            if problem:
                run["problems"].append(f"turn {turn + 1}: {problem}")
        keep(turn + 1, turn + 1 == turns)
    processes.progress("")


def summarize(run):
    """Medians and spreads over the turns, for one combination."""
    lines = zip(*(sample["overlap"] for sample in run["samples"]))
    groups = zip(*(sample["simultaneous"] for sample in run["samples"]))
    return {
        **{key: run[key] for key in ("name", "transport", "asynchronous", "tests", "problems", "samples")},
        "implementation": run["mpi"].name,
        "emulated_latency_us": run["emulated"],
        "threads": run["samples"][0]["threads"] if run["samples"] else None,
        "overlap": [{"bytes": line[0]["bytes"], **{key: statistics.spread([one[key] for one in line]) for key in TIMES}}
                    for line in lines],
        "simultaneous": [{"bytes": group[0]["bytes"], "count": group[0]["count"],
                          **{key: statistics.spread([one[key] for one in group]) for key in ("time_us", "ratio")}}
                         for group in groups],
    }
