"""PETSc's tutorials: where their sources come from, how they are built, what they print and write."""

import math
import pathlib
import re
import shlex
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "hosts"))
import host_runs  # noqa: E402  pylint: disable=wrong-import-position

TUTORIALS = {name: f"src/ksp/ksp/tutorials/{name}.c" for name in ("ex2", "ex5", "ex23", "ex50")} | {"ex19": "src/snes/tutorials/ex19.c"}
STEPS = "Steps"  # the stage of the log that is measured, where a program has it
VECTOR = 1211214  # what a vector's file begins with


def fail(text):
    sys.exit(f"run_clients.py: {text}")


def take_sources(source, tag, folder):
    """The folder of PETSc's release: source itself, or what its repository has under that tag."""
    source = pathlib.Path(source).resolve()
    if not source.exists():
        fail(f"{source}: no such folder")
    if (source / TUTORIALS["ex2"]).exists():
        return source
    made = subprocess.run(["git", "-C", source, "archive", tag, *TUTORIALS.values()], capture_output=True, check=False)
    if made.returncode != 0:
        fail(f"{source}: found neither {TUTORIALS['ex2']} nor a repository with the tag {tag}: {made.stderr.decode().strip()}")
    subprocess.run(["tar", "-x", "-C", folder], input=made.stdout, check=True)
    return pathlib.Path(folder)


def build(sources, folder, flags):
    """{name: program}, compiled as the user of an installed PETSc compiles them."""
    if flags is None:
        found = subprocess.run(["pkg-config", "--cflags", "--libs", "PETSc"], capture_output=True, text=True, check=False)
        if found.returncode != 0:
            fail(f"no PETSc is installed: {found.stderr.strip()}; install libpetsc-real-dev and pkg-config, or say --flags")
        flags = found.stdout
    programs = {}
    for name, source in {**{name: sources / path for name, path in TUTORIALS.items()}, "steps": HERE / "steps.c"}.items():
        programs[name] = pathlib.Path(folder) / name
        done = subprocess.run(["mpicc", "-O1", "-w", source, "-o", programs[name], *shlex.split(flags), "-lm"], capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            fail(f"{source} does not compile with {flags}:\n{done.stderr[-2000:]}")
    return programs


def entries_in(path):
    """Of all vectors that PETSc has written there: each is two numbers of 4 bytes, then doubles; the first byte is the highest one."""
    data, entries = pathlib.Path(path).read_bytes(), []
    while data:
        kind, count = struct.unpack_from(">ii", data) if len(data) >= 8 else (0, 0)
        if kind != VECTOR or len(data) < 8 + 8 * count:
            fail(f"{path}: found {len(data)} bytes that begin with {kind} and {count}, which is no vector of PETSc's")
        entries += struct.unpack_from(f">{count}d", data, 8)
        data = data[8 + 8 * count:]
    return entries


class Outcome:
    """What a program has told of its linear solves, and the solution."""

    def __init__(self, output, solution=None):
        told = re.findall(r"Linear solve (converged|did not converge) due to (\w+) iterations (\d+)", output)
        self.reasons = [reason for _, reason, _ in told]
        self.converged = bool(told) and all(verdict == "converged" for verdict, _, _ in told)
        self.iterations = [int(count) for _, _, count in told]
        first = [float(norm) for norm in re.findall(r"^ *0 KSP Residual norm (\S+)", output, re.M)]
        last = [float(norm) for norm in re.findall(r"KSP final norm of residual (\S+)", output)]
        # Of b - A x over b: guesses are 0. None: not all solves have told theirs.
        over = [end / begin for begin, end in zip(first, last)] if len(first) == len(last) == len(told) else []
        self.residual = (math.nan if any(map(math.isnan, over)) else max(over)) if over else None
        newton = re.findall(r"Nonlinear solve (?:converged|did not converge) due to (\w+) iterations (\d+)", output)
        self.newton = [(reason, int(count)) for reason, count in newton]
        self.solution = solution


def seconds_of(output):
    """Of all linear solves, from the table of -log_view; matrices and preconditioners are set up before. Infinite where one does not
    converge: that is no time of a solve."""
    found = re.findall(r"^KSPSolve +\d+ \S+ (\S+) ", output.partition(f": {STEPS}\n")[2] or output, re.M)
    if not found:
        fail(f"the output has no time of KSPSolve:\n{output[-1500:]}")
    return sum(map(float, found)) if Outcome(output).converged else math.inf


class Runner:
    """Runs tutorials by options alone."""

    def __init__(self, programs, mpiexec, library, folder):
        self.programs, self.mpiexec, self.library, self.folder = programs, mpiexec, library, folder
        self.environment = host_runs.environment()

    def output(self, program, options, ranks, before=()):
        words = [self.mpiexec, "-n", ranks, *before, self.programs[program], *options]
        if any(str(word).startswith("capstan_") for word in options):
            words += ["-dll_append", self.library]
        words = [str(word) for word in words]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, env=self.environment, timeout=900, check=False)
        if done.returncode != 0:
            fail(f"{shlex.join(words)}: {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
        return done.stdout

    def solve(self, program, options, ranks):
        with tempfile.NamedTemporaryFile(dir=self.folder) as file:
            kind = "snes" if program == "ex19" else "ksp"
            output = self.output(program, [*options, "-ksp_converged_reason", "-ksp_monitor", "-ksp_view_final_residual",
                                           "-snes_converged_reason", f"-{kind}_view_solution", f"binary:{file.name}"], ranks)
            pathlib.Path(file.name + ".info").unlink(missing_ok=True)
            return Outcome(output, entries_in(file.name))

    def seconds(self, program, options, ranks, latency):
        layer = self.library.parent / "libcapstan_latency.so"
        return seconds_of(self.output(program, [*options, "-log_view", "-ksp_converged_reason"], ranks, host_runs.delayed(layer, latency, ranks)))
