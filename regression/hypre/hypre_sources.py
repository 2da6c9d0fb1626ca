"""hypre's drivers: where their sources come from, how they are built, and what they print."""

import os
import pathlib
import re
import shlex
import subprocess
import sys

PROGRAMS = {"ij": "src/test/ij.c", "ex5": "src/examples/ex5.c", "ex6": "src/examples/ex6.c"}
# What ij solves by; solve_time.c says how long it takes: hypre's own timing is left out of Debian's library.
TIMED = [f"HYPRE_{family}Solve" for family in ("PCG", "GMRES", "FlexGMRES", "LGMRES", "COGMRES", "BiCGSTAB")]
SAVED = ("src/test/TEST_ij/solvers.jobs", "src/test/TEST_ij/solvers.saved")
ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDES = "/usr/include/hypre"


def fail(text):
    sys.exit(f"run_clients.py: {text}")


def take_sources(source, tag, folder):
    """The folder of hypre's release: source itself, or what its repository has under that tag."""
    source = pathlib.Path(source).resolve()
    if not source.exists():
        fail(f"{source}: no such folder")
    if (source / PROGRAMS["ij"]).exists():
        return source
    made = subprocess.run(["git", "-C", source, "archive", tag, "src/test", "src/examples"], capture_output=True, check=False)
    if made.returncode != 0:
        fail(f"{source}: found neither src/test/ij.c nor a repository with the tag {tag}: {made.stderr.decode().strip()}")
    subprocess.run(["tar", "-x", "-C", folder], input=made.stdout, check=True)
    return pathlib.Path(folder)


def build(sources, folder, flags):
    """{name: program}, compiled as the user of an installed hypre compiles them."""
    if not pathlib.Path(INCLUDES, "HYPRE.h").exists() and "-I" not in flags:
        fail(f"{INCLUDES} has no HYPRE.h: install libhypre-dev, or say --flags")
    programs = {}
    for name, source in PROGRAMS.items():
        programs[name] = pathlib.Path(folder) / name
        timed = [pathlib.Path(__file__).with_name("solve_time.c"), *(f"-Wl,--wrap={function}" for function in TIMED)] if name == "ij" else []
        done = subprocess.run(["mpicc", "-O1", "-w", sources / source, *timed, "-o", programs[name], *shlex.split(flags)],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            fail(f"{source} does not compile with {flags}:\n{done.stderr[-2000:]}")
    return programs


def commit():
    """Capstan's; nothing where it is no git work tree."""
    found = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return found.stdout.strip()


def environment():
    """That of an MPI run on few cores."""
    found = dict(os.environ, OMP_NUM_THREADS="1")
    lines = subprocess.run(["sh", ROOT / "cmake/run_environment.sh", "--oversubscribed"], capture_output=True, text=True, check=True)
    found.update(line.split("=", 1) for line in lines.stdout.splitlines() if "=" in line)
    return found


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
        seconds = last(r"seconds of the solve: (\S+)")
        self.seconds = None if seconds is None else float(seconds)
        self.told = [line for line in errors.splitlines() if line.startswith("Capstan:")]


class Runner:
    """Runs drivers, with hypre's own solver or with a redirected one."""

    def __init__(self, programs, mpiexec, library, folder):
        self.programs, self.mpiexec, self.library, self.folder = programs, mpiexec, library, folder
        self.environment = environment()

    def __call__(self, program, arguments, ranks, redirect=None, latency=None):
        environment_of = dict(self.environment)
        preload = []
        if latency is not None:
            preload.append(self.library.parent / "libcapstan_latency.so")
            wait = "spin" if ranks <= (os.cpu_count() or 1) else "yield"
            environment_of.update(CAPSTAN_LATENCY_US=str(latency), CAPSTAN_LATENCY_WAIT=wait)
        if redirect:
            preload.append(self.library)
            environment_of["CAPSTAN_OPTIONS"] = "redirect: {" + ", ".join(f"{old}: {new}" for old, new in redirect.items()) + "}"
        # To the program alone: mpiexec itself is no MPI program.
        words = [self.mpiexec, "-n", ranks, "env", "LD_PRELOAD=" + ":".join(map(str, preload)), self.programs[program], *arguments]
        done = subprocess.run([str(word) for word in words], cwd=self.folder, capture_output=True, text=True, env=environment_of,
                              timeout=900, check=False)
        if done.returncode != 0:
            fail(f"{shlex.join(str(word) for word in words)}: {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
        return Outcome(done.stdout, done.stderr)
