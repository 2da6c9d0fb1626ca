#!/usr/bin/env python3
"""Tests of perf/study/run on small matrices: counts by hand, what the paper says, wrong use.

usage: test_study.py <build folder>. Nothing here depends on how fast anything is.
"""

import csv
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
RUN = pathlib.Path(__file__).resolve().parents[1] / "run"
sys.path[:0] = [str(RUN.parent), str(RUN.parents[1])]

import paper  # noqa: E402  pylint: disable=wrong-import-position
import plans  # noqa: E402  pylint: disable=wrong-import-position
from report import processes  # noqa: E402  pylint: disable=wrong-import-position
BUILD = None
LAPLACE = ("--generate", "laplace2d", "--cells", "8", "--ranks", "8", "--ranks-per-node", "2")


def study(*words):
    """Exit status, output, errors, and the rows of study.csv."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, str(RUN), "--out", folder, *words], capture_output=True, text=True, check=False,
                              timeout=250, env={**os.environ, "CAPSTAN_BUILD_DIR": BUILD, "CAPSTAN_PROGRESS": "0"})
        file = pathlib.Path(folder) / "study.csv"
        rows = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines())) if file.exists() else []
        names = sorted(path.name for path in pathlib.Path(folder).iterdir())
    return done.returncode, done.stdout, done.stderr, rows, names


class Counts(unittest.TestCase):
    def test_lines_of_a_grid(self):
        """8 x 8 points, a line a rank, two lines a node: 8 values to each neighbour."""
        status, said, errors, rows, _ = study(*LAPLACE, "--columns", "2", "--check")
        self.assertEqual((status, errors), (0, ""))
        self.assertIn("64 rows, 288 entries", said)
        self.assertEqual([row["strategy"] for row in rows], ["standard", "two-step", "three-step", "optimal"])
        for row in rows:
            self.assertEqual(row["network_messages_total"], "6", row["strategy"])  # 3 borders, both ways
            self.assertEqual(row["network_bytes_total"], str(6 * 8 * 2 * 8))
            self.assertEqual(row["network_messages_most_of_a_node"], "2")
            self.assertEqual((row["ranks"], row["nodes"], row["columns"], row["most_rows"]), ("8", "4", "2", "8"))
        self.assertEqual(rows[0]["on_node_messages_total"], "8")

    def test_a_node_hears_a_value_once(self):
        """A star mesh, numbered so that everybody needs something of everybody: what standard sends twice to a node, the
        others send once; three-step sends one message to a node at most."""
        status, _, errors, rows, _ = study("--cells", "8", "--ranks", "32,40", "--ranks-per-node", "4", "--columns", "1,20",
                                           "--check", "--eager-limit", "2000")
        self.assertEqual((status, errors), (0, ""))
        found = {(row["strategy"], row["ranks"], row["columns"]): row for row in rows}
        for ranks in ("32", "40"):
            standard, two, three, optimal = (found[name, ranks, "20"] for name in
                                             ("standard", "two-step", "three-step", "optimal"))
            self.assertLess(int(two["network_bytes_total"]), int(standard["network_bytes_total"]))
            for other in (three, optimal):
                self.assertEqual(other["network_bytes_total"], two["network_bytes_total"])
            self.assertEqual(three["most_between_nodes"], "1")
            least, most = int(three["network_messages_most_of_a_rank"]), int(optimal["network_messages_most_of_a_rank"])
            self.assertLessEqual(least, most)  # inequality (4.4)
            self.assertLessEqual(most, max(int(two["most_nodes_of_a_rank"]), 4))

    def test_blocks_make_messages_larger_not_more(self):
        rows = study("--cells", "4", "--degree", "1", "--ranks", "16", "--columns", "1,10", "--machine", "none")[3]
        for one, ten in zip(rows[0:6:2], rows[1:6:2]):
            self.assertEqual((one["strategy"], one["columns"], ten["columns"]), (ten["strategy"], "1", "10"))
            self.assertEqual(one["network_messages_total"], ten["network_messages_total"])
            self.assertEqual(10 * int(one["network_bytes_total"]), int(ten["network_bytes_total"]))
        self.assertNotIn("percent", rows[0])

    def test_files_and_graphs(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "line.mtx"
            entries = [f"{i} {i - 1} -1" for i in range(2, 9)] + [f"{i} {i} 2" for i in range(1, 9)]
            file.write_text("%%MatrixMarket matrix coordinate integer symmetric\n8 8 15\n" + "\n".join(entries) + "\n",
                            encoding="utf-8")
            for partition in ("contiguous", "graph"):
                words = ("--matrix", str(file), "--ranks", "4", "--ranks-per-node", "1", "--columns", "1", "--check")
                status, said, errors, rows, _ = study(*words, "--partition", partition)
                if "graph: built without Scotch" in errors or "not in {contiguous}" in errors:
                    self.skipTest("built without Scotch")
                self.assertEqual((status, errors), (0, ""))
                self.assertIn("8 rows, 22 entries", said)
                self.assertEqual(rows[0]["network_messages_total"], "6", partition)

    def test_more_ranks_than_rows(self):
        status, _, errors, rows, _ = study("--generate", "laplace2d", "--cells", "3", "--ranks", "50", "--ranks-per-node", "7",
                                           "--columns", "1", "--check")
        self.assertEqual((status, errors), (0, ""))
        self.assertEqual({row["network_bytes_most_of_a_rank"] != "0" for row in rows}, {True})


class Models(unittest.TestCase):
    def test_shares_add_up(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "m.yaml"
            file.write_text("machine: m\nsource: made up\nflop_time: 1e-9\nnetwork: {latency: 1e-6, rate: 1e9}\n"
                            "on_node: {latency: 1e-7, rate: 1e10}\n", encoding="utf-8")
            rows = study(*LAPLACE, "--columns", "1", "--machine", str(file))[3]
        standard = rows[0]
        # Equation (3.4): two messages of 8 values to other nodes at most by a rank of two, 36 entries and 8 rows a rank.
        exchange = 1e-6 + 64 / 1e9
        computation = 1e-9 * (2 * 288 / 8 + 8 * 64 / 8 + 0.5 + 1 / 3)
        reductions = 2 * 1e-6 * 3 + 32 / 1e9
        self.assertAlmostEqual(float(standard["exchange_seconds"]) / exchange, 1, 4)
        self.assertAlmostEqual(float(standard["computation_seconds"]) / computation, 1, 4)
        self.assertAlmostEqual(float(standard["reductions_seconds"]) / reductions, 1, 4)
        self.assertAlmostEqual(float(standard["percent"]), 100 * exchange / (exchange + computation + reductions), 2)

    def test_tables_of_the_paper(self):
        shares = paper.shares()
        self.assertEqual(len(shares), 96)
        self.assertEqual(shares["two-step", "modelled", 256, 5], 42.2)
        self.assertEqual(shares["three-step", "modelled", 8192, 20], 48.8)
        self.assertEqual(shares["standard", "measured", 1024, 15], 66.7)
        self.assertEqual(shares["tuned", "measured", 4096, 10], 59.7)

    def test_fit_wants_the_paper_s_example(self):
        small = plans.Study("m", 64, 288, "contiguous", 8192, 16, [])
        with self.assertRaises(processes.Misuse) as raised:
            paper.fit(small)
        self.assertIn("allowed: Example 2.1", str(raised.exception))

    def test_fit_finds_the_machine_that_made_the_shares(self):
        def tallies(messages, size):
            return {"messages": {"total": 0, "most_of_a_rank": messages, "most_of_a_node": 16 * messages},
                    "bytes": {"total": 0, "most_of_a_rank": size, "most_of_a_node": 12 * size}}

        lines = []
        for ranks in paper.RANKS:
            plan = []
            for t in paper.COLUMNS:
                size = 5000000 // ranks + 40 * ranks ** 0.5
                for strategy, messages, share in (("standard", 60, 3), ("two-step", 20, 1), ("three-step", 3, 4)):
                    plan.append({"strategy": strategy, "columns": t, "network": tallies(messages, share * size * t),
                                 "on_node": tallies(4, size * t), "most_nodes_of_a_rank": messages + ranks ** 0.5,
                                 "most_between_nodes": 1, "most_bytes_between_nodes": 3 * size * t})
            lines.append({"ranks": ranks, "plans": plan})
        example = plans.Study("m", paper.ROWS, paper.ENTRIES, "contiguous", 8192, paper.RANKS_PER_NODE, lines)
        truth = paper._machine([9, 0.5, -1, 7, 0.1, 1, 8])  # pylint: disable=protected-access
        made = dict.fromkeys((key for key in paper.shares() if key[1] == "modelled" or key[0] == "standard"), 0.0)
        for strategy, kind, ranks, t in made:
            one = next(p for line in lines if line["ranks"] == ranks for p in line["plans"]
                       if (p["strategy"], p["columns"]) == (strategy, t))
            made[strategy, kind, ranks, t] = paper._modelled(truth, [{"ranks": ranks, "plan": one}])[0]
        found = paper.fit(example, made)
        self.assertLess(found.deviation, 0.05)
        self.assertLess(found.standard, 5)
        self.assertGreater(found.narrow, found.deviation)

    def test_picture(self):
        status, _, errors, _, names = study(*LAPLACE, "--plots", "--columns", "1,5")
        self.assertEqual((status, errors), (0, ""))
        self.assertEqual(names, ["shares.png", "study.csv", "table.txt"])


class WrongUse(unittest.TestCase):
    def refused(self, *words, status=2):
        found = study(*words)
        self.assertEqual(found[0], status, found[1] + found[2])
        self.assertEqual(found[1], "")
        return found[2]

    def test_help(self):
        status, text, errors, _, _ = study("--help")
        self.assertEqual((status, errors), (0, ""))
        for option in ("--matrix", "--ranks", "--partition", "--machine", "--fit", "--plots"):
            self.assertIn(option, text)

    def test_options(self):
        self.assertIn("found '0'; allowed: a whole number from 1 on", self.refused("--ranks-per-node", "0"))
        self.assertIn("allowed: whole numbers from 1 to 65536", self.refused("--ranks", "70000"))
        self.assertIn("--cells has no effect with --matrix", self.refused("--matrix", "a.mtx", "--cells", "3"))
        self.assertIn("--degree has no effect on laplace2d", self.refused("--generate", "laplace2d", "--degree", "2"))
        self.assertIn("leave out --machine", self.refused("--fit", "--machine", "lassen"))
        self.assertIn("allowed: the same power of two", self.refused("--cells", "6", "--ranks", "4"))
        self.assertIn("laplace2d", self.refused("--generate", "laplace", "--ranks", "4"))

    def test_files(self):
        self.assertIn("/no/such.mtx", self.refused("--matrix", "/no/such.mtx"))
        self.assertIn("cannot be made", self.refused(*LAPLACE, "--out", "/proc/none"))

    def test_machines(self):
        said = self.refused(*LAPLACE, "--machine", "blue_waters")
        self.assertIn("blue_waters.yaml: network, on_node, flop_time: not given, but the models need them", said)
        self.assertIn("did you mean lassen?", self.refused(*LAPLACE, "--machine", "lasen"))

    def test_not_built(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, str(RUN), *LAPLACE], capture_output=True, text=True, check=False,
                                  env={**os.environ, "CAPSTAN_BUILD_DIR": folder})
        self.assertEqual(done.returncode, 3)
        self.assertIn("not built", done.stderr)


if __name__ == "__main__":
    BUILD = sys.argv.pop(1)
    unittest.main()
