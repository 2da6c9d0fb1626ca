#!/usr/bin/env python3
"""Tests of cells by latency: crossovers and tables on made-up times."""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
PERF = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PERF))

from campaign import sweep  # noqa: E402  pylint: disable=wrong-import-position

from report import solvers  # noqa: E402  pylint: disable=wrong-import-position

LATENCIES = [0.0, 100.0, 300.0]


def solver(name, library, method, seconds, **changes):
    sample = {"turn": 1, "position": 0, "seconds": seconds, "iterations": 10, "claimed_converged": True,
              "relative_residual": 1e-7, "reductions_blocking": 20, "reductions_nonblocking": 0, "failure": None}
    return {"name": name, "method": method, "library": library, "group": "CG" if " CG" in f" {method}" else "GMRES",
            "tolerance": 1e-6, "parameters": changes.pop("parameters", {}), "details": None, "first": {"failure": None},
            "samples": [{**sample, **changes}]}


def cell(latency, seconds, **changes):
    """`seconds`: of p(1)-GMRES, p(3)-GMRES, pipelined CA-GMRES, two peers, one of which lies, CG and p(1)-CG."""
    made = [
        solver("p1", "capstan", "CAPSTAN GMRES PIPELINE", seconds[0], parameters={"Pipeline Depth": "1"}),
        solver("p3", "capstan", "CAPSTAN GMRES PIPELINE", seconds[1], parameters={"Pipeline Depth": "3"}),
        solver("ca", "capstan", "CAPSTAN GMRES S-STEP PIPELINE", seconds[2], parameters={"Step Size": "5"}),
        solver("s5", "capstan", "CAPSTAN GMRES S-STEP", seconds[2] * 2, parameters={"Step Size": "5"}),
        solver("peer", "belos", "BLOCK GMRES", seconds[3]),
        solver("liar", "petsc", "pgmres", seconds[4], relative_residual=0.9),
        solver("cg", "capstan", "CAPSTAN CG", seconds[5]),
        solver("cg pipeline", "capstan", "CAPSTAN CG PIPELINE", seconds[6], **changes),
    ]
    return {"status": "done", "experiment": "made up", "preconditioner": "none", "transport": "shm", "ranks": 4, "latency_us": latency,
            "solvers": solvers.summarize({"solvers": made})["solvers"]}


class Crossovers(unittest.TestCase):
    def test_ranges(self):
        cases = [(([2, 2, 2], [1, 1, 1]), [], "at no latency measured"),
                 (([1, 1, 1], [2, 2, 2]), [(None, None)], "at every latency measured"),
                 (([4, 4, 4], [3, 5, 9]), [(50.0, None)], "from about 50 us on"),
                 (([3, 5, 9], [4, 4, 4]), [(None, 50.0)], "up to about 50 us"),
                 (([2, 1, 4], [1, 2, 2]), [(50.0, 500 / 3)], "between about 50 and 167 us"),
                 (([1, 2, 1], [2, 1, 3]), [(None, 50.0), (500 / 3, None)], "up to about 50 us and from about 167 us on")]
        for (ours, theirs), expected, words in cases:
            with self.subTest(words=words):
                found = sweep.wins(LATENCIES, ours, theirs)
                self.assertEqual(len(found), len(expected))
                for one, other in zip(found, expected):
                    for end, wanted in zip(one, other):
                        self.assertEqual(end is None, wanted is None)
                        if end is not None:
                            self.assertAlmostEqual(end, wanted)
                self.assertEqual(sweep.phrase(found), words)

    def test_gaps_and_ties(self):
        self.assertEqual(sweep.wins(LATENCIES, [4, None, 4], [3, 9, 7]), [(75.0, None)])
        self.assertEqual(sweep.wins(LATENCIES, [None] * 3, [1, 2, 3]), [])
        self.assertEqual(sweep.wins(LATENCIES, [1, 1, 1], [1, 1, 1]), [])
        self.assertEqual(sweep.wins(LATENCIES, [1, 1, 1], [1, 1, 2]), [(100.0, None)])


