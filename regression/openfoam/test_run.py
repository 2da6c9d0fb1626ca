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

    def test_the_first_command_compares_itself_with_openfoam(self):
        status, lines = run_case("cavity3d", "run-demo", "--n", "8", "--steps", "2", "--turns", "3")
        text = "\n".join(lines)
        self.assertEqual(status, 0, text)
        self.assertIn("solver capstan_cg+DIC", lines[0])
        shown = sum(int(count) for count in re.findall(r"capstan_cg:  Solving for p,.* No Iterations (\d+)", text))
        self.assertIn("Against OpenFOAM's own PCG+DIC (U: PBiCGStab+DILU), 3 turns, 2 rank(s):", lines)
        head = next(i for i, line in enumerate(lines) if line.startswith("solver of p"))
        self.assertEqual(lines[head + 3], "if an all-reduce took 50 us (emulated):")
        table = [line.split() for line in lines[head + 1:head + 3] + lines[head + 4:head + 6]]
        self.assertEqual([row[0] for row in table], ["PCG+DIC", "capstan_cg+DIC"] * 2)
        for own, ours in (table[:2], table[2:]):
            self.assertEqual((own[2], ours[1:3], own[6:]), ("0", [str(shown), "0"], ["1", "1"]))
            self.assertGreater(int(own[3]), int(ours[3]), "Capstan has fewer all-reduces")
            for row in (own[4:6], ours[4:6], ours[6:8], ours[8:10]):
                self.assertRegex(" ".join(row), r"^\d+\.\d+ \[\d+\.\d+\.\.\d+\.\d+\]$")
        self.assertFalse([line for line in lines if "turn 1" in line], "progress is for terminals")

    def test_a_run_alone(self):
        for words in (("--turns", "0"), ("--solver", "PCG")):
            status, lines = run_case("cavity3d", "run-alone", "--n", "6", "--steps", "1", "--ranks", "1", *words)
            self.assertEqual(status, 0, "\n".join(lines))
            self.assertFalse([line for line in lines if "Against" in line])
        for words, said in ((("--turns", "x"), "--turns wants a whole number from 0 on"), (("--latency", "-1"), "--latency wants"),
                            (("--preconditioner", "a b"), "--preconditioner wants")):
            status, lines = run_case("cavity3d", "run-alone", *words)
            self.assertEqual(status, 2)
            self.assertIn(said, lines[0])

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
