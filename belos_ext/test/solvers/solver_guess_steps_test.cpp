/// \file
/// "Initial Guess" = projection over time steps whose matrix is another one each time, in the 1-norm, and in several
/// series of solves.

#include <optional>

#include "belos_ext/guess/guess_memory.hpp"
#include "belos_ext/guess/resting_plan.hpp"
#include "belos_ext/manager/problem_key.hpp"
#include "belos_ext/test/solvers/guess_suite.hpp"

namespace capstan::testing {
namespace {

class GuessSteps : public Guess {};
CAPSTAN_FOR_EVERY_SOLVER(GuessSteps);

constexpr GO n = 20;

/// Diffusion with a coefficient that moves with the step, so that no two matrices are multiples of each other.
RCP<CrsMatrix> diffusion(double step, double sign, const RCP<const Teuchos::Comm<int>>& comm) {
  return matrixFrom(evenMap(n * n, comm), [=](GO g) {
    const auto k = [=](GO a, GO b) {  // of the face between two points
      const auto x = 0.5 * static_cast<double>(a % n + b % n), y = 0.5 * static_cast<double>(a / n + b / n);
      return sign * (1 + 0.5 * std::sin(0.3 * x + 0.2 * step) * std::cos(0.2 * y - 0.3 * step));
    };
    std::vector<Entry> row;
    Scalar diagonal = 0.05 * sign;
    const auto couple = [&](GO other) {
      row.push_back({other, -k(g, other)});
      diagonal += k(g, other);
    };
    if (g % n > 0) couple(g - 1);
    if (g % n + 1 < n) couple(g + 1);
    if (g >= n) couple(g - n);
    if (g + n < n * n) couple(g + n);
    row.push_back({g, diagonal});
    return row;
  });
}

System stepOf(double step, double sign = 1, const RCP<const Teuchos::Comm<int>>& comm = Tpetra::getDefaultComm()) {
  const auto a = diffusion(step, sign, comm);
  System system = systemWithRightHandSide(a, [=](GO g) {
    const auto x = static_cast<double>(g % n) / n, y = static_cast<double>(g / n) / n;
    return sign * (std::sin(3 * x + 0.05 * step) + 0.3 * std::cos(5 * y - 0.1 * step));
  });
  system.preconditioner = jacobi(*a);
  return system;
}

Params oneNorm(const std::string& guess, double tolerance) {
  Params p = guessing(guess, tolerance);
  p.set("Residual Norm", "OneNorm");
  p.set("Residual Scaling", "Norm of Initial Residual");
  p.set("Initial Residual", "zero guess");
  return p;
}

/// || b - A x ||_1 / || b ||_1: of the application's own x, zero.
double relativeNorm1(const System& system) { return norm1(*residualOf(system)) / norm1(*system.b); }

struct Steps {
  long iterations = 0, products = 0, guesses = 0;
};

/// 24 steps with one solver, as an application that steps in time.
Steps march(const MethodTraits& name, const Params& p, double sign = 1) {
  forgetAll();
  Steps sum;
  const auto solver = solverOf(name, p);
  for (int k = 0; k < 24; ++k) {
    const System system = stepOf(k, sign);
    const Outcome outcome = solve(*solver, system, Side::Right);
    EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
    EXPECT_LE(relativeNorm1(system), 1.001 * p.get<double>("Convergence Tolerance")) << k;
    expectSameOnAllRanks(outcome);
    sum.iterations += outcome.iterations;
    sum.products += outcome.report.operatorApplications;
    sum.guesses += outcome.report.rightHandSides.at(0).guess.vectors > 0 ? 1 : 0;
  }
  return sum;
}

TEST_P(GuessSteps, SavesIterationsWhereTheMatrixChanges) {
  const Steps plain = march(GetParam(), oneNorm("application", 1e-4));
  const Steps projection = march(GetParam(), oneNorm("projection 3", 1e-4));
  if (rank() == 0) {
    std::cout << GetParam().canonical << ": iterations " << plain.iterations << ", " << projection.iterations
              << "; products " << plain.products << ", " << projection.products << "; guesses " << projection.guesses
              << '\n';
  }
  EXPECT_EQ(plain.guesses, 0);
  EXPECT_GE(projection.guesses, 18);
  // The residual is what the tolerance is about, and for conjugate gradients the guess is best in the A-norm.
  EXPECT_LE(projection.iterations, (isCg(GetParam()) ? 0.85 : 0.6) * plain.iterations);
  EXPECT_LE(projection.products, plain.products + 24 * 2) << "images of three vectors, and the guess's own residual";
}

// The others take no matrix of either sign.
TEST(GuessStepsOfCg, OfANegativeDefiniteMatrixAreTheSame) {
  const MethodTraits& cg = *findMethod("CAPSTAN CG");
  const Steps one = march(cg, oneNorm("projection 3", 1e-4));
  const Steps other = march(cg, oneNorm("projection 3", 1e-4), -1);
  EXPECT_EQ(one.iterations, other.iterations);
  EXPECT_EQ(one.guesses, other.guesses);
}

// What is kept of a matrix that changes has no images. Where it is lost in a solve, nothing is learnt of that one but
// x.
TEST_P(GuessSteps, WhatIsLostWhereTheMatrixChangesIsForgotten) {
  for (const bool everywhere : {true, false}) {
    for (const bool nan : {true, false}) {
      SCOPED_TRACE(std::string(everywhere ? "all ranks" : "one rank") + (nan ? ", NaN" : ", all"));
      forgetAll();
      const Params p = oneNorm("projection 3", 1e-4);
      const auto solved = [&](int k) {
        const System system = stepOf(k);
        const Outcome outcome = anew(system, p, Side::Right);
        EXPECT_TRUE(outcome.converged) << k << ": " << toString(outcome.report.reason);
        EXPECT_LE(relativeNorm1(system), 1.001e-4) << k;
      };
      for (int k = 0; k < 8; ++k) solved(k);
      const StateKey key = problemKey<Types>(GetParam().canonical, "guessed", *problemOf(stepOf(7), Side::Right), 0);
      if (everywhere || rank() == ranks() - 1) {
        const auto kept = std::dynamic_pointer_cast<GuessMemory<Types>>(GuessStore::instance().take(key));
        ASSERT_NE(kept, nullptr) << "the key of the manager";
        if (nan) {
          kept->policy(0).kept()[0]->putScalar(std::numeric_limits<double>::quiet_NaN());
          GuessStore::instance().put(key, kept);
        }
      }
      for (int k = 8; k < 11; ++k) solved(k);
    }
  }
}

TEST_P(GuessSteps, WhereTheMatrixSettlesItsImagesAreKept) {
  forgetAll();
  const Params p = oneNorm("projection 3", 1e-4);
  const auto solver = solverOf(GetParam(), p);
  Outcome outcome;
  for (int k = 0; k < 60; ++k) {
    System system = stepOf(k < 8 ? k : 8);
    system.b = stepOf(k).b;
    outcome = solve(*solver, system, Side::None);
    EXPECT_TRUE(outcome.converged);
    EXPECT_LE(relativeNorm1(system), 1.001e-4);
  }
  EXPECT_GT(outcome.report.rightHandSides.at(0).guess.vectors, 0);
  EXPECT_LE(outcome.report.operatorsAtStart, 2) << "no products with three vectors";
}

TEST_P(GuessSteps, EachSeriesHasItsOwn) {
  const auto a = matrix();
  for (const bool inStateCache : {true, false}) {
    forgetAll();
    Params p = oneNorm("projection 3", 1e-10);
    p.set("State Cache", inStateCache);
    const auto solver = solverOf(GetParam(), p);
    auto& reporting = dynamic_cast<ReportingSolver&>(*solver);
    const auto solveOne = [&](int series, const std::function<Scalar(GO)>& solution) {
      reporting.setSeries(series);
      const System system = systemWithSolution(a, solution);
      const Outcome outcome = solve(*solver, system, Side::None);
      EXPECT_TRUE(outcome.converged);
      return outcome;
    };
    for (int step = 0; step < 3; ++step) {
      const Outcome one = solveOne(0, first), other = solveOne(1, second), none = solveOne(-1, second);
      EXPECT_EQ(guess(one).vectors, step > 0 ? 1 : 0);
      EXPECT_EQ(guess(other).vectors, step > 0 ? 1 : 0) << "of its own series";
      EXPECT_EQ(guess(none).vectors, 0);
      EXPECT_GT(none.iterations, 5);
      EXPECT_FALSE(mentions(told(one, "initial guess"), "A is another one"));
    }
    solver->reset(Belos::RecycleSubspace);
    for (const int series : {0, 1}) EXPECT_EQ(guess(solveOne(series, first)).vectors, 0) << "all are forgotten";
  }
}

// Kept vectors get the maps of the communicator that comes, and nothing is asked of the one that went.
TEST_P(GuessSteps, OnAnotherCommunicatorGoOn) {
  forgetAll();
  Outcome outcome;
  MPI_Comm before = MPI_COMM_NULL, now = MPI_COMM_NULL;
  for (const int begin : {0, 6}) {
    before = now;
    MPI_Comm_dup(MPI_COMM_WORLD, &now);  // while the other one is still there, so that it is another one
    if (before != MPI_COMM_NULL) MPI_Comm_free(&before);
    const RCP<const Teuchos::Comm<int>> comm = rcp(new Teuchos::MpiComm<int>(now));
    for (int k = begin; k < begin + 6; ++k) {
      outcome = solve(GetParam(), oneNorm("projection 3", 1e-4), stepOf(k, 1, comm), Side::None);
      EXPECT_TRUE(outcome.converged);
    }
  }
  EXPECT_GT(guess(outcome).vectors, 0);
  forgetAll();
  MPI_Comm_free(&now);
}

// A tolerance so loose that one iteration meets it: a guess costs a product, and can save none.
TEST_P(GuessSteps, SolvesOfOneIterationSeldomTakeOne) {
  const auto a = matrix();
  for (const double tolerance : {0.9, 1e-6}) {
    forgetAll();
    const auto solver = solverOf(GetParam(), guessing("projection 3", tolerance));
    int guesses = 0, iterations = 0;
    for (int k = 0; k < 40; ++k) {
      const auto solution = [k](GO g) { return first(g) + 0.1 * k * second(g); };
      const Outcome outcome = solve(*solver, systemWithSolution(a, solution), Side::None);
      EXPECT_TRUE(outcome.converged);
      guesses += guess(outcome).vectors > 0 ? 1 : 0;
      iterations = std::max(iterations, outcome.iterations);
    }
    EXPECT_GT(guesses, 0);
    if (iterations == 1) {
      EXPECT_LE(guesses, 6) << "rests of 1, 2, 4, 8 and 16 solves";
    }
    if (tolerance < 1e-5) {
      EXPECT_GT(iterations, 5);
      EXPECT_GE(guesses, 38) << "all but the first ones";
    } else {
      EXPECT_LE(iterations, 2);
    }
  }
}

// The first right-hand side is an eigenvector for a while, beside one that always has a guess.
TEST_P(GuessSteps, ARightHandSideThatWasEasyLearnsLater) {
  forgetAll();
  const auto a = grid2d(16, 16);
  const auto eigenvector = [](GO g) {
    const auto of = [](GO i) { return std::sin(M_PI * static_cast<double>(i + 1) / 17); };
    return of(g % 16) * of(g / 16);
  };
  const auto solver = solverOf(GetParam(), guessing("projection 3", 1e-6));
  Outcome outcome;
  for (int k = 0; k < 16; ++k) {
    const auto easy = [&](GO g) { return (1 + k) * eigenvector(g); };
    const auto hard = [k](GO g) { return first(g) + 0.1 * k * second(g); };
    System both = systemWithRightHandSide(a, wave, 2);
    Tpetra::deep_copy(*both.b->getVectorNonConst(0),
                      *(k < 8 ? systemWithSolution(a, easy) : systemWithSolution(a, hard)).b->getVector(0));
    Tpetra::deep_copy(*both.b->getVectorNonConst(1), *systemWithSolution(a, hard).b->getVector(0));
    outcome = solve(*solver, both, Side::None);
    EXPECT_TRUE(outcome.converged);
    EXPECT_GE(guess(outcome, 1).vectors, k > 0 ? 1 : 0);
  }
  EXPECT_GE(guess(outcome, 0).factor, 1e3);
  EXPECT_GE(guess(outcome, 1).factor, 1e3);
}

TEST(RestingPlan, RestsTwiceAsLongEachTimeAndNoLongerThanTheLongest) {
  RestingPlan plan;
  const auto restsAfter = [&](std::optional<double> saved) {
    plan.note(saved, 2);
    plan.solved();
    int rests = 0;
    while (plan.rests()) {
      plan.solved();
      ++rests;
    }
    return rests;
  };
  EXPECT_EQ(restsAfter(std::nullopt), 0) << "nobody knows";
  EXPECT_EQ(restsAfter(3), 0);
  EXPECT_EQ(restsAfter(1), 1);
  EXPECT_EQ(restsAfter(1), 2);
  EXPECT_EQ(restsAfter(1), 4);
  EXPECT_EQ(restsAfter(2), 0);
  EXPECT_EQ(restsAfter(1), 1) << "begins again";
  for (int k = 0; k < 10; ++k) restsAfter(0);
  EXPECT_EQ(restsAfter(0), tuning::guess::longestRest);
}

}  // namespace
}  // namespace capstan::testing
