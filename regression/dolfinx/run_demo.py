#!/usr/bin/env python3
"""dolfinx with PETSc's own KSPs, and with Capstan's by PETSC_OPTIONS alone; the solutions agree.

usage: run_demo.py LIBRARY [--size N] [--ranks N ...] [--latency [US ...]] [--repeat N] [--minutes M]

Needs dolfinx 0.5 (Debian 12: python3-dolfinx-real) and runs demo.py beside it. Prints a line for each solver of a run: iterations
of all its solves, beside PETSc's. Exit status 1 where solutions differ by more than the tolerance, a solve does not
converge, or takes more iterations than its like. --latency measures instead.
"""

import argparse
import functools
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "hosts"))
import host_runs  # noqa: E402  pylint: disable=wrong-import-position

AGREE = 1e-5  # of the norm of a solution; the solves end at 1e-9
TOLERANCE = "1e-9"
COMMON = {"ksp_rtol": TOLERANCE, "ksp_norm_type": "unpreconditioned"}
PRECONDITIONERS = {"poisson_pc_type": "hypre", "velocity_pc_type": "bjacobi", "pressure_pc_type": "hypre",
                   "correction_pc_type": "jacobi", "stokes_pc_fieldsplit_type": "additive",
                   "stokes_fieldsplit_u_ksp_type": "preonly", "stokes_fieldsplit_u_pc_type": "hypre",
                   "stokes_fieldsplit_p_ksp_type": "preonly", "stokes_fieldsplit_p_pc_type": "jacobi"}
PREFIXES = ("poisson_", "stokes_", "velocity_", "pressure_", "correction_")
RIGHT = {"stokes_ksp_pc_side": "right", "velocity_ksp_pc_side": "right"}
OWN = {"poisson_ksp_type": "cg", "pressure_ksp_type": "cg", "correction_ksp_type": "cg", "stokes_ksp_type": "gmres",
       "velocity_ksp_type": "gmres", "stokes_ksp_gmres_modifiedgramschmidt": "yes", **RIGHT}


def of(symmetric, general, more=None):
    types = {f"{prefix}ksp_type": symmetric for prefix in ("poisson_", "pressure_", "correction_")}
    types |= {f"{prefix}ksp_type": general for prefix in ("stokes_", "velocity_")}
    return {**types, **RIGHT, **(more or {})}


CHOICES = {"cg and gmres": of("capstan_cg", "capstan_gmres"),
           "pipelined cg and s-step gmres": of("capstan_pipelined_cg", "capstan_sstep_gmres"),
           "cr, and cg within flexible gmres": of("capstan_cr", "capstan_gmres", {
               "stokes_ksp_capstan_flexible_gmres": "yes", "stokes_fieldsplit_u_ksp_type": "capstan_cg",
               "stokes_fieldsplit_u_ksp_rtol": "1e-2", "velocity_ksp_type": "capstan_bicgstab"})}
# What is measured beside OWN and CHOICES.
MORE_OWN = {"PETSc's pipecg and pgmres": of("pipecg", "pgmres")}
DEEP = {f"{prefix}ksp_capstan_pipeline_depth": "3" for prefix in PREFIXES}
MORE_CHOICES = {"pipelined cg and gmres, depth 3": of("capstan_pipelined_cg", "capstan_pipelined_gmres", DEEP)}
MULTIGRID = ("poisson_", "stokes_", "pressure_")


def options_of(choice):
    words = {f"{prefix}{key}": value for prefix in PREFIXES for key, value in COMMON.items()}
    words |= {"stokes_ksp_gmres_restart": "200", **PRECONDITIONERS, **choice}
    return " ".join(f"-{key} {value}" for key, value in words.items())


