#!/usr/bin/env python3
"""Which OpenFOAM CAPSTAN_OPENFOAM means, on folders that look like installations.

usage: test_installation.py CMAKE
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent / "print_installation.cmake"
CMAKE = "cmake"


class Installation(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name) / "OpenFOAM-v2312"
        self.write("META-INFO/api-info", "api=2312\npatch=0\n")
        for header in ("src/OpenFOAM/lnInclude/lduMatrix.H", "src/OSspecific/POSIX/lnInclude/sigFpe.H",
                       "src/Pstream/mpi/PstreamGlobals.H"):
            self.write(header)
        self.add_build("linux64GccDPInt32Opt", "sys-openmpi")

    def write(self, path, text=""):
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def add_build(self, options, *kinds):
        self.write(f"platforms/{options}/lib/libOpenFOAM.so")
        for kind in ("dummy",) + kinds:
            self.write(f"platforms/{options}/lib/{kind}/libPstream.so")

    def ask(self, value=None, env=None, **settings):
        """(exit status, what CMake printed, in one line)."""
        clean = {key: text for key, text in os.environ.items() if not key.startswith(("WM_", "FOAM_"))}
        settings["CAPSTAN_OPENFOAM"] = self.folder if value is None else value
        done = subprocess.run([CMAKE] + [f"-D{key}={text}" for key, text in settings.items()] + ["-P", str(SCRIPT)],
                              env={**clean, **(env or {})}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)
        return done.returncode, " ".join(done.stdout.split())

    def finds(self, *parts, **how):
        status, text = self.ask(**how)
        self.assertEqual(status, 0, text)
        for part in parts:
            self.assertIn(part, text)

    def refuses(self, *parts, **how):
        status, text = self.ask(**how)
        self.assertNotEqual(status, 0, text)
        for part in parts + ("CAPSTAN_OPENFOAM is OFF, ON",):
            self.assertIn(part, text)

    def test_the_only_build(self):
        lib = self.folder / "platforms/linux64GccDPInt32Opt/lib"
        self.finds("api=2312 labels=32", f"{self.folder}/src/Pstream/mpi", f"{lib}/libOpenFOAM.so;{lib}/sys-openmpi/libPstream.so")

    def test_release_from_bashrc(self):
        (self.folder / "META-INFO/api-info").unlink()
        self.write("etc/bashrc", "# export WM_PROJECT_VERSION=v9\nexport WM_PROJECT_VERSION=v2006   # comment\n")
        self.finds("api=2006")

    def test_of_several_builds_one_is_to_be_chosen(self):
        self.add_build("linux64GccDPInt64Opt", "sys-openmpi", "sys-mpich")
        self.refuses("linux64GccDPInt32Opt, linux64GccDPInt64Opt", "-DCAPSTAN_OPENFOAM_OPTIONS=")
        self.refuses("found 'Int64', there are: linux64GccDPInt32Opt, linux64GccDPInt64Opt", CAPSTAN_OPENFOAM_OPTIONS="Int64")
        self.refuses("sys-mpich, sys-openmpi", "-DCAPSTAN_OPENFOAM_MPI=", CAPSTAN_OPENFOAM_OPTIONS="linux64GccDPInt64Opt")
        self.finds("labels=64", "/sys-mpich/libPstream.so", CAPSTAN_OPENFOAM_OPTIONS="linux64GccDPInt64Opt",
                   CAPSTAN_OPENFOAM_MPI="sys-mpich")

    def test_sourced_environment(self):
        self.add_build("linux64GccDPInt64Opt", "sys-openmpi", "sys-mpich")
        env = {"WM_PROJECT_DIR": str(self.folder), "WM_OPTIONS": "linux64GccDPInt64Opt", "FOAM_MPI": "sys-openmpi"}
        self.finds("labels=64", "/sys-openmpi/libPstream.so", value="ON", env=env)
        self.finds("labels=64", "/sys-openmpi/libPstream.so", env=env)
        env["WM_PROJECT_DIR"] = "/usr"  # of another OpenFOAM
        self.refuses("linux64GccDPInt32Opt, linux64GccDPInt64Opt", env=env)

    def test_precision(self):
        for precision in ("SP", "LP", "SPDP"):
            options = f"linux64Gcc{precision}Int32Opt"
            self.add_build(options, "sys-openmpi")
            self.refuses(f"does not compute in double precision ({precision})", "WM_PRECISION_OPTION=DP", CAPSTAN_OPENFOAM_OPTIONS=options)

    def test_name_of_a_build(self):
        self.add_build("mine", "sys-openmpi")
        self.refuses("tells neither precision nor label size", CAPSTAN_OPENFOAM_OPTIONS="mine")

    def test_releases(self):
        self.write("META-INFO/api-info", "api=1906\n")
        self.refuses("is OpenFOAM v1906. Capstan needs v1912 or newer")
        self.write("META-INFO/api-info", "nothing\n")
        self.refuses("no line 'api=<release>'")
        (self.folder / "META-INFO/api-info").unlink()
        self.refuses("no META-INFO/api-info", "no WM_PROJECT_VERSION")
        for version in ("10", "5.0", "1b"):
            self.write("etc/bashrc", f"export WM_PROJECT_VERSION={version}\n")
            self.refuses(f"is OpenFOAM {version} by its etc/bashrc", "Foundation")

    def test_releases_of_the_foundation(self):
        (self.folder / "META-INFO/api-info").unlink()
        for version in ("11", "13", "dev"):
            self.write("etc/bashrc", f"export WM_PROJECT_VERSION={version}\n")
            self.finds("api= labels=32", f"OpenFOAM {version} of the OpenFOAM Foundation", "never been linked or run")

    def test_no_installation(self):
        self.refuses("found '/none'", value="/none")
        self.refuses("found 'openfoam2312'", value="openfoam2312")

    def test_missing_parts(self):
        for path, message in (("platforms/linux64GccDPInt32Opt/lib/sys-openmpi/libPstream.so", "built without MPI"),
                              ("platforms/linux64GccDPInt32Opt/lib/libOpenFOAM.so", "holds no platforms/<options>/lib/libOpenFOAM.so"),
                              ("src/Pstream/mpi/PstreamGlobals.H", "holds no PstreamGlobals.H")):
            (self.folder / path).unlink()
            self.refuses(message)
        (self.folder / "src/OpenFOAM/lnInclude/lduMatrix.H").unlink()
        (self.folder / "src/OpenFOAM/lnInclude").rmdir()
        self.refuses("src/OpenFOAM/lnInclude is missing")
        (self.folder / "src/OpenFOAM").rmdir()
        self.refuses("holds no src/OpenFOAM", "openfoam2312-dev")


class MakeFiles(unittest.TestCase):
    def test_wmake_and_cmake_compile_the_same_files(self):
        room = SCRIPT.parents[1]
        files = sorted(path.name for path in room.glob("*.C"))
        listed = [word for word in (room / "Make/files").read_text().split() if word.endswith((".C", ".cpp"))]
        self.assertEqual([word for word in listed if word.endswith(".C")], files)
        cmake = (room / "CMakeLists.txt").read_text()
        sources = cmake[cmake.index("add_library(capstanFoam SHARED"):].partition(")")[0].split()
        self.assertEqual([word for word in sources if word.endswith((".C", ".cpp"))], listed)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    CMAKE = sys.argv.pop(1)
    unittest.main()
