#!/usr/bin/env python3
"""Tests of a campaign's job scripts: what they ask for, and that they run under a batch system that runs jobs here.

usage: test_jobs.py <build folder> [arguments of unittest].
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
PERF = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PERF))

# pylint: disable=wrong-import-position
from campaign import jobs, records  # noqa: E402
from report import processes  # noqa: E402

BUILD = None
STAND_IN = PERF / "test" / "stand_in_scheduler.py"
PLAN = """
title: Jobs
repeat: 1
sets:
  cg: {common: {tolerance: 1e-6, max_iterations: 200}, solvers: {peer: {method: BLOCK CG}, capstan cg: {method: CAPSTAN CG}}}
experiments:
  - {name: small, problem: {generate: {problem: laplace2d, cells: 10}}, sets: cg, ranks: [1, 3]}
"""
SITES = {
    "slurm": "cores_per_node: 8\ngpus_per_node: 2\naccount: abc\nqueue: fast\nminutes: 90\n",
    "lsf": "cores_per_node: 8\ngpus_per_node: 2\naccount: abc\nqueue: fast\nminutes: 90\n",
    "flux": "cores_per_node: 8\nranks_per_node: 2\nminutes: 90\n",
}


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="capstan jobs ")  # a blank on purpose
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "small.yaml").write_text(PLAN, encoding="utf-8")

    def site(self, text):
        path = self.folder / "site.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    def bench(self, *words):
        return subprocess.run([sys.executable, str(PERF / "bench"), *map(str, words)], capture_output=True, text=True, check=False,
                              env={**os.environ, "CAPSTAN_BUILD_DIR": str(BUILD)})


class Sites(InFolder):
    def read(self, text, system="slurm"):
        return jobs.read_site(self.site(text), system)

    def test_one_rank_a_gpu(self):
        site = self.read("cores_per_node: 64\ngpus_per_node: 4\n")
        self.assertEqual((site.ranks_per_node, site.place(4), site.place(6), site.place(1)), (4, (1, 4, 16), (2, 4, 16), (1, 1, 16)))
        self.assertIn("--gpus-per-task=1", jobs.LAUNCHERS["srun"](site, 6))
        self.assertIn("--gpu_per_rs=1", jobs.LAUNCHERS["jsrun"](site, 6))
        self.assertIn("--gpus-per-task=1", jobs.LAUNCHERS["flux"](site, 6))

    def test_a_node_of_cores_has_no_gpu(self):
        site = self.read("cores_per_node: 64\n", "lsf")
        self.assertEqual((site.ranks_per_node, site.place(65), site.launcher), (64, (2, 64, 1), "jsrun"))
        self.assertFalse([word for word in jobs.LAUNCHERS["srun"](site, 8) if "gpu" in word])
        self.assertIn("--gpu_per_rs=0", jobs.LAUNCHERS["jsrun"](site, 8))

    def test_wrong_settings(self):
        for text, expected in (("cores_per_node: 0", "found 0"), ("cores: 3", "unknown key 'cores'"), ("minutes: 5", "'cores_per_node'"),
                               ("cores_per_node: 8\nlauncher: mpiexec", "srun, jsrun, flux"),
                               ("cores_per_node: 8\ngpus_per_node: 2\nranks_per_node: 4", "one rank a GPU"),
                               ("cores_per_node: 8\nprelude: module load x", "a list of lines")):
            with self.subTest(text), self.assertRaisesRegex(processes.Misuse, expected):
                self.read(text)

    def test_the_projects_sites(self):
        for path in (PERF / "sites").glob("*.yaml"):
            for system in jobs.SYSTEMS:
                self.assertGreater(jobs.read_site(path, system).cores_per_node, 0)


class Jobs(InFolder):
    def scheduler(self):
        """A folder for the PATH, with the stand-in under all its names, and the environment of a login node."""
        folder = self.folder / "bin"
        folder.mkdir()
        for name in ("sbatch", "srun", "bsub", "jsrun", "flux"):
            (folder / name).symlink_to(STAND_IN)
        return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "STAND_IN_LOG": str(self.folder / "calls.jsonl")}

    def calls(self):
        return [json.loads(line) for line in (self.folder / "calls.jsonl").read_text(encoding="utf-8").splitlines()]

    def submitted(self, system):
        """Writes the scripts for a batch system, hands them in, and returns the calls that were made."""
        out = self.folder / "out"
        written = self.bench(self.folder / "small.yaml", "--jobs", system, "--site", self.site(SITES[system]), "--out", out)
        self.assertEqual(written.returncode, 0, written.stderr)
        self.assertEqual([pathlib.Path(line).name for line in written.stdout.splitlines()], ["job-1.sh", "job-3.sh", "submit.sh"])
        done = subprocess.run(["sh", str(out / "submit.sh")], env=self.scheduler(), capture_output=True, text=True, check=False)
        said = "".join(path.read_text(encoding="utf-8") for path in out.glob("*.out"))
        self.assertEqual(done.returncode, 0, done.stderr + said)
        results = records.load(*out.rglob(records.NAME))
        self.assertEqual([(cell["ranks"], cell["status"]) for cell in results.cells], [(1, "done"), (3, "done")])
        return self.calls()

    def test_slurm(self):
        first, _, second, third = self.submitted("slurm")
        self.assertEqual(first["directives"]["--nodes"], "1")
        self.assertEqual(second["directives"], {
            "--job-name": "capstan-small-3", "--nodes": "2", "--ntasks-per-node": "2", "--gpus-per-node": "2", "--account": "abc",
            "--partition": "fast", "--time": "01:30:00", "--output": str((self.folder / "out").resolve() / "ranks-3.out"),
            "--exclusive": ""})
        self.assertEqual(third["options"], {"--nodes": "2", "--ntasks": "3", "--ntasks-per-node": "2", "--cpus-per-task": "4",
                                            "--gpus-per-task": "1", "--cpu-bind": "cores"})
        self.assertEqual((third["call"], third["ranks"]), ("srun", 3))

    def test_lsf(self):
        _, _, second, third = self.submitted("lsf")
        self.assertEqual((second["call"], second["directives"]["-nnodes"], second["directives"]["-W"]), ("bsub", "2", "01:30"))
        self.assertEqual(third["options"], {"--nrs": "3", "--tasks_per_rs": "1", "--cpu_per_rs": "4", "--gpu_per_rs": "1",
                                            "--rs_per_host": "2", "--bind": "packed:4"})

    def test_flux(self):
        _, _, second, third = self.submitted("flux")
        self.assertEqual((second["call"], second["directives"]["--time-limit"]), ("flux batch", "90m"))
        self.assertEqual(third["options"], {"--nodes": "2", "--ntasks": "3", "--cores-per-task": "4"})

    def test_a_job_that_is_handed_in_again_goes_on(self):
        calls = self.submitted("slurm")
        again = subprocess.run([str(self.folder / "bin" / "sbatch"), str(self.folder / "out" / "job-3.sh")], check=False,
                               env={**os.environ, "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
                                    "STAND_IN_LOG": str(self.folder / "calls.jsonl")})
        self.assertEqual(again.returncode, 0)
        self.assertEqual([call["call"] for call in self.calls()[len(calls):]], ["sbatch"], "no cell is run again")

    def test_outside_of_a_job_nothing_starts(self):
        """A launcher that fails makes rows that failed, with its words."""
        environment = self.scheduler()
        done = subprocess.run([sys.executable, str(PERF / "bench"), str(self.folder / "small.yaml"), "--out", str(self.folder / "out"),
                               "--no-page", "--launcher", "srun --nodes=1 --ntasks={ranks} --ntasks-per-node=4"], capture_output=True,
                              text=True, check=False, env={**environment, "CAPSTAN_BUILD_DIR": str(BUILD)})
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("no allocation", records.load(self.folder / "out" / records.NAME).cells[0]["reason"])


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
