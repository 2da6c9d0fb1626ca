#!/usr/bin/env python3
"""Draws the pictures of docs/methods anew with capstan-solve of the build in CAPSTAN_BUILD_DIR, and looks what is in them."""

import importlib.machinery
import importlib.util
import os
import pathlib
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[1] / "figures" / "methods"
loader = importlib.machinery.SourceFileLoader("methods", str(SCRIPT))
spec = importlib.util.spec_from_loader("methods", loader)
methods = importlib.util.module_from_spec(spec)
sys.modules["methods"] = methods
loader.exec_module(methods)

PROGRAM = pathlib.Path(os.environ["CAPSTAN_BUILD_DIR"]) / "bin" / "capstan-solve"


class Methods(unittest.TestCase):
    def test_every_page_has_its_picture(self):
        pages = {path.stem for path in (methods.ROOT / "docs" / "methods").glob("*.md")}
        self.assertEqual(set(methods.PICTURES), pages)

    def test_the_residuals_of_every_method_fall_and_the_computed_ones_agree(self):
        methods.processes.set_environment()
        for name, picture in methods.PICTURES.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                recursive, computed = methods.solve(PROGRAM, picture, folder)
                for line, told, true in zip(picture.lines, recursive, computed):
                    self.assertGreater(len(true), methods.POINTS / 2, line.label)
                    self.assertLess(min(residual for _, residual in true), 1e-9, line.label)
                    if not line.own:
                        continue
                    told = dict(told)  # With a preconditioner p(l)-CG estimates it.
                    self.assertGreater(len(told), picture.system.iterations / 2, line.label)
                    for iteration, residual in true:
                        # BiCGStab returns the guess where its residual is smaller.
                        if 1e-8 < residual < 0.9:
                            self.assertTrue(0.7 < told[iteration] / residual < 1.4, f"{line.label}, {iteration}")

    def test_a_picture_is_drawn_and_small(self):
        with tempfile.TemporaryDirectory() as folder:
            picture = methods.PICTURES["cg"]
            points = [(iteration, 10.0 ** -iteration) for iteration in range(15)]
            methods.draw(methods.plots.load_pyplot(), picture, [points, []], [points, points], pathlib.Path(folder) / "cg.png")
            self.assertTrue(5000 < (pathlib.Path(folder) / "cg.png").stat().st_size < 60000)


if __name__ == "__main__":
    unittest.main()
