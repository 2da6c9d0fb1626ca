"""Runs OpenFOAM cases for the tests and reads their fields."""

import math
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "app-inputs/openfoam"))

# pylint: disable=wrong-import-position,unused-import
from tutorials.workspace import environment  # noqa: E402,F401


class CaseError(Exception):
    """A case could not be run, or did not leave what it should."""


def run(command, env, folder=None):
    """Runs a command; returns (exit status, what it printed on either stream)."""
    if folder is not None:
        env = {**env, "PWD": str(folder)}
    done = subprocess.run([str(word) for word in command], cwd=folder, env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=240, check=False)
    return done.returncode, done.stdout.decode(errors="replace")


def run_or_raise(command, env, folder=None):
    status, text = run(command, env, folder)
    if status != 0:
        raise CaseError(f"{' '.join(map(str, command))} failed with status {status}:\n{text[-6000:]}")
    return text


def copy_case(source, target, settings, solvers):
    """A fresh copy of a case with its system/caseSettings and system/solvers."""
    if target.exists():
        shutil.rmtree(target)
    shutil.copytree(source, target)
    (target / "system/caseSettings").write_text("".join(f"{key} {value};\n" for key, value in settings.items()))
    (target / "system/solvers").write_text(solvers)


def prepare(case, ranks, env):
    """Meshes and decomposes."""
    run_or_raise(["blockMesh"], env, case)
    if ranks > 1:
        run_or_raise(["decomposePar"], env, case)


def launch(case, ranks, env, command_runner=run_or_raise):
    """Runs icoFoam on a prepared case; returns what command_runner returns."""
    if ranks == 1:
        return command_runner(["icoFoam"], env, case)
    return command_runner(["mpirun", "-n", ranks, "icoFoam", "-parallel"], env, case)


def solve(case, ranks, env, command_runner=run_or_raise):
    """Meshes, decomposes and runs icoFoam; returns what command_runner returns for icoFoam."""
    prepare(case, ranks, env)
    return launch(case, ranks, env, command_runner)


def last_time(folder):
    times = [path.name for path in folder.iterdir() if re.fullmatch(r"[0-9.e+-]+", path.name) and float(path.name) > 0]
    if not times:
        raise CaseError(f"{folder} holds no written time")
    return max(times, key=float)


def read_internal_field(path):
    """The values of internalField, one tuple a cell."""
    if not path.is_file():
        raise CaseError(f"{path} is missing")
    match = re.search(r"internalField\s+nonuniform\s+List<(\w+)>\s*(\d+)\s*\((.*?)\n\)", path.read_text(), re.DOTALL)
    if not match:
        raise CaseError(f"{path} holds no nonuniform internalField")
    rows = [tuple(float(word) for word in line.strip("()").split()) for line in match.group(3).split("\n") if line]
    if len(rows) != int(match.group(2)) or not rows:
        raise CaseError(f"{path}: {len(rows)} values, {match.group(2)} announced")
    return rows


def read_field(case, name, ranks):
    """All cells of a field at the last time, rank by rank."""
    folders = [case] if ranks == 1 else [case / f"processor{rank}" for rank in range(ranks)]
    return [row for folder in folders for row in read_internal_field(folder / last_time(folder) / name)]


def without_mean(rows):
    """Takes the mean off each component: a pressure is defined up to a constant."""
    means = [math.fsum(column) / len(rows) for column in zip(*rows)]
    return [tuple(value - mean for value, mean in zip(row, means)) for row in rows]


def norm(rows):
    return math.sqrt(math.fsum(value * value for row in rows for value in row))


def relative_difference(ours, theirs):
    """||ours - theirs||_2 / ||theirs||_2 over all cells and components; NaN never compares as small."""
    if len(ours) != len(theirs):
        raise CaseError(f"{len(ours)} cells against {len(theirs)}")
    scale = norm(theirs)
    if not scale > 0:
        raise CaseError("the reference field is zero everywhere")
    difference = norm([tuple(a - b for a, b in zip(x, y)) for x, y in zip(ours, theirs)])
    return difference / scale


def field_difference(case, reference, name, ranks):
    """relative_difference() of a field at the last time; that of p without the means."""
    rows = [read_field(folder, name, ranks) for folder in (case, reference)]
    return relative_difference(*(map(without_mean, rows) if name == "p" else rows))


def own_solvers(tolerance):
    """system/solvers for icoFoam with OpenFOAM's own solvers, for comparison."""
    return (f'"p.*" {{ solver PCG; preconditioner DIC; tolerance {tolerance}; }}\n'
            f"U {{ solver PBiCGStab; preconditioner DILU; tolerance {tolerance}; }}\n")


def solver_lines(log):
    """(solver, field, initial residual, final residual, iterations) of each solve in a log."""
    pattern = r"^(\S+):  Solving for (\w+), Initial residual = (\S+), Final residual = (\S+), No Iterations (\d+)"
    lines = re.findall(pattern, log, re.MULTILINE)
    return [(solver, field, float(first), float(last), int(count)) for solver, field, first, last, count in lines]
