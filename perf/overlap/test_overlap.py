#!/usr/bin/env python3
"""Tests of perf/overlap/run: a quick run of the build's own MPI, whose overlap.json is looked at, and wrong use.

usage: test_overlap.py <build folder>. Nothing here depends on how fast anything is.
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
BUILD = None


def call(*words, build=None):
    return subprocess.run([str(RUN), *words], capture_output=True, text=True, timeout=280, check=False,
                          env={**os.environ, "CAPSTAN_BUILD_DIR": str(build or BUILD)})


def quick(folder, *words):
    return call("--quick", "--ranks", "2", "--out", str(folder), *words)


class Results(unittest.TestCase):
    def test_shape(self):
        with tempfile.TemporaryDirectory() as folder:
            done = quick(folder, "--transport", "shm", "--emulated", "300", "--tests", "3")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            results = json.loads((pathlib.Path(folder) / "overlap.json").read_text(encoding="utf-8"))
            table = (pathlib.Path(folder) / "table.txt").read_text(encoding="utf-8")
        self.assertEqual((results["format"], results["ranks"], results["turns"], results["quick"]), (2, 2, 1, True))
        runs = results["runs"]
        self.assertEqual([(run["tests"], run["emulated"]) for run in runs], [(0, 0), (3, 0), (0, 300), (3, 300)])
        for run in runs:
            self.assertEqual(run["problems"], [])
            self.assertIn(run["name"], table)
            self.assertEqual([line["bytes"] for line in run["overlap"]], [8, 64])
            self.assertEqual([(line["bytes"], line["count"]) for line in run["simultaneous"]], [(8, 1), (8, 2)])
            for line in run["overlap"]:
                self.check_line(line, run)
            for sample in run["samples"]:
                self.assertIs(sample["emulated"], run["emulated"] > 0)
                self.assertEqual(sample["computation"], 1)

    def check_line(self, line, run):
        for key in ("t_pure_us", "t_cpu_us", "t_cpu_alone_us", "t_ovrl_us"):
            self.assertTrue(math.isfinite(line[key]["median"]) and line[key]["median"] > 0, (run["name"], key))
        for key in ("overlap_percent", "overlap_imb_percent", "t_wait_us"):
            self.assertGreaterEqual(line[key]["median"], 0)
        if run["emulated"]:
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
    def test_a_case_that_hangs_is_ended_and_the_others_are_measured(self):
        with tempfile.TemporaryDirectory(prefix="capstan overlap ") as name:
            folder = pathlib.Path(name)
            for path, text in (("launcher", STUBBORN), ("bin/overlap_bench", "#!/bin/sh\n"),
                               ("CMakeCache.txt", f"MPIEXEC_EXECUTABLE:FILEPATH={folder / 'launcher'}\n"), ("result", json.dumps(RESULT))):
                (folder / path).parent.mkdir(exist_ok=True)
                (folder / path).write_text(text, encoding="utf-8")
                (folder / path).chmod(0o755)
            os.environ.update(PIDS=str(folder / "pids"), RESULT=str(folder / "result"))
            done = call("--quick", "--tests", "3", "--transport", "shm", "--timeout", "4", "--out", str(folder), build=folder)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            hanging, other = json.loads((folder / "overlap.json").read_text(encoding="utf-8"))["runs"]
            self.assertEqual((len(hanging["problems"]), hanging["samples"]), (1, []))
            self.assertRegex(hanging["problems"][0], r"^turn 1: .* ran longer than 4 seconds \(--timeout\) and was ended$")
            self.assertEqual((other["problems"], other["samples"]), ([], [{"turn": 1, **RESULT}]))
            self.assertIn(hanging["problems"][0], done.stdout)
            self.assertIn(hanging["problems"][0], (folder / "table.txt").read_text(encoding="utf-8"))
            pids = (folder / "pids").read_text(encoding="utf-8").split()
        self.assertEqual(len(pids), 2)
        for pid in pids:
            self.assertFalse(alive(pid), "a process of the run that hung is still there")


class WrongUse(unittest.TestCase):
    def test_messages(self):
        for words, part in ((["--transport", "ib"], "found 'ib'; allowed: a list of default, shm, tcp"),
                            (["--ranks", "0"], "found '0'; allowed: a whole number from 1 on")):
            done = call(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(part, done.stderr)

    def test_a_build_without_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            done = call("--quick", "--out", folder, build=folder)
        self.assertEqual(done.returncode, 3)
        self.assertIn("not built", done.stderr)

    def test_bad_options_of_the_program(self):
        done = subprocess.run([pathlib.Path(BUILD, "bin", "overlap_bench"), "--bytes", "12"], capture_output=True, text=True, timeout=60, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("positive multiple of 8", done.stdout + done.stderr)


if __name__ == "__main__":
    BUILD = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
