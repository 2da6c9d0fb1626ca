#!/usr/bin/env python3
"""Shows that check_methods.py notices methods without a page, and pages that lack something."""

import importlib.util
import pathlib
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent / "check_methods.py"
spec = importlib.util.spec_from_file_location("check_methods", SCRIPT)
check = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check)

LIST = ("| Solver | Alias | Method | Source |\n|---|---|---|---|\n"
        "| `CAPSTAN GMRES S-STEP` | `capstan_sstep_gmres` | s-step | [Saad 1993], [low-sync] |\n")
PAGE = "# CAPSTAN GMRES S-STEP\nAs [low-sync], [Saad\n1993] and [GMRES](../methods.md) do.\n" + "".join(
    f"## {section}\n```\n[Q V]\n```\n" for section in check.SECTIONS) + "![Residuals](sstep-gmres.png)\n| `` v[0] `` |\n"
FILES = {
    "docs/methods.md": "# Methods\n| [CAPSTAN GMRES S-STEP](methods/sstep-gmres.md) | 1 |\n",
    "docs/references.md": "| Key | Paper |\n|---|---|\n| [low-sync] | I. Yamazaki |\n| [Saad 1993] | Y. Saad |\n",
    "docs/methods/sstep-gmres.md": PAGE,
    "docs/methods/sstep-gmres.png": "drawn",
}


class CheckMethods(unittest.TestCase):
    def problems(self, changes=None, listed=LIST):
        """Of FILES with texts replaced; None leaves a file out."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {**FILES, **(changes or {})}.items():
                if text is not None:
                    (root / name).parent.mkdir(exist_ok=True, parents=True)
                    (root / name).write_text(text, encoding="utf-8")
            return "\n".join(check.problems(root, check.methods(listed)))

    def test_sound_pages_pass(self):
        self.assertEqual(self.problems(), "")

    def test_a_method_without_a_page_is_found(self):
        found = self.problems(listed=LIST + "| `CAPSTAN CG` | `capstan_cg` | CG | [low-sync] |\n")
        self.assertIn("docs/methods/cg.md: the page of CAPSTAN CG is missing", found)
        self.assertIn("docs/methods.md: the table has no row", found)

    def test_a_page_without_a_method_is_found(self):
        self.assertIn("docs/methods/qmr.md: there is no method", self.problems({"docs/methods/qmr.md": PAGE}))
        self.assertIn("lists no solvers", self.problems(listed=""))

    def test_a_row_without_a_link_is_found(self):
        self.assertIn("the table has no row", self.problems({"docs/methods.md": "| `CAPSTAN GMRES S-STEP` | 1 |\n"}))

    def test_a_source_that_is_no_key_is_found(self):
        for source, expected in (("[Saad 1994]", "the key [Saad 1994] of its source"), ("Saad 1993", "found the source 'Saad 1993'"),
                                 ("[Saad 1993]; [low-sync]", "found the source"), ("", "found the source ''")):
            self.assertIn(expected, self.problems(listed=LIST.replace("[Saad 1993], [low-sync]", source)))

    def test_what_a_page_lacks_is_found(self):
        for before, after, expected in (("# CAPSTAN GMRES S-STEP", "# S-step", "the heading"), ("## Cost\n", "", "the sections"),
                                        ("low-sync", "Saad 1994", "the key [Saad 1994]"),
                                        ("![Residuals](sstep-gmres.png)", "", "no picture")):
            self.assertIn(expected, self.problems({"docs/methods/sstep-gmres.md": PAGE.replace(before, after, 1)}))

    def test_a_picture_that_is_missing_or_large_is_found(self):
        self.assertIn("no picture", self.problems({"docs/methods/sstep-gmres.png": None}))
        self.assertIn("60000 bytes", self.problems({"docs/methods/sstep-gmres.png": "x" * 60000}))


if __name__ == "__main__":
    unittest.main()
