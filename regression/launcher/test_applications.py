#!/usr/bin/env python3
"""Tests of ./capstan preload, enable and disable: how each MPI is told, what cannot meet, what is handed on.

See launcher_copy.py: nothing is installed or built. What enable writes: app-inputs/openfoam/test/test_switch_case.py.
"""

import shlex
import unittest

from launcher_copy import SOURCE, STAND_INS, LauncherCase

BELOS = "libtrilinos_belos.so.13.2 => /usr/lib/libtrilinos_belos.so.13.2 (0x1)\n"
OURS = BELOS + "libtrilinos_tpetra.so.13.2 => /usr/lib/libtrilinos_tpetra.so.13.2 (0x1)\nlibmpi.so.40 => /usr/lib/libmpi.so.40 (0x1)\n"
# What ldd says of each file.
LINKED = {
    "libcapstan.so": OURS,
    "naluX": "libfoo.so => /usr/lib/libfoo.so (0x1)\n" + OURS,
    "newer": OURS.replace(".13.2", ".15"),
    "compiled": OURS,
    "upstream": OURS.replace("libtrilinos_", "lib"),
    "intel": OURS.replace("libmpi.so.40", "libmpi.so.12"),
    "lost": OURS.replace("=> /usr/lib/libtrilinos_tpetra.so.13.2 (0x1)", "=> not found"),
    "elsewhere": OURS.replace("/usr/lib/libtrilinos_belos", "/opt/lib/libtrilinos_belos"),
    "static": "libmpi.so.40 => /usr/lib/libmpi.so.40 (0x1)\n", "linked": "libmpi.so.40 => /usr/lib/libmpi.so.40 (0x1)\n",
    "other": "libc.so.6 => /usr/lib/libc.so.6 (0x1)\n", "script": "",
}
HOLDS = {"script": b"#!/bin/sh\n", "static": b"\x7fELF N5Belos13SolverManager",
         "linked": b"\x7fELF N5Belos13SolverManager CAPSTAN GMRES S-STEP PIPELINE"}
# With -r it says what is missing.
LDD = """for file; do :; done
cat "$WORK/linked/${file##*/}" 2>/dev/null || echo "not a dynamic executable"
[ "$1 ${file##*/}" != "-r compiled" ] || for _ in $(seq "${FAKE_MISSING:-1}"); do
echo "undefined symbol: _ZN6Tpetra7versionB5cxx11Ev ($LD_PRELOAD)"; done"""
PROGRAM = 'echo "$0 LD_PRELOAD=$LD_PRELOAD $*"'


