#!/usr/bin/env python3
"""Tests of debian/ without a build: all that is installed is in a package or left out, and apt is given what packages want of each other."""

import fnmatch
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = {"CMAKE_INSTALL_LIBDIR": "usr/lib/x", "CMAKE_INSTALL_DATADIR": "usr/share", "CMAKE_INSTALL_BINDIR": "usr/bin",
           "CMAKE_INSTALL_DOCDIR": "usr/share/doc/capstan-tools", "CAPSTAN_INSTALL_INCLUDE_ROOT": "usr/include/capstan"}
# What makes a library, which packages may be built without.
OPTIONS = {"capstanPetsc": "CAPSTAN_PETSC_PEERS", "capstanSaturne": "CAPSTAN_SATURNE_INCLUDE"}
OWN_PACKAGE = re.compile(r'(?:/packages|"\$folder")/([a-z0-9.-]+)_\*\.deb')


# Those that cmake/CapstanLibraries.cmake names.
MADE = {"capstan": "SHARED", "capstan_static": "STATIC", "capstan_whole_archive": "INTERFACE"}


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def kinds():
    """{target: kind} of all libraries and programs of the sources."""
    found = dict(MADE)
    for path in ROOT.glob("adapters/**/CMakeLists.txt"), ROOT.glob("tpetra_ext/**/CMakeLists.txt"), ROOT.glob("cmake/*.cmake"):
        for what, name, kind in re.findall(r"add_(library|executable)\(([\w-]+)\s*(\w*)", "\n".join(map(read, path))):
            # The packages have shared libraries, also where there may be a static one in their place.
            found[name] = "PROGRAM" if what == "executable" else "SHARED" if found.get(name) == "SHARED" else kind
    return found


def targets():
    """The targets that are installed."""
    text = read("cmake/CapstanInstall.cmake")
    names = re.findall(r"capstan_export\((\w+) AS", text) + re.findall(r"install\(\s*TARGETS ([\w-]+)", text)
    for words in re.findall(r"foreach\(target ([^)$]+)\)", text):
        names += words.split()
    return dict.fromkeys(name for name in names if name not in ("IN", "LISTS", "benchmarks", "CAPSTAN_PRODUCTS"))


def installed_files():
    """Where files and folders go that are no targets, below /."""
    text = read("cmake/CapstanInstall.cmake")
    found = []
    for kind, words in re.findall(r"install\(\s*(FILES|PROGRAMS|DIRECTORY|EXPORT)\s+([^()]*)\)", text):
        words = [re.sub(r"\$\{(\w+)\}", lambda match: FOLDERS.get(match[1], match[1]), word.strip('"')) for word in words.split()]
        at = words.index("DESTINATION")
        names = [words[words.index("RENAME") + 1]] if "RENAME" in words else words[:1] if kind == "EXPORT" else words[:at]
        found += [f"{words[at + 1]}/{pathlib.PurePosixPath(name).name}" for name in names if name != "NAMESPACE"]
    return found


def is_given(option):
    """Whether the packages are built with an option."""
    said = re.findall(rf"-D{option}(?::\w+)?=(\w+)", read("debian/rules"))
    default = re.search(rf'option\({option} "[^"]*" (ON|OFF)\)', read("cmake/CapstanOptions.cmake"))
    return (said or [default[1] if default else "found"])[-1] != "OFF"


class WhatIsInstalled(unittest.TestCase):
    def setUp(self):
        self.patterns = [line for path in sorted(ROOT.glob("debian/*.install")) for line in path.read_text(encoding="utf-8").split()]

    def packed(self, path):
        """Whether a package holds the path, or a folder above it."""
        return any(fnmatch.fnmatch(path, pattern) or fnmatch.fnmatch(path, pattern + "/*") for pattern in self.patterns)

    def test_every_target_is_in_a_package_or_left_out(self):
        known, checked = kinds(), 0
        for name in targets():
            kind = known.get(name)
            self.assertIsNotNone(kind, f"{name} is installed, and nothing makes it")
            if kind == "INTERFACE" or name in OPTIONS and not is_given(OPTIONS[name]):
                continue
            path = {"PROGRAM": f"usr/bin/{name}", "STATIC": f"usr/lib/x/lib{name}.a"}.get(kind, f"usr/lib/x/lib{name}.so")
            self.assertTrue(self.packed(path), f"no debian/*.install names {path}, and debian/rules builds it: dh_missing ends the build")
            checked += 1
        self.assertGreater(checked, 8)

    def test_every_file_is_in_a_package(self):
        files = installed_files()
        self.assertGreater(len(files), 20)
        for path in files:
            self.assertTrue(self.packed(path), f"no debian/*.install names {path}")


class WhatAptIsGiven(unittest.TestCase):
    """A package that wants another one of the same version cannot have it from an archive."""

    def setUp(self):
        self.wanted = {}
        for part in read("debian/control").split("\n\n"):
            if name := re.search(r"^Package: (\S+)", part, re.MULTILINE):
                depends = re.search(r"^Depends:((?:.*\n?)(?:[ \t].*\n?)*)", part, re.MULTILINE)[1]
                self.wanted[name[1]] = set(re.findall(r"([a-z0-9.-]+) \(= \$\{binary:Version\}\)", depends))

    def check(self, calls):
        there = set()
        for call in calls:
            there |= set(OWN_PACKAGE.findall(call))
            for name in sorted(there):
                self.assertIn(name, self.wanted)
                self.assertLessEqual(self.wanted[name], there, f"{name} wants these; given: {sorted(there)}")
        self.assertGreater(len(there), 3)

    def test_in_the_container(self):
        self.check([read("packaging/container/Containerfile").replace("\\\n", " ").rpartition("apt-get install")[2]])

    def test_in_the_proof(self):
        lines = read("regression/packages/try_packages.sh").replace("\\\n", " ").splitlines()
        calls = [line for line in lines if line.startswith("installed ")]
        self.assertGreater(len(calls), 1)
        self.check(calls)

    def test_dependencies_are_read(self):
        self.assertEqual(self.wanted["capstan-tools"], {"capstan-preconditioners", "libcapstan0.1"})
        self.assertEqual(self.wanted["libcapstan0.1"], set())


if __name__ == "__main__":
    unittest.main()
