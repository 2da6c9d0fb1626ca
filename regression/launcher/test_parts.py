#!/usr/bin/env python3
"""Tests of what a build holds: OpenFOAM's headers on Debian and Ubuntu, and parts that are left out of the tests.

See launcher_copy.py: nothing is installed or built.
"""

import unittest

from launcher_copy import STAND_INS, LauncherCase

VERSION = "1912.200626-1build1"
ARCHIVES = {
    "ubuntu": ("Ubuntu|http://archive.ubuntu.com/ubuntu|jammy|universe\nUbuntu|http://archive.ubuntu.com/ubuntu|jammy-updates|universe\n"
               "LP-PPA-somebody|http://ppa.launchpad.net/somebody/ubuntu|jammy|main\nDocker|https://download.docker.com/linux/ubuntu|jammy|stable\n"),
    "debian": "Debian|http://deb.debian.org/debian|bookworm|main\nNVIDIA|https://developer.download.nvidia.com/debian12| /|\n",
    "unnamed": "|http://mirror.example/ubuntu|jammy|universe\n",
    "other": "Docker|https://download.docker.com/linux/ubuntu|jammy|stable\n",
}


class Headers(LauncherCase):
    STAND_INS = {
        **STAND_INS,
        "dpkg-query": f'case " $* " in *source:Version*) echo "{VERSION}"; exit 0 ;; esac\n' + STAND_INS["dpkg-query"],
        "apt-get": 'case " $* " in\n'
                   '*" indextargets "*) cat "$WORK/archives" ;;\n'
                   '*" source "*) cat "$(dirname "$3")/sources.list" >"$WORK/asked"; touch openfoam_1.dsc ;;\n'
                   '*" update "*) exit "${FAKE_UPDATE:-0}" ;; esac',
        "dpkg-source": 'cd "$4" 2>/dev/null || { mkdir -p "$4" && cd "$4"; }\n'
                       "mkdir -p src/OpenFOAM/matrices src/OSspecific/POSIX src/Pstream/mpi\n"
                       "touch src/OpenFOAM/matrices/lduMatrix.H src/OSspecific/POSIX/sigFpe.H src/Pstream/mpi/PstreamGlobals.H",
    }

    def setUp(self):
        super().setUp()
        self.install_everything()
        self.on("22.04", "ubuntu")
        self.script = self.root / "adapters/openfoam/fetch_headers.sh"
        (self.work / "keyrings").mkdir()
        (self.work / "keyrings/ubuntu-archive-keyring.gpg").touch()
        text = self.script.read_text(encoding="utf-8")
        self.assertEqual(text.count("=/usr/share/keyrings"), 1)
        self.script.write_text(text.replace("=/usr/share/keyrings", f'="{self.work}/keyrings"'), encoding="utf-8")

    def archives(self, name):
        (self.work / "archives").write_text(ARCHIVES[name], encoding="utf-8")

    def configured(self, name):
        """The last value of an option in the last configuration."""
        words = [word for word in self.called("cmake")[-1].split() if word.startswith(f"-D{name}=")]
        return words[-1].partition("=")[2] if words else None

    def test_sources_come_from_the_distribution_alone(self):
        signed = f"[signed-by={self.work}/keyrings/ubuntu-archive-keyring.gpg] "
        for name, expected in (("ubuntu", [f"deb-src {signed}http://archive.ubuntu.com/ubuntu jammy universe",
                                           f"deb-src {signed}http://archive.ubuntu.com/ubuntu jammy-updates universe"]),
                               ("unnamed", [f"deb-src {signed}http://mirror.example/ubuntu jammy universe"]),
                               ("debian", ["deb-src http://deb.debian.org/debian bookworm main"])):
            with self.subTest(name):
                self.archives(name)
                folder = self.work / f"build {name}"
                status, _, errors = self.capstan("build", CAPSTAN_BUILD_DIR=str(folder))
                self.assertEqual(status, 0, errors)
                self.assertEqual(sorted((self.work / "asked").read_text(encoding="utf-8").splitlines()), sorted(expected))
                self.assertEqual(self.configured("CAPSTAN_OPENFOAM"), "ON")
                self.assertTrue((folder / "openfoam/include/OpenFOAM/lduMatrix.H").is_file())
                self.assertEqual((folder / "openfoam/version").read_text(encoding="utf-8").strip(), VERSION)

    def test_a_build_goes_on_without_headers_and_says_so(self):
        self.archives("other")
        status, _, errors = self.capstan("build")
        self.assertEqual(status, 0, errors)
        self.assertIn("OpenFOAM is installed, but not its headers, and they could not be fetched: apt on this machine knows no "
                      "archive of Debian or Ubuntu", errors)
        self.assertIn("building without OpenFOAM (CAPSTAN_OPENFOAM=OFF)", errors)
        self.assertEqual(self.configured("CAPSTAN_OPENFOAM"), "OFF")
        self.archives("ubuntu")
        self.calls.write_text("", encoding="utf-8")
        status, _, errors = self.capstan("build")
        self.assertEqual((self.called("apt-get"), self.called("cmake")), ([], []), "no command waits for the network again")
        self.assertIn("no OpenFOAM (CAPSTAN_OPENFOAM=OFF)", self.capstan("test")[2])
        self.assertEqual(self.capstan("setup")[0], 0)
        self.assertEqual(self.configured("CAPSTAN_OPENFOAM"), "ON")

    def test_who_names_an_openfoam_needs_no_headers(self):
        self.archives("other")
        for value in ("/opt/OpenFOAM-v2312", "OFF"):
            status, _, errors = self.capstan("build", f"-DCAPSTAN_OPENFOAM={value}")
            self.assertEqual(status, 0, errors)
            self.assertNotIn("headers", errors)
            self.assertEqual(self.configured("CAPSTAN_OPENFOAM"), value)

    def test_where_everything_is_set_up_missing_headers_are_an_error_of_cmake(self):
        self.on("12")
        self.archives("other")
        self.assertEqual(self.capstan("build")[0], 0)
        self.assertEqual(self.configured("CAPSTAN_OPENFOAM"), "ON")


