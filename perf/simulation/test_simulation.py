#!/usr/bin/env python3
"""Tests of perf/simulation: schedules, traces, and small replays by SimGrid, whose times are computed, not measured.

usage: test_simulation.py <build folder>
"""

import collections
import csv
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

# pylint: disable=wrong-import-position
import embedded_results  # noqa: E402
import platforms  # noqa: E402
import replay  # noqa: E402
import schedules  # noqa: E402
import traces  # noqa: E402
from models import machines  # noqa: E402
from report import processes  # noqa: E402
BUILD = None
LINK = machines.Link(latency=1e-4, rate=1e9)
MACHINE = machines.Machine("m", "s", "", ranks_per_node=1, flop_time=1e-9, network=[LINK],
                           on_node=[machines.Link(latency=1e-6, rate=1e10)])


@dataclasses.dataclass
class Case:
    """As perf/simulation/run has it: two nodes, which exchange 1000 values each way."""
    method: schedules.Method
    ranks: int = 2
    rows: int = 2000
    entries: int = 20000
    topology: str = "fat-tree"
    machine: machines.Machine = MACHINE
    exchanges: dict = dataclasses.field(default_factory=lambda: {
        width: traces.Exchange(2, [("network", 0, 1, 1000), ("network", 1, 0, 1000)]) for width in (1, 10)})
    embedded: traces.EmbeddedExchange = None


def only(*operations, period=1):
    return schedules.Method("", "", lambda _: list(operations), period)


class Schedules(unittest.TestCase):
    def test_reductions_of_an_iteration(self):
        wanted = {"cg": 2, "capstan-cg": 1, "pipelined-cg-3": 1, "gmres": 1, "sstep-gmres": 0.2, "pipelined-gmres": 1,
                  "ecg-10": 2, "sstep-gmres-cgs": 0.4, "sstep-gmres-cgs2": 0.8, "sstep-gmres-mgs": 3, "sstep-gmres-mgs1": 0.2, "pipelined-sstep-gmres": 0.2}
        for name, number in wanted.items():
            method = schedules.METHODS[name]
            found = sum(isinstance(one, (schedules.Reduce, schedules.Start)) for k in range(10) for one in method.iteration(k))
            self.assertEqual(found / 10, number, name)

    def test_ecg_sends_t2_and_3_t2_numbers(self):
        found = [one.numbers for one in schedules.METHODS["ecg-5"].iteration(0) if isinstance(one, schedules.Reduce)]
        self.assertEqual(found, [25, 75])

    def test_operations_are_those_of_the_sources(self):
        def work(name):
            return sum(one.of_a_row for one in schedules.METHODS[name].iteration(0) if isinstance(one, schedules.Work))
        self.assertEqual(work("cg"), 10)
        self.assertEqual(work("pipelined-cg-2"), 22)  # 6 l + 10
        self.assertEqual(work("ecg-10"), 4 * 10 + 4 * 100)  # equation (3.3)

    def test_operations_of_a_block_are_those_of_the_source(self):
        """[low-sync], Fig. 4, with j = 15 and s = 5; the pipelined block has one pass each way."""
        def work(name):
            return sum(one.of_a_row for one in schedules.METHODS[name].iteration(4) if isinstance(one, schedules.Work))
        found = {name: work(f"sstep-gmres-{name}") for name in ("cgs", "cgs2", "mgs", "mgs1")}
        self.assertEqual(found, {"cgs": 4 * 75 + 2 * 25, "cgs2": 8 * 75 + 4 * 25, "mgs": 4 * 75 + 2 * 25, "mgs1": 6 * 75 + 2 * 25})
        self.assertEqual(work("pipelined-sstep-gmres"), 4 * 75)


