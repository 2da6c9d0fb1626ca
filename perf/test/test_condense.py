#!/usr/bin/env python3
"""Tests of perf/condense on made-up results."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PERF = pathlib.Path(__file__).resolve().parents[1]


def spread(median, least, most):
    return {"median": median, "min": least, "max": most}


COMMON = {"format": 1, "quick": False, "command": ["./capstan", "bench"], "remarks": [], "date": "2001-02-03T04:05:06+00:00",
          "machine": {"processor": "Abacus", "cores": 4, "caches": {"L1": "1K"}, "memory": "1 kB", "system": "Linux 0"},
          "load_average": {"start": 0.0, "end": 0.0}, "commit": "abcdef" * 6 + "abcd", "changed_since_commit": True,
          "build": {"folder": "build", "type": "Release", "compiler": "c++", "flags": "-march=abacus"}, "complete": True}
CASE = {"kernel": "update", "n": 50, "k": 30, "s": 5, "samples": {"of_stream": [0.123456]},
        "summary": {"gigabytes_per_second": spread(7.5, 6.5, 8.5), "of_stream": spread(0.91, 0.9, 0.92),
                    "moved_of_stream": spread(0.95, 0.9, 1.0)}}
KERNELS = {**COMMON, "kernels": [{"workers": 4, "execution_space": "Serial", "cases": [CASE],
                                  "stream_triad_gigabytes_per_second": {"samples": [8.0], **spread(8.0, 7.0, 9.0)}}],
           "campaigns": [], "sweeps": []}
TIMES = ("t_pure_us", "t_cpu_us", "t_cpu_alone_us", "t_ovrl_us", "t_wait_us", "overlap_percent", "overlap_imb_percent")
OVERLAP = {**COMMON, "ranks": 2, "turns": 5, "notes": [],
           "runs": [{"name": "some mpi", "problems": [], "overlap": [{"bytes": 8, **{time: spread(1.25, 1, 2) for time in TIMES}}],
                     "simultaneous": [{"bytes": 80, "count": 10, "ratio": spread(5.84, 5, 6)}]}]}


class Condense(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "results.json"

    def run_on(self, text):
        self.path.write_text(text, encoding="utf-8")
        return subprocess.run([sys.executable, str(PERF / "condense"), str(self.path)], capture_output=True, text=True,
                              check=False)

    def table(self, results):
        done = self.run_on(json.dumps(results))
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.path.with_suffix(".txt").read_text(encoding="utf-8")

    def test_kernels(self):
        text = self.table(KERNELS)
        for wanted in ("Abacus, 4 cores", "-march=abacus", COMMON["commit"] + " with changes", "7.5 [6.5..8.5]", "0.91"):
            self.assertIn(wanted, text)
        self.assertNotIn("0.123456", text)

    def test_overlap_without_samples(self):
        text = self.table(OVERLAP)
        for wanted in ("some mpi", "1.25", "10: 5.84"):
            self.assertIn(wanted, text)

    def test_other_files_are_refused(self):
        for wrong in ("no JSON", "{}", "[1]"):
            done = self.run_on(wrong)
            self.assertEqual(done.returncode, 2)
            self.assertIn("results.json", done.stderr)
            self.assertFalse(self.path.with_suffix(".txt").exists())


if __name__ == "__main__":
    unittest.main()
