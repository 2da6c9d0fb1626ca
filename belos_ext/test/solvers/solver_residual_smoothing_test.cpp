/// \file
/// "Residual Smoothing": the iterate of least residual in the place of CG's.

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>

#include "belos_ext/convergence/residual_smoothing.hpp"
#include "belos_ext/test/solvers/solver_suite.hpp"
#include "belos_ext/test/support/methods.hpp"

namespace capstan::testing {
namespace {

using Smoothing = ResidualSmoothing<Types>;

// r = (3, 4), s = (1, 0), alpha = 2: r' = (1, 4). From q = r the least residual on the way to r' is at its end, 4.12...
TEST(ResidualSmoothing, TakesCgsStepWhereThatFalls) {
  const auto step = Smoothing().next(2, 25, 3, 1);
  EXPECT_DOUBLE_EQ(step.eta, 1);
  EXPECT_DOUBLE_EQ(step.norm.norm, std::sqrt(17.0));
}

// r = (1, 0), s = (1, -1), alpha = 1: r' = (0, 1). The middle of the two is nearest to zero.
TEST(ResidualSmoothing, StopsWhereTheResidualIsLeast) {
  const auto step = Smoothing().next(1, 1, 1, 2);
  EXPECT_DOUBLE_EQ(step.eta, 0.5);
  EXPECT_DOUBLE_EQ(step.norm.norm, std::sqrt(0.5));
}

// r = (1, 0), s = (-2, 0), alpha = 1: r' = (3, 0) is farther away than r, and y stays.
TEST(ResidualSmoothing, StaysWhereCgRises) {
  const auto step = Smoothing().next(1, 1, -2, 4);
  EXPECT_DOUBLE_EQ(step.eta, 0);
  EXPECT_DOUBLE_EQ(step.norm.norm, 1);
}

/// CG's own residual rises to a hundred times the first one here.
System steep() {
  return systemWithRightHandSide(
      scaledLaplacian(30, [](GO i) { return std::pow(10.0, static_cast<double>(i % 7) / 2); }));
}

Params history(const char* mode, int iterations) {
  Params p;
  p.set("State Cache", false);
  p.set("Residual Smoothing", mode);
  p.set("Maximum Iterations", iterations);
  keepHistory(p);
  return p;
}

TEST(ResidualSmoothing, ResidualsNeverRiseAndAreThoseOfX) {
  const int steps = tuning::cg::measuredSteps;
  for (const int last : {1, 2, 7, steps}) {
    const System system = steep();
    const auto guess = copyOf(*system.x);
    const Outcome outcome = solve(methodOf(id::Cg), history("on", last), system, Side::Right);
    const auto& read = outcome.report.history;
    ASSERT_EQ(read.size(), static_cast<std::size_t>(last));
    double before = 1;
    for (const auto& row : read) {
      EXPECT_LE(row.residual, before * (1 + 1e-12)) << "iteration " << row.iteration;
      before = row.residual;
    }
    EXPECT_NEAR(relativeResidual(system, *guess), before, 1e-9 * before) << last;
  }
}

TEST(ResidualSmoothing, OffLeavesCgsOwnIterates) {
  const Outcome smoothed = solve(methodOf(id::Cg), history("on", 10), steep(), Side::Right);
  const Outcome plain = solve(methodOf(id::Cg), history("off", 10), steep(), Side::Right);
  EXPECT_GT(plain.report.history[0].residual, 100) << "nothing would be smoothed";
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_LE(smoothed.report.history[i].residual, plain.report.history[i].residual * (1 + 1e-9)) << i;
  }
}

/// How often the residual was computed in the midst of a solve, which then goes on from it.
long replacements(const Outcome& outcome) { return static_cast<long>(told(outcome, "residual replacement").size()); }

std::string eventsOf(const Outcome& outcome) {
  std::string lines;
  for (const ReportEvent& event : outcome.report.events) {
    lines += std::to_string(event.iteration) + ": " + event.kind + ": " + event.detail + "\n";
  }
  return lines;
}

// CG goes on as if nothing had been smoothed, and is itself again in a long solve. Where rounding lets one of the two
// compute its residual once more than the other, it says so, and that takes one product.
TEST(ResidualSmoothing, EndsInALongSolve) {
  const int last = tuning::cg::measuredSteps + 10;
  solve(methodOf(id::Cg), history("on", 1), steep(), Side::Right);  // the first one looks whether guesses are zero
  const System smoothed = steep(), plain = steep();
  const Outcome with = solve(methodOf(id::Cg), history("on", last), smoothed, Side::Right);
  const Outcome without = solve(methodOf(id::Cg), history("off", last), plain, Side::Right);
  const double expected = without.report.history.back().residual;
  EXPECT_NEAR(with.report.history.back().residual, expected, 1e-6 * expected);
  const double size = norms(*plain.x)[0];
  smoothed.x->update(-1, *plain.x, 1);
  EXPECT_LE(norms(*smoothed.x)[0], 1e-7 * size);
  const long more = replacements(with) - replacements(without);
  EXPECT_LE(std::abs(more), 1);
  EXPECT_EQ(with.report.operatorApplications - without.report.operatorApplications, more)
      << eventsOf(with) << "without smoothing:\n"
      << eventsOf(without);
  EXPECT_NEAR(with.report.reductionsBlocking, without.report.reductionsBlocking, 2.0 * std::abs(more));
  EXPECT_NEAR(with.report.preconditionerApplications, without.report.preconditionerApplications, 2.0 * std::abs(more));
}

/// M^{-1} is another diagonal each time.
System notLinear() {
  System system = systemWithRightHandSide(grid2d(22, 27));
  system.preconditioner = rcp(new FunctionOperator(
      system.b->getMap(), [times = std::make_shared<int>(0)](const MultiVector& in, MultiVector& out) {
        Tpetra::deep_copy(out, in);
        const auto map = in.getMap();
        const auto values = out.getDataNonConst(0);
        const int phase = (*times)++ % 3;
        for (int i = 0; i < values.size(); ++i) {
          values[i] *= 1 + 0.5 * std::cos(static_cast<double>(map->getGlobalElement(i) * (phase + 1)));
        }
      }));
  return system;
}

// The larger error of the smoothed x is for no linear preconditioner, unless asked for.
TEST(ResidualSmoothing, AutoLeavesCgAloneWhereThePreconditionerIsLinear) {
  const System automatic = steep(), plain = steep();
  solve(methodOf(id::Cg), history("auto", 10), automatic, Side::Right);
  solve(methodOf(id::Cg), history("off", 10), plain, Side::Right);
  EXPECT_TRUE(identical(*automatic.x, *plain.x));
}

// The first steps tell that M is not linear; the next solve of the label knows.
TEST(ResidualSmoothing, AutoBeginsAtOnceInTheNextSolve) {
  Params p = history("auto", 5);
  p.set("State Cache", true);
  p.set("Solver Name", "ResidualSmoothing.AutoBeginsAtOnceInTheNextSolve");
  solve(methodOf(id::Cg), p, notLinear(), Side::Right);
  p.set("Maximum Iterations", 2);
  const System again = notLinear(), plain = notLinear();
  const Outcome smoothed = solve(methodOf(id::Cg), p, again, Side::Right);
  const Outcome expected = solve(methodOf(id::Cg), history("on", 2), plain, Side::Right);
  EXPECT_TRUE(identical(*again.x, *plain.x));
  EXPECT_EQ(smoothed.report.history.back().residual, expected.report.history.back().residual);
}

TEST(ResidualSmoothing, LastsWhereThePreconditionerIsNotLinear) {
  const System system = notLinear();
  const auto guess = copyOf(*system.x);
  const Outcome with = solve(methodOf(id::Cg), history("on", 500), system, Side::Right);
  const Outcome without = solve(methodOf(id::Cg), history("off", 500), notLinear(), Side::Right);
  ASSERT_TRUE(with.converged);
  ASSERT_TRUE(without.converged);
  EXPECT_LE(relativeResidual(system, *guess), 1e-8);
  EXPECT_GT(with.iterations, tuning::cg::measuredSteps);
  EXPECT_LE(with.iterations, without.iterations);
  double before = 1;
  for (const auto& row : with.report.history) {
    EXPECT_LE(row.residual, before * (1 + 1e-12)) << "iteration " << row.iteration;
    before = row.residual;
  }
}

// The 1-norm, as in OpenFOAM: it is taken of the residual that belongs to x.
TEST(ResidualSmoothing, IsJudgedInTheOneNormToo) {
  for (const char* mode : {"on", "off"}) {
    const System system = steep();
    const double first = norm1(*residualOf(system));
    Params p = history(mode, 1000);
    p.set("Residual Norm", "OneNorm");
    p.set("Convergence Tolerance", 1e-6);
    const Outcome outcome = solve(methodOf(id::Cg), p, system, Side::Right);
    ASSERT_TRUE(outcome.converged) << mode;
    EXPECT_LE(norm1(*residualOf(system)), 1e-6 * first) << mode;
  }
}

}  // namespace
}  // namespace capstan::testing
