/// \file
/// Status tests that read the current iterate while several right-hand sides advance together.

#include <BelosStatusTestGenResNorm.hpp>
#include <algorithm>

#include "belos_ext/test/solvers/solver_suite.hpp"

namespace capstan::testing {
namespace {

using Iteration = Belos::Iteration<Scalar, MultiVector, Operator>;
using StatusTest = Belos::StatusTest<Scalar, MultiVector, Operator>;
using ResNorm = Belos::StatusTestGenResNorm<Scalar, MultiVector, Operator>;
using Combo = Belos::StatusTestCombo<Scalar, MultiVector, Operator>;

/// Never passes; asks for the update of the solution at every check, twice.
class Reader final : public StatusTest {
 public:
  Belos::StatusType checkStatus(Iteration* iteration) override {
    const auto update = iteration->getCurrentUpdate(), again = iteration->getCurrentUpdate();
    if (!update.is_null()) {
      EXPECT_TRUE(allFinite(*update));
      EXPECT_TRUE(identical(*update, *again));
      for (double norm : norms(*update)) largest = std::max(largest, norm);
    }
    ++checks;
    return Belos::Failed;
  }
  Belos::StatusType getStatus() const override { return Belos::Failed; }
  void reset() override {}
  void print(std::ostream&, int) const override {}

  int checks = 0;
  double largest = 0;
};

class CurrentIterate : public EverySolver {
 protected:
  static System system(size_t columns) {
    return systemWithRightHandSide(grid2d(14, 14, isCg(GetParam()) ? 0.0 : 0.2), wave, columns);
  }
};

TEST_P(CurrentIterate, IsReadByBelosExplicitResidualTest) {
  for (Side side : {Side::None, Side::Left, Side::Right}) {
    for (size_t columns : {size_t(1), size_t(2), size_t(5)}) {
      SCOPED_TRACE(toString(side) + ", columns: " + std::to_string(columns));
      Params p;
      p.set("State Cache", false);
      const auto solver = solverOf(GetParam(), p);
      const auto test = rcp(new ResNorm(1e-3, -1));
      test->defineResForm(ResNorm::Explicit, Belos::TwoNorm);
      solver->setUserConvStatusTest(test, Combo::OR);
      const System all = system(columns);
      const auto guess = copyOf(*all.x);
      const Outcome outcome = solve(*solver, all, side);
      EXPECT_LE(relativeResidual(all, *guess), 1e-3 * (1 + 1e-6));
      expectSameOnAllRanks(outcome);
      EXPECT_EQ(outcome.report.reason, StopReason::UserTest);
    }
  }
}

TEST_P(CurrentIterate, MayBeReadWithoutChangingTheSolve) {
  for (Side side : {Side::None, Side::Left, Side::Right}) {
    for (int blockSize : {0, 2}) {
      SCOPED_TRACE(toString(side) + ", block size " + std::to_string(blockSize));
      Params p;
      p.set("State Cache", false);
      p.set("Block Size", blockSize);
      const System unread = system(5), read = system(5);
      const Outcome expected = solve(GetParam(), p, unread, side);
      const auto solver = solverOf(GetParam(), p);
      const auto reader = rcp(new Reader);
      solver->setDebugStatusTest(reader);
      const Outcome outcome = solve(*solver, read, side);
      EXPECT_TRUE(outcome.converged);
      EXPECT_EQ(outcome.iterations, expected.iterations);
      if (!isPipelined(GetParam())) {
        EXPECT_TRUE(identical(*read.x, *unread.x));
      } else {  // columns wait for each other where tests look: other blocks of vectors are multiplied and summed
                // together
        MultiVector change(*read.x, Teuchos::Copy);
        change.update(-1, *unread.x, 1);
        for (size_t c = 0; c < 5; ++c) EXPECT_LE(norms(change)[c], 1e-12 * norms(*unread.x)[c]);
      }
      EXPECT_GT(reader->checks, 0);
      EXPECT_EQ(reader->largest > 0, isGmres(GetParam())) << "GMRES changes x at the end of a cycle";
    }
  }
}

CAPSTAN_FOR_EVERY_SOLVER(CurrentIterate);

}  // namespace
}  // namespace capstan::testing
