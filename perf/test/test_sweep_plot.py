#!/usr/bin/env python3
"""Tests of the picture of cells by latency (needs matplotlib): crossovers on made-up times."""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
PERF = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PERF))

from page import sweep_plot  # noqa: E402  pylint: disable=wrong-import-position
from report import plots  # noqa: E402  pylint: disable=wrong-import-position

LATENCIES = [0.0, 100.0, 300.0]
SPREAD = {"median": 2e-3, "min": 1e-3, "max": 9e-3}


def line(*seconds):
    return {"seconds": list(seconds), "spread": [None if value is None else SPREAD for value in seconds]}


def group(name, families, crossings):
    return {"name": name, "families": families, "fastest_peer": line(5e-3, None, 9e-3), "crossings": crossings}


GMRES = group("GMRES", {"p(l)-GMRES": line(4e-3, 2e-3, 6e-3), "classical GMRES": line(2e-3, 4e-3, 4e-3)},
              [{"first": "p(l)-GMRES", "second": "classical GMRES", "first_wins_us": [[50.0, 200.0]]}])
CG = group("CG", {"CG": line(1e-3, None, None)}, [])
SWEPT = {"experiment": "some", "latencies_us": LATENCIES, "ranks": 4, "groups": [GMRES, CG]}


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
        figure = sweep_plot.draw(plots.load_pyplot(), SWEPT)
        gmres, cg = figure.axes
        self.assertEqual(words(gmres), ["p(l)-GMRES", "classical GMRES", sweep_plot.PEER,
                                        "50 us: p(l)-GMRES overtakes classical GMRES",
                                        "200 us: classical GMRES overtakes p(l)-GMRES"])
        self.assertEqual(words(cg), ["CG", sweep_plot.PEER])
        for axes in figure.axes:
            self.assertIn(", us", axes.get_xlabel())
            self.assertNotEqual(axes.get_ylabel(), "")


if __name__ == "__main__":
    unittest.main()
