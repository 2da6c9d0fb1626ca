// hypre's BoomerAMG by name: builds with CAPSTAN_HYPRE only.
#include "adapters/preconditioners/boomeramg.hpp"

#include <gtest/gtest.h>

#include <Tpetra_Core.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_MultiVector.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "adapters/deck/deck.hpp"
#include "adapters/deck/solve.hpp"
#include "adapters/deck/systems.hpp"
#include "adapters/deck/test/temporary_folder.hpp"
#include "adapters/preconditioners/preconditioner_check.hpp"
#include "tpetra_ext/compat/trilinos.hpp"
#include "tpetra_ext/test/support/counted_mpi.hpp"

namespace capstan::deck {
namespace {

using Global = Map::global_ordinal_type;
using Parameters = Teuchos::ParameterList;
using preconditioning::checkPreconditioner;

int ranks() { return Tpetra::getDefaultComm()->getSize(); }

/// A five-point stencil on n x n cells. \param owner rank of a cell  \param number its global row
/// \param singular Neumann's instead of Dirichlet's boundary: rows sum to zero
Teuchos::RCP<Matrix> grid(int n, const std::function<int(int)>& owner, const std::function<Global(int)>& number,
                          bool singular = false) {
  const auto comm = Tpetra::getDefaultComm();
  std::vector<Global> mine;
  std::vector<int> cells;
  for (int cell = 0; cell < n * n; ++cell) {
    if (owner(cell) != comm->getRank()) continue;
    mine.push_back(number(cell));
    cells.push_back(cell);
  }
  const auto none = Teuchos::OrdinalTraits<Tpetra::global_size_t>::invalid();
  const auto map = Teuchos::rcp(new const Map(none, mine.data(), static_cast<int>(mine.size()), 0, comm));
  const auto A = Teuchos::rcp(new Matrix(map, 5));
  for (const int cell : cells) {
    std::vector<Global> columns;
    const int i = cell / n, j = cell % n;
    for (const auto& [k, l] : {std::pair{i - 1, j}, {i + 1, j}, {i, j - 1}, {i, j + 1}}) {
      if (k >= 0 && k < n && l >= 0 && l < n) columns.push_back(number(k * n + l));
    }
    std::vector<double> values(columns.size(), -1.0);
    columns.push_back(number(cell));
    values.push_back(singular ? static_cast<double>(values.size()) : 4.0);
    A->insertGlobalValues(number(cell), static_cast<int>(columns.size()), values.data(), columns.data());
  }
  A->fillComplete();
  return A;
}

int inBlocks(int cell, int all) { return static_cast<int>(static_cast<long>(cell) * ranks() / all); }

Teuchos::RCP<Matrix> plain(int n, bool singular = false) {
  return grid(
      n, [n](int cell) { return inBlocks(cell, n * n); }, [](int cell) { return Global(cell); }, singular);
}

double dot(const MultiVector& x, const MultiVector& y) {
  double result = 0;
  x.dot(y, Teuchos::ArrayView<double>(&result, 1));
  return result;
}

/// |(u, M v) - (v, M u)| over the root of (u, M u) (v, M v).
double asymmetry(const Operator& M) {
  MultiVector u(M.getDomainMap(), 1), v(M.getDomainMap(), 1), mu(M.getDomainMap(), 1), mv(M.getDomainMap(), 1);
  fillRandom(u, 1);
  fillRandom(v, 2);
  M.apply(u, mu);
  M.apply(v, mv);
  return std::abs(dot(u, mv) - dot(v, mu)) / std::sqrt(std::abs(dot(u, mu) * dot(v, mv)));
}

/// |b - A x| / |b| after so many steps x <- x + M^-1 (b - A x).
double residualAfter(const Matrix& A, const Operator& M, int steps) {
  MultiVector b(A.getRangeMap(), 1), r(A.getRangeMap(), 1), x(A.getDomainMap(), 1), z(A.getDomainMap(), 1);
  fillRandom(x, 1);
  A.apply(x, b);  // of the range, should A be singular
  x.putScalar(0);
  for (int k = 0; k < steps; ++k) {
    Tpetra::deep_copy(r, b);
    A.apply(x, r, Teuchos::NO_TRANS, -1.0, 1.0);
    M.apply(r, z);
    x.update(1.0, z, 1.0);
  }
  Tpetra::deep_copy(r, b);
  A.apply(x, r, Teuchos::NO_TRANS, -1.0, 1.0);
  return std::sqrt(dot(r, r) / dot(b, b));
}

Teuchos::RCP<Operator> boomerAmg(const Teuchos::RCP<const Matrix>& A, const Parameters& own = {}) {
  return preconditioning::makeBoomerAmg(A, own);
}

TEST(BoomerAmg, ContractsAndIsSymmetricWithEverySmootherAndCoarseSolver) {
  const auto A = plain(40);
  for (const char* relaxation :
       {"l1 gauss-seidel", "l1 symmetric gauss-seidel", "symmetric gauss-seidel", "l1 jacobi", "chebyshev"}) {
    for (const char* coarse : {"auto", "direct", "relaxation"}) {
      SCOPED_TRACE(std::string(relaxation) + ", " + coarse);
      Parameters own;
      own.set("Relaxation", relaxation).set("Coarse Solver", coarse);
      const auto M = boomerAmg(A, own);
      EXPECT_LT(asymmetry(*M), 1e-12);
      EXPECT_LT(residualAfter(*A, *M, 10), 1e-2);
      const auto check = checkPreconditioner(*A, *M, true);
      EXPECT_EQ(check.whyUnusable(true), "");
      EXPECT_EQ(check.remark(true), "");
    }
  }
}

// hypre then falls back on the smoother of the way down, which is not symmetric by itself.
TEST(BoomerAmg, IsSymmetricWhereTheCoarsestLevelIsTooLargeForADirectSolution) {
  const auto A = plain(40);
  Parameters own;
  own.set("Maximum Levels", 2).set("Coarse Solver", "direct").set("Relaxation", "l1 gauss-seidel");
  EXPECT_LT(asymmetry(*boomerAmg(A, own)), 1e-12);
}

TEST(BoomerAmg, TakesEveryCoarseningAndInterpolation) {
  const auto A = plain(30);
  for (const char* coarsening : {"hmis", "pmis", "falgout"}) {
    for (const char* interpolation : {"extended+i", "extended", "classical", "direct"}) {
      SCOPED_TRACE(std::string(coarsening) + ", " + interpolation);
      Parameters own;
      own.set("Coarsening", coarsening).set("Interpolation", interpolation).set("Strong Threshold", 0.3);
      EXPECT_LT(residualAfter(*A, *boomerAmg(A, own), 20), 0.1);
    }
  }
  Parameters aggressive;
  aggressive.set("Aggressive Levels", 1).set("Sweeps", 2).set("Truncation", 0.1).set("Interpolation Entries", 6);
  EXPECT_LT(residualAfter(*A, *boomerAmg(A, aggressive), 20), 0.1);
}

TEST(BoomerAmg, TakesRanksWithoutRowsAndNumbersWithGaps) {
  const int n = 24, all = n * n;
  const auto number = [](int cell) { return Global(cell); };
  const auto gaps = [all](int cell) { return Global(7) * (all - cell) + 1000; };
  const auto cyclic = [](int cell) { return cell % ranks(); };
  const auto reference = residualAfter(*plain(n), *boomerAmg(plain(n)), 5);
  const std::pair<const char*, Teuchos::RCP<Matrix>> cases[] = {
      {"all on rank 0", grid(
                            n, [](int) { return 0; }, number)},
      {"all on the last rank", grid(
                                   n, [](int) { return ranks() - 1; }, number)},
      {"every other rank", grid(
                               n, [all](int cell) { return inBlocks(cell, all) / 2 * 2; }, number)},
      {"gaps", grid(
                   n, [all](int cell) { return inBlocks(cell, all); }, gaps)},
      {"gaps, dealt out", grid(n, cyclic, gaps)}};
  for (const auto& [name, A] : cases) {
    SCOPED_TRACE(name);
    const auto M = boomerAmg(A);
    EXPECT_LT(asymmetry(*M), 1e-12);
    EXPECT_LT(residualAfter(*A, *M, 5), 1e-2);
  }
  EXPECT_LT(reference, 1e-2);
}

TEST(BoomerAmg, AppliesToColumnsOneByOneAndInPlace) {
  const auto A = plain(16);
  const auto M = boomerAmg(A);
  MultiVector x(A->getDomainMap(), 4), y(A->getDomainMap(), 4), z(A->getDomainMap(), 4);
  fillRandom(x, 1);
  fillRandom(y, 2);
  Tpetra::deep_copy(z, y);
  M->apply(x, y, Teuchos::NO_TRANS, 2.0, 3.0);
  MultiVector one(A->getDomainMap(), 1);
  for (std::size_t j = 0; j < 4; ++j) {
    M->apply(*x.getVector(j), one);
    auto expected = z.getVectorNonConst(j);
    expected->update(2.0, one, 3.0);
    expected->update(-1.0, *y.getVector(j), 1.0);
    EXPECT_LT(expected->normInf(), 1e-13);
    auto inPlace = x.getVectorNonConst(j);
    M->apply(*inPlace, *inPlace);
    inPlace->update(-1.0, one, 1.0);
    EXPECT_EQ(inPlace->normInf(), 0.0);
  }
  // Columns that do not lie one behind another at one distance.
  MultiVector wide(A->getDomainMap(), 4), image(A->getDomainMap(), 2);
  fillRandom(wide, 3);
  const auto some = wide.subView(Teuchos::tuple<std::size_t>(3, 0)());
  M->apply(*some, image);
  M->apply(*wide.getVector(0), one);
  one.update(-1.0, *image.getVector(1), 1.0);
  EXPECT_EQ(one.getVector(0)->normInf(), 0.0);
  EXPECT_THROW(M->apply(x, image), std::invalid_argument);
  EXPECT_THROW(M->apply(x, y, Teuchos::TRANS), std::invalid_argument);
}

// Only its coarsest matrix is singular: a direct solution would divide by rounding.
TEST(BoomerAmg, SmoothsOnTheCoarsestLevelOfASingularMatrix) {
  const auto A = plain(32, true);
  const auto M = boomerAmg(A);
  EXPECT_LT(asymmetry(*M), 1e-10);
  EXPECT_LT(residualAfter(*A, *M, 12), 1e-2);
  MultiVector x(A->getDomainMap(), 1), y(A->getRangeMap(), 1);
  fillRandom(x, 1);
  capstan::test::resetMpiCalls();
  M->apply(x, y);
  EXPECT_EQ(capstan::test::mpiCalls().allreduce, 0);
  EXPECT_EQ(capstan::test::mpiCalls().otherCollectives, 0);
}

TEST(BoomerAmg, IsAsDefiniteAsTheMatrix) {
  const auto A = plain(20);
  A->resumeFill();
  A->scale(-2);
  A->fillComplete();
  const auto M = boomerAmg(A);
  MultiVector u(A->getRowMap(), 1), z(A->getRowMap(), 1);
  fillRandom(u, 3);
  M->apply(u, z);
  EXPECT_LT(dot(u, z), 0);
  EXPECT_LT(residualAfter(*A, *M, 10), 1e-2);
}

TEST(BoomerAmg, NeedsNoCoarseLevel) {
  for (const int n : {1, 2, 3}) {
    const auto A = plain(n);
    EXPECT_LT(residualAfter(*A, *boomerAmg(A), 10), 1e-2) << n;
  }
  const auto map = Teuchos::rcp(new const Map(50, 0, Tpetra::getDefaultComm()));
  const auto diagonal = Teuchos::rcp(new Matrix(map, 1));
  for (int i = 0; i < static_cast<int>(compat::localNumElements(*map)); ++i) {
    const Global row = map->getGlobalElement(i);
    const double value = 1.0 + static_cast<double>(row);
    diagonal->insertGlobalValues(row, 1, &value, &row);
  }
  diagonal->fillComplete();
  EXPECT_LT(residualAfter(*diagonal, *boomerAmg(diagonal), 2), 1e-12);
}

/// Why A is refused, the same text on all ranks.
std::string refusal(const Teuchos::RCP<Matrix>& A) {
  PreconditionerOptions options;
  options.name = "boomeramg";
  Preconditioner M(options);
  try {
    M.update(A);
  } catch (const PreconditionerError& error) {
    return error.what();
  }
  return "";
}

void replace(Matrix& A, Global row, Global column, double value) {
  A.resumeFill();
  if (A.getRowMap()->isNodeGlobalElement(row)) A.replaceGlobalValues(row, 1, &value, &column);
  A.fillComplete();
}

TEST(BoomerAmg, RefusesWhatHypreCannotTake) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const auto A = plain(8);
    replace(*A, 63, 62, bad);
    EXPECT_NE(refusal(A).find("row 63 of the matrix has a number that is not finite"), std::string::npos) << refusal(A);
  }
  const auto zero = plain(8);
  replace(*zero, 5, 5, 0.0);
  EXPECT_NE(refusal(zero).find("row 5 of the matrix has no diagonal entry, or zero there"), std::string::npos);
  const auto map = Teuchos::rcp(new const Map(6, 0, Tpetra::getDefaultComm()));
  const auto gone = Teuchos::rcp(new Matrix(map, 2));
  for (int i = 0; i < static_cast<int>(compat::localNumElements(*map)); ++i) {
    const Global row = map->getGlobalElement(i), other = row == 3 ? 4 : row;
    const double value = 1.0;
    gone->insertGlobalValues(row, 1, &value, &other);
  }
  gone->fillComplete();
  EXPECT_NE(refusal(gone).find("row 3 of the matrix has no diagonal entry"), std::string::npos) << refusal(gone);
  EXPECT_EQ(refusal(plain(8)), "") << "and hypre works on";
}

