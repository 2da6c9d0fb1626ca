#!/usr/bin/env python3
"""The cases made of tutorials, as `./capstan run` starts them: one solver, and two side by side.

usage: test_run.py <build folder>
"""

import os
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv[1]).resolve()


def run_case(name, folder, *words):
    """Runs a case; returns (exit status, lines it printed)."""
    script = ROOT / "app-inputs/openfoam" / name / "run"
    done = subprocess.run([script, "--folder", BUILD / "regression/openfoam" / folder, *words],
                          env={**os.environ, "CAPSTAN_BUILD_DIR": str(BUILD)}, capture_output=True, text=True, check=False)
    return done.returncode, (done.stdout + done.stderr).splitlines()


def rows(lines):
    """{(field, run): {column: text}} of the table in the output; only the columns that no row leaves blank."""
    head = next(i for i, line in enumerate(lines) if line.startswith("field "))
    columns = lines[head].split()[:8]
    return {tuple(line.split()[:2]): dict(zip(columns, line.split())) for line in lines[head + 1:lines.index("", head)]}


class Runs(unittest.TestCase):
    def test_compare(self):
        status, lines = run_case("pitzDaily", "run-compare", "--compare", "--steps", "3", "--ranks", "2",
                                 "--solver", "capstan_cg", "--preconditioner", "DIC", "--tolerance", "1e-8", "--rel-tol", "0", "--repeat", "2")
        self.assertEqual(status, 0, "\n".join(lines))
        table = rows(lines + [""])
        self.assertEqual({key for key in table if key[0] == "p"}, {("p", "own"), ("p", "capstan_cg+DIC")})
        for (field, _), row in table.items():
            self.assertEqual((row["solves"], row["unconverged"]), ("3", "0"), field)
        self.assertEqual((table["p", "own"]["solver"], table["p", "capstan_cg+DIC"]["solver"]), ("GAMG", "capstan_cg"))
        line = next(line for line in lines if line.startswith("all fields: "))
        differences = dict(re.findall(r"(\S+) ([0-9.e+-]+)(?:,|$)", line[12:]))
        self.assertEqual(set(differences), {"U", "p", "k", "epsilon", "nut"})
        for field, value in differences.items():
            self.assertLess(float(value), 1e-5, field)
            self.assertGreater(float(value), 0, f"{field}: the same solver ran twice")

    def test_one_solver(self):
        status, lines = run_case("damBreak", "run-single", "--steps", "2", "--solver", "capstan_gmres", "--pressure-only")
        self.assertEqual(status, 0, "\n".join(lines))
        self.assertIn("End", lines)
        self.assertFalse([line for line in lines if line.startswith("Lookup")], "what OpenFOAM looks up is shown")
        table = rows(lines + [""])
        pressure = table["p_rgh", "capstan_gmres"]
        self.assertEqual((pressure["solver"], pressure["solves"]), ("capstan_gmres", "6"))
        self.assertEqual(table["alpha.water", "capstan_gmres"]["solver"], "smoothSolver")

    def test_the_cavity_has_any_size(self):
        status, lines = run_case("cavity3d", "run-cavity", "--compare", "--n", "8", "--steps", "2", "--ranks", "2")
        self.assertEqual(status, 0, "\n".join(lines))
        table = rows(lines + [""])
        self.assertEqual((table["p", "own"]["solver"], table["p", "own"]["solves"]), ("DICPCG", "4"))
        control = (BUILD / "regression/openfoam/run-cavity/case/system/caseSettings").read_text(encoding="utf-8")
        self.assertRegex(control, r"n 8;(.|\n)*deltaT 0.0625;")

    def test_a_folder_with_other_things_is_left_alone(self):
        mine = BUILD / "regression/openfoam/run-mine"
        mine.mkdir(parents=True, exist_ok=True)
        (mine / "file").touch()
        status, lines = run_case("damBreak", "run-mine", "--steps", "1")
        self.assertEqual(status, 2)
        self.assertIn("holds something else than an earlier run", lines[-1])
        self.assertTrue((mine / "file").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
