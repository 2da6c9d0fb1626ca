#!/usr/bin/env python3
"""code_saturne's cavity with its own solvers, and with Capstan's by preload alone; the fields agree.

usage: run_case.py LIBRARY [--case NxN|NxNxN ...] [--ranks N ...] [--latency US ... [--turns N] [--minutes M]] [--wrong-uses]

Needs code_saturne 6 (Debian: code-saturne) with its compilers; everything is made in a folder that is deleted afterwards.
NxN: a layer of cells; NxNxN: a cube with walls all around. --latency measures, too: all solvers in turn, as the machine is (0) and
with all-reduces that take so many microseconds (emulated), so many turns or as many as fit into the minutes, one at least.
Prints a line for each solver; exit status 1 where fields differ by more than the tolerance, or a solve has not converged.
"""

import argparse
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent / "hosts"), str(ROOT / "app-inputs/openfoam")]

# pylint: disable=wrong-import-position
import host_runs  # noqa: E402
from tutorials import timing  # noqa: E402

AGREE = 1e-4  # of the largest value of a field: the tolerance of the solves is 1e-5 to 1e-8
CHOICES = ({"saturne_pressure": "capstan_cg"}, {"saturne_pressure": "capstan_pipelined_cg"},
           {"saturne_pressure": "capstan_sstep_gmres", "saturne_velocity": "capstan_bicgstab"},
           {"saturne_pressure": "capstan_cr", "saturne_velocity": "capstan_gmres"})
# What solve_time.c prints.
SOLVES = re.compile(r"^solves of (\w+): (\d+), (\d+) iterations, (\d+) not converged, (\S+) seconds$", re.MULTILINE)
ROW = "{:9} {:>5} {:>5}  {:57} {:>6} {:>8} {:>8}  {:>20}  {:>20}"


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


def compiled_timer(folder):
    """solve_time.c as a library."""
    library = folder / "solve_time.so"
    run(["mpicc", "-std=gnu99", "-O1", "-shared", "-fPIC", "-DHAVE_CONFIG_H", "-I/usr/include/code_saturne", HERE / "solve_time.c", "-o",
         library, "-Wl,-z,lazy", "-ldl"], folder)
    return library


class Case:
    """A mesh, and the folder that cs_solver runs in."""

    def __init__(self, name, library, scratch):
        cells = int(name.partition("x")[0])
        folder = scratch / name
        folder.mkdir()
        self.name, self.library, self.timer = name, library, compiled_timer(folder)
        self.place = prepare(folder, cells, 1 if name.count("x") == 1 else cells)
        text = run(["sh", ROOT / "cmake/run_environment.sh", "--oversubscribed"], folder)
        self.environment = {**os.environ, **dict(line.split("=", 1) for line in text.splitlines() if "=" in line), "OMP_NUM_THREADS": "1"}

    def solve(self, choice, ranks, latency):
        """(fields, {field: (solves, iterations, not converged, seconds)}) with the redirects of a choice; None: code_saturne's own."""
        for old in self.place.glob("fields.*"):
            old.unlink()
        environment, preload = dict(self.environment), [self.timer]
        if choice is not None:
            preload.append(self.library)
            environment["CAPSTAN_OPTIONS"] = "redirect: {" + ", ".join(f"{old}: {new}" for old, new in choice.items()) + "}"
        if latency:
            preload.insert(0, self.library.parent / "libcapstan_latency.so")
            environment |= {"CAPSTAN_LATENCY_US": f"{latency:g}", "CAPSTAN_LATENCY_WAIT": "spin" if ranks <= (os.cpu_count() or 1) else "yield"}
        # To the program alone: mpirun itself is none. One rank needs no mpirun, and then has no MPI of code_saturne's.
        alone = ranks == 1 and choice == CHOICES[0]
        words = [*([] if alone else ["mpirun", "-n", ranks]), "env", "LD_PRELOAD=" + ":".join(map(str, preload)), "./cs_solver",
                 *([] if alone else ["--mpi"])]
        text = run(words, self.place, environment)
        log = "".join(path.read_text(errors="replace") for name in ("listing", "run_solver.log") for path in self.place.glob(name))
        for field, method in (choice or {}).items():
            if f"Capstan: the systems of the field {field.partition('_')[2]} are solved by {method}" not in log:
                sys.exit(f"run_case.py: {choice} was not taken")
        return fields(self.place), {name: (*map(int, numbers), float(seconds)) for name, *numbers, seconds in SOLVES.findall(text)}


    def use_wrongly(self, ranks):
        """Has the case use redirected systems wrongly, in 390 ways. Returns what is wrong with that, in words, or nothing."""
        preload = ":".join([*os.environ.get("CAPSTAN_TEST_PRELOAD", "").split(), str(self.library)])  # a sanitizer, and ours
        text = run(["mpirun", "-n", ranks, "env", f"LD_PRELOAD={preload}", "./cs_solver", "--mpi"], self.place,
                   {**self.environment, "WRONG_USES": "390", "CAPSTAN_OPTIONS": "redirect: {saturne_pressure: capstan_cg}"})
        told = re.search(r"^390 wrong uses of 13 kinds: .*", text, re.MULTILINE)
        print(f"{ranks} ranks: {told[0] if told else 'nothing was told of wrong uses'}")
        return [] if told and told[0].endswith(" 0 wrong") else [f"wrong uses: {told and told[0]}"]


