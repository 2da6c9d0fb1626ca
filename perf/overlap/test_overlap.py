#!/usr/bin/env python3
"""Tests of perf/overlap/run: a quick run of the build's own MPI, whose overlap.json is looked at, and wrong use.

usage: test_overlap.py <overlap_bench> <mpiexec> <libcapstan_latency.so>. Nothing here depends on how fast anything is.
"""

import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

RUN = pathlib.Path(__file__).resolve().parent / "run"
PROGRAM, LAUNCHER, LIBRARY = None, None, None


def call(*words):
    return subprocess.run([str(RUN), *words], capture_output=True, text=True, timeout=280, check=False)


def quick(folder, *words):
    return call("--program", PROGRAM, "--launcher", LAUNCHER, "--library", LIBRARY, "--quick", "--ranks", "2",
                "--out", str(folder), *words)


class Results(unittest.TestCase):
    def test_shape(self):
        with tempfile.TemporaryDirectory() as folder:
            done = quick(folder, "--transport", "shm", "--emulated", "300", "--tests", "3")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            results = json.loads((pathlib.Path(folder) / "overlap.json").read_text(encoding="utf-8"))
            table = (pathlib.Path(folder) / "table.txt").read_text(encoding="utf-8")
        self.assertEqual((results["format"], results["ranks"], results["turns"], results["quick"]), (1, 2, 1, True))
        runs = [run for run in results["runs"] if not run["asynchronous"]]
        self.assertEqual([(run["tests"], run["emulated_latency_us"]) for run in runs],
                         [(0, None), (3, None), (0, 300), (3, 300)])
        for run in runs:
            self.assertEqual(run["problems"], [])
            self.assertIn(run["name"], table)
            self.assertEqual([line["bytes"] for line in run["overlap"]], [8, 64])
            self.assertEqual([(line["bytes"], line["count"]) for line in run["simultaneous"]], [(8, 1), (8, 2)])
            for line in run["overlap"]:
                self.check_line(line, run)
            for sample in run["samples"]:
                self.assertIs(sample["emulated"], run["emulated_latency_us"] is not None)
                self.assertEqual(sample["computation"], 1)

    def check_line(self, line, run):
        for key in ("t_pure_us", "t_cpu_us", "t_cpu_alone_us", "t_ovrl_us"):
            self.assertTrue(math.isfinite(line[key]["median"]) and line[key]["median"] > 0, (run["name"], key))
        for key in ("overlap_percent", "overlap_imb_percent", "t_wait_us"):
            self.assertGreaterEqual(line[key]["median"], 0)
        if run["emulated_latency_us"]:
            # Lower bounds hold on the noisiest machine.
            self.assertGreaterEqual(line["t_pure_us"]["median"], 300)
            self.assertGreaterEqual(line["t_ovrl_us"]["median"], 300)
            self.assertIn("emulated", run["name"])

    def test_the_percentages_follow_from_the_times(self):
        with tempfile.TemporaryDirectory() as folder:
            quick(folder, "--transport", "tcp")
            results = json.loads((pathlib.Path(folder) / "overlap.json").read_text(encoding="utf-8"))
        lines = [line for run in results["runs"] for sample in run["samples"] for line in sample["overlap"]]
        self.assertGreater(len(lines), 0)
        for line in lines:
            pure, cpu, both = line["t_pure_us"], line["t_cpu_us"], line["t_ovrl_us"]
            self.assertAlmostEqual(line["overlap_percent"], max(0, 100 - 100 * (both - cpu) / pure))
            self.assertAlmostEqual(line["overlap_imb_percent"], max(0, 100 * (pure + cpu - both) / max(pure, cpu)))


class WrongUse(unittest.TestCase):
    def test_messages(self):
        for words, part in ((["--transport", "ib"], "found 'ib'; allowed: a list of shm, tcp"),
                            (["--ranks", "0"], "found '0'; allowed: a number from 1 on"),
                            (["--mpi", "lam"], "found 'lam'; allowed: a list of openmpi, mpich"),
                            (["--program", PROGRAM], "--program and --launcher"),
                            (["--library", LIBRARY], "--library: only with --program")):
            done = call(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(part, done.stderr)

    def test_a_program_that_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            done = call("--program", "/bin/false", "--launcher", LAUNCHER, "--quick", "--transport", "shm", "--out", folder)
            self.assertEqual(done.returncode, 1)
            self.assertIn("ended with status", done.stdout)

    def test_bad_options_of_the_program(self):
        done = subprocess.run([PROGRAM, "--bytes", "12"], capture_output=True, text=True, timeout=60, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("positive multiple of 8", done.stdout + done.stderr)


if __name__ == "__main__":
    PROGRAM, LAUNCHER, LIBRARY = sys.argv[1:4]
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
