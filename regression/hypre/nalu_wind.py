"""Nalu-wind's HypreDirectSolver, compiled alone with a driver (nalu_wind/driver.cpp), which solves like its pressure and momentum
equations by the solvers of one of its regression decks."""

import array
import math
import pathlib
import shlex
import shutil
import subprocess

from hypre_sources import fail, take

HERE = pathlib.Path(__file__).resolve().parent / "nalu_wind"
SOURCES = ("src/HypreDirectSolver.C", "src/HypreLinearSolverConfig.C", "src/LinearSolverConfig.C")
HEADERS = ("include/HypreDirectSolver.h", "include/XSDKHypreInterface.h", "include/LinearSolver.h", "include/LinearSolverConfig.h")
DECK = "reg_tests/test_files/airfoilRANSEdgeNGPHypre.rst/airfoilRANSEdgeNGPHypre.rst.yaml"
FILES = (*SOURCES, *HEADERS, DECK, "reg_tests/hypre_settings/hypre_blade_resolved.yaml")
FLAGS = ("-I/usr/include/hypre -I/usr/include/trilinos -lHYPRE -lyaml-cpp -ltrilinos_teuchosparameterlist -ltrilinos_teuchoscore"
         " -ltrilinos_kokkoscore")
# equation: solver of the deck, M
EQUATIONS = {"pressure": ("solve_elliptic", "AMG"), "momentum": ("solve_mom", "l1 Jacobi")}
GMRES = ("capstan_gmres", "capstan_sstep_gmres", "capstan_pipelined_gmres")
METHODS = {"gmres": GMRES, "cogmres": GMRES, "lgmres": GMRES, "flexgmres": ("capstan_gmres", "capstan_sstep_gmres"),
           "bicgstab": ("capstan_bicgstab", "capstan_pipelined_bicgstab"),
           "pcg": ("capstan_cg", "capstan_pipelined_cg", "capstan_embedded_cg")}
CELLS, TOLERANCE = 20, 1e-10
# Solutions of the same system that meet the tolerance differ by up to the condition of A times that: about 1e3 here.
DIFFERENCE = 1e3 * TOLERANCE


def cases():
    """(equation, family of hypre's solver)"""
    for equation in EQUATIONS:
        for family in METHODS:
            if family != "pcg" or equation == "pressure":
                yield equation, family


def build(source, tag, folder, flags=FLAGS):
    """The driver, and the folder where it runs."""
    folder = pathlib.Path(folder)
    tree = take(source, tag, folder / "taken", FILES[0], FILES)
    # Apart from the others: they would take headers beside them, not ours, which spare STK and Tpetra.
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(tree / name, folder / name)
    program = folder / "driver"
    words = ["mpicxx", "-std=c++17", "-O1", "-w", "-DNALU_USES_HYPRE", f"-I{HERE}", f"-I{folder / 'include'}", HERE / "driver.cpp",
             *(folder / name for name in SOURCES), "-o", program, *shlex.split(flags)]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        fail(f"Nalu-wind's solver does not compile (it needs libhypre-dev, libyaml-cpp-dev and Trilinos):\n{done.stderr[-2000:]}")
    return program, (folder / DECK).parent


def words_of(equation, family, solution, cells=CELLS):
    return [pathlib.Path(DECK).name, EQUATIONS[equation][0], f"hypre_{family}", equation, str(cells), str(TOLERANCE), str(solution)]


def read(path):
    found = array.array("d")
    found.frombytes(pathlib.Path(path).read_bytes())
    return found


def difference(one, other):
    """|| one - other || over || other ||"""
    return math.dist(one, other) / math.sqrt(sum(entry * entry for entry in other))


def compare_nalu(run, ranks_of, table, folder):
    """Each solver of Nalu-wind with each method in its place. Returns how many are wrong."""
    own_file, file = pathlib.Path(folder) / "own.bin", pathlib.Path(folder) / "found.bin"
    for equation, family in cases():
        for ranks in ranks_of:
            own = run("nalu-wind", words_of(equation, family, own_file), ranks)
            answer = read(own_file)
            if family == "lgmres":  # another method: its place is GMRES's
                own = run("nalu-wind", words_of(equation, "gmres", file), ranks)
            for method in METHODS[family]:
                found = run("nalu-wind", words_of(equation, family, file), ranks, {f"hypre_{family}": method})
                apart = difference(read(file), answer)
                problems = [] if apart <= DIFFERENCE else [f"difference: allowed {DIFFERENCE:.1e}"]
                # hypre's PCG is judged by its energy norm.
                if family != "pcg" and not found.computed <= TOLERANCE * (1 + 1e-6):
                    problems.append(f"b - A x: found {found.computed}")
                table.judge(f"nalu-wind {equation} {CELLS}^3", ranks, EQUATIONS[equation][1], family, method, own.iterations, found, TOLERANCE,
                            note=f", solutions differ by {apart:.1e}", problems=problems)
    return table.wrong
