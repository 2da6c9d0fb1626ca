/// \file
/// Short solves, one after the other: pipelines of several depths, several right-hand sides, and what their reports say
/// of applications.

#include <cmath>
#include <nlohmann/json.hpp>

#include "belos_ext/manager/state_cache.hpp"
#include "belos_ext/report/report_io.hpp"
#include "belos_ext/test/solvers/short_solves.hpp"
#include "belos_ext/test/solvers/solver_suite.hpp"
#include "tpetra_ext/compat/trilinos.hpp"

namespace capstan::testing {
namespace {

/// L + shift I, with L the five-point Laplacian on an n x n grid.
RCP<CrsMatrix> shiftedLaplacian(GO n, Scalar shift) {
  const auto a = grid2d(n, n);
  a->resumeFill();
  for (const GO row : compat::localElementList(*a->getRowMap())) {
    a->sumIntoGlobalValues(row, Teuchos::tuple(row), Teuchos::tuple(shift));
  }
  a->fillComplete();
  return a;
}

/// z = (D + U)^{-1} D (D + L)^{-1} r on each rank's own rows: symmetric Gauss-Seidel.
RCP<const Operator> gaussSeidel(const RCP<const CrsMatrix>& a) {
  using Rows = std::vector<std::vector<std::pair<int, Scalar>>>;
  const auto rows = static_cast<std::size_t>(compat::localNumRows(*a));
  Rows lower(rows), upper(rows);
  std::vector<Scalar> diagonal(rows);
  CrsMatrix::nonconst_local_inds_host_view_type columns("columns", compat::localMaxNumRowEntries(*a));
  CrsMatrix::nonconst_values_host_view_type values("values", compat::localMaxNumRowEntries(*a));
  for (std::size_t i = 0; i < rows; ++i) {
    std::size_t count = 0;
    a->getLocalRowCopy(static_cast<int>(i), columns, values, count);
    for (std::size_t e = 0; e < count; ++e) {
      const int j = a->getRowMap()->getLocalElement(a->getColMap()->getGlobalElement(columns(e)));
      if (j < 0) continue;  // another rank's
      if (j == static_cast<int>(i)) diagonal[i] = values(e);
      if (j < static_cast<int>(i)) lower[i].emplace_back(j, values(e));
      if (j > static_cast<int>(i)) upper[i].emplace_back(j, values(e));
    }
  }
  return rcp(new FunctionOperator(a->getRowMap(), [=](const MultiVector& r, MultiVector& z) {
    for (std::size_t column = 0; column < r.getNumVectors(); ++column) {
      const auto from = r.getData(column);
      const auto to = z.getDataNonConst(column);
      for (std::size_t i = 0; i < rows; ++i) {
        Scalar sum = from[i];
        for (const auto& [j, value] : lower[i]) sum -= value * to[j];
        to[i] = sum / diagonal[i];
      }
      for (std::size_t i = rows; i-- > 0;) {
        Scalar sum = 0;
        for (const auto& [j, value] : upper[i]) sum += value * to[j];
        to[i] -= sum / diagonal[i];
      }
    }
  }));
}

/// Right-hand side k of a sequence.
std::function<Scalar(GO)> rightHandSide(int k) {
  return [k](GO g) { return wave(g) + 0.3 * std::sin(0.7 * (k + 1) * g); };
}

class ShortSolves : public EverySolver {};

TEST_P(ShortSolves, WasteFewApplicationsAtAnyDepth) {
  if (!GetParam().takes("Pipeline Depth")) GTEST_SKIP() << "not a parameter of " << GetParam().canonical;
  const auto a = grid2d(40, 40, isCg(GetParam()) ? 0.0 : 0.1);
  for (const int depth : {1, 2, 3}) {
    SCOPED_TRACE(depth);
    StateCache::instance().clear();
    long later = 0;
    for (int k = 0; k < 6; ++k) {
      Params p;
      p.set("Pipeline Depth", depth);
      System system = systemWithRightHandSide(a, rightHandSide(k));
      system.preconditioner = strong(a, 8, 12);
      const Outcome outcome = solve(*solverOf(GetParam(), p), system, Side::Right);
      EXPECT_TRUE(outcome.converged);
      expectAccount(GetParam(), outcome.report);
      const long wasted = outcome.report.preconditionerApplications - outcome.iterations;
      if (k == 0) {
        EXPECT_LE(wasted, 2 + (getsStepSize(GetParam()) ? 3 : depth));
      } else {
        later += wasted;
      }
    }
    EXPECT_LE(later, (getsStepSize(GetParam()) ? 2 : 1) * 5);
  }
}

/// Two sweeps of damped Jacobi, which leave the spectrum wide: the shifts of a deep pipeline are learnt in iterations.
TEST_P(ShortSolves, LearnAWideSpectrumWithoutAnEstimate) {
  if (!GetParam().takes("Pipeline Depth")) GTEST_SKIP() << "not a parameter of " << GetParam().canonical;
  const auto a = grid2d(40, 40, isCg(GetParam()) ? 0.0 : 0.1);
  for (const int depth : {1, 2, 3}) {
    SCOPED_TRACE(depth);
    StateCache::instance().clear();
    for (int k = 0; k < 3; ++k) {
      Params p;
      p.set("Pipeline Depth", depth);
      if (getsStepSize(GetParam())) p.set("Step Size", 3);
      System system = systemWithRightHandSide(a, rightHandSide(k));
      system.preconditioner = rcp(new FunctionOperator(a->getRowMap(), [a](const MultiVector& r, MultiVector& z) {
        z.update(0.2, r, 0);
        MultiVector rest(r, Teuchos::Copy);
        a->apply(z, rest, Teuchos::NO_TRANS, -1, 1);
        z.update(0.2, rest, 1);
      }));
      const Outcome outcome = solve(*solverOf(GetParam(), p), system, Side::Right);
      EXPECT_TRUE(outcome.converged);
      expectAccount(GetParam(), outcome.report);
      const long wasted = outcome.report.preconditionerApplications - outcome.iterations;
      // p(l)-CG fills its pipeline again where its basis is made anew; blocks, where their relation is no longer exact.
      EXPECT_LE(wasted, isCg(GetParam()) ? 5 + 2 * depth : getsStepSize(GetParam()) ? 6 : 4);
    }
  }
}

TEST_P(ShortSolves, OfSeveralRightHandSidesApplyThePreconditionerToAllAtOnce) {
  StateCache::instance().clear();
  const auto a = grid2d(40, 40, isCg(GetParam()) ? 0.0 : 0.1);
  const bool pipelined = isPipelined(GetParam()), blocks = pipelined && getsStepSize(GetParam());
  const long each = GetParam().family == Family::BiCgStab ? 2 : 1;
  long later = 0;
  for (int k = 0; k < 6; ++k) {
    System system = systemWithRightHandSide(a, rightHandSide(k), 3);
    system.preconditioner = strong(a, 8, 12);
    const Outcome outcome = solve(*solverOf(GetParam(), Params()), system, Side::Right);
    EXPECT_TRUE(outcome.converged);
    const SolveReport& report = outcome.report;
    long iterations = report.iterationsInTurn;
    if (GetParam().canonical == id::EnlargedCg) {
      // Each right-hand side has directions of its own, and M is applied to those of one at a time.
      iterations = 0;
      for (const auto& one : report.rightHandSides) iterations += one.iterations;
    } else {
      expectAccount(GetParam(), report);
    }
    const long wasted = report.preconditionerApplications - each * iterations;
    if (k == 0) {
      EXPECT_LE(wasted, 2 + (blocks ? 3 : pipelined ? 1 : 0));
    } else {
      later += wasted;
    }
  }
  // Right-hand sides of a pipeline that end apart, one of them later than foreseen, have products of their own.
  EXPECT_LE(later, (pipelined && GetParam().canonical != id::PipelinedGmres ? 3 : 1) * 5);
}

TEST_P(ShortSolves, OfAPipelineDoNotRestart) {
  if (GetParam().canonical != id::PipelinedCg) GTEST_SKIP() << "the bases of " << id::PipelinedCg;
  const auto a = grid2d(40, 40), easy = shiftedLaplacian(40, 1.2);
  const std::vector<System> systems = [&] {
    System multigrid = systemWithRightHandSide(a), relaxed = systemWithRightHandSide(easy);
    multigrid.preconditioner = strong(a, 8, 12);
    relaxed.preconditioner = gaussSeidel(easy);
    return std::vector<System>{multigrid, relaxed};
  }();
  for (std::size_t which = 0; which < systems.size(); ++which) {
    for (const int depth : {1, 2, 3}) {
      SCOPED_TRACE((which == 0 ? "strong, depth " : "Gauss-Seidel, depth ") + std::to_string(depth));
      StateCache::instance().clear();
      for (int k = 0; k < 4; ++k) {
        Params p;
        p.set("Pipeline Depth", depth);
        p.set("Convergence Tolerance", 1e-8);
        System system = systemWithRightHandSide(which == 0 ? a : easy, rightHandSide(k));
        system.preconditioner = systems[which].preconditioner;
        const Outcome outcome = solve(*solverOf(GetParam(), p), system, Side::Right);
        EXPECT_TRUE(outcome.converged);
        EXPECT_GE(outcome.iterations, 8);
        EXPECT_LE(outcome.iterations, 14);
        EXPECT_EQ(outcome.report.restarts, 0);
        for (const ReportEvent& event : told(outcome, "restart"))
          ADD_FAILURE() << event.iteration << ": " << event.detail;
      }
    }
  }
}

TEST_P(ShortSolves, TellTheirApplicationsInJsonAndInTheSummary) {
  StateCache::instance().clear();
  const auto a = grid2d(20, 20);
  std::ostringstream said;
  Params p;
  p.set("Verbosity", static_cast<int>(Belos::FinalSummary));
  p.set("Output Stream", Teuchos::rcpFromRef(static_cast<std::ostream&>(said)));
  System system = systemWithRightHandSide(a);
  system.preconditioner = strong(a, 8, 6);
  const SolveReport report = solve(*solverOf(GetParam(), p), system, Side::Right).report;
  const nlohmann::json json = toJson(report);
  EXPECT_EQ(json.at("operator_applications"), report.operatorApplications);
  EXPECT_EQ(json.at("preconditioner_applications"), report.preconditionerApplications);
  EXPECT_EQ(json.at("applications_at_start").at("operator"), report.operatorsAtStart);
  EXPECT_EQ(json.at("applications_at_start").at("preconditioner"), report.preconditionersAtStart);
  EXPECT_EQ(json.at("applications_beyond_iterations").at("operator"), report.operatorsBeyond);
  EXPECT_EQ(json.at("applications_beyond_iterations").at("preconditioner"), report.preconditionersBeyond);
  if (rank() != 0) return;
  const auto words = [](long all, long start, long beyond) {
    return std::to_string(all) + " (" + std::to_string(start) + " at the start, " + std::to_string(beyond) +
           " beyond the iterations)";
  };
  const std::string line =
      "applications: A " + words(report.operatorApplications, report.operatorsAtStart, report.operatorsBeyond) +
      ", M " + words(report.preconditionerApplications, report.preconditionersAtStart, report.preconditionersBeyond) +
      ";";
  EXPECT_NE(said.str().find(line), std::string::npos) << said.str() << "\nexpected: " << line;
}

CAPSTAN_FOR_EVERY_SOLVER(ShortSolves);

/// Products of a later solve that are not those of its iterations.
double productsBeside(const std::string& name, int depth, const RCP<CrsMatrix>& a) {
  const MethodTraits& method = methodOf(name);
  Params p;
  p.set("Convergence Tolerance", 1e-6);
  if (isGmres(method)) p.set("Num Blocks", 200);
  if (depth > 0) p.set("Pipeline Depth", depth);
  const System system = systemWithRightHandSide(a, wave);
  const auto solver = solverOf(method, p);
  double products = 0;
  for (int k = 0; k < 2; ++k) {  // the first one learns the spectrum
    system.x->putScalar(0);
    const Outcome outcome = solve(*solver, system);
    EXPECT_TRUE(outcome.converged) << name;
    const double each = method.cost(SolverOptions(), false).operators;
    products = static_cast<double>(outcome.report.operatorApplications) - each * outcome.iterations;
  }
  return products;
}

/// What fills a pipeline, beyond what the method without one does: as its cost says.
TEST(PipelinesOfLaterSolves, MakeSoManyProductsAhead) {
  struct Case {
    std::string plain, pipelined;
    std::vector<int> depths;
  };
  const std::vector<Case> cases = {{id::Gmres, id::PipelinedGmres, {1, 2, 3}},
                                   {id::Cg, id::PipelinedCg, {1, 2, 3}},
                                   {id::Cr, id::PipelinedCr, {0}},
                                   {id::BiCgStab, id::PipelinedBiCgStab, {0}}};
  for (const auto& [plain, pipelined, depths] : cases) {
    StateCache::instance().clear();
    const auto a = grid2d(30, 40, methodOf(plain).needsSymmetric ? 0.0 : 0.3);
    const double without = productsBeside(plain, 0, a);
    for (const int depth : depths) {
      SCOPED_TRACE(pipelined + ", depth " + std::to_string(depth));
      StateCache::instance().clear();
      SolverOptions options;
      if (depth > 0) options.pipelineDepth = depth;
      const double ahead = methodOf(pipelined).cost(options, false).ahead;
      const double found = productsBeside(pipelined, depth, a) - without;
      EXPECT_LE(found, ahead);
      EXPECT_GE(found, ahead - 1);
    }
  }
}

}  // namespace
}  // namespace capstan::testing
