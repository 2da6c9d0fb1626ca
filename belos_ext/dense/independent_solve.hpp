#pragma once
/// \file
/// Normal equations of vectors of which some may depend on others.

#include <cmath>
#include <vector>

#include "belos_ext/dense/small_matrix.hpp"

namespace capstan {

/// G a = g with the Gram matrix G of vectors, in some inner product, by Cholesky's factorisation in the order given: a
/// vector that depends on those before it has no share. G may be negative definite: the sign of the first vector's
/// square counts. Local.
///
/// \param gram G, of which the entries (earlier, later) in this order are read   \param order numbers of the vectors
/// \param right g(i)   \param dependent a vector is, where no more than this part of its square is left beside the
///   others   \param shares gets a, n x 1; zeros where it is not finite
/// \return how many vectors have a share
template <class Scalar, class Right>
int solveOfIndependent(const SmallMatrix<Scalar>& gram, const std::vector<int>& order, const Right& right,
                       double dependent, SmallMatrix<Scalar>& shares) {
  shares.putScalar(0);
  const int n = static_cast<int>(order.size());
  if (n == 0) return 0;
  const Scalar sign = gram(order.front(), order.front()) < Scalar(0) ? -1 : 1;
  SmallMatrix<Scalar> u(n, n), y(n, 1);
  std::vector<int> used;
  for (const int c : order) {
    const int k = static_cast<int>(used.size());
    const Scalar square = sign * gram(c, c);
    Scalar pivot = square, sum = sign * right(c);
    for (int j = 0; j < k; ++j) {
      Scalar entry = sign * gram(used[j], c);
      for (int i = 0; i < j; ++i) entry -= u(i, j) * u(i, k);
      u(j, k) = entry / u(j, j);
      pivot -= u(j, k) * u(j, k);
      sum -= u(j, k) * y(j, 0);
    }
    if (!(pivot > dependent * square) || !std::isfinite(pivot)) continue;
    u(k, k) = std::sqrt(pivot);
    y(k, 0) = sum / u(k, k);
    used.push_back(c);
  }
  const int rank = static_cast<int>(used.size());
  for (int k = rank; k-- > 0;) {
    for (int j = k + 1; j < rank; ++j) y(k, 0) -= u(k, j) * y(j, 0);
    y(k, 0) /= u(k, k);
    shares(used[k], 0) = y(k, 0);
  }
  if (allFinite(shares)) return rank;
  shares.putScalar(0);
  return 0;
}

}  // namespace capstan
