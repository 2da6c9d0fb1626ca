#!/usr/bin/env python3
"""Tests of the first steps on a new machine: what ./capstan installs on each Debian and what it says meanwhile, build folders
that were made otherwise or cannot be written to, the environment of MPI runs, installing what is not built."""

import os
import shutil
import stat
import subprocess
import unittest

from launcher_copy import SOURCE, STAND_INS, LauncherCase


class Machines(LauncherCase):
    def test_packages_are_installed_on_every_debian_that_is_known(self):
        for version in ("12", "13", None):
            with self.subTest(version=version):
                self.on(version)
                self.installed.write_text("", encoding="utf-8")
                status, _, errors = self.capstan("setup")
                self.assertEqual(status, 0, errors)
                self.assertIn(" trilinos-all-dev ", errors)
                self.assertIn(" libhypre-dev ", errors)

    def test_elsewhere_tools_are_asked_for(self):
        for name, version in (("debian", "99"), ("ubuntu", "24.04")):
            with self.subTest(name=name):
                self.on(version, name)
                bash = shutil.which("bash")
                for tool in ("readlink", "dirname", "mkdir", "awk", "cat"):
                    (self.work / "bin" / tool).unlink(missing_ok=True)
                    (self.work / "bin" / tool).symlink_to(shutil.which(tool))
                run = subprocess.run([bash, str(self.root / "capstan"), "setup"], capture_output=True, text=True, check=False,
                                     env={**self.environment, "PATH": str(self.work / "bin")}, timeout=60)
                self.assertEqual(run.returncode, 3, run.stderr)
                self.assertIn("c++ mpicxx", run.stderr)
                self.assertNotIn("doxygen", run.stderr)
                self.assertEqual(self.called("apt-get"), [])

    def test_what_packages_take_is_said_first(self):
        self.assertIn("that takes 123 MB to download, 456 MB on disk\n", self.capstan("setup")[2])

    def test_an_interrupted_installation_is_finished_first(self):
        (self.work / "lists").touch()
        (self.work / "interrupted").touch()
        for tool, line in (("apt-get", '[ ! -e "$WORK/interrupted" ] || exit 100'), ("dpkg", 'rm -f "$WORK/interrupted"')):
            path = self.work / "bin" / tool
            path.write_text(path.read_text(encoding="utf-8").replace('>>"$CALLS"\n', f'>>"$CALLS"\n{line}\n', 1),
                            encoding="utf-8")
        status, _, errors = self.capstan("setup")
        self.assertEqual(status, 0, errors)
        self.assertEqual(self.called("dpkg"), ["dpkg --configure -a"])

    def test_warnings_are_errors_on_debian_12_only(self):
        for version, expected in (("12", "ON"), ("13", "OFF"), (None, "OFF")):
            self.on(version)
            self.install_everything()
            self.calls.write_text("", encoding="utf-8")
            self.assertEqual(self.capstan("build", CAPSTAN_BUILD_DIR=str(self.work / f"build {version}"))[0], 0)
            self.assertIn(f"-DCAPSTAN_WERROR={expected} ", self.called("cmake")[0])


class Progress(LauncherCase):
    def test_a_long_build_says_in_a_pipe_how_far_it_is(self):
        self.install_everything()
        go_on = self.work / "go-on"
        os.mkfifo(go_on)
        environment = {**self.environment, "CAPSTAN_REPORT_SECONDS": "1"}
        with subprocess.Popen([str(self.root / "capstan"), "build"], env=environment, stdin=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True) as building:
            # Ninja's stand-in waits for us, and we for the second report.
            reports = []
            for line in building.stderr:
                if line.startswith("capstan: building, for 0 min: "):
                    reports.append(line)
                if len(reports) == 2:
                    break
            with open(go_on, "w", encoding="utf-8"):
                pass
            rest = building.stderr.read()
            self.assertEqual(building.wait(), 0)
        self.assertEqual(reports[-1], "capstan: building, for 0 min: [1/1] noise\n")
        self.assertTrue(rest.endswith("capstan_products\n"), rest)

    def test_a_wrong_pause_is_refused(self):
        status, _, errors = self.capstan("build", CAPSTAN_REPORT_SECONDS="0")
        self.assertEqual(status, 2)
        self.assertIn("CAPSTAN_REPORT_SECONDS is '0'", errors)


