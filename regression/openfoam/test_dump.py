#!/usr/bin/env python3
"""`dumpSystems`: systems of a run as files, and capstan-solve solves them again as OpenFOAM did.

usage: test_dump.py <build folder> <ranks> [Replays or Choices]
"""

import json
import pathlib
import sys
import unittest

import foam

BUILD = pathlib.Path(sys.argv[1]).resolve()
RANKS = int(sys.argv[2])
VELOCITY = "U { solver capstan; tolerance 1e-6; }\n"
MULTIGRID = "{ preconditioner muelu; file no_reductions; coarse:_max_size 50; }"


def run_with(name, pressure, velocity=VELOCITY, coupling="cyclic", command_runner=foam.run_or_raise):
    """(case, log); with foam.run, (case, (exit status, log))."""
    case = BUILD / f"regression/openfoam/dump-np{RANKS}-{name}"
    foam.copy_case("channel", case, RANKS, f'"p.*" {{ solver capstan; tolerance 1e-10; {pressure} }}\n{velocity}', coupling)
    return case, foam.solve(case, RANKS, foam.environment(BUILD), command_runner)


def solves_of(log, field):
    return [solve for solve in foam.read_solves(log) if solve.field == field]


def vector(path):
    """The numbers of a dense Matrix Market file."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("%")]
    numbers = [float(line) for line in lines[1:]]
    assert len(numbers) == int(lines[0].split()[0]), path
    return numbers


def replay(deck, expected=0):
    """(solve of the report, x) of a deck, from a folder of its own. expected: the exit status."""
    folder = deck.parent / (deck.stem + "-again")
    folder.mkdir()
    command = [BUILD / "bin/capstan-solve", deck, "--report", folder / "report.json", "--quiet",
               "--set", "write_matrix_files=yes"]
    status, text = foam.run((["mpirun", "-n", RANKS] if RANKS > 1 else []) + command, foam.environment(BUILD), folder)
    assert status == expected, text
    solve, = json.loads((folder / "report.json").read_text(encoding="utf-8"))["solves"]
    solution, = folder.glob("*_x.mtx")
    return solve, vector(solution)


class Replays(unittest.TestCase):
    def check(self, name, pressure, slack=1):
        """The first solve of p: its solution is the guess of the second."""
        case, log = run_with(name, pressure + " dumpSystems { solves (1 2 6); }")
        files = {path.name for path in (case / "systems").iterdir()}
        self.assertEqual(files, {f"p_{solve}{end}" for solve in (1, 2, 6) for end in (".mtx", "_b.mtx", "_x0.mtx", ".yaml")})
        self.assertEqual(log.count("is written to"), 3)
        self.assertIn(f"Capstan: p: solve 6 is written to {case}/systems/p_6.yaml", log)
        for solve in (1, 6) if "none" in pressure else (1,):
            again, x = replay(case / f"systems/p_{solve}.yaml")
            self.assertTrue(again["converged"], again)
            if slack is not None:
                self.assertLessEqual(abs(again["iterations"] - solves_of(log, "p")[solve - 1].iterations), slack)
            if solve == 1:
                reached = vector(case / "systems/p_2_x0.mtx")
                self.assertLess(foam.results.field_difference([(1, x)], [(1, reached)], without_mean=True), 1e-7)
        return case

    def test_without_a_preconditioner(self):
        self.check("none", "method capstan_cg; preconditioner none;")

    def test_parameters_of_the_method(self):
        self.check("parameters", "method capstan_sstep_gmres; preconditioner jacobi; "
                                 "capstan { Step_Size 5; Num_Blocks 40; Basis newton; Shifts (1 2); }", slack=5)

    def test_parameters_in_lower_case(self):
        """The deck has them by their names: it sets some by keys of its own."""
        case = self.check("lower", "method capstan_gmres; preconditioner jacobi; capstan { flexible_gmres yes; num_blocks 200; }", slack=5)
        self.assertIn('"Num Blocks": 200', (case / "systems/p_1.yaml").read_text(encoding="utf-8"))

    def test_preconditioners_of_trilinos(self):
        self.check("riluk", "method capstan_cg; preconditioner riluk;")
        self.check("muelu", f"method capstan_cg; preconditioner {MULTIGRID}")

    def test_preconditioners_of_openfoam(self):
        """The nearest of Trilinos' takes their place, and the deck says so."""
        for name, nearest in (("DIC", "riluk"), ("GAMG", "muelu")):
            case = self.check(name, f"method capstan_cg; preconditioner {name};", slack=None)
            deck = (case / "systems/p_1.yaml").read_text(encoding="utf-8")
            self.assertIn(f"# In place of OpenFOAM's {name}: {nearest}, the nearest in a deck.", deck)

    def test_a_method_of_belos(self):
        self.check("belos", 'method "PSEUDOBLOCK CG"; preconditioner riluk; tolerance 1e-9;', slack=None)

    def test_a_component(self):
        velocity = "U { solver capstan; method capstan_gmres; preconditioner ilut; tolerance 1e-9; dumpSystems { solves (2); } }\n"
        case, log = run_with("component", "", velocity)
        for field in ("Ux", "Uy", "Uz"):
            again, _ = replay(case / f"systems/{field}_2.yaml")
            self.assertTrue(again["converged"], again)
            self.assertLessEqual(abs(again["iterations"] - solves_of(log, field)[1].iterations), 1)


