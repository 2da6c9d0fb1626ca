"""hypre's drivers: where their sources come from, how they are built, and what they print."""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "regression/hosts"))
import host_runs  # noqa: E402

PROGRAMS = {"ij": "src/test/ij.c", "struct": "src/test/struct.c", "ex5": "src/examples/ex5.c", "ex6": "src/examples/ex6.c"}
SAVED = ("src/test/TEST_ij/solvers.jobs", "src/test/TEST_ij/solvers.saved")
INCLUDES = "/usr/include/hypre"


def fail(text):
    sys.exit(f"run_clients.py: {text}")


def take(source, tag, folder, known, paths=()):
    """The folder of a release: source itself where it has the file known, or what its repository has under that tag (paths; none:
    all of it), in folder."""
    source, folder = pathlib.Path(source).resolve(), pathlib.Path(folder)
    if not source.exists():
        fail(f"{source}: no such folder")
    if (source / known).exists():
        return source
    made = subprocess.run(["git", "-C", source, "archive", tag, *paths], capture_output=True, check=False)
    if made.returncode != 0:
        fail(f"{source}: found neither {known} nor a repository with the tag {tag}: {made.stderr.decode().strip()}")
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["tar", "-x", "-C", folder], input=made.stdout, check=True)
    return folder


def take_sources(source, tag, folder):
    """hypre's."""
    return take(source, tag, folder, PROGRAMS["ij"], ("src/test", "src/examples"))


def build(sources, folder, flags):
    """{name: program}, compiled as the user of an installed hypre compiles them."""
    if not pathlib.Path(INCLUDES, "HYPRE.h").exists() and "-I" not in flags:
        fail(f"{INCLUDES} has no HYPRE.h: install libhypre-dev, or say --flags")
    programs = {}
    for name, source in PROGRAMS.items():
        programs[name] = pathlib.Path(folder) / name
        compile_c(sources / source, programs[name], flags)
    return programs


def compile_c(source, to, flags):
    done = subprocess.run(["mpicc", "-O1", "-w", source, "-o", to, *shlex.split(flags)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        fail(f"{source} does not compile with {flags}:\n{done.stderr[-2000:]}")
    return to


def build_timer(folder, flags):
    """What is preloaded to time solves, by doing them twice: hypre's own timing is left out of Debian's library."""
    return compile_c(pathlib.Path(__file__).with_name("solve_time.c"), pathlib.Path(folder) / "libsolve_time.so", f"-shared -fPIC {flags} -ldl")


class Outcome:
    """What a driver has printed of its solve."""

    def __init__(self, output, errors):
        def last(pattern):
            found = re.findall(pattern, output)
            return found[-1] if found else None

        iterations, residual = last(r"(?<!_)Iterations = (\d+)"), last(r"Relative Residual Norm = (\S+)")
        if iterations is None:  # ex6 has only the table of its iterations
            iterations, residual = last(r"(?m)^ +(\d+) +\S+ +\S+ +(\S+)$") or (None, None)
        if iterations is None or residual is None:
            fail(f"the output tells no iterations and residual:\n{output[-1500:]}{errors[-1500:]}")
        self.iterations, self.residual = int(iterations), float(residual)
        # An entry of the residual vector that hypre hands out.
        self.entry = last(r"index 19 value (\S+)")
        # What only some drivers tell: how long it took, and || b - A x || over || b ||.
        seconds = last(r"seconds of the solve: (\S+)")
        computed = last(r"computed residual: (\S+)")
        self.seconds = None if seconds is None else float(seconds)
        self.computed = None if computed is None else float(computed)
        self.told = [line for line in errors.splitlines() if line.startswith("Capstan:")]


class Runner:
    """Runs drivers, with hypre's own solver or with a redirected one."""

    def __init__(self, programs, mpiexec, library, timer, folder):
        self.programs, self.mpiexec, self.library, self.timer, self.folder = programs, mpiexec, library, timer, folder
        self.environment = host_runs.environment()
        self.folders = {}  # where a program runs, if not in folder
        self.twice = set()  # programs whose solves are done twice, and timed

    def __call__(self, program, arguments, ranks, redirect=None, latency=None, parameters=None):
        """What a driver has printed of its solve."""
        return Outcome(*self.output(program, arguments, ranks, redirect, latency, parameters))

    def output(self, program, arguments, ranks, redirect=None, latency=None, parameters=None):
        """All that a program prints: on the standard output, and on the standard error stream."""
        environment_of = dict(self.environment)
        preload = [self.timer] if program in self.twice else []
        if latency:  # 0: as it is
            preload.append(self.library.parent / "libcapstan_latency.so")
            wait = "spin" if ranks <= (os.cpu_count() or 1) else "yield"
            environment_of.update(CAPSTAN_LATENCY_US=str(latency), CAPSTAN_LATENCY_WAIT=wait)
        if redirect:
            preload.append(self.library)
            environment_of["CAPSTAN_OPTIONS"] = json.dumps({"redirect": redirect, **(parameters or {})})  # which is YAML, too
        # To the program alone: mpiexec itself is no MPI program.
        words = [self.mpiexec, "-n", ranks, "env", "LD_PRELOAD=" + ":".join(map(str, preload)), self.programs[program], *arguments]
        done = subprocess.run([str(word) for word in words], cwd=self.folders.get(program, self.folder), capture_output=True, text=True,
                              env=environment_of, timeout=900, check=False)
        if done.returncode != 0:
            fail(f"{shlex.join(str(word) for word in words)}: {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
        return done.stdout, done.stderr
