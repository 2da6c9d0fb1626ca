#!/usr/bin/env python3
"""PETSc's own tutorials (ksp ex2, ex5, ex23, ex50, snes ex19) with PETSc's solvers, and with Capstan's by options alone.

Each pair is judged: GMRES types within an iteration of PETSc's GMRES on the same side and in the same norm, or a block where they
take several steps at once; CG types within 1.05 of its CG; b - A x within the tolerance; solutions near each other. Exit
status 1 where something is out of that. --latency measures instead.
"""

import argparse
import datetime
import functools
import math
import pathlib
import sys
import tempfile

import petsc_runs
from petsc_runs import Runner, build, fail, host_runs, take_sources

BLOCK = 5  # steps of the s-step method, as it is by default
TOLERANCE = 1e-10
APART = 1e-6  # of the norm of the solution: the tolerance over what the matrices here amplify
RIGHT = ["-ksp_pc_side", "right", "-ksp_norm_type", "unpreconditioned"]
RESTART = ["-ksp_gmres_restart", "150"]
OWN = {"gmres": [*RIGHT, *RESTART, "-ksp_gmres_modifiedgramschmidt"], "cg": ["-ksp_norm_type", "unpreconditioned"]}
METHODS = {"gmres": ("capstan_gmres", "capstan_sstep_gmres", "capstan_pipelined_gmres"),
           "cg": ("capstan_cg", "capstan_pipelined_cg", "capstan_embedded_cg")}
# program, arguments, preconditioners, families of methods
CASES = [("ex2", "-m 40 -n 40", ("none", "jacobi", "bjacobi", "hypre"), ("gmres", "cg")),
         ("ex23", "-n 60", ("jacobi",), ("gmres", "cg")),
         ("ex5", "-m 40", ("bjacobi",), ("gmres", "cg")),
         ("ex5", "-m 12 -mat_nonsym", ("bjacobi",), ("gmres",)),
         ("ex50", "-da_grid_x 33 -da_grid_y 33", ("jacobi", "hypre"), ("gmres", "cg")),
         ("ex19", "-da_grid_x 17 -da_grid_y 17 -snes_rtol 1e-10", ("bjacobi",), ("gmres",))]
SINGULAR = ("ex50",)  # with the constants as null space, which PETSc leaves in x where M stands on the right
# What is measured: of PETSc's, those that end at the same norm. pipecr does where M scales all rows alike.
ON_THE_RIGHT = RIGHT + RESTART
DEEP, POLYNOMIAL = ["-ksp_capstan_pipeline_depth", "3"], ["-ksp_capstan_polynomial_degree", "8"]
CG = {"cg": OWN["cg"], "pipecg": OWN["cg"]}
CR = {"pipecr": []}
GMRES = {"gmres": ON_THE_RIGHT, "pgmres": ON_THE_RIGHT}
OUR_CG = {"capstan_cg": [], "capstan_pipelined_cg": [], "capstan_pipelined_cg, depth 3": DEEP}
OUR_CR = {"capstan_pipelined_cr": []}
POLYNOMIALS = {"capstan_cg, polynomial 8": POLYNOMIAL, "capstan_pipelined_cg, polynomial 8": POLYNOMIAL}
OUR_GMRES = {"capstan_gmres": RESTART, "capstan_sstep_gmres": RESTART, "capstan_pipelined_gmres": RESTART,
             "capstan_pipelined_gmres, depth 3": RESTART + DEEP}
# program, arguments, small ones, preconditioner, PETSc's methods, ours. The tutorials solve once; steps.c again and again.
MEASURED = [("steps", "-n 200", "-n 20", "jacobi", CG | CR, OUR_CG | OUR_CR | POLYNOMIALS),
            ("steps", "-n 200", "-n 20", "hypre", CG | GMRES, OUR_CG | {"capstan_sstep_gmres": RESTART}),
            ("ex2", "-m 200 -n 200", "-m 20 -n 20", "jacobi", CG | CR, OUR_CG | OUR_CR | POLYNOMIALS),
            ("ex2", "-m 200 -n 200", "-m 20 -n 20", "hypre", CG | GMRES, OUR_CG | {"capstan_sstep_gmres": RESTART}),
            ("ex23", "-n 1000", "-n 100", "jacobi", CG | CR, OUR_CG | OUR_CR | POLYNOMIALS),
            ("ex5", "-m 10000", "-m 100", "jacobi", CG | GMRES, OUR_CG | POLYNOMIALS | {"capstan_sstep_gmres": RESTART}),
            ("ex50", "-da_grid_x 150 -da_grid_y 150", "-da_grid_x 17 -da_grid_y 17", "jacobi", CG, OUR_CG | POLYNOMIALS),
            ("ex19", "-da_grid_x 65 -da_grid_y 65", "-da_grid_x 9 -da_grid_y 9", "bjacobi", GMRES, OUR_GMRES)]


def allowed(family, method, own):
    """(least, most) iterations of a solve where PETSc has taken its own."""
    if family == "cg":
        return 0, max(math.floor(1.05 * own), own + 1)
    return own - 1, own + (BLOCK if "sstep" in method else 1)


def apart(one, other, constant=False):
    """The norm of the difference over that of the other one; constant: both are known but for one."""
    if len(one) != len(other):
        return math.inf
    if constant:
        one, other = ([entry - math.fsum(vector) / len(vector) for entry in vector] for vector in (one, other))
    return math.dist(one, other) / math.hypot(*other)


