#!/usr/bin/env python3
"""Tests of perf/study/run_embedded on small matrices: counts by hand, tables, wrong use.

usage: test_embedded.py <build folder>. Nothing here depends on how fast anything is.
"""

import csv
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
RUN = pathlib.Path(__file__).resolve().parents[1] / "run_embedded"
sys.path[:0] = [str(RUN.parent), str(RUN.parents[1])]

import embedded_counts  # noqa: E402  pylint: disable=wrong-import-position
import embedded_tables  # noqa: E402  pylint: disable=wrong-import-position
BUILD = None


def grid(folder, side, name="grid.mtx"):
    """A five-point stencil on a square; the path of its file."""
    points = range(1, side * side + 1)
    entries = [f"{i} {i} 4" for i in points]
    entries += [f"{i} {i - 1} -1" for i in points if (i - 1) % side] + [f"{i} {i - side} -1" for i in points if i > side]
    file = pathlib.Path(folder) / name
    file.write_text(f"%%MatrixMarket matrix coordinate real symmetric\n{side ** 2} {side ** 2} {len(entries)}\n" +
                    "\n".join(entries) + "\n", encoding="utf-8")
    return str(file)


def study(*words):
    """Exit status, output, errors, and the rows of embedded.csv."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, str(RUN), "--out", folder, *words], capture_output=True, text=True, check=False,
                              timeout=250, env={**os.environ, "CAPSTAN_BUILD_DIR": BUILD, "CAPSTAN_PROGRESS": "0"})
        file = pathlib.Path(folder) / "embedded.csv"
        rows = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines())) if file.exists() else []
    return done.returncode, done.stdout, done.stderr, rows


class Counts(unittest.TestCase):
    def test_lines_of_a_grid(self):
        """8 x 8 points, a line a rank: 8 values to each neighbour, in the order of the ranks."""
        with tempfile.TemporaryDirectory() as folder:
            status, said, errors, rows = study(grid(folder, 8), "--ranks", "8", "--partition", "contiguous",
                                               "--ranks-per-node", "2")
        self.assertEqual((status, errors), (0, ""), said)
        found = {row["scheme"]: row for row in rows}
        self.assertEqual(list(found), ["conventional", *embedded_counts.MAPPINGS])
        conventional = found["conventional"]
        self.assertEqual(float(conventional["messages_avg"]), 14 / 8 + 3)
        self.assertEqual(float(conventional["messages_max"]), 2 + 3)
        self.assertAlmostEqual(float(conventional["volume_total"]), 14 * 8 / 64, 4)
        self.assertAlmostEqual(float(conventional["volume_max"]), 32 / 64, 4)
        for scheme, row in found.items():
            if scheme == "conventional":
                continue
            self.assertEqual((float(row["messages_avg"]), row["messages_max"]), (3.0, "3"))
            self.assertGreaterEqual(float(row["volume_total"]), float(conventional["volume_total"]))
        for better, worse in (("klf", "random"), ("klr", "random"), ("nodes-klr", "nodes-random")):
            self.assertLess(int(found[better]["cost"]), int(found[worse]["cost"]))
            self.assertLess(float(found[better]["volume_total"]), float(found[worse]["volume_total"]))
        # The middle of a line has two neighbours: 8 values have 3 ranks in each of 6 lines, 2 in the two others.
        self.assertGreaterEqual(int(found["klf"]["cost"]), 6 * 8 * 2 + 2 * 8)
        # Three steps, one within a node.
        self.assertEqual(float(found["nodes-klr"]["network_messages_avg"]), 2.0)

    def test_any_number_of_ranks(self):
        with tempfile.TemporaryDirectory() as folder:
            status, said, errors, rows = study(grid(folder, 12), "--ranks", "1,2,3,12,17", "--ranks-per-node", "4")
        self.assertEqual((status, errors), (0, ""), said)
        most = {(row["ranks"], row["messages_max"]) for row in rows if row["scheme"] == "klr"}
        self.assertEqual(most, {("1", "0"), ("2", "1"), ("3", "2"), ("12", "4"), ("17", "5")})
        again = {(row["ranks"], row["scheme"]): row["volume_total"] for row in rows}
        self.assertEqual(again["1", "klr"], "0")

    def test_small_matrices_are_left_out(self):
        with tempfile.TemporaryDirectory() as folder:
            small, large = grid(folder, 8, "small.mtx"), grid(folder, 16, "large.mtx")
            status, said, errors, rows = study(small, large, "--ranks", "16,32", "--mappings", "klr", "--partition", "contiguous")
            self.assertEqual((status, errors), (0, ""), said)
            self.assertIn("2 matrices: small, large", said)
            self.assertEqual({(row["matrix"], row["ranks"]) for row in rows},
                             {("small", "16"), ("large", "16"), ("large", "32")})
            self.assertEqual({row["scheme"] for row in rows}, {"conventional", "random", "klr"})
            status, said, errors, _ = study(small, "--ranks", "32")
        self.assertEqual((status, said), (2, ""))
        self.assertIn("no matrix has 4 rows a rank", errors)


class Tables(unittest.TestCase):
    def test_of_the_paper(self):
        paper = embedded_tables.published()
        self.assertEqual(tuple(paper), embedded_tables.RANKS)
        self.assertEqual((paper[16]["better_klf"], paper[2048]["time_klf"], paper[1024]["conv_max"]), (39.4, 129.64, 71.1))
        self.assertEqual((paper[512]["total_klr"], paper[2048]["max_klr"], paper[64]["emb"]), (8.673, 0.052, 6))

    def test_averages_give_each_matrix_the_same_weight(self):
        rows = [{"matrix": name, "ranks": 16, "scheme": "klr", "cost": cost, "better_percent": better,
                 "mapping_seconds": seconds, "partition_seconds": 2.0}
                for name, cost, better, seconds in (("a", 1000, 10.0, 1.0), ("b", 10, 30.0, 3.0))]
        averages = embedded_tables.Averages(rows)
        self.assertEqual(averages.of(16, "klr", "better_percent"), 20.0)
        self.assertEqual(averages.time(16, "klr"), 1.0)
        self.assertEqual(averages.matrices(16), 2)
        self.assertIsNone(averages.of(16, "klf", "cost"))


class WrongUse(unittest.TestCase):
    def refused(self, *words, status=2):
        found = study(*words)
        self.assertEqual(found[0], status, found[1] + found[2])
        self.assertEqual(found[1], "")
        return found[2]

    def test_options(self):
        self.assertIn("allowed: a list of random, klf", self.refused("a.mtx", "--mappings", "best"))
        self.assertIn("found '0'; allowed: a whole number from 1 on", self.refused("a.mtx", "--ranks", "0"))
        self.assertIn("--imbalance has no effect on --partition contiguous",
                      self.refused("a.mtx", "--partition", "contiguous", "--imbalance", "0.2"))
        self.assertIn("the following arguments are required: FILE", self.refused())

    def test_files(self):
        self.assertIn("/no/such.mtx", self.refused("/no/such.mtx"))


if __name__ == "__main__":
    BUILD = sys.argv.pop(1)
    unittest.main()
