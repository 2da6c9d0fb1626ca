"""Runs OpenFOAM cases for the tests and reads their fields."""

import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "app-inputs/openfoam"))

# pylint: disable=wrong-import-position,unused-import
from tutorials import results  # noqa: E402
from tutorials.errors import RunFailed  # noqa: E402
from tutorials.results import read_solves  # noqa: E402,F401
from tutorials.workspace import environment, launch_words  # noqa: E402,F401


@contextlib.contextmanager
def variable(name, value):
    """A variable of the environment, for the time of a block."""
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]


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
        raise RunFailed(f"{' '.join(map(str, command))} failed with status {status}:\n{text[-6000:]}")
    return text


def copy_case(name, target, ranks, solvers, coupling="cyclic", speed=0.1):
    """A fresh copy of the case `channel` or `sector` with its system/caseSettings and system/solvers."""
    if target.exists():
        shutil.rmtree(target)
    shutil.copytree(pathlib.Path(__file__).resolve().parent / name, target)
    (target / "system/caseSettings").write_text(f"coupling {coupling};\nranks {ranks};\nspeed {speed};\n"
                                                'libraries "libcapstanFoam.so";\n')
    (target / "system/solvers").write_text(solvers)


def prepare(case, ranks, env):
    """Meshes and decomposes."""
    run_or_raise(["blockMesh"], env, case)
    if ranks > 1:
        run_or_raise(["decomposePar"], env, case)


def launch(case, ranks, env, command_runner=run_or_raise):
    """Runs icoFoam on a prepared case; returns what command_runner returns."""
    return command_runner(launch_words(["icoFoam"], ranks), env, case)


def launch_copy(prepared, case, solvers, ranks, env):
    """Runs icoFoam on a fresh copy of a prepared case, with this system/solvers; returns what it printed."""
    if case.exists():
        shutil.rmtree(case)
    shutil.copytree(prepared, case)
    (case / "system/solvers").write_text(solvers)
    return launch(case, ranks, env)


def solve(case, ranks, env, command_runner=run_or_raise):
    """Meshes, decomposes and runs icoFoam; returns what command_runner returns for icoFoam."""
    prepare(case, ranks, env)
    return launch(case, ranks, env, command_runner)


def read_field(case, name, ranks):
    """(components, values) of a field at the last time, rank by rank. A run has worked it out: the time is not 0, and the cells
    have different values."""
    fields = []
    for folder in results.rank_folders(case, ranks):
        time = results.last_time(folder)
        if not float(time) > 0:
            raise RunFailed(f"{folder} holds no written time but {time}")
        path = folder / time / name
        if not path.is_file():
            raise RunFailed(f"{path} is missing")
        components, values = results.read_field(path)
        if values == values[:components] * (len(values) // components):
            raise RunFailed(f"{path}: all cells have the same value")
        fields.append((components, values))
    return fields


def field_difference(case, reference, name, ranks):
    """||case - reference||_2 / ||reference||_2 of a field at the last time, that of p without the means; infinite where one of
    them is not finite."""
    return results.field_difference(read_field(case, name, ranks), read_field(reference, name, ranks), name == "p")


def methods():
    """The names of all methods of Capstan that OpenFOAM's dictionaries take, from their rows."""
    rows = (ROOT / "belos_ext/registry/methods.cpp").read_text(encoding="utf-8")
    return set(re.findall(r'"(capstan_[a-z_]+)"', rows))


def has_hypre(build):
    """Whether the build has the preconditioner boomeramg."""
    return "CAPSTAN_HYPRE:BOOL=ON" in (build / "CMakeCache.txt").read_text(encoding="utf-8")


def own_solvers(tolerance):
    """system/solvers for icoFoam with OpenFOAM's own solvers, for comparison."""
    return (f'"p.*" {{ solver PCG; preconditioner DIC; tolerance {tolerance}; }}\n'
            f"U {{ solver PBiCGStab; preconditioner DILU; tolerance {tolerance}; }}\n")
