#!/usr/bin/env python3
"""Tests of `./capstan plot` (needs matplotlib): what it reads of each kind of file, what it draws, and its errors.

usage: test_plot.py <capstan-solve>
"""

import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[3]
PLOT = ROOT / "adapters/tools/plot"
sys.path.insert(0, str(PLOT))

import choices  # noqa: E402  pylint: disable=wrong-import-position
import run_files  # noqa: E402  pylint: disable=wrong-import-position
import run_plot  # noqa: E402  pylint: disable=wrong-import-position
import traces  # noqa: E402  pylint: disable=wrong-import-position

PROGRAM = sys.argv[1]
HEAD = ",".join(run_files.REPORT_COLUMNS) + "\n"
#      time region field component solver preconditioner
P = "{},region0,p,-,capstan_cg,DIC,2,0,{},{},4,50,46,1,0.5,0.25,0.125,0.0625,1,0.5,1e-7,{}\n"
RUN = (HEAD + "0.1,region0,U,x,capstan_gmres,DILU,1,0,4,5,2,6,5,0,0.5,0.25,,0,1,1,1e-9,converged\n"
       + P.format(0.1, 40, 44, "converged") + P.format(0.2, 44, 48, '"fell back to capstan_cg and DIC"')
       + "0.2,region0,p,-,TPETRA CG,DIC,1,1,10,,2,11,,0,0.1,,,0,0.2,0.5,1e-3,unconverged\n"
       + "0.2,air,T,-,capstan_cg,GAMG,1,0,0,0,2,1,0,0,0,0,0,0,0.001,0,0,converged\n")
HISTORY = "solve,system,step,solver,iteration,column,residual\n1,p,1,cg,1,0,0.5\n1,p,1,cg,2,0,0.1\n2,p,2,cg,1,0,0.01\n1,p,1,cg,1,1,0.7\n"
ADVICE = ",".join(run_files.ADVICE_COLUMNS) + """
0,PCG+DIC (your own),1,1.0,100,200,0
0,PCG+DIC (your own),2,1.2,100,200,0
0,capstan_cg,1,0.5,99,100,0
0,capstan_cg,2,0.7,99,100,0
0,capstan_idr,1,3.0,99,,0
200,PCG+DIC (your own),1,4.0,100,200,0
"""
SOLVE = {"solver": "CAPSTAN CG", "label": "p", "converged": False, "reason": "attainable accuracy", "iterations": 8,
         "reductions": {"blocking": 9, "nonblocking": 1}, "events": [],
         "seconds": {"total": 5, "operator": 1, "preconditioner": 2, "orthogonalization": 0.5, "reduction_wait": 1, "rest": 0.5}}


def events(rank, spans, reductions):
    """A trace as a rank writes it: spans of (name, thread, begin, length) and reductions of (begin, end), in microseconds."""
    found = [{"ph": "M", "name": "process_name", "pid": rank, "tid": 0, "args": {"name": f"rank {rank}, CAPSTAN CG"}},
             {"ph": "M", "name": "thread_name", "pid": rank, "tid": 0, "args": {"name": "driver"}}]
    found += [{"ph": "X", "name": name, "pid": rank, "tid": thread, "ts": begin, "dur": length} for name, thread, begin, length in spans]
    for number, times in enumerate(reductions):
        found += [{"ph": phase, "cat": "reduction", "name": "reduction", "id": number, "pid": rank, "tid": 0, "ts": time}
                  for phase, time in zip("be", times)]
    return json.dumps({"displayTimeUnit": "ns", "traceEvents": found}) + "\n"


TRACES = [events(0, [("product", 0, 1000, 60), ("product", 1, 1010, 50), ("wait", 0, 1080, 20)], [(1050, 1100)]),
          events(1, [("update", 0, 1000, 40)], [])]


