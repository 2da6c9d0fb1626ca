/// \file
/// "Initial Guess" with every method: what a guess is worth, what it costs, and what the tolerance then means.

#include "belos_ext/guess/guess_order.hpp"
#include "belos_ext/test/solvers/guess_suite.hpp"

namespace capstan::testing {
namespace {

// Two systems to learn from, a third whose prediction comes true, and one whose guess is then taken without a look.
TEST_P(Guess, InTheSpanOfEarlierSolutionsIsTheSolution) {
  const auto a = matrix();
  for (Side side : {Side::None, Side::Right}) {
    forgetAll();
    const Params accurate = guessing("projection 4", 1e-12);
    EXPECT_EQ(guess(anew(systemWithSolution(a, first), accurate, side)).vectors, 0);
    EXPECT_GT(anew(systemWithSolution(a, second), accurate, side).iterations, 5);
    for (const bool confirmed : {false, true}) {
      const Outcome outcome = anew(systemWithSolution(a, mixture), guessing("projection 4"), side);
      EXPECT_TRUE(outcome.converged);
      EXPECT_EQ(outcome.iterations, 0) << confirmed;
      EXPECT_EQ(guess(outcome).vectors, 2);
      EXPECT_GE(guess(outcome).factor, 1e8);
      EXPECT_GT(outcome.report.iterationsSaved, 5);
    }
  }
}

TEST_P(Guess, ExtrapolationIsExactForPolynomialsInTime) {
  const auto a = matrix();
  for (int degree = 1; degree <= 3; ++degree) {
    forgetAll();
    Outcome outcome;
    for (int step = 0; step <= degree + 1; ++step) {
      const auto solution = [=](GO g) { return first(g) + second(g) * std::pow(0.4 * step, degree); };
      outcome = anew(systemWithSolution(a, solution),
                     guessing("extrapolation " + std::to_string(degree), step <= degree ? 1e-12 : 1e-8));
    }
    EXPECT_TRUE(outcome.converged);
    EXPECT_EQ(outcome.iterations, 0);
    EXPECT_EQ(guess(outcome).vectors, degree + 1);
    EXPECT_GE(guess(outcome).factor, 1e8);
  }
}

// The tolerance means what it means without a guess: it is relative to the application's own x.
TEST_P(Guess, ScalesByTheResidualOfTheApplication) {
  const auto a = matrix();
  for (const std::string scaling : {"Norm of Initial Residual", "Norm of RHS", "None"}) {
    for (Side side : {Side::None, Side::Left, Side::Right}) {
      SCOPED_TRACE(scaling + ", " + toString(side));
      forgetAll();
      Params p = guessing("projection 4", 1e-6);
      p.set("Residual Scaling", scaling);
      anew(systemWithSolution(a, first), p, side);
      System next = systemWithSolution(a, [](GO g) { return 1000 * first(g) + 30 * second(g); });
      next.x->putScalar(0.5);
      const double scale = scaling == "None"          ? 1
                           : scaling == "Norm of RHS" ? norms(*next.b)[0]
                                                      : residualNorms(next, *next.x)[0];
      const Outcome outcome = anew(next, p, side);
      EXPECT_TRUE(outcome.converged);
      EXPECT_EQ(guess(outcome).vectors, 1);
      EXPECT_GT(guess(outcome).factor, 10);
      EXPECT_GT(outcome.iterations, 0);
      EXPECT_NEAR(outcome.report.rightHandSides[0].scale, scale, 1e-10 * scale);
      const double residual = residualNorms(next, *next.x)[0] / scale;
      EXPECT_LE(residual, 1.001e-6);
      EXPECT_GT(residual, 1e-3 * 1e-6) << "no stricter than asked for";
    }
  }
}

TEST_P(Guess, IsTheApplicationsWhereItsScaleNeedsTheLeftPreconditioner) {
  const auto a = matrix();
  for (int solves = 0; solves < 3; ++solves) {
    const Outcome outcome = anew(systemWithSolution(a, [=](GO g) { return first(g) + 0.01 * solves * second(g); }),
                                 guessing("projection 4"), Side::Left);
    EXPECT_TRUE(outcome.converged);
    EXPECT_EQ(mentions(told(outcome, "initial guess"), "Norm of Initial Residual"), isGmres(GetParam()));
    EXPECT_EQ(guess(outcome).vectors > 0, solves > 0 && !isGmres(GetParam()));
  }
}

TEST_P(Guess, AddsToTheGuessOfTheApplication) {
  const auto a = matrix();
  anew(systemWithSolution(a, first), guessing("projection 4", 1e-12));
  System system = systemWithSolution(a, [](GO g) { return second(g) + first(g); });
  system.x->update(1, *vectorFrom(a->getRowMap(), second), 0);  // lacks `first`
  const Outcome outcome = anew(system, guessing("projection 4"));
  EXPECT_EQ(outcome.iterations, 0);
  EXPECT_GE(guess(outcome).factor, 1e8);
}

struct Applications {
  long a, m, reductions;
};

Applications applicationsOf(const Outcome& outcome) {
  const SolveReport& r = outcome.report;
  return {r.operatorApplications, r.preconditionerApplications, r.reductionsBlocking + r.reductionsNonblocking};
}

void expectMore(const Outcome& outcome, const Outcome& than, long a, long reductions) {
  const Applications with = applicationsOf(outcome), without = applicationsOf(than);
  EXPECT_EQ(outcome.iterations, than.iterations);
  EXPECT_EQ(with.a, without.a + a);
  EXPECT_EQ(with.m, without.m) << "a guess must not need the preconditioner";
  EXPECT_EQ(with.reductions, without.reductions + reductions);
}

TEST_P(Guess, CostsWhatItsFilesSay) {
  const auto a = matrix();
  const auto run = [&](
                       const std::string& guess, const std::function<Scalar(GO)>& solution, double accuracy,
                       const std::function<Scalar(GO)>& own = [](GO) { return 0.0; }) {
    Params p = guessing(guess, accuracy);
    p.set("Residual Scaling", "Norm of RHS");
    System system = systemWithSolution(a, solution);
    system.x->update(1, *vectorFrom(a->getRowMap(), own), 0);
    return anew(system, p, Side::Right);
  };
  const auto nearly = [](GO g) { return mixture(g) * (1 + 1e-10); };  // a residual of 0 would be summed again, scaled
  // After tests with guesses the ranks agree on having none; and on not beginning at zero.
  for (int k = 0; k <= tuning::guess::patience; ++k) run("application", mixture, 1e-8, nearly);
  const Outcome nothingToDo = run("application", mixture, 1e-8, nearly);
  ASSERT_EQ(nothingToDo.iterations, 0);
  for (const std::string which : {"projection 4", "extrapolation 1"}) {
    SCOPED_TRACE(which);
    const bool projects = which == "projection 4";
    forgetAll();  // else what methods learn themselves makes a difference
    const Outcome plain = run("application", first, 1e-12);
    forgetAll();
    expectMore(run(which, first, 1e-12), plain, 0, 0);
    if (!projects) run(which, first, 1e-12);
    const Outcome untried = run(which, first, 1e-8), confirmed = run(which, first, 1e-8);
    EXPECT_EQ(guess(untried).vectors, projects ? 1 : 2);
    EXPECT_EQ(guess(confirmed).vectors, projects ? 1 : 2);
    expectMore(untried, nothingToDo, 1, projects ? 2 : 1);
    expectMore(confirmed, nothingToDo, 1, 1);
    // The last ones in the old order, until the ranks agree on having no guesses.
    for (int k = 0; k <= tuning::guess::patience; ++k) {
      expectMore(run("application", mixture, 1e-8, nearly), nothingToDo, projects ? 0 : 1, 1);
    }
    expectMore(run("application", mixture, 1e-8, nearly), nothingToDo, 0, 0);
  }
}

CAPSTAN_FOR_EVERY_SOLVER(Guess);

}  // namespace
}  // namespace capstan::testing