class Traces(unittest.TestCase):
    def test_doubling_sums_over_all_ranks(self):
        for ranks in range(1, 20):
            stages = [traces.doubling(rank, ranks) for rank in range(ranks)]
            self.assertEqual(len({len(one) for one in stages}), 1)
            known = [{rank} for rank in range(ranks)]
            for step in range(len(stages[0])):
                before = [set(one) for one in known]
                for rank in range(ranks):
                    partner, sends, receives = stages[rank][step]
                    if partner is None:
                        continue
                    other = stages[partner][step]
                    self.assertEqual((other[0], other[1], other[2]), (rank, receives, sends))
                    if receives:
                        known[rank] |= before[partner]
            for one in known:
                self.assertEqual(one, set(range(ranks)))

    def check_matched(self, lines_of_ranks):
        """Every message sent is received, with the same size, and waited for on both sides. Returns their number."""
        sent, received, waits = collections.Counter(), collections.Counter(), collections.Counter()
        for rank, lines in enumerate(lines_of_ranks):
            self.assertEqual((lines[0], lines[-1]), (f"{rank} init", f"{rank} finalize"))
            for line in lines:
                words = line.split()
                if words[1] == "isend":
                    sent[rank, int(words[2]), words[3], words[4]] += 1
                    waits[rank, rank, int(words[2]), words[3]] += 1
                elif words[1] == "irecv":
                    received[int(words[2]), rank, words[3], words[4]] += 1
                    waits[rank, int(words[2]), rank, words[3]] += 1
                elif words[1] == "wait":
                    waits[rank, int(words[2]), int(words[3]), words[4]] -= 1
        self.assertEqual(sent, received)
        self.assertEqual(set(waits.values()) - {0}, set())
        return sum(sent.values())

    def test_messages_are_those_of_the_plan(self):
        messages = [("gather", 1, 0, 5), ("network", 0, 2, 9), ("scatter", 2, 3, 4), ("local", 0, 1, 2), ("network", 3, 1, 1)]
        exchange = traces.Exchange(4, messages)
        for name, extra in (("cg", 0), ("gmres", 0), ("sstep-gmres", 0), ("pipelined-cg-1", 8), ("pipelined-cg-3", 8),
                            ("pipelined-gmres", 8)):  # 4 ranks: two stages of 4 messages
            lines = [traces.RankTrace(rank, 4, 10, 50, {1: exchange}).run(schedules.METHODS[name], 10) for rank in range(4)]
            self.assertEqual(self.check_matched(lines), 10 * (len(messages) + extra), name)

    def test_embedded_messages_carry_sums_and_values(self):
        # Three ranks: rank 2 folds in on rank 0 and out again.
        messages = [(0, 2, 0, 7), (1, 0, 1, 12), (1, 1, 0, 0), (2, 0, 2, 3)]
        halo = traces.Exchange(3, [("network", 2, 1, 7), ("network", 0, 1, 5), ("network", 0, 2, 3)])
        lines = [traces.RankTrace(rank, 3, 10, 50, {1: halo}, traces.EmbeddedExchange(3, messages))
                 .run(schedules.EMBEDDED_CG, 2) for rank in range(3)]
        self.assertEqual(self.check_matched(lines), 2 * len(messages))
        self.assertEqual([line for line in lines[1] if " isend " in line], [f"1 isend 0 1 {8 * 4} 6"] * 2)
        self.assertEqual([line for line in lines[0] if " isend " in line][:2], [f"0 isend 1 1 {8 * 16} 6", f"0 isend 2 2 {8 * 7} 6"])
        # Rank 1 folds nothing, and has the axpys of 12 values of others.
        work = sum(int(line.split()[2]) for line in lines[1] if " compute " in line)
        self.assertEqual(work, 2 * (2 * 50 + 14 * 10 + 4 * 12))
        self.assertFalse(any("allreduce" in line for line in lines[1]))

    def test_work_is_all_there(self):
        lines = traces.RankTrace(0, 1, 100, 700, {1: traces.Exchange(1, [])}).run(schedules.METHODS["cg"], 3)
        self.assertEqual(sum(int(line.split()[2]) for line in lines if " compute " in line), 3 * (2 * 700 + 10 * 100))

    def test_a_pending_reduction_ends_where_it_is_waited_for(self):
        exchange = traces.Exchange(8, [])
        lines = traces.RankTrace(0, 8, 10, 10, {1: exchange}).run(schedules.METHODS["pipelined-cg-3"], 6)
        places = [k for k, line in enumerate(lines) if " isend " in line and line.split()[3] == "101"]
        products = [k for k, line in enumerate(lines) if line == "0 compute 10"]
        waits = [k for k, line in enumerate(lines) if " wait " in line and line.split()[4] == "101"]
        # Reduction 1 starts after product 0 (two computations each) and ends before product 3; its stages take turns.
        self.assertEqual((len(places), len(waits)), (3, 6))
        self.assertTrue(products[1] < places[0] < products[2] and products[5] < waits[-1] < products[6], (places, products))
        self.assertTrue(places[0] < waits[0] < places[1] < waits[2] < places[2] < waits[4], (places, waits))


