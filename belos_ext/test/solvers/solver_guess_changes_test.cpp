/// \file
/// "Initial Guess" where something has changed since the last solve, or has gone wrong in it.

#include <Kokkos_Core.hpp>
#include <limits>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "belos_ext/guess/guess_memory.hpp"
#include "belos_ext/guess/guess_order.hpp"
#include "belos_ext/manager/problem_key.hpp"
#include "belos_ext/test/solvers/guess_suite.hpp"

namespace capstan::testing {
namespace {

class GuessChanges : public Guess {
 protected:
  const Params accurate_ = guessing("projection 4", 1e-11), usual_ = guessing("projection 4");

  static Outcome solved(const System& system, const Params& p, Side side = Side::Right) {
    const Outcome outcome = anew(system, p, side);
    EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
    EXPECT_TRUE(allFinite(*system.x));
    return outcome;
  }

  /// Learns until predictions are taken without a look.
  void confirm(const RCP<CrsMatrix>& a) const {
    solved(systemWithSolution(a, first), accurate_);
    for (int again = 0; again < 2; ++again) EXPECT_EQ(solved(systemWithSolution(a, first), usual_).iterations, 0);
  }
};

/// The same rows times a factor.
RCP<CrsMatrix> times(const RCP<CrsMatrix>& a, Scalar factor) {
  auto copy = rcp(new CrsMatrix(*a, Teuchos::Copy));
  copy->resumeFill();
  copy->scale(factor);
  copy->fillComplete();
  return copy;
}

TEST_P(GuessChanges, OtherValuesOfTheMatrixDoNoHarm) {
  // Factors below 1/2 leave the guess too long: the method begins anew from the application's x.
  for (const Scalar factor : {0.25, 0.9, 1.001, 5.0}) {
    SCOPED_TRACE(factor);
    forgetAll();
    const auto a = matrix();
    confirm(a);
    const auto other = times(a, 1 / factor);
    const Outcome plain = solved(systemWithSolution(other, mixture), guessing("application"));
    forgetAll();
    confirm(a);
    const Outcome changed = solved(systemWithSolution(other, mixture), usual_);
    EXPECT_GE(guess(changed).factor, 1);
    EXPECT_LE(changed.iterations, plain.iterations + 10);
    confirm(other);
    if (factor == 0.25) {
      EXPECT_TRUE(mentions(told(changed, "initial guess"), "A is another one"));
      EXPECT_EQ(guess(changed).vectors, 0);
    }
  }
}

TEST_P(GuessChanges, AnotherMatrixObjectOfTheSameValuesIsTheSame) {
  solved(systemWithSolution(matrix(), first), accurate_);
  EXPECT_EQ(solved(systemWithSolution(matrix(), first), usual_).iterations, 0) << "on another map object, too";
}

TEST_P(GuessChanges, OtherSparsityAndSizesBeginAnew) {
  solved(systemWithSolution(matrix(), first), accurate_);
  const auto dense = diagonal([](GO g) { return 1 + static_cast<Scalar>(g % 5); }, 256);
  EXPECT_EQ(guess(solved(systemWithSolution(dense, first), usual_)).vectors, 0);
  EXPECT_EQ(guess(solved(systemWithSolution(matrix(15), first), usual_)).vectors, 0);
  EXPECT_EQ(guess(solved(systemWithSolution(matrix(), first), usual_)).vectors, 1) << "each has its own";
}

TEST_P(GuessChanges, RowsOnOtherRanksBeginAnew) {
  const Scalar wind = isCg(GetParam()) ? 0.0 : 0.3;
  solved(systemWithSolution(matrix(), first), accurate_);
  const auto moved = grid2d(16, 16, wind, lastRankMap(256));
  EXPECT_EQ(guess(solved(systemWithSolution(moved, first), usual_)).vectors, ranks() == 1 ? 1 : 0);
  const Outcome again = solved(systemWithSolution(moved, first), usual_);
  EXPECT_EQ(guess(again).vectors, 1) << "also where ranks have no rows";
}

TEST_P(GuessChanges, FailedSolvesLeaveNothing) {
  const auto a = matrix();
  Params few = usual_;
  few.set("Maximum Iterations", 1);
  for (int solves = 0; solves < 2; ++solves) {
    const Outcome outcome = anew(systemWithSolution(a, first), few);
    EXPECT_FALSE(outcome.converged);
    EXPECT_EQ(guess(outcome).vectors, 0);
    EXPECT_EQ(outcome.report.guessBytes, 0);
  }
  EXPECT_EQ(GuessStore::instance().size(), 0U);
  solved(systemWithSolution(a, first), accurate_, Side::None);
  anew(systemWithSolution(a, second), few);
  EXPECT_EQ(solved(systemWithSolution(a, first), usual_, Side::None).iterations, 0) << "what was known before stays";
}

TEST_P(GuessChanges, NotANumberInWhatIsKeptIsForgotten) {
  const auto a = matrix();
  for (const std::string which : {"projection 4", "extrapolation 1"}) {
    for (const bool everywhere : {true, false}) {
      for (const size_t block : {size_t(0), size_t(1)}) {
        forgetAll();
        for (int k = 0; k < 2; ++k) solved(systemWithSolution(a, first), guessing(which, k == 0 ? 1e-11 : 1e-8));
        const StateKey key = problemKey<Types>(GetParam().canonical, "guessed",
                                               *problemOf(systemWithSolution(a, first), Side::Right), 0);
        const auto kept = std::dynamic_pointer_cast<GuessMemory<Types>>(GuessStore::instance().take(key));
        ASSERT_NE(kept, nullptr) << "the key of the manager";
        const auto vectors = kept->policy(0).kept();
        if (block < vectors.size() && (everywhere || rank() == ranks() - 1)) {
          vectors[block]->putScalar(std::numeric_limits<double>::quiet_NaN());
        }
        GuessStore::instance().put(key, kept);
        solved(systemWithSolution(a, second), guessing(which));
        for (int k = 0; k < 2; ++k) solved(systemWithSolution(a, first), guessing(which, 1e-11));
        EXPECT_EQ(solved(systemWithSolution(a, first), guessing(which)).iterations, 0);
      }
    }
  }
}

TEST_P(GuessChanges, ARightHandSideOfZeroIsSolvedByZero) {
  const auto a = matrix();
  confirm(a);
  System system = systemWithSolution(a, [](GO) { return 0.0; });
  solved(system, usual_);
  EXPECT_EQ(norms(*system.x)[0], 0);
  system.x->update(1, *vectorFrom(a->getRowMap(), first), 0);
  solved(system, usual_);
  EXPECT_LE(norms(*system.x)[0], 1e-5);
}

TEST_P(GuessChanges, AGuessWithNotANumberIsNoBetterThanWithout) {
  const auto a = matrix();
  confirm(a);
  System system = systemWithSolution(a, first);
  system.x->putScalar(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(anew(system, usual_, Side::Right).report.reason, StopReason::NonFinite);
}

TEST_P(GuessChanges, ResettingForgets) {
  const auto a = matrix();
  const System system = systemWithSolution(a, first);
  solved(system, accurate_);
  const auto solver = solverOf(GetParam(), usual_);
  solver->setProblem(problemOf(system, Side::Right));
  solver->reset(Belos::RecycleSubspace);
  system.x->putScalar(0);
  const Outcome outcome = solve(*solver, system, Side::Right);
  EXPECT_EQ(guess(outcome).vectors, 0);
  EXPECT_GT(outcome.iterations, 0);
  system.x->putScalar(0);
  EXPECT_EQ(guess(solve(*solver, system, Side::Right)).vectors, 1);
  solver->reset(Belos::RecycleSubspace);
  system.x->putScalar(0);
  EXPECT_EQ(guess(solve(*solver, system, Side::Right)).vectors, 0);
}

// An application may take its vectors back between solves. Belos' managers do not look at them here.
TEST_P(GuessChanges, ResettingNeedsNoSolution) {
  const auto solver = solverOf(GetParam(), usual_);
  const System system = systemWithSolution(matrix(), first);
  const auto empty = rcp(new Problem(system.a, Teuchos::null, system.b));
  solver->setProblem(empty);
  solver->reset(Belos::RecycleSubspace);
  const auto problem = problemOf(system, Side::Right);
  solver->setProblem(problem);
  EXPECT_EQ(solver->solve(), Belos::Converged);
  EXPECT_GT(StateCache::instance().size(), 0U);
  EXPECT_GT(GuessStore::instance().size(), 0U);
  problem->setLHS(Teuchos::null);
  solver->reset(static_cast<Belos::ResetType>(Belos::Problem | Belos::RecycleSubspace));
  EXPECT_EQ(StateCache::instance().size(), 0U);
  EXPECT_EQ(GuessStore::instance().size(), 0U);
  system.x->putScalar(0);
  const Outcome outcome = solve(*solver, system, Side::Right);
  EXPECT_TRUE(outcome.converged);
  EXPECT_GT(outcome.iterations, 0);
  solver->reset(Belos::RecycleSubspace);
}

/// Vectors of the guesses of a time step's solves, and their iterations.
struct Course {
  std::vector<int> vectors, iterations;

  void add(const Outcome& outcome) {
    EXPECT_TRUE(outcome.converged);
    vectors.push_back(outcome.report.rightHandSides.at(0).guess.vectors);
    iterations.push_back(outcome.iterations);
  }
};

System stepWith(const RCP<CrsMatrix>& a, int step) {
  return systemWithSolution(a, [step](GO g) { return first(g) + 0.1 * step * second(g); });
}

constexpr int steps = 6;

// A second solver of the same matrix took what was kept, and made the ranks forget that they begin with a guess.
TEST_P(GuessChanges, AnotherSolverOfTheSameMatrixLeavesThemAlone) {
  const auto a = matrix();
  for (const bool cache : {true, false}) {
    const auto made = [&](const std::string& guess) {
      Params p = guessing(guess);
      p.set("State Cache", cache);
      return solverOf(GetParam(), p);
    };
    const auto course = [&](const std::vector<RCP<Solver>>& others, int times) {
      forgetAll();
      Course mine;
      const auto solver = made("projection 4");
      for (int k = 0; k < steps; ++k) {
        for (int again = 0; again < times; ++again) {
          for (const auto& other : others) EXPECT_TRUE(solve(*other, stepWith(a, k), Side::Right).converged);
        }
        mine.add(solve(*solver, stepWith(a, k), Side::Right));
      }
      return mine;
    };
    const Course alone = course({}, 0);
    EXPECT_GT(alone.vectors.back(), 0);
    for (const int times : {1, 7}) {
      const Course beside = course({made("application"), made("extrapolation 1"), made("projection 2")}, times);
      EXPECT_EQ(beside.vectors, alone.vectors) << times;
      if (!cache) {
        EXPECT_EQ(beside.iterations, alone.iterations) << times;
      }
    }
  }
}

// There they cannot be told apart, but a solve that wants no guess takes none away.
TEST_P(GuessChanges, NorDoesOneOfTwoThatAreMadeAnewForEachSolve) {
  const auto a = matrix();
  Course alone, beside;
  for (const bool other : {false, true}) {
    forgetAll();
    for (int k = 0; k < steps; ++k) {
      (other ? beside : alone).add(solved(stepWith(a, k), usual_));
      for (int times = 0; other && times < tuning::guess::patience; ++times) {
        solved(stepWith(a, k), guessing("application"));
      }
    }
  }
  EXPECT_GT(alone.vectors.back(), 0);
  EXPECT_EQ(beside.vectors, alone.vectors);
  EXPECT_GT(GuessStore::instance().size(), 0U);
  solved(stepWith(a, 0), guessing("application"));
  EXPECT_EQ(GuessStore::instance().size(), 0U) << "nobody has wanted one for a while";
}

TEST_P(GuessChanges, LeavesTheApplicationsXWhereItsOperatorThrows) {
  System system = systemWithRightHandSide(grid2d(12, 12));
  const auto inner = system.a;
  int left = std::numeric_limits<int>::max();
  system.a = rcp(new FunctionOperator(inner->getDomainMap(), [&](const MultiVector& in, MultiVector& out) {
    if (--left < 0) throw std::runtime_error("no product");
    inner->apply(in, out);
  }));
  Params p;
  p.set("Initial Guess", "extrapolation 1");
  const auto solver = solverOf(GetParam(), p);
  for (int k = 0; k < 3; ++k) solve(*solver, system);
  for (const int products : {0, 1}) {
    left = products;
    system.x->putScalar(0.25);
    EXPECT_THROW(solve(*solver, system), std::runtime_error);
    const auto x = copyOf(*system.x);
    x->update(1, *vectorFrom(x->getMap(), [](GO) { return -0.25; }), 1);
    EXPECT_EQ(norms(*x)[0], 0) << products << " products";
    left = std::numeric_limits<int>::max();
  }
}

TEST_P(GuessChanges, WithoutTheStateCacheASolverRemembersForItself) {
  Params p = usual_;
  p.set("State Cache", false);
  const auto a = matrix();
  const auto solver = solverOf(GetParam(), p);
  for (const int vectors : {0, 1}) {
    const Outcome outcome = solve(*solver, systemWithSolution(a, first), Side::Right);
    EXPECT_TRUE(outcome.converged);
    EXPECT_EQ(guess(outcome).vectors, vectors);
  }
  EXPECT_EQ(GuessStore::instance().size(), 0U);
  EXPECT_EQ(guess(solve(*solverOf(GetParam(), p), systemWithSolution(a, first), Side::Right)).vectors, 0);
}

TEST_P(GuessChanges, IsToldInTheSummary) {
  std::ostringstream text;
  Params p = usual_;
  p.set("Verbosity", static_cast<int>(Belos::FinalSummary));
  p.set("Output Stream", Teuchos::rcpFromRef(static_cast<std::ostream&>(text)));
  const auto a = matrix();
  solved(systemWithSolution(a, first), p);
  EXPECT_EQ(text.str().find("initial guess"), std::string::npos);
  const Outcome outcome = solved(systemWithSolution(a, [](GO g) { return 2 * first(g); }), p);
  EXPECT_EQ(text.str().find("initial guess: projection 4: the residual fell by ") != std::string::npos, rank() == 0);
  EXPECT_GE(outcome.report.guessBytes, static_cast<long>(2 * 4 * 8 * compat::localNumElements(*a->getRowMap())));
}

CAPSTAN_FOR_EVERY_SOLVER(GuessChanges);

}  // namespace
}  // namespace capstan::testing
