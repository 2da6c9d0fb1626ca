#!/usr/bin/env python3
"""Tests of the editor of OpenFOAM's dictionaries."""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

# pylint: disable=wrong-import-position
from tutorials.errors import RunFailed  # noqa: E402
from tutorials.foam_text import FoamText, lookup  # noqa: E402

SOLUTION = """FoamFile { version 2.0; object fvSolution; }
// * * //
solvers
{
    p { solver GAMG; tolerance 1e-06; /* { */ relTol 0.1; } // }
    pFinal
    {
        $p;
        relTol 0;
    }
    "pcorr.*" { $p
        tolerance 0.02; }
    "(U|k|epsilon)"
    {
        solver          smoothSolver;
        nested { solver inner; }
    }
    #include "more"
}
divSchemes { div(phi,U) Gauss linear; div((nuEff*dev2(T(grad(U))))) Gauss linear; }
code #{ if (a) { b; } #};
list ( (1 2) "a;b" { x y; } );
"""


class Reading(unittest.TestCase):
    def setUp(self):
        self.text = FoamText(SOLUTION, "fvSolution")

    def test_entries(self):
        self.assertEqual(self.text.keys(), ["FoamFile", "solvers", "divSchemes", "code", "list"])
        self.assertEqual(self.text.keys("solvers"), ["p", "pFinal", "pcorr.*", "(U|k|epsilon)", "#include"])
        self.assertEqual(self.text.get("solvers/p/tolerance"), "1e-06")
        self.assertEqual(self.text.keys("solvers/p"), ["solver", "tolerance", "relTol"])
        self.assertEqual(self.text.keys("solvers/pFinal"), ["$p", "relTol"])
        self.assertEqual(self.text.get(["divSchemes", "div(phi,U)"]), "Gauss linear")
        self.assertEqual(self.text.keys("divSchemes")[1], "div((nuEff*dev2(T(grad(U)))))")
        self.assertEqual(self.text.get("list"), '( (1 2) "a;b" { x y; } )')
        self.assertIsNone(self.text.get("solvers/none/tolerance"))
        self.assertIsNone(self.text.get("solvers/p"), "a dictionary is no value")

    def test_the_last_entry_wins(self):
        self.assertEqual(FoamText("a 1; a 2;").get("a"), "2")

    def test_mistakes_name_the_line(self):
        for text in ("a 1;\n}", "a\n{ b 1;", "a\n(1;", "b (1 ];"):
            with self.assertRaisesRegex(RunFailed, r"name:\d+: "):
                FoamText(text, "name")


class Editing(unittest.TestCase):
    def test_a_value_is_replaced_in_place(self):
        text = FoamText(SOLUTION)
        text.set("solvers/p/solver", "capstan")
        self.assertEqual(text.text, SOLUTION.replace("GAMG", "capstan"))

    def test_a_new_entry_stands_last(self):
        text = FoamText("a\n{\n    $b;\n}\n")
        text.set("a/tolerance", "1e-9")
        self.assertEqual(text.text, "a\n{\n    $b;\n    tolerance 1e-9;\n}\n")

    def test_an_entry_before_a_macro_moves_behind_it(self):
        text = FoamText("a { relTol 1; $b; }")
        text.set("a/relTol", "0")
        self.assertEqual(text.keys("a"), ["$b", "relTol"])

    def test_duplicates_become_one(self):
        text = FoamText("a 1; b 2; a 3;")
        text.set("a", "4")
        self.assertEqual(" ".join(text.text.split()), "a 4; b 2;")

    def test_dictionaries_on_the_way(self):
        text = FoamText("a 1;\n")
        text.set("p/q/r", "5")
        self.assertEqual(text.get("p/q/r"), "5")
        text.set("a", "{ b 2; }")
        self.assertEqual(text.get("a/b"), "2")

    def test_regular_expressions_keep_their_quotes(self):
        text = FoamText(SOLUTION)
        text.set(["solvers", "(U|k|epsilon)", "solver"], "capstan")
        text.set(["solvers", "(T|h)"], "{ solver capstan; }")
        self.assertIn('"(T|h)" { solver capstan; }', text.text)
        self.assertEqual(text.get(["solvers", "(U|k|epsilon)", "nested", "solver"]), "inner")
        self.assertEqual(text.get(["solvers", "(U|k|epsilon)", "solver"]), "capstan")

    def test_remove(self):
        text = FoamText("a 1; b { c 2; } a 3;")
        self.assertTrue(text.remove("a"))
        self.assertTrue(text.remove("b/c"))
        self.assertFalse(text.remove("d"))
        self.assertEqual(text.text.split(), ["b", "{", "}"])


class Lookup(unittest.TestCase):
    def test_as_openfoam(self):
        keys = ["p", "(U|k)", "(U|k)Final", "p.*", "U.*"]
        self.assertEqual(lookup(keys, "p"), "p")
        self.assertEqual(lookup(keys, "pFinal"), "p.*")
        self.assertEqual(lookup(keys, "k"), "(U|k)")
        self.assertEqual(lookup(keys, "UFinal"), "U.*", "the last one that matches")
        self.assertIsNone(lookup(keys, "T"))


if __name__ == "__main__":
    unittest.main()