class Summary(unittest.TestCase):
    def setUp(self):
        # Not in order, as runs may be; the last p(1)-CG did not converge.
        self.cells = [cell(300.0, [9, 3, 2, 10, 1, 6, 3], claimed_converged=False), cell(0.0, [1, 2, 4, 2, 1, 2, 4]),
                      cell(100.0, [3, 2, 2.5, 5, 1, 4, 3])]
        (series,) = sweep.series(self.cells, "latency_us")
        self.swept = sweep.summarize(series)
        self.gmres, self.cg = self.swept["groups"]

    def test_peers(self):
        self.assertEqual(self.swept["latencies_us"], LATENCIES)
        self.assertEqual((self.gmres["fastest_peer"]["seconds"], self.gmres["fastest_peer"]["names"]), ([2, 5, 10], ["peer"] * 3))
        self.assertEqual(self.gmres["own_over_peer"], [0.5, 0.4, 0.2])
        self.assertEqual(self.cg["fastest_peer"]["names"], [None] * 3)
        self.assertEqual(self.cg["own_over_peer"], [None] * 3)

    def test_families_take_their_best(self):
        family = self.gmres["families"]["p(l)-GMRES"]
        self.assertEqual((family["seconds"], family["names"]), ([1, 2, 3], ["p1", "p3", "p3"]))
        self.assertEqual(family["spread"][2], {"median": 3, "upper_quartile": 3, "min": 3, "max": 3})
        self.assertNotIn("classical GMRES", self.gmres["families"])
        self.assertEqual(self.cg["families"]["p(l)-CG"]["seconds"], [4, 3, None])

    def test_crossovers_are_named(self):
        texts = [one["text"] for group in (self.gmres, self.cg) for one in group["crossings"]]
        self.assertEqual(texts, ["pipelined CA-GMRES beats p(l)-GMRES from about 167 us on",
                                 "pipelined CA-GMRES beats s-step GMRES at every latency measured",
                                 "p(l)-CG beats CG from about 67 us on"])

    def test_methods_without_a_word_of_their_own_take_part(self):
        made = [solver("b", "capstan", "CAPSTAN BICGSTAB", 1), solver("p", "capstan", "CAPSTAN BICGSTAB PIPELINE", 2),
                solver("peer", "belos", "BICGSTAB", 3)]
        one = {**self.cells[0], "solvers": solvers.summarize({"solvers": [{**each, "group": "BiCGStab"} for each in made]})["solvers"]}
        (group,) = sweep.summarize([one])["groups"]
        self.assertEqual({name: line["seconds"] for name, line in group["families"].items()},
                         {"CAPSTAN BICGSTAB": [1], "CAPSTAN BICGSTAB PIPELINE": [2]})
        self.assertEqual([one["text"] for one in group["crossings"]],
                         ["CAPSTAN BICGSTAB PIPELINE beats CAPSTAN BICGSTAB at no latency measured"])

    def test_table(self):
        text = "\n".join(sweep.lines(self.cells))
        self.assertIn("EMULATED latency, made up, 4 ranks", text)
        self.assertRegex(text, r"GMRES: ms, then a ratio +0 us +100 us +300 us")
        self.assertRegex(text, r"p\(l\)-GMRES +1000\.00 +2000\.00 +3000\.00")
        self.assertRegex(text, r"p\(l\)-CG +4000\.00 +3000\.00 +-")
        self.assertRegex(text, r"Capstan's fastest / fastest peer +0\.50 +0\.40 +0\.20")

    def test_what_is_no_series(self):
        self.assertEqual(sweep.lines(self.cells[:1]), [])
        self.assertEqual(sweep.lines([self.cells[0], {**self.cells[1], "status": "failed"}]), [])
        self.assertEqual(sweep.lines([self.cells[0], {**self.cells[1], "ranks": 2}]), [])


if __name__ == "__main__":
    unittest.main()
