/// \file
/// Every loop of every method ends, however products are rounded: here they are rounded in another way each time. What
/// bounds a solve are its iterations; what a restart or a claim costs besides is bounded, too.

#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>

#include "belos_ext/test/solvers/solver_suite.hpp"

namespace capstan::testing {
namespace {

/// A number in [-1, 1) from the row and the application, the same on any number of ranks.
double noise(GO row, long application) {
  auto bits = static_cast<std::uint64_t>(row + 1) * 0x9E3779B97F4A7C15ULL +
              static_cast<std::uint64_t>(application) * 0xD1B54A32D192ED03ULL;
  bits ^= bits >> 29;
  bits *= 0xBF58476D1CE4E5B9ULL;
  bits ^= bits >> 32;
  return static_cast<double>(bits >> 11) * 0x1.0p-52 - 1.0;
}

struct Endless : std::runtime_error {
  Endless() : std::runtime_error("the solve does not end") {}
};

/// `inner`, each entry of what it makes changed by up to `level` of itself, in another way each time. Throws Endless on
/// all ranks once it has been applied `most` times.
RCP<const Operator> noisy(const RCP<const Operator>& inner, double level, long most) {
  auto applications = std::make_shared<long>(0);
  return rcp(new FunctionOperator(inner->getDomainMap(), [=](const MultiVector& in, MultiVector& out) {
    if (++*applications > most) throw Endless();
    inner->apply(in, out);
    if (level == 0) return;
    const auto& map = *out.getMap();
    for (std::size_t c = 0; c < out.getNumVectors(); ++c) {
      const auto column = out.getDataNonConst(c);
      for (Teuchos::Ordinal i = 0; i < column.size(); ++i) {
        column[i] *= 1 + level * noise(map.getGlobalElement(static_cast<int>(i)), *applications);
      }
    }
  }));
}

struct Case {
  const char* name;
  System system;
  const char* shifts = nullptr;  ///< of methods that take some
};

/// Preconditioned by nothing at all: the inverse of a diagonal would leave nothing to do.
System unscaled(const RCP<CrsMatrix>& a) {
  System system = systemWithRightHandSide(a, [](GO g) { return std::sin(1.0 + 1.7 * static_cast<double>(g)); });
  system.preconditioner =
      rcp(new FunctionOperator(a->getRowMap(), [](const MultiVector& in, MultiVector& out) { out.assign(in); }));
  return system;
}

std::vector<Case> cases(const MethodTraits& method) {
  std::vector<Case> all{{"diag(0.001, 1..99)", unscaled(lowSyncDiagonal())},
                        {"diag(0.001, 1..99), shift -50", unscaled(lowSyncDiagonal()), "[-50]"},
                        {"grid", systemWithRightHandSide(grid2d(10, 10, isCg(method) ? 0.0 : 0.3))},
                        {"few eigenvalues", unscaled(diagonal([](GO g) { return std::pow(1.7, g % 5); }, 60))}};
  if (!isCg(method)) {
    all.push_back({"indefinite", unscaled(diagonal([](GO g) { return g % 2 == 0 ? -1.0 - g : 2.0 + g; }, 60))});
  }
  return all;
}

constexpr int mostIterations = 150;

class Loops : public EverySolver {
 protected:
  /// Solves, and holds what the solve took against the iterations it was allowed. Methods of two products an iteration
  /// and polynomials take their multiple; the rest is for claims and restarts.
  static void expectEnd(const System& clean, double level, bool ofM, Params p, const ::testing::Message& what) {
    SCOPED_TRACE(::testing::Message() << what << (ofM ? ", M off by " : ", A off by ") << level);
    p.set("State Cache", false);
    p.set("Maximum Iterations", mostIterations);
    System system = clean;
    system.x = rcp(new MultiVector(clean.x->getMap(), 1));
    const long bound = 8 * mostIterations + 100;
    system.a = noisy(clean.a, ofM ? 0 : level, bound);
    system.preconditioner = noisy(clean.preconditioner, ofM ? level : 0, bound);
    try {
      const Outcome outcome = solve(GetParam(), p, system, ofM ? Side::Right : Side::None);
      EXPECT_LE(outcome.iterations, mostIterations);
      EXPECT_LE(outcome.report.restarts, mostIterations);
      EXPECT_TRUE(allFinite(*system.x));
      expectSameOnAllRanks(outcome);
    } catch (const Endless& error) {
      ADD_FAILURE() << error.what() << ": more than " << bound << " products";
    }
  }
};

TEST_P(Loops, EndWhateverRoundingDoes) {
  for (const auto& [name, system, shifts] : cases(GetParam())) {
    for (const double level : {1e-16, 1e-14, 1e-11, 1e-7, 1e-2}) {
      for (const bool ofM : {false, true}) {
        for (const double tolerance : {1e-8, 1e-13, 0.0}) {
          Params p;
          p.set("Convergence Tolerance", tolerance);
          if (isGmres(GetParam())) p.set("Num Blocks", 20);
          if (isGmres(GetParam())) p.set("Maximum Restarts", 1000);
          if (shifts != nullptr && GetParam().takes("Shifts")) p.set("Shifts", shifts);
          expectEnd(system, level, ofM, p, ::testing::Message() << name << ", tolerance " << tolerance);
        }
      }
    }
  }
}

TEST_P(Loops, EndWhereNothingElseGoesOn) {
  if (!GetParam().takes("Fallback") && !GetParam().takes("Residual Replacement")) {
    GTEST_SKIP() << GetParam().canonical << " has no fallback beyond its own";
  }
  const System system = unscaled(lowSyncDiagonal());
  for (const double level : {1e-14, 1e-7}) {
    for (const char* replacement : {"off", "every 1", "every 3"}) {
      Params p;
      p.set("Convergence Tolerance", 1e-13);
      if (GetParam().takes("Fallback")) p.set("Fallback", "none");
      if (GetParam().takes("Residual Replacement")) p.set("Residual Replacement", replacement);
      expectEnd(system, level, true, p, ::testing::Message() << "replacement " << replacement);
    }
  }
}

CAPSTAN_FOR_EVERY_SOLVER(Loops);

}  // namespace
}  // namespace capstan::testing
