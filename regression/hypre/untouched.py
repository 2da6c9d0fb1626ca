"""Programs that redirected names must leave as they are: their solvers are not those of hypre's ParCSR interface, or not hypre's."""

import pathlib
import re
import subprocess

from hypre_sources import fail

REDIRECT = {f"hypre_{family}": "capstan_gmres" for family in ("gmres", "flexgmres", "lgmres", "cogmres")}
REDIRECT |= {"hypre_pcg": "capstan_cg", "hypre_bicgstab": "capstan_bicgstab"}
PETSC = "/usr/share/petsc/3.18/share/petsc/examples"
TUTORIAL = "src/ksp/ksp/tutorials/ex2.c"
# program: arguments in common, in which RANKS stands for the number of ranks; and those of each run.
PROGRAMS = {
    # By -solver: CG with SMG, with PFMG, with the diagonal, alone; hybrid; GMRES; BiCGSTAB; LGMRES; FlexGMRES.
    "struct": (["-n", "20", "20", "20", "-P", "RANKS", "1", "1"], [["-solver", str(number)] for number in (10, 11, 18, 19, 21, 30, 31, 41, 51, 61)]),
    "petsc": (["-m", "60", "-n", "60", "-ksp_converged_reason", "-ksp_monitor", "-pc_type", "hypre"],
              [["-pc_hypre_type", kind, "-ksp_type", method]
               for kind, method in (("boomeramg", "cg"), ("boomeramg", "gmres"), ("euclid", "bcgs"), ("parasails", "cg"))])}
# Times, and what Capstan says of a redirect that nobody has asked for.
VARIES = re.compile(r"(?i)second|time|\btook\b|\bMFLOPS\b|no solve was asked for by that name")


def settled(text):
    """What has to be the same in every run."""
    return [line for line in text.splitlines() if not VARIES.search(line)]


def compare_untouched(run, ranks_of, programs, table):
    """programs: as PROGRAMS. Each by itself, and beside the redirects. Returns how many are wrong."""
    for name, (common, lists) in programs.items():
        for more, ranks in ((more, ranks) for more in lists for ranks in ranks_of):
            words = [str(ranks) if word == "RANKS" else word for word in common + more]
            own = [settled(text) for text in run.output(name, words, ranks)]
            found = [settled(text) for text in run.output(name, words, ranks, REDIRECT)]
            verdict = "ok" if own == found else "other output"
            if not any(re.search(r"\d", line) for line in own[0]):
                verdict = "prints no number that could be compared"
            table.wrong += verdict != "ok"
            table.row(" ".join([name, *more]), ranks, "", "left as it is", len(own[0]), len(found[0]), "", verdict)
    return table.wrong


def build_petsc(source, folder):
    """PETSc's tutorial ex2, compiled for the PETSc that pkg-config knows. source: a folder of PETSc's sources or examples."""
    tutorial, program = pathlib.Path(source) / TUTORIAL, pathlib.Path(folder) / "petsc_ex2"
    if not tutorial.exists():
        fail(f"{tutorial}: no such file; install libpetsc3.18-dev-examples, or say --petsc")
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "petsc"], capture_output=True, text=True, check=False)
    done = subprocess.run(["mpicc", "-O1", "-w", tutorial, "-o", program, *flags.stdout.split(), "-lm"], capture_output=True, text=True, check=False)
    if flags.returncode != 0 or done.returncode != 0:
        fail(f"{tutorial} does not compile (it needs petsc-dev):\n{flags.stderr}{done.stderr[-2000:]}")
    return program
