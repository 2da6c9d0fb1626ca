#!/usr/bin/env python3
"""Tests of ./capstan itself: wrong use, set-up with and without the right to install, builds that need no work.

See launcher_copy.py: nothing is installed or built. First steps on new machines: test_first_steps.py.
"""

import os
import re
import shutil
import subprocess
import unittest

from launcher_copy import LauncherCase


class Launcher(LauncherCase):
    def add_case(self, name, body='printf "%s\\n" "$CAPSTAN_SOURCE_DIR" "$CAPSTAN_BUILD_DIR" "$@"'):
        case = self.root / "app-inputs" / name
        case.mkdir(parents=True)
        (case / "run").write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        (case / "run").chmod(0o755)

    def test_help_names_every_command_and_each_has_its_own(self):
        status, output, _ = self.capstan("help")
        self.assertEqual(status, 0)
        for command in ("setup", "build", "run", "solve", "preload", "advise", "enable", "disable", "plot", "list", "test", "bench", "study", "docs", "version", "help"):
            self.assertRegex(output, rf"(?m)^  {command} ")
            status, own, _ = self.capstan(command, "--help")
            self.assertEqual(status, 0)
            self.assertIn(command, own)
        self.assertEqual(self.called("apt-get") + self.called("cmake"), [])

    def test_unknown_command_names_the_nearest(self):
        status, _, errors = self.capstan("slove")
        self.assertEqual(status, 2)
        self.assertIn("Did you mean 'solve'?", errors)
        self.assertIn("setup build run solve preload advise enable disable plot list test bench study docs version help", errors)

    def test_version_is_that_of_the_project(self):
        file = self.root / "CMakeLists.txt"
        text = file.read_text(encoding="utf-8")
        for number, words in ((re.search(r"project\(\s*Capstan\s+VERSION (\S+)", text)[1], "--version"), ("12.3.4", "version")):
            file.write_text(re.sub(r"(?m)^  VERSION .*", f"  VERSION {number}", text), encoding="utf-8")
            self.assertEqual(self.capstan(words), (0, f"capstan {number}\n", ""))

    def test_unknown_case_names_the_nearest(self):
        self.install_everything()
        self.add_case("openfoam/cavity3d")
        self.add_case("decks/laplace")
        status, _, errors = self.capstan("run", "app-inputs/openfoam/cavity2d")
        self.assertEqual(status, 2)
        self.assertIn("The nearest case is app-inputs/openfoam/cavity3d.", errors)

    def test_a_case_by_the_last_part_of_its_name(self):
        self.install_everything()
        self.build_without_blanks()
        for name in ("openfoam/pitzDaily", "openfoam/cavity3d", "one/twice", "other/twice"):
            self.add_case(name)
        status, output, errors = self.capstan("run", "pitzDaily", "--compare", folder="/")
        self.assertEqual((status, output.splitlines()[2:]), (0, ["--compare"]), errors)
        for wanted, near in (("pitzdayly", "openfoam/pitzDaily"), ("twice", "one/twice")):
            status, _, errors = self.capstan("run", wanted)
            self.assertEqual(status, 2)
            self.assertIn(f"The nearest case is app-inputs/{near}.", errors)

    def test_run_hands_over_arguments_and_folders(self):
        self.install_everything()
        build = self.build_without_blanks()
        self.add_case("openfoam/cavity3d")
        for folder, case in (("/", "app-inputs/openfoam/cavity3d"), (self.root / "app-inputs", "openfoam/cavity3d/")):
            status, output, errors = self.capstan("run", case, "32", "a b", folder=folder)
            self.assertEqual(status, 0, errors)
            self.assertEqual(output.splitlines(), [str(self.root), str(build), "32", "a b"])

    def test_folders_are_found_whatever_the_users_cdpath_is(self):
        # cd prints the folder where it is found by CDPATH.
        self.install_everything()
        self.build_without_blanks()
        self.add_case("openfoam/cavity3d")
        (self.root / "perf" / "results").mkdir(parents=True)
        (self.root / "perf" / "results" / "a.png").touch()
        (self.work / "openfoam" / "cavity3d").mkdir(parents=True)
        for cdpath in (".", str(self.work)):
            status, output, errors = self.capstan("run", "openfoam/cavity3d", "32", folder=self.root / "app-inputs",
                                                  CDPATH=cdpath)
            self.assertEqual((status, output.splitlines()[2:]), (0, ["32"]), errors)
            done = subprocess.run(["docs/build_html", "out"], cwd=self.root, capture_output=True, text=True, check=False,
                                  env={**self.environment, "CDPATH": cdpath})
            self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
            self.assertTrue((self.root / "out" / "html").is_dir())

    def test_folders_that_openfoam_and_the_loader_misread_are_refused_before_any_work(self):
        self.install_everything()
        self.add_case("openfoam/cavity3d")
        for words in (("run", "cavity3d"), ("advise", str(self.work)), ("advise", "deck.yaml")):
            for folder, what in ((self.root / "build", "blank"), (f"{self.build_without_blanks()}/a:b", "colon")):
                status, _, errors = self.capstan(*words, CAPSTAN_BUILD_DIR=str(folder))
                self.assertEqual(status, 2, words)
                self.assertIn(f"the build folder {folder} has a {what} in its path", errors)
                self.assertIn("Set CAPSTAN_BUILD_DIR to a folder without", errors)
        self.assertEqual(self.called("cmake"), [])

    def test_run_passes_the_status_on(self):
        self.install_everything()
        self.add_case("decks/failing", "exit 7")
        self.assertEqual(self.capstan("run", "app-inputs/decks/failing")[0], 7)

    def test_root_installs_after_an_update_and_says_what(self):
        status, _, errors = self.capstan("setup")
        self.assertEqual(status, 0, errors)
        self.assertIn("trilinos-all-dev", errors)
        self.assertEqual([("update" if " update" in call else "install") for call in self.called("apt-get")],
                         ["install", "update", "install", "install"], "the first and the third only ask what it takes")
        self.calls.write_text("", encoding="utf-8")
        self.assertEqual(self.capstan("setup")[0], 0)
        self.assertEqual(self.called("apt-get") + self.called("cmake"), [], "a second setup must find nothing to do")

    def test_only_what_is_missing_is_installed(self):
        self.install_everything()
        have = self.installed.read_text(encoding="utf-8").split()
        self.installed.write_text("\n".join(name for name in have if name != "libfmt-dev") + "\n", encoding="utf-8")
        status, _, errors = self.capstan("build")
        self.assertEqual(status, 0, errors)
        self.assertIn("installing 1 Debian packages (and what they depend on): libfmt-dev\n", errors)

    def test_without_the_right_to_install_the_packages_are_named(self):
        status, _, errors = self.capstan("test", FAKE_UID="1000")
        self.assertEqual(status, 3)
        self.assertIn("trilinos-all-dev", errors)
        self.assertIn("sudo apt-get install", errors)
        self.assertEqual(self.called("apt-get") + self.called("cmake"), [])

    def test_an_installation_that_leaves_packages_missing_is_an_error(self):
        (self.work / "broken").touch()
        status, _, errors = self.capstan("setup")
        self.assertEqual(status, 3)
        self.assertIn("still missing", errors)

    def test_configures_once_and_builds_only_when_there_is_work(self):
        self.install_everything()
        self.assertEqual(self.capstan("build")[0], 0)
        self.assertEqual(len(self.called("cmake")), 1)
        (self.work / "built").touch()
        self.calls.write_text("", encoding="utf-8")
        status, output, errors = self.capstan("build")
        self.assertEqual((status, output), (0, ""))
        self.assertNotIn("building", errors)
        self.assertEqual(self.called("cmake"), [])
        self.assertEqual([call for call in self.called("ninja") if " -n " not in call and " build.ninja" not in call], [])

    def test_options_are_kept_until_others_are_given(self):
        self.install_everything()
        for arguments, expected in ((["-DCAPSTAN_BASELINE=native", "-DFIRST=1"], ["-DCAPSTAN_BASELINE=native", "-DFIRST=1"]), ([], None),
                                    (["-DFIRST:STRING=2"], ["-DCAPSTAN_BASELINE=native", "-DFIRST:STRING=2"]), ([], None)):
            self.calls.write_text("", encoding="utf-8")
            self.assertEqual(self.capstan("build", *arguments)[0], 0)
            calls = self.called("cmake")
            if expected is None:
                self.assertEqual(calls, [], "nothing has changed")
            else:
                # The last one wins.
                self.assertEqual(calls[0].split()[-len(expected):], expected)
                self.assertEqual(calls[0].count("FIRST"), 1)

    def test_a_configuration_that_failed_is_begun_again(self):
        self.install_everything()
        self.assertEqual(self.capstan("build")[0], 0)
        (self.work / "cmake-error").touch()
        self.assertEqual(self.capstan("build", "-DNO=SUCH")[0], 1)
        (self.work / "cmake-error").unlink()
        self.calls.write_text("", encoding="utf-8")
        self.assertEqual(self.capstan("build")[0], 0)
        self.assertEqual([("-DNO=SUCH" in call) for call in self.called("cmake")], [False])

    def test_who_has_to_wait_says_so(self):
        self.install_everything()
        folder = self.root / "build"
        folder.mkdir()
        with subprocess.Popen(["flock", str(folder / "capstan-lock"), "cat"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as other:
            other.stdin.write(b"locked\n")
            other.stdin.flush()
            self.assertEqual(other.stdout.readline(), b"locked\n")
            with subprocess.Popen([str(self.root / "capstan"), "build"], env=self.environment, stdin=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True) as waiting:
                self.assertIn("another ./capstan is at work", waiting.stderr.readline())
                other.stdin.close()
                self.assertEqual(waiting.wait(), 0)

    def test_jobs_do_not_follow_the_threads_of_programs(self):
        def jobs(**environment):
            run = subprocess.run(["bash", "-c", f'source "{self.root}/cmake/launcher/machine.sh"; parallel_jobs'],
                                 capture_output=True, text=True, check=True, env={**self.environment, **environment})
            return run.stdout

        self.assertEqual(jobs(OMP_NUM_THREADS="1"), jobs())

    def available_megabytes(self, controllers, groups):
        """What the launcher finds with these lines of /proc/self/cgroup and {folder below /sys/fs/cgroup: {file: text}}."""
        proc, tree = self.work / "proc", self.work / "cgroup"
        shutil.rmtree(tree, ignore_errors=True)
        proc.mkdir(exist_ok=True)
        (proc / "meminfo").write_text("MemTotal: 9999999 kB\nMemAvailable:   8192000 kB\n", encoding="utf-8")
        (proc / "self").mkdir(exist_ok=True)
        (proc / "self/cgroup").write_text("".join(f"{line}\n" for line in controllers), encoding="utf-8")
        for folder, files in groups.items():
            (tree / folder).mkdir(parents=True, exist_ok=True)
            for name, text in files.items():
                (tree / folder / name).write_text(text, encoding="utf-8")
        run = subprocess.run(["bash", "-euc", f'source "{self.root}/cmake/launcher/machine.sh"; proc_root=$0 cgroup_root=$1; '
                              "available_megabytes", str(proc), str(tree)], capture_output=True, text=True, check=True,
                             env=self.environment)
        self.assertEqual(run.stderr, "")
        return int(run.stdout)

    def test_the_file_cache_of_a_container_counts_as_free(self):
        size = 1024 * 1024
        second = {"memory.max": f"{4000 * size}\n", "memory.current": f"{3900 * size}\n",
                  "memory.stat": f"anon {900 * size}\nfile {3000 * size}\ninactive_file {2900 * size}\nactive_file {100 * size}\n"}
        first = {"memory.limit_in_bytes": f"{4000 * size}\n", "memory.usage_in_bytes": f"{3900 * size}\n",
                 "memory.stat": f"inactive_file 7\ntotal_inactive_file {2900 * size}\ntotal_active_file 1\n"}
        unlimited = {"memory.max": "max\n", "memory.current": f"{9 * size}\n", "memory.stat": ""}
        for controllers, groups, expected in (
                ((), {}, 8000), (("0::/",), {".": unlimited}, 8000), (("0::/",), {".": second}, 3000),
                # The limit is that of a group above ours, or the container does not see its own path.
                (("0::/job/step",), {"job": second, "job/step": unlimited}, 3000), (("0::/docker/1",), {".": second}, 3000),
                # Version 1, also beside version 2.
                (("4:cpu,memory:/a", "0::/"), {"memory/a": first, "unified": {}}, 3000),
                (("4:memory:/a",), {"memory": {"memory.limit_in_bytes": "9223372036854771712\n", "memory.usage_in_bytes": "5\n"}}, 8000),
                (("0::/",), {".": {**second, "memory.current": f"{4100 * size}\n", "memory.stat": "inactive_file 0\n"}}, 0)):
            with self.subTest(controllers=controllers, groups=list(groups)):
                self.assertEqual(self.available_megabytes(controllers, groups), expected)

    def test_a_build_folder_of_another_tree_is_started_afresh(self):
        self.install_everything()
        cache = self.root / "build" / "CMakeCache.txt"
        cache.parent.mkdir()
        for home, kept in ((self.root, True), ("/elsewhere", False)):
            cache.write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={home}\n", encoding="utf-8")
            (cache.parent / "capstan-options").unlink(missing_ok=True)
            self.assertEqual(self.capstan("build")[0], 0)
            self.assertEqual(cache.exists(), kept)

    def test_a_failed_build_shows_the_compiler_and_ends(self):
        self.install_everything()
        (self.work / "compile-error").touch()
        status, _, errors = self.capstan("test")
        self.assertEqual(status, 1)
        self.assertIn("x.cpp:1: error: broken", errors)
        self.assertEqual(self.called("ctest"), [])

    def test_a_good_build_is_quiet_in_a_pipe(self):
        self.install_everything()
        status, output, errors = self.capstan("build")
        self.assertEqual(status, 0)
        self.assertNotIn("noise", output + errors)

    def test_test_forwards_arguments_and_fails_without_tests(self):
        self.install_everything()
        status, output, _ = self.capstan("test", "-R", "gmres s")
        self.assertEqual(status, 0)
        self.assertIn("100% tests passed", output)
        call = self.called("ctest")[0]
        self.assertIn("--no-tests=error", call)
        self.assertIn(f"--output-junit {self.root}/build/test-results.xml", call)
        self.assertTrue(call.endswith("-R gmres s"), call)

    def test_tests_run_one_more_at_once_than_there_are_cores_unless_told_otherwise(self):
        self.install_everything()
        for words in ((), ("-j", "7")):
            self.assertEqual(self.capstan("test", *words)[0], 0)
        first, second = self.called("ctest")
        cores = len(os.sched_getaffinity(0))
        self.assertIn(f" -j {min(cores + 1, 4)} --output-on-failure", first)
        self.assertTrue(second.endswith(" -j 7"), second)

    def test_test_installs_what_single_tests_need(self):
        status, _, errors = self.capstan("test")
        self.assertEqual(status, 0, errors)
        for package in ("python3-yaml", "python3-matplotlib", "shellcheck", "clang-format", "doxygen",
                        "libpetsc-real-dev", "openfoam"):
            self.assertIn(f" {package}", errors)
        self.assertTrue(all("--no-install-recommends" in call for call in self.called("apt-get") if " install " in call))
        self.assertNotIn("is skipped", errors)

    def test_skipped_tests_are_named_where_nothing_is_installed(self):
        for _ in range(2):  # The second run forgets what the first one said.
            status, output, errors = self.capstan("test", CAPSTAN_INSTALL="off", FAKE_CTEST="8")
            self.assertEqual(status, 8, errors)
            self.assertEqual(errors.count("drawn is skipped"), 1)
        self.assertEqual(self.called("apt-get"), [])

    def test_quick_builds_and_runs_a_part(self):
        self.install_everything()
        self.assertEqual(self.capstan("test", "--quick", "-j", "2")[0], 0)
        self.assertIn("capstan_products capstan_quick_tests", " ".join(self.called("ninja")))
        self.assertRegex(self.called("ctest")[0], r"-L quick -j 2$")

    def test_sanitize_has_its_own_build(self):
        self.install_everything()
        self.assertEqual(self.capstan("test", "--sanitize")[0], 0)
        self.assertIn("-DCAPSTAN_SANITIZE=address,undefined", self.called("cmake")[0])
        self.assertIn(f"--test-dir {self.root}/build-sanitize", self.called("ctest")[0])
        self.assertIn("-L unit|application", self.called("ctest")[0])

    def test_threads_have_a_build_of_their_own_in_which_kernels_are_tasks(self):
        self.install_everything()
        self.assertEqual(self.capstan("test", "--threads", "-V")[0], 0)
        self.assertIn("-DCAPSTAN_SANITIZE=thread", self.called("cmake")[0])
        self.assertIn("kernels_test operators_test solvers_test", " ".join(self.called("ninja")))
        self.assertRegex(self.called("ctest")[0], rf"--test-dir {self.root}/build-threads .*solvers_test.*np1\)\$ -V$")

    def test_a_sanitized_target_is_built_alone(self):
        self.install_everything()
        status, output, errors = self.capstan("build", "--sanitize", "lib/libcapstanFoam.so")
        self.assertEqual(status, 0, errors)
        self.assertRegex(output + errors, r"build-sanitize: lib/libcapstanFoam\.so\s")
        self.assertNotIn("capstan_unit_tests", output + errors)

    def test_openmp_builds_kokkos_apart_and_tests_on_two_threads(self):
        self.install_everything()
        kokkos = self.work / "kokkos"
        status, _, errors = self.capstan("test", "--openmp", CAPSTAN_KOKKOS_SOURCE=str(kokkos))
        self.assertEqual(status, 1)
        self.assertIn(f"CAPSTAN_KOKKOS_SOURCE is {kokkos}, which holds no core/src/Kokkos_Core.hpp", errors)
        (kokkos / "core/src").mkdir(parents=True)
        (kokkos / "core/src/Kokkos_Core.hpp").touch()
        self.calls.write_text("", encoding="utf-8")
        status, _, errors = self.capstan("test", "--openmp", "-R", "generic", CAPSTAN_KOKKOS_SOURCE=str(kokkos))
        self.assertEqual(status, 0, errors)
        self.assertIn("on 2 threads", errors)
        configured = [call for call in self.called("cmake") if " -S " in call]
        self.assertIn(f"-S {kokkos} -B {self.root}/build-openmp/build-kokkos", configured[0])
        self.assertIn("-DKokkos_ENABLE_OPENMP=ON", configured[0])
        self.assertIn(f"-DKokkos_ROOT={self.root}/build-openmp/kokkos", configured[1])
        self.assertTrue(self.called("ctest")[0].endswith("-R generic"))

    def test_openmp_says_when_the_source_cannot_be_fetched(self):
        self.install_everything()
        status, _, errors = self.capstan("test", "--openmp", FAKE_APT_SOURCE="100")
        self.assertEqual(status, 1)
        self.assertIn("cannot be fetched", errors)
        self.assertIn("With a copy of Kokkos at hand: CAPSTAN_KOKKOS_SOURCE=", errors)
        self.assertEqual(self.called("ctest"), [])

    def trilinos_source(self):
        """A folder that passes for Trilinos' source."""
        source = self.work / "trilinos"
        (source / "packages/tpetra").mkdir(parents=True)
        (source / "packages/tpetra/CMakeLists.txt").touch()
        return source

    def test_openmp_solvers_builds_tpetra_once_and_tests_on_two_threads(self):
        self.install_everything()
        source, folder = self.trilinos_source(), f"{self.root}/build-openmp"
        for run in (1, 2):
            self.calls.write_text("", encoding="utf-8")
            status, output, errors = self.capstan("test", "--openmp", "--solvers", CAPSTAN_TRILINOS_SOURCE=str(source))
            self.assertEqual(status, 0, output + errors)
            self.assertRegex(output, "== PASSED: openmp, all compiled and linked without warnings, all tests of this run passed")
            configured = [call for call in self.called("cmake") if " -S " in call]
            if run == 1:
                self.assertIn(f"-S {source} -B {folder}/build-trilinos", configured[0])
                self.assertIn("-DKokkos_ENABLE_OPENMP=ON", configured[0])
            else:
                self.assertIn(f"the one in {folder}/trilinos", output)
            self.assertEqual(len(configured), 3 - run)
            self.assertIn(f"-DTrilinos_DIR={folder}/trilinos/lib/cmake/Trilinos", configured[-1])
            self.assertIn("-DCAPSTAN_WERROR=ON -DCAPSTAN_TEST_THREADS=2", configured[-1])
            self.assertIn("-R ^kernels_test|[.]np[12]$", self.called("ctest")[0])

    def test_openmp_solvers_fails_as_its_parts_do(self):
        self.install_everything()
        source = self.trilinos_source()
        for words, wrong, said in ((("-R", "solvers"), {"FAKE_CTEST": "8"}, "all compiled and linked without warnings, tests failed"),
                                   ((), {"CAPSTAN_TRILINOS_SOURCE": "/nowhere"}, "not built")):
            status, output, errors = self.capstan("test", "--openmp", "--solvers", *words,
                                                  **{"CAPSTAN_TRILINOS_SOURCE": str(source), **wrong})
            self.assertNotEqual(status, 0)
            self.assertIn(f"== FAILED: openmp, {said}", output)
        self.assertIn("CAPSTAN_TRILINOS_SOURCE is /nowhere, which holds no packages/tpetra/CMakeLists.txt", errors)
        self.assertTrue(self.called("ctest")[0].endswith("-R solvers"))
        (self.work / "compile-error").touch()
        status, output, errors = self.capstan("test", "--openmp", "--solvers", CAPSTAN_TRILINOS_SOURCE=str(source))
        self.assertEqual(status, 1)
        self.assertIn("x.cpp:1: error: broken", errors)
        self.assertIn("== FAILED: openmp, not built", output)

    def test_openmp_solvers_begins_again_where_it_was_stopped(self):
        self.install_everything()
        source, folder = self.trilinos_source(), self.root / "build-openmp"
        (folder / "trilinos").mkdir(parents=True)
        (folder / "trilinos/file").touch()
        run = ("test", "--openmp", "--solvers")
        status, output, errors = self.capstan(*run, CAPSTAN_TRILINOS_SOURCE=str(source))
        self.assertEqual(status, 1)
        self.assertIn("trilinos holds something else", errors)
        (folder / "trilinos/capstan-built-from").write_text("unfinished\n", encoding="utf-8")
        status, output, errors = self.capstan(*run, CAPSTAN_TRILINOS_SOURCE=str(source))
        self.assertEqual(status, 0, output + errors)
        self.assertFalse((folder / "trilinos/file").exists())

    def test_openmp_solvers_that_is_stopped_has_not_passed(self):
        self.install_everything()
        ninja = self.work / "bin/ninja"
        ninja.write_text("#!/bin/sh\nkill -TERM $PPID\nsleep 1\n", encoding="utf-8")
        status, output, _ = self.capstan("test", "--openmp", "--solvers", CAPSTAN_TRILINOS_SOURCE=str(self.trilinos_source()))
        self.assertNotEqual(status, 0)
        self.assertIn("== FAILED: openmp, not built", output)
        self.assertNotIn("PASSED", output)

    def soaks(self):
        return [line for line in self.called("mpirun") if "/test/soak" in line]

    def test_soak_runs_half_on_one_rank_and_half_on_three(self):
        self.install_everything()
        status, _, errors = self.capstan("test", "--soak", "5", "--first", "70")
        self.assertEqual(status, 0, errors)
        self.assertIn("-DCAPSTAN_SANITIZE=address,undefined", self.called("cmake")[0])
        self.assertTrue(any(call.endswith(" soak") for call in self.called("ninja")))
        for call, ranks in zip(self.soaks(), (1, 3), strict=True):
            self.assertIn(f"-n {ranks} {self.root}/build-sanitize/test/soak --minutes 2.5 --first 70", call)
        self.assertEqual(self.called("ctest"), [])

    def test_soak_repeats_one_problem_on_the_ranks_asked_for(self):
        self.install_everything()
        self.assertEqual(self.capstan("test", "--soak", "1", "--ranks", "2", "--seed", "17")[0], 0)
        self.assertEqual(len(self.soaks()), 1)
        self.assertTrue(self.soaks()[0].endswith(f"-n 2 {self.root}/build-sanitize/test/soak --seed 17"), self.soaks())

    def test_soak_goes_on_with_three_ranks_where_one_has_failed_and_fails(self):
        self.install_everything()
        (self.work / "bin" / "mpirun").write_text('#!/bin/sh\necho "mpirun $*" >>"$CALLS"\ncase " $* " in *" -n 1 "*) exit 1 ;; esac\n',
                                                  encoding="utf-8")
        self.assertEqual(self.capstan("test", "--soak", "0.1")[0], 1)
        self.assertEqual(len(self.soaks()), 2)

    def test_distribution_runs_the_tests_in_a_bare_tree_of_it(self):
        prove = self.root / "regression" / "fresh_machine" / "prove.sh"
        prove.parent.mkdir(parents=True)
        prove.write_text('#!/bin/sh\nfor word in prove "$@"; do echo "[$word]" >>"$CALLS"; done\nexit "${FAKE_PROOF:-0}"\n', encoding="utf-8")
        prove.chmod(0o755)
        status, _, errors = self.capstan("test", "--distribution", "experimental", "-R", "^(layers|style)")
        self.assertEqual(status, 0, errors)
        self.assertIn("debootstrap", self.installed.read_text(encoding="utf-8").split())
        self.assertNotIn("cmake", self.installed.read_text(encoding="utf-8").split())
        self.assertTrue(self.calls.read_text(encoding="utf-8").endswith(
            "[prove]\n[--suite]\n[experimental]\n[--werror]\n[./capstan test -R \\^\\(layers\\|style\\)]\n"), self.calls.read_text(encoding="utf-8"))
        status, _, errors = self.capstan("test", "--distribution", "sid", "--log", "sid.log", "--keep", "--rerun-failed", "--log", "of ctest")
        self.assertEqual(status, 0, errors)
        self.assertTrue(self.calls.read_text(encoding="utf-8").endswith(
            "[prove]\n[--suite]\n[sid]\n[--werror]\n[--log]\n[sid.log]\n[--keep]\n[./capstan test --rerun-failed --log of\\ ctest]\n"),
            self.calls.read_text(encoding="utf-8"))
        self.assertEqual(self.capstan("test", "--distribution", "sid", FAKE_PROOF="1")[0], 1)
        for wrong in ([], ["unstable"]):
            status, _, errors = self.capstan("test", "--distribution", *wrong)
            self.assertEqual(status, 2)
            self.assertIn("allowed: bookworm, trixie, sid, experimental", errors)

    def test_ranks_are_counted_against_cores_not_against_threads(self):
        """The launcher exports OMP_NUM_THREADS=1, which nproc takes for the number of cores."""
        (self.work / "bin" / "nproc").write_text('#!/bin/sh\necho "${OMP_NUM_THREADS:-2}"\n', encoding="utf-8")
        script = str(self.root / "cmake" / "run_environment.sh")
        for ranks, threads in ((2, "1"), (3, "1"), (3, "4")):
            said = subprocess.run([script, "--ranks", str(ranks)], capture_output=True, text=True, check=True,
                                  env={**self.environment, "OMP_NUM_THREADS": threads, "OMP_THREAD_LIMIT": threads}).stdout
            self.assertEqual("OMPI_MCA_mpi_yield_when_idle=1" in said.splitlines(), ranks > 2, said)
        for wrong in ((), ("0",), ("two",)):
            done = subprocess.run([script, "--ranks", *wrong], capture_output=True, text=True, check=False, env=self.environment)
            self.assertEqual(done.returncode, 2)
            self.assertIn("--ranks: ", done.stderr)

    def test_solve_starts_the_ranks_asked_for(self):
        self.install_everything()
        status, output, errors = self.capstan("solve", "deck.yaml", "--ranks", "3", "--quiet")
        self.assertEqual(status, 0, errors)
        self.assertIn(f"-n 3 {self.root}/build/bin/capstan-solve deck.yaml --quiet", output)
        self.assertIn("OMPI_MCA_rmaps_base_oversubscribe=1", output)
        status, output, _ = self.capstan("solve", "deck.yaml")
        self.assertIn("-n 2 ", output)
        self.assertNotIn("oversubscribe", output)

    def test_docs_installs_doxygen_alone_and_builds_nothing(self):
        (self.root / "perf" / "results").mkdir(parents=True)
        (self.root / "perf" / "results" / "a.png").touch()
        status, output, errors = self.capstan("docs")
        self.assertEqual((status, output), (0, ""), errors)
        self.assertIn("installing 1 Debian packages (and what they depend on): doxygen\n", errors)
        self.assertTrue(errors.endswith(f"open {self.root}/build/docs/html/index.html\n"), errors)
        self.assertEqual(len(self.called("doxygen")), 1)
        self.assertEqual(self.called("cmake") + self.called("ninja"), [])
        (self.work / "warning").touch()
        status, _, errors = self.capstan("docs")
        self.assertEqual(status, 1)
        self.assertIn("docs/a.md:1: error: wrong", errors)

    def test_docs_without_doxygen_is_status_three(self):
        (self.root / "docs" / "build_html").write_text("#!/bin/sh\necho 'doxygen is not installed' >&2\nexit 3\n", encoding="utf-8")
        status, _, errors = self.capstan("docs", CAPSTAN_INSTALL="off")
        self.assertEqual(status, 3)
        self.assertIn("doxygen is not installed", errors)
        self.assertEqual(self.called("apt-get"), [])

    def test_bad_values_are_refused_before_any_work(self):
        self.install_everything()
        for arguments, environment, word in ((("solve", "d.yaml", "--ranks", "0"), {}, "--ranks"),
                                             (("test", "--soak"), {}, "--soak"),
                                             (("test", "--soak", "0"), {}, "--soak"),
                                             (("test", "--soak", "1e3"), {}, "--soak"),
                                             (("test", "--soak", "--seed"), {}, "--soak"),
                                             (("test", "--soak", "1", "--ranks", "0"), {}, "--ranks"),
                                             (("docs", "html"), {}, "html"), (("version", "all"), {}, "all"),
                                             (("solve",), {}, "deck"), (("run",), {}, "case folder"),
                                             (("build", "--jobs", "x"), {}, "--jobs"),
                                             (("build", "--fast"), {}, "--fast"),
                                             (("build",), {"CAPSTAN_JOBS": "many"}, "CAPSTAN_JOBS")):
            with self.subTest(arguments=arguments):
                status, _, errors = self.capstan(*arguments, **environment)
                self.assertEqual(status, 2)
                self.assertIn(word, errors)
        self.assertEqual(self.called("ninja"), [])


if __name__ == "__main__":
    unittest.main()
