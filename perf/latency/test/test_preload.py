#!/usr/bin/env python3
"""Tests of libcapstan_latency.so under a program that does not know it: LD_PRELOAD, errors.

usage: test_preload.py --launcher <mpiexec> --library <libcapstan_latency.so> --probe <latency_probe> [unittest arguments].
Emulated time is a lower bound; nothing depends on how fast anything is.
"""

import argparse
import os
import subprocess
import sys
import unittest

GIVEN = None


def run(settings, library=True, count=4, ranks=2, later=()):
    variables = {name: value for name, value in os.environ.items() if not name.startswith("CAPSTAN_LATENCY")}
    command = [GIVEN.launcher, "-n", str(ranks), "env"]
    if library:
        command.append(f"LD_PRELOAD={GIVEN.library}")
    command += [f"{name}={value}" for name, value in settings.items()] + [GIVEN.probe, str(count), *later]
    return subprocess.run(command, env=variables, capture_output=True, text=True, timeout=120, check=False)


class Preload(unittest.TestCase):
    def test_no_all_reduce_is_early(self):
        done = run({"CAPSTAN_LATENCY_US": "3000", "CAPSTAN_LATENCY_WAIT": "yield"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(float(done.stdout), 3000)

    def test_without_settings_it_only_passes_on(self):
        done = run({})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(float(done.stdout), 0)

    def test_a_program_may_change_the_latency(self):
        done = run({"CAPSTAN_LATENCY_US": "0", "CAPSTAN_LATENCY_WAIT": "yield"}, later=["3000"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(float(done.stdout), 3000)
        for settings, library, later in (({}, True, "3000"), ({}, False, "3000"), ({"CAPSTAN_LATENCY_US": "0"}, True, "-1")):
            self.assertNotEqual(run(settings, library=library, later=[later]).returncode, 0, (settings, library, later))

    def test_it_counts(self):
        done = run({"CAPSTAN_LATENCY_US": "0", "CAPSTAN_LATENCY_COUNT": "yes"}, count=5)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"capstan latency layer: \d+ blocking and \d+ nonblocking all-reduces")
        self.assertEqual(done.stderr.count("all-reduces"), 1, "said once, not by every rank")
        blocking, nonblocking = (int(word) for word in done.stderr.split() if word.isdigit())
        more = run({"CAPSTAN_LATENCY_US": "0", "CAPSTAN_LATENCY_COUNT": "yes"}, count=8).stderr
        self.assertEqual(sum(int(word) for word in more.split() if word.isdigit()), blocking + nonblocking + 3)

    def test_bad_settings_end_the_program_before_it_works(self):
        for name, value, part in (
                ("CAPSTAN_LATENCY_US", "soon", "value 'soon' is not allowed; allowed: a number of microseconds"),
                ("CAPSTAN_LATENCY_MICROSECONDS", "1", "unknown variable; known: CAPSTAN_LATENCY_US")):
            done = run({name: value})
            self.assertNotEqual(done.returncode, 0, name)
            self.assertEqual(done.stdout.strip(), "", name)
            self.assertIn(part, done.stderr)
            self.assertIn(name, done.stderr)
            self.assertEqual(done.stderr.count(part), 1, "said once, not by every rank:\n" + done.stderr)

    def test_library_shows_nothing_but_mpi(self):
        symbols = subprocess.run(["nm", "-D", "--defined-only", GIVEN.library], capture_output=True, text=True, check=True)
        names = {line.split()[-1] for line in symbols.stdout.splitlines()}
        self.assertIn("MPI_Iallreduce", names)
        self.assertIn("PMPI_Waitany", names)
        self.assertEqual({name for name in names if name.startswith("MPI_")},
                         {name[1:] for name in names if name.startswith("PMPI_")})
        self.assertEqual({name for name in names if "capstan" in name}, {"capstan_latency_set"})


def main():
    global GIVEN
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("launcher", "library", "probe"):
        parser.add_argument("--" + name, required=True)
    GIVEN, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
