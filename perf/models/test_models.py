#!/usr/bin/env python3
"""Tests of perf/models: equations by hand, descriptions of machines, calibration, and a quick run on two ranks.

usage: test_models.py <build folder>. Nothing here depends on how fast anything is.
"""

import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from models import calibration, embedding, equations, machines, prediction  # noqa: E402  pylint: disable=wrong-import-position
from report import processes  # noqa: E402  pylint: disable=wrong-import-position
BUILD = None
NETWORK = machines.Link(latency=2e-6, rate=1e9, injection_rate=4e9)
ON_NODE = machines.Link(latency=1e-6, rate=2e9)


class Equations(unittest.TestCase):
    """Every number below is worked out by hand."""

    def close(self, found, wanted):
        self.assertLess(abs(found / wanted - 1), 1e-12, f"{found} {wanted}")

    def test_postal(self):
        self.close(equations.postal(3, 4000, 1e-6, 2e9), 3e-6 + 2e-6)

    def test_max_rate(self):
        self.close(equations.max_rate(3, 4000, 2, 2e-6, 1e9, 4e9), 6e-6 + 4e-6)  # 2 * 4000 / 4e9 is less
        self.close(equations.max_rate(3, 4000, 8, 2e-6, 1e9, 4e9), 6e-6 + 8e-6)
        self.close(equations.max_rate(3, 4000, 8, 2e-6, 1e9, math.inf), 6e-6 + 4e-6)

    def test_two_step(self):
        # 2.8: 5 nodes; the node sends 40000 bytes, a rank 4000; 4 ranks a node.
        self.close(equations.two_step(5, 40000, 4000, 4, NETWORK, ON_NODE), 10e-6 + 10e-6 + 3e-6 + 2e-6)
        # 4.2 with t = 10: 100e-6 by the card, 40e-6 by the rank.
        self.close(equations.two_step(5, 40000, 4000, 4, NETWORK, ON_NODE, 10), 10e-6 + 100e-6 + 3e-6 + 20e-6)

    def test_three_step(self):
        # 2.7: one message between nodes, of 8000 bytes at most; 4 ranks a node.
        self.close(equations.three_step(1, 40000, 12000, 8000, 4, NETWORK, ON_NODE), 0.5e-6 + 12e-6 + 2 * (3e-6 + 4e-6))
        # 4.3
        self.close(equations.three_step(1, 40000, 8000, 8000, 4, NETWORK, ON_NODE, 5), 0.5e-6 + 50e-6 + 2 * (3e-6 + 20e-6))

    def test_reductions(self):
        self.close(equations.reductions(8, 10, 2e-6, 1e9), 2 * 2e-6 * 3 + 8 * 4 * 100 / 1e9)

    def test_computation(self):
        # 3.3: n / p = 100, nnz / p = 500, t = 3: 3000 + (12 + 36) * 100 + 4.5 + 9.
        self.close(equations.computation(800, 4000, 8, 3, 1e-9), (3000 + 4800 + 4.5 + 9) * 1e-9)
        self.close(equations.computation(800, 4000, 8, 3, 1e-9, 2e-9), 3000e-9 + 2 * (4800 + 4.5 + 9) * 1e-9)

    def test_iteration(self):
        reductions, exchange = 12e-6 + 0.288e-6, 6e-6 + 12e-6  # t = 3: 3 messages, 4000 bytes, 8 ranks
        self.close(equations.ecg_max_rate(3, 4000, 8, 2, 3, NETWORK), exchange + reductions)
        self.close(equations.ecg_max_rate(3, 4000, 8, 8, 3, NETWORK), 6e-6 + 24e-6 + reductions)
        self.close(equations.ecg(3, 4000, 800, 4000, 8, 2, 3, NETWORK, 1e-9),
                   exchange + reductions + (3000 + 4800 + 4.5 + 9) * 1e-9)

    def test_share(self):
        self.assertEqual(equations.share(1, 2, 1), 25)


