#!/usr/bin/env python3
"""Tests of check_recipe.py: each kind of mistake in the recipe is found."""

import contextlib
import io
import pathlib
import shutil
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging/spack"))

import check_recipe  # noqa: E402  pylint: disable=wrong-import-position

OTHERS = {"trilinos": "(CudaPackage, ROCmPackage) " + " ".join(
    f'variant("{name}")' for name in ("mpi", "tpetra", "belos", "ifpack2", "muelu", "shared", "stratimikos", "thyra", "wrapper")),
          "boost": 'variant("context")', "hypre": 'variant("mpi")',
          **{name: "" for name in ("cmake", "ninja", "yaml_cpp", "fmt", "cli11", "nlohmann_json", "openfoam", "python")}}


class Recipe(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name in (check_recipe.RECIPE, "cmake/CapstanOptions.cmake"):
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.folder / name)
        for name, text in OTHERS.items():
            path = self.folder / f"packages/repos/spack_repo/builtin/packages/{name}/package.py"
            path.parent.mkdir(parents=True)
            path.write_text(text)

    def check(self, old="", new="", others=True):
        path = self.folder / check_recipe.RECIPE
        text = path.read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new))
        words = [str(self.folder), *(["--packages", str(self.folder / "packages")] if others else [])]
        with contextlib.redirect_stdout(io.StringIO()) as said:
            status = check_recipe.main(words)
        return status, said.getvalue()

    def test_the_recipe_as_it_is(self):
        self.assertEqual(self.check(), (0, "the recipe names what is there\n"))
        self.assertEqual(self.check(others=False), (0, "the recipe names what is there; other packages were not looked at\n"))

    def test_mistakes(self):
        for old, new, said in (('when="+hypre"', 'when="+hyper"', "no variant 'hyper'"),
                               ('"CAPSTAN_PCH"', '"CAPSTAN_PCX"', "no option 'CAPSTAN_PCX'"),
                               ("boost+context", "boost+contex", "boost has no variant 'contex'"),
                               ('"fmt"', '"fmtlib"', "there is no package 'fmtlib'")):
            with self.subTest(new):
                self.setUp()
                status, text = self.check(old, new)
                self.assertEqual(status, 1)
                self.assertIn(said, text)


if __name__ == "__main__":
    unittest.main()
