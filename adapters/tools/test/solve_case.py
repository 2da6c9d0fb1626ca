"""What the tests of capstan-solve share: the program, decks, and running the one on the other.

usage of each test: <test> <capstan-solve> <mpiexec> <flag for the number of ranks> [arguments of unittest]
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM, MPIEXEC, RANKS_FLAG = str(pathlib.Path(sys.argv[1]).resolve()), *sys.argv[2:4]

DECK = """\
linear_solvers:
  - name: gm
    method: block gmres
    preconditioner: sgs
    tolerance: 1.e-6
    max_iterations: 200
    kspace: 50
  - name: cg
    method: pseudoblock cg
    preconditioner: jacobi
    tolerance: 1.e-6
    max_iterations: 200
systems:
  - name: small
    generate: {problem: laplace2d, cells: 12}
"""

MATRIX = "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 4\n2 2 3\n3 3 5\n1 3 -1\n"
VECTOR = "%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n"


class SolveCase(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def write(self, name, text):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    def run_solve(self, *arguments, ranks=1, variables=None):
        command = [MPIEXEC, RANKS_FLAG, str(ranks)] if ranks > 1 else []
        return subprocess.run([*command, PROGRAM, *arguments], capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL, cwd=self.folder, timeout=120,
                              env={**os.environ, **(variables or {})})

    def solve(self, deck, *arguments, **options):
        return self.run_solve(self.write("deck.yaml", deck), *arguments, **options)

    def refused(self, deck, *expected, arguments=(), ranks=1):
        """The deck is refused with status 2, says what is expected, prints no result and leaves no file behind."""
        before = sorted(self.folder.iterdir())
        outputs = ["--report", "report.json", "--history", "history.csv"]
        run = self.solve(deck, *outputs, *arguments, ranks=ranks)
        self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
        for text in expected:
            self.assertIn(text, run.stderr)
        self.assertEqual(run.stdout, "")
        after = [path for path in sorted(self.folder.iterdir()) if path.name != "deck.yaml"]
        self.assertEqual(after, [path for path in before if path.name != "deck.yaml"], "something was left behind")
        return run.stderr


def main():
    unittest.main(module="__main__", argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
