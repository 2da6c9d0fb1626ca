// Capstan inside MueLu: the solver of the coarsest level, which Belos' factory makes by name ("coarse: type"), kept as
// long as the hierarchy and asked for a small solve in every cycle of an outer, flexible solver. Belos' own are asked
// for the same.
#include <gtest/gtest.h>

#include <BelosLinearProblem.hpp>
#include <BelosSolverFactory.hpp>
#include <BelosTpetraAdapter.hpp>
#include <Teuchos_CommHelpers.hpp>
#include <Teuchos_XMLParameterListCoreHelpers.hpp>
#include <Tpetra_Core.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_MultiVector.hpp>
#include <iostream>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "adapters/deck/systems.hpp"
#include "adapters/preconditioners/preconditioner.hpp"
#include "belos_ext/parameters/method_traits.hpp"
#include "tpetra_ext/test/support/counted_mpi.hpp"

namespace capstan::deck {
namespace {

using Problem = Belos::LinearProblem<double, MultiVector, Operator>;
using Manager = Belos::SolverManager<double, MultiVector, Operator>;

Teuchos::RCP<Matrix> laplace(int cells) {
  GeneratorOptions options;
  options.problem = "laplace3d";
  options.cells = {cells, cells, cells};
  return buildMatrix(options, Tpetra::getDefaultComm());
}

/// MueLu whose only reductions are those of the solver of the coarsest level.
PreconditionerOptions coarse(const std::string& solver, const Teuchos::ParameterList& parameters, int rows = 200) {
  PreconditionerOptions options;
  options.name = "muelu";
  options.origin = "no_reductions";
  options.parameters = *Teuchos::getParametersFromXmlFile(CAPSTAN_PRESETS "/no_reductions.xml");
  Teuchos::ParameterList own;
  own.set("coarse: type", solver);
  own.set("coarse: max size", rows);
  own.sublist("coarse: params") = parameters;
  overrideParameters(options.parameters, own);
  return options;
}

/// As GAMG and MueLu users set coarse solves.
Teuchos::ParameterList loosely() {
  Teuchos::ParameterList list;
  list.set("Convergence Tolerance", 0.01);
  list.set("Maximum Iterations", 100);
  return list;
}

/// A number of iterations that no tolerance ends.
Teuchos::ParameterList exactly(int iterations) {
  Teuchos::ParameterList list;
  list.set("Convergence Tolerance", 1e-14);
  list.set("Maximum Iterations", iterations);
  return list;
}

/// M^-1, and what its applications take: calls, and all-reduces as MPI counts them.
class Watched final : public Operator {
 public:
  explicit Watched(Teuchos::RCP<const Operator> op) : op_(std::move(op)) {}
  Teuchos::RCP<const Map> getDomainMap() const override { return op_->getDomainMap(); }
  Teuchos::RCP<const Map> getRangeMap() const override { return op_->getRangeMap(); }
  void apply(const MultiVector& x, MultiVector& y, Teuchos::ETransp mode, double alpha, double beta) const override {
    const long before = reductions();
    op_->apply(x, y, mode, alpha, beta);
    reductions_.push_back(reductions() - before);
  }
  const std::vector<long>& reductionsOfEach() const { return reductions_; }

