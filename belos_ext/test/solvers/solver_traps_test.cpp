/// \file
/// Applications that switch floating point traps on: no sound solve traps. The exact cases, in which a residual, a
/// difference or an inner product becomes zero, with every method, preconditioner and side.

#include <Teuchos_oblackholestream.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <sstream>
#include <stdexcept>

#include "belos_ext/parameters/parameter_table.hpp"
#include "belos_ext/support/bounded_quotients.hpp"
#include "belos_ext/test/solvers/solver_suite.hpp"
#include "belos_ext/test/support/floating_point_traps.hpp"
#include "belos_ext/test/support/parameter_values.hpp"
#include "tpetra_ext/compat/trilinos.hpp"

namespace capstan::testing {
namespace {

constexpr GO width = 6, rows = width * width;

/// A sound system and what is asked of it.
struct Case {
  std::string name;
  std::function<System(size_t columns)> make;
  Params parameters;
};

Params with(const std::string& key, const Teuchos::ParameterEntry& value) {
  Params p;
  p.setEntry(key, value);
  return p;
}

Case of(const std::string& name, const std::function<RCP<CrsMatrix>()>& matrix, const std::function<Scalar(GO)>& entry,
        const Params& parameters = Params()) {
  return {name, [=](size_t columns) { return systemWithRightHandSide(matrix(), entry, columns); }, parameters};
}

/// The same with b = A y.
Case withSolution(const std::string& name, const std::function<RCP<CrsMatrix>()>& matrix,
                  const std::function<Scalar(GO)>& y, bool guessed = false, const Params& parameters = Params()) {
  const auto make = [=](size_t columns) {
    const auto a = matrix();
    System system = systemWithRightHandSide(a, y, columns);
    const auto exact = copyOf(*system.b);
    a->apply(*exact, *system.b);
    if (guessed) system.x->assign(*exact);
    return system;
  };
  return {name, make, parameters};
}

Scalar one(GO) { return 1; }
Scalar whole(GO g) { return static_cast<Scalar>(g % 7) - 3; }
RCP<CrsMatrix> laplacian() { return grid2d(width, width); }
RCP<CrsMatrix> identity() { return diagonal(one, rows); }
/// So many distinct eigenvalues: Krylov methods end after as many steps.
std::function<RCP<CrsMatrix>()> eigenvalues(int count) {
  return [=] { return diagonal([=](GO g) { return static_cast<Scalar>(1 + g % count); }, rows); };
}
/// A circulant matrix, of which (1, -1, 1, ...) and (1, 1, ...) are eigenvectors to the last digit.
RCP<CrsMatrix> ring() {
  return matrixFrom(evenMap(rows), [](GO g) {
    return std::vector<Entry>{{g, 3}, {(g + 1) % rows, -1}, {(g + rows - 1) % rows, -1}};
  });
}

std::vector<Case> exactCases() {
  const Params exact = with("Convergence Tolerance", Teuchos::ParameterEntry(0.0));
  Params few = exact;
  few.set("Maximum Iterations", 5);
  const auto scaled = [](Scalar factor) { return [=](GO g) { return factor * wave(g); }; };
  std::vector<Case> cases = {
      of("b = 0", laplacian, [](GO) { return 0.0; }),
      of(
          "b = 0 to the last digit", laplacian, [](GO) { return 0.0; }, exact),
      withSolution("exact guess", laplacian, whole, true),
      withSolution("exact guess, tolerance 0", laplacian, whole, true, exact),
      of("identity", identity, wave),
      of("identity, tolerance 0", identity, wave, exact),
      withSolution("identity, exact guess", identity, whole, true),
      of("2 steps", eigenvalues(2), one),
      of("3 steps", eigenvalues(3), wave),
      of("3 steps, tolerance 0", eigenvalues(3), wave, exact),
      of("7 steps, tolerance 0", eigenvalues(7), wave, exact),
      of("eigenvector", ring, [](GO g) { return g % 2 == 0 ? 1.0 : -1.0; }),
      of("constant eigenvector, tolerance 0", ring, one, exact),
      of("tolerance 0", laplacian, wave, exact),
      of("tolerance 0, 5 iterations", laplacian, wave, few),
      of("no iterations", laplacian, wave, with("Maximum Iterations", Teuchos::ParameterEntry(0))),
      of("tolerance 1", laplacian, wave, with("Convergence Tolerance", Teuchos::ParameterEntry(1.0))),
      of("plain", laplacian, wave),
      of("one entry", laplacian, [](GO g) { return g == 0 ? 1.0 : 0.0; }),
      of(
          "one row", [] { return diagonal([](GO) { return 3.0; }, 1); }, one),
      of(
          "one row, tolerance 0", [] { return diagonal([](GO) { return 3.0; }, 1); }, one, exact),
      of(
          "two rows", [] { return grid2d(2, 1); }, wave, exact),
      of("small b", laplacian, scaled(1e-150)),
      of("large b", laplacian, scaled(1e+150)),
      of("small b, 3 steps", eigenvalues(3), scaled(1e-150), exact),
      of("large b, 3 steps", eigenvalues(3), scaled(1e+150), exact),
      of(
          "rows of the last rank", [] { return grid2d(width, width, 0, lastRankMap(rows)); }, wave),
      of(
          "rows of the last rank, tolerance 0", [] { return diagonal(one, rows, lastRankMap(rows)); }, wave, exact),
      of(
          "null space", [] { return neumannGrid(width, width); }, [](GO g) { return g % 2 == 0 ? 1.0 : -1.0; }),
      of(
          "negative definite", [] { return diagonal([](GO g) { return -1.0 - static_cast<Scalar>(g % 3); }, rows); },
          wave)};
  // Where nothing asks for a sign or for symmetry.
  const auto general = [&](Case&& one) { cases.push_back(std::move(one)); };
  general(of(
      "convection", [] { return grid2d(width, width, 0.5); }, wave));
  // (r*, s) of pipelined BiCGStab is exactly zero in its second step.
  general(of(
      "a step without length",
      [] {
        return matrixFrom(evenMap(3), [](GO g) {
          return g == 0   ? std::vector<Entry>{{2, -1}}
                 : g == 1 ? std::vector<Entry>{{1, 2}, {2, -1}}
                          : std::vector<Entry>{{0, -1}, {1, -1}};
        });
      },
      [](GO g) { return g == 0   ? -1.0
                        : g == 1 ? 1.0
                                 : 0.0; }));
  general(of(
      "two signs", [] { return diagonal([](GO g) { return g % 2 == 0 ? 1.0 : -1.0; }, rows); }, one));
  return cases;
}

class Traps : public EverySolver {
 protected:
  void SetUp() override {
    if (!hasFloatingPointTraps()) GTEST_SKIP() << "no floating point traps on this machine";
  }

