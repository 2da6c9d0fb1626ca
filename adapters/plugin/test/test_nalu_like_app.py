#!/usr/bin/env python3
"""Options past an application that solves as Nalu-wind does: labels, redirects, and what is told at the end.

usage: test_nalu_like_app.py <application> <libcapstan.so> <mpiexec> <flag for the number of ranks>
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

APPLICATION, LIBRARY, MPIEXEC, RANKS_FLAG = sys.argv[1:5]
NEVER_USED = "Capstan: options that this run has not used"


class NaluLikeApp(unittest.TestCase):
    def run_with(self, options="", method="gmres", ranks=2, as_file=False):
        """What the application prints to both streams; it must not fail."""
        with tempfile.TemporaryDirectory() as folder:
            variables = {"CAPSTAN_OPTIONS": options}
            if as_file:
                file = pathlib.Path(folder) / "options.yaml"
                file.write_text(options, encoding="utf-8")
                variables = {"CAPSTAN_OPTIONS_FILE": str(file)}
            if "ASAN_OPTIONS" in os.environ:  # the preloaded library comes before the sanitizer's own
                variables["ASAN_OPTIONS"] = os.environ["ASAN_OPTIONS"] + ":verify_asan_link_order=0"
            words = [f"{name}={value}" for name, value in variables.items()]
            run = subprocess.run([MPIEXEC, RANKS_FLAG, str(ranks), "env", f"LD_PRELOAD={LIBRARY}", *words, APPLICATION,
                                  f"--method={method}"], capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 3 if "error" in run.stdout else 0, run.stdout + run.stderr)
        return run.stdout + run.stderr

    def summary(self, output):
        """The beginnings of the lines about solves, in order."""
        return [line.split(": ")[0] for line in output.splitlines() if line.startswith("CAPSTAN") and ": converged" in line]

    def test_systems_keep_their_numbers_although_solvers_are_made_anew(self):
        for ranks in (1, 2, 3):
            output = self.run_with("verbosity: FinalSummary", method="capstan_gmres", ranks=ranks)
            self.assertEqual(self.summary(output), ['CAPSTAN GMRES, "capstan_gmres", system 1',
                                                    'CAPSTAN GMRES, "capstan_gmres", system 2'] * 3, output)
            self.assertNotIn(NEVER_USED, output)

    def test_labels_tell_momentum_from_pressure(self):
        """By call order, by symmetry, and both by the name that is the method."""
        for first, second in (("system 1", "system 2"), ("nonsymmetric", "symmetric"),
                              ("Capstan_GMRES and nonsymmetric", "capstan gmres and system 2")):
            options = f"""
verbosity: FinalSummary
labels:
  {first}: {{solver_name: momentum}}
  {second}: {{solver_name: pressure}}
"""
            output = self.run_with(options, method="capstan_gmres", as_file=True)
            self.assertEqual(self.summary(output), ['CAPSTAN GMRES, "momentum", system 1',
                                                    'CAPSTAN GMRES, "pressure", system 2'] * 3, output)
            self.assertNotIn(NEVER_USED, output)

    def test_the_rows_decide(self):
        options = "{verbosity: FinalSummary, labels: {rows >= 576: {solver_name: large}, rows > 576: {solver_name: larger}}}"
        output = self.run_with(options, method="capstan_bicgstab")
        self.assertEqual(self.summary(output), ['CAPSTAN BICGSTAB, "large", system 1',
                                                'CAPSTAN BICGSTAB, "large", system 2'] * 3,
                         output)
        self.assertEqual(output.count(NEVER_USED), 1, output)
        self.assertIn("CAPSTAN_OPTIONS, line 1: labels.rows > 576: no solve fits it", output)
        self.assertIn('system 2: "capstan_bicgstab", CAPSTAN BICGSTAB, 576 rows', output)

    def test_plans_outlive_the_solvers(self):
        """The application makes solvers and matrices anew: the plan of a system is made once."""
        for ranks in (1, 2, 3):
            output = self.run_with("{verbosity: FinalSummary, communication_strategy: two-step, ranks_per_node: 1}",
                                   method="capstan_gmres", ranks=ranks)
            lines = [line.split(": communication: ") for line in output.splitlines() if ": communication: " in line]
            self.assertEqual(len(lines), 6, output)
            for system in ("system 1", "system 2"):
                made = [text.endswith("plan of an earlier solve") for front, text in lines if front.endswith(system)]
                self.assertEqual(made[1:], [True, True], output)
            self.assertNotIn(NEVER_USED, output)

    def test_redirects_in_nalu_winds_words(self):
        """gmres arrives as PSEUDOBLOCK GMRES, sstep_gmres as TPETRA GMRES S-STEP."""
        options = "{verbosity: FinalSummary, redirect: {gmres: capstan_sstep_gmres}}"
        output = self.run_with(options)
        self.assertEqual(self.summary(output)[0], 'CAPSTAN GMRES S-STEP, "gmres", system 1', output)
        self.assertEqual(len(self.summary(output)), 6, output)
        self.assertNotIn(NEVER_USED, output)
        output = self.run_with(options.replace("gmres:", "sstep_gmres:"), method="sstep_gmres")
        self.assertEqual(self.summary(output)[0], 'CAPSTAN GMRES S-STEP, "sstep_gmres", system 1', output)
        self.assertEqual(output.count('"CholeskyQR2" = true is left out'), 1, output)
        self.assertEqual(output.count('"Step Size" = 21925 is no step size'), 1, output)
        self.assertNotIn(NEVER_USED, output)

    def test_what_was_never_used_is_told_once_at_the_end(self):
        options = """
redirect: {block gmres: capstan_gmres}
step_size: 5
labels:
  presure: {num_blocks: 20}
"""
        output = self.run_with(options, as_file=True, ranks=3)
        self.assertEqual(output.count(NEVER_USED), 1, output)
        self.assertIn("options.yaml, line 2: redirect.block gmres: no solve was asked for by that name; asked for: "
                      '"PSEUDOBLOCK GMRES"', output)
        self.assertIn("options.yaml, line 3: step_size: there was no solve by Capstan", output)
        self.assertIn("options.yaml, line 5: labels.presure: there was no solve by Capstan", output)
        output = self.run_with("{labels: {capstan_gmre: {num_blocks: 20}}, step_size: 5}", method="capstan_gmres")
        self.assertEqual(output.count(NEVER_USED), 1, output)
        self.assertIn('labels.capstan_gmre: no solve fits it; did you mean "CAPSTAN GMRES"?', output)
        self.assertIn("step_size: no solver that takes it has solved", output)

    def test_a_wrong_label_ends_the_run_before_any_solve(self):
        output = self.run_with("{verbosity: FinalSummary, labels: {row > 5: {}}}", method="capstan_gmres")
        self.assertIn('error: Capstan options: CAPSTAN_OPTIONS, line 1: labels.row > 5: only rows can be compared', output)
        self.assertEqual(self.summary(output), [])

    def test_a_name_that_was_not_written_to_its_end(self):
        self.assertIn('did you mean "capstan_sstep_gmres"?', self.run_with(method="capstan_sstp"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