std::string problemOf(const Parameters& own) {
  PreconditionerOptions options;
  options.name = "boomeramg";
  options.parameters = own;
  const auto problem = validatePreconditioner(options, Tpetra::getDefaultComm());
  return problem ? problem->parameter + ": " + problem->message : "";
}

TEST(BoomerAmg, NamesWrongParameters) {
  Parameters own;
  own.set("strong_threshold", 0.5).set("COARSENING", "PMIS").set("relaxation", "L1_Jacobi").set("Truncation", 0);
  EXPECT_EQ(problemOf(own), "");
  const auto with = [](const std::string& name, auto value) {
    Parameters list;
    list.set(name, value);
    return problemOf(list);
  };
  EXPECT_NE(with("Strong Treshold", 0.5).find("unknown parameter 'Strong Treshold'; allowed: Strong Threshold, "),
            std::string::npos);
  EXPECT_NE(with("Strong Treshold", 0.5).find("did you mean \"Strong Threshold\"?"), std::string::npos);
  EXPECT_EQ(with("Strong Threshold", 2.0), "Strong Threshold: found '2'; allowed: a number, 0 to 1");
  EXPECT_EQ(with("Sweeps", 1.5), "Sweeps: found '1.5'; allowed: a whole number, 1 to 100");
  EXPECT_EQ(with("Coarsening", std::string("hmi")),
            "Coarsening: found 'hmi'; allowed: hmis, pmis, falgout; did you mean \"hmis\"?");
  EXPECT_EQ(with("Coarse Solver", true), "Coarse Solver: found 'true'; allowed: auto, direct, relaxation");
}

