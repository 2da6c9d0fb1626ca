#!/usr/bin/env python3
"""What libcapstanFoam.so brings into the programs of a case: before the first solve nothing but itself, then Trilinos for nobody
but Capstan; and what is said where the Trilinos side cannot be had.

usage: test_libraries.py BUILD
"""

import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import foam

BUILD = pathlib.Path()
# Trilinos, and what it brings.
TRILINOS = re.compile(r"/lib(?!\w+Decomp\.)(capstanFoamTrilinos|capstanPreconditioners|capstan\.so|trilinos_|belos|tpetra|teuchos|kokkos|muelu|ifpack|amesos|zoltan|xpetra|"
                      r"pt?scotch|scotch|metis|parmetis|HYPRE|[sdcz]mumps|mumps|superlu|fmt|yaml-cpp|boost)")
BINDING = re.compile(r"binding file (\S+) \[\d+\] to (\S+) \[\d+\]: \w+ symbol `(\w+)'")
SOLVERS = '"p.*" {{ solver capstan; preconditioner {}; tolerance 1e-6; }}\nU {{ solver PBiCGStab; preconditioner DILU; tolerance 1e-6; }}\n'


def folder(name):
    return BUILD / f"regression/openfoam/libraries-{name}"


def prepared(name, ranks, preconditioner="DIC", library=None):
    """A meshed case with the entry in controlDict."""
    case = folder(name)
    foam.copy_case("channel", case, ranks, SOLVERS.format(preconditioner))
    if library is not None:
        settings = case / "system/caseSettings"
        settings.write_text(settings.read_text(encoding="utf-8").replace('"libcapstanFoam.so"', f'"{library}"'), encoding="utf-8")
    foam.prepare(case, ranks, foam.environment(BUILD))
    return case


def compile_library(path, source):
    """A shared library of some lines of C."""
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", path], check=True, text=True, input=source)


def bindings(command, env, case):
    """(from, to, symbol) of all that the loader bound in the processes of a command, and what the command printed."""
    output = case / "bound"
    bound = {**env, "LD_DEBUG": "bindings", "LD_DEBUG_OUTPUT": str(output), "LD_BIND_NOW": ""}
    text = foam.run_or_raise(command, bound, case)
    found = set()
    for path in case.glob("bound.*"):
        with path.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if (match := BINDING.search(line)) is not None:
                    found.add(match.groups())
        path.unlink()
    return found, text


class Bindings(unittest.TestCase):
    def test_needs_openfoam_and_the_system_alone(self):
        needed = re.findall(r"NEEDED.*\[(.*)\]", subprocess.run(["readelf", "-d", BUILD / "lib/libcapstanFoam.so"], check=True,
                                                                capture_output=True, text=True).stdout)
        self.assertIn("libOpenFOAM.so", needed)
        allowed = re.compile(r"lib(OpenFOAM|Pstream|mpi|open_mpi|stdc\+\+|m|gcc_s|c|dl|pthread|asan|ubsan)\.so[.0-9]*|ld-linux.*")
        self.assertEqual([name for name in needed if not allowed.fullmatch(name)], [])

    def test_decompose_par(self):
        """Names the solver's library, and solves nothing."""
        case = prepared("decompose", 2)
        env = foam.environment(BUILD)
        found, text = bindings(["decomposePar", "-force"], env, case)
        self.assertTrue(any("libcapstanFoam.so" in source for source, _, _ in found), text[-2000:])
        self.assertEqual(sorted({target for _, target, _ in found if TRILINOS.search(target)}), [])

    def test_solver(self):
        """Trilinos serves Capstan, and nobody else."""
        case = prepared("solve", 1, "muelu")
        found, text = bindings(["icoFoam"], foam.environment(BUILD), case)
        self.assertIn("capstan_cg:", text)
        self.assertTrue(any("libcapstanFoamTrilinos.so" in source and TRILINOS.search(target) for source, target, _ in found))
        self.assertTrue(any("libcapstanPreconditioners.so" in source and "muelu" in target for source, target, _ in found))
        # Libraries of the system bind among each other: MUMPS to METIS.
        others = {(source, target) for source, target, _ in found if TRILINOS.search(target) and
                  re.search(r"/lib(OpenFOAM|Pstream|finiteVolume|meshTools|capstanFoam\.so)|icoFoam", source)}
        self.assertEqual(others, set())

    def test_own_preconditioner(self):
        """What makes preconditioners of Trilinos stays closed."""
        found, text = bindings(["icoFoam"], foam.environment(BUILD), prepared("own", 1))
        self.assertIn("capstan_cg:", text)
        opened = {target.rsplit("/", 1)[1] for _, target, _ in found if TRILINOS.search(target)}
        self.assertTrue(any(name.startswith("libcapstan.so") for name in opened), opened)
        self.assertEqual([name for name in opened if re.search("Preconditioners|muelu|ifpack|HYPRE|zoltan|amesos", name)], [])

    def test_preload(self):
        """What is preloaded for MPI stands before MPI for the Trilinos side, too."""
        latency = BUILD / "lib/libcapstan_latency.so"
        if not latency.exists():
            self.skipTest(f"{latency} is not built")
        case = prepared("preload", 2)
        env = foam.environment(BUILD)
        env["LD_PRELOAD"] = " ".join(filter(None, (env.get("LD_PRELOAD", ""), str(latency))))
        found, _ = bindings(foam.launch_words(["icoFoam"], 2), env, case)
        reduce = {target.rsplit("/", 1)[1] for source, target, symbol in found if "libcapstan.so" in source and "MPI_Allreduce" == symbol}
        self.assertEqual(reduce, {latency.name})

    def test_partitioners_of_the_program(self):
        """Trilinos' calls of Scotch and METIS go to those that the program has loaded for all, if any. No solve makes one."""
        case = prepared("scotch", 1, "muelu")
        other = case / "libother.so"
        names = ("SCOTCH_graphInit", "SCOTCH_dgraphInit", "METIS_PartGraphKway", "METIS_NodeND", "ParMETIS_V3_PartKway")
        compile_library(other, "#include <stdio.h>\n#include <stdlib.h>\n" + "".join(
            f'int {name}(void) {{ fprintf(stderr, "called: {name}\\n"); exit(3); }}\n' for name in names))
        env = foam.environment(BUILD)
        env["LD_PRELOAD"] = " ".join(filter(None, (env.get("LD_PRELOAD", ""), str(other))))
        found, text = bindings(["icoFoam"], env, case)
        self.assertIn("capstan_cg:", text)
        self.assertNotIn("called: ", text)
        self.assertEqual({target for source, target, symbol in found if TRILINOS.search(source) and symbol in names}, {str(other)})


