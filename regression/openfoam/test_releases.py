#!/usr/bin/env python3
"""build_release.sh and prove_release.sh refuse what they cannot do, before they begin.

usage: test_releases.py [BUILD]    BUILD: not looked at
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent


class Refusals(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def ends(self, status, message, script, *words):
        done = subprocess.run([HERE / script, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stdout)
        self.assertIn(message, done.stdout)

    def test_building(self):
        for message, words in (("usage: build_release.sh", []), ("version 'v2505'; allowed: v2306", ["v2505"]),
                               ("--jobs takes a whole number from 1 on, found 'two'", ["--jobs", "two", "v2506"]),
                               ("unknown option '--all'", ["--all", "v2506"]), ("--git takes", ["--git"])):
            self.ends(2, message, "build_release.sh", *words)
        self.ends(2, "is inside the repository", "build_release.sh", "v2506", HERE / "v2506")
        self.assertFalse((HERE / "v2506").exists())

    def test_proving(self):
        for message, words in (("usage: prove_release.sh", []), ("is no OpenFOAM: it holds no etc/bashrc", [self.folder]),
                               ("one folder, found", [self.folder, self.folder]), ("--log takes a file", ["--log"]),
                               ("--ranks takes a whole number from 1 on, found '0'", ["--ranks", "0", self.folder]),
                               ("--build takes a folder", ["--build"]),
                               ("unknown option '--all'; allowed: --build FOLDER", ["--all"])):
            self.ends(2, message, "prove_release.sh", *words)

    def test_what_must_be_built_first(self):
        (self.folder / "etc").mkdir()
        (self.folder / "etc/bashrc").write_text("true\n")
        self.ends(3, "libcapstanFoamTrilinos.so' is missing: cmake --build", "prove_release.sh", "--build", self.folder, self.folder)
        (self.folder / "lib").mkdir()
        for name in ("libcapstanFoamTrilinos.so", "libcapstan_latency.so"):
            (self.folder / "lib" / name).touch()
        self.ends(3, f"icoFoam of {self.folder.resolve()} is missing: build_release.sh", "prove_release.sh", "--build", self.folder,
                  self.folder)
        self.assertFalse((self.folder / "capstan").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