class Preload(LauncherCase):
    STAND_INS = {**STAND_INS, "ldd": LDD, "env": PROGRAM,
                 "mpirun": '[ "$1" = --version ] && { echo "mpirun (Open MPI) 4.1.4"; exit 0; }; echo "mpirun $*"',
                 "mpiexec.hydra": 'echo "HYDRA build details:"', "mpirun.intel": 'echo "Intel(R) MPI Library for Linux"',
                 "prterun": 'echo "prterun (PRRTE) 3.0"', "srun": PROGRAM, "jsrun": PROGRAM, "aprun": PROGRAM}

    def setUp(self):
        super().setUp()
        self.install_everything()
        self.build = self.build_without_blanks()
        (self.work / "linked").mkdir()
        for name, text in LINKED.items():
            (self.work / "linked" / name).write_text(text, encoding="utf-8")
            program = self.work / "bin" / name
            program.write_bytes(HOLDS.get(name, b"\x7fELF"))
            program.chmod(0o755)
        (self.work / "bin/env").unlink()
        self.library = str(self.build / "lib/libcapstan_preload.so")
        (self.build / "lib").mkdir(parents=True)
        (self.build / "lib/libcapstan.so").touch()

    def dry(self, *words, **environment):
        status, output, errors = self.capstan("preload", "--dry-run", "--", *words, **environment)
        self.assertEqual(status, 0, errors)
        return shlex.split(output)

    def test_each_mpi_is_told_in_its_way(self):
        one, tail = f"LD_PRELOAD={self.library}", ["-n", "64", "naluX", "-i", "a deck.yaml"]
        for launcher, words in (("mpirun", ["-x", one]), ("prterun", ["-x", one]), ("mpiexec.hydra", ["-genv", "LD_PRELOAD", self.library]),
                                ("mpirun.intel", ["-genv", "LD_PRELOAD", self.library]), ("srun", [f"--export=ALL,{one}"]),
                                ("jsrun", ["-E", one])):
            with self.subTest(launcher):
                self.assertEqual(self.dry(launcher, *tail), [launcher, *words, *tail])
        self.assertEqual(self.dry("aprun", *tail), ["aprun", "-n", "64", "env", one, "naluX", "-i", "a deck.yaml"])
        self.assertEqual(self.dry("naluX", "-i", "deck"), ["env", one, "naluX", "-i", "deck"])
        self.assertEqual(self.called("srun") + self.called("naluX"), [])

    def test_settings_of_capstan_are_handed_on(self):
        settings = {"CAPSTAN_OPTIONS": "redirect: {gmres: capstan_gmres}", "CAPSTAN_JOBS": "3", "LD_PRELOAD": ""}
        one = f"LD_PRELOAD={self.library}"
        self.assertEqual(self.dry("mpirun", "naluX", **settings), ["mpirun", "-x", one, "-x", "CAPSTAN_OPTIONS", "naluX"])
        self.assertEqual(self.dry("jsrun", "naluX", **settings), ["jsrun", "-E", one, "-E", "CAPSTAN_OPTIONS", "naluX"])
        self.assertEqual(self.dry("srun", "naluX", **settings), ["srun", f"--export=ALL,{one}", "naluX"])

    def test_what_the_user_preloads_stays(self):
        both = f"{self.library}:/a.so"
        for given, expected in ((["mpirun", "-x", "LD_PRELOAD=/a.so", "naluX"], ["mpirun", "-x", f"LD_PRELOAD={both}", "naluX"]),
                                (["mpirun", "-x", "LD_PRELOAD", "naluX"], ["mpirun", "-x", f"LD_PRELOAD={self.library}", "naluX"]),
                                (["mpiexec.hydra", "-genv", "LD_PRELOAD", "/a.so", "naluX"],
                                 ["mpiexec.hydra", "-genv", "LD_PRELOAD", both, "naluX"]),
                                (["srun", "--export=A,B", "naluX"], ["srun", "--export=A,B", "env", f"LD_PRELOAD={self.library}", "naluX"])):
            self.assertEqual(self.dry(*given), expected)

    def test_every_part_of_a_command_has_it(self):
        words = ["-x", f"LD_PRELOAD={self.library}"]
        self.assertEqual(self.dry("mpirun", "-n", "1", "naluX", ":", "-n", "1", "naluX"),
                         ["mpirun", *words, "-n", "1", "naluX", ":", *words, "-n", "1", "naluX"])

    def test_the_command_is_started(self):
        status, output, errors = self.capstan("preload", "--", "mpirun", "-n", "2", "naluX")
        self.assertEqual(status, 0, errors)
        self.assertTrue(output.startswith(f"mpirun -x LD_PRELOAD={self.library} -n 2 naluX\n"), output)
        self.assertTrue(any(call.endswith(" capstan_library") for call in self.called("ninja")))

    def test_what_cannot_meet_is_told(self):
        for words, said in ((("newer",), "needs libtrilinos_belos.so.15, and "), (("upstream",), "needs libbelos.so.13.2, and "),
                            (("intel",), "needs libmpi.so.12, and "), (("lost",), "libtrilinos_tpetra.so.13.2, which "),
                            (("static",), "Belos is linked into "), (("linked",), "Capstan is linked into "),
                            (("compiled",), "does not fit the Trilinos of "), (("other", "x"), "/bin/other does not use Belos"),
                            (("script",), "script is a script"), (("-n", "2", "nowhere"), "none of these words is a program")):
            with self.subTest(words):
                status, output, errors = self.capstan("preload", "--", "mpirun", *words)
                self.assertIn(status, (1, 2))
                self.assertIn(said, errors)
                self.assertEqual(output, "")
        self.assertEqual([call for call in self.called("mpirun") if "--version" not in call], [])
        status, output, _ = self.capstan("preload", "--no-check", "--", "mpirun", "other")
        self.assertEqual((status, output), (0, f"mpirun -x LD_PRELOAD={self.build}/lib/libcapstan.so other\n"))

    def test_a_library_that_lacks_much_is_refused_as_one_that_lacks_little(self):
        # More than a pipe holds: whoever writes it is still at it when the first line has been read.
        status, output, errors = self.capstan("preload", "--dry-run", "--", "mpirun", "compiled", FAKE_MISSING="2000")
        self.assertEqual((status, output), (1, ""))
        self.assertIn("which lacks Tpetra::version", errors)

    def test_a_build_for_a_static_trilinos_has_nothing_to_preload(self):
        (self.build / "lib/libcapstan.so").rename(self.build / "lib/libcapstan_static.a")
        status, output, errors = self.capstan("preload", "--", "mpirun", "naluX")
        self.assertEqual((status, output), (1, ""))
        self.assertIn("it was built with a static Trilinos", errors)

    def test_other_files_of_the_same_name_are_said(self):
        status, _, errors = self.capstan("preload", "--dry-run", "--", "mpirun", "elsewhere")
        self.assertEqual(status, 0)
        self.assertIn("note: libtrilinos_belos.so.13.2 is /opt/lib/libtrilinos_belos.so.13.2 for", errors)

    def test_the_application_is_found_behind_what_starts_it(self):
        for words in (("script", "naluX"), ("-x", "naluX=1", "other", "naluX", "script")):
            self.assertIn("naluX", self.dry("mpirun", *words))

    def test_a_path_that_the_loader_would_split_is_refused_before_anything_is_built(self):
        for name in ("a folder", "a:folder"):
            folder = self.build / name
            for host in ("belos", "hypre", "saturne", *(["petsc"] if " " in name else [])):
                with self.subTest(f"{name}, {host}"):
                    status, output, errors = self.capstan("preload", host, "--dry-run", "--", "mpirun", "naluX", CAPSTAN_BUILD_DIR=str(folder))
                    self.assertEqual((status, output), (2, ""))
                    self.assertIn(f"the build folder {folder} has a {'blank' if ' ' in name else 'colon'} in its path", errors)
                    self.assertIn("Set CAPSTAN_BUILD_DIR to a folder without", errors)
        self.assertEqual(self.called("cmake"), [])

    def test_wrong_use(self):
        for words, said in ((("mpirun", "naluX"), "wants -- and a command"), (("--",), "wants -- and a command"),
                            (("--dry-rum", "--", "mpirun", "naluX"), "Did you mean '--dry-run'?"), (("--", "nowhere", "naluX"), "'nowhere' is no program"),
                            (("naluX", "--", "mpirun", "naluX"), "found 'naluX' before --")):
            status, _, errors = self.capstan("preload", *words)
            self.assertEqual(status, 2)
            self.assertIn(said, errors)