class Unwritable(LauncherCase):
    def test_a_folder_that_cannot_be_made_is_named(self):
        (self.work / "file").touch()
        for folder in (self.work / "file", self.work / "file" / "build"):
            for command in ("setup", "build", "test", "list"):
                with self.subTest(folder=folder, command=command):
                    status, _, errors = self.capstan(command, CAPSTAN_BUILD_DIR=str(folder))
                    self.assertEqual(status, 1)
                    self.assertRegex(errors, rf"(?s)^capstan: error: the build folder {folder} cannot be made: "
                                             r".*\n  Set CAPSTAN_BUILD_DIR")
                    self.assertEqual(errors.count("\n"), 2, errors)
        self.assertEqual(self.called("apt-get") + self.called("cmake"), [])

    def test_a_folder_that_cannot_be_written_to_is_named(self):
        # What root may not do either.
        (self.root / "build" / "capstan-lock").mkdir(parents=True)
        status, _, errors = self.capstan("build")
        self.assertEqual(status, 1)
        self.assertRegex(errors, r"^capstan: error: the build folder .* cannot be written to \(by user .*\): Is a directory\n")

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_a_folder_of_somebody_else_is_named(self):
        folder = self.root / "build"
        folder.mkdir()
        folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
        self.addCleanup(folder.chmod, stat.S_IRWXU)
        self.assertIn("Permission denied", self.capstan("build")[2])


# A project that lists its sources as Capstan does, but has nothing to compile.
PROJECT = """cmake_minimum_required(VERSION 3.20)
include("${CMAKE_CURRENT_SOURCE_DIR}/cmake/CapstanGivenOptions.cmake")
project(Parts NONE)
option(CAPSTAN_HYPRE "" OFF)
set(CAPSTAN_OPENFOAM OFF CACHE STRING "")
option(CAPSTAN_WERROR "" OFF)
capstan_record_options()
file(GLOB parts CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.part")
add_custom_command(OUTPUT whole.txt COMMAND ${CMAKE_COMMAND} -E cat ${parts} > whole.txt DEPENDS ${parts}
                   COMMENT "Joining parts" VERBATIM)
add_custom_target(capstan_products DEPENDS whole.txt)
"""