class BoomerAmgDeck : public testing::Test {
 protected:
  std::vector<SolveRecord> solve(const std::string& text) {
    const auto comm = Tpetra::getDefaultComm();
    return runDeck(loadDeck({folder_.file("deck.yaml", text), {}, ""}, comm), comm, {});
  }
  test::TemporaryFolder folder_;
};

TEST_F(BoomerAmgDeck, EveryMethodSolvesWithIt) {
  std::string text = "linear_solvers:\n";
  for (const char* method : {"BLOCK CG", "capstan_cg", "capstan_pipelined_cg", "capstan_ecg", "BLOCK GMRES",
                             "capstan_gmres", "capstan_sstep_gmres", "capstan_pipelined_gmres", "capstan_bicgstab"}) {
    text += std::string("  - {name: ") + method + ", method: " + method +
            ", preconditioner: boomeramg, preconditioner_parameters: {Strong Threshold: 0.5}, tolerance: 1e-8, "
            "max_iterations: 40}\n";
  }
  text += "systems:\n  - {name: cube, solvers: all, generate: {problem: laplace3d, cells: 12}}\n";
  for (const auto& record : solve(text)) {
    EXPECT_EQ(record.failure, "") << record.solver;
    EXPECT_TRUE(record.converged) << record.solver;
    EXPECT_LT(record.iterations, 20) << record.solver;
  }
}

TEST_F(BoomerAmgDeck, IsBuiltAnewForEachMatrixOfASequence) {
  const auto records = solve(
      "linear_solvers:\n  - {name: a, method: capstan_cg, preconditioner: boomeramg, tolerance: 1e-8, "
      "max_iterations: 40}\nsystems:\n  - {name: cube, generate: {problem: laplace3d, cells: 8}, "
      "sequence: {steps: 3}}\n");
  ASSERT_EQ(records.size(), 3U);
  for (const auto& record : records) EXPECT_TRUE(record.converged);
}

TEST_F(BoomerAmgDeck, RefusesParametersWithTheirPlace) {
  try {
    solve(
        "linear_solvers:\n  - {name: a, method: gmres, preconditioner: boomeramg, preconditioner_parameters: {Sweps: "
        "1}}"
        "\nsystems:\n  - {name: cube, generate: {problem: laplace3d, cells: 8}}\n");
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("linear_solvers[0].preconditioner_parameters.Sweps: unknown parameter"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace capstan::deck
