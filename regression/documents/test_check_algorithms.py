#!/usr/bin/env python3
"""Shows that check_algorithms.py notices lines without a statement, numbers without a line, and tables that are not current."""

import importlib.util
import pathlib
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent / "check_algorithms.py"
spec = importlib.util.spec_from_file_location("check_algorithms", SCRIPT)
check = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check)

PAGE = """# Steepest descent
```
 1    r = b - A x
 2-3      alpha = (r, r) / (r, A r)    |r| is not zero
 5        x = x + alpha r
      compute b - A x; return where it meets the tolerance
```

<!-- begin algorithm: descent -->
<!-- end algorithm -->
"""
SOLVER = """/// `line 9` in the head counts for nothing.
class Descent {
  void cycle(Vector& x, int most) {
    begin(x);  // line 1: r = b - A x
    for (int i = 0; i < most || !ends(); ++i) {  // of line 8
      const Scalar alpha =
          ratio(products(r_));  // lines 2, 3
      step(x, alpha);  // line 5
    }
  }
  void step(Vector& x, Scalar alpha) { x.update(alpha, r_); }  // line 5
};
"""
ALGORITHMS = [("descent", "descent", ["descent/descent.hpp"])]


class CheckAlgorithms(unittest.TestCase):
    def tree(self, page, solver, others):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name)
        files = {"docs/methods/descent.md": page, "belos_ext/solvers/descent/descent.hpp": solver, **others}
        for name, content in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(content, encoding="utf-8")
        return root

    def problems(self, page=PAGE, solver=SOLVER, others=None, open_pages=()):
        """What is left after an update."""
        root = self.tree(page, solver, others or {})
        check.update(root, ALGORITHMS)
        return list(check.problems(root, ALGORITHMS, open_pages))

    def test_a_sound_page_passes(self):
        self.assertEqual(self.problems(), [])

    def test_the_table_has_both(self):
        root = self.tree(PAGE, SOLVER, {})
        check.update(root, ALGORITHMS)
        made = (root / "docs/methods/descent.md").read_text(encoding="utf-8")
        for row in ("| 1 | `` r = b - A x `` | `` Descent::cycle() `` `` begin(x) `` |",
                    "| 2-3 | `` alpha = (r, r) / (r, A r) ``: `` \\|r\\| is not zero `` | `` Descent::cycle() `` "
                    "`` const Scalar alpha = ratio(products(r_)) `` |",
                    "| 5 | `` x = x + alpha r `` | `` Descent::cycle() `` `` step(x, alpha) ``<br>`` Descent::step() `` "):
            self.assertIn(row, made)

    def test_a_table_that_is_not_current_is_found(self):
        root = self.tree(PAGE, SOLVER, {})
        self.assertRegex("".join(check.problems(root, ALGORITHMS, ())), "table of 'descent' is not current; update: python3")
        check.update(root, ALGORITHMS)
        solver = root / "belos_ext/solvers/descent/descent.hpp"
        solver.write_text(SOLVER.replace("begin(x)", "begin(x, b)"), encoding="utf-8")
        self.assertRegex("".join(check.problems(root, ALGORITHMS, ())), "is not current")

    def test_a_line_without_a_statement_is_found(self):
        self.assertRegex("".join(self.problems(solver=SOLVER.replace("// line 1: ", "// "))), "line 1 of 'descent' has no statement .*r = b")
        self.assertRegex("".join(self.problems(page=PAGE.replace(" 5   ", " 6   "))), "line 6 of 'descent' has no statement")

    def test_a_number_without_a_line_is_found(self):
        self.assertRegex("".join(self.problems(solver=SOLVER.replace("lines 2, 3", "lines 2 to 4"))), r"cycle\(\): .* is line \[4\] of 'descent'")

    def test_a_line_without_a_number_is_found(self):
        self.assertRegex("".join(self.problems(page=PAGE.replace(" 5   ", "     "))), "a line of 'descent' has no number: 'x = x")

    def test_pages_without_markers_or_without_an_algorithm_are_found(self):
        self.assertRegex("".join(self.problems(page=PAGE.replace("<!-- end algorithm -->", ""))), "is missing, or its markers are")
        self.assertRegex("".join(self.problems(page="# None\n")), "no block of code with numbered lines")
        other = {"docs/methods/other.md": "# Other\n"}
        self.assertRegex("".join(self.problems(others=other)), r"other.md: found the algorithms \[\]; ALGORITHMS has \[\]")
        self.assertEqual(self.problems(others=other, open_pages=("other",)), [])
        self.assertRegex("".join(self.problems(open_pages=("descent",))), "descent.md: found the algorithms")

    def test_a_file_in_no_algorithm_is_found(self):
        self.assertRegex("".join(self.problems(others={"belos_ext/solvers/other.hpp": SOLVER})), "other.hpp: statements say which line")


if __name__ == "__main__":
    unittest.main()