class Machines(unittest.TestCase):
    def read(self, text):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "m.yaml"
            file.write_text(text, encoding="utf-8")
            return machines.read(str(file))

    def refused(self, text):
        with self.assertRaises(processes.Misuse) as raised:
            self.read("machine: m\nsource: s\n" + text)
        return str(raised.exception)

    def test_all_that_come_along_are_sound(self):
        self.assertEqual(machines.names(), ["blue_waters", "blue_waters_fit", "gpu_round_numbers", "lassen", "round_numbers"])
        for name in machines.names():
            found = machines.read(name)
            self.assertIn("[enlarged-cg]", found.source)
        self.assertEqual(machines.read("blue_waters").missing("network", "flop_time", "sockets"), ["network", "flop_time"])
        self.assertEqual(machines.read("lassen").ranks_per_node, 40)
        prediction.require(machines.read("blue_waters_fit"), "flop_time")

    def test_written_and_read_again(self):
        wanted = machines.Machine("m: 1", "s # t", "", ranks_per_node=4, flop_time=2.5e-10, on_node=[ON_NODE],
                                  network=[machines.Link(1e-6, 1e8, up_to=32768), NETWORK])
        found = self.read(machines.text_of(wanted))
        for name in ("name", "source", "ranks_per_node", "flop_time", "on_node", "network", "sockets"):
            self.assertEqual(getattr(found, name), getattr(wanted, name), name)

    def test_links_go_by_size(self):
        found = self.read("machine: m\nsource: s\nnetwork:\n  - {latency: 1e-6, rate: 1e8, up_to: 512}\n"
                          "  - {latency: 2.0e-6, rate: 1e9, injection_rate: null}\n")
        self.assertEqual(found.link("network", 512).latency, 1e-6)
        self.assertEqual(found.link("network", 513).rate, 1e9)
        self.assertEqual(found.link("network", 513).injection_rate, math.inf)

    def test_what_is_wrong_is_named(self):
        self.assertIn("m.yaml: latency: found 1; allowed: a key of", self.refused("latency: 1\n"))
        self.assertIn("did you mean network?", self.refused("netwerk: {latency: 1, rate: 1}\n"))
        self.assertIn("network.latency: found None; allowed: a number above 0", self.refused("network: {rate: 1e9}\n"))
        self.assertIn("network.rate: found -1", self.refused("network: {latency: 1e-6, rate: -1}\n"))
        self.assertIn("network.rate: found 'fast'", self.refused("network: {latency: 1e-6, rate: fast}\n"))
        self.assertIn("on_node.injection_rate", self.refused("on_node: {latency: 1e-6, rate: 1, injection_rate: 1}\n"))
        self.assertIn("ranks_per_node: found 1.5; allowed: a whole number above 0", self.refused("ranks_per_node: 1.5\n"))
        self.assertIn("flop_time: found .nan".replace(".", ""), self.refused("flop_time: .nan\n"))
        self.assertIn("sockets: found True", self.refused("sockets: yes\n"))
        two = "network: [{latency: 1, rate: 1, up_to: 9}, {latency: 1, rate: 1, up_to: 8}, {latency: 1, rate: 1}]\n"
        self.assertIn("network[1].up_to: found 8.0; allowed: more than 9", self.refused(two))
        self.assertIn("network[0].up_to: found None", self.refused("network: [{latency: 1, rate: 1}, {latency: 1, rate: 1}]\n"))
        self.assertIn("allowed: a map of keys and values", self.refused("network: 7\n"))
        self.assertIn("network: found []", self.refused("network: []\n"))
        self.assertIn("no YAML", self.refused("a: [\n"))
        with self.assertRaises(processes.Misuse) as raised:
            self.read("- 1\n")
        self.assertIn("the file: found [1]", str(raised.exception))
        with self.assertRaises(processes.Misuse) as raised:
            machines.read("blue_water")
        self.assertIn("did you mean blue_waters?", str(raised.exception))

    def test_what_the_models_need_is_asked_for(self):
        with self.assertRaises(processes.Misuse) as raised:
            prediction.require(machines.Machine("m", "s", "m.yaml", network=[NETWORK]), "flop_time")
        self.assertIn("m.yaml: on_node, flop_time: not given", str(raised.exception))


class Predictions(unittest.TestCase):
    def plan(self, strategy):
        def tallies(messages, size, node):
            return {"messages": {"total": 0, "most_of_a_rank": messages, "most_of_a_node": 0},
                    "bytes": {"total": 0, "most_of_a_rank": size, "most_of_a_node": node}}
        return {"strategy": strategy, "columns": 2, "network": tallies(3, 8000, 24000), "on_node": tallies(2, 4000, 0),
                "most_nodes_of_a_rank": 3, "most_between_nodes": 1, "most_bytes_between_nodes": 16000}

    def test_equations_take_the_counts(self):
        machine = machines.Machine("m", "s", "", network=[NETWORK], on_node=[ON_NODE])
        # Between nodes 3 messages of 8000 bytes, 24000 a node; on the node 2 of 4000.
        counted = 6e-6 + 8e-6 + 2e-6 + 2e-6
        wanted = {"standard": 6e-6 + 8e-6, "two-step": 6e-6 + 8e-6 + 3e-6 + 4e-6,
                  "three-step": 0.5e-6 + 8e-6 + 2 * (3e-6 + 8e-6), "optimal": None}
        for strategy, paper in wanted.items():
            found = prediction.exchange(machine, self.plan(strategy), 4)
            self.assertAlmostEqual(found.counted / counted, 1)
            if paper is None:
                self.assertIsNone(found.paper)
            else:
                self.assertAlmostEqual(found.paper / paper, 1, msg=strategy)

    def test_nothing_to_send_takes_no_time(self):
        plan = self.plan("standard")
        for place in ("network", "on_node"):
            plan[place] = {kind: dict.fromkeys(plan[place][kind], 0) for kind in ("messages", "bytes")}
        found = prediction.exchange(machines.Machine("m", "s", "", network=[NETWORK], on_node=[ON_NODE]), plan, 4)
        self.assertEqual((found.paper, found.counted), (0, 0))

    def test_reductions_and_operations_of_their_own(self):
        machine = machines.Machine("m", "s", "", network=[NETWORK], flop_time=1e-9, dense_flop_time=2e-9,
                                   reduction_latency=5e-6)
        computation, reductions = prediction.rest(machine, 800, 4000, 8, 3)
        self.assertAlmostEqual(computation / (3000e-9 + 2 * 4813.5e-9), 1)
        self.assertAlmostEqual(reductions / (2 * 5e-6 * 3 + 288 / 1e9), 1)