def tell(ranks, size, options, folder, scratch, before=()):
    """{prefix: (solves, iterations, not converged, seconds)}"""
    environment = host_runs.environment(PETSC_OPTIONS=options, XDG_CACHE_HOME=str(scratch))
    words = ["mpirun", "-n", ranks, *before, sys.executable, HERE / "demo.py", folder, size]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, env=environment, timeout=900)
    if done.returncode != 0:
        sys.exit(f"{options}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    told = [line.split() for line in done.stdout.splitlines() if line.startswith(PREFIXES)]
    assert len(told) == len(PREFIXES), done.stdout
    return {prefix: (*map(int, numbers[:3]), float(numbers[3])) for prefix, *numbers in told}


def run(ranks, size, options, scratch):
    """{prefix: (solves, iterations, not converged)}, {field: values by point}"""
    folder = pathlib.Path(tempfile.mkdtemp(dir=scratch))
    told = tell(ranks, size, options, folder, scratch)
    return {prefix: numbers[:3] for prefix, numbers in told.items()}, fields_of(folder, ranks)


def fields_of(folder, ranks):
    """{field: values}, in the order of the points."""
    fields = {}
    for name in {file.name.split(".")[0] for file in folder.glob("*.npy")}:
        rows = np.concatenate([np.load(folder / f"{name}.{rank}.npy") for rank in range(ranks)])
        order = np.lexsort(np.round(rows[:, :2], 9).T)
        fields[name] = rows[order]
    return fields


def distances(found, own):
    """{field: the norm of the difference over the norm}"""
    assert found.keys() == own.keys() and len(own) == 5, "the runs wrote other fields"
    apart = {}
    for name, theirs in own.items():
        assert np.allclose(found[name][:, :2], theirs[:, :2], atol=1e-8), f"{name}: other points"
        apart[name] = float(np.linalg.norm((found[name] - theirs)[:, 2:]) / np.linalg.norm(theirs[:, 2:]))
    return apart


def measure(given, scratch):
    """Times of the solves of each prefix; all have to converge."""
    layer = given.library.resolve().parent / "libcapstan_latency.so"
    if not layer.exists():
        sys.exit(f"run_demo.py: {layer}: no such file; build the target capstan_bench")
    own = {"PETSc's cg and gmres": OWN} | MORE_OWN
    ours = {f"capstan {name}": choice for name, choice in (CHOICES | MORE_CHOICES).items()}
    contestants = {}
    for ranks, latency in ((ranks, latency) for ranks in given.ranks for latency in given.latency):
        for name, choice in (own | ours).items():
            options = options_of(choice) if name in own else f"-dll_append {given.library.resolve()} {options_of(choice)}"
            folder = tempfile.mkdtemp(dir=scratch)
            contestants[ranks, latency, name] = functools.partial(tell, ranks, given.size, options, folder, scratch,
                                                                  host_runs.delayed(layer, latency, ranks))
    # What dolfinx compiles at the first time is kept in scratch.
    tell(1, given.size, options_of(OWN), scratch, scratch)
    told = host_runs.interleaved(contestants, given.repeat, given.minutes)
    times = host_runs.Times("PETSc", len(next(iter(told.values()))))
    failed = []
    for prefix in PREFIXES:
        for ranks, latency in ((ranks, latency) for ranks in given.ranks for latency in given.latency):
            found = [{name: [numbers[prefix][3] for numbers in told[ranks, latency, name]] for name in names} for names in (own, ours)]
            times.add(prefix, ranks, latency, prefix in MULTIGRID, *found)
            failed += [f"{prefix} {name}" for name in own | ours if any(numbers[prefix][2] for numbers in told[ranks, latency, name])]
    times.end()
    if failed:
        sys.exit("run_demo.py: did not converge: " + "; ".join(failed))


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--size", type=int, default=32)
    parser.add_argument("--ranks", type=int, nargs="+", help="default: 1 2 4; with --latency 2")
    parser.add_argument("--latency", type=float, nargs="*", metavar="US", help="measure, with all-reduces that take so long (default: 0 200)")
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="rounds that are measured (default: %(default)s)")
    parser.add_argument("--minutes", type=float, metavar="M", help="begin no round that would end later")
    given = parser.parse_args()
    if given.latency == []:
        given.latency = [0, 200]
    given.ranks = given.ranks or ([1, 2, 4] if given.latency is None else [2])
    if given.repeat < 1 or min(given.ranks) < 1 or min(given.latency or [0]) < 0:
        parser.error("--repeat and --ranks: allowed: from 1 on; --latency: from 0 on")
    return given


def compare(given, scratch):
    """What differs from PETSc's."""
    wrong = []
    print("ranks  solvers                            prefix       solves  iterations  PETSc's  not converged")
    for ranks in given.ranks:
        own, fields = run(ranks, given.size, options_of(OWN), scratch)
        for name, choice in CHOICES.items():
            told, entries = run(ranks, given.size, f"-dll_append {given.library.resolve()} {options_of(choice)}", scratch)
            for prefix, (solves, iterations, failed) in told.items():
                print(f"{ranks:5}  {name:33}  {prefix:12} {solves:6} {iterations:11} {own[prefix][1]:8} {failed:14}")
                # An s-step method looks at its residual after each block, a short recurrence loses some iterations.
                if failed or solves != own[prefix][0] or iterations > 1.1 * own[prefix][1] + 8 * solves:
                    wrong.append(f"{ranks} ranks, {name}, {prefix}")
            apart = distances(entries, fields)
            print("       the solutions are apart by " + ", ".join(f"{key} {apart[key]:.1e}" for key in sorted(apart)), flush=True)
            wrong += [f"{ranks} ranks, {name}: {key}" for key, value in apart.items() if not value <= AGREE]
        failed = [prefix for prefix, (_, _, count) in own.items() if count]
        wrong += [f"{ranks} ranks, PETSc's: {prefix}" for prefix in failed]
    return wrong


def main():
    given = parse()
    with tempfile.TemporaryDirectory() as scratch:
        if given.latency is not None:
            measure(given, scratch)
            return
        wrong = compare(given, scratch)
    if wrong:
        sys.exit("run_demo.py: differs: " + "; ".join(wrong))
    print(f"all solves converged, and all solutions agree to {AGREE}")


if __name__ == "__main__":
    main()