class Choices(unittest.TestCase):
    def test_solves_that_do_not_converge(self):
        case, log = run_with("unconverged", "preconditioner DIC; maxIter 3; "
                                            'dumpSystems { unconverged 2; folder "$FOAM_CASE/bad"; }')
        self.assertEqual({path.name for path in (case / "bad").glob("*.yaml")}, {"p_1.yaml", "p_2.yaml"})
        again, _ = replay(case / "bad/p_1.yaml", expected=1)
        self.assertEqual((again["converged"], again["iterations"]), (False, 3))
        self.assertEqual(log.count("is written to"), 2)

    def test_nothing_unless_asked_for(self):
        case, log = run_with("nothing", "dumpSystems { solves (100); }")
        self.assertFalse((case / "systems").exists())
        self.assertNotIn("is written to", log)

    def refused(self, name, entry, reason, **options):
        """The run goes on without the files."""
        case, log = run_with(name, entry, **options)
        flat = " ".join(log.split())
        self.assertRegex(flat, f"field p: dumpSystems does not write solve 1: {reason}")
        self.assertFalse(list(case.rglob("*.mtx")))
        self.assertEqual(len(solves_of(log, "p")), 6)

    def test_what_cannot_be_written(self):
        self.refused("large", "dumpSystems { solves (1); maxEntries 1000; }", r"its matrix has \d+ entries, more than maxEntries, 1000")
        self.refused("folder", 'dumpSystems { solves (1); folder "/proc/nowhere"; }', ".*/proc/nowhere")
        self.refused("ami", "dumpSystems { solves (1); }", "a patch couples cells in a way", coupling="cyclicAMI")

    def test_wrong_entries(self):
        for entry, words in (("solves (0);", "solves: found 0; allowed: numbers of solves, from 1"),
                             ("", "found neither solves nor unconverged"), ("unconverged -1;", "unconverged: found -1"),
                             ("solves (1); maxEntries 0;", "maxEntries: found 0"), ('solves (1); folder "";', "folder: found nothing")):
            _, (status, log) = run_with("wrong", f"dumpSystems {{ {entry} }}", command_runner=foam.run)
            self.assertNotEqual(status, 0)
            self.assertIn(words, " ".join(log.split()))
            self.assertRegex(log, r"FOAM FATAL IO ERROR(.|\n)*system/fvSolution.solvers.p.\*.dumpSystems")
        _, log = run_with("unknown", "dumpSystems { solve (1); solves (1); }")
        self.assertEqual(log.count("dumpSystems does not know the entry 'solve'"), 1)
        self.assertIn('did you mean "solves"', log)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
