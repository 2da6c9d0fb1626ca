/// \file
/// How long a communication plan lives: what keeps it, what makes a new one, and that no old one is used.

#include <Kokkos_Core.hpp>

#include "belos_ext/test/solvers/communication_suite.hpp"

namespace capstan::testing {
namespace {

class CommunicationPlans : public EverySolver {
  PlansForgotten plans_;
};

/// Couples g to g - 1, g + 1, and to g +- far in the middle of the rows: SPD, and as many entries for any far >= 2
/// that fits.
RCP<CrsMatrix> chain(GO n, GO far, Scalar factor = 1) {
  return matrixFrom(evenMap(n), [=](GO g) {
    std::vector<Entry> row{{g, 5 * factor}};
    if (g > 0) row.push_back({g - 1, -factor});
    if (g + 1 < n) row.push_back({g + 1, -factor});
    const GO half = n / 2;
    if (g < half / 2) row.push_back({g + far, -factor});
    if (g >= far && g - far < half / 2) row.push_back({g - far, -factor});
    return row;
  });
}

System chainSystem(GO far, Scalar factor = 1) { return systemWithRightHandSide(chain(60, far, factor)); }

/// Solves from zero, and fails unless x solves the system that `system` holds now.
Outcome solved(Solver& solver, const System& system) {
  system.x->putScalar(0);
  const Outcome outcome = solve(solver, system);
  EXPECT_TRUE(outcome.converged);
  EXPECT_LE(relativeResidual(system, MultiVector(system.b->getMap(), 1)), 1.001e-8);
  expectSameOnAllRanks(outcome);
  return outcome;
}

TEST_P(CommunicationPlans, AreFoundBySolversMadeAnew) {
  for (const std::string strategy : {"standard", "two-step", "three-step", "optimal"}) {
    SCOPED_TRACE(strategy);
    const PlansCounted plans{};
    for (int solves = 0; solves < 4; ++solves) {
      // As an application does that makes everything anew in every step.
      const Outcome outcome = solved(*solverOf(GetParam(), strategyParameters(strategy, 2)), chainSystem(20));
      EXPECT_EQ(outcome.report.communication.fromEarlier, solves > 0);
      expectPlanned(outcome, strategy);
    }
    EXPECT_EQ(plans.made(), 1);
  }
}

TEST(CommunicationPlan, IsSharedByTheMethods) {
  const PlansForgotten others;
  const PlansCounted plans{};
  for (const MethodTraits& method : methods()) {
    if (method.canonical == id::EmbeddedCg) continue;  // keeps another one beside it
    solved(*solverOf(method, strategyParameters("two-step", 2)), chainSystem(20));
  }
  EXPECT_EQ(plans.made(), 1);
}

TEST_P(CommunicationPlans, AreMadeAnewWithoutTheStateCacheAndAfterAReset) {
  Params p = strategyParameters("two-step", 2);
  p.set("State Cache", false);
  const PlansCounted plans{};
  for (int solves = 0; solves < 2; ++solves) solved(*solverOf(GetParam(), p), chainSystem(20));
  EXPECT_EQ(plans.made(), 2);
  p.set("State Cache", true);
  const auto solver = solverOf(GetParam(), p);
  const System system = chainSystem(20);
  for (int solves = 0; solves < 2; ++solves) solved(*solver, system);
  EXPECT_EQ(plans.made(), 3);
  solver->reset(Belos::RecycleSubspace);
  EXPECT_FALSE(solved(*solver, system).report.communication.fromEarlier);
  EXPECT_EQ(plans.made(), 4);
}

TEST_P(CommunicationPlans, SeeTheValuesThatTheMatrixHas) {
  for (const std::string& strategy : strategies()) {
    SCOPED_TRACE(strategy);
    StateCache::instance().clear();
    const auto a = chain(60, 20);
    const System system = systemWithRightHandSide(a);
    const auto solver = solverOf(GetParam(), strategyParameters(strategy, 1));
    solved(*solver, system);
    const PlansCounted plans{};
    for (const Scalar factor : {3.0, 0.2}) {
      a->resumeFill();
      a->scale(factor);
      a->fillComplete();
      EXPECT_TRUE(solved(*solver, system).report.communication.fromEarlier);
    }
    // Another object of the same graph, and the first one gone.
    System other = system;
    const auto copy = rcp(new CrsMatrix(a->getCrsGraph()));
    copy->resumeFill();
    for (size_t i = 0; i < compat::localNumElements(*a->getRowMap()); ++i) {
      const GO g = a->getRowMap()->getGlobalElement(static_cast<int>(i));
      for (const GO far : {-20, -1, 0, 1, 20}) {
        const GO column = g + far;
        const Scalar value = far == 0 ? 9 : -1;
        copy->replaceGlobalValues(g, Teuchos::ArrayView<const GO>(&column, 1),
                                  Teuchos::ArrayView<const Scalar>(&value, 1));
      }
    }
    copy->fillComplete();
    other.a = copy;
    EXPECT_TRUE(solved(*solver, other).report.communication.fromEarlier);
    EXPECT_TRUE(solved(*solver, system).report.communication.fromEarlier);
    EXPECT_EQ(plans.made(), 0);
  }
}

TEST_P(CommunicationPlans, OfTwoMatricesInTurnsAreTwo) {
  for (const bool keepSolver : {true, false}) {
    SCOPED_TRACE(keepSolver);
    StateCache::instance().clear();
    const PlansCounted plans{};
    auto solver = solverOf(GetParam(), strategyParameters("two-step", 1));
    for (int solves = 0; solves < 3; ++solves) {
      for (const GO far : {17, 29}) {
        if (!keepSolver) solver = solverOf(GetParam(), strategyParameters("two-step", 1));
        const Outcome outcome = solved(*solver, chainSystem(far));
        EXPECT_EQ(outcome.report.communication.fromEarlier, solves > 0 || (ranks() == 1 && far == 29));
      }
    }
    EXPECT_EQ(plans.made(), ranks() == 1 ? 1 : 2) << "on one rank all need the same: nothing";
  }
}

/// Rows are on the ranks in another way.
RCP<const Map> dealtOut(GO rows) {
  std::vector<GO> mine;
  for (GO g = rank(); g < rows; g += ranks()) mine.push_back(g);
  return rcp(new Map(static_cast<Tpetra::global_size_t>(rows), Teuchos::ArrayView<const GO>(mine), 0,
                     Tpetra::getDefaultComm()));
}

TEST_P(CommunicationPlans, OfOtherMapsAreOthers) {
  const auto solver = solverOf(GetParam(), strategyParameters("three-step", 2));
  const PlansCounted plans{};
  for (int solves = 0; solves < 2; ++solves) {
    for (const auto& map : {evenMap(144), dealtOut(144), lastRankMap(144)}) {
      solved(*solver, systemWithRightHandSide(grid2d(12, 12, 0, map)));
    }
  }
  EXPECT_EQ(plans.made(), ranks() == 1 ? 1 : 3);
}

/// On the maps of another matrix, with some of its couplings.
RCP<CrsMatrix> thinned(const CrsMatrix& a, GO every) {
  const auto some = rcp(new CrsMatrix(a.getRowMap(), a.getColMap(), 8));
  const auto& columns = *a.getColMap();
  for (size_t i = 0; i < compat::localNumElements(*a.getRowMap()); ++i) {
    const GO row = a.getRowMap()->getGlobalElement(static_cast<int>(i));
    for (const GO far : {-12, -1, 0, 1, 12}) {
      const int column = columns.getLocalElement(row + far);
      const GO first = std::min(row, row + far);
      if (column < 0 || (far != 0 && first % every == 0)) continue;
      const Scalar value = far == 0 ? 5 : -1;
      some->insertLocalValues(static_cast<int>(i), Teuchos::ArrayView<const int>(&column, 1),
                              Teuchos::ArrayView<const Scalar>(&value, 1));
    }
  }
  some->fillComplete(a.getDomainMap(), a.getRangeMap());
  return some;
}

TEST_P(CommunicationPlans, ServeOtherGraphsOnTheSameMaps) {
  const auto a = grid2d(12, 12);
  System system = systemWithRightHandSide(a);
  const auto solver = solverOf(GetParam(), strategyParameters("two-step", 1));
  solved(*solver, system);
  const PlansCounted plans{};
  for (const GO every : {2, 3, 1, 2}) {
    system.a = thinned(*a, every);
    EXPECT_TRUE(solved(*solver, system).report.communication.fromEarlier);
  }
  EXPECT_EQ(plans.made(), 0);
}

TEST_P(CommunicationPlans, ThatOneRankHasLostAreMadeByAll) {
  const Params p = strategyParameters("two-step", 2);
  solved(*solverOf(GetParam(), p), chainSystem(20));
  for (const int loser : {0, ranks() - 1}) {
    const PlansCounted plans{};
    if (rank() == loser) StateCache::instance().clear();
    EXPECT_FALSE(solved(*solverOf(GetParam(), p), chainSystem(20)).report.communication.fromEarlier);
    EXPECT_EQ(plans.made(), 1);
    EXPECT_TRUE(solved(*solverOf(GetParam(), p), chainSystem(20)).report.communication.fromEarlier);
    EXPECT_EQ(plans.made(), 1);
  }
}

TEST_P(CommunicationPlans, BelongToTheirCommunicator) {
  const auto system = [](const RCP<const Teuchos::Comm<int>>& comm) {
    return systemWithRightHandSide(grid2d(10, 10, 0, evenMap(100, comm)));
  };
  const auto world = Tpetra::getDefaultComm();
  const auto solver = solverOf(GetParam(), strategyParameters("two-step", 1));
  // Of the same sizes on four ranks, and with the same maps.
  for (const int color : {0, rank() / 2, rank() % 2, rank() / 2, rank(), 0}) {
    const auto comm = world->split(color, rank());
    const System part = system(comm);
    EXPECT_TRUE(solve(*solver, part).converged);
  }
}

long capstanAllocations = 0;
bool countsAllocations = false;

void countAllocation(Kokkos::Profiling::SpaceHandle, const char* label, const void*, std::uint64_t) {
  if (countsAllocations && std::string(label).rfind("capstan", 0) == 0) ++capstanAllocations;
}

TEST_P(CommunicationPlans, NeedNoMemoryAfterTheFirstSolve) {
  Kokkos::Tools::Experimental::set_allocate_data_callback(countAllocation);
  System system = chainSystem(20);
  Params p = strategyParameters("three-step", 2);
  if (getsStepSize(GetParam())) p.set("Step Size", 3);
  const auto solver = solverOf(GetParam(), p);
  const auto counted = [&] {
    system.x->putScalar(0);
    system.arm = [] {
      capstanAllocations = 0;
      countsAllocations = true;
    };
    EXPECT_TRUE(solve(*solver, system).converged);
    countsAllocations = false;
    return capstanAllocations;
  };
  EXPECT_GT(counted(), 0) << "the hook must see the first solve's";
  solve(*solver, system);
  EXPECT_EQ(counted(), 0);
  Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
}

CAPSTAN_FOR_EVERY_SOLVER(CommunicationPlans);

}  // namespace
}  // namespace capstan::testing
