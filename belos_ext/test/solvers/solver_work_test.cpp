/// \file
/// Flops and bytes of an iteration, counted in the kernels, are those that every method declares.
///
/// Counted between two solves of different lengths, so that what a start and an end take drops out. Restarted methods:
/// over two whole cycles. The declared average leaves out what a restart takes: O(1 / m).

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "belos_ext/parameters/parameter_table.hpp"
#include "belos_ext/test/solvers/solver_suite.hpp"
#include "tpetra_ext/kernels/base/execution.hpp"
#include "tpetra_ext/reductions/vector_work.hpp"
#include "tpetra_ext/test/support/watched_views.hpp"

namespace capstan::testing {
namespace {

constexpr int cycle = 40, panel = 5;
constexpr GO side = 100;  // of the grid

/// Of one row.
struct Work {
  double flops, bytes;
  std::string events;
};

Params workParameters(const MethodTraits& method, Params p) {
  p.set("Convergence Tolerance", 1e-14);
  p.set("State Cache", false);
  if (isGmres(method)) p.set("Num Blocks", cycle);
  if (getsStepSize(method)) p.set("Step Size", panel);
  return p;
}

/// Of all eigenvectors something, so that bases of GMRES stay as well conditioned as they can be.
System randomSystem() {
  std::mt19937_64 bits(20240229);
  std::vector<Scalar> entries(static_cast<std::size_t>(side * side));
  for (Scalar& entry : entries) entry = static_cast<Scalar>(bits() >> 11) / static_cast<Scalar>(1LL << 52) - 1;
  return systemWithRightHandSide(grid2d(side, side), [&](GO g) { return entries[static_cast<std::size_t>(g)]; });
}

/// What a solve of so many iterations takes.
Work workAfter(int iterations, const MethodTraits& method, Side preconditioned, System system, Params p) {
  p.set("Maximum Iterations", iterations);
  system.x->putScalar(0);
  VectorWork& work = vectorWork();
  system.arm = [&work] {
    work.clear();
    work.enable(true);
  };
  const Outcome outcome = solve(*solverOf(method, p), system, preconditioned);
  work.enable(false);
  EXPECT_EQ(outcome.iterations, iterations);
  std::string events;
  for (const ReportEvent& e : outcome.report.events) {
    events += "\n  " + std::to_string(e.iteration) + ' ' + e.kind + ": " + e.detail;
  }
  const auto rows = static_cast<double>(system.b->getLocalLength());
  return {static_cast<double>(work.flops()) / rows, work.bytes() / rows, events};
}

/// Flops an iteration, and vectors. Short recurrences do the same in each; a restart takes fewer than this.
double tolerance(const MethodTraits& method) { return isGmres(method) ? 30.0 / cycle : 1e-9; }

/// Entries of other ranks that a method keeps and updates beside its own, to a row of this rank: a line of the grid for
/// each neighbour. z -= alpha t and p = z + beta p are done on them: 4 flops, 3 vectors read, 2 written.
double haloOfRow(const MethodTraits& method, const System& system) {
  if (method.canonical != id::EmbeddedCg) return 0;
  const int neighbours = (rank() > 0 ? 1 : 0) + (rank() + 1 < ranks() ? 1 : 0);
  return static_cast<double>(neighbours * side) / static_cast<double>(system.b->getLocalLength());
}

void expectDeclared(const MethodTraits& method, Side preconditioned, const Params& given) {
  const Params p = workParameters(method, given);
  Parameters parameters(method);
  parameters.merge(p);
  const capstan::Cost cost = method.cost(parameters.options(), preconditioned != Side::None);
  const System system = randomSystem();
  // CG has changed its form, shifts are known, and IDR(4) is at the end of a cycle of 5.
  const int few = isGmres(method) ? 2 * cycle : 30, more = isGmres(method) ? 4 * cycle : 45;
  workAfter(few, method, preconditioned, system, p);  // what the first solve of a system learns is no iteration's cost
  const Work before = workAfter(few, method, preconditioned, system, p),
             after = workAfter(more, method, preconditioned, system, p);
  const double flops = (after.flops - before.flops) / (more - few), bytes = (after.bytes - before.bytes) / (more - few);
  const double halo = haloOfRow(method, system);
  // w read and written; what it is shifted by has been read by the product without M.
  const double apart =
      method.canonical == id::SStepGmres ? passesApart(preconditioned == Side::None ? 3 : 2) * sizeof(double) : 0;
  EXPECT_NEAR(flops, cost.flops + 4 * halo, tolerance(method)) << after.events;
  EXPECT_NEAR(bytes, cost.bytes + 5 * halo * sizeof(double) + apart, tolerance(method) * sizeof(double))
      << after.events;
}

class CostOfVectors : public EverySolver {};

TEST_P(CostOfVectors, IsAsDeclared) {
  for (Side preconditioner : {Side::None, Side::Right}) {
    SCOPED_TRACE(toString(preconditioner));
    expectDeclared(GetParam(), preconditioner, Params());
  }
}

TEST_P(CostOfVectors, IsAsDeclaredForABasisInSinglePrecision) {
  if (!GetParam().takes("Basis Precision")) GTEST_SKIP() << "not a parameter of " << GetParam().canonical;
  const double inDouble = GetParam().cost(SolverOptions(), false).bytes;
  SolverOptions options;
  options.basisPrecision = BasisPrecision::Single;
  EXPECT_LT(GetParam().cost(options, false).bytes, 0.6 * inDouble);
  for (Side preconditioner : {Side::None, Side::Right}) {
    SCOPED_TRACE(toString(preconditioner));
    Params p;
    p.set("Basis Precision", "single");
    expectDeclared(GetParam(), preconditioner, p);
  }
}

TEST_P(CostOfVectors, IsAsDeclaredForASketch) {
  if (!takesOrthogonalization(GetParam(), "sketched")) GTEST_SKIP() << "not a parameter of " << GetParam().canonical;
  for (Side preconditioner : {Side::None, Side::Right}) {
    SCOPED_TRACE(toString(preconditioner));
    Params p;
    p.set("Block Orthogonalization", "sketched");
    expectDeclared(GetParam(), preconditioner, p);
  }
}

TEST_P(CostOfVectors, IsAsDeclaredAtEveryDepth) {
  if (!GetParam().takes("Pipeline Depth")) GTEST_SKIP() << "not a parameter of " << GetParam().canonical;
  for (int depth : {2, 3}) {
    for (Side preconditioner : {Side::None, Side::Right}) {
      SCOPED_TRACE(toString(preconditioner) + ", depth " + std::to_string(depth));
      Params p;
      p.set("Pipeline Depth", depth);
      expectDeclared(GetParam(), preconditioner, p);
    }
  }
}

TEST_P(CostOfVectors, IsAsDeclaredForEveryEnlargedForm) {
  if (!GetParam().takes("Enlarged Form")) GTEST_SKIP() << "not a parameter of " << GetParam().canonical;
  for (const char* form : {"orthodir", "orthomin", "fused"}) {
    for (int directions : {2, 5}) {
      for (Side preconditioner : {Side::None, Side::Right}) {
        SCOPED_TRACE(toString(preconditioner) + ", " + form + ", directions: " + std::to_string(directions));
        Params p;
        p.set("Enlarged Form", form);
        p.set("Enlarging Factor", directions);
        expectDeclared(GetParam(), preconditioner, p);
      }
    }
  }
}

// Four vectors read for the inner products; five read and three written by the sweep.
TEST(CostOfVectorsOfADiagonal, IsLessForCg) {
  System system = randomSystem();
  const auto jacobi = system.preconditioner;
  const auto same = rcp(new FunctionOperator(
      system.b->getMap(), [jacobi](const MultiVector& in, MultiVector& out) { jacobi->apply(in, out); }));
  same->setObjectLabel(R"("Ifpack2::Diagonal")");  // known by that
  system.preconditioner = same;
  const MethodTraits& method = methodOf(id::Cg);
  const Params p = workParameters(method, Params());
  workAfter(30, method, Side::Right, system, p);  // what the first solve of a system learns is no iteration's cost
  const Work before = workAfter(30, method, Side::Right, system, p),
             after = workAfter(45, method, Side::Right, system, p);
  EXPECT_NEAR((after.bytes - before.bytes) / 15, 8 * (4 + 5 + 3), 1e-9) << after.events;
  EXPECT_NEAR((after.flops - before.flops) / 15, 5 * 2 + 3 * 3 + 2 + 2 + 3, 1e-9) << after.events;
}

CAPSTAN_FOR_EVERY_SOLVER(CostOfVectors);

/// What CAPSTAN_KERNELS=generic launches: kernels of Capstan's, so M is not among them, and products are, which on a
/// device are Tpetra's but for a communication strategy of ours.
class Launches : public EverySolver {
 protected:
  void SetUp() override {
    if (!kernels::genericPathForced()) GTEST_SKIP() << "with CAPSTAN_KERNELS=generic only";
    if (ranks() > 1) GTEST_SKIP() << "on one rank only: products are made in two parts on more";
  }
};

/// Of one iteration.
double launchesOf(const MethodTraits& method, Side preconditioned) {
  const Params p = workParameters(method, Params());
  const System system = randomSystem();
  const int few = isGmres(method) ? 2 * cycle : 30, more = isGmres(method) ? 4 * cycle : 45;
  workAfter(few, method, preconditioned, system, p);
  const auto count = [&](int iterations) {
    const test::CountedKernels counted;
    workAfter(iterations, method, preconditioned, system, p);
    return counted.count();
  };
  const long before = count(few);
  return static_cast<double>(count(more) - before) / (more - few);
}

/// On one rank, products of Capstan's included: CG has one, its sweep and its sums; a panel of 5 steps of GMRES has
/// five, and three more. A restart takes the fractions.
double mostLaunches(const MethodTraits& method) {
  static const std::map<std::string, double> most{{id::Gmres, 4.25},
                                                  {id::SStepGmres, (5 + 3) / 5. + 0.25},
                                                  {id::PipelinedGmres, 7.25},
                                                  {id::EnlargedCg, 12},
                                                  {id::PipelinedSStepGmres, 4.85},
                                                  {id::BiCgStab, 6},
                                                  {id::PipelinedBiCgStab, 6},
                                                  {id::Idr, 4.6}};
  const auto found = most.find(method.canonical);
  return found != most.end() ? found->second : 3;
}

TEST_P(Launches, AreFew) {
  for (Side preconditioner : {Side::None, Side::Right}) {
    const double found = launchesOf(GetParam(), preconditioner);
    EXPECT_LE(found, mostLaunches(GetParam()) + 1e-9) << toString(preconditioner);
    EXPECT_GE(found, 1) << "something is launched";
  }
}

CAPSTAN_FOR_EVERY_SOLVER(Launches);

}  // namespace
}  // namespace capstan::testing