class Missing(unittest.TestCase):
    def run_with(self, name, side):
        """(log, folder) of a run with a copy of libcapstanFoam.so; side(path) makes, or does not make, its mate."""
        alone = folder(name + "-lib")
        shutil.rmtree(alone, ignore_errors=True)
        alone.mkdir(parents=True)
        shutil.copy(BUILD / "lib/libcapstanFoam.so", alone)
        side(alone / "libcapstanFoamTrilinos.so")
        case = prepared(name, 2, library=alone / "libcapstanFoam.so")
        env = {**foam.environment(BUILD), "LD_LIBRARY_PATH": ""}
        status, log = foam.launch(case, 2, env, foam.run)
        self.assertNotEqual(status, 0, log[-2000:])
        flat = " ".join(log.split())
        self.assertIn("FOAM FATAL ERROR", flat)
        self.assertNotIn("FATAL IO ERROR", flat, "no entry of fvSolution is to blame")
        self.assertIn("solver capstan, field p", flat)
        return flat, alone

    def test_no_trilinos_side(self):
        log, alone = self.run_with("none", lambda path: None)
        for text in ("cannot open libcapstanFoamTrilinos.so", f"{alone}/libcapstanFoamTrilinos.so: cannot open shared object file",
                     "libcapstanFoamTrilinos.so: libcapstanFoamTrilinos.so: cannot open", "Set LD_LIBRARY_PATH"):
            self.assertIn(text, log)

    def test_trilinos_side_that_is_none(self):
        log, alone = self.run_with("broken", lambda path: path.write_text("no library\n", encoding="utf-8"))
        self.assertIn(f"{alone}/libcapstanFoamTrilinos.so: {alone}/libcapstanFoamTrilinos.so: ", log)

    def test_trilinos_side_of_another_release(self):
        def other(path):
            compile_library(path, "const void* capstanFoamTrilinosSide(unsigned long stamp) { return 0; }\n")

        log, alone = self.run_with("other", other)
        self.assertIn(f"{alone}/libcapstanFoamTrilinos.so is of another release than", log)

    def test_found_by_the_loader(self):
        """As with wmake, whose library lies elsewhere."""
        alone = folder("path-lib")
        shutil.rmtree(alone, ignore_errors=True)
        alone.mkdir(parents=True)
        shutil.copy(BUILD / "lib/libcapstanFoam.so", alone)
        case = prepared("path", 1, library=alone / "libcapstanFoam.so")
        env = {**foam.environment(BUILD), "LD_LIBRARY_PATH": str(BUILD / "lib")}
        self.assertIn("capstan_cg:", foam.launch(case, 1, env))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
