#!/usr/bin/env python3
"""Tests of a campaign's report: what the page holds for made-up results, and that a browser shows it, on screen and on paper.

usage: test_page.py [arguments of unittest]. The browser is Chromium without a window.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zlib

sys.dont_write_bytecode = True
PERF = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(PERF), str(PERF / "test")]

# pylint: disable=wrong-import-position
import campaign_records as made  # noqa: E402
from campaign import records  # noqa: E402
from page.scaling import curve_points, model_points  # noqa: E402

# Adds to the page what the browser made of it.
PROBE = """<script>window.addEventListener('load', () => {
  const box = (e) => { const r = e.getBoundingClientRect(); return [r.left, r.right, r.width, r.height]; };
  const all = (s) => Array.from(document.querySelectorAll(s));
  const told = {width: document.documentElement.scrollWidth, tables: all('table').map(box),
    images: all('img').map((e) => [e.complete && e.naturalWidth, ...box(e)]), sections: all('section').map((e) => e.id),
    font: parseFloat(getComputedStyle(document.querySelector('td')).fontSize),
    outside: performance.getEntriesByType('resource').map((e) => e.name).filter((n) => !n.startsWith('data:'))};
  const pre = document.createElement('pre'); pre.id = 'told'; pre.textContent = JSON.stringify(told); document.body.append(pre);
});</script>"""
PAPER_WIDTH = 703  # CSS pixels of A4 between margins of 12 mm


def latency_cell(key, latency, ranks=2):
    """A cell whose pipelined methods win where all-reduces are slow."""
    def phases(solver):
        pipeline = "PIPELINE" in solver["method"]
        solver["details"]["cost"] = {**made.COST, "reductions": 1, "hidden": pipeline, "pipeline_depth": 3 if pipeline else 1,
                                     "bytes_of_a_row": 200 if pipeline else 100}
        return solver
    wait = 1e-6 * latency
    members = [phases(made.solver("capstan gmres", "capstan", [(1 + 20e3 * wait) * 1e-3] * 3, method="CAPSTAN GMRES")),
               phases(made.solver("capstan pgmres", "capstan", [(1.5 + 2e3 * wait) * 1e-3] * 3, method="CAPSTAN GMRES PIPELINE")),
               made.solver("block gmres", "belos", [(3 + 60e3 * wait) * 1e-3] * 3),
               made.solver("throws", "belos", [1e-3] * 3, failure="<b>no</b> & never")]
    return made.cell(key, members=members, notes=["a note"], latency_us=float(latency), ranks=ranks, histories={
        "capstan gmres": [[k, 10.0 ** -k] for k in range(1, 7)]}, reference=made.reference(all_reduce=1e-6 + wait))


def kernels():
    spread = {"median": 0.8, "min": 0.7, "max": 0.9}
    case = {"kernel": "update", "n": 400000, "k": 30, "s": 1, "summary": {"gigabytes_per_second": spread, "of_stream": spread,
                                                                         "moved_of_stream": spread}}
    return {"kind": "kernels", "runs": [{"workers": 2, "execution_space": "Serial", "cases": [case, {**case, "s": 5}],
                                         "stream_triad_gigabytes_per_second": spread}]}


def everything():
    """Records with something for every section: latencies, ranks, a failure, a missed target, curves."""
    cells = [latency_cell("a", 0), latency_cell("b", 50), latency_cell("c", 200), latency_cell("d", 0, ranks=1),
             {**made.cell("e"), "status": "failed", "reason": "ended with status 3: <no> memory", "title": "broken"}]
    curves = [{"experiment": "small", "group": "GMRES", "label": "a model", "solver": "capstan gmres", "source": "made up",
               "model": {"to": 64, "ranks_per_node": 16, "node_gb_s": 100, "hop_us": 1}},
              {"experiment": "small", "label": "simulation", "kind": "simulation", "points": [[64, 1e-4], [256, 5e-5]]},
              {"experiment": "small", "label": "iterations", "kind": "simulation", "solver": "capstan gmres",
               "iteration_us": [[64, 3.0]]}]
    claims = [{"what": "a claim", "speedup": "1.67", "where": "300 processes", "source": "a-paper"},
              {"what": "a pair", "speedup": "up to 2.5", "where": "a cluster", "source": "b-paper", "experiments": ["small"],
               "ours": "capstan pgmres", "over": "capstan gmres", "differs": "two ranks",
               "simulated": {"ours": [[64, 2.0], [128, 1.0]], "over": [[64, 3.0], [128, 4.0]], "source": "made up"}}]
    counts = [{"what": "counts of one", "experiment": "small", "solver": "capstan gmres", "source": "c-paper",
               "paper": {"reductions": 2, "products": 1, "flops": 12, "vectors": 3}}]
    targets = [{"group": "GMRES", "at_most": 0.9, "ranks": 2},
               {"group": "GMRES", "at_most": 0.1, "latency_us": 0.0, "ranks": 2, "tried": "deeper pipelines"}]
    return [made.ENVIRONMENT, made.campaign([cell["key"] for cell in cells], targets, curves=curves, claims=claims, counts=counts),
            kernels(), *cells]


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="capstan page ")  # a blank on purpose
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = pathlib.Path(cls.temporary.name)
        for record in everything():
            records.append(cls.folder / records.NAME, record)
        done = cls.report(cls.folder, "--pictures", cls.folder / "pictures")
        assert done.returncode == 0, done.stderr
        cls.html = (cls.folder / "report.html").read_text(encoding="utf-8")

    @classmethod
    def report(cls, *words):
        return subprocess.run([sys.executable, str(PERF / "bench"), "report", *map(str, words)], capture_output=True, text=True,
                              check=False)

    def chromium(self, *words):
        """Chromium has to end by itself; its own complaints (no bus, no graphics) mean nothing here."""
        command = [shutil.which("chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                   f"--user-data-dir={self.folder / 'profile'}", *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=240, check=True).stdout

    def seen(self, width, style=None):
        """What the browser makes of the page in a window so wide. style: what replaces '@media print'."""
        copy = self.folder / "probe.html"
        text = self.html.replace("@media print", style) if style else self.html
        copy.write_text(text.replace("</body>", PROBE + "</body>"), encoding="utf-8")
        said = self.chromium(f"--window-size={width},2000", "--dump-dom", copy.as_uri())
        told = re.search(r'<pre id="told">(.*?)</pre>', said, re.S)
        self.assertIsNotNone(told, "the page did not load")
        return json.loads(told.group(1).replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">"))


class Contents(Page):
    def test_all_parts_are_there(self):
        sections = re.findall(r"<section id='(\w+)'", self.html)
        self.assertEqual(sections, ["targets", "latency", "scaling", "papers", "kernels", "cells", "machine"])
        for words in ("Made up", "targets missed", "MISSED", "deeper pipelines", "ended with status 3: &lt;no&gt; memory",
                      "Crossovers: ", "a model: made up.", "<td>1.67</td>", "<td>64: 1.50, 128: 4.00</td>", "counts of one",
                      "Phases beside the limit", "a note", "/ limit", "a processor, 2 cores", "all-reduce at best"):
            self.assertIn(words, self.html)
        self.assertNotIn("<b>no</b>", self.html, "what solvers say is text, not markup")
        pictures = sorted((self.folder / "pictures").glob("*.png"))
        # Targets, latency, scaling, kernels; phases and histories of four cells.
        self.assertEqual((len(pictures), self.html.count("<img ")), (4 + 2 * 4, 4 + 2 * 4))
        self.assertTrue(all(path.read_bytes().startswith(b"\x89PNG") for path in pictures))

    def test_nothing_is_fetched(self):
        for source in re.findall(r"(?:src|href)='([^']*)'", self.html):
            self.assertRegex(source, r"^(data:image/png;base64,|#)")
        self.assertNotIn("url(", self.html)

    def test_numbers_are_those_of_the_results(self):
        cell = everything()[3]
        seconds = cell["solvers"][0]["summary"]["seconds"]["median"]
        self.assertIn(f"<td>{1e3 * seconds:.2f}</td>", self.html)
        self.assertTrue(re.search(r"fastest peer, turn by turn</td><td>0\.33 \[0\.33\.\.0\.33\]</td>", self.html))

    def test_several_folders_make_one_page(self):
        other = self.folder.parent / (self.folder.name + " parts")
        self.addCleanup(shutil.rmtree, other)
        first, *rest = everything()
        for name, cells in (("one", rest[2:4]), ("two", rest[4:])):
            (other / name).mkdir(parents=True)
            for record in (first, *rest[:2], *cells):
                records.append(other / name / records.NAME, record)
        self.assertEqual(self.report(other).returncode, 0)
        self.assertIn("<b class=''>4</b>cells measured", (other / "report.html").read_text(encoding="utf-8"))

    def test_wrong_use(self):
        empty = self.folder / "empty"
        empty.mkdir()
        for path in (empty, self.folder / "none.jsonl"):
            done = self.report(path)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("report: error:", done.stderr)


class Curves(unittest.TestCase):
    def test_model_lines(self):
        """Bytes over bandwidth and log2(ranks) hops for each all-reduce."""
        cell = latency_cell("a", 0)
        curve = {"solver": "capstan gmres", "model": {"from": 16, "to": 64, "ranks_per_node": 16, "node_gb_s": 100, "hop_us": 2}}
        moved = 20 * (12 * 6400 + 24 * 1000 + 100 * 1000)
        for (ranks, seconds), expected, hops in zip(model_points([cell], curve), (16, 32, 64), (4, 5, 6)):
            self.assertEqual(ranks, expected)
            self.assertAlmostEqual(seconds, moved / (100e9 * ranks / 16) + 20 * 2e-6 * hops)
        # The model's all-reduces are those of many ranks, whatever the smallest cell had to wait for.
        self.assertEqual(model_points([latency_cell("b", 0, ranks=1)], curve), model_points([cell], curve))
        hidden = {**curve, "solver": "capstan pgmres"}  # 200 bytes a row, three reductions under way at once
        moved += 20 * 100 * 1000
        for (ranks, seconds), hops in zip(model_points([cell], hidden), (4, 5, 6)):
            self.assertAlmostEqual(seconds, max(moved / (100e9 * ranks / 16), 20 * 2e-6 * hops / 3))
        self.assertEqual(model_points([cell], {**curve, "solver": "nobody"}), [])
        simulated = {"solver": "capstan gmres", "iteration_us": [[64, 3.0]]}
        self.assertEqual(curve_points([cell], simulated), [[64, 20 * 3e-6]])


class Browser(Page):
    def check(self, told, width):
        self.assertLessEqual(told["width"], width, "nothing to scroll sideways")
        self.assertEqual(len(told["tables"]), self.html.count("<table>"))
        self.assertEqual(len(told["images"]), self.html.count("<img "))
        for left, right, wide, high in told["tables"]:
            self.assertTrue(0 <= left < right <= width + 0.5 and wide > 100 and high > 20, (left, right, wide, high))
        for natural, left, right, wide, high in told["images"]:
            self.assertGreater(natural, 600, "a picture that is there")
            self.assertTrue(0 <= left < right <= width + 0.5 and wide > 500 and high > 80, (left, right, wide, high))
        self.assertEqual(told["outside"], [])

    def test_1280_pixels(self):
        told = self.seen(1280)
        self.check(told, 1280)
        self.assertGreaterEqual(told["font"], 13)

    def test_paper(self):
        told = self.seen(PAPER_WIDTH, "@media all")
        self.check(told, PAPER_WIDTH)
        self.assertGreaterEqual(told["font"], 10)  # 7.5 pt

    def test_pdf(self):
        pdf = self.folder / "report.pdf"
        self.chromium(f"--print-to-pdf={pdf}", "--no-pdf-header-footer", (self.folder / "report.html").as_uri())
        data = pdf.read_bytes()
        pages = len(re.findall(rb"/Type\s*/Page\b(?!s)", data))
        boxes = set(re.findall(rb"/MediaBox\s*\[\s*0 0 (\d+)[\d.]* (\d+)", data))
        self.assertEqual(boxes, {(b"594", b"841")} if (b"594", b"841") in boxes else {(b"595", b"842")}, "A4")
        self.assertGreater(pages, 3)
        different = set(re.findall("src='([^']*)'", self.html))  # the same picture is kept once
        self.assertGreaterEqual(len(re.findall(rb"/Subtype\s*/Image", data)), len(different))
        drawn = 0
        for stream in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", data, re.S):
            try:
                drawn += len(re.findall(rb"\bTj\b|\bTJ\b", zlib.decompress(stream)))
            except zlib.error:
                continue
        self.assertGreater(drawn, 300, "text of tables")


if __name__ == "__main__":
    unittest.main()