class Calibration(unittest.TestCase):
    SIZES = [8 * 4 ** k for k in range(9)]

    def test_one_line(self):
        latency, rate = calibration.line([(size, 3e-6 + size / 5e8) for size in self.SIZES])
        self.assertAlmostEqual(latency / 3e-6, 1)
        self.assertAlmostEqual(rate / 5e8, 1)

    def test_time_that_falls_with_size_gives_numbers_above_0(self):
        for points in ([(8, 2e-6), (64, 1e-6)], [(8, 1e-6)], [(8, 1e-9), (64, 1e-6)]):
            latency, rate = calibration.line(points)
            self.assertTrue(0 < latency < math.inf and 0 < rate < math.inf, points)

    def test_two_protocols(self):
        points = [(size, (1e-6 + size / 1e9) if size <= 2048 else (9e-6 + size / 4e9)) for size in self.SIZES]
        parts = calibration.segments(points)
        self.assertEqual([max(size for size, _ in part) for part, _, _ in parts], [2048, self.SIZES[-1]])
        self.assertAlmostEqual(parts[0][1] / 1e-6, 1)
        self.assertAlmostEqual(parts[1][2] / 4e9, 1)

    def measured(self, limit):
        def seconds(size, senders=1):
            return 2e-6 + max(size / 1e9, senders * size / limit)
        links = [{"place": place, "bytes": size, "seconds": seconds(size)} for place in ("on_socket", "network")
                 for size in self.SIZES]
        injection = [{"senders": senders, "bytes": size, "seconds": seconds(size, senders)} for senders in (1, 2, 4)
                     for size in self.SIZES]
        return {"links": links, "injection": injection, "ranks_per_node": 4, "flop_time": 1e-9}

    def test_card_of_a_node(self):
        found = calibration.machine_of(self.measured(3e9), "m", "s")
        self.assertAlmostEqual(found.network[0].injection_rate / 3e9, 1)
        self.assertEqual(found.on_node, found.on_socket)
        free = calibration.machine_of(self.measured(8e9), "m", "s")
        self.assertEqual(free.network[0].injection_rate, math.inf)