def refuses(case, options, says):
    """Whether a run with wrong options ends with an error that says so."""
    environment = {**case.environment, "LD_PRELOAD": str(case.library), "CAPSTAN_OPTIONS": options}
    done = subprocess.run(["./cs_solver"], cwd=case.place, capture_output=True, text=True, env=environment, timeout=900)
    told = done.stdout + done.stderr + "".join(path.read_text(errors="replace") for path in case.place.glob("error*"))
    return [] if done.returncode != 0 and says in told else [f"{options}: status {done.returncode}, and nothing of '{says}'"]


class Row:
    """The runs of one solver, beside those of code_saturne's own in the same turns."""

    def __init__(self, case, ranks, latency, choice, own):
        self.case, self.ranks, self.latency, self.choice, self.own = case, ranks, latency, choice, own or self
        self.fields, self.seconds, self.told = None, {"pressure": [], "all": []}, {}

    def run(self):
        self.fields, self.told = self.case.solve(self.choice, self.ranks, self.latency)
        self.seconds["pressure"].append(self.told["pressure"][3])
        self.seconds["all"].append(sum(each[3] for each in self.told.values()))

    def problems(self):
        apart = distance(self.fields, self.own.fields)
        found = [] if apart <= AGREE else [f"fields differ by {apart:.1e}; allowed: {AGREE}"]
        return found + [f"{name}: {told[2]} solves have not converged" for name, told in self.told.items() if told[2]]

    def text(self):
        own = self.own is self
        name = "code_saturne's own" if own else ", ".join(f"{old.partition('_')[2]}: {new}" for old, new in self.choice.items())
        times = [f"{statistics.median(self.seconds[part]):.3f} s" if own else
                 timing.spread((one / other for one, other in zip(self.seconds[part], self.own.seconds[part])), 2) for part in ("pressure", "all")]
        return ROW.format(self.case.name, self.ranks, f"{self.latency:g}", name, "-" if own else f"{distance(self.fields, self.own.fields):.0e}",
                          self.told["pressure"][1], self.told["velocity"][1], *times)


def rows_of(case, ranks, latency):
    own = Row(case, ranks, latency, None, None)
    return [own, *(Row(case, ranks, latency, choice, own) for choice in CHOICES)]


def case_name(text):
    if not re.fullmatch(r"([1-9]\d*)x\1(x\1)?", text):
        raise argparse.ArgumentTypeError(f"found '{text}'; allowed: such as 24x24 or 16x16x16")
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--case", type=case_name, nargs="+", default=["24x24"])
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--latency", type=float, nargs="+", default=[])
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--wrong-uses", action="store_true", help="these alone, with CAPSTAN_TEST_PRELOAD under a sanitizer")
    given = parser.parse_args()
    library = given.library.resolve()
    with tempfile.TemporaryDirectory() as scratch:
        cases = [Case(name, library, pathlib.Path(scratch)) for name in dict.fromkeys(given.case)]
        rows = [row for case in cases for ranks in given.ranks
                for latency in (given.latency or [0]) if ranks > 1 or latency == 0 for row in rows_of(case, ranks, latency)]
        if given.wrong_uses:
            rows = []
        told = host_runs.interleaved({number: row.run for number, row in enumerate(rows)}, given.turns if given.latency else 1, given.minutes)
        turns = max(map(len, told.values()), default=0)
        if given.latency:
            print(f"{turns} turns; seconds: what code_saturne's own solves take, and the others' over that, medians [least..greatest]\n")
        if rows:
            print(ROW.format("cells", "ranks", "us", "solver", "apart", "pressure", "velocity", "time, pressure", "time, all solves"))
        for row in rows:
            print(row.text())
        problems = [] if given.latency else [problem for ranks in given.ranks for problem in cases[0].use_wrongly(ranks)]
        problems += [] if given.latency or given.wrong_uses else refuses(cases[0], "redirect: {saturne_pressure: capstan_gc}", 'did you mean "CAPSTAN CG"')
        problems += [f"{row.case.name}, {row.ranks} ranks, {row.choice}: {problem}" for row in rows for problem in row.problems()]
    if problems:
        sys.exit("run_case.py: " + "\n".join(problems))


if __name__ == "__main__":
    main()
