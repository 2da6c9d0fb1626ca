"""What the scripts share that run a host's own programs with its solvers and with Capstan's: the environment of a run, and times."""

import os
import pathlib
import statistics
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# (microseconds, whether M is multigrid): who, and the share of the time of the host's fastest that it is meant to take.
GOALS = {(0, False): ("the fastest of ours", 1.0), (0, True): ("the fastest of ours", 1.0),
         (200, False): ("the fastest s-step or pipelined one", 0.5), (200, True): ("the fastest s-step or pipelined one", 0.9)}


def commit():
    """Capstan's; nothing where it is no git work tree."""
    found = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return found.stdout.strip()


def environment(**more):
    """That of an MPI run on few cores."""
    found = dict(os.environ, OMP_NUM_THREADS="1", **more)
    lines = subprocess.run(["sh", ROOT / "cmake/run_environment.sh", "--oversubscribed"], capture_output=True, text=True, check=True)
    found.update(line.split("=", 1) for line in lines.stdout.splitlines() if "=" in line)
    return found


def delayed(library, latency, ranks):
    """Words before a program that let its all-reduces take so many microseconds. To the program alone: mpiexec is no MPI program."""
    wait = "spin" if ranks <= (os.cpu_count() or 1) else "yield"
    return ["env", f"LD_PRELOAD={library}", f"CAPSTAN_LATENCY_US={latency:g}", f"CAPSTAN_LATENCY_WAIT={wait}"]


def interleaved(contestants, repeat, minutes=None):
    """{name: what each round told} of {name: function}. Each runs once a round, every other round backwards, so that what else the
    machine does meets all of them. No round begins that would end after so many minutes, but the first."""
    told = {name: [] for name in contestants}
    begun = time.monotonic()
    for number in range(repeat):
        for name in list(contestants)[::-1 if number % 2 else 1]:
            told[name].append(contestants[name]())
        taken = time.monotonic() - begun
        if minutes is not None and taken * (number + 2) / (number + 1) > 60 * minutes:
            break
    return told


def hides_reductions(name):
    return "sstep" in name or "pipelined" in name


class Times:
    """Prints times over that of the host's fastest, and whether the goals are met."""

    WIDTHS = "{:49} {:>5} {:>6}  {:34} {:>10}  {:>6} {:>6} {:>6}"

    def __init__(self, host, rounds):
        self.missed = []
        print(f"\nTime of the solves over that of the fastest of {host}'s own methods, in the same round; an all-reduce takes so many us, emulated.")
        print(f"Median, least and most of {rounds} rounds.\n")
        print(self.WIDTHS.format("program", "ranks", "us", "solver", "median s", "ratio", "least", "most"))

    def add(self, program, ranks, latency, multigrid, own, ours):
        """Of {name: seconds of each round}: the host's methods, and Capstan's."""
        best = min(own, key=lambda name: statistics.median(own[name]))
        ratios = {name: [one / other for one, other in zip(seconds, own[best])] for name, seconds in {**own, **ours}.items()}
        for name, seconds in {**own, **ours}.items():
            found = ratios[name]
            print(self.WIDTHS.format(program, ranks, f"{latency:g}", name, f"{statistics.median(seconds):.4f}", f"{statistics.median(found):.2f}",
                                     f"{min(found):.2f}", f"{max(found):.2f}"), flush=True)
        if (latency, multigrid) not in GOALS:
            return
        whose, goal = GOALS[latency, multigrid]
        judged = {name: statistics.median(ratios[name]) for name in ours if latency == 0 or hides_reductions(name)}
        first = min(judged, key=judged.get)
        met = judged[first] <= goal
        print(f"    {whose}, {first}, takes {judged[first]:.2f} of {best}; goal {goal:.2f}: {'met' if met else 'missed'}", flush=True)
        if not met:
            self.missed.append(f"{program}, {ranks} ranks, {latency:g} us")

    def end(self):
        print("\nall goals of time are met" if not self.missed else "\ngoals of time that are missed: " + "; ".join(self.missed))
