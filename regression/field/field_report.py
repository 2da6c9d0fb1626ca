"""What runs of cases have come to: lines, a table of cases and ranks, and sums over all solves."""

from dataclasses import dataclass, field, fields


@dataclass
class Counts:
    """Of Capstan's solves."""

    solves: int = 0
    converged: int = 0
    false: int = 0  # claims
    worse: int = 0  # x than the guess
    lost: int = 0  # that Belos' solver of the family solves

    def __add__(self, other):
        return Counts(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))


@dataclass
class Done:
    """A run of a case: parts of it that are good, of how many, and the problems."""

    good: int = 0
    total: int = 0
    problems: list = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)


class Report:
    def __init__(self, ranks):
        self._ranks = list(ranks)
        self._runs = []  # name, ranks, title, Done

    def add(self, name, ranks, title, done):
        if done.total == 0 and not done.problems:
            done.problems = ["nothing was run"]
        self._runs.append((name, ranks, title, done))

    def last(self):
        return self._line(*self._runs[-1])

    def _line(self, name, ranks, title, done):
        lines = [f"{name} on {ranks}{title}: {done.good} of {done.total} good, {len(done.problems)} problems"]
        return "\n  ".join(lines + done.problems)

    def close(self, names, only):
        """Adds a problem where a case was not run on some ranks, and returns lines of these. only: ranks that a case can have, where not
        all can be had."""
        ran = len(self._runs)
        for name in names:
            for ranks in self._ranks:
                if ranks in only.get(name, self._ranks) and not self._of(name, ranks):
                    self.add(name, ranks, "", Done(problems=["nothing is asked of this case, or it was not run"]))
        return [self._line(*run) for run in self._runs[ran:]]

    def _of(self, name, ranks):
        return [done for other, np, _, done in self._runs if (other, np) == (name, ranks)]

    def _cell(self, name, ranks):
        runs = self._of(name, ranks)
        if not runs:
            return "-"
        problems = sum(len(done.problems) for done in runs)
        told = f"{sum(done.good for done in runs)} of {sum(done.total for done in runs)}"
        return told if problems == 0 else f"{told}, **{problems} problem{'' if problems == 1 else 's'}**"

    def table(self):
        """Cells: solves that converged, fields or tests, of how many; and problems, where there are some."""
        ranks = sorted({*self._ranks, *(np for _, np, _, _ in self._runs)})
        rows = [["case"] + [f"{np} rank{'' if np == 1 else 's'}" for np in ranks]]
        rows += [[name] + [self._cell(name, np) for np in ranks] for name in sorted({run[0] for run in self._runs})]
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        rows.insert(1, ["-" * width for width in widths])
        return "\n".join("| " + " | ".join(text.ljust(width) for text, width in zip(row, widths)) + " |" for row in rows)

    def summary(self):
        sums = sum((run[3].counts for run in self._runs), Counts())
        return (f"{len({run[0] for run in self._runs})} cases, {len(self._runs)} runs, {self.failed()} problems; {sums.solves} solves, "
                f"{sums.converged} converged, {sums.false} falsely, {sums.worse} with an x worse than the guess, {sums.lost} lost that "
                "Belos' solver of the family solves")

    def failed(self):
        return sum(len(run[3].problems) for run in self._runs)
