#pragma once
/// \file
/// The t x t matrices by which enlarged CG keeps the residuals of its parts orthonormal in the inner product of M^{-1},
/// as BCGrQ does ([Dubrulle 2001]). Replicated, all local.
///
/// | here   | meaning                                                                                               |
/// |--------|-------------------------------------------------------------------------------------------------------|
/// | n_     | N = R^T M^{-1} R of the residuals of the iteration, with M's sign                                     |
/// | t_     | T: upper triangular, its first diagonal entry 1; residuals are multiplied by its inverse              |
/// | back_  | what is taken of the directions P from W = M^{-1} R, before that is multiplied by T^{-1}              |

#include <algorithm>
#include <cmath>
#include <vector>

#include "belos_ext/convergence/definiteness_watch.hpp"
#include "belos_ext/dense/cholesky.hpp"
#include "belos_ext/dense/small_matrix.hpp"

namespace capstan::tuning::enlarged_cg {
/// A pivot of a predicted Gram matrix of residuals counts above this many eps of what it was subtracted from. Derived:
/// N is reduced anew in the next iteration, so that a few digits are enough; 1e4 leaves about four.
inline constexpr int predicted = 10000;
}  // namespace capstan::tuning::enlarged_cg

namespace capstan {

template <class Scalar>
class ResidualProducts {
 public:
  using Small = SmallMatrix<Scalar>;

  const Small& n() const { return n_; }
  const Small& t() const { return t_; }
  const Small& back() const { return back_; }

  /// N as it is, not normalised.
  void take(const Small& n) { n_ = copyOf(n); }

  /// T and the new N from N' = U^T U: T is U, its first row divided by U_11, so that the first residual stays as it is.
  /// False, and nothing changes, where N' times `sign` is not positive.
  /// \param scale, limit as for cholesky()
  bool normalize(const Small& products, Scalar sign, const Scalar* scale, Scalar limit) {
    const int t = products.numRows();
    Small definite = copyOf(products), u(t, t);
    definite.scale(sign);
    if (!cholesky<Scalar>(definite, u, scale, limit).succeeded(t)) return false;
    n_ = identity<Scalar>(t);
    n_(0, 0) = u(0, 0) * u(0, 0);
    n_.scale(sign);
    keepFirst(u);
    return true;
  }

  /// The same for the residuals after a step with P = Z C^{-1}, and what is taken of P: - C N^{-1} N'. False where N is
  /// not positive either.
  bool advance(const Small& products, Scalar sign, const Small& c, const Scalar* scale, Scalar limit) {
    const int t = products.numRows();
    Small before = copyOf(n_), old(t, t);
    before.scale(sign);
    if (!cholesky<Scalar>(before, old, nullptr, Scalar(0)).succeeded(t)) return false;
    if (!normalize(products, sign, scale, limit)) return false;
    Small quotient = copyOf(products);
    for (int j = 0; j < t; ++j) {
      for (int i = 0; i < j; ++i) quotient(j, i) = quotient(i, j);
    }
    solveLeftTransposed(old, quotient);
    solveLeft(old, quotient);
    back_ = product(c, quotient);
    back_.scale(-sign);
    return true;
  }

  /// advance() with N' predicted: N' = N - F^T K - K^T G, F = AP^T W of the old W, G of the new one. What cancels is
  /// lost, so that a pivot counts above what it was subtracted from. On failure T is the identity.
  bool predict(const Small& f, const Small& g, const Small& k, Scalar sign, const Small& c) {
    const int t = n_.numRows();
    Small products = copyOf(n_);
    multiply<Scalar>(-1, Teuchos::TRANS, f, Teuchos::NO_TRANS, k, 1, products);
    multiply<Scalar>(-1, Teuchos::TRANS, k, Teuchos::NO_TRANS, g, 1, products);
    std::vector<Scalar> scale;
    for (int j = 0; j < t; ++j) scale.push_back(std::max(std::abs(n_(j, j)), std::abs(products(j, j))));
    if (advance(products, sign, c, scale.data(), tuning::enlarged_cg::predicted)) return true;
    keepAsTheyAre();
    return false;
  }

  /// Without N: what is taken of P is AP^T W, times the sign of A; T from C.
  void conjugate(const Small& crossed, Scalar sign, const Small& c) {
    back_ = copyOf(crossed);
    back_.scale(sign);
    keepFirst(c);
  }

  /// Whether R^T W is symmetric, as it is where M is linear and symmetric.
  static bool symmetric(const Small& products) {
    const int t = products.numRows();
    for (int j = 0; j < t; ++j) {
      for (int i = 0; i < j; ++i) {
        const Scalar size = std::sqrt(std::abs(products(i, i))) * std::sqrt(std::abs(products(j, j)));
        if (!(std::abs(products(i, j) - products(j, i)) <=
              static_cast<Scalar>(tuning::preconditioner::unequal) * size)) {
          return false;
        }
      }
    }
    return true;
  }

  /// Whether what is taken of P is AP^T W times the sign of A, as it is where A and M are linear and symmetric.
  bool conjugates(const Small& crossed, Scalar sign) const {
    Small apart = copyOf(crossed);
    apart.scale(-sign);
    apart += back_;
    return apart.normFrobenius() <=
           static_cast<Scalar>(tuning::preconditioner::unequal) * (back_.normFrobenius() + crossed.normFrobenius());
  }

  /// T is the identity.
  void keepAsTheyAre() { t_ = identity<Scalar>(n_.numRows()); }

  /// T = U, its first row divided by U_11.
  void keepFirst(const Small& u) {
    t_ = copyOf(u);
    for (int j = t_.numCols() - 1; j >= 0; --j) t_(0, j) /= u(0, 0);
  }

 private:
  Small n_, t_, back_;
};

}  // namespace capstan
