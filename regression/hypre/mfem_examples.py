"""MFEM's parallel examples that solve by hypre's PCG: elasticity (ex2p) and Maxwell's equations (ex3p); and two that take hypre's
preconditioners alone: ex1p solves by a CG of MFEM's own, ex5p by its MINRES."""

import pathlib
import subprocess

from hypre_sources import fail, take

# program: arguments, preconditioner, tolerance
CASES = {"ex2p": (["-m", "data/beam-tri.mesh", "-no-vis"], "AMG", 1e-8), "ex3p": (["-m", "data/star.mesh", "-no-vis"], "AMS", 1e-12)}
UNTOUCHED = {"ex1p": ["-m", "data/star.mesh", "-no-vis"], "ex5p": ["-m", "data/star.mesh", "-no-vis", "-o", "0", "-r", "2"]}
# As it is compiled soonest: about seven minutes on one core.
CONFIGURATION = ("MFEM_USE_MPI=YES", "MFEM_USE_METIS_5=YES", "HYPRE_OPT=-I/usr/include/hypre", "HYPRE_LIB=-lHYPRE", "METIS_OPT=",
                 "METIS_LIB=-lmetis", "CXXFLAGS=-O0 -std=c++11 -w")


def take_mfem(source, tag, folder):
    """MFEM's tree with the examples built: source itself, or what its repository has under that tag, built in folder."""
    names = (*CASES, *UNTOUCHED)
    source = pathlib.Path(source).resolve()
    if all((source / "examples" / name).exists() for name in names):
        return source
    folder = take(source, tag, folder, f"examples/{names[0]}")
    if folder == source:
        fail(f"{source}: these examples are not all built: {', '.join(names)}")
    for words in (["config", *CONFIGURATION], ["-j1", "lib"], ["-j1", "-C", "examples", *names]):
        done = subprocess.run(["make", *words], cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            fail(f"MFEM does not build (make {' '.join(words)}; it needs libhypre-dev and libmetis-dev):\n{done.stderr[-2000:]}")
    return folder


def untouched_of(run, tree):
    """As untouched.PROGRAMS."""
    run.programs |= {name: tree / "examples" / name for name in UNTOUCHED}
    return {name: (words_of(tree, words), [[]]) for name, words in UNTOUCHED.items()}


def words_of(tree, arguments):
    return [str(tree / word) if word.startswith("data/") else word for word in arguments]


def compare_mfem(run, tree, ranks_of, table, methods):
    """Each example with each method in place of hypre's PCG; PCG is judged by its energy norm there. Then the same system a second
    time, when the ratio of that norm to the 2-norm is known: no more iterations than hypre's. Returns how many are wrong."""
    for (name, (arguments, preconditioner, tolerance)), ranks in ((case, ranks) for case in CASES.items() for ranks in ranks_of):
        run.programs[name] = tree / "examples" / name
        words = words_of(tree, arguments)
        own = run(name, words, ranks)
        for method, again in ((method, again) for again in (False, True) for method in methods):
            run.twice = {name} if again else set()
            found = run(name, words, ranks, {"hypre_pcg": method})
            late = again and found.iterations > own.iterations
            table.judge(" ".join(["mfem", name, arguments[1]]) + (", second solve" if again else ""), ranks, preconditioner, "pcg", method,
                        own.iterations, found, tolerance, problems=["more iterations than hypre's"] if late else [])
        run.twice = set()
    return table.wrong
