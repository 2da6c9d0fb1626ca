#!/usr/bin/env python3
"""Tests of the picture of a latency sweep (needs matplotlib): crossovers on made-up times, and perf/figures/latency."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
PERF = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PERF))

from report import plots, sweep_plot  # noqa: E402  pylint: disable=wrong-import-position

LATENCIES = [0.0, 100.0, 300.0]
KEPT = sorted((PERF / "results").glob("*-latency.json"))


def line(*seconds):
    return {"seconds": list(seconds), "names": [None if value is None else "some" for value in seconds]}


def group(name, families, duels, ratios=()):
    spread = {"median": 2e-3, "min": 1e-3, "max": 9e-3}
    return {"name": name, "families": families, "fastest_peer": line(5e-3, None, 9e-3), "duels": duels, "ratios": list(ratios),
            "solvers": [{"name": "some", "spread": [spread] * 3}]}


GMRES = group("GMRES", {"p(l)-GMRES": line(4e-3, 2e-3, 6e-3), "classical GMRES": line(2e-3, 4e-3, 4e-3)},
              [{"first": "p(l)-GMRES", "second": "classical GMRES", "first_wins_us": [[50.0, 200.0]]}],
              [{"name": "one over another", "values": [1.0, None, 1.5], "paper": "up to 1.67"}])
CG = group("CG", {"CG": line(1e-3, None, None)}, [])
SWEEP = {"campaign": "some", "latencies_us": LATENCIES, "ranks": 4, "systems": [{"name": "made up", "groups": [GMRES, CG]}]}
MACHINE = {"cores": 4, "processor": "Abacus"}


def words(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


class Drawing(unittest.TestCase):
    def test_crossovers_have_winner_and_loser(self):
        self.assertEqual([(at, text) for at, _, text in sweep_plot.crossovers(GMRES)],
                         [(50.0, "50 us: p(l)-GMRES overtakes classical GMRES"),
                          (200.0, "200 us: classical GMRES overtakes p(l)-GMRES")])

    def test_both_lines_meet_in_a_crossover(self):
        for at in (50.0, 200.0):
            heights = [sweep_plot.between(LATENCIES, one["seconds"], at) for one in GMRES["families"].values()]
            self.assertAlmostEqual(*heights)
        self.assertEqual(sweep_plot.between(LATENCIES, [1, None, 4], 100), 2)
        self.assertIsNone(sweep_plot.between(LATENCIES, [1, None, None], 100))

    def test_panels(self):
        figure = sweep_plot.draw(plots.load_pyplot(), SWEEP, SWEEP["systems"][0], MACHINE)
        gmres, cg, paper = figure.axes
        self.assertEqual(words(gmres), ["p(l)-GMRES", "classical GMRES", sweep_plot.PEER,
                                        "50 us: p(l)-GMRES overtakes classical GMRES",
                                        "200 us: classical GMRES overtakes p(l)-GMRES"])
        self.assertEqual(words(cg), ["CG", sweep_plot.PEER])
        self.assertEqual(words(paper), ["one over another"])
        self.assertEqual([text.get_text() for text in paper.texts], ["paper: up to 1.67"])
        self.assertIn("EMULATED latency: made up, 4 ranks on 4 cores", figure.get_suptitle()
                      if hasattr(figure, "get_suptitle") else figure._suptitle.get_text())  # matplotlib before 3.8
        for axes in figure.axes:
            self.assertIn(", us", axes.get_xlabel())
            self.assertNotEqual(axes.get_ylabel(), "")


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="capstan plot ")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def call(self, *arguments):
        return subprocess.run([sys.executable, str(PERF / "figures" / "latency"), *map(str, arguments)], capture_output=True,
                              text=True, check=False, timeout=120)

    def write(self, content):
        file = self.folder / "summary.json"
        file.write_text(content, encoding="utf-8")
        return file

    def test_the_kept_results_can_be_drawn(self):
        self.assertTrue(KEPT)
        for file in KEPT:
            done = self.call(file, "--out", self.folder / "kept.png")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual((self.folder / "kept.png").read_bytes()[:8], b"\x89PNG\r\n\x1a\n")

    def test_the_picture_lies_beside_the_file(self):
        file = self.write(json.dumps({"machine": MACHINE, "sweeps": [SWEEP]}))
        self.assertEqual(self.call(file).returncode, 0)
        self.assertTrue(file.with_suffix(".png").is_file())

    def test_wrong_use(self):
        several = json.dumps({"machine": MACHINE, "sweeps": [SWEEP, {**SWEEP, "systems": [{"name": "other", "groups": []}]}]})
        for content, more, expected in (("{", (), "is no results.json"), ('{"a": 1}', (), "is no results.json"),
                                        ('{"sweeps": []}', (), "holds no latency sweep"),
                                        (several, (), "--system: found nothing; allowed: 'made up', 'other'"),
                                        (several, ("--system", "mad"), "--system: found 'mad'; allowed: 'made up', 'other'"),
                                        (several, ("--system", "made up", "--out", "a.jpeg"), "ends in .png or .svg")):
            with self.subTest(expected=expected):
                done = self.call(self.write(content), *more)
                self.assertEqual(done.returncode, 2)
                self.assertIn(expected, done.stderr)
        self.assertIn("cannot be read: No such file", self.call(self.folder / "nothing.json").stderr)


if __name__ == "__main__":
    unittest.main()
