/// \file
/// Cases from the field that no deck describes: a preconditioner given as a matrix, and a communicator that leaves a
/// rank out.

#include <mpi.h>

#include <BelosSolverFactory.hpp>
#include <Ifpack2_Factory.hpp>
#include <Teuchos_DefaultMpiComm.hpp>
#include <array>

#include "belos_ext/test/solvers/real_matrices.hpp"

namespace capstan::testing {
namespace {

class FieldCase : public EverySolver {};
CAPSTAN_FOR_EVERY_SOLVER(FieldCase);

Params parameters(double tolerance, int iterations, int restart) {
  Params p;
  p.set("Convergence Tolerance", tolerance);
  p.set("Maximum Iterations", iterations);
  p.set("Num Blocks", restart);
  p.set("Maximum Restarts", iterations);
  return p;
}

/// What is told of a solve.
std::string story(const Outcome& outcome) {
  std::string text = toString(outcome.report.reason) + " after " + std::to_string(outcome.iterations);
  for (const ReportEvent& e : outcome.report.events) {
    text += "\n  " + std::to_string(e.iteration) + ' ' + e.kind + ": " + e.detail;
  }
  return text;
}

/// || b - A x || / || b || that Belos' own GMRES leaves.
double residualOfBelos(System system, const Params& p, Side side) {
  system.x = rcp(new MultiVector(system.b->getMap(), 1));
  const auto guess = copyOf(*system.x);
  Belos::SolverFactory<Scalar, MultiVector, Operator> factory;
  const auto solver = factory.create("BLOCK GMRES", rcp(new Params(p)));
  solver->setProblem(problemOf(system, side));
  solver->solve();
  return relativeResidual(system, *guess);
}

// A is symmetric, its approximate inverse is not: CG does not converge at all.
TEST_P(FieldCase, G06) {
  CAPSTAN_NEEDS_FIELD_CASES();
  if (!isCg(GetParam())) GTEST_SKIP() << GetParam().canonical << " needs no symmetry";
  const auto a = matrixIn(fieldCase("G06", "A.mtx.gz"));
  const System given{a, vectorsIn(fieldCase("G06", "b.mtx.gz"), a->getRowMap()),
                     rcp(new MultiVector(a->getDomainMap(), 1)), matrixIn(fieldCase("G06", "Minv.mtx.gz"))};
  const auto guess = copyOf(*given.x);
  for (const Side side : {Side::Right, Side::Left}) {
    for (const double tolerance : {1e-6, 1e-8}) {
      SCOPED_TRACE(toString(side) + ", tolerance " + std::to_string(-std::log10(tolerance)));
      Params p = parameters(tolerance, 3000, 30);
      const double belos = residualOfBelos(given, p, side);
      given.x->putScalar(0);
      if (!isGmres(GetParam())) p.remove("Num Blocks");
      const Outcome outcome = solve(GetParam(), p, given, side);
      const double relative = relativeResidual(given, *guess);
      EXPECT_TRUE(outcome.converged || tolerance < 1e-6) << relative << ", " << story(outcome);
      EXPECT_TRUE(!outcome.converged || side == Side::Left || relative <= tolerance * (1 + 1e-6)) << relative;
      // To the left GMRES makes another norm small.
      EXPECT_LE(relative, side == Side::Right ? std::max(1.1 * belos, 8e-8) : 1.0) << belos << ", " << story(outcome);
      expectSameOnAllRanks(outcome);
    }
  }
}

/// All ranks but the first, which has none: null there.
RCP<const Teuchos::Comm<int>> withoutFirst() {
  MPI_Comm rest = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank() == 0 ? MPI_UNDEFINED : 0, rank(), &rest);
  return rest == MPI_COMM_NULL ? Teuchos::null : rcp(new Teuchos::MpiComm<int>(Teuchos::opaqueWrapper(rest)));
}

void solveOn(const RCP<const Teuchos::Comm<int>>& comm, const MethodTraits& method) {
  const auto a = matrixIn(fieldCase("R01", "A.mtx.gz"), comm);
  System system{a, vectorsIn(fieldCase("R01", "b.mtx.gz"), a->getRowMap()), rcp(new MultiVector(a->getDomainMap(), 1)),
                Teuchos::null};
  const auto guess = copyOf(*system.x);
  Params p = parameters(1e-9, 1000, 100);
  if (!isGmres(method)) p.remove("Num Blocks");
  p.set("Residual Scaling", "None");
  if (isGmres(method)) {
    const Outcome outcome = solve(method, p, system);
    EXPECT_TRUE(outcome.converged) << story(outcome);
  }
  const RCP<const CrsMatrix::row_matrix_type> rows = a;
  const auto m = Ifpack2::Factory().create("RILUK", rows, 1);
  m->initialize();
  m->compute();
  system.preconditioner = m;
  system.x->putScalar(0);
  const Outcome outcome = solve(method, p, system, Side::Right);
  EXPECT_TRUE(allFinite(*system.x));
  EXPECT_LE(relativeResidual(system, *guess), 1 + 1e-9) << toString(outcome.report.reason);
  const double mine = outcome.iterations + (outcome.converged ? 0.5 : 0);
  std::array<double, 2> ends{};
  Teuchos::reduceAll(*comm, Teuchos::REDUCE_MIN, mine, Teuchos::outArg(ends[0]));
  Teuchos::reduceAll(*comm, Teuchos::REDUCE_MAX, mine, Teuchos::outArg(ends[1]));
  EXPECT_EQ(ends[0], ends[1]) << "ranks end apart";
}

// A constraint row without a diagonal; the first rank waits elsewhere. What the deck asks is asked by regression/field.
TEST_P(FieldCase, R01) {
  CAPSTAN_NEEDS_FIELD_CASES();
  if (isCg(GetParam())) GTEST_SKIP() << "not symmetric";
  const auto comm = ranks() == 1 ? Tpetra::getDefaultComm() : withoutFirst();
  if (!comm.is_null()) solveOn(comm, GetParam());
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
}  // namespace capstan::testing
