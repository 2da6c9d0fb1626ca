#pragma once
/// \file
/// Cholesky factorisation of a small Gram matrix that says how far it got.
///
/// LAPACK's POTRF stops only at a pivot that is not positive, and some implementations let NaN through. A Gram matrix
/// of nearly dependent vectors needs more: a pivot counts only if it stands above the rounding error of the entry it
/// was subtracted from, and the columns before the first bad pivot remain usable.

#include <limits>

#include "belos_ext/dense/small_matrix.hpp"

namespace capstan::tuning::orthogonalization {
/// What a projection leaves of a vector, in eps of it, that is nothing but rounding: the vector depends on the others.
/// In a Cholesky factorisation of the pivot, a square, likewise. Measured for directions of enlarged CG (numpy,
/// 1138_bus, hypre_TEST_ij_A, nos7; t = 4, 8): dropping at 1e-6 costs up to twice the iterations, at 1e-10 and below
/// there is no difference.
inline constexpr int rounding = 50;
/// A square found by subtraction, in eps of what it was subtracted from, is trusted above this. Chosen.
inline constexpr int trustedSquare = 10;
}  // namespace capstan::tuning::orthogonalization

namespace capstan {

struct CholeskyResult {
  int rank = 0;          ///< Leading columns factored; equal to the order on success.
  bool finite = true;    ///< False when a NaN or Inf was met.
  double condition = 1;  ///< Estimate of cond(V), V^T V = g, from the scaled diagonal of the factor.
  bool succeeded(int order) const { return rank == order; }
};

/// Factors g = u^T u, u upper triangular.
///
/// \param g order x order, symmetric; only its upper triangle is read.
/// \param u order x order; its leading result.rank columns are set, the rest is zero.
/// \param scale order entries: the squared norms the pivots are to be compared with. Pass the diagonal before any
///   subtraction (Pythagorean updates cancel), or nullptr for the diagonal of g.
/// \param factor A pivot below factor * machine epsilon * scale is taken as zero.
template <class Scalar>
CholeskyResult cholesky(const SmallMatrix<Scalar>& g, SmallMatrix<Scalar>& u, const Scalar* scale = nullptr,
                        Scalar factor = tuning::orthogonalization::rounding) {
  const int order = g.numRows();
  u.putScalar(0);
  CholeskyResult result;
  Scalar smallest = 1;
  for (int k = 0; k < order; ++k) {
    for (int j = 0; j <= k; ++j) {
      Scalar sum = g(j, k);
      for (int i = 0; i < j; ++i) sum -= u(i, j) * u(i, k);
      if (j < k) {
        u(j, k) = sum / u(j, j);
        continue;
      }
      const Scalar reference = scale != nullptr ? scale[k] : g(k, k);
      if (!std::isfinite(sum) || !std::isfinite(reference)) {
        result.finite = false;
      }
      if (!(sum > factor * std::numeric_limits<Scalar>::epsilon() * reference) || !result.finite) {
        for (int i = 0; i < k; ++i) u(i, k) = 0;
        result.condition = std::numeric_limits<double>::infinity();
        return result;
      }
      u(k, k) = std::sqrt(sum);
      smallest = std::min(smallest, Scalar(u(k, k) / std::sqrt(reference)));
    }
    result.rank = k + 1;
    result.condition = static_cast<double>(1 / smallest);
  }
  return result;
}

}  // namespace capstan
