#!/usr/bin/env python3
"""Tests of perf/overlap/run: a quick run of the build's own MPI, whose overlap.json is looked at, and wrong use.

usage: test_overlap.py <overlap_bench> <mpiexec> <libcapstan_latency.so>. Nothing here depends on how fast anything is.
"""

import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
RUN = pathlib.Path(__file__).resolve().parent / "run"
sys.path[:0] = [str(RUN.parent), str(RUN.parents[1])]

import implementations  # noqa: E402  pylint: disable=wrong-import-position
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


# A launcher that ignores the request to end; its rank, in a session of its own as MPICH starts them, does too.
STUBBORN = """#!/bin/bash
[[ $1 != --version ]] || { echo "mpirun (Open MPI) 4"; exit; }
[[ " $* " != *" --tests 3 "* ]] || exec cat "$RESULT"
trap '' TERM
setsid sleep 100000 &
echo "$$ $!" >>"$PIDS"
echo "started, and then nothing" >&2
wait
"""
LINE = {"bytes": 8, "t_pure_us": 2.0, "t_cpu_us": 2.0, "t_cpu_alone_us": 2.0, "t_ovrl_us": 3.0, "t_wait_us": 1.0,
        "overlap_percent": 50.0, "overlap_imb_percent": 50.0}
RESULT = {"mpi": "none", "ranks": 2, "threads": 1, "overlap": [LINE],
          "simultaneous": [{"bytes": 8, "count": 1, "time_us": 2.0, "one_us": 2.0, "ratio": 1.0}]}


def alive(pid):
    try:
        return pathlib.Path("/proc", pid, "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Hanging(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="capstan overlap ")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def script(self, text):
        path = self.folder / "launcher"
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    def test_a_case_that_hangs_is_ended_and_the_others_are_measured(self):
        (self.folder / "result").write_text(json.dumps(RESULT), encoding="utf-8")
        environment = {**os.environ, "PIDS": str(self.folder / "pids"), "RESULT": str(self.folder / "result")}
        done = subprocess.run([str(RUN), "--program", "/bin/true", "--launcher", self.script(STUBBORN), "--quick", "--tests",
                               "3", "--transport", "shm", "--timeout", "4", "--out", str(self.folder)],
                              capture_output=True, text=True, timeout=280, check=False, env=environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        results = json.loads((self.folder / "overlap.json").read_text(encoding="utf-8"))
        hanging, other = results["runs"]
        problem = "turn 1: no result (timed out after 4 s): started, and then nothing"
        self.assertEqual((hanging["problems"], hanging["samples"]), ([problem], []))
        self.assertEqual((other["problems"], other["samples"]), ([], [{"turn": 0, **RESULT}]))
        self.assertIn(problem, done.stdout)
        self.assertIn(problem, (self.folder / "table.txt").read_text(encoding="utf-8"))
        pids = (self.folder / "pids").read_text(encoding="utf-8").split()
        self.assertEqual(len(pids), 2)
        for pid in pids:
            self.assertFalse(alive(pid), "a process of the run that hung is still there")

    def test_what_was_printed_before_counts(self):
        script = self.script(f"#!/bin/sh\necho '{json.dumps(RESULT)}'\nexec sleep 100000\n")
        self.assertEqual(implementations.attempt([script], dict(os.environ), 3),
                         (RESULT, "has a result, but did not end well (timed out after 3 s)"))

    def test_other_ends_without_a_result(self):
        for text, expected in (("echo no >&2; exit 7", "no result (ended with status 7): no"),
                               ("echo 7", "no result (it printed: '7\\n')"), ("echo '{'", "no result (it printed: '{\\n')"),
                               ("kill -9 $$", "no result (ended with status -9)")):
            self.assertEqual(implementations.attempt([self.script(f"#!/bin/sh\n{text}\n")], dict(os.environ), 60),
                             (None, expected))


class WrongUse(unittest.TestCase):
    def test_messages(self):
        for words, part in ((["--transport", "ib"], "found 'ib'; allowed: a list of shm, tcp"),
                            (["--ranks", "0"], "found '0'; allowed: a whole number from 1 on"),
                            (["--mpi", "lam"], "found 'lam'; allowed: a list of openmpi, mpich"),
                            (["--program", PROGRAM], "--program and --launcher"),
                            (["--library", LIBRARY], "--library: only with --program"),
                            (["--program", "/nowhere", "--launcher", LAUNCHER], "--program: found '/nowhere', which is no"),
                            (["--program", PROGRAM, "--launcher", LAUNCHER, "--mpi", "mpich"], "--mpi has no effect"),
                            (["--transport", "tcp", "--emulated", "200"], "--emulated has no effect")):
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
