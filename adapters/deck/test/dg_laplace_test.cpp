#include "adapters/deck/dg_laplace.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "adapters/deck/dg_mesh.hpp"

namespace capstan::deck {
namespace {

constexpr DgNumbering numberings[] = {DgNumbering::Rows, DgNumbering::Nested, DgNumbering::Appended};

std::vector<DgMesh> smallMeshes() {
  std::vector<DgMesh> meshes = {DgMesh::square(1, 1, DgNumbering::Rows), DgMesh::square(3, 2, DgNumbering::Rows),
                                DgMesh::star(3, DgNumbering::Rows)};
  for (const auto numbering : numberings) {
    meshes.push_back(DgMesh::square(4, 4, numbering));
    for (const int cells : {1, 2, 4}) meshes.push_back(DgMesh::star(cells, numbering));
  }
  return meshes;
}

using Dense = std::vector<std::vector<double>>;

Dense denseOf(const GeneratedMatrix& matrix) {
  const auto rows = static_cast<std::size_t>(matrix.rows);
  Dense dense(rows, std::vector<double>(rows, 0.0));
  for (std::size_t i = 0; i < rows; ++i) {
    MatrixRow row;
    matrix.row(static_cast<long long>(i), row);
    EXPECT_EQ(row.columns.size(), row.values.size());
    EXPECT_LE(row.columns.size(), static_cast<std::size_t>(matrix.entriesInRow));
    for (std::size_t k = 0; k < row.columns.size(); ++k) {
      dense[i][static_cast<std::size_t>(row.columns[k])] += row.values[k];
    }
  }
  return dense;
}

/// Whether Cholesky's factorisation runs to the end.
bool positiveDefinite(Dense a) {
  for (std::size_t k = 0; k < a.size(); ++k) {
    for (std::size_t j = 0; j < k; ++j) a[k][k] -= a[k][j] * a[k][j];
    if (!(a[k][k] > 0.0)) return false;
    a[k][k] = std::sqrt(a[k][k]);
    for (std::size_t i = k + 1; i < a.size(); ++i) {
      for (std::size_t j = 0; j < k; ++j) a[i][k] -= a[i][j] * a[k][j];
      a[i][k] /= a[k][k];
    }
  }
  return true;
}

TEST(DgMesh, NumbersEveryPlaceOnce) {
  for (const DgMesh& mesh : smallMeshes()) {
    std::set<std::vector<int>> places;
    for (long long element = 0; element < mesh.elements(); ++element) {
      const DgPlace place = mesh.placeOf(element);
      EXPECT_EQ(mesh.elementAt(place), element);
      EXPECT_TRUE(place.column >= 0 && place.column < mesh.columns() && place.row >= 0 && place.row < mesh.rows());
      places.insert({place.patch, place.row, place.column});
    }
    EXPECT_EQ(static_cast<long long>(places.size()), mesh.elements());
  }
}

TEST(DgMesh, NeighboursAgreeAndAreAsManyAsSaid) {
  for (const DgMesh& mesh : smallMeshes()) {
    std::map<std::pair<long long, int>, std::pair<long long, int>> shared;
    for (long long element = 0; element < mesh.elements(); ++element) {
      mesh.forNeighbours(element, [&](DgSide side, const DgNeighbour& neighbour) {
        EXPECT_NE(neighbour.element, element);
        shared[{element, static_cast<int>(side)}] = {neighbour.element, static_cast<int>(neighbour.side)};
      });
    }
    for (const auto& [here, there] : shared) EXPECT_EQ(shared.at(there), here);
    EXPECT_EQ(static_cast<long long>(shared.size()), 2 * mesh.innerSides());
  }
}

TEST(DgMesh, AppendedNumbersAreThoseOfMfemsStar) {
  // star.mesh of MFEM: elements 0..4 touch the origin, and each one's parts 1, 2, 3 follow: 5, 6, 7 for the first.
  const DgMesh mesh = DgMesh::star(2, DgNumbering::Appended);
  EXPECT_EQ(mesh.elements(), 20);
  EXPECT_EQ(mesh.innerSides(), 30);  // 4 * 20 sides, 20 of them on the boundary
  EXPECT_EQ(mesh.elementAt({0, 1, 0}), 5);
  EXPECT_EQ(mesh.elementAt({0, 1, 1}), 6);
  EXPECT_EQ(mesh.elementAt({0, 0, 1}), 7);
  EXPECT_EQ(mesh.elementAt({4, 0, 1}), 19);
  // One more halving: appended behind all, or nested in the place of their element.
  EXPECT_EQ(DgMesh::star(4, DgNumbering::Appended).elementAt({0, 0, 0}), 0);
  EXPECT_EQ(DgMesh::star(4, DgNumbering::Appended).elementAt({0, 1, 0}), 20);
  EXPECT_EQ(DgMesh::star(4, DgNumbering::Appended).elementAt({0, 2, 0}), 5);
  EXPECT_EQ(DgMesh::star(4, DgNumbering::Nested).elementAt({0, 1, 0}), 1);
  EXPECT_EQ(DgMesh::star(4, DgNumbering::Nested).elementAt({0, 2, 0}), 20);
}

TEST(DgMesh, RefusesWhatIsNoMesh) {
  EXPECT_THROW(DgMesh::square(0, 1, DgNumbering::Rows), std::invalid_argument);
  EXPECT_THROW(DgMesh::square(4, 2, DgNumbering::Nested), std::invalid_argument);
  EXPECT_THROW(DgMesh::star(6, DgNumbering::Appended), std::invalid_argument);
  EXPECT_THROW(dgNumberingNamed("morton"), std::invalid_argument);
  EXPECT_NE(DgMesh::problemOf(true, 2, 4, DgNumbering::Rows).find("allowed: the same number"), std::string::npos);
}

/// An element couples in full with itself and with each one that shares a side.
long long entriesOf(const DgMesh& mesh, int degree) {
  const long long unknowns = dgUnknownsOfElement(degree);
  return unknowns * unknowns * (mesh.elements() + 2 * mesh.innerSides());
}

TEST(DgLaplace, HasRowsAndEntriesOfThePapersExample) {
  // [enlarged-cg], Example 2.1: 1,310,720 rows and 104,529,920 entries.
  const DgMesh mesh = DgMesh::star(128, DgNumbering::Appended);
  EXPECT_EQ(dgLaplace(mesh, 3).rows, 1310720);
  EXPECT_EQ(entriesOf(mesh, 3), 104529920);
}

TEST(DgLaplace, HasTheEntriesSaid) {
  for (const DgMesh& mesh : smallMeshes()) {
    const auto matrix = dgLaplace(mesh, 2);
    long long entries = 0;
    for (long long i = 0; i < matrix.rows; ++i) {
      MatrixRow row;
      matrix.row(i, row);
      EXPECT_EQ(std::set<long long>(row.columns.begin(), row.columns.end()).size(), row.columns.size());
      entries += static_cast<long long>(row.columns.size());
    }
    EXPECT_EQ(entries, entriesOf(mesh, 2));
    EXPECT_EQ(matrix.rows, mesh.elements() * dgUnknownsOfElement(2));
  }
}

TEST(DgLaplace, IsSymmetricAndPositiveDefinite) {
  for (const int degree : {1, 2, 3, 4}) {
    for (const DgMesh& mesh : smallMeshes()) {
      if (mesh.elements() * dgUnknownsOfElement(degree) > 700) continue;
      SCOPED_TRACE(std::to_string(degree) + (mesh.isStar() ? ", star, " : ", square, ") +
                   std::to_string(mesh.columns()));
      const Dense a = denseOf(dgLaplace(mesh, degree));
      for (std::size_t i = 0; i < a.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) ASSERT_EQ(a[i][j], a[j][i]);
      }
      EXPECT_TRUE(positiveDefinite(a));
    }
  }
}

TEST(DgLaplace, TooSmallAPenaltyIsNotPositiveDefinite) {
  EXPECT_FALSE(positiveDefinite(denseOf(dgLaplace(DgMesh::star(2, DgNumbering::Rows), 3, 0.5))));
}

TEST(DgLaplace, IsTheDifferentialOperatorOnPolynomials) {
  // The method is consistent: for a polynomial u of its degree that vanishes on the boundary, (A u)_i is the integral
  // of -Laplace u times shape function i. On the unit square, u = x (1 - x) y (1 - y) needs degree 2.
  const int n = 3, degree = 2, cells = 2;
  const double root = std::sqrt(0.6);
  const double points[] = {0.5 - 0.5 * root, 0.5, 0.5 + 0.5 * root}, weights[] = {5.0 / 18, 8.0 / 18, 5.0 / 18};
  const Dense a = denseOf(dgLaplace(DgMesh::square(cells, cells, DgNumbering::Rows), degree));
  std::vector<double> u(a.size()), f(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::size_t element = i / (n * n), local = i % (n * n);
    const double x = (static_cast<double>(element % cells) + points[local % n]) / cells;
    const double y = (static_cast<double>(element / cells) + points[local / n]) / cells;
    u[i] = x * (1 - x) * y * (1 - y);
    f[i] = (2 * y * (1 - y) + 2 * x * (1 - x)) * weights[local % n] * weights[local / n] / (cells * cells);
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    double sum = 0.0;
    for (std::size_t j = 0; j < a.size(); ++j) sum += a[i][j] * u[j];
    EXPECT_NEAR(sum, f[i], 1e-13);
  }
}

TEST(DgLaplace, EnergyOfTheStarIsThatOfALinearFunctionInside) {
  // u = x on the star: (A u)_i is zero away from the boundary, since u is harmonic and has no jumps there.
  const DgMesh mesh = DgMesh::star(4, DgNumbering::Nested);
  const auto matrix = dgLaplace(mesh, 1);
  const double point[] = {0.5 - 0.5 / std::sqrt(3.0), 0.5 + 0.5 / std::sqrt(3.0)}, turn = 2.0 * std::acos(-1.0) / 5.0;
  int inside = 0;
  for (long long element = 0; element < mesh.elements(); ++element) {
    int neighbours = 0;
    mesh.forNeighbours(element, [&](DgSide, const DgNeighbour&) { ++neighbours; });
    if (neighbours < 4) continue;
    ++inside;
    for (int local = 0; local < 4; ++local) {
      MatrixRow row;
      matrix.row(4 * element + local, row);
      double sum = 0.0, size = 0.0;
      for (std::size_t k = 0; k < row.columns.size(); ++k) {
        const DgPlace place = mesh.placeOf(row.columns[k] / 4);
        const auto xi = place.column + point[row.columns[k] % 2], eta = place.row + point[row.columns[k] % 4 / 2];
        const double x = xi * std::cos(turn * place.patch) + eta * std::cos(turn * (place.patch + 1));
        sum += row.values[k] * x;
        size += std::abs(row.values[k] * x);
      }
      EXPECT_LE(std::abs(sum), 1e-14 * size);
    }
  }
  EXPECT_EQ(inside, 5 * 9);
}

TEST(DgLaplace, RefusesDegreesAndPenaltiesOutOfRange) {
  const DgMesh mesh = DgMesh::square(2, 2, DgNumbering::Rows);
  for (const int degree : {0, 8}) EXPECT_THROW(dgLaplace(mesh, degree), std::invalid_argument);
  EXPECT_THROW(dgLaplace(mesh, 3, -1.0), std::invalid_argument);
  EXPECT_THROW(dgLaplace(mesh, 3, std::nan("")), std::invalid_argument);
}

}  // namespace
}  // namespace capstan::deck