class Platforms(unittest.TestCase):
    def test_room_for_all_nodes(self):
        for topology in platforms.TOPOLOGIES:
            for nodes in (1, 2, 15, 16, 17, 64, 100, 512):
                self.assertGreaterEqual(platforms.parameters(topology, nodes)[2], nodes)

    def test_dragonflies_have_no_more_groups_than_routers_in_a_chassis(self):
        for nodes in (1, 64, 128, 129, 256, 512, 513, 1024):
            groups, _, routers, _ = platforms.parameters("dragonfly", nodes)[1].split(";")
            self.assertLessEqual(int(groups.split(",")[0]), int(routers.split(",")[0]), nodes)

    def test_a_message_between_any_groups_of_a_dragonfly(self):
        nodes = 136  # 4 routers in a chassis would make 5 groups
        last = nodes - 1
        lines = [[f"{rank} init", f"{rank} finalize"] for rank in range(nodes)]
        lines[0][1:1] = [f"0 send {last} 0 8 6"]
        lines[last][1:1] = [f"{last} recv 0 0 8 6"]
        self.assertGreater(replay.seconds(lines, platforms.xml("dragonfly", nodes, MACHINE), platforms.hosts(nodes, 1), 60), 0)

    def test_hosts(self):
        self.assertEqual(platforms.hosts(5, 2), "n-0\nn-0\nn-1\nn-1\nn-2\n")


class Replay(unittest.TestCase):
    def seconds(self, method, **how):
        return replay.seconds_of_an_iteration(Case(method, **how), 20, 100)

    def test_a_message_takes_latency_and_size_over_rate(self):
        # Two nodes on one switch: two of the four links of the longest way. Nothing else to do.
        found = self.seconds(only(schedules.Product()), entries=0)
        self.assertAlmostEqual(found / (LINK.latency / 2 + 8000 / LINK.rate), 1, 1)

    def test_work_takes_its_operations(self):
        self.assertAlmostEqual(self.seconds(only(schedules.Work(100))) / (100 * 1000 * 1e-9), 1, 2)

    def test_the_product_hides_the_message(self):
        both = self.seconds(only(schedules.Product()), entries=2000000)
        self.assertLess(both, 2e-3 + 0.5 * LINK.latency)  # two times 1e6 entries' operations of a rank

    def test_pipelines_hide_slow_reductions(self):
        slow = dataclasses.replace(MACHINE, network=[machines.Link(latency=4e-3, rate=1e9)])
        case = {"machine": slow, "entries": 2 * 2000000, "exchanges": {1: traces.Exchange(2, [])}}
        cg, single, hidden = (self.seconds(schedules.METHODS[name], **case) for name in ("cg", "capstan-cg", "pipelined-cg-2"))
        self.assertLess(single, cg - 1e-3)  # a reduction of 2 ms less
        self.assertLess(hidden, single - 1e-3)
        self.assertAlmostEqual(hidden / 4e-3, 1, 1)  # the product's operations alone

    def test_a_trace_that_hangs_or_fails_is_told(self):
        with self.assertRaises(processes.Failure) as raised:
            replay.seconds([["0 init", "0 recv 1 0 8 6", "0 finalize"], ["1 init", "1 finalize"]],
                           platforms.xml("fat-tree", 2, MACHINE), platforms.hosts(2, 1), 60)
        self.assertIn("smpirun with 2 ranks", str(raised.exception))


