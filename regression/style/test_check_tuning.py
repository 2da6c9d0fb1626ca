#!/usr/bin/env python3
"""Shows that check_tuning.py notices numbers outside namespaces of tuning, and numbers in them without a reason."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parent / "check_tuning.py"
TUNING = """namespace capstan::tuning::cg {
/// Iterations between renewals. Measured: 522 iterations.
inline constexpr int renewal = 10;
/// Two lines. Source:
/// [Saad 1993].
inline constexpr double most = 1e-3;
inline constexpr double mostOfAll = 1;
}  // namespace capstan::tuning::cg

/// Derived: all of them.
namespace capstan::tuning::gmres {
/// A factor.
inline constexpr std::array<int, 2> factors = {1, 2};
}  // namespace capstan::tuning::gmres
"""
SOURCE = """/// constexpr int inComment = 3;
static constexpr const char* name = "constexpr int 3 = 4;";
static constexpr int unlimited = std::numeric_limits<int>::max();
static constexpr double tolerance = std::max(tuning::cg::most, tuning::cg::factor2);
static constexpr auto& factors = tuning::gmres::factors;
constexpr int next(int i) { return i + 1; }
const int local = 3;
"""


class CheckTuning(unittest.TestCase):
    def problems(self, source=SOURCE, tuning=TUNING, path="belos_ext/solvers/cg/a.hpp"):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in (("belos_ext/solvers/cg/b.hpp", tuning), (path, source)):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")
            run = subprocess.run([sys.executable, str(CHECK), folder], capture_output=True, text=True, check=False)
            found = run.stdout.splitlines()
            self.assertEqual(run.returncode, 1 if any(":" in line for line in found) else 0, run.stdout + run.stderr)
            return found

    def test_sound_sources_pass(self):
        self.assertEqual(self.problems(), ["all numbers to decide by say where they come from"])

    def test_numbers_elsewhere_are_found(self):
        for line in ("static constexpr double factor = 2;", "static constexpr int few = 20, many = 30;",
                     "static constexpr Scalar safety = static_cast<Scalar>(1e-5);", "static const double least{.5};",
                     "constexpr std::size_t most = 4;", "static constexpr std::array<int, 2> two = {3, 4};",
                     "static constexpr int max = std::numeric_limits<int>::max(), least = 7;",
                     "static constexpr Scalar rounding =\n    10 * std::numeric_limits<Scalar>::epsilon();"):
            found = self.problems(SOURCE + line + "\n")
            self.assertEqual(len(found), 1, line)
            self.assertIn("a.hpp:8: ", found[0])
            self.assertIn("belongs in a namespace capstan::tuning", found[0])

    def test_all_folders_of_methods_and_policies_are_looked_at(self):
        number = "constexpr double factor = 2;\n"
        for folder in ("basis", "convergence", "dense", "guess", "orthogonalization", "problem", "solvers", "spectrum",
                       "supervision"):
            path = f"belos_ext/{folder}/a.cpp"
            self.assertIn(f"{path}:1: 'factor'", self.problems(number, path=path)[0])
        self.assertIn("all numbers", self.problems(number, path="belos_ext/manager/a.cpp")[0])

    def test_what_tunes_nothing_stays_where_it_is_alone(self):
        pi = "constexpr double pi = 3.14159265358979323846;\n"
        self.assertIn("all numbers", self.problems(pi, path="belos_ext/spectrum/spectrum_estimate.hpp")[0])
        self.assertIn("'pi'", self.problems(pi, path="belos_ext/spectrum/other.hpp")[0])

    def test_a_number_without_a_reason_is_found(self):
        found = self.problems(tuning=TUNING.replace(" Measured: 522 iterations.", ""))
        self.assertEqual(len(found), 1)
        self.assertIn("b.hpp:3: 'renewal' does not say where it comes from", found[0])
        found = self.problems(tuning=TUNING.replace("Derived: all of them.", "All of them."))
        self.assertIn("'factors' does not say", found[0])

    def test_a_reason_ends_with_its_number(self):
        plain = "\n/// Plain.\ninline constexpr int i = 3;\n}  // namespace capstan::tuning::cg"
        found = self.problems(tuning=TUNING.replace("}  // namespace capstan::tuning::cg", plain))
        self.assertIn("'i' does not say", found[0])

    def test_no_constants_are_a_problem(self):
        self.assertIn("no constants found", self.problems(tuning="")[0])


if __name__ == "__main__":
    unittest.main()