@unittest.skipUnless(shutil.which("cmake") and shutil.which("ninja"), "needs cmake and ninja")
class RealBuilds(LauncherCase):
    STAND_INS = {name: body for name, body in STAND_INS.items() if name not in ("cmake", "ninja")}

    def setUp(self):
        super().setUp()
        self.install_everything()
        (self.root / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")
        self.add_part("first")

    def add_part(self, name):
        (self.root / f"{name}.part").write_text(f"{name}\n", encoding="utf-8")

    def build(self):
        status, _, errors = self.capstan("build")
        self.assertEqual(status, 0, errors)
        return "building" in errors, (self.root / "build" / "whole.txt").read_text(encoding="utf-8")

    def configure_by_hand(self, generator, *options):
        subprocess.run(["cmake", "-G", generator, "-S", str(self.root), "-B", str(self.root / "build"), *options],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)

    def cached(self, name):
        lines = (self.root / "build" / "CMakeCache.txt").read_text(encoding="utf-8").splitlines()
        return next(line.partition("=")[2] for line in lines if line.startswith(name + ":"))

    def test_building_is_said_only_where_there_is_work(self):
        self.assertEqual(self.build(), (True, "first\n"))
        self.assertEqual(self.build(), (False, "first\n"))
        self.add_part("second")
        self.assertEqual(self.build(), (True, "first\nsecond\n"))
        self.assertEqual(self.build(), (False, "first\nsecond\n"))

    def test_a_broken_cmake_file_is_shown(self):
        self.build()
        (self.root / "CMakeLists.txt").write_text(PROJECT + "nonsense()\n", encoding="utf-8")
        status, _, errors = self.capstan("build")
        self.assertEqual(status, 1)
        self.assertIn('Unknown CMake command "nonsense"', errors)

    @unittest.skipUnless(shutil.which("make"), "needs make")
    def test_a_folder_of_another_generator_keeps_it(self):
        self.configure_by_hand("Unix Makefiles", "-DCAPSTAN_BASELINE=native")
        self.assertEqual(self.build()[1], "first\n")
        self.assertEqual((self.cached("CMAKE_GENERATOR"), self.cached("CAPSTAN_BASELINE")), ("Unix Makefiles", "native"))
        self.add_part("second")
        self.assertEqual(self.build()[1], "first\nsecond\n")

    def test_a_folder_configured_by_hand_keeps_how_it_compiles(self):
        self.configure_by_hand("Ninja", "-DCAPSTAN_BASELINE=native", "-DCMAKE_BUILD_TYPE:STRING=Debug")
        status, _, errors = self.capstan("build")
        self.assertEqual(status, 0, errors)
        self.assertIn("stay: -DCMAKE_BUILD_TYPE=Debug -DCAPSTAN_BASELINE=native", errors)
        self.assertNotIn(" stay: ", self.capstan("build")[2])
        self.assertEqual((self.cached("CMAKE_BUILD_TYPE"), self.cached("CAPSTAN_BASELINE")), ("Debug", "native"))
        self.assertEqual(self.capstan("build", "-DCMAKE_BUILD_TYPE=Release")[0], 0)
        self.assertEqual(self.cached("CMAKE_BUILD_TYPE"), "Release", "who asks for it gets it")

    def test_what_was_given_to_cmake_itself_stays(self):
        given = ("-DCAPSTAN_OPENFOAM=OFF", "-DCAPSTAN_HYPRE=OFF")
        path = "/opt/OpenFOAM-v2312"
        for first, by_hand, found in (("cmake", [()], ("ON", "ON")), ("cmake", [given, ()], ("OFF", "OFF")),
                                      ("cmake", [(f"-DCAPSTAN_OPENFOAM:STRING={path}",)], (path, "ON")),
                                      ("capstan", [given], ("OFF", "OFF")), ("capstan", [()], ("ON", "ON"))):
            with self.subTest(first=first, by_hand=by_hand):
                shutil.rmtree(self.root / "build", ignore_errors=True)
                if first == "capstan":
                    self.build()
                for words in by_hand:
                    self.configure_by_hand("Ninja", *words)
                self.build()
                self.assertEqual((self.cached("CAPSTAN_OPENFOAM"), self.cached("CAPSTAN_HYPRE")), found)

    def test_the_last_word_counts(self):
        self.build()
        for value in ("OFF", "ON"):
            self.assertEqual(self.capstan("build", f"-DCAPSTAN_HYPRE={value}")[0], 0)
            self.assertEqual(self.cached("CAPSTAN_HYPRE"), value)
        self.configure_by_hand("Ninja", "-DCAPSTAN_HYPRE=OFF")
        # Another release: the launcher's own options change.
        self.on("13")
        self.install_everything()
        self.build()
        self.assertEqual((self.cached("CAPSTAN_HYPRE"), self.cached("CAPSTAN_WERROR")), ("OFF", "OFF"))

    def test_what_was_given_to_cmake_stays_after_a_configuration_that_failed(self):
        self.build()
        (self.root / "CMakeLists.txt").write_text(PROJECT + 'message(FATAL_ERROR "no")\n', encoding="utf-8")
        self.assertEqual(self.capstan("build", "-DOTHER=1")[0], 1)
        (self.root / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")
        self.configure_by_hand("Ninja", "-DCAPSTAN_HYPRE=OFF")
        self.build()
        self.assertEqual(self.cached("CAPSTAN_HYPRE"), "OFF")

    def test_a_folder_of_the_launcher_takes_new_defaults(self):
        self.build()
        self.on("13")
        self.install_everything()
        self.build()
        self.assertEqual(self.cached("CAPSTAN_WERROR"), "OFF")


INSTALLED = """cmake_minimum_required(VERSION 3.20)
project(Parts C)
include("{check}")
capstan_check_before_install(part later never)
install(FILES CMakeLists.txt DESTINATION share)
file(WRITE "${{CMAKE_BINARY_DIR}}/part.c" "int part(void) {{ return 1; }}")
add_library(part SHARED "${{CMAKE_BINARY_DIR}}/part.c")
add_library(later STATIC "${{CMAKE_BINARY_DIR}}/part.c")
install(TARGETS part later)
"""


@unittest.skipUnless(shutil.which("cmake"), "needs cmake")
class Installing(LauncherCase):
    def test_nothing_is_installed_while_something_is_missing(self):
        text = INSTALLED.format(check=SOURCE / "cmake" / "CapstanInstallCheck.cmake")
        (self.root / "CMakeLists.txt").write_text(text, encoding="utf-8")
        build, prefix = self.work / "build", self.work / "prefix"

        def cmake(*words):
            return subprocess.run(["/usr/bin/env", "cmake", *map(str, words)], capture_output=True, text=True, check=False,
                                  env={**self.environment, "PATH": os.environ["PATH"]})

        self.assertEqual(cmake("-S", self.root, "-B", build).returncode, 0)
        for target in ("part", "later"):
            done = cmake("--install", build, "--prefix", prefix)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f"since '{target}' is not built", done.stderr)
            self.assertFalse(prefix.exists())
            self.assertEqual(cmake("--build", build, "--target", target).returncode, 0)
        done = cmake("--install", build, "--prefix", prefix)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((prefix / "lib" / "libpart.so").exists())


class RunEnvironment(LauncherCase):
    def lines(self, version, *words):
        done = subprocess.run([str(SOURCE / "cmake" / "run_environment.sh"), *words], capture_output=True, text=True,
                              check=True, env={**self.environment, "FAKE_OPEN_MPI": version})
        return dict(line.split("=", 1) for line in done.stdout.splitlines())

    def test_each_open_mpi_gets_the_variables_it_knows(self):
        for version, binding, mapping, quiet in (
                ("4.1.4", "OMPI_MCA_hwloc_base_binding_policy", "OMPI_MCA_rmaps_base_oversubscribe",
                 "OMPI_MCA_orte_execute_quiet"),
                ("5.0.7", "PRTE_MCA_hwloc_default_binding_policy", "PRTE_MCA_rmaps_default_mapping_policy",
                 "PRTE_MCA_prte_execute_quiet"),
                ("6.0.0rc2", "PRTE_MCA_bindto", "PRTE_MCA_mapby", "PRTE_MCA_prte_execute_quiet"),
                ("10.1.0", "PRTE_MCA_bindto", "PRTE_MCA_mapby", "PRTE_MCA_prte_execute_quiet")):
            with self.subTest(version=version):
                plain = self.lines(version)
                self.assertEqual(plain[binding], "none")
                self.assertEqual(plain["OMPI_ALLOW_RUN_AS_ROOT"], "1")
                self.assertFalse({mapping, quiet, "OMPI_MCA_mpi_yield_when_idle"} & set(plain))
                both = self.lines(version, "--quiet", "--oversubscribed")
                self.assertEqual(set(both) - set(plain), {mapping, quiet, "OMPI_MCA_mpi_yield_when_idle"})
                threads = set(self.lines(version, "--threads")) - set(plain)
                self.assertEqual(threads, {"OMPI_MCA_btl_sm_fbox_max"} if int(version.split(".")[0]) >= 6 else set())

    def test_another_mpi_gets_what_holds_for_all(self):
        other = self.work / "mpiexec"
        other.write_text("#!/bin/sh\necho 'HYDRA build details:'\n", encoding="utf-8")
        other.chmod(0o755)
        self.assertEqual({name for name in self.lines("4.1.4", "--quiet", str(other)) if "MCA" in name}, set())
        self.assertEqual(self.lines("4.1.4", str(other))["OMP_NUM_THREADS"], "1")
        self.assertEqual(self.lines("4.1.4", "no-such-mpirun")["OMP_NUM_THREADS"], "1")

    def test_a_wrong_word_is_refused(self):
        done = subprocess.run([str(SOURCE / "cmake" / "run_environment.sh"), "--oversubscribe"], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("allowed: --ranks N, --oversubscribed, --threads, --quiet", done.stderr)

    def test_solve_hands_it_over(self):
        self.install_everything()
        for version, variable in (("5.0.7", "PRTE_MCA_rmaps_default_mapping_policy"), ("6.0.0", "PRTE_MCA_mapby")):
            status, output, errors = self.capstan("solve", "deck.yaml", "--ranks", "3", FAKE_OPEN_MPI=version)
            self.assertEqual(status, 0, errors)
            self.assertIn(f"{variable}=:OVERSUBSCRIBE", output)
            self.assertNotIn("OMPI_MCA_btl_sm_fbox_max", output)
        status, output, errors = self.capstan("solve", "deck.yaml", "--mpi-threads", FAKE_OPEN_MPI="6.0.0")
        self.assertEqual(status, 0, errors)
        self.assertIn("OMPI_MCA_btl_sm_fbox_max=0", output)


if __name__ == "__main__":
    unittest.main()