class EmbeddedResults(unittest.TestCase):
    def test_the_limit_is_that_of_the_reports(self):
        header = HERE.parents[1] / "belos_ext" / "report" / "embedding_verdict.hpp"
        self.assertIn(f"double valuesOfAMessage = {embedded_results.LIMIT};", header.read_text(encoding="utf-8"))

    def test_the_rule_is_judged_by_the_times(self):
        pairs = [(0.0, 10, 1.1), (3e-7, 10, 0.5), (3e-7, 200, 1.25), (3e-7, 201, 0.75), (3e-7, 900, 2.0)]
        self.assertEqual(embedded_results.verdict(pairs), [
            "overhead 0 us, embedded-nodes: up to 200 values for each message saved: 0 of 1 faster than capstan-cg, 1.10 to 1.10",
            "overhead 0.3 us, embedded-nodes: up to 200 values for each message saved: 1 of 2 faster than capstan-cg, 0.50 to 1.25; "
            "more: 1 of 2 faster than capstan-cg, 0.75 to 2.00"])


class Run(unittest.TestCase):
    def run_it(self, *words, **environment):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, str(HERE / "run"), *words, "--out", folder], capture_output=True, text=True,
                                  check=False, timeout=250,
                                  env={**os.environ, "CAPSTAN_BUILD_DIR": BUILD, "CAPSTAN_PROGRESS": "0", **environment})
            file = pathlib.Path(folder) / "simulation.csv"
            rows = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines())) if file.exists() else []
        return done, rows

    def test_small(self):
        done, rows = self.run_it("--ranks", "6,32", "--cells", "12", "--methods", "cg,sstep-gmres,ecg-5", "--iterations", "3",
                                 "--latency", "1e-5")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertEqual(len(rows), 2 * 2 * 2 * 3)
        found = {(row["method"], row["topology"], row["strategy"], row["ranks"]): float(row["seconds"]) for row in rows}
        for key, seconds in found.items():
            self.assertGreater(seconds, 0, key)
            again = found[key[0], key[1], "standard", key[3]]
            if key[3] == "6":  # one node: nothing leaves it
                self.assertEqual(seconds, again)
        self.assertLess(found["sstep-gmres", "fat-tree", "standard", "32"], found["ecg-5", "fat-tree", "standard", "32"])
        self.assertIn("1,728 rows", done.stdout)

    def test_wrong_use(self):
        done, _ = self.run_it("--methods", "bicg")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("found 'bicg'; allowed: a list of cg, capstan-cg", done.stderr)
        done, _ = self.run_it("--machine", "lassen")
        self.assertEqual(done.returncode, 2)
        self.assertIn("network, on_node, flop_time: not given", done.stderr)

    def test_embedded(self):
        points = range(1, 257)  # a five-point stencil on a square
        entries = [f"{i} {i} 4" for i in points] + [f"{i} {i - 16} -1" for i in points if i > 16]
        entries += [f"{i} {i - 1} -1" for i in points if (i - 1) % 16]
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "grid.mtx"
            file.write_text(f"%%MatrixMarket matrix coordinate real symmetric\n256 256 {len(entries)}\n" +
                            "\n".join(entries) + "\n", encoding="utf-8")
            done, rows = self.run_it("embedded", str(file), "--ranks", "6,32,512", "--overheads", "0,1e-5", "--partition",
                                     "contiguous")
            coarse, near = self.run_it("embedded", str(file), "--ranks", "32", "--overheads", "1e-5", "--partition",
                                       "contiguous", "--precision", "1e-8")
            far, off = self.run_it("embedded", str(file), "--ranks", "32", "--overheads", "1e-5", "--partition", "contiguous",
                                   "--precision", "1e-4")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertEqual(len(rows), 2 * 2 * 2 * 4)  # no 512 ranks of 256 rows
        found = {(row["method"], row["topology"], float(row["overhead"]), int(row["ranks"])): row for row in rows}
        for key, row in found.items():
            self.assertGreater(float(row["seconds"]), 0, key)
        self.assertEqual((coarse.returncode, far.returncode), (0, 0))
        for row in near:
            exact = float(found[row["method"], row["topology"], 1e-5, 32]["seconds"])
            self.assertAlmostEqual(float(row["seconds"]) / exact, 1, delta=0.01)
        self.assertNotEqual([row["seconds"] for row in near], [row["seconds"] for row in off], "--precision has no effect")
        for topology in platforms.TOPOLOGIES:
            cg, embedded = (found[name, topology, 1e-5, 32] for name in ("capstan-cg", "embedded"))
            self.assertEqual(embedded["messages"], "5")
            self.assertLess(float(cg["messages"]), 5 + 4 + 1e-9)
            self.assertLess(float(embedded["seconds"]), float(cg["seconds"]) - 2e-5)  # no neighbour's message to handle
        self.check_join(done.stdout, rows)
        done, _ = self.run_it("embedded", "/no/such.mtx")
        self.assertEqual(done.returncode, 2)
        self.assertIn("/no/such.mtx", done.stderr)

    def check_join(self, said, rows):
        """--results tells the same from two halves of the CSV."""
        with tempfile.TemporaryDirectory() as folder:
            halves = [pathlib.Path(folder) / name for name in ("a.csv", "b.csv")]
            for number, half in enumerate(halves):
                with open(half, "w", encoding="utf-8") as file:
                    writer = csv.DictWriter(file, rows[0].keys())
                    writer.writeheader()
                    writer.writerows(row for row in rows if (row["topology"] == "dragonfly") == number)
            done, joined = self.run_it("embedded", "--results", str(halves[0]), str(halves[1]), "--partition", "contiguous")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(sorted(map(str, joined)), sorted(map(str, rows)))
            verdicts = [[line for line in text.splitlines() if line.startswith("overhead ")] for text in (said, done.stdout)]
            self.assertEqual((len(verdicts[0]), verdicts[0]), (2, verdicts[1]))
            self.assertIn("up to 200 values for each message saved: 4 of 4 faster", verdicts[0][1])
            for words, wanted in ((["--ranks", "8"], "--results simulates nothing"), ([str(halves[0])], "either matrices or")):
                done, _ = self.run_it("embedded", *words, "--results", str(halves[0]))
                self.assertEqual(done.returncode, 2)
                self.assertIn(wanted, done.stderr)
            halves[0].write_text("a,b\n1,2\n", encoding="utf-8")
            done, _ = self.run_it("embedded", "--results", str(halves[0]))
            self.assertEqual(done.returncode, 2)
            self.assertIn("allowed: simulation.csv", done.stderr)

    def test_measured_beside_simulated(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, str(HERE / "run"), "measured", "--ranks", "2", "--cells", "6", "--repeat", "2",
                                   "--iterations", "2", "--out", folder], capture_output=True, text=True, check=False, timeout=250,
                                  env={**os.environ, "CAPSTAN_BUILD_DIR": BUILD, "CAPSTAN_PROGRESS": "0"})
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            rows = json.loads((pathlib.Path(folder) / "measured.json").read_text(encoding="utf-8"))["rows"]
        self.assertEqual([(row["ranks"], row["method"]) for row in rows],
                         [(2, one) for one in ("cg", "capstan-cg", "pipelined-cg-1", "ecg-5", "ecg-10")])
        for row in rows:
            # All of the work, and messages besides; measured times are not judged.
            self.assertGreater(row["simulated"], 0.99 * row["work"])
            self.assertGreater(row["measured"], 0)
            self.assertEqual(row["bytes"], 36 * 8 * {"ecg-5": 5, "ecg-10": 10}.get(row["method"], 1))

    def test_without_simgrid(self):
        done, _ = self.run_it("--ranks", "2", PATH="/nowhere")
        self.assertEqual(done.returncode, 3)
        self.assertIn("libsimgrid-dev", done.stderr)


if __name__ == "__main__":
    BUILD = sys.argv.pop(1)
    unittest.main()
