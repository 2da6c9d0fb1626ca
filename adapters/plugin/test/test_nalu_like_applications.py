#!/usr/bin/env python3
"""Applications of the preconditioners in an application that solves as Nalu-wind does, by every method of Capstan: hardly
more than iterations, although each solve has a solver of its own and two systems share a method.

usage: test_nalu_like_applications.py <application> <libcapstan.so> <mpiexec> <flag for the number of ranks> <MueLu's XML>
       <method>...
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

APPLICATION, LIBRARY, MPIEXEC, RANKS_FLAG, MULTIGRID = sys.argv[1:6]
METHODS = sys.argv[6:]
STEPS = 6
SUMMARY = re.compile(r"^(.*): applications: A (\d+) \((\d+) at the start, (-?\d+) beyond the iterations\), "
                     r"M (\d+) \((\d+) at the start, (-?\d+) beyond the iterations\); "
                     r"all-reduces: (\d+) blocking, (\d+) nonblocking$", re.MULTILINE)


def is_cg(method):
    return method.endswith("cg")


def ahead(method):
    """Products that a pipeline may have begun when the first solve ends: l, and 3 in blocks."""
    return 0 if "pipelined" not in method else 3 if "sstep" in method else 1


class Applications(unittest.TestCase):
    def solves(self, method, ranks=2, only=""):
        """The reports of momentum and of pressure, in order; the summaries say the same."""
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder) / "report.json"
            variables = {"LD_PRELOAD": LIBRARY, "CAPSTAN_OPTIONS": f"{{verbosity: FinalSummary, report_file: {report}}}"}
            if "ASAN_OPTIONS" in os.environ:  # the preloaded library comes before the sanitizer's own
                variables["ASAN_OPTIONS"] = os.environ["ASAN_OPTIONS"] + ":verify_asan_link_order=0"
            words = [f"{name}={value}" for name, value in variables.items()]
            # Convection makes momentum nonsymmetric.
            run = subprocess.run([MPIEXEC, RANKS_FLAG, str(ranks), "env", *words, APPLICATION, f"--method={method}",
                                  f"--multigrid={MULTIGRID}", f"--wind={0 if is_cg(method) else 1.5}", f"--steps={STEPS}",
                                  f"--only={only}"], capture_output=True, text=True, check=False)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            reports = json.loads(report.read_text(encoding="utf-8"))
        self.assertEqual([numbers for _, *numbers in SUMMARY.findall(run.stdout)],
                         [[str(number) for number in self.numbers(one)] for one in reports], run.stdout)
        return [[one for one in reports if len(one["right_hand_sides"]) == columns] for columns in (3, 1)]

    @staticmethod
    def numbers(report):
        """What a summary line says, in its order."""
        start, beyond = report["applications_at_start"], report["applications_beyond_iterations"]
        return [report["operator_applications"], start["operator"], beyond["operator"],
                report["preconditioner_applications"], start["preconditioner"], beyond["preconditioner"],
                report["reductions"]["blocking"], report["reductions"]["nonblocking"]]

    def check_account(self, method, report):
        """All applications are those of iterations, of the start, or beyond."""
        each = 2 if "bicgstab" in method else 1
        for key in ("operator", "preconditioner"):
            self.assertEqual(report[f"{key}_applications"], report["applications_at_start"][key]
                             + each * report["iterations_in_turn"] + report["applications_beyond_iterations"][key])
        self.assertTrue(report["converged"])
        # The last iteration of BiCGStab may be half a one.
        self.assertGreaterEqual(report["applications_beyond_iterations"]["operator"], 2 - each)

    def wasted(self, method, report):
        """Applications of M beyond those of the iterations; right-hand sides that advance together count once."""
        each = 2 if "bicgstab" in method else 1
        count = report["iterations_in_turn"]
        if method == "capstan_ecg" and len(report["right_hand_sides"]) > 1:
            # Each right-hand side has directions of its own, to which M is applied apart.
            count = sum(column["iterations"] for column in report["right_hand_sides"])
        return report["preconditioner_applications"] - each * count

    def test_hardly_more_than_iterations(self):
        for method in METHODS:
            for ranks in (1, 2):
                for name, reports in zip(("momentum", "pressure"), self.solves(method, ranks)):
                    with self.subTest(method=method, ranks=ranks, system=name):
                        self.assertEqual(len(reports), STEPS)
                        for report in reports:
                            self.check_account(method, report)
                        first, *later = [self.wasted(method, report) for report in reports]
                        print(method, ranks, name, [report["iterations"] for report in reports], first, later,
                              file=sys.stderr)
                        self.assertLessEqual(first, 2 + ahead(method))
                        # x is zero, which is known from the second solve on: then the first residual takes no product.
                        starts = [report["applications_at_start"]["operator"] for report in reports]
                        self.assertGreaterEqual(starts[0], 1)
                        self.assertLessEqual(sum(starts[1:]), (starts[0] - 1) * len(later))
                        # Two keep M^-1 V, and two need M for residuals only.
                        needless = method in ("capstan_gmres", "capstan_sstep_gmres", "capstan_cg", "capstan_pipelined_cg")
                        # Conjugate residuals give up the momentum, which is not symmetric: GMRES begins once more.
                        each = 0 if needless else 2 if "_cr" in method and name == "momentum" else 1
                        self.assertLessEqual(sum(later), each * len(later))

    def test_systems_do_not_spoil_each_other(self):
        """Momentum and pressure take the same steps as in runs of their own: shifts, bounds, step sizes are not mixed."""
        for method in METHODS:
            if not re.search("sstep|pipelined_(gmres|cg)", method):
                continue  # they keep none
            together = self.solves(method)
            for index, only in enumerate(("momentum", "pressure")):
                with self.subTest(method=method, system=only):
                    alone = self.solves(method, only=only)
                    self.assertEqual(alone[1 - index], [])
                    seen = [[(*self.numbers(report), report["iterations"], report["final_step_size"]) for report in reports]
                            for reports in (together[index], alone[index])]
                    self.assertEqual(*seen)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
