#!/usr/bin/env python3
"""Tests of ./capstan itself: wrong use, set-up with and without the right to install, builds that need no work.

The launcher runs in a copy of itself with stand-ins for apt-get, dpkg-query, cmake, ninja and the like, so nothing is
installed or built. The folder of the copy has a blank in its name.
"""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]

# Stand-ins append their command line to $CALLS. Installed packages are the words in $INSTALLED.
STAND_INS = {
    "dpkg-query": 'for p in "$@"; do grep -qxF "$p" "$INSTALLED" && echo "$p installed"; done; exit 1',
    "apt-get": 'case " $* " in *" install "*) [ -e "$WORK/lists" ] || { echo "Unable to locate package"; exit 100; }\n'
               '  [ -e "$WORK/broken" ] || printf "%s\\n" "$@" >>"$INSTALLED" ;;\n*" update "*) : >"$WORK/lists" ;; esac',
    "dpkg": "exit 0",
    "cmake": '[ ! -e "$WORK/cmake-error" ] || exit 1; while [ $# -gt 0 ]; do [ "$1" = -B ] && touch "$2/build.ninja"; shift; done',
    "ninja": 'case " $* " in *" -n "*) [ -e "$WORK/built" ] && echo "ninja: no work to do."; exit 0 ;; esac\n'
             'echo "[1/1] noise"; [ ! -e "$WORK/compile-error" ] || { echo "x.cpp:1: error: broken"; exit 1; }',
    "ctest": 'echo "100% tests passed"; [ -z "$CAPSTAN_SKIPPED_TESTS" ] || echo "drawn is skipped" >>"$CAPSTAN_SKIPPED_TESTS"; exit "${FAKE_CTEST:-0}"',
    "mpirun": '[ "$1" = --version ] && { echo "mpirun (Open MPI) 4.1.4"; exit 0; }; echo "mpirun $*"',
    "id": 'echo "${FAKE_UID:-0}"',
    "sudo": "exit 1",
    "nproc": "echo 2",
}
OS_RELEASE = pathlib.Path("/etc/os-release")


def on_debian_12():
    words = OS_RELEASE.read_text(encoding="utf-8") if OS_RELEASE.exists() else ""
    return "ID=debian\n" in words and 'VERSION_ID="12"' in words


