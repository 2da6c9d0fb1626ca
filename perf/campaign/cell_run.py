"""One cell of a campaign: starts solvers_bench, and makes the record that stands for it."""

import csv
import json
import re
import time

from report import children, machine, solvers

PROGRAM = "solvers_bench"
KEPT = ("solver", "seconds", "reductions", "iterations", "final_step_size", "cost", "events", "progress")  # of a report
CURSOR = re.compile(r"\r|\033\[[0-9;]*[A-Za-z]")
RULE = re.compile(r"-{40,}")


def _own(lines):
    """Without what mpirun says of the program's end, between rules: that may come last. All of them where there is nothing else."""
    own, within = [], False
    for line in lines:
        if RULE.fullmatch(line):
            within = not within
        elif not within:
            own.append(line)
    return own or lines


def _reason(text, status):
    """The last lines that a program said, or how it ended."""
    lines = _own([line.strip() for line in CURSOR.sub("\n", text).splitlines() if line.strip()])
    ended = f"ended with status {status}" if status >= 0 else f"ended by signal {-status}"
    return f"{ended}: {' / '.join(lines[-3:])}"[:600] if lines else ended


def pin_words(cell, programs, cores):
    """Words of Open MPI's mpirun that keep each rank on a core of its own; none where there are fewer cores than ranks, or
    another launcher or MPI, which pins by itself."""
    if cell.pinning != "core" or programs.launcher or cell.ranks > cores or not programs.is_open_mpi():
        return []
    return ["--bind-to", "core", "--map-by", "core"]


def peer_words(cell):
    """Which methods of other libraries take part; all, where nothing is said."""
    return [word for library in ("petsc", "hypre") if getattr(cell, library) != "all"
            for word in (f"--{library}", getattr(cell, library))]


class CellRun:
    """Files of a cell that is at work, in a folder: all begin with its key."""

    def __init__(self, cell, programs, folder):
        self.cell, self.programs, self.folder = cell, programs, folder
        self.deck = cell.file or folder / f"{cell.key}.yaml"
        self.output = folder / f"{cell.key}.json.tmp"
        self.marker = folder / f"{cell.key}.running.tmp"
        self.log = folder / f"{cell.key}.log"
        self.crashed = []

    def command(self):
        words = [str(self.deck), "--output", str(self.output), "--marker", str(self.marker), "--reference", "--repeat",
                 str(self.cell.repeat), "--seed", str(self.cell.seed), *peer_words(self.cell), *self.cell.words]
        words += [word for name in self.crashed for word in ("--crashed", name)]
        return self.programs.mpi_command(self.cell.ranks, PROGRAM, *words, latency=self.cell.latency_us)

    def _start(self, command):
        """Exit status (None: too slow) and what was said on standard error; standard output goes to the log."""
        errors = self.log.with_suffix(".err.tmp")
        try:
            with open(self.log, "ab") as out, open(errors, "wb") as err:
                status = children.run(command, self.cell.timeout, stdout=out, stderr=err)
            return status, errors.read_text(encoding="utf-8", errors="replace")
        finally:
            errors.unlink(missing_ok=True)

    def _measure(self):
        """None, or why there are no results. Starts again without a solver that crashes."""
        while True:
            self.marker.unlink(missing_ok=True)
            status, said = self._start(self.command())
            if status == 0:
                return None
            if status is None:
                return f"took longer than {self.cell.timeout} seconds and was ended"
            at_work = self.marker.read_text(encoding="utf-8") if self.marker.exists() else ""
            if status in (1, 2, 3) or not at_work or at_work in self.crashed:
                return _reason(said, status)
            self.crashed.append(at_work)

    def _histories(self):
        """Residuals of the solvers that tell them, from an untimed solve of each: {name: [[iteration, residual], ...]}."""
        file = self.folder / f"{self.cell.key}.csv.tmp"
        command = self.programs.mpi_command(self.cell.ranks, "capstan-solve", str(self.deck), "--history", str(file), "--quiet",
                                           *(word for word in self.cell.words if word == "--set" or "=" in word))
        try:
            self._start(command)
            found = {}
            with open(file, encoding="utf-8") as lines:
                for row in csv.DictReader(lines):
                    found.setdefault(row["solver"], []).append([int(row["iteration"]), float(row["residual"])])
            return found
        except OSError:
            return {}
        finally:
            file.unlink(missing_ok=True)

    def record(self, environment):
        """Runs the cell and makes its line. environment: the id of where it runs."""
        if not self.cell.file:
            self.deck.write_text(self.cell.deck, encoding="utf-8")
        start = time.monotonic()
        cell = self.cell
        record = {"kind": "cell", "key": cell.key, "experiment": cell.experiment, "title": cell.title(), "ranks": cell.ranks,
                  "transport": cell.transport, "latency_us": cell.latency_us, "preconditioner": cell.preconditioner,
                  "scaling": cell.scaling, "repeat": cell.repeat, "seed": cell.seed, "environment": environment}
        if "--latency-later" in cell.words:
            record["latency_later"] = cell.words[cell.words.index("--latency-later") + 1]
        try:
            reason = self._measure()
            record.update(date=time.strftime("%Y-%m-%dT%H:%M:%S%z"), command=self.command())
            if reason is None:
                found = json.loads(self.output.read_text(encoding="utf-8"))
                reason = unusable(cell, found)
            if reason is None:
                record.update(status="done", pinned=bool(pin_words(cell, self.programs, machine.cores())), **_results(found))
                if cell.histories:
                    record["histories"] = self._histories()
                    record["notes"] += [] if record["histories"] else ["capstan-solve wrote no convergence histories"]
            else:
                record.update(status="failed", reason=reason)
        finally:
            for file in (self.output, self.marker, self.output.with_name(self.output.name + ".tmp")):
                file.unlink(missing_ok=True)
            if self.log.exists() and self.log.stat().st_size == 0:
                self.log.unlink()
        record["wall_seconds"] = round(time.monotonic() - start, 2)
        return record


def unusable(cell, found):
    """Why what solvers_bench found is not what was asked for, or None."""
    if cell.transport != "default" and not found["mpi"].startswith("Open MPI"):
        return f"transport {cell.transport} is for Open MPI; found {found['mpi']}"
    if cell.latency_us and not found["emulation"]:
        return "the latency layer did not reach solvers_bench; its times are not used"
    if found["ranks"] != cell.ranks:
        return f"found {found['ranks']} ranks where {cell.ranks} were asked for: does the launcher belong to this MPI?"
    if not found["systems"][0]["solvers"]:
        return "no solver took part"
    return None


def _results(found):
    """What is kept of solvers_bench's output."""
    system = solvers.summarize(found["systems"][0])
    for solver in system["solvers"]:
        details = solver.get("details")
        solver["details"] = {key: details[key] for key in KEPT if key in details} if details else None
    return {"rows": system["rows"], "entries": system["entries"], "cache_bytes": machine.last_level_cache(), "reference": system["reference"],
            "solvers": system["solvers"], "notes": found["notes"], "mpi": found["mpi"], "build": found["build"],
            "petsc": found["petsc"], "hypre": found["hypre"], "right_hand_side": found["right_hand_side"]}