  /// Solves twice with the traps on, from the guess and from zero.
  void expectNoTrap(const Case& one, size_t columns, Side side, const Params& more = Params()) {
    const System system = one.make(columns);
    const auto solver = solverOf(GetParam());
    const auto problem = problemOf(system, side);
    Params parameters(one.parameters);
    parameters.setParameters(more);
    parameters.set("Output Stream", RCP<std::ostream>(rcp(new Teuchos::oblackholestream)));
    {
      const FloatingPointTraps traps;
      change(*solver, parameters);
      for (int k = 0; k < 2; ++k) {
        solver->setProblem(problem);
        solver->solve();
        system.x->putScalar(0);
        ++solves_;
      }
      EXPECT_TRUE(FloatingPointTraps::on()) << one.name << ": somebody has switched the traps off";
    }
    std::ostringstream what;
    what << one.name << ", " << columns << " columns, preconditioner " << toString(side) << more;
    for (const std::string& trap : FloatingPointTraps::found()) found_.emplace(firstLines(trap, 4), what.str() + trap);
  }

  /// Not all values go together with the defaults.
  static bool isAccepted(const Params& p) {
    try {
      solverOf(GetParam(), p);
      return true;
    } catch (const std::invalid_argument&) {
      return false;
    }
  }

  /// Each operation is told of once.
  static std::string firstLines(const std::string& text, int lines) {
    std::size_t end = 0;
    for (int k = 0; k < lines && end != std::string::npos; ++k) end = text.find('\n', end + 1);
    return text.substr(0, end);
  }

  void TearDown() override {
    for (const auto& trap : found_) ADD_FAILURE() << trap.second;
    RecordProperty("solves", solves_);
  }

