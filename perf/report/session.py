"""results.json while it grows: whatever ends a run, the parts that were done are kept."""

import os

from report import files, sweep, tables


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
        files.write_json(self.folder / "results.json", self.results)
        files.write(self.folder / "table.txt", tables.text(self.results))
        if self.results["sweeps"]:
            # Without the samples, which make a sweep's results.json large.
            files.write_json(self.folder / "summary.json",
                             files.rounded({**self.results, "kernels": [], "campaigns": []}))

    def finish(self):
        self.results["complete"] = True
        self.save()

    def empty(self):
        return not self.results["kernels"] and not self.results["campaigns"]