class LeftOut(LauncherCase):
    def test_parts_that_are_left_out_are_named(self):
        self.install_everything()
        status, _, errors = self.capstan("test", CI="")
        self.assertEqual(status, 0, errors)
        self.assertNotIn("leaves out", errors)
        self.assertEqual(self.capstan("build", "-DCAPSTAN_OPENFOAM=OFF", "-DCAPSTAN_BENCHMARKS:BOOL=no")[0], 0)
        status, _, errors = self.capstan("test", CI="")
        self.assertEqual(status, 0, errors)
        self.assertIn("leaves out tests, since it has no OpenFOAM (CAPSTAN_OPENFOAM=OFF), no benchmarks (CAPSTAN_BENCHMARKS=no)\n", errors)

    def test_what_is_not_installed_is_named(self):
        status, _, errors = self.capstan("test", CI="true", CAPSTAN_INSTALL="off")
        self.assertEqual(status, 0, errors)
        self.assertIn("no OpenFOAM (CAPSTAN_OPENFOAM=OFF), no hypre (boomeramg) (CAPSTAN_HYPRE=OFF), no PETSc's peers", errors)

    def test_ci_tests_all_parts(self):
        self.install_everything()
        self.assertEqual(self.capstan("build", "-DCAPSTAN_OPENFOAM=OFF")[0], 0)
        self.calls.write_text("", encoding="utf-8")
        for install in ("", "off"):
            status, _, errors = self.capstan("test", CI="true", CAPSTAN_INSTALL=install)
            self.assertEqual(status, 1)
            self.assertIn("CI tests all parts, but this build has no OpenFOAM (CAPSTAN_OPENFOAM=OFF)", errors)
            self.assertIn("build/capstan-user-options", errors)
        self.assertEqual(self.called("ctest") + self.called("ninja"), [])
        self.assertEqual(self.capstan("test", "--sanitize", CI="true")[0], 0, "another folder, and benchmarks are never there")

    def test_what_ci_runs_is_strict_wherever_it_runs(self):
        self.install_everything()
        self.assertEqual(self.capstan("build", "-DCAPSTAN_HYPRE=OFF")[0], 0)
        status, _, errors = self.run_script(".ci/run", CI="")
        self.assertEqual(status, 1)
        self.assertIn("no hypre (boomeramg) (CAPSTAN_HYPRE=OFF)", errors)


if __name__ == "__main__":
    unittest.main()