class Files(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def read(self, name, text):
        return run_files.read(self.file(name, text))

    def command(self, *words):
        """(exit status, output, errors) of the command."""
        done = subprocess.run([sys.executable, str(PLOT / "plot"), *map(str, words)], capture_output=True, text=True, check=False,
                              timeout=120)
        return done.returncode, done.stdout, done.stderr


class Reading(Files):
    def test_what_advise_has_compared(self):
        run = self.read("advice.csv", ADVICE)
        self.assertEqual(list(run.contests), [0.0, 200.0])
        self.assertEqual(run.contests[0.0]["capstan_cg"], [0.5, 0.7])
        self.assertEqual([row[:2] for row in run_plot.fastest_first(run.contests[0.0])], [("capstan_cg", 0.6), ("PCG+DIC (your own)", 1.1)])
        self.assertEqual(len(run_plot.draw(run, "title").axes), 2)
        for bad in ("0,a,1,x,1,1,0\n", "0,a,1,,1,1,0\n", "0,a,1\n"):
            with self.assertRaisesRegex(run_files.FileError, "advice.csv, line 2"):
                self.read("advice.csv", ADVICE.split("\n", 1)[0] + "\n" + bad)

    def test_a_run_of_openfoam(self):
        run = self.read("capstanReport.csv", RUN)
        self.assertEqual(list(run.fields), ["Ux", "p", "air/T"])
        first, second = run.fields["p"]
        self.assertEqual((first.x, first.iterations, first.solves, first.reductions, first.checks), (0.1, 40, 2, 44, 4))
        self.assertEqual(first.seconds, {"operator": 0.5, "preconditioner": 0.25, "reductions": 0.125, "set-up": 0.0625,
                                         "rest": 0.0625})
        # Both solvers of the step together; one of them counts no reductions.
        self.assertEqual((second.iterations, second.solves, second.reductions, second.outcome), (54, 3, None, "unconverged"))

    def test_traces_of_ranks(self):
        paths = [self.file(f"t.{rank}.json", text) for rank, text in enumerate(TRACES)]
        self.assertTrue(all(map(run_files.is_trace, paths)))
        found = traces.read(paths)
        self.assertEqual(found.end(), 100)
        self.assertEqual(list(found.threads), [(0, 0), (0, 1), (1, 0)])
        self.assertEqual(found.threads[0, 1], [("product", 10, 50)])
        self.assertEqual(found.waited(0), (50, 20))
        self.assertAlmostEqual(found.shares((0, 0))["gaps"], 0.2)
        self.assertEqual(traces.summary(found)[0], "rank 0, driver: product 60 %, wait 20 %, gaps 20 %")
        self.assertEqual(traces.summary(found)[-1], "rank 0: 1 reductions, 50.0 us in flight and 20.0 us waited for, each")
        for bad, words in (('{"traceEvents": [{"ph": "X"}]}', "this is no trace"), ('{"traceEvents": []}', "nothing was traced"),
                           ('{"traceEvents": [', "line 1: this is no JSON")):
            with self.assertRaisesRegex(run_files.FileError, words):
                traces.read([self.file("bad.json", bad)])
        self.assertFalse(run_files.is_trace(self.folder / "nowhere"))

    def test_a_line_that_is_being_written(self):
        run = self.read("capstanReport.csv", RUN + "0.3,region0,p")
        self.assertEqual([point.x for point in run.fields["p"]], [0.1, 0.2])

    def test_reports(self):
        """Those of "Report File" and those of capstan-solve, which hold them."""
        fell = {**SOLVE, "converged": True, "events": [{"kind": "fallback"}]}
        run = self.read("a.json", json.dumps([SOLVE, fell]))
        self.assertEqual([point.outcome for point in run.fields["p"]], ["at rounding level", "fell back to CAPSTAN GMRES"])
        self.assertEqual([point.reductions for point in run.fields["p"]], [10, 10])
        whole = {"system": "p", "solver": "mine", "converged": True, "iterations": 8, "capstan": fell,
                 "seconds": {"preconditioner_setup": 3, "solve": 5}}
        other = {**whole, "capstan": None, "solver": "belos"}
        run = self.read("b.json", json.dumps({"solves": [whole, other]}))
        self.assertEqual(run.fields["p, mine"][0].seconds["set-up"], 3)
        self.assertEqual(run.fields["p, belos"][0].seconds, {"rest": 5, "set-up": 3})
        self.assertIsNone(run.fields["p, belos"][0].reductions)

    def test_what_was_chosen(self):
        def solve(arm, trial, regret, expected=()):
            return {**SOLVE, "choice": {"arm": arm, "trial": trial, "best": "CG", "regret_seconds": regret, "arms": list(expected)}}
        arms = [{"arm": arm, "seconds_a_digit": seconds, "spread": spread, "seconds_a_digit_at_us": {"1": seconds, "200": 4 * seconds},
                 "solves": solves, "left_out": out}
                for arm, seconds, spread, solves, out in (("CR", 1.5e-3, math.log(2), 1, False), ("CG", 1e-3, 0, 3, False), ("IDR", 1e-4, 1, 0, True))]
        run = self.read("a.json", json.dumps([solve("CG", False, 0), solve("CR", True, 0), solve("CG", False, 0.5), solve("CG", False, 0.5, arms)]))
        lines = choices.summary("p", run.choices["p"])
        self.assertEqual(lines[:3], ["p: solves by", "      3  CG", "      1  CR"])
        self.assertIn("1 of 4 solves were trials: 2.5% of the seconds, as estimated, and no more than 25.0%", lines[3])
        self.assertIn("CR may save up to 25%", lines[4])
        self.assertEqual([line.split()[0] for line in lines[-3:]], ["CG", "CR", "IDR"])
        self.assertRegex(lines[-2], r"CR +1.5 +100% +1.5 +6  1$")
        self.assertTrue(lines[-1].endswith("0, left out"))
        self.assertIsNone(choices.might_save([arms[1], arms[2]], "CG"))
        axes = run_plot.draw(run, "title").axes
        self.assertEqual([label.get_text() for label in axes[-1].get_yticklabels()], ["CR", "CG"])
        self.assertEqual(self.read("a.json", json.dumps([SOLVE])).choices, {})

    def test_a_history(self):
        run = self.read("h.csv", HISTORY)
        self.assertEqual(run.histories, {"p, cg": {1: [(1, 0.5), (2, 0.1)], 2: [(1, 0.01)]}, "p, cg, column 1": {1: [(1, 0.7)]}})
        self.assertEqual(run.fields, {})

    def test_wrong_files(self):
        for text, words in (("", "it is empty"), ("a,b\n1,2\n", "found a first line of the columns a, b; allowed: capstanReport.csv"),
                            (HEAD, "it holds no solve"), ("[]", "it holds no solve"), ("[1]", "this is no report of a solve"),
                            ("{", "line 1: this is no JSON"), ('{"a": 1}', "this is no report of a solve"),
                            (RUN.replace(",40,", ",forty,"), "line 3, column iterations: found 'forty'; allowed: a whole number"),
                            (RUN.replace("0.1,region0,p", ",region0,p"), "line 3, column time: found nothing"),
                            (RUN.replace("unconverged\n", "odd\n"), "line 5, column outcome: found 'odd'; allowed: converged,"),
                            (RUN + "1,2\n", "line 7: found 2 cells; allowed: 22"),
                            (HISTORY.replace("0.01", ""), "line 4: found an empty cell")):
            with self.assertRaises(run_files.FileError) as caught:
                self.read("x.csv", text)
            self.assertIn(words, str(caught.exception))
            self.assertTrue(str(caught.exception).startswith(str(self.folder / "x.csv")))
        (self.folder / "binary").write_bytes(b"\xff\xfe")
        for name, words in (("binary", "this is no text"), ("nowhere", "it cannot be read: No such file")):
            with self.assertRaisesRegex(run_files.FileError, words):
                run_files.read(self.folder / name)


class Preparing(Files):
    def setUp(self):
        super().setUp()
        self.fields = self.read("capstanReport.csv", RUN).fields

    def test_values(self):
        self.assertEqual(run_plot.iterations(self.fields["p"]), [20, 18])
        known, unknown = run_plot.reductions(self.fields["p"])
        self.assertAlmostEqual(known, 1.1)
        self.assertTrue(math.isnan(unknown))
        self.assertAlmostEqual(run_plot.reductions(self.fields["p"], with_checks=True)[0], 1.2)
        self.assertTrue(math.isnan(run_plot.reductions(self.fields["air/T"])[0]), "no iteration")
        stack = run_plot.stack(self.fields["p"])
        self.assertEqual(list(stack), ["operator", "preconditioner", "reductions", "set-up", "rest"])
        self.assertEqual([round(sum(column), 12) for column in zip(*stack.values())], [1, 1.2])

    def test_outcomes_are_marked(self):
        self.assertEqual(run_plot.marked(self.fields["p"]), {"unconverged": [(0.2, 18)]})
        self.assertEqual(run_plot.marked(self.fields["Ux"]), {})

    def test_long_runs_keep_what_counts(self):
        points = [run_files.Point(i, 10, 1, 11, 2, {"operator": 1.0}, "converged") for i in range(2500)]
        points[1234].outcome = "unconverged"
        few = run_plot.condensed(points)
        self.assertLessEqual(len(few), run_plot.MOST_POINTS)
        self.assertEqual(sum(point.seconds["operator"] for point in few), 2500)
        self.assertEqual(set(run_plot.iterations(few)), {10})
        self.assertEqual(sum(point.outcome == "unconverged" for point in few), 1)
        self.assertEqual(run_plot.condensed(points[:1000]), points[:1000])

    def test_the_fields_of_most_seconds_are_kept(self):
        many = {f"f{i}": [run_files.Point(0, 1, seconds={"rest": i})] for i in range(20)}
        self.assertEqual(run_plot.dearest(many), [f"f{i}" for i in range(8, 20)])


class Drawing(Files):
    def draw(self, text):
        return run_plot.draw(self.read("file", text), "title").axes

    def test_panels_of_a_run(self):
        axes = self.draw(RUN)
        self.assertEqual([one.get_ylabel() for one in axes], ["iterations a solve", "all-reduces an iteration"] + 3 * ["seconds"])
        self.assertEqual([one.get_title() for one in axes[2:]], ["Ux", "p", "air/T"])
        words = [text.get_text() for text in axes[0].get_legend().get_texts()]
        self.assertEqual(words, ["Ux", "p", "air/T", "unconverged"])
        self.assertEqual(axes[-1].get_xlabel(), "time")
        self.assertEqual(list(axes[0].get_lines()[1].get_ydata()), [20, 18])

    def test_panels_of_a_history(self):
        axes = self.draw(HISTORY)
        self.assertEqual([(one.get_title(), one.get_yscale()) for one in axes], [("p, cg", "log"), ("p, cg, column 1", "log")])
        self.assertEqual(len(axes[0].get_lines()), 2)


class Command(Files):
    def test_a_picture(self):
        path = self.file("capstanReport.csv", RUN)
        self.assertEqual(self.command(path), (0, f"drawn: {self.folder / 'capstanReport.png'}\n", ""))
        self.assertEqual((self.folder / "capstanReport.png").read_bytes()[:4], b"\x89PNG")
        out = self.folder / "p.svg"
        self.assertEqual(self.command(path, "--fields", "p", "--out", out)[0], 0)
        self.assertIn("<svg", out.read_text(encoding="utf-8"))

    def test_a_picture_of_traces(self):
        paths = [self.file(f"t.{rank}.json", text) for rank, text in enumerate(TRACES)]
        status, said, errors = self.command(*paths, "--window", 50)
        self.assertEqual((status, errors), (0, ""))
        self.assertIn("rank 1, driver: gaps 60 %, update 40 %\n", said)
        self.assertEqual((self.folder / "t.0.png").read_bytes()[:4], b"\x89PNG")

    def test_a_trace_that_pauses_in_the_middle(self):
        """A machine with other work pauses all threads, so that nothing began or ended in the window."""
        events = [{"name": "product", "ph": "X", "pid": 0, "tid": 0, "ts": start, "dur": 10} for start in (0, 60000, 90000)]
        path = self.file("t.json", json.dumps({"traceEvents": events}))
        status, _, errors = self.command(path, "--window", 50)
        self.assertEqual((status, errors), (0, ""))
        self.assertEqual(traces.middle(traces.read([path]), 50), 60000)

    def test_mistakes(self):
        path = self.file("capstanReport.csv", RUN)
        for words, said in ((("nowhere.csv",), "nowhere.csv: it cannot be read"),
                            ((path, "--fields", "q"), "--fields: found 'q'; allowed: Ux, p, air/T"),
                            ((path, path), "found 2 files; allowed: one, or traces"), ((path, "--window", "0"), "--window: found '0'"),
                            ((path, "--out", "a.doc"), "--out: found 'a.doc'; allowed:"),
                            ((path, "--out", "/nowhere/a.png"), "--out: '/nowhere' is no folder")):
            status, _, errors = self.command(*words)
            self.assertEqual((status, "Traceback" in errors), (2, False), errors)
            self.assertIn(said, errors)

    def test_files_of_capstan_solve(self):
        deck = ROOT / "app-inputs/decks/heat.yaml"
        report, history = self.folder / "r.json", self.folder / "h.csv"
        options = {"Report File": self.folder / "own.json", "History File": self.folder / "own.csv"}
        settings = [word for key, path in options.items() for word in ("--set", f"parameters.{key}={path}")]
        subprocess.run([PROGRAM, str(deck), "--report", str(report), "--history", str(history), *settings], check=True,
                       capture_output=True, timeout=120)
        for path in (report, options["History File"]):
            status, _, errors = self.command(path)
            self.assertEqual(status, 0, errors)
        self.assertTrue(run_files.read(history).histories)
        solves = json.loads(report.read_text(encoding="utf-8"))["solves"]
        for path in (report, options["Report File"]):
            points = [point for points in run_files.read(path).fields.values() for point in points]
            self.assertEqual(sum(point.iterations for point in points), sum(solve["iterations"] for solve in solves), path)

    def test_a_trace_of_capstan_solve(self):
        """The commands of docs/methods/pipelined-sstep-gmres.md, with fewer unknowns."""
        file = self.folder / "trace.json"
        settings = ["method=capstan_pipelined_sstep_gmres", "parameters.Execution=tasks", "parameters.Threads=2",
                    f"parameters.Trace File={file}", "systems[0].generate.cells=[20, 20, 20]"]
        subprocess.run([PROGRAM, str(ROOT / "app-inputs/decks/laplace3d.yaml"), "--solver", "s_step",
                        *(word for one in settings for word in ("--set", one))], check=True, capture_output=True, timeout=120)
        status, said, errors = self.command(file)
        self.assertEqual((status, errors), (0, ""))
        self.assertRegex(said, r"rank 0, driver: .*(product|orthonormalize|inner products) \d+ %")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
