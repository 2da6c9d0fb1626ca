// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/openfoam/ordered_matrix.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "adapters/openfoam/test/faces.hpp"

namespace capstan::foam {
namespace {

using OrderedMatrixTest = LevelOrderTest;

template <class Label>
OrderedMatrix take(const Faces<Label>& mesh, double sign) {
  OrderedMatrix matrix;
  const bool symmetric = mesh.below == mesh.above;
  const auto* const upper = symmetric ? mesh.below.data() : mesh.above.data();
  matrix.take(mesh.order(), mesh.diag.data(), mesh.below.data(), upper, sign);
  return matrix;
}

std::vector<double> wave(std::size_t cells) {
  std::vector<double> x(cells);
  for (std::size_t i = 0; i < cells; ++i) x[i] = std::sin(1.0 + 2.3 * static_cast<double>(i));
  return x;
}

std::vector<double> toOrder(const std::vector<int>& place, const std::vector<double>& x) {
  std::vector<double> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) y[static_cast<std::size_t>(place[i])] = x[i];
  return y;
}

std::vector<double> fromOrder(const std::vector<int>& place, const std::vector<double>& y) {
  std::vector<double> x(y.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = y[static_cast<std::size_t>(place[i])];
  return x;
}

void expectNear(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-12) << "cell " << i;
}

// A z for any z, and M (M^{-1} r) = r.
template <class Label>
void expectProductAndFactors(const Faces<Label>& mesh, double sign) {
  const auto matrix = take(mesh, sign);
  const auto& place = matrix.order().places();
  const auto x = wave(mesh.cells);
  std::vector<double> y(mesh.cells), z(mesh.cells);
  matrix.multiply(toOrder(place, x).data(), y.data());
  auto expected = mesh.multiply(x);
  for (double& value : expected) value *= sign;
  expectNear(fromOrder(place, y), expected);
  matrix.solve(toOrder(place, x).data(), z.data());
  auto back = mesh.multiplyFactors(fromOrder(place, z));
  for (double& value : back) value *= sign;
  expectNear(back, x);
}

TEST_F(OrderedMatrixTest, HasTheProductAndTheFactorsOfTheMeshsOrder) {
  for (const bool symmetric : {true, false}) {
    expectProductAndFactors(grid(9, 8, symmetric), 1);
    expectProductAndFactors(tangle(200, symmetric), 1);
  }
}

/// Rows of each kind: one by one, in strips, apart.
std::array<int, 3> rowsByKind(const LevelOrder& order) {
  std::array<int, 3> rows{};
  int next = 0;
  for (const auto& run : order.runs()) {
    EXPECT_EQ(run.first, next);
    next = run.end;
    const int count = run.end - run.first;
    rows[static_cast<std::size_t>(run.kind)] += count;
    if (run.kind != LevelOrder::Kind::Rows) {
      EXPECT_EQ(count % 4, 0);
    }
  }
  EXPECT_EQ(next, static_cast<int>(order.cells()));
  return rows;
}

TEST_F(OrderedMatrixTest, TakesFourRowsAtOnce) {
  const auto mesh = grid(31, 26, false);
  const auto [alone, strips, apart] = rowsByKind(*mesh.order());
  // 56 levels of 1 to 26 cells: what is left of four rows. Strips must not reach out of the level before.
  EXPECT_LE(alone, 3 * 56);
  EXPECT_GT(strips, 31 * 26 / 2);
  EXPECT_GT(apart, 0);
  expectProductAndFactors(mesh, 1);
  expectProductAndFactors(mesh, -1);
}

// Overset meshes have them, and polyhedral ones may.
TEST_F(OrderedMatrixTest, AddsUpFacesBetweenTheSameCells) {
  for (const bool symmetric : {true, false}) {
    expectProductAndFactors(grid(31, 26, symmetric, 50), 1);
    expectProductAndFactors(grid(31, 26, symmetric, 1), 1);
  }
  const auto [alone, strips, apart] = rowsByKind(*grid(31, 26, true, 50).order());
  EXPECT_GT(strips, 31 * 26 / 4) << "other rows stay in strips";
}

TEST_F(OrderedMatrixTest, FillsUpRowsOfDifferentLength) {
  // Cells 0 to 7 need none; 8 to 15 have one, two and three neighbours among them, in turn; cell 16 has none at all.
  Faces<int> mesh;
  mesh.cells = 17;
  for (std::size_t low = 0; low < 8; ++low) {
    for (std::size_t up = 8; up < 16; ++up) {
      if ((3 * up + 5 * low) % 8 <= up % 3) mesh.couple(low, up);
    }
  }
  mesh.fill(false);
  EXPECT_EQ(rowsByKind(*mesh.order()), (std::array{1, 0, 16}));
  expectProductAndFactors(mesh, 1);
  // New values on the same order: what fills rows up stays zero.
  auto matrix = take(mesh, 1);
  matrix.take(std::make_shared<LevelOrder>(matrix.order()), mesh.diag.data(), mesh.below.data(), mesh.above.data(), -1);
  std::vector<double> y(mesh.cells);
  const auto x = wave(mesh.cells);
  matrix.multiply(toOrder(matrix.order().places(), x).data(), y.data());
  auto expected = mesh.multiply(x);
  for (double& value : expected) value *= -1;
  expectNear(fromOrder(matrix.order().places(), y), expected);
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

std::size_t firstRowOf(const LevelOrder& order, std::size_t run) {
  return run < order.runs().size() ? static_cast<std::size_t>(order.runs()[run].first) : order.cells();
}

/// M_L^{-1} A M_R^{-1} and what goes with it, by the parts; `added` by couplings, to each row of the runs from `run`
/// on.
void expectSplit(const OrderedMatrix& matrix, std::vector<double> added, std::size_t run) {
  const std::size_t cells = matrix.order().cells(), first = firstRowOf(matrix.order(), run);
  std::fill_n(added.begin(), first, 0.0);
  const auto v = wave(cells);
  std::vector<double> u(cells), d(cells), image(cells), expected(cells), w(cells), scaled(cells), z(cells), back(cells);
  matrix.solveRight(v.data(), d.data());
  matrix.multiply(d.data(), image.data());
  for (std::size_t i = 0; i < cells; ++i) {
    scaled[i] = matrix.left()[i] * added[i];
    image[i] += added[i];
  }
  matrix.solveLeft(image.data(), expected.data());
  const double* const begun = matrix.beginSplit(v.data(), run);
  for (std::size_t i = first; i < cells; ++i) EXPECT_NEAR(matrix.right()[i] * begun[i], d[i], 1e-12) << "row " << i;
  matrix.goOnSplit(v.data(), w.data(), run);
  matrix.endSplit(v.data(), scaled.data(), w.data(), run);
  expectNear(w, expected);
  matrix.multiplyRight(d.data(), u.data());
  expectNear(u, v);
  matrix.solve(v.data(), z.data());
  matrix.solveLeft(v.data(), image.data());
  matrix.solveRight(image.data(), back.data());
  expectNear(z, back);
  double sum = 0;
  for (const double value : v) sum += std::abs(value);
  EXPECT_NEAR(matrix.absoluteSum(image.data()), sum, 1e-12 * sum);
}

void expectSplit(const OrderedMatrix& matrix, const std::vector<double>& added) {
  const std::size_t runs = matrix.order().runs().size();
  for (const std::size_t run : {std::size_t(0), runs / 3, runs - 1, runs}) {
    SCOPED_TRACE(run);
    expectSplit(matrix, added, run);
  }
}

TEST_F(OrderedMatrixTest, TakesAInBetweenTheHalvesOfItsFactors) {
  for (const bool symmetric : {true, false}) {
    for (const auto& mesh :
         {grid(31, 26, symmetric), grid(9, 8, symmetric), grid(50, 1, symmetric), tangle(200, symmetric)}) {
      SCOPED_TRACE(mesh.cells);
      auto matrix = OrderedMatrix();
      matrix.take(mesh.order(), mesh.diag.data(), mesh.below.data(), (symmetric ? mesh.below : mesh.above).data(), 1);
      expectSplit(matrix, std::vector<double>(mesh.cells, 0));
      expectSplit(matrix, wave(mesh.cells));
    }
  }
}

TEST_F(OrderedMatrixTest, IsSymmetricInBetween) {
  const auto mesh = grid(31, 26);
  auto matrix = OrderedMatrix();
  matrix.take(mesh.order(), mesh.diag.data(), mesh.below.data(), mesh.below.data(), 1);
  const auto v = wave(mesh.cells);
  std::vector<double> y(mesh.cells), image(mesh.cells), other(mesh.cells);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = std::cos(3.0 * static_cast<double>(i));
  const auto product = [&](const std::vector<double>& from, std::vector<double>& to) {
    matrix.beginSplit(from.data(), 0);
    matrix.endSplit(from.data(), nullptr, to.data(), 0);
  };
  product(v, image);
  product(y, other);
  EXPECT_NEAR(dot(y, image), dot(v, other), 1e-10);
}

TEST_F(OrderedMatrixTest, PreconditionsByTheDiagonalWhereThereAreNoFactors) {
  auto mesh = grid(9, 8);
  mesh.diag[20] = 0.01;  // its neighbours take more than that: a negative pivot
  auto matrix = OrderedMatrix();
  matrix.take(mesh.order(), mesh.diag.data(), mesh.below.data(), mesh.below.data(), 1);
  const auto& place = matrix.order().places();
  const auto r = wave(mesh.cells);
  std::vector<double> z(mesh.cells), y(mesh.cells);
  matrix.solve(toOrder(place, r).data(), z.data());
  auto expected = r;
  for (std::size_t cell = 0; cell < mesh.cells; ++cell) expected[cell] /= mesh.diag[cell];
  expectNear(fromOrder(place, z), expected);
  matrix.multiply(toOrder(place, r).data(), y.data());
  expectNear(fromOrder(place, y), mesh.multiply(r));
  expectSplit(matrix, wave(mesh.cells));
  // A pivot of zero, without symmetry.
  auto zero = grid(9, 8, false);
  zero.diag[0] = 0;
  expectSplit(take(zero, 1), wave(zero.cells));
}

TEST_F(OrderedMatrixTest, TakesTheOtherSign) { expectProductAndFactors(grid(9, 8, false), -1); }

TEST_F(OrderedMatrixTest, TakesLabelsOf64Bits) { expectProductAndFactors(grid<std::int64_t>(9, 8), 1); }

TEST_F(OrderedMatrixTest, TakesNewValues) {
  auto mesh = grid(9, 8);
  auto matrix = take(mesh, 1);
  for (double& value : mesh.diag) value *= 3;
  matrix.take(mesh.order(), mesh.diag.data(), mesh.below.data(), mesh.above.data(), 1);
  const auto& place = matrix.order().places();
  const auto x = wave(mesh.cells);
  std::vector<double> y(mesh.cells);
  matrix.multiply(toOrder(place, x).data(), y.data());
  expectNear(fromOrder(place, y), mesh.multiply(x));
}

TEST_F(OrderedMatrixTest, KeepsValuesThatComeAgain) {
  auto mesh = grid(9, 8, false);
  const auto order = mesh.order();
  OrderedMatrix matrix;
  const auto isNew = [&](double sign, bool symmetric, bool comesAgain) {
    const double* const upper = (symmetric ? mesh.below : mesh.above).data();
    return matrix.take(order, mesh.diag.data(), mesh.below.data(), upper, sign, comesAgain);
  };
  const auto x = wave(mesh.cells);
  std::vector<double> first(mesh.cells), again(mesh.cells);
  EXPECT_TRUE(isNew(1, false, true));
  matrix.solve(x.data(), first.data());
  EXPECT_FALSE(isNew(1, false, true));
  EXPECT_FALSE(isNew(1, false, false));
  matrix.solve(x.data(), again.data());
  EXPECT_EQ(first, again);
  EXPECT_TRUE(isNew(-1, false, true));
  EXPECT_TRUE(isNew(-1, true, true));
  EXPECT_TRUE(isNew(1, false, true));
  for (auto* const values : {&mesh.diag, &mesh.below, &mesh.above}) {
    for (const std::size_t place : {std::size_t(0), values->size() - 1}) {
      (*values)[place] *= 1 + 1e-15;
      EXPECT_TRUE(isNew(1, false, true));
      EXPECT_FALSE(isNew(1, false, true));
    }
  }
  EXPECT_TRUE(matrix.take(mesh.order(), mesh.diag.data(), mesh.below.data(), mesh.above.data(), 1, true))
      << "another order";
  mesh.diag[0] *= 2;
  EXPECT_TRUE(isNew(1, false, false));
  EXPECT_TRUE(isNew(1, false, true)) << "the last one is not known";
}

TEST_F(OrderedMatrixTest, WorksWithoutCells) {
  const Faces<int> none;
  const auto matrix = take(none, 1);
  std::vector<double> nothing;
  matrix.solve(nothing.data(), nothing.data());
  matrix.multiply(nothing.data(), nothing.data());
  matrix.multiplyRight(nothing.data(), nothing.data());
  matrix.beginSplit(nothing.data(), 0);
  matrix.goOnSplit(nothing.data(), nothing.data(), 0);
  matrix.endSplit(nothing.data(), nullptr, nothing.data(), 0);
  EXPECT_EQ(matrix.absoluteSum(nothing.data()), 0);
}

TEST_F(OrderedMatrixTest, WorksAloneOnCellsWithoutNeighbours) {
  Faces<int> mesh;
  mesh.cells = 6;
  mesh.diag = {1, 2, 4, 8, 16, 32};
  const auto matrix = take(mesh, 1);
  std::vector<double> z(6);
  matrix.solve(mesh.diag.data(), z.data());
  expectNear(z, std::vector<double>(6, 1.0));
}

}  // namespace
}  // namespace capstan::foam
