#pragma once
/// \file
/// Sequences of solves with "Initial Guess".

#include <cmath>
#include <functional>
#include <string>

#include "belos_ext/guess/guess_store.hpp"
#include "belos_ext/manager/state_cache.hpp"
#include "belos_ext/test/solvers/solver_suite.hpp"

namespace capstan::testing {

inline Params guessing(const std::string& guess, double tolerance = 1e-8) {
  Params p;
  p.set("Solver Name", "guessed");  // a matrix made anew beside another one is the same system
  p.set("Initial Guess", guess);
  p.set("Convergence Tolerance", tolerance);
  return p;
}

/// Nothing is known of earlier tests.
inline void forgetAll() {
  StateCache::instance().clear();
  GuessStore::instance().clear();
}

class Guess : public EverySolver {
 protected:
  void SetUp() override { forgetAll(); }
  void TearDown() override { forgetAll(); }

  static RCP<CrsMatrix> matrix(GO n = 16) { return grid2d(n, n, isCg(GetParam()) ? 0.0 : 0.3); }

  /// As an application that makes its solver anew for every solve.
  static Outcome anew(const System& system, const Params& p, Side side = Side::None) {
    const auto own = copyOf(*system.x);
    const Outcome outcome = solve(GetParam(), p, system, side);
    if (outcome.converged && !p.isParameter("Residual Scaling")) {
      EXPECT_LE(relativeResidual(system, *own), 1.001 * p.get<double>("Convergence Tolerance"));
    }
    expectSameOnAllRanks(outcome);
    return outcome;
  }

  static GuessReport guess(const Outcome& outcome, size_t c = 0) { return outcome.report.rightHandSides.at(c).guess; }
};

inline Scalar first(GO g) { return wave(g); }
inline Scalar second(GO g) { return std::sin(0.05 * static_cast<double>(g)); }
inline Scalar mixture(GO g) { return 0.3 * first(g) - 2 * second(g); }

}  // namespace capstan::testing
