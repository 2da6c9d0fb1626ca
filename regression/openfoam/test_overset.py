#!/usr/bin/env python3
"""Overset meshes, whose addressing changes as they move, on two ranks. From the fifth step on cells are interpolated from
another rank's, and two faces lie between the same two cells.

usage: test_overset.py <build folder>
"""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "app-inputs/openfoam"))

# pylint: disable=wrong-import-position
import survey  # noqa: E402
from tutorials import solvers, workspace  # noqa: E402
from tutorials.errors import RunFailed  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
FOLDER = BUILD / "regression/openfoam/overset"
RANKS = 2
CASE = next(case for case in survey.read_list(pathlib.Path(survey.__file__).with_name("survey.yaml"), workspace.tutorials_folder())
            if case.name.endswith("/simpleRotor"))


class Overset(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        FOLDER.mkdir(parents=True, exist_ok=True)
        cls.env = workspace.environment(BUILD)
        workspace.prepare(CASE, RANKS, FOLDER / "prepared", cls.env)

    def run_with(self, preconditioner):
        choice = solvers.Choice("capstan_bicgstab", preconditioner, everything=False, verify=True)
        return workspace.start(CASE, FOLDER / "prepared", FOLDER / preconditioner, choice, RANKS, self.env)

    def test_product_and_preconditioner_equal_openfoams(self):
        run = self.run_with("DILU")
        solves = [solve for solve in run.solves if solve.field == "p"]
        self.assertEqual({solve.solver for solve in solves}, {"capstan_bicgstab"})
        self.assertIn("(interpolated from local:122  mixed local/remote:6  remote:0)", run.log, "nothing is interpolated across ranks")
        self.assertEqual(run.log.count("Capstan: p: product and DILU in another order of the cells equal OpenFOAM's"), len(solves))

    def test_an_assembled_matrix_is_refused_where_it_would_be_another_one(self):
        with self.assertRaises(RunFailed) as failed:
            self.run_with("riluk")
        self.assertRegex(str(failed.exception), "preconditioner of Trilinos: .* of type calculatedProcessor couples cells")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
