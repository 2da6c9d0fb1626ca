#pragma once
/// \file
/// Which columns of a block are linearly independent, from their Gram matrix.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "belos_ext/dense/small_matrix.hpp"

namespace capstan {

/// The numbers, ascending, of columns of Z that are independent in the inner product whose Gram matrix is g: the first
/// one always, then the most independent of the others, as long as one is left. Cholesky factorisation of the
/// correlation matrix with pivoting, stopped where all pivots are small: the rank-revealing step of block conjugate
/// gradients ([Grigori and Tissot 2019], dynamic reduction of the search directions). Empty where the first column's
/// square is not positive, or an entry is not finite. Local.
///
/// \param g order x order, symmetric; its upper triangle is read
/// \param factor a column is dependent where the square of what the chosen ones leave of it is below factor * machine
///   epsilon times its own
template <class Scalar>
std::vector<int> independentColumns(const SmallMatrix<Scalar>& g, Scalar factor) {
  const int order = g.numRows();
  std::vector<int> chosen;
  for (int j = 0; j < order; ++j) {
    for (int i = 0; i <= j; ++i) {
      if (!std::isfinite(g(i, j))) return chosen;
    }
  }
  const auto entry = [&](int i, int j) { return i <= j ? g(i, j) : g(j, i); };
  std::vector<Scalar> left(order), scale(order);  // of each column's square, which is scaled to 1
  for (int i = 0; i < order; ++i) {
    scale[i] = g(i, i) > Scalar(0) ? 1 / std::sqrt(g(i, i)) : Scalar(0);
    left[i] = g(i, i) > Scalar(0) ? Scalar(1) : Scalar(0);
  }
  SmallMatrix<Scalar> rows(order, order);  // row k: what the k-th chosen column has in common with the others
  for (int k = 0; k < order; ++k) {
    const int pivot = k == 0 ? 0 : static_cast<int>(std::max_element(left.begin(), left.end()) - left.begin());
    if (!(left[pivot] > factor * std::numeric_limits<Scalar>::epsilon())) break;
    const Scalar root = std::sqrt(left[pivot]);
    for (int j = 0; j < order; ++j) {
      Scalar sum = entry(pivot, j) * scale[pivot] * scale[j];
      for (int i = 0; i < k; ++i) sum -= rows(i, pivot) * rows(i, j);
      rows(k, j) = sum / root;
    }
    for (int j = 0; j < order; ++j) left[j] -= rows(k, j) * rows(k, j);
    left[pivot] = 0;
    chosen.push_back(pivot);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace capstan
