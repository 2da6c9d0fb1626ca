#!/usr/bin/env python3
"""Says which solver to write into an OpenFOAM case, a deck or a program over hypre, PETSc or code_saturne, from runs of it.
`./capstan advise` starts it.

usage: advise.py CASE|DECK [--ranks N] [--latency US,...] [--turns N] [--steps S] [--field NAME] [--solver NAME]
       advise.py hypre_pcg|petsc|saturne_pressure|... [the same, but for steps, field and solver] -- application [its arguments]

A copy of the case, or the deck, or the program is solved by its own solver and by each of Capstan's in turn: as this machine is, and
as if an all-reduce took longer (emulated). Solvers that fall behind are left out after each turn. The case itself stays as it is.
Exit status: 0 done, 1 a run failed, 2 wrong use, 3 something must be installed or built first, 130 interrupted.
"""

import argparse
import csv
import json
import os
import pathlib
import statistics
import sys
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "adapters/tools/plot")]

# pylint: disable=wrong-import-position
import choices  # noqa: E402
import hosts  # noqa: E402
import subjects  # noqa: E402
from subjects import OWN  # noqa: E402
from tutorials import compare, results, timing, workspace, yaml_text  # noqa: E402
from tutorials.errors import NotInstalled, RunFailed, WrongUse, exit_status  # noqa: E402

# A solver stays if its least time is at most so many times the fastest one's, after the first turn and later ones, and so do the
# first LEAST_KEPT: a run alone may be disturbed.
KEPT, LEAST_KEPT = (1.6, 1.3), 5
# Runs of the own solver that lie further apart tell of a machine that does other work.
QUIET = 1.3
# What a solver has to gain before a change is worth the user's while.
WORTH = 0.95
# A run that takes so many times the own solver's is cut short.
PATIENCE, LEAST_SECONDS = 4, 30
SHOWN = 6
# They minimise the residual that the tolerance is asked of: x has larger errors then.
LEAST_RESIDUAL = ("capstan_cr", "capstan_pipelined_cr")


def numbers(text):
    try:
        values = [float(word) for word in text.split(",")]
    except ValueError:
        values = [-1.0]
    if not values or min(values) < 0 or max(values) > 1e6:
        raise argparse.ArgumentTypeError(f"found '{text}'; allowed: microseconds, 0 to 1e6, separated by commas")
    return list(dict.fromkeys(values))


def whole(text):
    if not text.isdigit() or not 1 <= int(text) <= 100000:
        raise argparse.ArgumentTypeError(f"found '{text}'; allowed: a whole number from 1 on")
    return int(text)


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise WrongUse(f"{message}\nSee: ./capstan advise --help")


def parser():
    made = Parser(prog="./capstan advise", allow_abbrev=False, description=__doc__.split("\n\n")[0])
    add = made.add_argument
    add("subject", metavar="CASE|DECK|NAME",
        help="the folder of an OpenFOAM case, a deck (a YAML file), or what solves in a program: petsc, hypre_pcg or another one of "
             "hypre's names, saturne_pressure or another field of code_saturne's")
    add("--ranks", type=whole, metavar="N", help="MPI ranks (default: one a core, at most 4)")
    add("--latency", type=numbers, default=[0.0, 200.0], metavar="US,...",
        help="microseconds of an all-reduce; 0: as this machine is (default 0,200)")
    add("--turns", type=whole, default=3, metavar="N", help="how often each solver runs (default 3)")
    add("--steps", type=whole, metavar="S", help="time steps of an OpenFOAM case (default 5)")
    add("--field", metavar="NAME", help="the field of an OpenFOAM case whose solver is sought (default: the pressure)")
    add("--solver", metavar="NAME", help="the entry of a deck's linear_solvers (default: the first)")
    add("--folder", type=pathlib.Path, help="where to work (default <build folder>/run/advise); its old contents go")
    return made


class Trial:
    """All solvers under one latency: their samples by turn, and who is still in."""

    def __init__(self, latency, candidates):
        self.latency, self.candidates, self.dropped = latency, list(candidates), {}
        self.samples = {candidate.label: {} for candidate in candidates}

    def median(self, label):
        return statistics.median(sample.seconds for sample in self.samples[label].values())

    def least(self, label):
        return min(sample.seconds for sample in self.samples[label].values())

    def is_quiet(self):
        own = [sample.seconds for sample in self.samples[OWN].values()]
        return max(own) <= QUIET * min(own)

    def leaves_unsolved(self, label):
        """Whether a run left more unsolved than the own solver does."""
        allowed = max(sample.unconverged for sample in self.samples[OWN].values())
        return any(sample.unconverged > allowed for sample in self.samples[label].values())

    def leave_out(self, turn):
        """Drops those that fell behind, or left more unsolved than the own solver."""
        for label in self.samples:
            if label not in self.dropped and self.leaves_unsolved(label):
                self.dropped[label] = "not converged"
        kept = sorted((label for label in self.samples if label not in self.dropped), key=self.least)
        limit = KEPT[min(turn, len(KEPT) - 1)] * self.least(kept[0])
        for label in kept[LEAST_KEPT:]:
            if label != OWN and self.least(label) > limit:
                self.dropped[label] = "slower"
        self.leave_out_dropped()

    def leave_out_dropped(self):
        """They are not run again: a turn without them has none of their samples."""
        self.candidates = [candidate for candidate in self.candidates if candidate.label not in self.dropped]

    def ratios(self, label):
        """Seconds over the own solver's, turn by turn."""
        own = self.samples[OWN]
        return [sample.seconds / own[turn].seconds for turn, sample in self.samples[label].items() if own[turn].seconds > 0]

    def ranking(self):
        """Labels that were measured in every turn, the fastest first."""
        return sorted((candidate.label for candidate in self.candidates), key=self.median)


