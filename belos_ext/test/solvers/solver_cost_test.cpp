/// \file
/// What solves cost, counted outside the solvers: collectives by MPI's profiling interface, allocations by Kokkos'
/// hooks.

#include <Kokkos_Core.hpp>
#include <cmath>
#include <functional>
#include <random>

#include "belos_ext/manager/state_cache.hpp"
#include "belos_ext/parameters/parameter_table.hpp"
#include "belos_ext/parameters/solver_options.hpp"
#include "belos_ext/test/solvers/solver_suite.hpp"
#include "tpetra_ext/kernels/base/execution.hpp"
#include "tpetra_ext/test/support/counted_mpi.hpp"

namespace capstan::testing {
namespace {

struct Counted {
  Outcome outcome;
  test::MpiCalls calls;
  long reductions = 0;  ///< counted by MPI, embedded ones by the report; on one rank by the report, as none is sent
};

Counted countedSolve(Solver& solver, System system, Side side = Side::None) {
  Counted counted;
  const auto arm = system.arm;
  system.arm = [&] {
    arm();
    test::resetMpiCalls();
  };
  counted.outcome = solve(solver, system, side);
  if (counted.outcome.report.communication.embedded.used && !counted.outcome.report.communication.fromEarlier) {
    system.x->putScalar(0);  // the first solve has made the plan, too
    counted.outcome = solve(solver, system, side);
  }
  counted.calls = test::mpiCalls();
  const SolveReport& report = counted.outcome.report;
  counted.reductions = counted.calls.allreduce + counted.calls.iallreduce + report.communication.embedded.reductions;
  if (ranks() == 1) {
    counted.reductions += report.reductionsBlocking + report.reductionsNonblocking;
  } else {
    // A hypercube's messages are no collective call.
    EXPECT_EQ(counted.calls.allreduce + report.communication.embedded.reductions, report.reductionsBlocking);
    EXPECT_EQ(counted.calls.iallreduce, report.reductionsNonblocking);
  }
  EXPECT_EQ(counted.calls.otherCollectives, 0);
  return counted;
}

/// 2D Laplace 100^2, restart 60, tolerance 1e-6, s = 10.
Params laplaceParameters(const MethodTraits& name) {
  Params p;
  if (isGmres(name)) p.set("Num Blocks", 60);
  p.set("Convergence Tolerance", 1e-6);
  p.set("Maximum Iterations", 3000);
  p.set("State Cache", false);
  return p;
}

System laplace(bool random) {
  std::mt19937_64 bits(20240229);
  std::vector<Scalar> entries(10000, 1);
  if (random) {
    for (Scalar& entry : entries) entry = static_cast<Scalar>(bits() >> 11) / static_cast<Scalar>(1LL << 52) - 1;
  }
  return systemWithRightHandSide(grid2d(100, 100), [&](GO g) { return entries[static_cast<size_t>(g % 10000)]; });
}

Counted laplaceSolve(const std::string& name, bool random) {
  Params p = laplaceParameters(*findMethod(name));
  if (findMethod(name)->canonical == id::SStepGmres) p.set("Step Size", 10);
  const Counted counted = countedSolve(*solverOf(*findMethod(name), p), laplace(random));
  EXPECT_TRUE(counted.outcome.converged);
  if (rank() == 0) {
    const SolveReport& r = counted.outcome.report;
    std::cout << name << ": " << r.iterations << " iterations, " << r.restarts << " restarts, " << counted.reductions
              << " reductions, s = " << r.finalStepSize << '\n';
    for (const ReportEvent& e : r.events) std::cout << "  " << e.iteration << ' ' << e.kind << ": " << e.detail << '\n';
  }
  return counted;
}

class LaplaceReductions : public ::testing::TestWithParam<bool> {};

TEST_P(LaplaceReductions, OfSStepGmresAreAFifthOfItsIterations) {
  const Counted sstep = laplaceSolve("CAPSTAN GMRES S-STEP", GetParam());
  const Counted classical = laplaceSolve("CAPSTAN GMRES", GetParam());
  EXPECT_LE(sstep.reductions, 0.2 * sstep.outcome.iterations + 6);
  EXPECT_LE(sstep.outcome.iterations, classical.outcome.iterations + 10);
}

TEST_P(LaplaceReductions, OfGmresAreOneAnIteration) {
  const Counted counted = laplaceSolve("CAPSTAN GMRES", GetParam());
  EXPECT_LE(counted.reductions, 1.05 * counted.outcome.iterations);
}

TEST_P(LaplaceReductions, OfCgAreOneAnIteration) {
  const Counted counted = laplaceSolve("CAPSTAN CG", GetParam());
  EXPECT_LE(counted.reductions, 1.05 * counted.outcome.iterations);
}

INSTANTIATE_TEST_SUITE_P(RightHandSides, LaplaceReductions, ::testing::Values(false, true),
                         [](const auto& random) { return random.param ? "Random" : "Ones"; });

class Cost : public EverySolver {};

TEST_P(Cost, ReportCountsWhatMpiCounts) {
  for (Side side : {Side::None, Side::Left, Side::Right}) {
    const Counted counted = countedSolve(*solverOf(GetParam()), systemWithRightHandSide(grid2d(20, 20)), side);
    EXPECT_TRUE(counted.outcome.converged);
  }
}

TEST_P(Cost, ReportCountsWhatMpiCountsForEveryOrthogonalization) {
  if (!isGmres(GetParam())) GTEST_SKIP() << "not a parameter of " << GetParam().canonical;
  for (const char* scheme : wordsOf(BlockOrthogonalization())) {
    if (!takesOrthogonalization(GetParam(), scheme)) continue;
    SCOPED_TRACE(scheme);
    Params p;
    p.set("Block Orthogonalization", scheme);
    p.set("Convergence Tolerance", 1e-6);
    const Counted counted = countedSolve(*solverOf(GetParam(), p), systemWithRightHandSide(grid2d(20, 20, 0.2)));
    EXPECT_TRUE(counted.outcome.converged);
  }
}

TEST_P(Cost, ReportCountsApplications) {
  for (Side side : {Side::None, Side::Left, Side::Right}) {
    System system = systemWithRightHandSide(grid2d(20, 20));
    long operators = 0, preconditioners = 0;
    const auto counting = [](const RCP<const Operator>& inner, long& count) {
      return rcp(new FunctionOperator(inner->getDomainMap(), [inner, &count](const MultiVector& in, MultiVector& out) {
        ++count;
        inner->apply(in, out);
      }));
    };
    system.a = counting(system.a, operators);
    system.preconditioner = counting(system.preconditioner, preconditioners);
    system.arm = [&] { operators = preconditioners = 0; };
    const Outcome outcome = solve(GetParam(), Params(), system, side);
    EXPECT_EQ(outcome.report.operatorApplications, operators);
    EXPECT_EQ(outcome.report.preconditionerApplications, preconditioners);
    EXPECT_EQ(side == Side::None, preconditioners == 0);
  }
}

/// A solve that ends after so many iterations, all in one cycle.
SolveReport reportAfter(int iterations, const MethodTraits& name, Side side, const System& system, Params p = {}) {
  p.set("Maximum Iterations", iterations);
  p.set("Convergence Tolerance", 1e-14);
  p.set("State Cache", false);
  if (isGmres(name)) p.set("Num Blocks", 60);
  if (getsStepSize(name)) p.set("Step Size", 4);
  system.x->putScalar(0);
  const Outcome outcome = solve(*solverOf(name, p), system, side);
  EXPECT_EQ(outcome.iterations, iterations);
  return outcome.report;
}

/// Times that `more` has waited for kernels beyond `few`, but for those of its products.
long waitsBeside(const SolveReport& few, const SolveReport& more, const MethodTraits& method) {
  // What embedded CG packs travels with its reductions.
  const long products = method.canonical == id::EmbeddedCg ? 0 : more.operatorApplications - few.operatorApplications;
  return more.fences - few.fences - waitsOfProducts(products);
}

// The set-up and the end cost the same, whatever lies between them. CONTRIBUTING: fences are counted as reductions are.
TEST_P(Cost, AReductionIsTheOnlyThingAnIterationWaitsFor) {
  const System system = systemWithRightHandSide(grid2d(40, 40));
  for (Side side : {Side::None, Side::Left, Side::Right}) {
    SCOPED_TRACE(toString(side));
    reportAfter(48, GetParam(), side, system);  // what portable kernels keep for partial sums grows, and they wait
    const SolveReport few = reportAfter(32, GetParam(), side, system);  // CG has changed its form
    const SolveReport more = reportAfter(48, GetParam(), side, system);
    const long reductions =
        more.reductionsBlocking + more.reductionsNonblocking - few.reductionsBlocking - few.reductionsNonblocking;
    EXPECT_GT(reductions, 0);
    EXPECT_EQ(waitsBeside(few, more, GetParam()), reductions);
    if (GetParam().canonical == id::Cg || GetParam().canonical == id::Gmres) {
      EXPECT_EQ(reductions, 16);
    }
    if (GetParam().canonical == id::SStepGmres) {
      EXPECT_EQ(reductions, 4);
    }
  }
}

TEST_P(Cost, AReductionIsTheOnlyThingEveryOrthogonalizationWaitsFor) {
  if (!isGmres(GetParam())) GTEST_SKIP() << "not a parameter of " << GetParam().canonical;
  const System system = systemWithRightHandSide(grid2d(40, 40));
  for (const char* scheme : wordsOf(BlockOrthogonalization())) {
    if (!takesOrthogonalization(GetParam(), scheme)) continue;
    SCOPED_TRACE(scheme);
    Params p;
    p.set("Block Orthogonalization", scheme);
    reportAfter(32, GetParam(), Side::None, system, p);  // as above
    const SolveReport few = reportAfter(16, GetParam(), Side::None, system, p);
    const SolveReport more = reportAfter(32, GetParam(), Side::None, system, p);
    EXPECT_EQ(waitsBeside(few, more, GetParam()), more.reductionsBlocking + more.reductionsNonblocking -
                                                      few.reductionsBlocking - few.reductionsNonblocking);
  }
}

// Kokkos keeps one callback for the process, so what it counts is here.
struct Allocations {
  bool counting = false;
  std::uint64_t least = 0;
  std::string label;      // counts those whose label begins so
  std::string except;     // but for this one
  bool onDevice = false;  // counts those of the device alone, where Tpetra keeps vectors on the host as well
  long large = 0;
  std::uint64_t bytes = 0;  ///< of those
  std::string what;
} allocations;

void countAllocation(Kokkos::Profiling::SpaceHandle space, const char* label, const void*, std::uint64_t bytes) {
  if (!allocations.counting || bytes < allocations.least) return;
  if (allocations.onDevice && std::string(space.name) != Types::DeviceType::memory_space::name()) return;
  if (std::string(label).rfind(allocations.label, 0) != 0 || label == allocations.except) return;
  ++allocations.large;
  allocations.bytes += bytes;
  allocations.what += std::string(label) + ", " + std::to_string(bytes) + " bytes\n";
}

void count(std::uint64_t least, const std::string& label, const std::string& except = "") {
  Kokkos::Tools::Experimental::set_allocate_data_callback(countAllocation);
  allocations = Allocations{};
  allocations.least = least;
  allocations.label = label;
  allocations.except = except;
}

/// Kokkos allocations in solve() of so many bytes at least, whose label begins like this.
long allocationsOf(Solver& solver, System system, Side side, std::uint64_t least, const std::string& label,
                   const std::string& except = "", bool onDevice = false) {
  count(least, label, except);
  allocations.onDevice = onDevice;
  system.arm = [] { allocations.counting = true; };
  solve(solver, system, side);
  allocations.counting = false;
  Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
  return allocations.large;
}

/// Those that could hold a vector of this rank's rows. What the portable kernels keep for partial sums is none; it
/// grows with the panels, which are wider once shifts are known.
long vectorAllocations(Solver& solver, const System& system, Side side) {
  return allocationsOf(solver, system, side, system.b->getLocalLength() * sizeof(Scalar), "",
                       "capstan::kernels workspace", true);
}

// A first solve may find on a device what earlier solvers have left, so the hook is tried by itself.
TEST(CostHook, SeesWhatBearsCapstansName) {
  count(64, "capstan");
  allocations.counting = true;
  const Kokkos::View<char*, Kokkos::HostSpace> seen("capstan::test", 64), small("capstan::test", 8), other("other", 64);
  allocations.counting = false;
  Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
  EXPECT_EQ(allocations.large, 1) << allocations.what;
}

// Messages, pinned coefficients of kernels, their partial sums: all that bears Capstan's name.
TEST_P(Cost, NextSolveAllocatesNothingForKernels) {
  const auto a = grid2d(30, 30);
  for (size_t columns : {size_t(1), size_t(3)}) {
    for (Side side : {Side::None, Side::Left, Side::Right}) {
      SCOPED_TRACE(toString(side) + ", columns: " + std::to_string(columns));
      Params p;
      if (isGmres(GetParam())) p.set("Num Blocks", 20);
      p.set("Maximum Iterations", 25);
      if (!isPipelined(GetParam())) p.set("State Cache", false);  // else bounds of the spectrum are sought only once
      if (isPipelined(GetParam()) && getsStepSize(GetParam())) p.set("Step Size", 5);  // auto begins with short blocks
      const auto solver = solverOf(GetParam(), p);
      const System system = systemWithRightHandSide(a, wave, columns);
      solve(*solver, system, side);
      system.x->putScalar(0);
      if (isPipelined(GetParam())) {  // the first one learns shifts, with blocks of one
        solve(*solver, system, side);
        system.x->putScalar(0);
      }
      EXPECT_EQ(allocationsOf(*solver, system, side, 0, "capstan"), 0) << allocations.what;
    }
  }
}

/// Right-hand sides of one, of some and of all eigenvectors, in this order: they end at different times.
System systemInOrder(const RCP<CrsMatrix>& a, GO n, const std::vector<size_t>& order) {
  const auto eigenvectors = [n](int count) {
    return [n, count](GO g) {
      Scalar sum = 0;
      for (int k = 1; k <= count; ++k) {
        sum += std::sin(M_PI * k * static_cast<double>(g % n + 1) / static_cast<double>(n + 1)) *
               std::sin(M_PI * k * static_cast<double>(g / n + 1) / static_cast<double>(n + 1));
      }
      return sum;
    };
  };
  const std::vector<std::function<Scalar(GO)>> parts{eigenvectors(1), eigenvectors(4), wave};
  System system = systemWithRightHandSide(a, wave, parts.size());
  for (size_t c = 0; c < parts.size(); ++c) {
    Tpetra::deep_copy(*system.b->getVectorNonConst(c), *vectorFrom(system.b->getMap(), parts[order[c]]));
  }
  return system;
}

// Which right-hand side ends last decides whose batch carries the others' message.
TEST_P(Cost, NextSolveAllocatesNothingForReductionsInAnotherOrder) {
  const GO n = 30;
  const auto a = grid2d(n, n);
  for (Side side : {Side::None, Side::Right}) {
    SCOPED_TRACE(toString(side));
    Params p;
    if (isGmres(GetParam())) p.set("Num Blocks", 20);
    p.set("Maximum Iterations", 25);
    if (!isPipelined(GetParam())) p.set("State Cache", false);
    if (isPipelined(GetParam()) && getsStepSize(GetParam())) p.set("Step Size", 5);
    const auto solver = solverOf(GetParam(), p);
    const std::string label = "capstan::ReductionBatch";
    allocationsOf(*solver, systemInOrder(a, n, {2, 1, 0}), side, 0, label);
    if (isPipelined(GetParam())) solve(*solver, systemInOrder(a, n, {2, 1, 0}), side);
    for (const auto& order : std::vector<std::vector<size_t>>{{0, 1, 2}, {1, 2, 0}, {0, 2, 1}}) {
      EXPECT_EQ(allocationsOf(*solver, systemInOrder(a, n, order), side, 0, label), 0) << allocations.what;
    }
  }
}

/// Tpetra keeps one halo vector, and makes it anew where the number of columns is another one: the residual has one
/// column, and the directions of enlarged CG have several.
long haloVectors(const MethodTraits& method) { return method.canonical == id::EnlargedCg && ranks() > 1 ? 2 : 0; }

TEST_P(Cost, SecondSolveAllocatesNoVectors) {
  const auto a = grid2d(160, 160);  // a vector is larger than any projected matrix
  for (size_t columns : {size_t(1), size_t(3)}) {
    // One by one after the problem's own product with all columns, Tpetra makes its halo vector anew.
    if (isPipelined(GetParam()) && columns > 1) continue;
    for (Side side : {Side::None, Side::Left, Side::Right}) {
      SCOPED_TRACE(toString(side) + ", columns: " + std::to_string(columns));
      Params p;
      if (isGmres(GetParam())) p.set("Num Blocks", 20);
      p.set("Maximum Iterations", 25);
      const auto solver = solverOf(GetParam(), p);
      const System system = systemWithRightHandSide(a, wave, columns);
      EXPECT_GT(vectorAllocations(*solver, system, side), 0) << "the hook must see the first solve's vectors";
      system.x->putScalar(0);
      EXPECT_LE(vectorAllocations(*solver, system, side), haloVectors(GetParam())) << allocations.what;
    }
  }
}

/// Whether A's products with blocks are Capstan's, which pack a block: on devices they are Tpetra's, which pack none,
/// and keep a halo of a block, made anew where its width changes.
bool packsBlocks() { return kernels::runsOnHost<Types::ExecutionSpace>; }

/// Kokkos' allocations in solve(), in vectors of this rank's rows.
double vectorsAllocated(Solver& solver, System system, Side side) {
  vectorAllocations(solver, system, side);
  return static_cast<double>(allocations.bytes) / static_cast<double>(system.b->getLocalLength() * sizeof(Scalar));
}

// What a start, a restart and the end of a solve cost more stands in the solver files; here it has to be small.
TEST_P(Cost, IsAsDeclared) {
  for (Side side : {Side::None, Side::Right}) {
    SCOPED_TRACE(toString(side));
    StateCache::instance().clear();
    Params p = laplaceParameters(GetParam());
    p.set("Solver Name", "laplace");
    p.set("State Cache", true);  // the solve that is counted knows the shifts
    if (getsStepSize(GetParam())) p.set("Step Size", 5);
    Parameters parameters(GetParam());
    parameters.merge(p);
    const capstan::Cost cost = GetParam().cost(parameters.options(), side != Side::None);
    const auto solver = solverOf(GetParam(), p);
    const double vectors = vectorsAllocated(*solver, laplace(true), side);
    const Counted counted = countedSolve(*solverOf(GetParam(), p), laplace(true), side);
    const SolveReport& report = counted.outcome.report;
    ASSERT_TRUE(counted.outcome.converged);
    const double n = report.iterations, starts = report.restarts + 1;
    EXPECT_GT(n, 100);
    EXPECT_NEAR(static_cast<double>(counted.reductions), cost.reductions * n, 0.05 * n * cost.reductions + 5 * starts);
    const double ahead = GetParam().pipelined ? 20 + 5 * starts : 2 * starts + 3;  // bounds, and the pipeline's filling
    EXPECT_NEAR(static_cast<double>(report.operatorApplications), cost.operators * n, ahead);
    const double preconditioners = side == Side::None ? 0 : cost.preconditioners * n;
    EXPECT_NEAR(static_cast<double>(report.preconditionerApplications), preconditioners, ahead);
    const double block = GetParam().canonical == id::EnlargedCg ? parameters.options().enlargingFactor : 0;
    EXPECT_GE(vectors, cost.vectors - (packsBlocks() ? 0 : block));
    // Estimating bounds takes 17, going on classically 5, a direction kept 1.
    const double halo = packsBlocks() || ranks() == 1 ? 0 : block;
    EXPECT_LE(vectors, cost.vectors + (GetParam().pipelined ? 23 : 3) + 3 * haloVectors(GetParam()) + halo);
  }
}

CAPSTAN_FOR_EVERY_SOLVER(Cost);

}  // namespace
}  // namespace capstan::testing