class Crossover(unittest.TestCase):
    """By hand: with one latency and one rate, n latency rate / 8 values more than the halo's."""

    ONE = machines.Machine("m", "s", "", network=[machines.Link(latency=10e-6, rate=8e8)])
    TWO = machines.Machine("m", "s", "", network=[machines.Link(10e-6, 8e8, up_to=8000), machines.Link(40e-6, 8e8)])

    def test_one_rate(self):
        for ranks, dimensions in ((4, 2), (7, 2), (8, 3)):
            found = embedding.crossover(self.ONE, "network", ranks, 3, 90)
            self.assertEqual(found.dimensions, dimensions)
            self.assertAlmostEqual(found.extra, 3 * 10e-6 * 8e8 / 8, 6)
            self.assertAlmostEqual(found.extra_bytes, 3 * 10e-6 * 8e8, 5)
            self.assertAlmostEqual(found.values, 3090, 6)
            self.assertAlmostEqual(found.seconds * 1e6, dimensions * (10 + 0.09) + 3 * (10 + 0.3), 6)
            self.assertAlmostEqual(embedding.crossover(self.ONE, "network", ranks, 3, 90, hidden=True).values, 3000, 6)

    def test_at_the_crossover_both_take_as_long(self):
        for machine in (self.ONE, machines.read("round_numbers")):
            found = embedding.crossover(machine, "network", 8, 2, 500)
            for factor, loses in ((0.99, False), (1.01, True)):
                self.assertEqual(embedding.embedded(machine, "network", 8, factor * found.values)
                                 > embedding.beside(machine, "network", 8, 2, 500), loses)

    def test_protocols(self):
        # Messages of the all-reduce may hold 1000 values at the low latency, these are 2 * 991 in two steps. The next value
        # costs 60 us, which is more than is left of the 20 us that two messages cost.
        self.assertAlmostEqual(embedding.crossover(self.TWO, "network", 4, 2, 100).values, 1982, 3)
        # Two messages of 2000 values at the high latency: 80 us saved, 60 us of them for the two of the all-reduce, now large.
        self.assertAlmostEqual(embedding.crossover(self.TWO, "network", 4, 2, 4000).values, 4000 + 2000, 3)

    def test_loses_at_once(self):
        machine = machines.Machine("m", "s", "", network=[machines.Link(10e-6, 1e6, up_to=800), machines.Link(1e-9, 1e12)])
        found = embedding.crossover(machine, "network", 4, 1, 101)  # one large, fast message against two small, slow ones
        self.assertEqual((found.extra, found.extra_bytes), (0, 0))
        self.assertLess(found.values, 101)

    def run_it(self, *words):
        script = HERE.parent / "study" / "run_crossover"
        return subprocess.run([sys.executable, str(script), *words], capture_output=True, text=True, check=False, timeout=60)

    def test_command(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "machine.yaml"
            file.write_text(machines.text_of(self.ONE), encoding="utf-8")
            done = self.run_it("--machine", str(file), "--neighbours", "2,7", "--values", "128")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("a message costs as much as 1000 values", done.stdout)
            rows = [line.split() for line in done.stdout.splitlines() if line.startswith(("2 ", "7 "))]
            self.assertEqual([row[:4] + row[5:] for row in rows],
                             [["2", "128", "4", "2", "2000", "16000", "1064", "1000", "200"],
                              ["2", "128", "8", "3", "2000", "16000", "1064", "1000", "200"],
                              ["7", "128", "8", "3", "7000", "56000", "1018", "1000", "200"]])
            done = self.run_it("--machine", str(file), "--place", "on_node")
            self.assertEqual(done.returncode, 2)
            self.assertIn("on_node is missing", done.stderr)
        self.assertIn("allowed: fewer than --ranks", self.run_it("--machine", "round_numbers", "--neighbours", "8").stderr)
        self.assertIn("did you mean round_numbers", self.run_it("--machine", "round_number").stderr)


class Run(unittest.TestCase):
    def run_it(self, *words):
        return subprocess.run([sys.executable, str(HERE / "run"), *words], capture_output=True, text=True, check=False,
                              timeout=250, env={**os.environ, "CAPSTAN_BUILD_DIR": BUILD, "CAPSTAN_PROGRESS": "0"})

    def test_quick(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_it("--quick", "--ranks", "4", "--transport", "default", "--columns", "1,3", "--out", folder)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            results = json.loads((pathlib.Path(folder) / "models.json").read_text(encoding="utf-8"))
            described = machines.read(str(pathlib.Path(folder) / "machine-default.yaml"))
        prediction.require(described, "flop_time")
        self.assertEqual(described.ranks_per_node, 2)
        self.assertTrue(results["complete"] and results["quick"])
        run = results["runs"][0]
        self.assertEqual({one["place"] for one in run["links"]["links"]} & {"network"}, {"network"})
        self.assertEqual({one["senders"] for one in run["links"]["injection"]}, {1, 2})
        found = run["exchanges"]["plans"]
        self.assertEqual([(plan["strategy"], plan["columns"]) for plan in found],
                         [(name, t) for name in ("standard", "two-step", "three-step", "optimal") for t in (1, 3)])
        for plan in found:
            self.assertGreater(plan["seconds"], 0)
            self.assertGreater(plan["counted_seconds"], 0)
        self.assertEqual(found[0]["network"]["messages"]["total"], 2)  # lines of elements: two neighbours across the border
        self.assertIn("--quick: these are not measurements.", done.stdout)

    def test_the_last_node_may_have_fewer_ranks(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_it("--quick", "--ranks", "3", "--transport", "default", "--columns", "2", "--out", folder)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            results = json.loads((pathlib.Path(folder) / "models.json").read_text(encoding="utf-8"))
        self.assertEqual(results["runs"][0]["exchanges"]["nodes"], 2)

    def test_wrong_use(self):
        self.assertIn("found '2'; allowed: a whole number from 3 on", self.run_it("--ranks", "2").stderr)
        self.assertIn("found '1'; allowed: a whole number from 2 on", self.run_it("--ranks-per-node", "1").stderr)
        done = self.run_it("--ranks", "4", "--ranks-per-node", "4")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("allowed: fewer than --ranks", done.stderr)
        self.assertIn("allowed: a list of default, shm, tcp", self.run_it("--transport", "ib").stderr)


if __name__ == "__main__":
    BUILD = sys.argv.pop(1)
    unittest.main()
