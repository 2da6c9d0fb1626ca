/// \file
/// A pipeline that has failed is not tried again in the next solves, as long as the matrix has the same values. Later
/// solves cost what the form that works takes by itself.

#include <cmath>
#include <string>

#include "belos_ext/manager/state_cache.hpp"
#include "belos_ext/manager/working_pipeline.hpp"
#include "belos_ext/test/solvers/ifpack2_preconditioner.hpp"
#include "belos_ext/test/solvers/real_matrices.hpp"
#include "belos_ext/test/support/methods.hpp"
#include "tpetra_ext/compat/trilinos.hpp"

namespace capstan::testing {
namespace {

struct Form {
  const char* method;
  int depth;  ///< 0: it has none
};

struct Case {
  const char *matrix, *preconditioner;
  Form pipeline, works;  ///< the latter is classical
  int search;            ///< solves until that is found
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.matrix << " with " << c.preconditioner << ", " << c.pipeline.method << ", depth " << c.pipeline.depth;
}

/// Right-hand sides without a pattern, the same on any number of ranks.
RCP<MultiVector> rightHandSide(const RCP<const Map>& map, int k) {
  return vectorFrom(map, [k](GO g) { return std::sin(1e4 * static_cast<double>(g * g % 7919 + g + 13 * k)); });
}

/// A solver that is kept, and what its solves took.
class Series {
 public:
  Series(const Form& form, const System& system, double tolerance = 1e-8)
      : form_(form), system_(system), solver_(solverOf(methodOf(form.method), parameters(tolerance))) {}

  Outcome solve(int rightHandSideNumber) {
    system_.b = rightHandSide(system_.a->getRangeMap(), rightHandSideNumber);
    system_.x = rcp(new MultiVector(system_.a->getDomainMap(), 1));
    Outcome outcome = testing::solve(*solver_, system_, isGmres(methodOf(form_.method)) ? Side::Right : Side::Left);
    expectSameOnAllRanks(outcome);
    return outcome;
  }
  void meet(double tolerance) { change(*solver_, parameters(tolerance)); }

 private:
  Params parameters(double tolerance) const {
    Params p;
    p.set("Convergence Tolerance", tolerance);
    p.set("Maximum Iterations", 1000);
    if (form_.depth > 0) p.set("Pipeline Depth", form_.depth);
    if (methodOf(form_.method).takes("Num Blocks")) p.set("Num Blocks", 300);
    return p;
  }

