"""The results of a campaign: lines of JSON that are only ever appended, so that a run can stop and go on.

Every line has "kind": "environment" (machine, build, commit; a cell names its environment by "id"), "campaign" (title,
targets, curves), "kernels" (bandwidths) or "cell". Of two lines about one thing the later one counts.
"""

import json
import os
import pathlib

NAME = "results.jsonl"
FORMAT = 1  # a change of meaning makes it 2


class Damaged(Exception):
    """A line that is not ours."""


def append(path, record):
    """One line, on the disk when this returns. A line that an interruption cut off is ended first."""
    path = pathlib.Path(path)
    text = json.dumps({"format": FORMAT, **record}, separators=(",", ":")) + "\n"
    if path.exists() and path.stat().st_size > 0:
        with open(path, "rb") as file:
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                text = "\n" + text
    with open(path, "a", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def read(path):
    """All records of a file, in order. A line cut off by an interruption is passed over; anything else that is not ours
    raises Damaged."""
    records = []
    for number, line in enumerate(pathlib.Path(path).read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            continue
        if not isinstance(record, dict) or "kind" not in record or record.get("format") != FORMAT:
            raise Damaged(f"{path}, line {number}: not a line of a campaign's results, or of another format")
        records.append(record)
    return records


class Results:
    """Records of one or several files, the latest of each thing."""

    def __init__(self, records):
        self.environments, self.campaigns, self.kernels, cells = {}, {}, [], {}
        self.kernels_reason = None  # why the last try to measure them failed
        for record in records:
            if record["kind"] == "environment":
                self.environments[record["id"]] = record
            elif record["kind"] == "campaign":
                self.campaigns[record["name"]] = record
            elif record["kind"] == "kernels":
                self.kernels, self.kernels_reason = record["runs"] or self.kernels, record.get("reason")
            elif record["kind"] == "cell":
                before = cells.pop(record["key"], None)
                # A run that failed later does not undo what was measured.
                cells[record["key"]] = before if before and before["status"] == "done" and record["status"] != "done" else record
        wanted = [key for campaign in self.campaigns.values() for key in campaign["keys"]]
        self.cells = [cells[key] for key in dict.fromkeys(wanted) if key in cells]
        self.missing = [key for key in dict.fromkeys(wanted) if key not in cells]
        self.outdated = [cell for key, cell in cells.items() if key not in wanted]  # of an earlier form of the campaign

    def finished(self):
        """Keys of cells that need not be run again."""
        return {cell["key"] for cell in self.cells if cell["status"] == "done"}


def load(*paths):
    return Results([record for path in paths for record in read(path)])
