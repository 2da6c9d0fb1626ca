/// \file
/// Do the ranks of a solve want the same? Cached state from solves on other communicators, parameters that differ, and
/// vectors on other maps than the operator's.

#include <functional>
#include <sstream>
#include <stdexcept>

#include "belos_ext/manager/state_cache.hpp"
#include "belos_ext/parameters/parameter_overlay.hpp"
#include "belos_ext/test/solvers/solver_suite.hpp"
#include "tpetra_ext/test/support/counted_mpi.hpp"

namespace capstan::testing {
namespace {

bool keepsState(const MethodTraits& name) { return name.takes("Eigenvalue Bounds") || getsStepSize(name); }

/// What a solve had to find out about the operator.
size_t learnt(const Outcome& outcome) {
  return told(outcome, "shifts").size() + told(outcome, "eigenvalue bounds").size();
}

class CachedState : public EverySolver {
 protected:
  void SetUp() override { StateCache::instance().clear(); }
  void TearDown() override { StateCache::instance().clear(); }
};

RCP<const Teuchos::Comm<int>> half(int color) { return Tpetra::getDefaultComm()->split(color, rank()); }

/// A multiple of the Laplacian, the larger the number the larger the multiple, with another right-hand side.
System problemNumber(int number, const RCP<const Teuchos::Comm<int>>& comm) {
  const GO n = 20;
  const Scalar factor = 1 + 9 * number;
  const auto a = matrixFrom(evenMap(n * n, comm), [=](GO g) {
    const GO i = g % n, j = g / n;
    std::vector<Entry> row{{g, 4 * factor}};
    if (i > 0) row.push_back({g - 1, -factor});
    if (i + 1 < n) row.push_back({g + 1, -factor});
    if (j > 0) row.push_back({g - n, -factor});
    if (j + 1 < n) row.push_back({g + n, -factor});
    return row;
  });
  a->setObjectLabel("made anew");  // without a name it is a system of those that other tests have left
  return systemWithRightHandSide(a, [=](GO g) { return wave(g + 31 * number); });
}

TEST_P(CachedState, OfOtherCommunicatorsIsForgottenByAllRanksAndCountedAnew) {
  if (ranks() != 4) GTEST_SKIP() << "needs 4 ranks";
  const int before = rank() / 2, after = rank() % 2;
  const auto first = half(before), second = half(after);
  for (bool equallyOften : {true, false}) {
    StateCache::instance().clear();
    for (int solves = 0; solves <= (equallyOften ? 0 : before); ++solves) {
      EXPECT_TRUE(solve(GetParam(), Params(), problemNumber(before, first)).converged);
    }
    const Outcome mixed = solve(GetParam(), Params(), problemNumber(0, second));
    EXPECT_TRUE(mixed.converged);
    EXPECT_EQ(learnt(mixed) > 0, keepsState(GetParam())) << "what the ranks do not agree on is forgotten";
    const Outcome again = solve(GetParam(), Params(), problemNumber(0, second));
    EXPECT_TRUE(again.converged);
    EXPECT_EQ(learnt(again), 0U) << "what they have found since is used";
  }
}

TEST_P(CachedState, ThatOneRankHasLostIsFoundAnew) {
  const auto world = Tpetra::getDefaultComm();
  solve(GetParam(), Params(), problemNumber(0, world));
  if (rank() == 0) StateCache::instance().clear();
  const Outcome outcome = solve(GetParam(), Params(), problemNumber(0, world));
  EXPECT_TRUE(outcome.converged);
  expectSameOnAllRanks(outcome);
  EXPECT_EQ(learnt(outcome) > 0, keepsState(GetParam()));
  EXPECT_EQ(learnt(solve(GetParam(), Params(), problemNumber(0, world))), 0U);
}

// A p(l)-CG that knows no shifts begins with l = 1.
TEST_P(CachedState, ThatOneRankHasLostIsFoundAnewByADeepPipeline) {
  if (!isPipelined(GetParam()) || !GetParam().takes("Pipeline Depth")) GTEST_SKIP() << "no depth";
  const auto world = Tpetra::getDefaultComm();
  Params p;
  p.set("Pipeline Depth", 3);
  const auto next = [&] { return solve(*solverOf(GetParam(), p), problemNumber(0, world), Side::Right); };
  EXPECT_TRUE(next().converged);
  for (const int loser : {0, ranks() - 1}) {
    if (rank() == loser) StateCache::instance().clear();
    const Outcome outcome = next();
    EXPECT_TRUE(outcome.converged);
    expectSameOnAllRanks(outcome);
    EXPECT_GT(learnt(outcome), 0U);
  }
}

class Agreeing : public EverySolver {
 protected:
  void SetUp() override {
    if (ranks() == 1) GTEST_SKIP() << "needs several ranks";
    StateCache::instance().clear();
  }
  void TearDown() override { setParameterOverlay({}); }