class Launcher(unittest.TestCase):
    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="capstan launcher "))
        self.addCleanup(shutil.rmtree, self.work)
        self.root = self.work / "source tree"
        (self.root / "cmake").mkdir(parents=True)
        shutil.copy(SOURCE / "capstan", self.root)
        shutil.copy(SOURCE / "cmake" / "run-environment.txt", self.root / "cmake")
        shutil.copytree(SOURCE / "cmake" / "launcher", self.root / "cmake" / "launcher")
        tools = self.work / "bin"
        tools.mkdir()
        for name, body in STAND_INS.items():
            (tools / name).write_text(f'#!/bin/sh\necho "{name} $*" >>"$CALLS"\n{body}\n', encoding="utf-8")
            (tools / name).chmod(0o755)
        self.calls, self.installed = self.work / "calls", self.work / "installed"
        self.calls.touch()
        self.installed.touch()
        self.environment = {key: value for key, value in os.environ.items()
                            if not key.startswith(("CAPSTAN_", "OMPI_", "OPENBLAS_", "OMP_"))}
        self.environment.update(PATH=f"{tools}:{os.environ['PATH']}", CALLS=str(self.calls), WORK=str(self.work),
                                INSTALLED=str(self.installed), CI="true")

    def capstan(self, *arguments, folder="/", **environment):
        run = subprocess.run([str(self.root / "capstan"), *arguments], capture_output=True, text=True, check=False,
                             cwd=folder, env={**self.environment, **environment}, stdin=subprocess.DEVNULL, timeout=60)
        return run.returncode, run.stdout, run.stderr

    def install_everything(self):
        names = subprocess.run(
            ["bash", "-c", f'source "{self.root}/cmake/launcher/packages.sh"; printf "%s\\n" ${{packages[@]}}'],
            capture_output=True, text=True, check=True).stdout
        self.installed.write_text(names, encoding="utf-8")

    def called(self, word):
        return [call for call in self.calls.read_text(encoding="utf-8").splitlines() if call.startswith(word + " ")]

    def add_case(self, name, body='printf "%s\\n" "$CAPSTAN_SOURCE_DIR" "$CAPSTAN_BUILD_DIR" "$@"'):
        case = self.root / "app-inputs" / name
        case.mkdir(parents=True)
        (case / "run").write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        (case / "run").chmod(0o755)

    def test_help_names_every_command_and_each_has_its_own(self):
        status, output, _ = self.capstan("help")
        self.assertEqual(status, 0)
        for command in ("setup", "build", "run", "solve", "list", "test", "bench", "help"):
            self.assertRegex(output, rf"(?m)^  {command} ")
            status, own, _ = self.capstan(command, "--help")
            self.assertEqual(status, 0)
            self.assertIn(command, own)
        self.assertEqual(self.called("apt-get") + self.called("cmake"), [])

    def test_unknown_command_names_the_nearest(self):
        status, _, errors = self.capstan("slove")
        self.assertEqual(status, 2)
        self.assertIn("Did you mean 'solve'?", errors)
        self.assertIn("setup build run solve list test bench help", errors)

    def test_unknown_case_names_the_nearest(self):
        self.install_everything()
        self.add_case("openfoam/cavity3d")
        self.add_case("decks/laplace")
        status, _, errors = self.capstan("run", "app-inputs/openfoam/cavity2d")
        self.assertEqual(status, 2)
        self.assertIn("The nearest case is app-inputs/openfoam/cavity3d.", errors)

    def test_run_hands_over_arguments_and_folders(self):
        self.install_everything()
        self.add_case("openfoam/cavity3d")
        for folder, case in (("/", "app-inputs/openfoam/cavity3d"), (self.root / "app-inputs", "openfoam/cavity3d/")):
            status, output, errors = self.capstan("run", case, "32", "a b", folder=folder)
            self.assertEqual(status, 0, errors)
            self.assertEqual(output.splitlines(), [str(self.root), str(self.root / "build"), "32", "a b"])

    def test_run_passes_the_status_on(self):
        self.install_everything()
        self.add_case("decks/failing", "exit 7")
        self.assertEqual(self.capstan("run", "app-inputs/decks/failing")[0], 7)

    @unittest.skipUnless(on_debian_12(), "packages are installed on Debian 12 only")
    def test_root_installs_after_an_update_and_says_what(self):
        status, _, errors = self.capstan("setup")
        self.assertEqual(status, 0, errors)
        self.assertIn("trilinos-all-dev", errors)
        self.assertEqual([("update" if " update" in call else "install") for call in self.called("apt-get")],
                         ["install", "update", "install"])
        self.assertEqual(self.called("dpkg"), ["dpkg --configure -a"])
        self.calls.write_text("", encoding="utf-8")
        self.assertEqual(self.capstan("setup")[0], 0)
        self.assertEqual(self.called("apt-get") + self.called("cmake"), [], "a second setup must find nothing to do")

    @unittest.skipUnless(on_debian_12(), "packages are installed on Debian 12 only")
    def test_only_what_is_missing_is_installed(self):
        self.install_everything()
        have = self.installed.read_text(encoding="utf-8").split()
        self.installed.write_text("\n".join(name for name in have if name != "libfmt-dev") + "\n", encoding="utf-8")
        status, _, errors = self.capstan("build")
        self.assertEqual(status, 0, errors)
        self.assertIn("installing 1 Debian packages (and what they depend on): libfmt-dev\n", errors)

    @unittest.skipUnless(on_debian_12(), "packages are installed on Debian 12 only")
    def test_without_the_right_to_install_the_packages_are_named(self):
        status, _, errors = self.capstan("test", FAKE_UID="1000")
        self.assertEqual(status, 3)
        self.assertIn("trilinos-all-dev", errors)
        self.assertIn("sudo apt-get install", errors)
        self.assertEqual(self.called("apt-get") + self.called("cmake"), [])

    @unittest.skipUnless(on_debian_12(), "packages are installed on Debian 12 only")
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
        self.assertEqual([call for call in self.called("ninja") if " -n " not in call], [])

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

    @unittest.skipUnless(on_debian_12(), "packages are installed on Debian 12 only")
    def test_test_installs_what_single_tests_need(self):
        status, _, errors = self.capstan("test")
        self.assertEqual(status, 0, errors)
        for package in ("python3-matplotlib", "shellcheck", "clang-format", "mpich", "libpetsc-real-dev", "openfoam"):
            self.assertIn(f" {package}", errors)
        self.assertTrue(all("--no-install-recommends" in call for call in self.called("apt-get") if " install " in call))
        self.assertNotIn("is skipped", errors)

    def test_skipped_tests_are_named_where_nothing_is_installed(self):
        for _ in range(2):  # The second run forgets what the first one said.
            status, output, errors = self.capstan("test", CAPSTAN_INSTALL="off", FAKE_CTEST="8")
            self.assertEqual(status, 8, errors)
            self.assertEqual(errors.count("drawn is skipped"), 1)
        self.assertEqual(self.called("apt-get"), [])

    def test_sanitize_has_its_own_build(self):
        self.install_everything()
        self.assertEqual(self.capstan("test", "--sanitize")[0], 0)
        self.assertIn("-DCAPSTAN_SANITIZE=address,undefined", self.called("cmake")[0])
        self.assertIn(f"--test-dir {self.root}/build-sanitize", self.called("ctest")[0])
        self.assertIn("-L unit|application", self.called("ctest")[0])

    def test_solve_starts_the_ranks_asked_for(self):
        self.install_everything()
        status, output, errors = self.capstan("solve", "deck.yaml", "--ranks", "3", "--quiet")
        self.assertEqual(status, 0, errors)
        self.assertIn(f"-n 3 {self.root}/build/bin/capstan-solve deck.yaml --quiet", output)
        self.assertIn("--oversubscribe", output)
        self.assertIn("-n 2 ", self.capstan("solve", "deck.yaml")[1])

    def test_bad_values_are_refused_before_any_work(self):
        self.install_everything()
        for arguments, environment, word in ((("solve", "d.yaml", "--ranks", "0"), {}, "--ranks"),
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
