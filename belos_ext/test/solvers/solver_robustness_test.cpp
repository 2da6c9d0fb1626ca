/// \file
/// Every solver on every kind of system it may meet, on every preconditioner side: what converges, what must not be
/// called converged, and what is left in x.

#include <cmath>
#include <limits>
#include <memory>
#include <tuple>

#include "belos_ext/test/solvers/solver_suite.hpp"

namespace capstan::testing {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

enum class Expect {
  Converges,    ///< meets the tolerance
  Untouched,    ///< does not converge and leaves x as it was
  Unconverged,  ///< does not converge; x is finite
  Honest        ///< may or may not converge; what it says is true and x is finite
};

struct Case {
  std::string name;
  std::function<System()> make;
  Expect gmres, cg;
};

/// The five-point Laplacian minus `shift`.
RCP<CrsMatrix> shiftedLaplacian(GO n, Scalar shift) {
  auto a = grid2d(n, n);
  a->resumeFill();
  for (size_t i = 0; i < compat::localNumRows(*a); ++i) {
    const GO g = a->getRowMap()->getGlobalElement(static_cast<int>(i));
    const Scalar value = 4 - shift;
    a->replaceGlobalValues(g, Teuchos::tuple<GO>(g), Teuchos::tuple<Scalar>(value));
  }
  a->fillComplete();
  return a;
}

RCP<CrsMatrix> spoiled(Scalar value) {
  return matrixFrom(evenMap(30), [=](GO g) {
    std::vector<Entry> row{{g, 4}};
    if (g > 0) row.push_back({g - 1, g == 17 ? value : -1});
    return row;
  });
}

System withGuess(System system, const std::function<Scalar(GO)>& entry) {
  system.x = vectorFrom(system.x->getMap(), entry);
  return system;
}

System withRightHandSideEntry(Scalar value) {
  System system = systemWithRightHandSide(grid2d(8, 8));
  if (system.b->getMap()->isNodeGlobalElement(20)) system.b->replaceGlobalValue(20, 0, value);
  return system;
}

System exactGuess() {
  const auto whole = [](GO g) { return static_cast<Scalar>(g % 7 - 3); };  // no rounding in A x
  return withGuess(systemWithSolution(grid2d(9, 9, 0.5), whole), whole);
}

/// The preconditioner turns one entry into NaN from its k-th application on, counted from the start of the solve.
System failingPreconditioner(int k) {
  System system = systemWithRightHandSide(grid2d(12, 12));
  auto applications = std::make_shared<int>(0);
  const auto inner = system.preconditioner;
  system.preconditioner = rcp(new FunctionOperator(inner->getDomainMap(), [=](const MultiVector& in, MultiVector& out) {
    inner->apply(in, out);
    if (++*applications >= k && out.getMap()->isNodeGlobalElement(5)) out.replaceGlobalValue(5, 0, nan);
  }));
  system.arm = [=] { *applications = 0; };
  return system;
}

/// Moves every entry one place on: GMRES gains nothing before its n-th step.
System cyclicShift(GO n) {
  return systemWithRightHandSide(matrixFrom(evenMap(n),
                                            [=](GO g) {
                                              return std::vector<Entry>{{(g + n - 1) % n, 1}};
                                            }),
                                 [](GO g) { return g == 0 ? Scalar(1) : Scalar(0); });
}

System scaled(Scalar matrixFactor, Scalar vectorFactor) {
  auto a = grid2d(8, 8);
  a->resumeFill();
  a->scale(matrixFactor);
  a->fillComplete();
  System system = systemWithRightHandSide(a);
  system.b->scale(vectorFactor);
  return system;
}

std::vector<Case> cases() {
  using E = Expect;
  const auto spd = [] { return grid2d(15, 15); };
  return {
      {"Spd", [=] { return systemWithRightHandSide(spd()); }, E::Converges, E::Converges},
      {"SpdWithGuess", [=] { return withGuess(systemWithRightHandSide(spd()), wave); }, E::Converges, E::Converges},
      {"Nonsymmetric", [] { return systemWithRightHandSide(grid2d(15, 15, 0.4)); }, E::Converges, E::Honest},
      {"Convective", [] { return systemWithRightHandSide(grid2d(12, 12, 3)); }, E::Converges, E::Honest},
      {"IllConditioned", [] { return systemWithRightHandSide(lowSyncDiagonal()); }, E::Converges, E::Converges},
      {"Singular1d", [] { return systemWithSolution(neumannGrid(60)); }, E::Converges, E::Converges},
      {"Singular2d", [] { return systemWithSolution(neumannGrid(12, 12)); }, E::Converges, E::Converges},
      {"SingularInconsistent",
       [] { return systemWithRightHandSide(neumannGrid(8, 8), [](GO g) { return g % 3 == 0 ? 2.0 : 1.0; }); },
       E::Unconverged, E::Unconverged},
      {"ZeroMatrix", [] { return systemWithRightHandSide(diagonal([](GO) { return 0.0; }, 20)); }, E::Unconverged,
       E::Unconverged},
      {"IndefiniteDiagonal",
       [] {
         return systemWithRightHandSide(
             diagonal([](GO g) { return static_cast<Scalar>(g % 9 < 3 ? g % 9 - 3 : g % 9 - 2); }, 40));
       },
       E::Converges, E::Honest},
      {"IndefiniteLaplacian", [] { return systemWithRightHandSide(shiftedLaplacian(10, 2.05)); }, E::Converges,
       E::Honest},
      {"CyclicShift", [] { return cyclicShift(24); }, E::Converges, E::Honest},
      {"ZeroRightHandSide", [=] { return systemWithRightHandSide(spd(), [](GO) { return 0.0; }); }, E::Converges,
       E::Converges},
      {"ZeroRightHandSideWithGuess",
       [=] { return withGuess(systemWithRightHandSide(spd(), [](GO) { return 0.0; }), wave); }, E::Converges,
       E::Converges},
      {"ExactGuess", exactGuess, E::Converges, E::Converges},
      {"NanInMatrix", [] { return systemWithRightHandSide(spoiled(nan)); }, E::Untouched, E::Untouched},
      {"InfInMatrix", [] { return systemWithRightHandSide(spoiled(infinity)); }, E::Untouched, E::Untouched},
      {"NanInMatrixWithGuess", [] { return withGuess(systemWithRightHandSide(spoiled(nan)), wave); }, E::Untouched,
       E::Untouched},
      {"InfInRightHandSide", [] { return withRightHandSideEntry(infinity); }, E::Untouched, E::Untouched},
      {"NanInRightHandSide", [] { return withRightHandSideEntry(nan); }, E::Untouched, E::Untouched},
      {"OneRow", [] { return systemWithRightHandSide(diagonal([](GO) { return 2.0; }, 1)); }, E::Converges,
       E::Converges},
      {"TwoRows", [] { return systemWithRightHandSide(grid2d(2, 1)); }, E::Converges, E::Converges},
      {"EmptyRanks", [] { return systemWithRightHandSide(grid2d(12, 12, 0, lastRankMap(144))); }, E::Converges,
       E::Converges},
      {"LargeEntries", [] { return scaled(1e100, 1e100); }, E::Converges, E::Converges},
      {"HugeEntries", [] { return scaled(1e200, 1e200); }, E::Honest, E::Honest},
      {"SmallEntries", [] { return scaled(1e-100, 1e-100); }, E::Converges, E::Converges},
      {"TinyEntries", [] { return scaled(1e-200, 1e-200); }, E::Honest, E::Honest},
  };
}

using Parameter = std::tuple<MethodTraits, Case, Side>;

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

void judge(const System& system, const MultiVector& guess, const Outcome& outcome, Expect expect) {
  const double relative = relativeResidual(system, guess);
  switch (expect) {
    case Expect::Converges:
      EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason) << ", residual " << relative;
      break;
    case Expect::Untouched:
      EXPECT_TRUE(identical(*system.x, guess));
      EXPECT_FALSE(outcome.converged);
      EXPECT_EQ(outcome.report.reason, StopReason::NonFinite);
      break;
    case Expect::Unconverged:
      EXPECT_FALSE(outcome.converged);
      break;
    case Expect::Honest:
      break;
  }
  if (outcome.converged) {
    EXPECT_LE(relative, 1e-8 * (1 + 1e-6)) << "false convergence";
  }
  EXPECT_TRUE(allFinite(*system.x));
  EXPECT_EQ(outcome.converged, outcome.report.converged);
  EXPECT_EQ(outcome.iterations, outcome.report.iterations);
  EXPECT_LE(outcome.iterations, 1000);
  EXPECT_EQ(outcome.converged, outcome.report.reason == StopReason::Converged);
  expectSameOnAllRanks(outcome);
}

