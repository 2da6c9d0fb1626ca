#!/usr/bin/env python3
"""newer_headers.sh: its arguments, and that it passes and fails where it has to.

usage: test_newer_headers.py FETCHED    FETCHED: the folder that adapters/openfoam/fetch_headers.sh has filled
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent / "newer_headers.sh"
FETCHED = pathlib.Path()


def run(*words, **env):
    done = subprocess.run([str(SCRIPT), *map(str, words)], env={**os.environ, **env}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


class NewerHeaders(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def refuses(self, message, *words, **env):
        status, text = run(*words, **env)
        self.assertEqual(status, 2, text)
        self.assertIn(message, text)

    def test_arguments(self):
        self.refuses("usage: newer_headers.sh")
        self.refuses("'/none' is not a folder", "/none")
        self.refuses("unknown option '--all'", "--all", self.folder)
        self.refuses("--labels takes 32 or 64, found '16'", "--labels", "16", self.folder)
        self.refuses("--labels takes 32 or 64, found ''", "--labels")
        self.refuses("one folder", self.folder, self.folder)
        self.refuses("the compiler 'no-such-compiler' is missing", self.folder, CXX="no-such-compiler")

    def test_folders_that_are_no_source_tree(self):
        self.refuses("holds neither META-INFO/api-info nor etc/bashrc", self.folder)
        (self.folder / "etc").mkdir()
        (self.folder / "etc/bashrc").write_text("export WM_PROJECT_VERSION=v2312\n")
        self.refuses("does not tell its release", self.folder)
        (self.folder / "etc/bashrc").write_text("export WM_PROJECT_VERSION=13\n")
        self.refuses("holds no folder src/OpenFOAM", self.folder)
        (self.folder / "META-INFO").mkdir()
        (self.folder / "META-INFO/api-info").write_text("api=2312\n")
        self.refuses("holds no folder src/OpenFOAM", self.folder)

    def without_headers(self, file, line):
        """What is said of a source tree without what the adapter includes. Status 1."""
        (self.folder / file).parent.mkdir()
        (self.folder / file).write_text(line)
        for name in ("OpenFOAM", "OSspecific/POSIX", "Pstream/mpi"):
            (self.folder / "src" / name).mkdir(parents=True)
        status, text = run("--syntax", "--labels", "32", self.folder)
        self.assertEqual(status, 1, text)
        return text

    def test_headers_of_another_interface(self):
        """Every file is named."""
        text = self.without_headers("META-INFO/api-info", "api=2312\n")
        self.assertIn("v2312, labels of 32 bits: native_system.C does not compile:", text)
        self.assertIn("v2312, single precision: not refused", text)

    def test_headers_of_the_foundation(self):
        """No macro tells its releases; without the header that does, it is none that Capstan knows."""
        text = self.without_headers("etc/bashrc", "export WM_PROJECT_VERSION=13\n")
        self.assertIn("OpenFOAM 13 of the Foundation, labels of 32 bits: native_system.C does not compile:", text)
        self.assertIn("11 or newer of the OpenFOAM Foundation: this one neither defines the macro OPENFOAM nor has", text)
        self.assertIn("OpenFOAM 13 of the Foundation, long double precision: not refused", text)

    def test_fetched_headers(self):
        status, text = run("--syntax", "--labels", "64", FETCHED)
        self.assertEqual(status, 0, text)
        for file in (SCRIPT.parents[2] / "adapters/openfoam").glob("*.C"):
            self.assertRegex(text, rf"v\d{{4}}, labels of 64 bits: {file.name} compiles")
        self.assertEqual(text.count(": refused\n"), 4)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    FETCHED = pathlib.Path(sys.argv.pop(1))
    unittest.main()
