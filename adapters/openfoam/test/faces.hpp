// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Small matrices by faces, for the tests of orders by levels.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "adapters/openfoam/four_rows.hpp"
#include "adapters/openfoam/level_order.hpp"

namespace capstan::foam {

/// Where the processor takes no four rows at once there is no order to test.
class LevelOrderTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!fourRowsAtOnce()) GTEST_SKIP() << "this processor has no AVX2";
  }
};
/// A matrix by faces, sorted by their lower cells.
template <class Label>
struct Faces {
  std::size_t cells = 0;
  std::vector<Label> lower, upper;
  std::vector<double> diag, below, above;  // below: in the row of the upper cell

  void couple(std::size_t a, std::size_t b) {
    lower.push_back(static_cast<Label>(std::min(a, b)));
    upper.push_back(static_cast<Label>(std::max(a, b)));
  }
  std::size_t faces() const { return lower.size(); }
  std::size_t low(std::size_t face) const { return static_cast<std::size_t>(lower[face]); }
  std::size_t up(std::size_t face) const { return static_cast<std::size_t>(upper[face]); }
  std::shared_ptr<const LevelOrder> order() const {
    return std::make_shared<const LevelOrder>(cells, faces(), lower.data(), upper.data());
  }

  void fill(bool symmetric) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> entry(0.1, 1.0);
    diag.assign(cells, 0.1);
    for (std::size_t face = 0; face < faces(); ++face) {
      below.push_back(-entry(random));
      above.push_back(symmetric ? below.back() : -entry(random));
      diag[up(face)] -= below[face];
      diag[low(face)] -= above[face];
    }
  }

  std::vector<double> multiply(const std::vector<double>& x) const {
    std::vector<double> y(cells);
    for (std::size_t cell = 0; cell < cells; ++cell) y[cell] = diag[cell] * x[cell];
    for (std::size_t face = 0; face < faces(); ++face) {
      y[up(face)] += below[face] * x[low(face)];
      y[low(face)] += above[face] * x[up(face)];
    }
    return y;
  }

  /// By the definition: M = (D + L) D^{-1} (D + U) as a dense matrix, times z. Its diagonal is that of A where no two
  /// faces lie between the same cells; OpenFOAM takes each face for itself.
  std::vector<double> multiplyFactors(const std::vector<double>& z) const {
    std::vector<std::vector<double>> l(cells, std::vector<double>(cells, 0)), u = l;
    std::vector<double> d = diag;
    for (std::size_t face = 0; face < faces(); ++face) {  // no later face has a lower cell before this one
      l[up(face)][low(face)] += below[face];
      u[low(face)][up(face)] += above[face];
      d[up(face)] -= below[face] * above[face] / d[low(face)];
    }
    for (std::size_t i = 0; i < cells; ++i) l[i][i] = u[i][i] = d[i];
    std::vector<double> y(cells, 0), r(cells, 0);
    for (std::size_t i = 0; i < cells; ++i) {
      for (std::size_t j = 0; j < cells; ++j) y[i] += u[i][j] * z[j];
      y[i] /= d[i];
    }
    for (std::size_t i = 0; i < cells; ++i) {
      for (std::size_t j = 0; j < cells; ++j) r[i] += l[i][j] * y[j];
    }
    return r;
  }
};

/// A grid of nx x ny cells, numbered row by row. \param twice every so many cells have two faces to the cells above
/// them
template <class Label = int>
Faces<Label> grid(std::size_t nx, std::size_t ny, bool symmetric = true, std::size_t twice = 0) {
  Faces<Label> mesh;
  mesh.cells = nx * ny;
  for (std::size_t cell = 0; cell < mesh.cells; ++cell) {
    const bool above = cell + nx < mesh.cells;
    if (above && twice > 0 && cell % twice == 0) mesh.couple(cell, cell + nx);
    if (cell % nx + 1 < nx) mesh.couple(cell, cell + 1);
    if (above) mesh.couple(cell, cell + nx);
  }
  mesh.fill(symmetric);
  return mesh;
}

/// Each cell with some others, anywhere.
inline Faces<int> tangle(std::size_t cells, bool symmetric) {
  std::mt19937 random(3);
  std::set<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t k = 0; k < 2 * cells; ++k) {
    const std::size_t a = random() % cells, b = random() % cells;
    if (a != b) pairs.insert({std::min(a, b), std::max(a, b)});
  }
  Faces<int> mesh;
  mesh.cells = cells;
  for (const auto& [a, b] : pairs) mesh.couple(a, b);
  mesh.fill(symmetric);
  return mesh;
}

}  // namespace capstan::foam