class Robustness : public ::testing::TestWithParam<Parameter> {};

TEST_P(Robustness, SaysWhatItDid) {
  const auto& [name, kind, side] = GetParam();
  const System system = kind.make();
  const auto guess = copyOf(*system.x);
  const Outcome outcome = solve(name, Params(), system, side);
  judge(system, *guess, outcome, isGmres(name) ? kind.gmres : kind.cg);
}

std::string parameterName(const ::testing::TestParamInfo<Parameter>& info) {
  const auto& [name, kind, side] = info.param;
  return identifier(name.canonical + "_" + kind.name + "_" + toString(side));
}

INSTANTIATE_TEST_SUITE_P(All, Robustness,
                         ::testing::Combine(::testing::ValuesIn(methods()), ::testing::ValuesIn(cases()),
                                            ::testing::Values(Side::None, Side::Left, Side::Right)),
                         parameterName);

class FailingPreconditioner : public EverySolver {};

TEST_P(FailingPreconditioner, LeavesTheGuessWhenItFailsAtOnce) {
  for (Side side : {Side::Left, Side::Right}) {
    const System system = failingPreconditioner(1);
    const auto guess = copyOf(*system.x);
    const Outcome outcome = solve(GetParam(), Params(), system, side);
    judge(system, *guess, outcome, Expect::Untouched);
    if (side == Side::Right) {
      EXPECT_NEAR(outcome.report.trueResidual, 1, 1e-9) << "that of the guess";
      EXPECT_NEAR(outcome.achieved, 1, 1e-9);
    }
  }
}

