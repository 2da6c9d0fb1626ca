/// \file
/// A key that is said to have no effect has none: iterations, reductions and every bit of x are as without it.

#include <Teuchos_oblackholestream.hpp>
#include <stdexcept>

#include "belos_ext/guess/guess_order.hpp"
#include "belos_ext/parameters/parameter_table.hpp"
#include "belos_ext/test/solvers/solver_suite.hpp"
#include "belos_ext/test/support/parameter_values.hpp"

namespace capstan::testing {
namespace {

using Teuchos::ParameterEntry;

/// A solve and the x that it left.
struct Solved {
  Outcome outcome;
  RCP<MultiVector> x;
};

class UnusedParameters : public EverySolver {
 protected:
  /// One that the method is made for, and one that a method for symmetric matrices hands over to GMRES.
  static std::vector<RCP<CrsMatrix>> matrices() {
    return {grid2d(9, 9, isCg(GetParam()) ? 0.0 : 0.2), grid2d(9, 9, 0.9)};
  }

  static Solved solved(const RCP<CrsMatrix>& a, const Params& list) {
    Params p(list);
    p.set("State Cache", false);
    p.set("Output Stream", RCP<std::ostream>(rcp(new Teuchos::oblackholestream)));
    GuessOrders::forget(Tpetra::getDefaultComm());
    const System system = systemWithRightHandSide(a, wave, 2);
    const Outcome outcome = solve(GetParam(), p, system, Side::Right);
    return {outcome, system.x};
  }

  static void expectSame(const Solved& with, const Solved& without) {
    EXPECT_EQ(with.outcome.converged, without.outcome.converged);
    EXPECT_EQ(with.outcome.report.reason, without.outcome.report.reason);
    EXPECT_EQ(with.outcome.iterations, without.outcome.iterations);
    EXPECT_EQ(with.outcome.report.reductionsBlocking, without.outcome.report.reductionsBlocking);
    EXPECT_EQ(with.outcome.report.reductionsNonblocking, without.outcome.report.reductionsNonblocking);
    EXPECT_EQ(with.outcome.report.operatorApplications, without.outcome.report.operatorApplications);
    EXPECT_EQ(with.outcome.report.preconditionerApplications, without.outcome.report.preconditionerApplications);
    EXPECT_TRUE(identical(*with.x, *without.x)) << "x";
  }

  /// Why this value has no effect on the method, as people are told; empty: it may have one.
  static std::string whyUnused(const ParameterRow& row, const ParameterEntry& entry) {
    if (!row.appliesTo(GetParam())) return "on this solver";
    return row.remark ? row.remark(entry, GetParam()) : "";
  }
};

TEST_P(UnusedParameters, LeaveASolveAsItIs) {
  const std::string folder = ::testing::TempDir();
  int tried = 0;
  const auto all = matrices();
  for (std::size_t k = 0; k < all.size(); ++k) {
    const auto& a = all[k];
    const Solved without = solved(a, Params());
    expectSame(solved(a, Params()), without);
    for (const ParameterRow& row : parameterRows()) {
      for (const ParameterEntry& entry : valuesToTry(row, folder)) {
        if (whyUnused(row, entry).empty()) continue;
        Params p;
        p.setEntry(row.name, entry);
        std::ostringstream what;
        what << "wind " << (k == 0 ? "none or little" : "strong") << ", " << p;
        SCOPED_TRACE(what.str());
        ++tried;
        expectSame(solved(a, p), without);
      }
    }
  }
  EXPECT_GT(tried, 20);
}

/// All of them at once, where they do not contradict each other.
TEST_P(UnusedParameters, LeaveItSoTogether) {
  const RCP<CrsMatrix> a = matrices().back();
  Params all;
  for (const ParameterRow& row : parameterRows()) {
    if (!row.appliesTo(GetParam())) all.setEntry(row.name, valuesToTry(row, ::testing::TempDir()).back());
  }
  expectSame(solved(a, all), solved(a, Params()));
}

/// They are checked all the same.
TEST_P(UnusedParameters, AreRefusedWhereTheyAreNone) {
  for (const ParameterRow& row : parameterRows()) {
    if (row.appliesTo(GetParam()) || row.type != "int") continue;
    Params p;
    p.set(row.name, "many");
    EXPECT_THROW(solverOf(GetParam(), p), std::invalid_argument) << row.name;
  }
}

CAPSTAN_FOR_EVERY_SOLVER(UnusedParameters);

}  // namespace
}  // namespace capstan::testing
