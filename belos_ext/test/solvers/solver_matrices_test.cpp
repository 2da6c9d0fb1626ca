/// \file
/// Every solver on the real matrices beside the repository: what is called converged has converged.

#include <algorithm>
#include <array>
#include <iostream>

#include "belos_ext/test/solvers/real_matrices.hpp"
#include "belos_ext/test/support/methods.hpp"

namespace capstan::testing {
namespace {

struct Tally {
  int solves = 0, converged = 0;
};

/// Few iterations: it is honesty that is tested here, not how fast a matrix without its preconditioner can be solved.
void solveEveryWay(const System& system, Tally& tally) {
  for (const MethodTraits& name : methods()) {
    for (Side side : {Side::None, Side::Left, Side::Right}) {
      SCOPED_TRACE(name.canonical + ", " + toString(side));
      Params p;
      p.set("Convergence Tolerance", 1e-6);
      p.set("Maximum Iterations", 40);
      p.set("State Cache", false);
      if (isGmres(name)) p.set("Num Blocks", 25);
      system.x->putScalar(0);
      const auto guess = copyOf(*system.x);
      const Outcome outcome = solve(name, p, system, side);
      const double relative = relativeResidual(system, *guess);
      ++tally.solves;
      if (outcome.converged) {
        ++tally.converged;
        EXPECT_LE(relative, 1e-6 * (1 + 1e-6)) << "false convergence";
      }
      EXPECT_TRUE(allFinite(*system.x));
      EXPECT_LE(outcome.iterations, 40);
      expectSameOnAllRanks(outcome);
    }
  }
}

TEST(RealMatrices, AreNeverFalselyConverged) {
  CAPSTAN_NEEDS_REAL_MATRICES();
  std::vector<std::string> names = matrixNames();
  ASSERT_FALSE(names.empty()) << matrixFolder() << " holds no *.mtx.gz";
  // On several ranks a sample that is read quickly.
  if (ranks() > 1) {
    names.erase(
        std::remove_if(names.begin(), names.end(), [&](const std::string& name) { return fileSize(name) > 150000; }),
        names.end());
  }
  Tally tally;
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    solveEveryWay(systemFrom(name), tally);
  }
  if (rank() == 0) {
    std::cout << names.size() << " matrices, " << tally.solves << " solves, " << tally.converged << " converged\n";
  }
  EXPECT_GT(tally.converged, 0);
}

/// Rows times iterations of CG that a solve of every depth may take.
constexpr double quick = 1e7;

/// How p(l)-CG did beside CG on all matrices.
struct Race {
  int solves = 0, fellBack = 0, restarted = 0;
  double worst = 0, worstFallenBack = 0;  ///< iterations over CG's, 3 l set aside
  long iterations = 0, pipelined = 0;     ///< of p(l)-CG; those before a fallback
};

std::string allTold(const Outcome& outcome) {
  std::string text;
  for (const ReportEvent& e : outcome.report.events) {
    text += std::to_string(e.iteration) + ' ' + e.kind + ": " + e.detail + '\n';
  }
  return text;
}

/// p(l)-CG: at most 1.15 times CG's iterations and 3 l, or it falls back to CG and says so.
void race(const System& system, Side side, int depth, int expected, Race& race) {
  Params p;
  p.set("Convergence Tolerance", 1e-8);
  p.set("Maximum Iterations", 2 * expected + 100);
  p.set("State Cache", false);
  p.set("Pipeline Depth", depth);
  system.x->putScalar(0);
  const auto guess = copyOf(*system.x);
  const Outcome outcome = solve(methodOf(id::PipelinedCg), p, system, side);
  EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason) << '\n' << allTold(outcome);
  if (outcome.converged) {
    EXPECT_LE(relativeResidual(system, *guess), 1e-8 * (1 + 1e-6));
  }
  const auto& events = outcome.report.events;
  const auto classical = std::find_if(events.begin(), events.end(), [](auto& e) { return e.kind == "classical"; });
  const bool fellBack = classical != events.end();
  EXPECT_TRUE(fellBack || outcome.iterations <= 1.15 * expected + 3 * depth)
      << outcome.iterations << " against " << expected;
  const double ratio = static_cast<double>(outcome.iterations - 3 * depth) / expected;
  ++race.solves;
  race.restarted += outcome.report.restarts > 0 ? 1 : 0;
  race.fellBack += fellBack ? 1 : 0;
  (fellBack ? race.worstFallenBack : race.worst) = std::max(fellBack ? race.worstFallenBack : race.worst, ratio);
  race.iterations += outcome.iterations;
  race.pipelined += fellBack ? classical->iteration : outcome.iterations;
  expectSameOnAllRanks(outcome);
}

TEST(RealMatrices, PipelinedCgKeepsUpWithCg) {
  CAPSTAN_NEEDS_REAL_MATRICES();
  Race all;
  int turn = 0;
  for (const std::string& name : definiteNames()) {
    if (ranks() > 1 && fileSize(name) > 1000000) continue;
    const System system = systemFrom(name);
    for (const Side side : {Side::None, Side::Right}) {
      Params p;
      p.set("Convergence Tolerance", 1e-8);
      p.set("Maximum Iterations", ranks() > 1 ? 2500 : 12000);
      p.set("State Cache", false);
      system.x->putScalar(0);
      const Outcome classical = solve(methodOf(id::Cg), p, system, side);
      if (!classical.converged) continue;
      // Every depth where that is quick; where it is not, one of them in turn.
      const double work = static_cast<double>(classical.iterations) * static_cast<double>(system.b->getGlobalLength());
      for (const int depth : {1, 2, 3, 5}) {
        if (work > quick && depth != std::array{1, 2, 3, 5}[static_cast<std::size_t>(turn)]) continue;
        SCOPED_TRACE(name + ", " + toString(side) + ", depth " + std::to_string(depth));
        race(system, side, depth, classical.iterations, all);
      }
      if (work > quick) turn = (turn + 1) % 4;
    }
  }
  if (rank() == 0) {
    std::cout << all.solves << " solves of p(l)-CG: " << all.restarted << " restarted, " << all.fellBack
              << " fell back to CG, " << 100 * all.pipelined / all.iterations << " % of the iterations pipelined; "
              << "worst ratio to CG's iterations (without 3 l) " << all.worst << ", fallen back " << all.worstFallenBack
              << '\n';
  }
  EXPECT_GT(all.solves, all.fellBack);
}

}  // namespace
}  // namespace capstan::testing