def run(subject, trials, turns, all_stay=False, after=None):
    """Measures all candidates of all trials in each turn. all_stay: those that fall behind stay; what fails goes all the same.
    after: called after each turn, with what there is by then."""
    for turn in range(turns):
        for trial in trials:
            limit = None
            # The own solver first, so that nobody waits long for a slow one; the others in turn from both ends.
            order = [trial.candidates[0], *trial.candidates[1:][::-1 if turn % 2 else 1]]
            for number, candidate in enumerate(order, 1):
                timing.progress(f"turn {turn + 1} of {turns}, {trial.latency:g} us: {candidate.label} ({number} of {len(order)})")
                began = time.monotonic()
                try:
                    trial.samples[candidate.label][turn] = subject.measure(candidate, trial.latency, limit or 3600)
                except RunFailed as error:
                    if candidate.label == OWN:
                        raise
                    trial.dropped[candidate.label] = str(error).partition(";")[0]
                    continue
                limit = limit or max(LEAST_SECONDS, PATIENCE * (time.monotonic() - began))
            trial.samples = {label: samples for label, samples in trial.samples.items() if samples}
            if all_stay:
                trial.leave_out_dropped()
            else:
                trial.leave_out(turn)
        if after is not None:
            after()
    timing.progress("")


def rows(trial, own_name):
    ranking = trial.ranking()
    shown = ranking[:SHOWN] + ([OWN] if OWN not in ranking[:SHOWN] else [])
    for label in shown:
        samples = list(trial.samples[label].values())
        counted = samples[-1].all_reduces
        yield {"solver": own_name if label == OWN else label, "iterations": samples[-1].iterations,
               "all-reduces": "-" if counted is None else f"{counted:.0f}",
               "seconds": timing.spread([sample.seconds for sample in samples], 3), "over your own": timing.spread(trial.ratios(label), 2)}


def write_samples(path, trials, own_name):
    """All samples, for `capstan plot`."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["latency_us", "solver", "turn", "seconds", "iterations", "all_reduces", "unconverged"])
        for trial in trials:
            for label, samples in trial.samples.items():
                for turn, sample in samples.items():
                    table.writerow([f"{trial.latency:g}", f"{own_name} (your own)" if label == OWN else label, turn + 1,
                                    f"{sample.seconds:.6g}", sample.iterations,
                                    "" if sample.all_reduces is None else f"{sample.all_reduces:.0f}", sample.unconverged])


def share(count, seconds, busy, took):
    """The part of the solves that all-reduces take if one takes `seconds`, `took` being what it took in the run that was `busy` for so long."""
    waiting = count * seconds
    return waiting / (max(busy - count * took, 0.0) + waiting) if waiting > 0 else 0.0


def said_of_reductions(trials, seconds):
    """What all-reduces are in the time of the own solver, from the run with the least that is emulated."""
    trial = min(trials, key=lambda each: each.latency)
    sample = list(trial.samples[OWN].values())[-1]
    if seconds is None or not sample.all_reduces:
        return "One rank makes no all-reduces that wait: only the work itself counts here."
    # The emulation holds an all-reduce back until so long after its call.
    took = max(seconds, trial.latency * 1e-6)
    parts = [f"{100 * share(sample.all_reduces, latency, sample.busy, took):.0f} % {text}" for latency, text in
             ((seconds, "here"), (50e-6, "if one took 50 us"), (200e-6, "if 200 us"))]
    return (f"An all-reduce takes {seconds * 1e6:.1f} us on these ranks. Your own solvers make {sample.all_reduces:.0f}: "
            f"{', '.join(parts)} of the time of all solves.")


def choice(trial):
    """The solver to write for one latency, and its time over the own one's."""
    best = trial.ranking()[0]
    gain = statistics.median(trial.ratios(best))
    return (OWN, 1.0) if best == OWN or gain > WORTH else (best, gain)


