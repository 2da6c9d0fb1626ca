#!/usr/bin/env python3
"""code_saturne's cavity with its own solvers, and with Capstan's by preload alone; the fields agree.

usage: run_case.py LIBRARY [--cells N] [--cube] [--ranks N ...]

Needs code_saturne 6 (Debian: code-saturne) with its compilers; everything is made in a folder that is deleted afterwards.
--cube: N x N x N cells with walls all around, in the place of a layer of N x N.
Prints a line for each run; exit status 1 where fields differ by more than the tolerance.
"""

import argparse
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
AGREE = 1e-4  # of the largest value of a field: the tolerance of the solves is 1e-5 to 1e-8
CHOICES = ({"saturne_pressure": "capstan_cg"}, {"saturne_pressure": "capstan_pipelined_cg"},
           {"saturne_pressure": "capstan_sstep_gmres", "saturne_velocity": "capstan_bicgstab"},
           {"saturne_pressure": "capstan_cr", "saturne_velocity": "capstan_gmres"})


def write_mesh(path, n, layers):
    """n x n x layers hexahedra over the unit square, as Gmsh's format 2.2 has it; a cube begins at z = 2, by which the
    case's boundary conditions know it."""
    def node(i, j, k):
        return 1 + i + (n + 1) * (j + (n + 1) * k)

    low = 0 if layers == 1 else 2
    nodes = [(i / n, j / n, low + k / layers) for k in range(layers + 1) for j in range(n + 1) for i in range(n + 1)]
    elements = []
    for i in range(n):
        for k in range(layers):
            for a, b in (((i, 0), (i + 1, 0)), ((i, n), (i + 1, n)), ((0, i), (0, i + 1)), ((n, i), (n, i + 1))):
                elements.append((3, 1, [node(*a, k), node(*b, k), node(*b, k + 1), node(*a, k + 1)]))
        for j in range(n):
            square = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
            for k in (0, layers):
                elements.append((3, 1, [node(*corner, k) for corner in square]))
            for k in range(layers):
                elements.append((5, 2, [node(*corner, level) for level in (k, k + 1) for corner in square]))
    with open(path, "w", encoding="ascii") as file:
        file.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n2 1 \"boundary\"\n3 2 \"fluid\"\n$EndPhysicalNames\n")
        file.write(f"$Nodes\n{len(nodes)}\n" + "".join(f"{number} {x:.15g} {y:.15g} {z:.15g}\n"
                                                      for number, (x, y, z) in enumerate(nodes, 1)) + "$EndNodes\n")
        file.write(f"$Elements\n{len(elements)}\n")
        for number, (kind, group, corners) in enumerate(elements, 1):
            file.write(f"{number} {kind} 2 {group} {group} {' '.join(map(str, corners))}\n")
        file.write("$EndElements\n")


def run(words, cwd, environment=None):
    done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True, env=environment, timeout=900)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def fields(folder):
    """{cell: (p, u, v)}, p without its mean."""
    found = {}
    for file in folder.glob("fields.*"):
        for line in file.read_text().splitlines():
            number, *values = line.split()
            found[int(number)] = [float(value) for value in values]
    mean = sum(values[0] for values in found.values()) / len(found)
    return {number: (p - mean, u, v) for number, (p, u, v) in found.items()}


def distance(one, other):
    """The largest difference of each field over its largest value."""
    if one.keys() != other.keys():
        return math.inf
    return max(max(abs(one[cell][k] - other[cell][k]) for cell in one) / max(abs(values[k]) for values in other.values())
               for k in range(3))


def prepare(folder, cells, layers):
    """Makes the case, compiles it, and returns the folder that cs_solver runs in."""
    environment = dict(os.environ, USER=os.environ.get("USER", "root"), OMP_NUM_THREADS="1")
    run(["code_saturne", "create", "-s", "CAVITY", "-c", "CASE"], folder, environment)
    case = folder / "CAVITY" / "CASE"
    write_mesh(folder / "CAVITY" / "MESH" / "cavity.msh", cells, layers)
    for source in (HERE / "case").iterdir():
        (case / "SRC" / source.name).write_bytes(source.read_bytes())
    script = case / "DATA" / "cs_user_scripts.py"
    script.write_text("def domain_prepare_data_add(domain):\n    pass\n\n\ndef domain_copy_results_add(domain):\n    pass\n\n\n"
                      "def define_domain_parameters(domain):\n    domain.meshes = ['cavity.msh']\n")
    run(["code_saturne", "run", "--id", "first", "--initialize"], case / "SCRIPTS", environment)
    return case / "RESU" / "first"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--cells", type=int, default=24)
    parser.add_argument("--cube", action="store_true")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    given = parser.parse_args()
    worst = 0.0
    with tempfile.TemporaryDirectory() as scratch:
        place = prepare(pathlib.Path(scratch), given.cells, given.cells if given.cube else 1)
        for ranks in given.ranks:
            own = None
            for choice in (None, *(CHOICES if ranks > 1 else CHOICES[::2])):
                for old in place.glob("fields.*"):
                    old.unlink()
                environment = dict(os.environ, OMP_NUM_THREADS="1")
                if choice is not None:
                    environment["LD_PRELOAD"] = str(given.library.resolve())
                    environment["CAPSTAN_OPTIONS"] = "redirect: {" + ", ".join(f"{old}: {new}" for old, new in choice.items()) + "}"
                run(["mpirun", "-n", ranks, "./cs_solver", "--mpi"], place, environment)
                now = fields(place)
                log = "".join(path.read_text(errors="replace") for path in (*place.glob("performance.log"), *place.glob("listing"), *place.glob("run_solver.log")))
                if choice is None:
                    own = now
                    print(f"{ranks} ranks, code_saturne's own solvers: {len(now)} cells")
                    continue
                told = re.findall(r"Capstan, (\w+): (\d+) solves, (\d+) iterations, (\d+) not converged", log)
                apart = distance(now, own)
                worst = max(worst, apart)
                print(f"{ranks} ranks, {choice}: fields differ by {apart:.1e}; " + "; ".join(
                    f"{name} {solves} solves, {iterations} iterations, {unconverged} not converged" for name, solves, iterations, unconverged in told))
                if len(told) < len(choice):
                    sys.exit(f"run_case.py: {choice} was not taken; told: {told}")
    if not worst <= AGREE:
        sys.exit(f"run_case.py: fields differ by {worst:.1e}; allowed: {AGREE}")


if __name__ == "__main__":
    main()