 private:
  static long reductions() {
    const auto& calls = capstan::test::mpiCalls();
    return calls.allreduce + calls.iallreduce + calls.otherCollectives;
  }
  Teuchos::RCP<const Operator> op_;
  mutable std::vector<long> reductions_;
};

struct Outer {
  bool converged = false;
  int iterations = 0;
  double residual = 0.0;
};

Outer solveOutside(const std::string& method, const Teuchos::RCP<Matrix>& A, const Teuchos::RCP<const Operator>& M) {
  auto b = Teuchos::rcp(new MultiVector(A->getRangeMap(), 1)), x = Teuchos::rcp(new MultiVector(A->getDomainMap(), 1));
  fillRandom(*b, 1);
  auto list = Teuchos::parameterList();
  list->set("Flexible Gmres", true);
  list->set("Convergence Tolerance", 1e-8);
  list->set("Maximum Iterations", 60);
  list->set("Num Blocks", 60);
  const auto problem = Teuchos::rcp(new Problem(A, x, b));
  problem->setRightPrec(M);
  problem->setProblem();
  const auto manager = Belos::SolverFactory<double, MultiVector, Operator>().create(method, list);
  manager->setProblem(problem);
  Outer outer;
  outer.converged = manager->solve() == Belos::Converged;
  outer.iterations = manager->getNumIters();
  Teuchos::Array<double> norms(2);
  b->norm2(norms(0, 1));
  A->apply(*x, *b, Teuchos::NO_TRANS, -1.0, 1.0);
  b->norm2(norms(1, 1));
  outer.residual = norms[1] / norms[0];
  return outer;
}

/// What goes to a stream while it lives.
class Captured {
 public:
  explicit Captured(std::ostream& stream) : stream_(stream), before_(stream.rdbuf(text_.rdbuf())) {}
  ~Captured() { stream_.rdbuf(before_); }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::ostream& stream_;
  std::streambuf* before_;
};

class CoarseSolver : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Names, CoarseSolver,
                         ::testing::Values("BLOCK CG", "PSEUDOBLOCK CG", "TPETRA CG", "BLOCK GMRES", "CAPSTAN CG",
                                           "CAPSTAN CG PIPELINE", "CAPSTAN CG ENLARGED", "CAPSTAN CG EMBEDDED",
                                           "CAPSTAN GMRES", "CAPSTAN GMRES S-STEP", "CAPSTAN GMRES PIPELINE",
                                           "CAPSTAN GMRES S-STEP PIPELINE", "CAPSTAN BICGSTAB",
                                           "CAPSTAN BICGSTAB PIPELINE"),
                         [](const auto& name) {
                           std::string word = name.param;
                           for (char& c : word) c = c == ' ' || c == '-' ? '_' : c;
                           return word;
                         });

TEST_P(CoarseSolver, ServesAnOuterFlexibleSolver) {
  const auto A = laplace(14);
  for (const auto& parameters : {loosely(), exactly(4)}) {
    for (const char* outer : {"BLOCK GMRES", "CAPSTAN GMRES"}) {
      SCOPED_TRACE(outer);
      Preconditioner preconditioner(coarse(GetParam(), parameters));
      preconditioner.update(A);
      EXPECT_EQ(preconditioner.warning(), "");
      const auto M = Teuchos::rcp(new Watched(preconditioner.op()));
      const Outer found = solveOutside(outer, A, M);
      EXPECT_TRUE(found.converged);
      EXPECT_LT(found.residual, 1.01e-8);
      EXPECT_LE(found.iterations, 16);
      EXPECT_GE(M->reductionsOfEach().size(), static_cast<std::size_t>(found.iterations));
    }
  }
}

/// With the fine matrix for the coarsest level, both solves are of one system, and one is inside the other.
TEST_P(CoarseSolver, SolvesTheMatrixOfTheOuterSolver) {
  const auto A = laplace(8);
  for (const char* outer : {"BLOCK GMRES", "CAPSTAN GMRES", "CAPSTAN GMRES S-STEP"}) {
    SCOPED_TRACE(outer);
    Preconditioner preconditioner(coarse(GetParam(), loosely(), 100000));
    preconditioner.update(A);
    const Outer found = solveOutside(outer, A, preconditioner.op());
    EXPECT_TRUE(found.converged);
    EXPECT_LT(found.residual, 1.01e-8);
    // S-step methods compute with M^-1 as if it were linear.
    EXPECT_LE(found.iterations, std::string(outer) == "CAPSTAN GMRES S-STEP" ? 10 : 6);
  }
}

/// On two ranks of three, as MueLu leaves it where it gathers coarse levels: the third takes no part in the solve.
TEST_P(CoarseSolver, SolvesOnSomeOfTheRanks) {
  constexpr int cells = 10;
  const auto A = laplace(cells);
  const auto comm = A->getComm();
  PreconditionerOptions options = coarse(GetParam(), loosely());
  options.parameters.set("repartition: enable", true);
  options.parameters.set("repartition: start level", 1);
  options.parameters.set("repartition: min rows per proc", 60);
  options.parameters.set("repartition: partitioner", "zoltan2");
  options.parameters.sublist("repartition: params").set("algorithm", "rcb");
  const auto coordinates = Teuchos::rcp(new MultiVector(A->getRowMap(), 3));
  for (int axis = 0, stride = 1; axis < 3; ++axis, stride *= cells) {
    const auto values = coordinates->getDataNonConst(static_cast<std::size_t>(axis));
    for (int k = 0; k < values.size(); ++k) {
      values[k] = static_cast<double>(A->getRowMap()->getGlobalElement(k) / stride % cells);
    }
  }
  options.parameters.sublist("user data").set("Coordinates", coordinates);
  Preconditioner preconditioner(options);
  preconditioner.update(A);
  const auto M = Teuchos::rcp(new Watched(preconditioner.op()));
  const Outer found = solveOutside("CAPSTAN GMRES", A, M);
  EXPECT_TRUE(found.converged);
  EXPECT_LT(found.residual, 1.01e-8);
  EXPECT_LE(found.iterations, 16);
  const int reduces = M->reductionsOfEach().back() > 0 ? 1 : 0;
  int reducing = 0;
  Teuchos::reduceAll(*comm, Teuchos::REDUCE_SUM, 1, &reduces, &reducing);
  EXPECT_EQ(reducing, comm->getSize() == 1 ? 0 : 2);
}

/// All-reduces a coarse solve of a solver that is kept, the mean over many, the first ten left out.
double reductionsOf(const std::string& name, const Teuchos::ParameterList& parameters) {
  const auto A = laplace(14);
  Preconditioner preconditioner(coarse(name, parameters));
  preconditioner.update(A);
  const Watched M(preconditioner.op());
  MultiVector x(A->getDomainMap(), 1), y(A->getRangeMap(), 1);
  for (int k = 0; k < 60; ++k) {
    fillRandom(x, k + 1);
    M.apply(x, y, Teuchos::NO_TRANS, 1.0, 0.0);
  }
  const auto& each = M.reductionsOfEach();
  return std::accumulate(each.begin() + 10, each.end(), 0.0) / static_cast<double>(each.size() - 10);
}

TEST(CoarseSolvers, OursReduceLess) {
  if (Tpetra::getDefaultComm()->getSize() == 1) {
    EXPECT_EQ(reductionsOf("CAPSTAN CG", exactly(5)), 0);
    return;
  }
  // Five iterations: two reductions in each and two to begin with, against one in each and one to begin with.
  EXPECT_EQ(reductionsOf("TPETRA CG", exactly(5)), 12);
  EXPECT_EQ(reductionsOf("CAPSTAN CG", exactly(5)), 6);
  EXPECT_LE(reductionsOf("CAPSTAN GMRES S-STEP", exactly(5)), 4);
  const double cg = reductionsOf("CAPSTAN CG", loosely());
  EXPECT_LT(cg, 0.51 * reductionsOf("TPETRA CG", loosely()));
  EXPECT_LT(cg, reductionsOf("TPETRA CG PIPELINE", loosely()));
  EXPECT_LT(reductionsOf("CAPSTAN GMRES S-STEP", loosely()), cg);
}

TEST(CoarseSolvers, OursSayNothingHoweverOften) {
  for (const MethodTraits& method : methods()) {
    SCOPED_TRACE(method.canonical);
    const Captured errors(std::cerr), output(std::cout);
    reductionsOf(method.canonical, exactly(3));
    EXPECT_EQ(errors.text(), "");
    EXPECT_EQ(output.text(), "");
  }
}

}  // namespace
}  // namespace capstan::deck