TEST_P(FailingPreconditioner, LeavesAFiniteIterateWhenItFailsLater) {
  for (Side side : {Side::Left, Side::Right}) {
    for (int k : {2, 3, 4, 6, 9, 14, 20}) {
      SCOPED_TRACE("application " + std::to_string(k) + ", " + toString(side));
      const System system = failingPreconditioner(k);
      const auto guess = copyOf(*system.x);
      const Outcome outcome = solve(GetParam(), Params(), system, side);
      judge(system, *guess, outcome, Expect::Unconverged);
      const double attained = relativeResidual(system, *guess);
      EXPECT_LE(attained, 1 + 1e-12);
      // With a left preconditioner the preconditioned residual may be the larger one.
      if (side == Side::Right) {
        EXPECT_NEAR(outcome.report.trueResidual, attained, 1e-9);
        EXPECT_NEAR(outcome.achieved, attained, 1e-9);
      }
    }
  }
}

TEST_P(FailingPreconditioner, LeavesTheProblemSolvableAfterwards) {
  const auto solver = solverOf(GetParam());
  solve(*solver, failingPreconditioner(4), Side::Right);
  const System sound = systemWithRightHandSide(grid2d(12, 12));
  const auto guess = copyOf(*sound.x);
  judge(sound, *guess, solve(*solver, sound, Side::Right), Expect::Converges);
}

TEST_P(FailingPreconditioner, MayBeTheGuessThatIsNotFinite) {
  const System system = withGuess(systemWithRightHandSide(grid2d(6, 6)), [](GO g) { return g == 3 ? nan : 0.0; });
  const auto guess = copyOf(*system.x);
  const Outcome outcome = solve(GetParam(), Params(), system);
  EXPECT_FALSE(outcome.converged);
  EXPECT_EQ(outcome.report.reason, StopReason::NonFinite);
  EXPECT_TRUE(identical(*system.x, *guess));
  expectSameOnAllRanks(outcome);
}

class Underflow : public EverySolver {};

TEST_P(Underflow, OfSquaresIsNoConvergence) {
  for (const char* scaling : {"Norm of Initial Residual", "Norm of RHS"}) {
    for (Side side : {Side::None, Side::Left, Side::Right}) {
      Params p;
      p.set("Residual Scaling", scaling);
      const System system = scaled(1, 1e-200);  // squares vanish, entries do not
      const auto guess = copyOf(*system.x);
      judge(system, *guess, solve(GetParam(), p, system, side), Expect::Honest);
    }
  }
}

CAPSTAN_FOR_EVERY_SOLVER(Underflow);
CAPSTAN_FOR_EVERY_SOLVER(FailingPreconditioner);

}  // namespace
}  // namespace capstan::testing