  Form form_;
  System system_;
  RCP<Solver> solver_;
};

long reductions(const SolveReport& report) { return report.reductionsBlocking + report.reductionsNonblocking; }

/// Whether it began with less than what was asked for.
bool remembers(const Outcome& outcome) { return mentions(outcome.report.events, "from the start"); }

/// Whether that was the classical method.
bool isClassical(const Outcome& outcome) { return mentions(told(outcome, "classical"), "from the start"); }
/// Whether the pipeline it began with has failed.
bool hasFailed(const Outcome& outcome) {
  return !isClassical(outcome) && !(told(outcome, "restart").empty() && told(outcome, "classical").empty());
}

RCP<CrsMatrix> matrixOf(const System& system) {
  return Teuchos::rcp_const_cast<CrsMatrix>(Teuchos::rcp_dynamic_cast<const CrsMatrix>(system.a));
}

System preconditioned(const std::string& matrix, const std::string& preconditioner) {
  StateCache::instance().clear();
  System system = systemFrom(matrix);
  system.preconditioner = ifpack2Preconditioner(matrixOf(system), preconditioner);
  return system;
}

/// The rows of this rank, times a factor. Collective.
void scale(CrsMatrix& a, Scalar factor) {
  a.resumeFill();
  CrsMatrix::nonconst_global_inds_host_view_type columns("columns", compat::localMaxNumRowEntries(a));
  CrsMatrix::nonconst_values_host_view_type values("values", compat::localMaxNumRowEntries(a));
  for (const GO row : compat::localElementList(*a.getRowMap())) {
    std::size_t count = 0;
    a.getGlobalRowCopy(row, columns, values, count);
    for (std::size_t e = 0; e < count; ++e) values(e) *= factor;
    a.replaceGlobalValues(row, Teuchos::ArrayView<const GO>(columns.data(), static_cast<long>(count)),
                          Teuchos::ArrayView<const Scalar>(values.data(), static_cast<long>(count)));
  }
  a.fillComplete();
}

class KeptDepth : public ::testing::TestWithParam<Case> {};

TEST_P(KeptDepth, LaterSolvesTakeWhatTheFormThatWorksTakes) {
  CAPSTAN_NEEDS_REAL_MATRICES();
  const Case c = GetParam();
  const System system = preconditioned(c.matrix, c.preconditioner);
  Series pipeline(c.pipeline, system), works(c.works, system);
  int failures = 0, classical = 0;
  for (int k = 0; k < 10; ++k) {
    SCOPED_TRACE("solve " + std::to_string(k));
    const Outcome outcome = pipeline.solve(k), expected = works.solve(k);
    EXPECT_TRUE(outcome.converged);
    failures += hasFailed(outcome) ? 1 : 0;
    if (hasFailed(outcome)) continue;
    EXPECT_LE(outcome.iterations, expected.iterations + 1);
    if (!isClassical(outcome)) continue;
    const int opening = classical++ == 0 ? 1 : 0;  // of a solver that begins otherwise than before
    const auto &spent = outcome.report, &alone = expected.report;
    EXPECT_LE(reductions(spent), reductions(alone) + opening);
    EXPECT_LE(spent.operatorApplications, alone.operatorApplications);
    EXPECT_LE(spent.preconditionerApplications, alone.preconditionerApplications);
  }
  EXPECT_LE(failures, c.search + (ranks() > 1 ? 2 : 0));
  // On one rank RILUK is another preconditioner, with which a depth may work.
  if (ranks() > 1) {
    EXPECT_EQ(classical, 10 - failures);
  }
}

/// The number of the first solve that begins with what an earlier one has come down to; 9 where none before does.
int solvesUntilRemembered(Series& pipeline) {
  int k = 0;
  while (!remembers(pipeline.solve(k)) && k < 9) ++k;
  return k;
}

TEST_P(KeptDepth, IsForgottenWithTheValuesOfTheMatrix) {
  CAPSTAN_NEEDS_REAL_MATRICES();
  const Case c = GetParam();
  const System system = preconditioned(c.matrix, c.preconditioner);
  Series pipeline(c.pipeline, system);
  const int k = solvesUntilRemembered(pipeline);
  if (ranks() == 1 && k == 9) return;  // the depth works
  ASSERT_LT(k, 9);
  scale(*matrixOf(system), 1.25);
  EXPECT_FALSE(remembers(pipeline.solve(k + 1)));
}

// A change that one rank alone sees is none of its own.
TEST_P(KeptDepth, IsForgottenByAllRanksTogether) {
  CAPSTAN_NEEDS_REAL_MATRICES();
  const Case c = GetParam();
  System system = preconditioned(c.matrix, c.preconditioner);
  const auto m = system.preconditioner;
  const auto applied = std::make_shared<long>(0);
  system.preconditioner = rcp(new FunctionOperator(m->getDomainMap(), [=](const MultiVector& in, MultiVector& out) {
    ++*applied;
    m->apply(in, out);
  }));
  Series pipeline(c.pipeline, system);
  const int k = solvesUntilRemembered(pipeline);
  if (ranks() == 1 && k == 9) return;  // the depth works
  ASSERT_LT(k, 9);
  scale(*matrixOf(system), rank() == 0 ? 1 + 1e-12 : 1);
  *applied = 0;
  const Outcome outcome = pipeline.solve(k + 1);
  EXPECT_FALSE(remembers(outcome));
  EXPECT_TRUE(outcome.converged);
  const int byBelos = isGmres(methodOf(c.pipeline.method)) ? 0 : 1;  // Belos::LinearProblem applies one from the left
  EXPECT_EQ(outcome.report.preconditionerApplications + byBelos, *applied) << "it has begun twice";
}

constexpr Form cg{"CAPSTAN CG", 0}, gmres{"CAPSTAN GMRES", 0};
constexpr Form cgPipeline(int depth) { return {"CAPSTAN CG PIPELINE", depth}; }
constexpr Form gmresPipeline(int depth) { return {"CAPSTAN GMRES PIPELINE", depth}; }
constexpr Form sstepPipeline(int depth) { return {"CAPSTAN GMRES S-STEP PIPELINE", depth}; }

// The first solve has no shifts; each further one tries what the last one has come down to.
INSTANTIATE_TEST_SUITE_P(RealMatrices, KeptDepth,
                         ::testing::Values(Case{"nos7", "riluk", cgPipeline(1), cg, 2},
                                           Case{"nos7", "riluk", cgPipeline(3), cg, 2},
                                           Case{"opm_spe1", "riluk", gmresPipeline(1), gmres, 2},
                                           Case{"opm_spe1", "riluk", gmresPipeline(2), gmres, 2},
                                           Case{"opm_spe1", "riluk", sstepPipeline(1), gmres, 3}));

TEST(PipelinesThatFail, AreTriedAgainWhereTheToleranceIsLooser) {
  CAPSTAN_NEEDS_REAL_MATRICES();
  Series series(cgPipeline(1), preconditioned("1138_bus", "riluk"));
  const int k = solvesUntilRemembered(series);
  EXPECT_LE(k, 3);
  series.meet(0.9);  // met before the pipeline fails
  EXPECT_FALSE(remembers(series.solve(k + 1)));
  series.meet(1e-8);
  const int again = solvesUntilRemembered(series);
  if (ranks() == 1 && again == 9) return;  // by another rounding the depth works
  EXPECT_LE(again, 3);
}

TEST(PipelinesThatFail, AreRememberedForSomeSolvesWhereRowsCannotBeRead) {
  CAPSTAN_NEEDS_REAL_MATRICES();
  Series series(cgPipeline(1), rowsHidden(preconditioned("nos7", "riluk")));
  int k = solvesUntilRemembered(series);
  if (ranks() == 1 && k == 9) return;  // the depth works
  EXPECT_LE(k, 2);
  for (int known = 1; known < tuning::working_pipeline::solvesUnread; ++known) {
    EXPECT_TRUE(remembers(series.solve(++k))) << "solve " << k;
  }
  EXPECT_TRUE(hasFailed(series.solve(++k))) << "tried again: the matrix may have changed";
  EXPECT_TRUE(remembers(series.solve(++k)));
}

TEST(PipelinesThatFail, AreTriedAgainWhereNothingGetsFurther) {
  CAPSTAN_NEEDS_REAL_MATRICES();
  for (const Form& form : {cgPipeline(1), gmresPipeline(1)}) {
    Series series(form, preconditioned("sherman1", "jacobi"), 1e-18);
    int remembered = 0;
    for (int k = 0; k < 4; ++k) {
      const Outcome outcome = series.solve(k);
      EXPECT_FALSE(outcome.converged) << form.method;
      remembered += remembers(outcome) ? 1 : 0;
    }
    EXPECT_LE(remembered, 1) << form.method << ": one solve to compare, where another ended at a limit";
    series.meet(1e-8);
    const Outcome outcome = series.solve(4);
    EXPECT_TRUE(outcome.converged);
    EXPECT_GT(outcome.report.reductionsNonblocking, 0) << form.method;
  }
}

TEST(PipelinesThatFail, AreRememberedForAllRightHandSides) {
  CAPSTAN_NEEDS_REAL_MATRICES();
  System system = preconditioned("nos7", "riluk");
  Params p;
  p.set("Convergence Tolerance", 1e-8);
  p.set("Maximum Iterations", 1000);
  const auto classical = solverOf(methodOf(id::Cg), p), pipeline = solverOf(methodOf(id::PipelinedCg), p);
  const auto map = system.a->getRangeMap();
  for (int k = 0; k < 5; ++k) {
    system.b = vectorFrom(
        map, [k](GO g) { return std::sin(1e4 * static_cast<double>(g * g % 7919 + g + 13 * k)); }, 3);
    system.x = rcp(new MultiVector(map, 3));
    const int iterations = solve(*classical, system, Side::Left).iterations;
    system.x = rcp(new MultiVector(map, 3));
    const Outcome outcome = solve(*pipeline, system, Side::Left);
    expectSameOnAllRanks(outcome);
    EXPECT_TRUE(outcome.converged);
    if (k < 2) continue;
    EXPECT_EQ(told(outcome, "classical").size(), 3U) << "solve " << k;
    EXPECT_EQ(outcome.report.reductionsNonblocking, 0);
    EXPECT_LE(outcome.iterations, iterations + 1);
  }
}

// A new beginning there costs a quarter more iterations than a direction that has lost a few digits.
TEST(PipelinesThatRestart, KeepADirectionWithAFewDigitsLess) {
  CAPSTAN_NEEDS_REAL_MATRICES();
  for (const char* name : {"nos7", "hypre_beam_hex_459"}) {
    const System system = preconditioned(name, "jacobi");
    for (int k = 0; k < 3; ++k) {
      const Outcome outcome = Series(cgPipeline(3), system).solve(k), expected = Series(cg, system).solve(k);
      EXPECT_TRUE(outcome.converged) << name << ", right-hand side " << k;
      EXPECT_LE(outcome.iterations, 1.1 * expected.iterations) << name << ", right-hand side " << k;
    }
  }
}

// The pipeline hands over late there, and costs no iterations: one solve is classical, to see it.
TEST(PipelinesThatFail, AreBetterThanNoneWhereTheyCostNoIterations) {
  CAPSTAN_NEEDS_REAL_MATRICES();
  const System system = preconditioned("sherman1", "jacobi");
  Series pipeline(cgPipeline(1), system), classical(cg, system);
  int compared = 0;
  for (int k = 0; k < 6; ++k) {
    const Outcome outcome = pipeline.solve(k), expected = classical.solve(k);
    EXPECT_LE(outcome.iterations, expected.iterations + 1) << "solve " << k;
    if (remembers(outcome)) {
      ++compared;
    } else {
      EXPECT_GT(2 * outcome.report.reductionsNonblocking, outcome.iterations) << "solve " << k;
    }
  }
  EXPECT_LE(compared, 1);
}

}  // namespace
}  // namespace capstan::testing
