/// \file
/// What a solve is known by: the number of its system, whose matrix and solver may be made anew for every solve, the
/// symmetry of its matrix, and its label in lines and timers.

#include <Teuchos_TimeMonitor.hpp>
#include <optional>
#include <sstream>

#include "belos_ext/parameters/parameter_overlay.hpp"
#include "belos_ext/test/solvers/solver_suite.hpp"
#include "tpetra_ext/test/support/counted_mpi.hpp"

namespace capstan::testing {
namespace {

using Comm = Teuchos::Comm<int>;

/// Systems over a communicator of their own, which begins to count at 1.
class Facts : public ::testing::Test {
 protected:
  void TearDown() override { setParameterOverlay({}); }

  RCP<CrsMatrix> grid(GO n, Scalar wind = 0) const { return grid2d(n, n, wind, evenMap(n * n, comm_)); }

  /// Solves with a new solver, as Nalu-wind does, which names it after the method.
  static Outcome solveAnew(const RCP<CrsMatrix>& a, const MethodTraits& method = methodOf(id::Gmres)) {
    Params p;
    p.set("Solver Name", "gmres");
    p.set("Convergence Tolerance", 1e-4);
    return solve(method, p, systemWithRightHandSide(a));
  }

  static int numberOf(const RCP<CrsMatrix>& a) { return solveAnew(a).report.system; }

