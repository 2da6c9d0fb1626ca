#!/usr/bin/env python3
"""Tests of preparing and running, with a tutorial and programs made up for it: no OpenFOAM is needed."""

import gzip
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

# pylint: disable=wrong-import-position
from tutorials import workspace  # noqa: E402
from tutorials.case import Case  # noqa: E402
from tutorials.errors import NotInstalled, RunFailed, WrongUse  # noqa: E402
from tutorials.foam_text import FoamText  # noqa: E402
from tutorials.solvers import Choice  # noqa: E402

CONTROL = """FoamFile { object controlDict; }
application fooFoam;
startTime 0; endTime 2; deltaT 0.1;
adjustTimeStep yes;
libs ("libother.so");
functions { a { type b; } }
"""
SOLUTION = """FoamFile { object fvSolution; }
solvers { p { solver GAMG; tolerance 0.1; } }
"""
PROGRAM = """#!/bin/sh
echo "Lookup solver for p"
echo "GAMG:  Solving for p, Initial residual = 1, Final residual = 0.01, No Iterations 3"
mkdir -p 0.5
grep -o 'solver [a-zA-Z]*' system/fvSolution >0.5/said
echo End
"""


class Cases(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        tutorial = self.root / "tutorial"
        for path in ("system", "0.orig", "constant/polyMesh"):
            (tutorial / path).mkdir(parents=True)
        (tutorial / "system/controlDict.gz").write_bytes(gzip.compress(CONTROL.encode()))
        (tutorial / "system/fvSolution").write_text(SOLUTION, encoding="utf-8")
        (tutorial / "system/blockMeshDict.m4").write_text("define(N, 3)N\n", encoding="utf-8")
        (tutorial / "0.orig/p").write_text("p", encoding="utf-8")
        (tutorial / "constant/polyMesh/points").write_text("3\n(\n(0 0 0)\n(1 5 0)\n(2 0 1)\n)\n", encoding="utf-8")
        programs = self.root / "bin"
        programs.mkdir()
        for name, text in (("fooFoam", PROGRAM), ("decomposePar", "#!/bin/sh\nmkdir processor0 processor1\n"),
                           ("foamDictionary", '#!/bin/sh\necho "--> FOAM Warning"; cat "$2"\n'),
                           ("failing", "#!/bin/sh\nprintf '%s\\n' '--> FOAM FATAL ERROR:' 'no such thing' '    From here'\nexit 1\n")):
            (programs / name).write_text(text, encoding="utf-8")
            (programs / name).chmod(stat.S_IRWXU)
        self.env = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
        self.case = Case("case", tutorial, application=["fooFoam"], steps=5,
                         prepare=[["restore0"], ["m4", "system/blockMeshDict.m4", "system/blockMeshDict"]],
                         edits={"system/new": {"a/b": "1"}, "system/controlDict": {"startTime": "1"}})

    def prepare(self, ranks=1):
        workspace.prepare(self.case, ranks, self.root / "prepared", self.env)
        return self.root / "prepared"

    def test_prepare(self):
        folder = self.prepare()
        control = FoamText.read(folder / "system/controlDict")
        self.assertEqual((control.get("startTime"), control.find("functions")), ("1", None))
        self.assertEqual((folder / "0/p").read_text(encoding="utf-8"), "p")
        self.assertEqual((folder / "system/blockMeshDict").read_text(encoding="utf-8").strip(), "3")
        self.assertEqual(FoamText.read(folder / "system/new").get("a/b"), "1")
        self.assertFalse(list(folder.rglob("*.gz")))

    def test_decomposition_cuts_the_longest_direction(self):
        text = FoamText.read(self.prepare(2) / "system/decomposeParDict")
        self.assertEqual((text.get("numberOfSubdomains"), text.get("simpleCoeffs/n")), ("2", "(1 2 1)"))
        self.case.slices = "z"
        text = FoamText.read(self.prepare(2) / "system/decomposeParDict")
        self.assertEqual(text.get("simpleCoeffs/n"), "(1 1 2)")

    def test_run(self):
        lines = []
        run = workspace.start(self.case, self.prepare(), self.root / "run", Choice("capstan"), 1, self.env, 7,
                              echo=lines.append)
        self.assertEqual((run.folder / "0.5/said").read_text(encoding="utf-8"), "solver capstan\n")
        control = FoamText.read(run.folder / "system/controlDict")
        for key, value in (("libs", '("libother.so" "libcapstanFoam.so" )'), ("stopAt", "nextWrite"), ("writeInterval", "7"),
                           ("adjustTimeStep", "no"), ("endTime", "2")):
            self.assertEqual(control.get(key), value, key)
        self.assertEqual((len(run.solves), run.unconverged(), lines[-1]), (1, 0, "End\n"))

    def test_the_end_is_put_off(self):
        run = workspace.start(self.case, self.prepare(), self.root / "run", Choice(), 1, self.env, 100)
        control = FoamText.read(run.folder / "system/controlDict")
        self.assertEqual((control.get("endTime"), control.get("libs")), ("11.1", '("libother.so")'))

    def test_the_last_steps_are_written(self):
        run = workspace.start(self.case, self.prepare(), self.root / "run", Choice(), 1, self.env, 20, written=3)
        control = FoamText.read(run.folder / "system/controlDict")
        for key, value in (("stopAt", "endTime"), ("endTime", "3"), ("writeInterval", "1"), ("purgeWrite", "3")):
            self.assertEqual(control.get(key), value, key)

    def test_a_case_that_goes_on_has_its_steps_from_there(self):
        self.case.edits["system/controlDict"]["startFrom"] = "latestTime"
        prepared = self.prepare()
        (prepared / "2.5").mkdir()
        edits = workspace.control_edits(prepared, 20, False, 3, self.env)
        self.assertEqual(edits["endTime"], "4.5")

    def test_a_time_step_must_be_a_number(self):
        self.case.edits["system/controlDict"]["deltaT"] = "$other"
        with self.assertRaisesRegex(RunFailed, "controlDict: deltaT: found .*; allowed: a number"):
            workspace.control_edits(self.prepare(), 20, False, 3, self.env)

    def test_failures_say_why(self):
        self.case.prepare.append(["failing"])
        with self.assertRaisesRegex(RunFailed, "failing failed with status 1: no such thing; its log is .*log.3.failing"):
            self.prepare()
        self.case.prepare[-1] = ["sleep", "5"]
        with self.assertRaisesRegex(RunFailed, "sleep took more than 0.1 s"):
            workspace.execute(["sleep", "5"], self.root, self.env, self.root / "log", 0.1)
        self.case.prepare.pop()
        (self.root / "bin/fooFoam").write_text("#!/bin/sh\necho hello\n", encoding="utf-8")
        with self.assertRaisesRegex(RunFailed, "fooFoam did not reach its end: hello"):
            workspace.start(self.case, self.prepare(), self.root / "run", Choice(), 1, self.env)

    def test_only_ranks_without_a_core_give_way(self):
        cores = len(os.sched_getaffinity(0))
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PRTE_"))}
        with unittest.mock.patch.dict(os.environ, {**kept, "OMP_NUM_THREADS": "1"}, clear=True):
            for ranks, crowded in ((1, False), (cores, False), (cores + 1, True), (None, True)):
                env = workspace.environment(self.root, ranks)
                self.assertEqual("OMPI_MCA_mpi_yield_when_idle" in env, crowded, ranks)

    def test_reason(self):
        for text, expected in (("[1] --> FOAM FATAL ERROR: \n[1] bad\n[0]     thing\n[1] \n[1]     From x\n", "bad thing"),
                               ("--> FOAM FATAL IO ERROR:\nno entry p\n\nfile: a\n", "no entry p"),
                               ("trapFpe: Floating point exception trapping enabled (FOAM_SIGFPE).\nlast words\n----\n", "last words"),
                               ("x\nFloating point exception (core dumped)\ny", "Floating point exception (core dumped)"),
                               ("", "it printed nothing")):
            self.assertEqual(workspace.reason(text), expected)

    def test_other_folders_are_left_alone(self):
        (self.root / "mine").mkdir()
        (self.root / "mine/file").touch()
        with self.assertRaisesRegex(WrongUse, "holds something else"):
            workspace.fresh_folder(self.root / "mine")
        self.assertTrue((self.root / "mine/file").exists())

    def test_a_folder_that_openfoam_would_misread_is_refused(self):
        folder = self.root / "a folder"
        with self.assertRaisesRegex(WrongUse, "a folder' has a blank in its path"):
            workspace.prepare(self.case, 1, folder, {})
        self.assertFalse(folder.exists())
        run = pathlib.Path(__file__).resolve().parents[1] / "cavity3d/run"
        done = subprocess.run([run, "--folder", folder], capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("a folder' has a blank in its path", done.stderr)

    def test_what_is_missing_is_named(self):
        with self.assertRaisesRegex(NotInstalled, "'no-such-program' is missing"):
            workspace.check_installed(["no-such-program"], self.root)
        with self.assertRaisesRegex(NotInstalled, "libcapstanFoam.so is missing; build it"):
            workspace.check_installed([], self.root)


if __name__ == "__main__":
    unittest.main()