def verdict(trial, candidates):
    """What to write, for one latency."""
    where = f"If an all-reduce took {trial.latency:g} us (emulated)" if trial.latency else "On this machine"
    best, gain = choice(trial)
    if best == OWN:
        return f"{where}: keep your own solver; none of Capstan's takes less than {WORTH:.2f} of its time."
    write = next(candidate.write for candidate in candidates if candidate.label == best)
    text = f"{where}: {best}, {gain:.2f} of your own solver's time. Write\n  " + write.strip().replace("\n", "\n  ")
    if best.partition("+")[0] in LEAST_RESIDUAL:
        other = next((label for label in trial.ranking() if label.partition("+")[0] not in LEAST_RESIDUAL), OWN)
        text += (f"\n  At the same tolerance its x has larger errors (docs/methods/cr.md). Without them: "
                 f"{other}, {statistics.median(trial.ratios(other)):.2f}.")
    return text


def expected(subject):
    """Lines: what CAPSTAN, which chooses among the methods, expects of each of them after a run of the subject, also on other networks.
    Empty where the run had too few solves to tell, or fails."""
    timing.progress("a run with CAPSTAN, which chooses")
    report = subject.work / "chosen.json"
    try:
        label = subject.choose(report)
        solves = json.loads(report.read_text(encoding="utf-8"))
    except (RunFailed, OSError):
        solves = []
    timing.progress("")
    told = [(number, solve["choice"]["arms"]) for number, solve in enumerate(solves, 1)
            if (solve.get("choice") or {}).get("arms") and (label is None or results.is_one_of(solve["label"], [label]))]
    if not told:
        return []
    number, arms = told[-1]
    return [f"CAPSTAN, which chooses among them, expects this of a digit of the residual (before solve {number} of a run of its own), "
            "with all-reduces as they are, and of 1 us and more:", *choices.table(arms), ""]


def prepared(options):
    """What is to be solved, with its solvers: (subject, candidates, a trial for each latency)."""
    build = workspace.build_folder()
    if options.ranks is None:
        options.ranks = min(4, len(os.sched_getaffinity(0)))
    for program in ("bin/capstan-solve", "bin/ping_pong", "lib/" + timing.LAYER):
        if not (build / program).is_file():
            raise NotInstalled(f"{build / program} is missing; ./capstan advise builds it, or: ./capstan build capstan_products ping_pong "
                               "capstan_latency")
    latencies = options.latency if options.ranks > 1 else [0.0]
    work = (options.folder or build / "run/advise").resolve()
    if hosts.is_host(options.subject) and not pathlib.Path(options.subject).exists():
        subject = hosts.HostSubject(options.subject, options, work, build)
    elif options.command:
        raise WrongUse(f"found a command behind --, and '{options.subject}'; allowed with it: petsc, hypre_pcg, saturne_pressure ...")
    else:
        subject = subjects.subject_of(pathlib.Path(options.subject).resolve(), options, work, build)
    workspace.fresh_folder(work)
    subject.prepare()
    candidates = subject.candidates()
    print(f"{subject.what}; {options.ranks} rank(s), {len(candidates) - 1} solvers of Capstan's, in {work}", flush=True)
    return subject, candidates, [Trial(latency, candidates) for latency in latencies]


def advise(options):
    subject, candidates, trials = prepared(options)
    work = subject.work
    run(subject, trials, options.turns, after=lambda: write_samples(work / "advice.csv", trials, subject.own))
    seconds = subjects.all_reduce_seconds(subject.build, options.ranks, work)
    for trial in trials:
        title = f"if an all-reduce took {trial.latency:g} us (emulated)" if trial.latency else "as this machine is"
        print(f"\n{title}:\n" + compare.table(list(rows(trial, f"{subject.own} (your own)")),
                                              ("solver", "iterations", "all-reduces", "seconds", "over your own")))
        gone = {why: [label for label, reason in trial.dropped.items() if reason == why] for why in dict.fromkeys(trial.dropped.values())}
        for why, labels in gone.items():
            print(f"left out, {why}: {', '.join(labels)}")
    lines = expected(subject)
    print(f"\nseconds, over your own: medians [least..greatest] of {options.turns} turns\n")
    if lines:
        print("\n".join(lines))
    if not all(trial.is_quiet() for trial in trials):
        print("Do not trust these times: your own solver's runs lie more than "
              f"{100 * (QUIET - 1):.0f} % apart, so the machine did other work. Run it again when that is over.")
    print(said_of_reductions(trials, seconds))
    for trial in trials:
        print(verdict(trial, candidates))
    print(f"All runs: {work / 'advice.csv'}, which ./capstan plot draws.")


def main(words):
    yaml_text.ensure_pyyaml()
    own, command = (words[:words.index("--")], words[words.index("--") + 1:]) if "--" in words else (words, [])
    return exit_status("capstan advise", lambda: advise(parser().parse_args(own, argparse.Namespace(command=command))))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