  int solves_ = 0;
  std::map<std::string, std::string> found_;  ///< by their innermost calls
};

TEST_P(Traps, AreNotMetInExactCases) {
  for (const Case& one : exactCases()) {
    for (const Side side : {Side::None, Side::Left, Side::Right}) {
      for (const size_t columns : {1, 3}) expectNoTrap(one, columns, side);
    }
  }
  EXPECT_GE(solves_, 200);
}

/// A chain of springs of which this rank's are 1 to 1e11 stiff, and a preconditioner that solves what this rank has:
/// exactly, but for rounding.
System chain(GO n) {
  const auto stiffness = [](GO g) { return std::pow(10.0, 5.5 * (1 + std::sin(0.7 * static_cast<double>(g)))); };
  System system = systemWithRightHandSide(matrixFrom(evenMap(n),
                                                     [=](GO g) {
                                                       std::vector<Entry> row{{g, stiffness(g) + stiffness(g + 1)}};
                                                       if (g > 0) row.push_back({g - 1, -stiffness(g)});
                                                       if (g + 1 < n) row.push_back({g + 1, -stiffness(g + 1)});
                                                       return row;
                                                     }),
                                          wave);
  const auto map = system.b->getMap();
  system.preconditioner = rcp(new FunctionOperator(map, [=](const MultiVector& in, MultiVector& out) {
    Tpetra::deep_copy(out, in);
    const auto first = map->getMinGlobalIndex();
    const auto m = static_cast<GO>(compat::localNumElements(*map));
    for (std::size_t c = 0; c < in.getNumVectors(); ++c) {
      const auto x = out.getDataNonConst(c);
      std::vector<Scalar> d(static_cast<std::size_t>(m));
      for (GO i = 0; i < m; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const Scalar k = stiffness(first + i);
        d[at] = k + stiffness(first + i + 1);
        if (i == 0) continue;
        d[at] -= k * k / d[at - 1];
        x[i] += k / d[at - 1] * x[i - 1];
      }
      for (GO i = m - 1; i >= 0; --i) {
        if (i + 1 < m) x[i] += stiffness(first + i + 1) * x[i + 1];
        x[i] /= d[static_cast<std::size_t>(i)];
      }
    }
  }));
  return system;
}

// Squares of norms come out negative there, by rounding.
TEST_P(Traps, AreNotMetWhereThePreconditionerIsExact) {
  for (const GO n : {20, 200, 500, 1000, 2000}) {
    for (const double tolerance : {1e-8, 1e-12, 1e-15}) {
      Params p = with("Convergence Tolerance", Teuchos::ParameterEntry(tolerance));
      p.set("Maximum Iterations", 100);
      expectNoTrap({"chain of " + std::to_string(n), [n](size_t) { return chain(n); }, p}, 1, Side::Right);
    }
  }
}

/// Every key of the parameter table that the method takes.
TEST_P(Traps, AreNotMetWithAnyParameter) {
  const std::vector<std::string> chosen = {"3 steps", "b = 0", "plain", "identity"};
  for (const Case& one : exactCases()) {
    if (std::find(chosen.begin(), chosen.end(), one.name) == chosen.end()) continue;
    for (const ParameterRow& row : parameterRows()) {
      if (!row.appliesTo(GetParam()) || row.name == "Output Stream") continue;
      for (const Teuchos::ParameterEntry& value : valuesToTry(row, ::testing::TempDir())) {
        const Params p = with(row.name, value);
        if (isAccepted(p)) expectNoTrap(one, 1, Side::Right, p);
      }
    }
  }
}

CAPSTAN_FOR_EVERY_SOLVER(Traps);

TEST(BoundedQuotients, AreNumbersWithoutTraps) {
  const double inf = std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::max(),
               least = std::numeric_limits<double>::min(), tiny = std::numeric_limits<double>::denorm_min();
  const volatile double zero = 0;
  const FloatingPointTraps traps;
  EXPECT_EQ(ratioOr(6.0, -3.0, 7.0), -2);
  EXPECT_EQ(ratioOr(1.0, +zero, 7.0), 7);
  EXPECT_EQ(ratioOr(+zero, +zero, 7.0), 7);
  EXPECT_EQ(ratioOr(+zero, 3.0, 7.0), 0);
  EXPECT_EQ(ratioOr(1e200, -1e-200, inf), inf);
  EXPECT_EQ(ratioOr(most, 1.0, 7.0), most);
  EXPECT_EQ(boundedRatio(6, 3), 2);
  EXPECT_EQ(boundedRatio(zero, zero), 1);
  EXPECT_EQ(boundedRatio(zero, 3), least);
  EXPECT_EQ(boundedRatio(1, zero), 1 / least);
  EXPECT_EQ(boundedRatio(1, tiny), most);
  EXPECT_EQ(boundedRatio(least, most), least);
  EXPECT_LT(std::log(positive(zero)), -700);
}

/// The test itself sees what it is to see.
TEST(FloatingPointTraps, AreSeenEachOperationOnce) {
  if (!hasFloatingPointTraps()) GTEST_SKIP() << "no floating point traps on this machine";
  const volatile double zero = 0, most = std::numeric_limits<double>::max();
  volatile double result = 0;
  const FloatingPointTraps traps;
  EXPECT_TRUE(FloatingPointTraps::found().empty());
  const auto all = [&](const volatile double& with) {
    result = 1 / with;
    result = std::sqrt(with - 1);
    result = most * (most + with);
  };
  void (*const volatile once)(const decltype(all)&, const volatile double&) =
      [](const decltype(all)& f, const volatile double& with) { f(with); };
  for (int k = 0; k < 3; ++k) once(all, zero);
  const std::vector<std::string> found = FloatingPointTraps::found();
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].substr(0, 16), "division by zero");
  EXPECT_EQ(found[1].substr(0, 17), "invalid operation");
  EXPECT_EQ(found[2].substr(0, 8), "overflow");
  EXPECT_TRUE(FloatingPointTraps::on());
  EXPECT_TRUE(std::isinf(result)) << "and they run as without traps";
}

}  // namespace
}  // namespace capstan::testing
