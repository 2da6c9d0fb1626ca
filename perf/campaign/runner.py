"""Runs the cells of a campaign that are not done yet, one after the other, and appends a line for each."""

import hashlib
import json
import time

from campaign import records, verdicts
from campaign.cell_run import CellRun
from report import kernels, machine, processes


def environment(root, build, arguments, command):
    """The line that says where cells ran. The same machine, source and build have the same id."""
    found = machine.describe(root, build)
    date, load = found.pop("date"), found.pop("load_average")
    found["launcher"] = arguments.launcher or ["mpirun", *arguments.mpirun_args]
    name = hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()[:12]
    return {"kind": "environment", "id": name, "date": date, "load_average": load, "command": command, "remarks": arguments.remarks,
            **found}


def _left(seconds):
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


class Runner:
    """A campaign at work. folder: where results.jsonl and the logs are; programs_of(environment words, pins): Programs."""

    def __init__(self, plan, folder, programs_of, where, write_progress=processes.progress):
        self.plan, self.folder, self.where, self.programs_of = plan, folder, where, programs_of
        self.path = folder / records.NAME
        self.progress = write_progress

    def done(self, steady_only=False):
        """Keys of the cells that an earlier run has finished; without those that the noise check flags where only steady
        ones count."""
        if not self.path.exists():
            return set()
        results = records.load(self.path)
        finished = results.finished()
        return finished - set(verdicts.flags([cell for cell in results.cells if cell["key"] in finished])) if steady_only else finished

    def run(self, chosen, arguments):
        """Runs the cells chosen that are not done. Returns (run, skipped, failed)."""
        finished = self.done(arguments.again_noisy)
        open_cells = [cell for cell in chosen if cell.key not in finished]
        records.append(self.path, self.where)
        records.append(self.path, self.plan.described())
        failed = 0
        if arguments.with_kernels and not records.load(self.path).kernels:
            failed += self._kernels(arguments)
        start = time.monotonic()
        for index, cell in enumerate(open_cells):
            spent = time.monotonic() - start
            left = f", about {_left(spent / index * (len(open_cells) - index))} left" if index else ""
            self.progress(f"cell {index + 1}/{len(open_cells)}{left}: {cell.title()}")
            record = CellRun(cell, self.programs_of(cell), self.folder).record(self.where["id"])
            records.append(self.path, record)
            ended = "done" if record["status"] == "done" else f"FAILED: {record['reason']}"
            failed += record["status"] != "done"
            processes.milestone(f"{cell.title()}: {ended} ({record['wall_seconds']:.0f} s)")
        self.progress("")
        return len(open_cells), len(chosen) - len(open_cells), failed

    def _kernels(self, arguments):
        """The kernels' shares of STREAM, once; they are rows of the report. Returns 1 where they failed."""
        kept = []
        try:
            kernels.measure(arguments.kernel_programs, arguments, kept.append)
        except processes.Failure as error:  # the cells are worth measuring without them; a resumed run tries again
            records.append(self.path, {"kind": "kernels", "environment": self.where["id"], "runs": [], "reason": " ".join(str(error).split())})
            processes.milestone(f"kernels: FAILED: {error}")
            return 1
        records.append(self.path, {"kind": "kernels", "environment": self.where["id"], "runs": kept[-1]})
        return 0
