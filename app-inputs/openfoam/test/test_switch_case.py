#!/usr/bin/env python3
"""Tests of `capstan enable` and `capstan disable` on the dictionaries of a case; no OpenFOAM is needed."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

# pylint: disable=wrong-import-position
import switch_case  # noqa: E402
from tutorials.foam_text import FoamText  # noqa: E402

LIBRARY = "/opt/lib/libcapstanFoam.so"
CONTROL = b"""// Run control, in Latin-1: \xe9
FoamFile { object controlDict; }\r
application icoFoam; // ends here
deltaT 0.1;
"""
SOLUTION = b"""FoamFile { object fvSolution; }
solvers
{
    p       // pressure
    {
        solver          PCG;
        preconditioner  DIC;
        tolerance       1e-06;
    }
    pFinal { $p; relTol 0; }
    "(U|k)"
    {
        solver          PBiCGStab;
        preconditioner  DILU;
        tolerance       1e-05;
    }
    rho { solver diagonal; }
}
PISO { nCorrectors 2; }
"""


class Switch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="a case ")
        self.addCleanup(folder.cleanup)
        self.case = pathlib.Path(folder.name)
        self.write("system/controlDict", CONTROL)
        self.write("system/fvSolution", SOLUTION)

    def write(self, file, content):
        (self.case / file).parent.mkdir(parents=True, exist_ok=True)
        (self.case / file).write_bytes(content)

    def text(self, file):
        return FoamText((self.case / file).read_bytes().decode("utf-8", "surrogateescape"))

    def everything(self):
        return {path.relative_to(self.case).as_posix(): path.read_bytes() for path in self.case.rglob("*") if path.is_file()}

    def run_it(self, command, *words, status=0):
        if command == "enable":
            words += ("--library", LIBRARY)
        done = subprocess.run([sys.executable, str(ROOT / "switch_case.py"), command, str(self.case), *words], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def solver(self, key, word="solver"):
        return self.text("system/fvSolution").get(["solvers", key, word])

    def test_enable_and_disable(self):
        before = self.everything()
        said = self.run_it("enable")
        self.assertIn("p, (U|k): capstan", said)
        self.assertIn("left as it is: rho (solver diagonal)", said)
        self.assertEqual((self.solver("p"), self.solver("(U|k)"), self.solver("rho")), ("capstan", "capstan", "diagonal"))
        self.assertEqual(self.solver("p", "preconditioner"), "DIC")
        self.assertEqual(self.text("system/controlDict").get("libs"), f'("{LIBRARY}")')
        self.assertIn("// pressure", self.text("system/fvSolution").text)
        enabled = self.everything()
        self.assertIn("nothing to change", self.run_it("enable"))
        self.assertEqual(self.everything(), enabled)
        self.run_it("disable")
        self.assertEqual(self.everything(), before)
        self.assertIn("has no Capstan", self.run_it("disable", status=2))

    def test_a_method_goes_where_the_matrix_allows_it(self):
        said = self.run_it("enable", "capstan_pipelined_cg")
        self.assertEqual((self.solver("p"), self.solver("p", "method")), ("capstan", "capstan_pipelined_cg"))
        self.assertEqual(self.solver("(U|k)"), "PBiCGStab")
        self.assertIn("left as it is: (U|k) (capstan_pipelined_cg needs a symmetric matrix)", said)
        # Another choice begins from what the case was.
        self.run_it("enable", "capstan_bicgstab", "--field", "U")
        self.assertEqual((self.solver("p"), self.solver("p", "method")), ("PCG", None))
        self.assertEqual(self.solver("(U|k)", "method"), "capstan_bicgstab")
        self.run_it("enable", "--field", "p", "capstan_cg:4")
        self.assertEqual(self.text("system/fvSolution").get("solvers/p/capstan/Polynomial_Degree"), "4")
        self.run_it("disable")
        self.assertEqual((self.case / "system/fvSolution").read_bytes(), SOLUTION)

    def test_the_last_solve_of_a_step_goes_with_its_field(self):
        self.write("system/fvSolution", SOLUTION.replace(b"pFinal { $p; relTol 0; }", b"pFinal { solver GAMG; smoother DIC; tolerance 1e-7; }"))
        self.run_it("enable", "--field", "p")
        self.assertEqual((self.solver("p"), self.solver("pFinal"), self.solver("(U|k)")), ("capstan", "capstan", "PBiCGStab"))

    def test_an_entry_of_other_fields_stays_though_its_pattern_has_final(self):
        self.write("system/fvSolution", SOLUTION.replace(b'"(U|k)"', b'"(U|.*Final)"'))
        self.run_it("enable", "--field", "p")
        self.assertEqual((self.solver("p"), self.solver("(U|.*Final)")), ("capstan", "PBiCGStab"))

    def test_what_the_user_changed_since_stays(self):
        self.run_it("enable", "capstan_gmres")
        for file, old, new in (("system/fvSolution", b"1e-06", b"1e-08"), ("system/controlDict", b"0.1", b"0.2")):
            self.write(file, (self.case / file).read_bytes().replace(old, new))
        self.run_it("disable")
        self.assertEqual((self.solver("p"), self.solver("p", "method"), self.solver("p", "tolerance")), ("PCG", None, "1e-08"))
        self.assertEqual(self.text("system/controlDict").get("libs"), None)
        self.assertEqual(self.text("system/controlDict").get("deltaT"), "0.2")
        # A solver that the user has chosen since is the user's.
        self.run_it("enable")
        solution = (self.case / "system/fvSolution").read_bytes().replace(b"solver capstan;", b"solver GAMG;", 1)
        self.write("system/fvSolution", solution)
        self.run_it("disable")
        self.assertEqual((self.solver("p"), self.solver("(U|k)")), ("GAMG", "PBiCGStab"))

    def test_libraries_of_the_user_stay(self):
        for libs, expected in ((b'libs ("liba.so" b);', f'("liba.so" b "{LIBRARY}")'), (b"libs ();", f'("{LIBRARY}")'),
                               (b'libs ("/own/libcapstanFoam.so");', '("/own/libcapstanFoam.so")')):
            self.write("system/controlDict", CONTROL + libs)
            self.run_it("enable")
            self.assertEqual(self.text("system/controlDict").get("libs"), expected)
            self.write("system/controlDict", (self.case / "system/controlDict").read_bytes() + b"// more\n")
            self.run_it("disable")
            left = self.text("system/controlDict").get("libs")
            self.assertIn(left, ('("liba.so" b)', None, '("/own/libcapstanFoam.so")'))

    def test_regions_and_files_elsewhere(self):
        self.write("system/water/fvSolution", SOLUTION)
        self.write("elsewhere", SOLUTION)
        (self.case / "system/fvSolution").unlink()
        (self.case / "system/fvSolution").symlink_to(self.case / "elsewhere")
        (self.case / "elsewhere").chmod(0o640)
        before = self.everything()
        self.run_it("enable")
        self.assertTrue((self.case / "system/fvSolution").is_symlink())
        self.assertEqual((self.case / "elsewhere").stat().st_mode & 0o777, 0o640)
        self.assertEqual(self.text("system/water/fvSolution").get("solvers/p/solver"), "capstan")
        self.run_it("disable")
        self.assertEqual(self.everything(), before)

    def test_mistakes_change_nothing(self):
        before = self.everything()
        for words, said in ((("capstan_gc",), "found 'capstan_gc'; allowed: capstan, capstan_cg"), (("capstan_gc",), "did you mean 'capstan_cg'?"),
                            (("capstan", "--field", "q"), "--field: found 'q', for which no solver entry stands; there are: p, (U|k), rho"),
                            (("capstan_cg", "--field", "U"), "is not known to be symmetric"), (("capstan_gmres:3",), "has no degree"),
                            (("capstan", "--field", "rho"), "no solver entry takes it")):
            self.assertIn(said, self.run_it("enable", *words, status=2))
        self.assertIn("p, (U|k): capstan", self.run_it("enable", "--dry-run"))
        self.assertEqual(self.everything(), before)

    def test_what_is_no_case_is_refused(self):
        for prepare, said in ((lambda: self.write("system/fvSolution", b'solvers { #include "solvers" }'), "names a solver"),
                              (lambda: self.write("system/fvSolution", b"solvers { p { solver PCG; }"), "is never closed"),
                              (lambda: os.rename(self.case / "system/fvSolution", self.case / "system/fvSolution.gz"), "gunzip"),
                              (lambda: (self.case / "system/fvSolution.gz").unlink(), "it holds no system/fvSolution"),
                              (lambda: (self.case / "system/controlDict").unlink(), "is no OpenFOAM case")):
            prepare()
            before = self.everything()
            self.assertIn(said, self.run_it("enable", status=1 if "closed" in said else 2))
            self.assertEqual(self.everything(), before)
        self.case = self.case / "nowhere"
        self.assertIn("is no folder", self.run_it("enable", status=2))

    def test_nothing_is_half_written(self):
        """Whatever write fails, the case is as it was, or `disable` brings it back."""
        before = self.everything()
        words = ["enable", str(self.case), "--library", LIBRARY]
        real = os.replace
        for fails in range(3):
            calls = []

            def replace(source, target, fails=fails, calls=calls):
                calls.append(target)
                if len(calls) == fails + 1:
                    raise OSError(28, "No space left on device")
                real(source, target)

            with unittest.mock.patch.object(switch_case.os, "replace", replace), unittest.mock.patch("sys.stdout"), \
                    unittest.mock.patch("sys.stderr"):
                self.assertEqual(switch_case.main(words), 1)
            self.assertFalse([name for name in self.everything() if "tmp" in name or name.count("/.")], "no temporary file stays")
            # A solver is never named without its library.
            self.assertTrue(self.solver("p") != "capstan" or LIBRARY in self.text("system/controlDict").text)
            if fails:
                self.run_it("disable")
            self.assertEqual(self.everything(), before)

    def test_a_broken_record_is_named(self):
        self.run_it("enable")
        enabled = self.everything()
        self.write(switch_case.STATE, b"{}")
        self.assertIn("is not what 'capstan enable' wrote", self.run_it("disable", status=1))
        self.write(switch_case.STATE, enabled[switch_case.STATE])
        self.assertEqual(json.loads(enabled[switch_case.STATE])["format"], 1)
        self.run_it("disable")


if __name__ == "__main__":
    unittest.main()
