"""MFEM's parallel examples that solve by hypre's PCG: elasticity (ex2p) and Maxwell's equations (ex3p). ex1p solves by a CG of
MFEM's own."""

import pathlib
import subprocess

from hypre_sources import fail

# program: arguments, preconditioner, tolerance
CASES = {"ex2p": (["-m", "data/beam-tri.mesh", "-no-vis"], "AMG", 1e-8), "ex3p": (["-m", "data/star.mesh", "-no-vis"], "AMS", 1e-12)}
# As it is compiled soonest: about seven minutes on one core.
CONFIGURATION = ("MFEM_USE_MPI=YES", "MFEM_USE_METIS_5=YES", "HYPRE_OPT=-I/usr/include/hypre", "HYPRE_LIB=-lHYPRE", "METIS_OPT=",
                 "METIS_LIB=-lmetis", "CXXFLAGS=-O0 -std=c++11 -w")


def take_mfem(source, tag, folder):
    """MFEM's tree with the examples built: source itself, or what its repository has under that tag, built in folder."""
    source, folder = pathlib.Path(source).resolve(), pathlib.Path(folder)
    if all((source / "examples" / name).exists() for name in CASES):
        return source
    made = subprocess.run(["git", "-C", source, "archive", tag], capture_output=True, check=False)
    if made.returncode != 0:
        fail(f"{source}: found neither built examples {', '.join(CASES)} nor a repository with the tag {tag}: {made.stderr.decode().strip()}")
    folder.mkdir()
    subprocess.run(["tar", "-x", "-C", folder], input=made.stdout, check=True)
    for words in (["config", *CONFIGURATION], ["-j1", "lib"], ["-j1", "-C", "examples", *CASES]):
        done = subprocess.run(["make", *words], cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            fail(f"MFEM does not build (make {' '.join(words)}; it needs libhypre-dev and libmetis-dev):\n{done.stderr[-2000:]}")
    return folder


def compare_mfem(run, tree, ranks_of, table, methods):
    """Each example with each method in place of hypre's PCG; PCG is judged by its energy norm there. Returns how many are
    wrong."""
    for name, (arguments, preconditioner, tolerance) in CASES.items():
        run.programs[name] = tree / "examples" / name
        words = [str(tree / word) if word.startswith("data/") else word for word in arguments]
        for ranks in ranks_of:
            own = run(name, words, ranks)
            for method in methods:
                found = run(name, words, ranks, {"hypre_pcg": method})
                table.judge(" ".join(["mfem", name, *arguments]), ranks, preconditioner, "pcg", method, own.iterations, found, tolerance)
    return table.wrong
