#!/usr/bin/env python3
"""Builds the documents and the API as HTML, without a warning, and looks for the pages that must be there. Also shows that a
warning fails, and that links which lead nowhere are noticed."""

import html
import pathlib
import re
import subprocess
import tempfile
import unittest
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Of each layer the class, struct or namespace whose page must be there.
PARTS = ["capstan::AllReduce", "capstan::kernels", "capstan::SolverManager", "capstan::KrylovSolver", "capstan::Gmres",
         "capstan::SStepGmres", "capstan::PipelinedGmres", "capstan::Cg", "capstan::PipelinedCg", "capstan::StopTest",
         "capstan::deck"]


def build(root, folder):
    return subprocess.run([str(root / "docs/build_html"), str(folder)], capture_output=True, text=True, check=False)


def text(path):
    return path.read_text(encoding="utf-8", errors="replace")


def titles(pages):
    """What the pages are about: "Methods", "capstan::Gmres", "Capstan" (the main page)."""
    found = re.findall(r"<title>Capstan: (.*?)</title>", "".join(map(text, pages.glob("*.html"))))
    return {re.sub(r"(<.*>)? *(Class|Struct|Namespace)?( Template)?( Reference)?$", "", html.unescape(title)) for title in found}


def broken_links(pages):
    """Of the pages of documents; what links others is Doxygen's own."""
    anchors = {path: set(re.findall(r'(?:id|name)="([^"]+)"', text(path))) for path in pages.glob("*.html")}
    for path in [pages / "index.html", *pages.glob("md_*.html")]:
        for target in set(re.findall(r'(?:href|src)="([^"]+)"', text(path))):
            target = urllib.parse.unquote(html.unescape(target))
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            file = pages / name if name else path
            if not file.exists() or (anchor and anchor not in anchors.get(file, {anchor})):
                yield f"{path.name}: {target}"


class Html(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="capstan docs ")
        cls.addClassCleanup(folder.cleanup)
        cls.done = build(ROOT, pathlib.Path(folder.name))
        cls.pages = pathlib.Path(folder.name) / "html"

    def test_there_is_no_warning(self):
        self.assertEqual((self.done.returncode, self.done.stderr), (0, ""))

    def test_every_document_has_a_page(self):
        found = titles(self.pages)
        for path in [ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
            self.assertIn(text(path).partition("\n")[0].lstrip("# "), found, path)

    def test_the_readme_is_the_main_page(self):
        self.assertIn("The first commands", text(self.pages / "index.html"))

    def test_the_parts_of_the_api_have_pages(self):
        found = titles(self.pages)
        for part in PARTS:
            self.assertIn(part, found)

    def test_a_bar_in_a_table_is_a_bar(self):
        # How a page is named, and what code is, depends on the release of Doxygen.
        page = next(path for path in self.pages.glob("md_*sstep*gmres.html") if "pipelined" not in path.name)
        code = r'<(code|span class="tt")>\s*r = b - A x; q_0 = r / \|r\|\s*</(code|span)>'
        self.assertIsNotNone(re.search(code, text(page)))

    def test_every_link_leads_somewhere(self):
        self.assertEqual(list(broken_links(self.pages)), [])


class Mistakes(unittest.TestCase):
    """A source tree with little in it, below a folder called test, with a blank in its name."""

    HEADER = "#pragma once\n/// Adds one.\n/// \\param x what to add to\nint added(int x);\n"

    def pages(self, header=HEADER, document="# One\nSee [the readme](../README.md) and [its end](../README.md#end).\n"):
        folder = tempfile.TemporaryDirectory(prefix="capstan docs ")
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name) / "test" / "tree"
        for name in ("tpetra_ext", "belos_ext/test", "adapters", "perf/results", "docs", "cmake/launcher"):
            (root / name).mkdir(parents=True)
        for name in ("docs/Doxyfile", "docs/build_html", "cmake/launcher/version.sh", "CMakeLists.txt", "LICENSE", "CITATION.cff"):
            (root / name).write_bytes((ROOT / name).read_bytes())
        (root / "docs/build_html").chmod(0o755)
        for name, content in (("README.md", "# Capstan\n[One](docs/one.md)\n## End\n"), ("CHANGELOG.md", "# Changelog\n"),
                              ("CONTRIBUTING.md", "# Contributing\n"), ("docs/one.md", document), ("belos_ext/added.hpp", header),
                              ("belos_ext/test/left_out.hpp", "/// \\param y wrong\nint leftOut(int x);\n"),
                              ("perf/results/a.png", "")):
            (root / name).write_text(content, encoding="utf-8")
        return build(root, root / "build docs"), root / "build docs" / "html"

    def test_a_sound_tree_passes(self):
        done, pages = self.pages()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(list(broken_links(pages)), [])
        self.assertTrue((pages / "added_8hpp.html").exists())
        self.assertFalse((pages / "left__out_8hpp.html").exists())

    def test_a_parameter_that_is_not_there_fails(self):
        done, _ = self.pages(header=self.HEADER.replace("\\param x", "\\param y"))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"(?m)^belos_ext/added.hpp:\d+: .*argument 'y'")

    def test_a_link_to_no_document_fails(self):
        done, _ = self.pages(document="# One\nSee [two](two.md).\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("docs/one.md:2: ", done.stderr)

    def test_a_picture_that_is_not_there_is_noticed(self):
        for picture, broken in (("a.png", set()), ("b.png", {"perf/results/b.png"})):
            _, pages = self.pages(document=f"# One\n![A picture](../perf/results/{picture})\n")
            self.assertEqual({link.partition(": ")[2] for link in broken_links(pages)}, broken)


if __name__ == "__main__":
    unittest.main()
