#pragma once
/// \file
/// Small matrices, given or random, and their differences, for tests of dense policies.

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <random>

#include "belos_ext/dense/small_matrix.hpp"

namespace capstan {

using Matrix = SmallMatrix<double>;

inline Matrix matrixOf(int rows, int cols, std::initializer_list<double> byRows) {
  Matrix a(rows, cols);
  auto entry = byRows.begin();
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < cols; ++j) a(i, j) = *entry++;
  }
  return a;
}

class Uniform {
 public:
  explicit Uniform(unsigned seed) : generator_(seed) {}
  double operator()() { return distribution_(generator_); }
  Matrix matrix(int rows, int cols) {
    Matrix a(rows, cols);
    for (int j = 0; j < cols; ++j) {
      for (int i = 0; i < rows; ++i) a(i, j) = (*this)();
    }
    return a;
  }
  /// rows x cols whose last cols rows are upper triangular with a diagonal in [1, 2].
  Matrix change(int rows, int cols) {
    Matrix s = matrix(rows, cols);
    for (int j = 0; j < cols; ++j) {
      s(rows - cols + j, j) = 1.5 + 0.5 * s(rows - cols + j, j);
      for (int i = rows - cols + j + 1; i < rows; ++i) s(i, j) = 0;
    }
    return s;
  }

 private:
  std::mt19937 generator_;
  std::uniform_real_distribution<double> distribution_{-1, 1};
};

inline double largest(const Matrix& a) {
  double most = 0;
  for (int j = 0; j < a.numCols(); ++j) {
    for (int i = 0; i < a.numRows(); ++i) most = std::max(most, std::abs(a(i, j)));
  }
  return most;
}

inline Matrix difference(const Matrix& a, const Matrix& b) {
  Matrix c = copyOf(a);
  c -= b;
  return c;
}

}  // namespace capstan
