#!/usr/bin/env python3
"""Test of pack.sh and packed_run.sh: test_pack.py BUILD_FOLDER

What is packed runs from its own folder with its own MPI, says of each test how it ended, and ends when the time is up.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(sys.argv.pop())


class Pack(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.folder.name)
        cls.archive = cls.root / "proof.tar.xz"
        subprocess.run([HERE / "pack.sh", "--build", BUILD, "--out", cls.archive, "--program", "reductions_test"], check=True)
        (cls.root / "proof").mkdir()
        subprocess.run(["tar", "-xJf", cls.archive, "-C", cls.root / "proof"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_packed(self, *arguments):
        out = self.root / "results"
        environment = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}
        ended = subprocess.run([self.root / "proof" / "run", "--out", out, *arguments], env=environment, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        lines = []
        if (out / "results.jsonl").exists():
            lines = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
        return ended, lines

    def test_says_of_each_test_how_it_ended(self):
        ended, lines = self.run_packed("--filter", "ReductionBatchTest.*")
        self.assertEqual(ended.returncode, 0, ended.stdout)
        self.assertIn("device", lines[0])
        self.assertGreater(len(lines), 3)
        for line in lines[1:]:
            self.assertEqual((line["program"], line["ranks"]), ("reductions_test", 1))
            self.assertEqual(line["outcome"], "passed")

    def test_takes_mpi_from_the_archive(self):
        environment = dict(os.environ, LD_LIBRARY_PATH=str(self.root / "proof/lib"))
        found = subprocess.run(["ldd", self.root / "proof/bin/mpirun", self.root / "proof/bin/reductions_test"], env=environment,
                               stdout=subprocess.PIPE, text=True, check=True).stdout
        for library in ("libmpi.so", "libopen-rte.so", "libtrilinos_tpetra"):
            paths = [line.split("=>")[1] for line in found.splitlines() if library in line]
            self.assertTrue(paths, library)
            self.assertTrue(all(str(self.root) in path for path in paths), paths)
        self.assertTrue((self.root / "proof/parts/mca_pml_ob1.so").exists())

    def test_what_did_not_run_is_not_passed(self):
        self.assertEqual(self.run_packed("--filter", "None.AtAll")[0].returncode, 1)
        self.assertEqual(self.run_packed("--seconds", "2")[0].returncode, 3)

    def test_a_program_that_crashes_has_failed(self):
        program = self.root / "proof/bin/crashing_test"
        for text, test in (("echo '[ RUN      ] A.B'; kill -SEGV $$", "A.B"), ("exit 9", "the program")):
            program.write_text(f"#!/bin/sh\n{text}\n")
            program.chmod(0o755)
            ended, lines = self.run_packed("--only", "crashing_test")
            self.assertEqual(ended.returncode, 1, ended.stdout)
            self.assertEqual([(line["test"], line["outcome"]) for line in lines[1:]], [(test, "failed")])
        program.unlink()

    def test_wrong_use_is_told(self):
        for arguments, word in ((["--seconds", "x"], "--seconds"), (["--only", "x_test"], "reductions_test"), (["--all"], "--filter")):
            ended, _ = self.run_packed(*arguments)
            self.assertEqual(ended.returncode, 2)
            self.assertIn(word, ended.stdout)
        wrong = subprocess.run([HERE / "pack.sh", "--build", BUILD, "--out", self.archive, "--program", "no_test"], text=True,
                               stderr=subprocess.PIPE, check=False)
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("no_test", wrong.stderr)

    def test_an_archive_that_is_too_large_leaves_the_old_one(self):
        before = self.archive.stat()
        large = subprocess.run([HERE / "pack.sh", "--build", BUILD, "--out", self.archive, "--program", "reductions_test", "--most", "1"],
                               text=True, stderr=subprocess.PIPE, check=False)
        self.assertEqual(large.returncode, 1)
        self.assertIn("MiB", large.stderr)
        self.assertEqual(self.archive.stat().st_mtime, before.st_mtime)
        self.assertEqual(sorted(p.name for p in self.root.iterdir() if "part" in p.name), [])


if __name__ == "__main__":
    unittest.main()