class Installed(LauncherCase):
    """The command of an installation, beside the libraries that packages for users hold: the names without versions are for developers."""

    STAND_INS = Preload.STAND_INS

    def setUp(self):
        super().setUp()
        prefix = self.build_without_blanks()
        for name in ("bin", "lib", "share/capstan"):
            (prefix / name).mkdir(parents=True)
        (self.root / "cmake/launcher").rename(prefix / "share/capstan/launcher")
        text = (SOURCE / "cmake/launcher/installed.in").read_text(encoding="utf-8")
        for name, value in (("CAPSTAN_FROM_BIN_TO_DATA", "../share"), ("CAPSTAN_FROM_BIN_TO_LIB", "../lib"), ("PROJECT_VERSION", "1.2.3"),
                            ("PROJECT_VERSION_MAJOR", "1"), ("PROJECT_VERSION_MINOR", "2")):
            text = text.replace(f"@{name}@", value)
        (prefix / "bin/capstan").write_text(text, encoding="utf-8")
        (prefix / "bin/capstan").chmod(0o755)
        self.root, self.folder = prefix / "bin", prefix / "lib"
        for name in ("libcapstan.so.1.2", "libcapstan_preload.so"):
            (self.folder / name).touch()
        (self.work / "linked").mkdir()
        for name in ("libcapstan.so", "libcapstan.so.1.2", "naluX"):
            (self.work / "linked" / name).write_text(OURS, encoding="utf-8")
        (self.work / "bin/naluX").write_bytes(b"\x7fELF")
        (self.work / "bin/naluX").chmod(0o755)

    def preloaded(self, *options):
        status, output, errors = self.capstan("preload", "--dry-run", *options, "--", "mpirun", "naluX")
        self.assertEqual((status, errors), (0, ""))
        return shlex.split(output)[2].partition("=")[2]

    def test_the_library_has_its_version_in_its_name(self):
        self.assertEqual(self.preloaded(), f"{self.folder}/libcapstan_preload.so")
        self.assertEqual(self.preloaded("--no-check"), f"{self.folder}/libcapstan.so.1.2")

    def test_a_library_that_has_lost_its_version_is_taken(self):
        (self.folder / "libcapstan.so.1.2").rename(self.folder / "libcapstan.so")
        self.assertEqual(self.preloaded("--no-check"), f"{self.folder}/libcapstan.so")
        self.assertEqual(self.preloaded(), f"{self.folder}/libcapstan_preload.so")

    def test_a_missing_one_is_named(self):
        (self.folder / "libcapstan.so.1.2").unlink()
        status, _, errors = self.capstan("preload", "--dry-run", "--", "mpirun", "naluX")
        self.assertEqual(status, 3)
        self.assertIn("libcapstan.so", errors)


