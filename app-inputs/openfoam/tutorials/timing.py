"""What the pressure solves of a case take with several solvers, which run in turn: seconds, iterations, all-reduces."""

import os
import re
import statistics
import sys

from . import compare, results, workspace
from .errors import RunFailed

LAYER = "libcapstan_latency.so"
# What the latency layer says at the end.
COUNTED = re.compile(r"^capstan latency layer: (\d+) blocking and (\d+) nonblocking all-reduces$", re.MULTILINE)
# A row of the table that Capstan prints at the end of a run: field, method, preconditioner, seven numbers, two more.
SUMMARY = re.compile(r"^(\S+) +\S+ +\S+ +\d+ +\d+ +\d+ +(\d+) +\d+ +\S+ +(\S+) +\S+ +\S+ +\S+$", re.MULTILINE)


class Contest:
    """A case on so many ranks, under an emulated latency of an all-reduce in microseconds: the samples of its solvers.

    counted: the latency layer counts the all-reduces of whole runs, OpenFOAM's own among them; with a latency it is there anyhow.
    """

    def __init__(self, case, steps, choices, ranks, latency=0.0, counted=False):
        self.case, self.steps, self.choices, self.ranks, self.latency = case, steps, list(choices), ranks, latency
        self.counted = counted and ranks > 1
        self.samples = {choice: [] for choice in self.choices}

    def use(self, prepared, folder, build):
        """Runs take place in a folder, on copies of a prepared case."""
        self.prepared, self.folder, self.layer = prepared, folder, build / "lib" / LAYER
        self.env = {**workspace.environment(build, self.ranks), "CAPSTAN_FOAM_SUMMARY": "1"}

    def measure(self, turn, choice, timeout):
        """One run; adds a sample."""
        exported = {}
        if self.latency or self.counted:
            # Ranks that wait for an emulated network must not take the cores from those that work.
            exported = {"LD_PRELOAD": str(self.layer), "CAPSTAN_LATENCY_US": f"{self.latency:g}", "CAPSTAN_LATENCY_WAIT": "yield",
                        "CAPSTAN_LATENCY_COUNT": "yes" if self.counted else "no"}
        done = workspace.start(self.case, self.prepared, self.folder, choice, self.ranks, self.env, self.steps, timeout,
                               exported=exported)
        pressure = [solve for solve in done.solves if results.is_one_of(solve.field, self.case.pressure)]
        own, all_fields = compare.summed_seconds(done.seconds, self.case.pressure)
        self.samples[choice].append({
            "turn": turn, "seconds": own, "seconds_of_all_fields": all_fields,
            "solves": len(pressure), "iterations": sum(solve.iterations for solve in pressure),
            "unconverged": sum(not solve.converged for solve in pressure),
            "reductions_an_iteration": reductions(done.log, self.case.pressure),
            "reductions_a_step": reductions_a_step(done.log, self.steps) if self.counted else None})

    def seconds(self, choice):
        return {sample["turn"]: sample["seconds"] for sample in self.samples[choice]}


def progress(text):
    """One line that the next one overwrites, on a terminal; nothing elsewhere."""
    if os.environ.get("CAPSTAN_PROGRESS") == "1" or ("CAPSTAN_PROGRESS" not in os.environ and sys.stderr.isatty()):
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def shown(samples, key):
    """(the sample of least seconds, what most of a turn's solves have not converged): a turn in which some fail must not go unseen."""
    return min(samples, key=lambda sample: sample[key]), max(sample["unconverged"] for sample in samples)


def spread(values, digits):
    """median [least..greatest]"""
    values = list(values)
    return f"{statistics.median(values):.{digits}f} [{min(values):.{digits}f}..{max(values):.{digits}f}]"


def reductions_a_step(log, steps):
    """All-reduces of the whole run, all fields and OpenFOAM's own included, as the latency layer counts them on rank 0."""
    found = COUNTED.search(log)
    if not found:
        raise RunFailed("the latency layer has not said how many all-reduces there were")
    return (int(found[1]) + int(found[2])) / steps


def reductions(log, pressure):
    """All-reduces an iteration of the pressure's solves, from the table that Capstan prints; None where it prints none."""
    rows = [(int(count), float(each)) for field, count, each in SUMMARY.findall(log)
            if results.is_one_of(field.rpartition("/")[2], pressure) and each not in ("-", "")]
    iterations = sum(count for count, _ in rows)
    return sum(count * each for count, each in rows) / iterations if iterations else None
