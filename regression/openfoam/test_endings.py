#!/usr/bin/env python3
"""How runs go on and end: restart from a written time, NaN, a singular matrix, with floating point exceptions trapped.

usage: test_endings.py <build folder> <ranks>
"""

import pathlib
import re
import shutil
import sys
import unittest

import foam

BUILD = pathlib.Path(sys.argv[1]).resolve()
RANKS = int(sys.argv[2])
TIGHT = 1e-11

# What a user may have: the changed word alone, multigrid, a kept preconditioner of Trilinos, guesses from earlier solves.
CHOICES = {
    "plain": "",
    "gamg": "preconditioner GAMG;",
    "kept": "method capstan_cg; preconditioner muelu; caching { preconditioner { update periodic; periodicCoeffs { frequency 4; } } }",
    "pipelined": "method capstan_pipelined_cg; preconditioner DIC;",
}


def solvers(pressure, tolerance=TIGHT):
    return (f'"(p.*|T)" {{ solver capstan; tolerance {tolerance}; {pressure} }}\n'
            f"U {{ solver capstan; tolerance {tolerance}; }}\n")


def folder(name):
    return BUILD / f"regression/openfoam/endings-np{RANKS}-{name}"


def set_entries(path, **entries):
    """Changes top-level entries of a dictionary that stand on a line of their own."""
    text = path.read_text()
    for key, value in entries.items():
        text, count = re.subn(rf"^{key} .*;$", f"{key} {value};", text, flags=re.MULTILINE)
        assert count == 1, key
    path.write_text(text)


class Endings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.environment = foam.environment(BUILD)

    def fresh(self, name, pressure, **how):
        case = folder(name)
        foam.copy_case("channel", case, RANKS, solvers(pressure), **how)
        foam.prepare(case, RANKS, self.environment)
        return case

    def test_restart(self):
        """Three steps, and three more by another process, give what six steps give: nothing that Capstan keeps in memory
        is part of the solution."""
        for name, pressure in CHOICES.items():
            with self.subTest(name):
                whole = self.fresh(f"whole-{name}", pressure)
                set_entries(whole / "system/controlDict", endTime="0.12")
                begun = folder(f"restart-{name}")
                shutil.rmtree(begun, ignore_errors=True)
                shutil.copytree(whole, begun)
                log = foam.launch(whole, RANKS, self.environment)
                self.assertIn("Floating point exception trapping enabled", log)
                set_entries(begun / "system/controlDict", endTime="0.06")
                foam.launch(begun, RANKS, self.environment)
                set_entries(begun / "system/controlDict", endTime="0.12", startFrom="latestTime")
                log = foam.launch(begun, RANKS, self.environment)
                self.assertNotIn("Time = 0.06\n", log, "it did not start from the written time")
                for field in ("p", "U"):
                    self.assertLess(foam.field_difference(begun, whole, field, RANKS), 1e-8, field)

    @unittest.skipIf(RANKS > 1, "ranks need MPI")
    def test_serial_run_starts_no_mpi(self):
        """An MPI that cannot start stops a run that starts it: the one with Trilinos' preconditioner, on its assembled matrix,
        but none with OpenFOAM's own."""
        broken = {**self.environment, "OMPI_MCA_pml": "no-such-layer"}
        for name, pressure in CHOICES.items():
            with self.subTest(name):
                case = self.fresh(f"no-mpi-{name}", pressure + " summary yes;")
                status, log = foam.launch(case, RANKS, broken, foam.run)
                if name == "kept":
                    self.assertNotEqual(status, 0, "MPI was to fail")
                    continue
                self.assertEqual(status, 0, log[-3000:])
                self.assertRegex(log, r"End\n[\s\S]*Capstan: solves of this run on 1 rank")

    def test_nan(self):
        """The field stays as it was, and no rank waits for another one. OpenFOAM gives up itself where it reads a residual of
        the step again, which is no number."""
        environment = {**self.environment, "FOAM_SIGFPE": "false"}
        for name, pressure in CHOICES.items():
            with self.subTest(name):
                case = self.fresh(f"nan-{name}", pressure, speed="1e200")
                status, log = foam.launch(case, RANKS, environment, foam.run)
                self.assertRegex(log, r"\nEnd\n" if status == 0 else r"expected scalar value, found on line 0: word '-?nan'")
                self.assertIn("the matrix, the source or the field holds NaN or Inf; the field is left as it is", log)

    def test_singular(self):
        """A Laplacian that nothing fixes, without a source: the answer is a constant, the mean of what was there."""
        for name, pressure in CHOICES.items():
            with self.subTest(name):
                case = folder(f"singular-{name}")
                foam.copy_case("channel", case, RANKS, solvers(pressure))
                (case / "constant/transportProperties").write_text(
                    (case / "constant/transportProperties").read_text() + "\nDT DT [0 2 -1 0 0 0 0] 1;\n")
                header = (case / "0/p").read_text()
                (case / "0/T").write_text(header.replace("object p;", "object T;").replace("[0 2 -2 0 0 0 0]", "[0 0 0 1 0 0 0]"))
                schemes = (case / "system/fvSchemes").read_text()
                (case / "system/fvSchemes").write_text(re.sub(r"ddtSchemes\s*\{[^}]*\}", "ddtSchemes { default steadyState; }", schemes))
                with (case / "system/fvSolution").open("a") as file:
                    file.write("SIMPLE { nNonOrthogonalCorrectors 0; }\n")
                foam.run_or_raise(["blockMesh"], self.environment, case)
                self.uneven(case)
                if RANKS > 1:
                    foam.run_or_raise(["decomposePar"], self.environment, case)
                log = foam.run_or_raise(foam.launch_words(["laplacianFoam"], RANKS), self.environment, case)
                self.assertIn("End\n", log)
                solves = [solve for solve in foam.read_solves(log) if solve.field == "T"]
                self.assertEqual(len(solves), 3)
                self.assertLess(solves[0].final, TIGHT)
                values = [value for part in foam.results.rank_folders(case, RANKS)
                          for value in foam.results.read_field(part / foam.results.last_time(part) / "T")[1]]
                self.assertLess(max(values) - min(values), 1e-6)
                # The second solve begins at rounding level, which leaves the constant to chance.
                self.assertLess(max(map(abs, values)), 100)

    @staticmethod
    def uneven(case):
        """T is not constant to begin with."""
        cells = int(re.search(r"nCells:\s*(\d+)", (case / "constant/polyMesh/owner").read_text())[1])
        values = "\n".join(f"{(37 * cell % 101) / 101:.6f}" for cell in range(cells))
        path = case / "0/T"
        path.write_text(path.read_text().replace("internalField uniform 0;",
                                                 f"internalField nonuniform List<scalar>\n{cells}\n(\n{values}\n)\n;"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
