#!/usr/bin/env python3
"""Tests of the latency sweep: crossovers, ratios and table on made-up times, and a quick run whose results are looked at.

usage: test_sweep.py <build folder> [arguments of unittest]. Nothing here depends on how fast anything is.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
PERF = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PERF))

from report import files, solvers, sweep, sweep_table  # noqa: E402  pylint: disable=wrong-import-position

BUILD = None
LATENCIES = [0.0, 100.0, 300.0]


def solver(name, library, method, seconds, **changes):
    sample = {"turn": 1, "position": 0, "seconds": seconds, "iterations": 10, "claimed_converged": True,
              "relative_residual": 1e-7, "reductions_blocking": 20, "reductions_nonblocking": 0, "failure": None}
    return {"name": name, "method": method, "library": library, "group": "CG" if " CG" in f" {method}" else "GMRES",
            "tolerance": 1e-6, "parameters": changes.pop("parameters", {}), "details": None, "first": {"failure": None},
            "samples": [{**sample, **changes}]}


def campaign(latency, seconds, **changes):
    """`seconds`: of p(1)-GMRES, p(3)-GMRES, pipelined CA-GMRES, two peers, one of which lies, CG and p(1)-CG."""
    made = [
        solver("p1", "capstan", "CAPSTAN GMRES PIPELINE", seconds[0], parameters={"Pipeline Depth": "1"}),
        solver("p3", "capstan", "CAPSTAN GMRES PIPELINE", seconds[1], parameters={"Pipeline Depth": "3"}),
        solver("ca", "capstan", "CAPSTAN GMRES S-STEP PIPELINE", seconds[2], parameters={"Step Size": "5"}),
        solver("s5", "capstan", "CAPSTAN GMRES S-STEP", seconds[2] * 2, parameters={"Step Size": "5"}),
        solver("peer", "belos", "BLOCK GMRES", seconds[3]),
        solver("liar", "petsc", "pgmres", seconds[4], relative_residual=0.9),
        solver("cg", "capstan", "CAPSTAN CG", seconds[5]),
        solver("pcg", "capstan", "CAPSTAN CG PIPELINE", seconds[6], **changes),
    ]
    system = solvers.summarize({"name": "made up", "rows": 8, "entries": 20, "solvers": made})
    return {"name": "some", "ranks": 4, "emulated_latency_us": latency, "systems": [system]}


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
        self.runs = [campaign(300.0, [9, 3, 2, 10, 1, 6, 3], claimed_converged=False), campaign(0.0, [1, 2, 4, 2, 1, 2, 4]),
                     campaign(100.0, [3, 2, 2.5, 5, 1, 4, 3])]
        (self.sweep,) = sweep.summarize(self.runs)
        (system,) = self.sweep["systems"]
        self.gmres, self.cg = system["groups"]

    def test_peers_and_ratios(self):
        self.assertEqual(self.sweep["latencies_us"], LATENCIES)
        self.assertEqual(self.gmres["fastest_peer"], {"seconds": [2, 5, 10], "names": ["peer"] * 3})
        self.assertEqual(self.gmres["own_over_peer"], [0.5, 0.4, 0.2])
        by_name = {row["name"]: row for row in self.gmres["solvers"]}
        self.assertEqual(by_name["p3"]["over_fastest_peer"], [1, 0.4, 0.3])
        self.assertEqual(by_name["liar"]["seconds"], [None] * 3)
        self.assertEqual(self.cg["fastest_peer"]["names"], [None] * 3)
        self.assertEqual(self.cg["own_over_peer"], [None] * 3)

    def test_families_take_their_best(self):
        self.assertEqual(self.gmres["families"]["p(l)-GMRES"], {"seconds": [1, 2, 3], "names": ["p1", "p3", "p3"]})
        self.assertNotIn("classical GMRES", self.gmres["families"])
        self.assertEqual(self.cg["families"]["p(l)-CG"]["seconds"], [4, 3, None])

    def test_crossovers_are_named(self):
        texts = [duel["text"] for group in (self.gmres, self.cg) for duel in group["duels"]]
        self.assertEqual(texts, ["pipelined CA-GMRES beats p(l)-GMRES from about 167 us on",
                                 "pipelined CA-GMRES beats s-step GMRES at every latency measured",
                                 "p(l)-CG beats CG from about 67 us on"])

    def test_ratios_of_the_paper(self):
        ratios = {ratio["name"]: ratio for ratio in self.gmres["ratios"]}
        best = ratios["best p(l)-GMRES over best pipelined CA-GMRES"]
        self.assertEqual((best["values"], best["paper"]), ([0.25, 0.8, 1.5], "up to 1.67"))
        same = ratios["s-step GMRES s=5 over pipelined CA-GMRES (5,1)"]
        self.assertEqual((same["values"], same["paper"]), ([2, 2, 2], "up to 1.22"))
        self.assertNotIn("s-step GMRES s=10 over pipelined CA-GMRES (5,1)", ratios)
        self.assertEqual([ratio["values"] for ratio in self.cg["ratios"]], [[2, 0.75, None]])

    def test_methods_without_a_word_of_their_own_take_part(self):
        made = [solver("b", "capstan", "CAPSTAN BICGSTAB", 1), solver("p", "capstan", "CAPSTAN BICGSTAB PIPELINE", 2),
                solver("peer", "belos", "BICGSTAB", 3)]
        group = sweep._group("BiCGStab", [0.0], [solvers.summarize({"rows": 8, "entries": 20, "solvers": made})["solvers"]])
        self.assertEqual({name: line["seconds"] for name, line in group["families"].items()},
                         {"CAPSTAN BICGSTAB": [1], "CAPSTAN BICGSTAB PIPELINE": [2]})
        self.assertEqual([duel["text"] for duel in group["duels"]],
                         ["CAPSTAN BICGSTAB PIPELINE beats CAPSTAN BICGSTAB at no latency measured"])

    def test_table(self):
        text = "\n".join(sweep_table.lines(self.sweep))
        self.assertTrue(text.startswith("EMULATED latency, campaign some, made up, 4 ranks"))
        self.assertRegex(text, r"GMRES solver +library +0 us +100 us +300 us")
        self.assertRegex(text, r"p3 +capstan +2000\.0 \(1\.00\) +2000\.0 \(0\.40\) +3000\.0 \(0\.30\)")
        self.assertRegex(text, r"liar +petsc +not solved +not solved +not solved")
        self.assertRegex(text, r"best pipelined CA-GMRES +0\.25 +0\.80 +1\.50 +up to 1\.67")
        self.assertIn("Tsubame2", text)

    def test_applications(self):
        """Those of M where someone has one, else of A; "-" for who makes none or does not tell."""
        for key, what in (("preconditioner_applications", "M"), ("operator_applications", "A")):
            runs = [campaign(latency, [1, 2, 4, 2, 1, 2, 4]) for latency in (0.0, 100.0)]
            for run, later in zip(runs, (11, 12.5)):
                for one in run["systems"][0]["solvers"]:
                    one["summary"][key] = {"first": 14, "later": later} if one["name"] == "cg" else {"first": 0, "later": 0}
            (found,) = sweep.summarize(runs)
            text = "\n".join(sweep_table.lines(found))
            self.assertRegex(text, rf"CG: applications of {what}, first solve/mean of the later ones +0 us +100 us")
            self.assertRegex(text, r"cg +14/11 +14/12\.5")
            self.assertRegex(text, r"pcg +- +-")
            self.assertNotIn("GMRES: applications", text)

    def test_what_is_no_sweep(self):
        self.assertEqual(sweep.summarize(self.runs[:1]), [])
        self.assertEqual(sweep.summarize([{**run, "emulated_latency_us": None} for run in self.runs]), [])
        without = {**self.runs[0], "systems": []}
        self.assertEqual(sweep.summarize([without, *self.runs[1:]])[0]["systems"], [])


class Run(unittest.TestCase):
    def test_quick_run(self):
        with tempfile.TemporaryDirectory(prefix="capstan sweep ") as folder:
            words = ["--quick", "--latency", "300,0", "--ranks", "2", "--repeat", "2", "--petsc", "off", "--out", folder]
            done = subprocess.run([sys.executable, str(PERF / "bench"), *words], capture_output=True, text=True, check=False,
                                  env={**os.environ, "CAPSTAN_BUILD_DIR": str(BUILD)})
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            results = json.loads((pathlib.Path(folder) / "results.json").read_text(encoding="utf-8"))
            short = json.loads((pathlib.Path(folder) / "summary.json").read_text(encoding="utf-8"))
        self.assertIn("EMULATED latency, campaign quick", done.stdout)
        self.assertEqual(results["kernels"], [])
        self.assertEqual(short["sweeps"], files.rounded(results["sweeps"]))
        self.assertEqual(results["sweeps"][0]["latencies_us"], [0, 300])
        plain, slow = results["campaigns"]
        self.assertIsNone(plain["emulation"])
        self.assertEqual(slow["emulation"], {"CAPSTAN_LATENCY_US": "300"})
        for one in slow["systems"][0]["solvers"]:
            for sample in one["samples"]:
                # Blocking all-reduces follow each other: a lower bound that holds on the busiest machine.
                self.assertGreaterEqual(sample["seconds"], 300e-6 * sample["reductions_blocking"], one["name"])


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
