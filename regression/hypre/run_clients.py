#!/usr/bin/env python3
"""hypre's own drivers (test/ij.c, examples ex5 and ex6) with hypre's solvers, and with Capstan's by preload alone.

Each pair is judged: GMRES types within an iteration of hypre's GMRES, or a block where they take several steps at once; CG within
1.05 of PCG; residuals within the tolerance. Then the lines of hypre's own test TEST_ij/solvers that use such a solver are run
with each redirect and compared with the results that hypre has saved; MFEM's examples and Nalu-wind's solver are run likewise, and
what is not hypre's ParCSR interface has to stay as it is. Exit status 1 where something is out of that. --latency measures instead.
"""

import argparse
import datetime
import math
import pathlib
import re
import shlex
import sys
import tempfile

import mfem_examples
import nalu_wind
import times
import untouched
from hypre_sources import ROOT, SAVED, Runner, build, build_timer, fail, host_runs, take_sources

BLOCK = 5  # steps of the s-step method, as it is by default
METHODS = {"pcg": ("capstan_cg", "capstan_pipelined_cg", "capstan_embedded_cg"),
           "gmres": ("capstan_gmres", "capstan_sstep_gmres", "capstan_pipelined_gmres"),
           "cogmres": ("capstan_gmres", "capstan_sstep_gmres"), "flexgmres": ("capstan_gmres",), "lgmres": ("capstan_gmres",),
           "bicgstab": ("capstan_bicgstab",)}
# The family behind a number of ij's -solver, and the preconditioner.
SOLVERS = {1: ("pcg", "AMG"), 2: ("pcg", "diagonal"), 3: ("gmres", "AMG"), 4: ("gmres", "diagonal"), 8: ("pcg", "ParaSails"),
           9: ("bicgstab", "AMG"), 10: ("bicgstab", "diagonal"), 16: ("cogmres", "AMG"), 17: ("cogmres", "diagonal"),
           18: ("gmres", "ParaSails"), 50: ("lgmres", "diagonal"), 51: ("lgmres", "AMG"), 60: ("flexgmres", "diagonal"),
           61: ("flexgmres", "AMG"), 71: ("pcg", "MGR")}
GMRES_OF = {50: 4, 51: 3}  # LGMRES is another method: what solves in its place is compared with GMRES
# program, arguments, family, preconditioner, tolerance, arguments of what it is compared with
IJ = [("ij", ["-n", "20", "20", "20", "-rhsrand", "-solver", str(number), *more], *SOLVERS[number], 1e-8,
       ["-n", "20", "20", "20", "-rhsrand", "-solver", str(GMRES_OF.get(number, number)), *more])
      for number, more in ((1, []), (2, []), (3, []), (4, []), (4, ["-k", "100"]), (9, []), (10, []), (16, []), (17, ["-k", "100"]),
                           (50, []), (51, []), (60, []), (61, []))]
EXAMPLES = [("ex5", ["-n", "33", "-solver", str(number)], "pcg", preconditioner, 1e-7, ["-n", "33", "-solver", str(number)])
            for number, preconditioner in ((50, "none"), (1, "AMG"), (8, "ParaSails"))]
STRUCT = ("ex6", [], "pcg", "PFMG", 1e-6, [])


def allowed(family, method, own):
    """(least, most) iterations where hypre has taken its own."""
    if family == "bicgstab":
        return 0, math.inf  # its rounding decides
    if family == "pcg":
        return 0, max(math.floor(1.05 * own), own + 1)
    return (own - 1, own + BLOCK) if "sstep" in method else (own - 1, own + 1)


class Table:
    """Prints rows, and counts those that are out of what is allowed."""

    def __init__(self, title, own):
        self.wrong = 0
        print(f"\n{title}\n")
        self.row("driver", "ranks", "M", "solver", own, "found", "residual", "")

    @staticmethod
    def row(driver, ranks, preconditioner, solver, own, found, residual, verdict):
        print(f"{driver:44} {ranks:>5}  {preconditioner:9}  {solver:36} {own:>7} {found:>6}  {residual:>12}  {verdict}", flush=True)

    def judge(self, driver, ranks, preconditioner, family, method, own, found, tolerance, note="", problems=()):
        least, most = allowed(family, method, own)
        problems = [*found.told, *problems]
        if not least <= found.iterations <= most:
            problems.append(f"iterations: allowed {least} to {most}")
        if not found.residual <= tolerance:
            problems.append(f"residual: allowed {tolerance}")
        self.wrong += 1 if problems else 0
        self.row(driver, ranks, preconditioner, f"{family}: {method}", own, found.iterations, f"{found.residual:.6e}",
                 ("; ".join(problems) or "ok") + note)