  /// The message of the exception a solve ends with on every rank, or nothing.
  static std::string complaint(Solver& solver, size_t columns = 1, Side side = Side::None) {
    std::string text;
    try {
      solve(solver, systemWithRightHandSide(grid2d(12, 12), wave, columns), side);
    } catch (const std::invalid_argument& error) {
      text = error.what();
    }
    std::vector<double> letters(400, 0);
    for (size_t i = 0; i < text.size() && i < letters.size(); ++i) letters[i] = text[i];
    expectSameOnAllRanks(letters);
    return text;
  }

  /// The last rank has `mine`, the others `theirs`.
  template <class T>
  static void expectNamed(const std::string& key, const T& mine, const T& theirs, size_t columns = 1,
                          Side side = Side::None) {
    SCOPED_TRACE(key);
    Params p;
    p.set(key, rank() == ranks() - 1 ? mine : theirs);
    const auto solver = solverOf(GetParam(), p);
    const std::string text = complaint(*solver, columns, side);
    EXPECT_NE(text.find('"' + key + '"'), std::string::npos) << text;
    EXPECT_NE(text.find("rank " + std::to_string(ranks() - 1)), std::string::npos) << text;
    EXPECT_EQ(text.find("\"Maximum Restarts\""), std::string::npos) << text;
    p.set(key, theirs);
    change(*solver, p);
    EXPECT_EQ(complaint(*solver, columns, side), "") << "the solver stays usable";
  }

