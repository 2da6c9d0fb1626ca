/// \file
/// How many iterations s-step GMRES takes on the real matrices beside the repository, against GMRES.

#include <algorithm>
#include <iostream>

#include "belos_ext/test/solvers/real_matrices.hpp"
#include "belos_ext/test/support/methods.hpp"

namespace capstan::testing {
namespace {

/// Iterations of GMRES beyond which a matrix is left out, to be quick.
constexpr int few = 300;
/// An ill-conditioned panel that gets through costs a restart, and the last bits of a sum decide which one does.
constexpr double factor = 1.35;

Outcome run(const std::string& method, const std::string& stepSize, int maxIterations, const System& system,
            Side side) {
  Params p;
  p.set("Convergence Tolerance", 1e-8);
  p.set("Maximum Iterations", maxIterations);
  p.set("Num Blocks", 100);
  p.set("State Cache", false);
  if (method == id::SStepGmres) p.set("Step Size", stepSize);
  system.x->putScalar(0);
  return solve(methodOf(method), p, system, side);
}

TEST(RealMatrices, SStepGmresKeepsUpWithGmres) {
  CAPSTAN_NEEDS_REAL_MATRICES();
  int solves = 0;
  double worst = 0;
  for (const std::string& name : nonsymmetricNames()) {
    if (ranks() > 1 && fileSize(name) > 150000) continue;
    const System system = systemFrom(name);
    for (const Side side : {Side::None, Side::Right}) {
      SCOPED_TRACE(name + ", " + toString(side));
      const int classical = [&] {
        const Outcome outcome = run(id::Gmres, "", few, system, side);
        return outcome.converged ? outcome.iterations : 0;
      }();
      if (classical == 0) continue;
      std::string line = name + ", " + toString(side) + ": " + std::to_string(classical) + " iterations; s-step";
      for (const std::string stepSize : {"5", "10", "auto"}) {
        const Outcome outcome = run(id::SStepGmres, stepSize, 3 * few, system, side);
        EXPECT_TRUE(outcome.converged) << "Step Size " << stepSize << ": " << toString(outcome.report.reason);
        EXPECT_LE(outcome.iterations, factor * classical) << "Step Size " << stepSize;
        ++solves;
        worst = std::max(worst, static_cast<double>(outcome.iterations) / classical);
        line += " " + std::to_string(outcome.iterations) + " (s = " + stepSize + ", " +
                std::to_string(outcome.report.reductionsBlocking) + " reductions)";
      }
      if (rank() == 0) std::cout << line << '\n';
    }
  }
  if (rank() == 0) std::cout << solves << " solves, at most " << worst << " times the iterations of GMRES\n";
  EXPECT_GT(solves, 0);
}

}  // namespace
}  // namespace capstan::testing