def compare(run, ranks_of):
    """Each case with each method in place of hypre's solver. Returns how many are wrong."""
    table = Table("hypre's solvers and Capstan's in their place (iterations)", "hypre's")
    for program, arguments, family, preconditioner, tolerance, of in IJ + EXAMPLES:
        for ranks in ranks_of:
            own = run(program, of, ranks)
            for method in METHODS[family]:
                found = run(program, arguments, ranks, {f"hypre_{family}": method})
                table.judge(" ".join([program, *arguments]), ranks, preconditioner, family, method, own.iterations, found, tolerance)
    program, arguments, family, preconditioner, _, _ = STRUCT  # of the struct interface: it stays hypre's
    for ranks in (2,):  # as many as ex6 is made for
        own, found = run(program, arguments, ranks), run(program, arguments, ranks, {"hypre_pcg": "capstan_cg"})
        same = (own.iterations, own.residual) == (found.iterations, found.residual)
        table.wrong += 0 if same else 1
        table.row(program, ranks, preconditioner, "pcg of struct, left to hypre", own.iterations, found.iterations, f"{found.residual:.6e}",
                  "ok" if same else "another result than by hypre")
    return table.wrong


def saved_results(path):
    """{name of an output file: (iterations, residual, entry of the residual)}"""
    found = {}
    for part in path.read_text(encoding="utf-8").split("# Output file: ")[1:]:
        iterations, residual = re.search(r"(?<!_)Iterations = (\d+)", part), re.search(r"Norm = (\S+)", part)
        entry = re.search(r"index 19 value (\S+)", part)
        if iterations and residual:
            found[part.split()[0]] = int(iterations[1]), float(residual[1]), entry and entry[1]
    return found


def jobs(path, most):
    """(name of the output file, ranks, arguments, number of -solver) of the lines of a test that use one of SOLVERS."""
    for ranks, arguments, output in re.findall(r"^mpirun -np (\d+) \./ij (.*) > (\S+)", path.read_text(encoding="utf-8"), re.M):
        words = shlex.split(arguments)
        number = int(words[words.index("-solver") + 1]) if "-solver" in words else 0
        if number in SOLVERS and int(ranks) <= most:
            yield output, int(ranks), words, number


def near(one, other, relative):
    return abs(float(one) - float(other)) <= relative * abs(float(other))


def compare_saved(run, sources, most):
    """hypre's own test with each method. Returns how many are wrong."""
    table = Table("hypre's test TEST_ij/solvers beside its saved results (iterations)", "saved")
    saved, agree, all_of = saved_results(sources / SAVED[1]), 0, 0
    for output, ranks, arguments, number in jobs(sources / SAVED[0], most):
        if output not in saved:
            continue
        family, preconditioner = SOLVERS[number]
        for method in (None, *METHODS[family]):
            found = run("ij", arguments, ranks, method and {f"hypre_{family}": method})
            iterations, residual, entry = saved[output]
            same = found.iterations == iterations and near(found.residual, residual, 1e-3)
            same = same and (entry is None or near(found.entry, entry, 1e-3))
            agree, all_of = agree + (same and method is not None), all_of + (method is not None)
            driver = f"{output}: {' '.join(arguments)}"[:44]
            if method is None:
                table.row(driver, ranks, preconditioner, f"{family}: hypre", iterations, found.iterations, f"{found.residual:.6e}",
                          "the saved result" if same else "another result than saved")
                own = found.iterations
                continue
            if family == "lgmres":  # another method: its place is GMRES's
                own = run("ij", [str(GMRES_OF[number]) if word == str(number) else word for word in arguments], ranks).iterations
            table.judge(driver, ranks, preconditioner, family, method, own, found, 1e-8,
                        ", the saved result" if same else f"; saved: {iterations} iterations and {residual:.6e}")
    if all_of == 0:
        fail(f"{sources / SAVED[0]}: found no line with a solver of {sorted(SOLVERS)}")
    print(f"\n{agree} of {all_of} solves of Capstan's have the saved iterations, and residuals within 1e-3 of those saved")
    return table.wrong


