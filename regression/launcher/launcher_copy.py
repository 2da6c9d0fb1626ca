"""A copy of ./capstan in a folder of its own, for tests: stand-ins take the place of apt-get, dpkg-query, cmake, ninja and the
like, so that nothing is installed or built. The folder has a blank in its name."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
FILES = ["capstan", ".ci/run", "adapters/openfoam/fetch_headers.sh", "adapters/openfoam/flat_headers.sh", "CMakeLists.txt", "app-inputs/openfoam/switch_case.py",
         *(f"app-inputs/openfoam/tutorials/{name}.py" for name in ("__init__", "errors", "foam_text", "solvers")),
         "cmake/CapstanGivenOptions.cmake", "cmake/run-environment.txt", "cmake/run_environment.sh", "docs/Doxyfile", "docs/build_html",
         "tpetra_ext/kernels/kokkos/source.sh", "tpetra_ext/kernels/openmp/build_and_test.sh",
         "tpetra_ext/kernels/cuda/toolkit.sh", *(f"regression/source_build/{name}.sh" for name in ("cuda", "headers", "hip", "prove", "trilinos"))]
SIZES = "Need to get 123 MB of archives.\\nAfter this operation, 456 MB of additional disk space will be used.\\n"

# Stand-ins append their command line to $CALLS. Installed packages are the words in $INSTALLED.
STAND_INS = {
    "dpkg-query": 'for p in "$@"; do grep -qxF "$p" "$INSTALLED" && echo "$p installed"; done; exit 1',
    "apt-get": 'case " $* " in *" source "*) exit "${FAKE_APT_SOURCE:-0}" ;; esac\n'
               'case " $* " in *" install "*) [ -e "$WORK/lists" ] || { echo "Unable to locate package"; exit 100; } ;; esac\n'
               f'case " $* " in *" --assume-no "*) printf "{SIZES}"; exit 1 ;;\n'
               '*" install "*) [ -e "$WORK/broken" ] || printf "%s\\n" "$@" >>"$INSTALLED" ;;\n'
               '*" update "*) : >"$WORK/lists" ;; esac',
    "dpkg": "exit 0",
    "cmake": '[ ! -e "$WORK/cmake-error" ] || exit 1; while [ $# -gt 0 ]; do [ "$1" = -B ] && mkdir -p "$2" && touch "$2/build.ninja"; shift; done',
    "ninja": 'case " $* " in *" -n "*) [ -e "$WORK/built" ] && echo "ninja: no work to do."; exit 0 ;;\n'
             '*" build.ninja "*) exit 0 ;; esac\n'
             'echo "[1/1] noise"; [ ! -e "$WORK/compile-error" ] || { echo "x.cpp:1: error: broken"; exit 1; }\n'
             '[ ! -p "$WORK/go-on" ] || cat "$WORK/go-on"',
    "ctest": 'echo "100% tests passed"; [ -z "$CAPSTAN_SKIPPED_TESTS" ] || echo "drawn is skipped" >>"$CAPSTAN_SKIPPED_TESTS"; exit "${FAKE_CTEST:-0}"',
    "mpirun": '[ "$1" = --version ] && { echo "mpirun (Open MPI) ${FAKE_OPEN_MPI:-4.1.4}"; exit 0; }; echo "mpirun $*"; env | grep -E "^(OMPI|PRTE)_"',
    "doxygen": '[ ! -e "$WORK/warning" ] || { echo "docs/a.md:1: error: wrong" >&2; exit 1; }',
    "id": 'echo "${FAKE_UID:-0}"',
    "sudo": "exit 1",
    "nproc": "echo 2",
}


class LauncherCase(unittest.TestCase):
    STAND_INS = STAND_INS

    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="capstan launcher "))
        self.addCleanup(shutil.rmtree, self.work)
        self.root = self.work / "source tree"
        for file in FILES:
            (self.root / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SOURCE / file, self.root / file)
        shutil.copytree(SOURCE / "cmake" / "launcher", self.root / "cmake" / "launcher")
        tools = self.work / "bin"
        tools.mkdir()
        for name, body in self.STAND_INS.items():
            (tools / name).write_text(f'#!/bin/sh\necho "{name} $*" >>"$CALLS"\n{body}\n', encoding="utf-8")
            (tools / name).chmod(0o755)
        self.calls, self.installed = self.work / "calls", self.work / "installed"
        self.calls.touch()
        self.installed.touch()
        self.environment = {key: value for key, value in os.environ.items()
                            if not key.startswith(("CAPSTAN_", "OMPI_", "PRTE_", "OPENBLAS_", "OMP_"))}
        self.environment.update(PATH=f"{tools}:{os.environ['PATH']}", CALLS=str(self.calls), WORK=str(self.work),
                                INSTALLED=str(self.installed), CI="true")
        self.on("12")

    def on(self, version, name="debian"):
        """Makes it a machine with that release; version None: one without a number."""
        release = self.work / "os-release"
        release.write_text(f"ID={name}\n" + (f'VERSION_ID="{version}"\n' if version else ""), encoding="utf-8")
        packages = self.root / "cmake" / "launcher" / "packages.sh"
        text = (SOURCE / "cmake" / "launcher" / "packages.sh").read_text(encoding="utf-8")
        packages.write_text(text.replace("os_release=/etc/os-release", f'os_release="{release}"'), encoding="utf-8")

    def build_without_blanks(self):
        """Makes such a build folder the launcher's: not everything can be started from one in this folder."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="capstan-build-")))
        self.environment["CAPSTAN_BUILD_DIR"] = str(folder)
        return folder

    def capstan(self, *arguments, folder="/", **environment):
        return self.run_script("capstan", *arguments, folder=folder, **environment)

    def run_script(self, script, *arguments, folder="/", **environment):
        """(exit status, standard output, standard error)"""
        run = subprocess.run([str(self.root / script), *arguments], capture_output=True, text=True, check=False,
                             cwd=folder, env={**self.environment, **environment}, stdin=subprocess.DEVNULL, timeout=60)
        return run.returncode, run.stdout, run.stderr

    def install_everything(self):
        names = subprocess.run(
            ["bash", "-c", f'source "{self.root}/cmake/launcher/packages.sh"; packages_of ${{!packages[@]}}'],
            capture_output=True, text=True, check=True).stdout
        self.installed.write_text(names, encoding="utf-8")

    def called(self, word):
        return [call for call in self.calls.read_text(encoding="utf-8").splitlines() if call.startswith(word + " ")]
