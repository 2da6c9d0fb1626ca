"""A rank that dies with reductions in flight: the run ends, and with an error, whatever the others are doing.

usage: test_rank_death.py <rank_death> <mpiexec> <flag for the number of ranks>
"""

import subprocess
import sys
import unittest

PROGRAM, MPIEXEC, RANKS_FLAG = sys.argv[1:4]


class RankDeath(unittest.TestCase):
    def test_the_run_ends_with_an_error(self):
        for mode in ("none", "poll", "thread"):
            for doing in ("wait", "destructor"):
                with self.subTest(mode=mode, doing=doing):
                    # The limit is far beyond what a run takes, so that only a hang meets it.
                    run = subprocess.run([MPIEXEC, RANKS_FLAG, "3", PROGRAM, mode, doing], capture_output=True, text=True,
                                         check=False, stdin=subprocess.DEVNULL, timeout=100)
                    self.assertNotEqual(run.returncode, 0, run.stdout + run.stderr)
                    for rank in range(3):
                        self.assertIn(f"rank {rank} under {mode}", run.stdout, run.stderr)
                    self.assertNotIn("past the reduction", run.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