def compare_all(run, given, sources, mfem, scratch):
    """Returns how many are wrong."""
    run.programs["petsc"] = untouched.build_petsc(given.petsc, scratch)
    programs = dict(untouched.PROGRAMS)
    wrong = compare(run, given.ranks) + compare_saved(run, sources, given.saved_ranks)
    if mfem is not None:
        wrong += mfem_examples.compare_mfem(run, mfem, given.ranks, Table("MFEM's examples (iterations)", "hypre's"), METHODS["pcg"])
        programs |= mfem_examples.untouched_of(run, mfem)
    if given.nalu is not None:
        wrong += nalu_wind.compare_nalu(run, given.ranks, Table("Nalu-wind's solver (iterations)", "hypre's"), scratch)
    return wrong + untouched.compare_untouched(run, given.ranks, programs, Table("What stays as it is beside all redirects (lines)", "own"))


def parsed(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", help="hypre's source tree, or a git directory of it")
    parser.add_argument("--tag", default="v2.26.0", help="of the git directory: the installed hypre's (default: %(default)s)")
    parser.add_argument("--mfem", metavar="SOURCE", help="MFEM's tree with built examples, or a git directory of it: its examples, too")
    parser.add_argument("--mfem-tag", default="v4.5", help="of its git directory (default: %(default)s)")
    parser.add_argument("--nalu", metavar="SOURCE", help="Nalu-wind's source tree, or a git directory of it: its solver, too")
    parser.add_argument("--nalu-tag", default="v2.6.0", help="of its git directory (default: %(default)s)")
    parser.add_argument("--nalu-flags", default=nalu_wind.FLAGS, help="of hypre, yaml-cpp and Trilinos for mpicxx (default: %(default)s)")
    parser.add_argument("--petsc", metavar="SOURCE", default=untouched.PETSC, help="PETSc's sources or examples (default: %(default)s)")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="Capstan's build folder (default: %(default)s)")
    parser.add_argument("--ranks", type=int, nargs="+", metavar="N", help="default: 1 2 4; with --latency 2")
    parser.add_argument("--saved-ranks", type=int, default=8, metavar="N",
                        help="leave out lines of hypre's test with more (default: %(default)s)")
    parser.add_argument("--latency", type=float, nargs="*", metavar="US",
                        help="measure instead, with all-reduces that take so long (where none is given: 0 and 200)")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="rounds that are measured (default: %(default)s)")
    parser.add_argument("--small", action="store_true", help="measure small systems, to see that it works")
    parser.add_argument("--mpiexec", default="mpiexec")
    parser.add_argument("--flags", default="-I/usr/include/hypre -lHYPRE -lm", help="of hypre for mpicc (default: %(default)s)")
    given = parser.parse_args(words)
    given.latency = [0, 200] if given.latency == [] else given.latency
    given.ranks = given.ranks or ([1, 2, 4] if given.latency is None else [2])
    if given.repeat < 1 or min(given.ranks) < 1 or min(given.latency or [0]) < 0:
        parser.error("--repeat and --ranks: allowed: from 1 on; --latency: from 0 on")
    return given


def main(words=None):
    given = parsed(words)
    library = given.build.resolve() / "lib/libcapstanHypre.so"
    for needed, target in ((library, "capstanHypre"), (library.parent / "libcapstan_latency.so", "capstan_bench"))[:1 if given.latency is None else 2]:
        if not needed.exists():
            fail(f"{needed}: no such file; build the target {target}, or say --build")
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        sources = take_sources(given.source, given.tag, scratch)
        run = Runner(build(sources, scratch, given.flags), given.mpiexec, library, build_timer(scratch, given.flags), scratch)
        mfem = given.mfem and mfem_examples.take_mfem(given.mfem, given.mfem_tag, scratch / "mfem")
        if given.nalu is not None:
            run.programs["nalu-wind"], run.folders["nalu-wind"] = nalu_wind.build(given.nalu, given.nalu_tag, scratch / "nalu", given.nalu_flags)
        print(f"hypre {given.tag if sources == scratch else sources}; Capstan {host_runs.commit()}; {datetime.date.today()}")
        if given.latency is not None:
            times.measure(run, given, mfem, scratch)
            return 0
        wrong = compare_all(run, given, sources, mfem, scratch)
    print(f"\n{wrong} out of what is allowed" if wrong else "\nall within what is allowed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