  /// Overlays what `mine` makes on the last rank; the others have none.
  static void overlayLast(const std::function<RCP<const Teuchos::ParameterList>()>& mine) {
    const bool last = rank() == ranks() - 1;
    setParameterOverlay([=](const SolveFacts&) { return last ? mine() : Teuchos::null; });
  }
};

TEST_P(Agreeing, ParametersThatDifferAreNamedOnAllRanks) {
  expectNamed("Convergence Tolerance", 1e-3, 1e-6);
  expectNamed("Maximum Iterations", 500, 600);
  expectNamed<std::string>("Explicit Residual Scaling", "None", "Norm of RHS");
  if (isGmres(GetParam())) expectNamed("Num Blocks", 20, 30);
  if (GetParam().takes("Pipeline Depth")) expectNamed("Pipeline Depth", 2, 1);
  if (getsStepSize(GetParam())) {
    expectNamed("Step Size", 4, 3);
    expectNamed<std::string>("Step Size", "auto", "5");
  }
}

TEST_P(Agreeing, BlockSizesThatDifferAreNamedOnAllRanks) {
  if (isPipelined(GetParam())) GTEST_SKIP() << "one right-hand side after the other";
  expectNamed("Block Size", 1, 3, 4);
}

TEST_P(Agreeing, OptionsOfOneRankAloneAreNamed) {
  const bool mine = rank() == 0;
  setParameterOverlay([mine](const SolveFacts&) -> RCP<const Teuchos::ParameterList> {
    if (!mine) return Teuchos::null;
    auto list = rcp(new Params);
    list->set("Maximum Iterations", 77);
    return list;
  });
  const auto solver = solverOf(GetParam());
  const std::string text = complaint(*solver);
  EXPECT_NE(text.find("\"Maximum Iterations\""), std::string::npos) << text;
  EXPECT_NE(text.find("77"), std::string::npos) << text;
  setParameterOverlay({});
  EXPECT_EQ(complaint(*solver), "");
}

TEST_P(Agreeing, ThatOneRankAloneWasGivenADefaultIsNamed) {
  if (!isGmres(GetParam())) GTEST_SKIP() << GetParam().canonical << " does not restart";
  Params p;
  if (rank() == 0) p.set("Num Blocks", 300);  // it would be kept there, and shortened elsewhere
  const std::string text = complaint(*solverOf(GetParam(), p));
  EXPECT_NE(text.find("\"Num Blocks\""), std::string::npos) << text;
}

TEST_P(Agreeing, ScalingsThatDifferAreNamedWithAnyPreconditioner) {
  for (Side side : {Side::None, Side::Left, Side::Right}) {
    expectNamed<std::string>("Implicit Residual Scaling", "Norm of Preconditioned Initial Residual", "Norm of RHS", 1,
                             side);
  }
}

TEST_P(Agreeing, AFlexibleSolveThatOneRankAloneAsksForIsMisuseOnAll) {
  if (!isGmres(GetParam()) || isPipelined(GetParam())) GTEST_SKIP() << "no flexible variant";
  for (size_t columns : {1, 3}) {
    Params p;
    p.set("Flexible Gmres", rank() == ranks() - 1);
    const auto solver = solverOf(GetParam(), p);
    const std::string alone = "rank " + std::to_string(ranks() - 1) + ", not on all";
    std::string text = complaint(*solver, columns, Side::Left);
    EXPECT_NE(text.find("setRightPrec"), std::string::npos) << text;
    EXPECT_NE(text.find(alone), std::string::npos) << text;
    text = complaint(*solver, columns, Side::Right);
    EXPECT_NE(text.find("\"Flexible Gmres\" differs"), std::string::npos) << text;
    p.set("Flexible Gmres", true);
    change(*solver, p);
    text = complaint(*solver, columns, Side::Left);
    EXPECT_NE(text.find("setRightPrec"), std::string::npos) << text;
    EXPECT_EQ(text.find("not on all"), std::string::npos) << text;
    EXPECT_EQ(complaint(*solver, columns, Side::Right), "");
  }
}

TEST_P(Agreeing, OptionsThatOneRankAloneRefusesAreMisuseOnAll) {
  for (size_t columns : {1, 3}) {
    const auto solver = solverOf(GetParam());
    EXPECT_EQ(complaint(*solver, columns), "");
    overlayLast([]() -> RCP<const Teuchos::ParameterList> { throw std::invalid_argument("options of that rank"); });
    EXPECT_NE(complaint(*solver, columns).find("options of that rank (on rank "), std::string::npos);
    setParameterOverlay({});
    EXPECT_EQ(complaint(*solver, columns), "");
    if (!getsStepSize(GetParam())) continue;
    overlayLast([] {
      auto list = rcp(new Params);
      list->set("Step Size", 20);
      list->set("Num Blocks", 10);
      return RCP<const Teuchos::ParameterList>(list);
    });
    EXPECT_NE(complaint(*solver, columns).find("exceeds \"Num Blocks\" = 10"), std::string::npos);
    setParameterOverlay({});
    EXPECT_EQ(complaint(*solver, columns), "");
  }
}

TEST_P(Agreeing, OutputMayDiffer) {
  std::ostringstream stream;
  Params p;
  p.set("Verbosity", rank() == 0 ? 127 : 0);
  p.set("Output Frequency", rank() == 0 ? 3 : -1);
  p.set("Output Stream", Teuchos::rcpFromRef(static_cast<std::ostream&>(stream)));
  p.set("Timer Label", "rank " + std::to_string(rank()));
  if (rank() == 0) p.set("Report File", temporaryFile("_report.json"));
  if (isPipelined(GetParam())) p.set("Progress", rank() == 0 ? "none" : "poll");
  EXPECT_EQ(complaint(*solverOf(GetParam(), p), 2), "");
}

class Maps : public EverySolver {};

/// The rows of `map`, each rank's in reverse order.
RCP<const Map> reversed(const Map& map) {
  std::vector<GO> mine;
  for (size_t i = compat::localNumElements(map); i-- > 0;) mine.push_back(map.getGlobalElement(static_cast<int>(i)));
  return rcp(new Map(map.getGlobalNumElements(), Teuchos::ArrayView<const GO>(mine), 0, map.getComm()));
}

TEST_P(Maps, OtherThanTheOperatorsAreMisuseOnAllRanks) {
  const auto map = evenMap(48);
  const auto vanishing = rcp(new FunctionOperator(map, [](const MultiVector&, MultiVector& y) { y.putScalar(0); }));
  const auto on = [&](const RCP<const Map>& ofX, const RCP<const Map>& ofB) {
    System system;
    system.a = vanishing;
    system.x = vectorFrom(ofX, wave);
    system.b = vectorFrom(ofB, wave);
    const auto solver = solverOf(GetParam());
    std::string text;
    try {
      solve(*solver, system);
    } catch (const std::invalid_argument& error) {
      text = error.what();
    }
    expectSameOnAllRanks(std::vector<double>{static_cast<double>(text.size())});
    return text;
  };
  for (const auto& other : {reversed(*map), ranks() > 1 ? lastRankMap(48) : reversed(*map)}) {
    EXPECT_NE(on(other, map).find("solution"), std::string::npos);
    EXPECT_NE(on(map, other).find("right-hand side"), std::string::npos);
    EXPECT_NE(on(other, other), "");
  }
}

TEST_P(Maps, OfPreconditionersToo) {
  const auto map = evenMap(48);
  const auto copy = [](const RCP<const Map>& on) {
    return rcp(new FunctionOperator(on, [](const MultiVector& in, MultiVector& out) { Tpetra::deep_copy(out, in); }));
  };
  const auto with = [&](const RCP<const Map>& preconditioners, Side side) {
    System system;
    system.a = copy(map);
    system.x = rcp(new MultiVector(map, 1));
    system.b = vectorFrom(map, wave);
    system.preconditioner = copy(preconditioners);
    std::string text;
    try {
      EXPECT_TRUE(solve(*solverOf(GetParam()), system, side).converged);
    } catch (const std::invalid_argument& error) {
      text = error.what();
    }
    expectSameOnAllRanks(std::vector<double>{static_cast<double>(text.size())});
    return text;
  };
  for (Side side : {Side::Left, Side::Right}) {
    const std::string named = "the domain of the " + toString(side) + " preconditioner is on another map";
    EXPECT_EQ(with(map, side), "");
    EXPECT_EQ(with(rcp(new Map(48, 0, Tpetra::getDefaultComm())), side), "") << "another object of the same rows";
    for (const auto& other : {reversed(*map), ranks() > 1 ? lastRankMap(48) : reversed(*map)}) {
      EXPECT_NE(with(other, side).find(named), std::string::npos) << with(other, side);
    }
    // A subdomain solver that sees its rank's rows alone; on the last rank one row too many.
    const auto self = Tpetra::getDefaultComm()->split(rank(), 0);
    const size_t rows = compat::localNumElements(*map);
    EXPECT_EQ(with(rcp(new Map(rows, 0, self)), side), "");
    if (ranks() == 1) continue;
    EXPECT_NE(with(rcp(new Map(rows + (rank() + 1 == ranks() ? 1 : 0), 0, self)), side).find(named), std::string::npos);
  }
}

TEST_P(Maps, EqualToTheOperatorsAreComparedOnce) {
  const auto a = grid2d(12, 12);
  System system = systemWithRightHandSide(a);
  const auto same = rcp(new Map(144, 0, Tpetra::getDefaultComm()));
  system.x = rcp(new MultiVector(same, 1));
  const auto solver = solverOf(GetParam());
  EXPECT_TRUE(solve(*solver, system).converged);
  system.x->putScalar(0);
  system.arm = [] { test::resetMpiCalls(); };
  const Outcome outcome = solve(*solver, system);
  EXPECT_TRUE(outcome.converged);
  if (ranks() > 1) {
    EXPECT_EQ(test::mpiCalls().allreduce + outcome.report.communication.embedded.reductions,
              outcome.report.reductionsBlocking);
  }
}

CAPSTAN_FOR_EVERY_SOLVER(CachedState);
CAPSTAN_FOR_EVERY_SOLVER(Agreeing);
CAPSTAN_FOR_EVERY_SOLVER(Maps);

}  // namespace
}  // namespace capstan::testing
