"""results.json while it grows: whatever ends a run, the parts that were done are kept."""

import json
import os

from report import sweep, tables


def write(path, text):
    """Under another name first, so that nobody sees half of it."""
    draft = path.with_name(path.name + ".tmp")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


class Session:
    """The results of one run and the folder they go to."""

    def __init__(self, folder, results):
        self.folder = folder
        self.results = {**results, "complete": False, "kernels": [], "campaigns": [], "sweeps": []}

    def keep_kernels(self, kernels):
        self.results["kernels"] = kernels
        self.save()

    def keep_campaign(self, campaign):
        """Adds one run of a campaign, and what follows from all its runs under emulated latency."""
        self.results["campaigns"].append(campaign)
        self.results["sweeps"] = sweep.summarize(self.results["campaigns"])
        self.save()

    def save(self):
        self.results["load_average"]["end"] = os.getloadavg()[0]
        write(self.folder / "results.json", json.dumps(self.results, indent=1) + "\n")
        write(self.folder / "table.txt", tables.text(self.results))
        if self.results["sweeps"]:
            # Without the samples, which make a sweep's results.json large.
            write(self.folder / "sweep.json", json.dumps({**self.results, "kernels": [], "campaigns": []}, indent=1) + "\n")

    def finish(self):
        self.results["complete"] = True
        self.save()

    def empty(self):
        return not self.results["kernels"] and not self.results["campaigns"]