class Enable(LauncherCase):
    def setUp(self):
        super().setUp()
        self.install_everything()
        self.build = self.build_without_blanks()
        self.case = self.work / "a case"
        (self.case / "system").mkdir(parents=True)
        (self.case / "system/controlDict").write_text("application icoFoam;\n", encoding="utf-8")
        (self.case / "system/fvSolution").write_text("solvers { p { solver PCG; } }\n", encoding="utf-8")

    def texts(self):
        return [(self.case / "system" / name).read_text(encoding="utf-8") for name in ("controlDict", "fvSolution")]

    def test_the_case_gets_the_library_of_this_build_and_loses_it(self):
        before = self.texts()
        status, _, errors = self.capstan("enable", "a case", folder=self.work)
        self.assertEqual(status, 3)
        self.assertIn("libcapstanFoam.so is missing: this Capstan was built without OpenFOAM", errors)
        library = self.build / "lib/libcapstanFoam.so"
        library.parent.mkdir(parents=True, exist_ok=True)
        library.touch()
        for words, shown in ((("capstan_cg",), "p: capstan_cg\n"), ((), "p: capstan\n")):
            status, output, errors = self.capstan("enable", "a case", *words, folder=self.work)
            self.assertEqual(status, 0, errors)
            self.assertIn(f"system/fvSolution: {shown}", output)
        self.assertIn(f'libs ("{library}");', self.texts()[0])
        status, _, errors = self.capstan("disable", "a case", folder=self.work)
        self.assertEqual((status, self.texts()), (0, before), errors)

    def test_wrong_use(self):
        (self.build / "lib").mkdir(parents=True)
        (self.build / "lib/libcapstanFoam.so").touch()
        before = self.texts()
        for words, said in ((("enable",), "enable wants the folder"), (("disable",), "disable wants the folder"),
                            (("enable", str(self.case), "capstan_gc"), "did you mean 'capstan_cg'?"), (("disable", str(self.case)), "has no Capstan"),
                            (("enable", str(self.work)), "is no OpenFOAM case")):
            status, _, errors = self.capstan(*words)
            self.assertEqual(status, 2)
            self.assertIn(said, errors)
        self.assertEqual(self.texts(), before)

    def test_a_library_that_openfoam_would_not_find_is_refused_before_anything_is_built(self):
        before = self.texts()
        status, _, errors = self.capstan("enable", str(self.case), CAPSTAN_BUILD_DIR=str(self.root / "build"))
        self.assertEqual((status, self.texts(), self.called("cmake")), (2, before, []))
        self.assertIn(f"the build folder {self.root}/build has a blank in its path", errors)
        # To take it back needs no library.
        status, _, errors = self.capstan("disable", str(self.case), CAPSTAN_BUILD_DIR=str(self.root / "build"))
        self.assertIn("has no Capstan", errors)


if __name__ == "__main__":
    unittest.main()
