// The multigrid presets keep what they promise: on symmetric positive definite matrices every cycle contracts in the
// A-norm, and one application is symmetric and positive definite.
#include <gtest/gtest.h>

#include <Teuchos_XMLParameterListCoreHelpers.hpp>
#include <Tpetra_Core.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_MultiVector.hpp>
#include <cmath>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "adapters/deck/systems.hpp"
#include "adapters/preconditioners/preconditioner.hpp"
#include "tpetra_ext/compat/trilinos.hpp"

namespace capstan::deck {
namespace {

const std::vector<std::string> presets = {"no_reductions", "pressure_poisson", "momentum", "momentum_pg"};

PreconditionerOptions preset(const std::string& name) {
  PreconditionerOptions options;
  options.name = "muelu";
  options.origin = name;
  options.parameters = *Teuchos::getParametersFromXmlFile(CAPSTAN_PRESETS "/" + name + ".xml");
  return options;
}

double dot(const MultiVector& x, const MultiVector& y) {
  Teuchos::Array<double> result(1);
  x.dot(y, result());
  return result[0];
}

/// What 12 cycles x <- x + M^-1 (b - A x) and some applications of M^-1 to random vectors show.
struct Behaviour {
  double worstFactor = 0.0;  ///< of the error's A-norm, over the cycles
  double reduction = 0.0;    ///< of the residual's norm, by all cycles
  double smallest = 0.0;     ///< (z, M^-1 z) / (z, z), over random z
  double asymmetry = 0.0;    ///< |(u, M^-1 v) - (v, M^-1 u)| / sqrt((u, M^-1 u) (v, M^-1 v)), likewise
};

Behaviour examine(const Matrix& A, const Operator& M) {
  const auto map = A.getDomainMap();
  MultiVector solution(map, 1), error(map, 1), b(map, 1), r(map, 1), x(map, 1), z(map, 1);
  fillRandom(solution, 1);
  A.apply(solution, b);
  Behaviour found;
  double before = dot(solution, b);
  for (int cycle = 0; cycle < 12; ++cycle) {
    Tpetra::deep_copy(r, b);
    A.apply(x, r, Teuchos::NO_TRANS, -1.0, 1.0);
    M.apply(r, z);
    x.update(1.0, z, 1.0);
    error.update(1.0, solution, -1.0, x, 0.0);
    A.apply(error, z);
    const double now = dot(error, z);
    // An error that is gone to rounding does not contract any more.
    if (std::abs(now) > 1e-24 * std::abs(dot(solution, b)))
      found.worstFactor = std::max(found.worstFactor, std::sqrt(now / before));
    before = now;
  }
  found.reduction = std::sqrt(dot(z, z) / dot(b, b));
  found.smallest = HUGE_VAL;
  MultiVector u(map, 1), v(map, 1), Mu(map, 1), Mv(map, 1);
  for (int seed = 2; seed < 12; seed += 2) {
    fillRandom(u, seed);
    fillRandom(v, seed + 1);
    M.apply(u, Mu);
    M.apply(v, Mv);
    const double uu = dot(u, Mu), vv = dot(v, Mv);
    found.smallest = std::min({found.smallest, uu / dot(u, u), vv / dot(v, v)});
    found.asymmetry = std::max(found.asymmetry, std::abs(dot(u, Mv) - dot(v, Mu)) / std::sqrt(std::abs(uu * vv)));
  }
  return found;
}

Behaviour examine(const std::string& name, const Teuchos::RCP<Matrix>& A) {
  Preconditioner preconditioner(preset(name));
  preconditioner.update(A);
  return examine(*A, *preconditioner.op());
}

/// `asymmetry`: what the preset's M may have on this matrix.
void expectSound(const std::string& name, const Teuchos::RCP<Matrix>& A, double asymmetry) {
  const Behaviour found = examine(name, A);
  EXPECT_LT(found.worstFactor, 1.0);
  EXPECT_GT(found.worstFactor, 0.0) << "nothing was measured";
  EXPECT_LT(found.reduction, 0.5);
  EXPECT_GT(found.smallest, 0.0);
  EXPECT_LT(found.asymmetry, asymmetry);
}

/// Petrov-Galerkin's restrictor is not the transpose of its prolongator: little asymmetry is its nature.
double asymmetryOf(const std::string& preset) { return preset == "momentum_pg" ? 1e-2 : 1e-10; }

Teuchos::RCP<Matrix> generated(const std::string& problem, std::vector<int> cells,
                               std::vector<double> stretching = {}) {
  GeneratorOptions options;
  options.problem = problem;
  options.cells = std::move(cells);
  options.stretching = std::move(stretching);
  return buildMatrix(withDefaults(options), Tpetra::getDefaultComm());
}

/// Adds `mass` to the diagonal but for a corner of size^d cells: an implicit time step whose mesh is fine in one place.
/// Few rows there have large eigenvalues of D^-1 A, which an estimate from random vectors misses.
Teuchos::RCP<Matrix> finePatch(const std::vector<int>& cells, double mass, int size) {
  const auto A = generated(cells.size() == 2 ? "laplace2d" : "laplace3d", cells);
  const auto map = A->getRowMap();
  A->resumeFill();
  for (std::size_t local = 0; local < compat::localNumRows(*A); ++local) {
    const auto row = map->getGlobalElement(static_cast<int>(local));
    bool fine = true;
    auto rest = row;
    for (const int n : cells) {
      const auto at = rest % n;
      fine = fine && at >= 3 && at < 3 + size;
      rest /= n;
    }
    if (!fine) A->sumIntoGlobalValues(row, Teuchos::tuple(row), Teuchos::tuple(mass));
  }
  A->fillComplete();
  return A;
}

TEST(Presets, ContractOnLaplacians) {
  for (const auto& name : presets) {
    for (const auto& cells : {std::vector<int>{60, 60}, std::vector<int>{16, 16, 16}, std::vector<int>{5, 5}}) {
      SCOPED_TRACE(name + " in " + std::to_string(cells.size()) + "D");
      expectSound(name, generated(cells.size() == 2 ? "laplace2d" : "laplace3d", cells), asymmetryOf(name));
    }
  }
}

TEST(Presets, ContractOnAnisotropicAndStretchedMeshes) {
  for (const auto& name : presets) {
    SCOPED_TRACE(name);
    {
      SCOPED_TRACE("coefficients 1 : 100");
      GeneratorOptions options;
      options.problem = "anisotropic2d";
      options.cells = {60, 60};
      options.epsilon = 0.01;
      expectSound(name, buildMatrix(withDefaults(options), Tpetra::getDefaultComm()), asymmetryOf(name));
    }
    for (const auto& ratios : {std::vector<double>{1.3, 1.0, 1.0}, std::vector<double>{1.2, 1.2, 1.2}}) {
      SCOPED_TRACE("stretched by " + std::to_string(ratios[0]) + ", " + std::to_string(ratios[1]));
      // Cells up to more than 100 times as long as wide.
      expectSound(name, generated("stretched_poisson3d", {40, 16, 16}, ratios), asymmetryOf(name));
    }
  }
}

TEST(Presets, ContractWhereFewRowsHaveTheLargeEigenvalues) {
  for (const auto& name : presets) {
    SCOPED_TRACE(name);
    expectSound(name, finePatch({120, 120}, 9.0, 8), asymmetryOf(name));
    expectSound(name, finePatch({200, 200}, 9.0, 10), asymmetryOf(name));
    expectSound(name, finePatch({40, 40, 40}, 9.0, 8), asymmetryOf(name));
  }
}

/// Rows whose couplings all fall below the tolerance for dropping: MueLu's prolongator smoothing then has no rows left,
/// and an eigenvalue estimated from them is NaN.
TEST(Presets, ContractWhereRowsAreHardlyCoupled) {
  for (const auto& name : presets) {
    for (const double mass : {45.0, 60.0, 1000.0}) {
      for (const int size : {0, 20}) {  // of the corner that is coupled
        SCOPED_TRACE(name + ", mass " + std::to_string(mass) + ", corner " + std::to_string(size));
        expectSound(name, finePatch({60, 60}, mass, size), asymmetryOf(name));
      }
    }
  }
}

TEST(Presets, ContractOnNegativeDefiniteMatrices) {
  for (const auto& name : presets) {
    for (const auto& A :
         {generated("laplace2d", {40, 40}), finePatch({40, 40}, 60.0, 0), finePatch({40, 40}, 1000.0, 20)}) {
      SCOPED_TRACE(name);
      A->resumeFill();
      A->scale(-1.0);
      A->fillComplete();
      const Behaviour found = examine(name, A);
      EXPECT_LT(found.worstFactor, 1.0);
      EXPECT_GT(found.worstFactor, 0.0);
      EXPECT_LT(found.reduction, 0.5);
    }
  }
}

/// The bounds' signs follow the matrix, those of the prolongator too: with the wrong ones 12 cycles reduce the residual
/// to 3e-4 instead of 4e-7.
TEST(Presets, SpeedDoesNotDependOnTheSign) {
  for (const auto& name : presets) {
    SCOPED_TRACE(name);
    const auto A = generated("laplace2d", {60, 60});
    const double positive = examine(name, A).reduction;
    A->resumeFill();
    A->scale(-1.0);
    A->fillComplete();
    const double negative = examine(name, A).reduction;
    EXPECT_LT(negative, 10 * positive);
    EXPECT_GT(negative, 0.0);
  }
}

/// With MueLu's own reuse the smoothers' bounds must follow the values too.
TEST(Presets, ContractAfterRenewalWithNewValues) {
  for (const auto& name : presets) {
    for (const char* type : {"none", "S", "tP", "RP"}) {
      SCOPED_TRACE(name + ", reuse " + type);
      const auto A = generated("laplace2d", {40, 40});
      PreconditionerOptions options = preset(name);
      options.parameters.set("reuse: type", type);
      options.recompute = false;
      options.reuse = true;
      Preconditioner preconditioner(options);
      preconditioner.update(A);
      A->resumeFill();
      A->scale(4.0);
      A->fillComplete();
      preconditioner.update(A);
      EXPECT_EQ(preconditioner.renewals() + preconditioner.builds(), 2);
      const Behaviour found = examine(*A, *preconditioner.op());
      EXPECT_LT(found.worstFactor, 1.0);
      EXPECT_LT(found.reduction, 0.5);
    }
  }
}

TEST(Presets, ContractOnRealMatrices) {
  const std::filesystem::path folder = CAPSTAN_SHARED_MATRICES;
  if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << "no folder " << folder << " with matrices";
  for (const char* matrix : {"1138_bus", "bodyy5", "Dubcova1", "FEM_3D_thermal1", "shallow_water1", "wathen100"}) {
    const auto A = readMatrix((folder / (std::string(matrix) + ".mtx.gz")).string(), Tpetra::getDefaultComm());
    for (const auto& name : presets) {
      SCOPED_TRACE(name + " on " + matrix);
      expectSound(name, A, asymmetryOf(name));
    }
  }
}

/// Those that multigrid is not made for (elasticity, optimisation): slowly, but every cycle contracts there too.
TEST(Presets, AreSoundOnEverySymmetricMatrix) {
  const std::filesystem::path folder = CAPSTAN_SHARED_MATRICES;
  if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << "no folder " << folder << " with matrices";
  for (const char* matrix : {"Trefethen_20000", "bcsstk18", "nasa4704", "nos7"}) {
    const auto A = readMatrix((folder / (std::string(matrix) + ".mtx.gz")).string(), Tpetra::getDefaultComm());
    for (const auto& name : presets) {
      SCOPED_TRACE(name + " on " + matrix);
      const Behaviour found = examine(name, A);
      EXPECT_LT(found.worstFactor, 1.0 + 1e-12);
      EXPECT_GT(found.smallest, 0.0);
      EXPECT_LT(found.asymmetry, asymmetryOf(name));
    }
  }
}

/// Symmetric but for the row that fixes the pressure, and singular with constants as its kernel.
TEST(Presets, ContractOnPressureMatrices) {
  const std::filesystem::path folder = CAPSTAN_SHARED_MATRICES;
  if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << "no folder " << folder << " with matrices";
  for (const char* matrix : {"cavity-pc-64x64-i10", "cavity-pc-128x128-i10", "nalu_cavity_pressure"}) {
    const auto A = readMatrix((folder / (std::string(matrix) + ".mtx.gz")).string(), Tpetra::getDefaultComm());
    for (const auto& name : presets) {
      SCOPED_TRACE(name + " on " + matrix);
      expectSound(name, A, 0.1);
    }
  }
}

}  // namespace
}  // namespace capstan::deck