  RCP<const Comm> comm_ = Tpetra::getDefaultComm()->split(0, rank());
};

TEST_F(Facts, SystemsAreNumberedInTheOrderOfTheirFirstSolves) {
  const auto momentum = grid(8, 0.3), pressure = grid(8);
  for (int step = 0; step < 3; ++step) {
    EXPECT_EQ(numberOf(momentum), 1);
    EXPECT_EQ(numberOf(pressure), 2);
    EXPECT_EQ(numberOf(pressure), 2);
  }
}

TEST_F(Facts, SystemsSolvedInTurnKeepTheirNumbersThoughAllIsMadeAnew) {
  for (int step = 0; step < 3; ++step) {
    const auto momentum = grid(8, 0.3), pressure = grid(8);
    EXPECT_EQ(numberOf(momentum), 1) << step;
    EXPECT_EQ(numberOf(pressure), 2) << step;
  }
  for (int step = 0; step < 3; ++step) EXPECT_EQ(numberOf(grid(8)), 1 + step % 2) << "both are gone, and taken in turn";
}

TEST_F(Facts, TheSizeTellsWhichSystemWasMadeAnew) {
  auto small = grid(7), large = grid(9);
  EXPECT_EQ(numberOf(small), 1);
  EXPECT_EQ(numberOf(large), 2);
  for (int step = 0; step < 3; ++step) {
    small = large = Teuchos::null;
    small = grid(7), large = grid(9);
    EXPECT_EQ(numberOf(large), 2);
    EXPECT_EQ(numberOf(large), 2);
    EXPECT_EQ(numberOf(small), 1);
  }
  small = Teuchos::null;
  EXPECT_EQ(numberOf(grid(10)), 1) << "a refined mesh";
}

TEST_F(Facts, ASolverThatIsKeptDoesNotMakeItsOldMatrixAnotherSystem) {
  const auto solver = solverOf(methodOf(id::Gmres));
  auto other = grid(8);
  for (int step = 0; step < 3; ++step) {
    EXPECT_EQ(solve(*solver, systemWithRightHandSide(grid(8))).report.system, 1);
    EXPECT_EQ(solve(*solverOf(methodOf(id::Gmres)), systemWithRightHandSide(other)).report.system, 2);
  }
}

TEST_F(Facts, OtherNamesMethodsAndColumnsAreOtherSystems) {
  EXPECT_EQ(numberOf(grid(8)), 1);
  EXPECT_EQ(solveAnew(grid(8), methodOf(id::Cg)).report.system, 2);
  EXPECT_EQ(solve(methodOf(id::Gmres), Params(), systemWithRightHandSide(grid(8))).report.system, 3);
  EXPECT_EQ(solve(methodOf(id::Gmres), Params(), systemWithRightHandSide(grid(8), wave, 3)).report.system, 4);
  EXPECT_EQ(solve(methodOf(id::Gmres), Params(), systemWithRightHandSide(grid(8)), Side::Right).report.system, 5);
  EXPECT_EQ(numberOf(grid(8)), 1);
}

TEST_F(Facts, EveryCommunicatorCountsItsOwn) {
  const auto first = grid(8);
  EXPECT_EQ(numberOf(first), 1);
  const int color = rank() % 2;
  const auto part = comm_->split(color, rank());
  const auto onPart = [&](GO n) { return grid2d(n, n, 0, evenMap(n * n, part)); };
  std::vector<RCP<CrsMatrix>> systems;
  for (int k = 0; k <= color; ++k) {
    systems.push_back(onPart(6));
    EXPECT_EQ(numberOf(systems.back()), k + 1);
  }
  const auto second = grid(8);
  const Outcome outcome = solveAnew(second);
  EXPECT_EQ(outcome.report.system, 2) << "though some ranks have solved more systems by then";
  const auto twin = comm_->duplicate();
  const auto third = grid2d(8, 8, 0, evenMap(64, twin));
  EXPECT_EQ(numberOf(third), 3) << "the same processes";
}

TEST_F(Facts, AreWhatTheOverlayIsAskedWith) {
  std::vector<SolveFacts> asked;
  setParameterOverlay([&asked](const SolveFacts& facts) {
    asked.push_back(facts);
    asked.back().symmetric = nullptr;
    auto list = rcp(new Params);
    list->set("Solver Name", "renamed");
    return RCP<const Params>(list);
  });
  const auto a = grid(8);
  a->setObjectLabel("matrix");
  for (int k = 0; k < 2; ++k) EXPECT_EQ(solveAnew(a).report.label, "renamed");
  ASSERT_EQ(asked.size(), 2U);
  for (const SolveFacts& facts : asked) {
    EXPECT_EQ(facts.label, "gmres") << "as the application has it";
    EXPECT_EQ(facts.names, (std::vector<std::string>{"gmres", "matrix", id::Gmres, "capstan_gmres"}));
    EXPECT_EQ(facts.method->canonical, id::Gmres);
    EXPECT_EQ(facts.rows, 64);
    EXPECT_EQ(facts.system, 1);
  }
}

TEST_F(Facts, SymmetryIsKnownForAReductionAndLookedAtAgainNowAndThen) {
  std::optional<bool> symmetric;
  bool asks = false;
  setParameterOverlay([&](const SolveFacts& facts) -> RCP<const Params> {
    if (!asks) return Teuchos::null;
    symmetric = facts.symmetric();
    EXPECT_EQ(facts.symmetric(), symmetric) << "known by now";
    return Teuchos::null;
  });
  const auto messagesOf = [](const RCP<CrsMatrix>& a) {
    test::resetMpiCalls();
    solveAnew(a);
    return test::mpiCalls().allreduce;
  };
  const auto still = grid(8), wind = grid(8, 0.3);
  const long plain = messagesOf(still), plainWind = messagesOf(wind);
  asks = true;
  const long own = 1;
  for (int time = 1; time <= 9; ++time) {
    const bool looks = (time & (time - 1)) == 0;
    // The first time of all, the solve begins again where there are several ranks, for none could know of the others.
    const long again = time == 1 && ranks() > 1 ? 1 : 0;
    EXPECT_EQ(messagesOf(still) - plain, (looks ? own : 0) + again) << "time " << time;
    EXPECT_EQ(symmetric, std::optional<bool>(true));
    EXPECT_EQ(messagesOf(wind) - plainWind, time == 1 ? own : 0) << "time " << time;
    EXPECT_EQ(symmetric, std::optional<bool>(false));
  }
}

TEST_F(Facts, AMatrixFilledWithOtherValuesIsFoundNonsymmetric) {
  std::optional<bool> symmetric;
  setParameterOverlay([&](const SolveFacts& facts) -> RCP<const Params> {
    symmetric = facts.symmetric();
    return Teuchos::null;
  });
  const auto a = grid(8);
  solveAnew(a);
  EXPECT_EQ(symmetric, std::optional<bool>(true));
  a->resumeFill();
  for (GO row = 1; row < 64; ++row) {
    if (a->getRowMap()->isNodeGlobalElement(row) && row % 8 != 0) {
      const GO column = row - 1;
      const Scalar value = -1.5;
      a->replaceGlobalValues(row, Teuchos::arrayView(&column, 1), Teuchos::arrayView(&value, 1));
    }
  }
  a->fillComplete();
  solveAnew(a);
  EXPECT_EQ(symmetric, std::optional<bool>(false));
}

TEST_F(Facts, AnOperatorWithoutRowsIsNeitherSymmetricNorNot) {
  std::optional<bool> symmetric = true;
  setParameterOverlay([&](const SolveFacts& facts) -> RCP<const Params> {
    symmetric = facts.symmetric();
    return Teuchos::null;
  });
  solve(methodOf(id::Gmres), Params(), rowsHidden(systemWithRightHandSide(grid(8))));
  EXPECT_EQ(symmetric, std::nullopt);
}

TEST_F(Facts, LinesAndTimersCarryTheLabel) {
  const auto stream = rcp(new std::ostringstream);
  Params p;
  p.set("Solver Name", "pressure");
  p.set("Timer Label", "facts");
  p.set("Verbosity", static_cast<int>(Belos::FinalSummary) + static_cast<int>(Belos::TimingDetails));
  p.set("Output Stream", Teuchos::rcp_implicit_cast<std::ostream>(stream));
  const auto a = grid(8), b = grid(8);
  solve(methodOf(id::Cg), p, systemWithRightHandSide(a));
  solve(methodOf(id::Cg), p, systemWithRightHandSide(b));
  const std::string text = stream->str();
  for (const char* line :
       {"CAPSTAN CG, \"pressure\", system 1: converged after", "CAPSTAN CG, \"pressure\", system 2: converged after",
        "CAPSTAN CG, \"pressure\", system 2: seconds: operator"}) {
    EXPECT_EQ(text.find(line) != std::string::npos, rank() == 0) << line << '\n' << text;
  }
  for (const char* what : {"CAPSTAN CG total solve time", "Operation Op*x"}) {
    EXPECT_FALSE(Teuchos::TimeMonitor::lookupCounter(std::string("facts: pressure: ") + what).is_null()) << what;
  }
  p.set("Solver Name", "facts");
  solve(methodOf(id::Cg), p, systemWithRightHandSide(a));
  EXPECT_FALSE(Teuchos::TimeMonitor::lookupCounter("facts: CAPSTAN CG total solve time").is_null()) << "said once";
}

}  // namespace
}  // namespace capstan::testing