def problems_of(family, method, own, found, distance):
    """What is out of what is allowed; nothing: all is well."""
    problems = []
    if not found.converged:
        problems.append("did not converge: " + ", ".join(found.reasons))
    if found.residual is None or not found.residual <= 1.01 * TOLERANCE:
        problems.append(f"residual {found.residual}")
    if found.newton != own.newton:
        problems.append(f"Newton: {found.newton}, PETSc's {own.newton}")
    if len(found.iterations) != len(own.iterations):
        problems.append(f"{len(found.iterations)} solves, PETSc's {len(own.iterations)}")
    for mine, theirs in zip(found.iterations, own.iterations):
        least, most = allowed(family, method, theirs)
        if not least <= mine <= most:
            problems.append(f"{mine} iterations: allowed {least} to {most}")
    if not distance <= APART:
        problems.append(f"solutions {distance:.1e} apart: allowed {APART}")
    return problems


def words_of(solver, pc, options, tolerance=TOLERANCE):
    return ["-ksp_type", solver, "-pc_type", pc, "-ksp_rtol", str(tolerance), *options]


def compare(run, ranks_of):
    """Each case with each method in the place of PETSc's. Returns how many are wrong."""
    wrong = 0
    row = "{:49} {:>5}  {:8} {:24} {:>14} {:>14}  {:>8} {:>8}  {}"
    print("\n" + row.format("program", "ranks", "M", "solver", "PETSc's", "found", "residual", "apart", "").rstrip())
    for program, arguments, pcs, families in CASES:
        for pc, family, ranks in ((pc, family, ranks) for pc in pcs for family in families for ranks in ranks_of):
            own = run.solve(program, [*arguments.split(), *words_of(family, pc, OWN[family])], ranks)
            if not own.converged:
                fail(f"{program} {arguments}, {pc}: PETSc's {family} ended with {own.reasons}")
            for method in METHODS[family]:
                more = RESTART if family == "gmres" else []
                found = run.solve(program, [*arguments.split(), *words_of(method, pc, more)], ranks)
                distance = apart(found.solution, own.solution, program in SINGULAR)
                problems = problems_of(family, method, own, found, distance)
                wrong += 1 if problems else 0
                print(row.format(f"{program} {arguments}", ranks, pc, method, "+".join(map(str, own.iterations)), "+".join(map(str, found.iterations)),
                                 f"{found.residual or math.nan:.1e}", f"{distance:.1e}", "; ".join(problems) or "ok"), flush=True)
    return wrong


def measure(run, ranks_of, latencies, small, repeat, minutes):
    places = [(case, ranks, latency) for case in range(len(MEASURED)) for ranks in ranks_of for latency in latencies]
    contestants = {}
    for case, ranks, latency in places:
        program, large, little, pc, own, ours = MEASURED[case]
        for name, options in (own | ours).items():
            words = [*(little if small else large).split(), *words_of(name.split(",")[0], pc, options, 1e-8)]
            contestants[case, ranks, latency, name] = functools.partial(run.seconds, program, words, ranks, latency)
    seconds = host_runs.interleaved(contestants, repeat, minutes)
    times = host_runs.Times("PETSc", len(next(iter(seconds.values()))))
    for case, ranks, latency in places:
        program, large, little, pc, own, ours = MEASURED[case]
        found = [{name: seconds[case, ranks, latency, name] for name in names} for names in (own, ours)]
        times.add(f"{program} {little if small else large}, {pc}", ranks, latency, pc == "hypre", *found)
    times.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", help="PETSc's source tree, or a git directory of it")
    parser.add_argument("--tag", default="v3.18.5", help="of the git directory: the installed PETSc's (default: %(default)s)")
    parser.add_argument("--build", type=pathlib.Path, default=host_runs.ROOT / "build", help="Capstan's build folder (default: %(default)s)")
    parser.add_argument("--ranks", type=int, nargs="+", metavar="N", help="default: 1 2 4; with --latency 2")
    parser.add_argument("--latency", type=float, nargs="*", metavar="US", help="measure, with all-reduces that take so long (default: 0 200)")
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="rounds that are measured (default: %(default)s)")
    parser.add_argument("--minutes", type=float, metavar="M", help="begin no round that would end later")
    parser.add_argument("--small", action="store_true", help="measure small systems, to see that it works")
    parser.add_argument("--mpiexec", default="mpiexec")
    parser.add_argument("--flags", help="of PETSc for mpicc (default: what pkg-config says)")
    given = parser.parse_args()
    library = given.build.resolve() / "lib/libcapstanPetsc.so"
    for needed, target in ((library, "capstanPetsc"), (library.parent / "libcapstan_latency.so", "capstan_bench"))[:1 if given.latency is None else 2]:
        if not needed.exists():
            fail(f"{needed}: no such file; build the target {target}, or say --build")
    latencies = None if given.latency is None else given.latency or [0, 200]
    ranks = given.ranks or ([1, 2, 4] if latencies is None else [2])
    if given.repeat < 1 or min(ranks) < 1 or min(latencies or [0]) < 0:
        parser.error("--repeat and --ranks: allowed: from 1 on; --latency: from 0 on")
    with tempfile.TemporaryDirectory() as scratch:
        sources = take_sources(given.source, given.tag, scratch)
        run = Runner(build(sources, scratch, given.flags), given.mpiexec, library, scratch)
        print(f"PETSc's tutorials of {given.tag if sources == pathlib.Path(scratch) else sources}; Capstan {host_runs.commit()}; {datetime.date.today()}")
        if latencies is not None:
            measure(run, ranks, latencies, given.small, given.repeat, given.minutes)
            return 0
        wrong = compare(run, ranks)
    print(f"\n{wrong} out of what is allowed" if wrong else "\nall within what is allowed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
