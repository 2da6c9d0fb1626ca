#pragma once
/// \file
/// The scalars of deep pipelined CG: Z^(l) = Q G by a Cholesky factorisation that grows column by column, and the
/// Lanczos matrix T of A Q = Q T that follows from it.
///
/// Source: [deep-pipelined-cg], algorithm 1, lines 9 to 18, for an orthonormal Q.
///
/// | paper         | here               | shape   | meaning                                |
/// |---------------|--------------------|---------|----------------------------------------|
/// | v_j = z^(0)_j | q_j (the caller's) | n x 1   | Lanczos vectors                        |
/// | z^(l)_j       | z_j (the caller's) | n x 1   | auxiliary basis, l products ahead of Q |
/// | g_{j,c}       | g_                 | band    | Z^(l) = Q G                            |
/// | gamma, delta  | gamma_, delta_     | scalars | diagonal and off-diagonal of T         |
///
/// Replicated, local: every rank feeds the same reduced numbers and gets the same answers.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "belos_ext/dense/banded_window.hpp"
#include "belos_ext/dense/cholesky.hpp"

namespace capstan {

/// G is banded, upper triangular with 2 l nonzero superdiagonals, and symmetric about its l-th one; of a column only
/// l + 1 entries are products that have to be computed. Only the last 3 l + 2 columns of G are kept, all of T.
template <class Scalar>
class PipelinedLanczos {
 public:
  /// Begins with z_0 = q_0. The number of shifts is the depth l >= 1.
  void reset(const std::vector<Scalar>& shifts) {
    shifts_ = shifts;
    g_.reset(2 * depth(), 3 * depth() + 2);
    g_.at(0, 0) = 1;
    gamma_.clear();
    delta_.clear();
  }

  int depth() const { return static_cast<int>(shifts_.size()); }
  Scalar shift(int k) const { return shifts_[static_cast<std::size_t>(k)]; }

  /// Column c takes the inner products of z_c with q_{c-l} (where c >= l), z_{c-l+1}, ..., z_c, in that order.
  int products(int c) const { return std::min(c, depth()) + 1; }

  /// Completes column c >= 1 of G, then column c - 1 of T. Columns come in order.
  /// \param product as described by products()
  /// \return what orthogonalisation leaves of (z_c, z_c), relative to it. Not positive: the square root broke down,
  ///         g_{c,c} and delta_{c-1} are 0, gamma_{c-1} stands. NaN where a product is not finite
  Scalar complete(int c, const std::vector<Scalar>& product) {
    enterAbove(c, product);
    const Scalar square = product.back();
    g_.at(c, c) = square;
    const Scalar relative = square > Scalar(0) ? rest(c, c, c) / square : square;  // of rounding alone, or NaN
    g_.at(c, c) = relative > rounding ? std::sqrt(relative * square) : Scalar(0);
    extend(c - 1);
    return relative > rounding || !(relative > 0) ? relative : Scalar(0);
  }

  /// Ends with column c, of which (z_c, z_c) is not known: gamma_{c-1} stands, g_{c,c} and delta_{c-1} are 0.
  /// \param product as for complete(), but for the last
  void end(int c, const std::vector<Scalar>& product) {
    enterAbove(c, product);
    g_.at(c, c) = 0;
    extend(c - 1);
  }

  /// Diagonal and off-diagonal of T.
  Scalar gamma(int a) const { return gamma_[static_cast<std::size_t>(a)]; }
  Scalar delta(int a) const { return delta_[static_cast<std::size_t>(a)]; }
  const std::vector<Scalar>& gammas() const { return gamma_; }
  const std::vector<Scalar>& deltas() const { return delta_; }

  /// Entries of G in the columns kept, for tests.
  Scalar g(int row, int column) const { return g_(row, column); }

 private:
  /// Column c of G above its diagonal.
  void enterAbove(int c, const std::vector<Scalar>& product) {
    const int l = depth(), first = std::max(0, c - l);
    for (int j = first; j < c; ++j) g_.at(j, c) = product[static_cast<std::size_t>(j - first)];
    for (int j = std::max(0, c - 2 * l); j < c - l; ++j) g_.at(j, c) = g_(c - l, j + l);
    for (int j = std::max(0, c - l + 1); j < c; ++j) g_.at(j, c) = rest(j, j, c) / g_(j, j);
  }

  /// g_{j,c} - sum_{k<j} g_{k,i} g_{k,c}
  Scalar rest(int j, int i, int c) const {
    Scalar sum = g_(j, c);
    for (int k = std::max(0, c - 2 * depth()); k < j; ++k) sum -= g_(k, i) * g_(k, c);
    return sum;
  }

  /// gamma_a and delta_a from columns a and a + 1 of G.
  void extend(int a) {
    const int l = depth();
    const Scalar corner = g_(a, a), coupling = a > 0 ? g_(a - 1, a) * delta(a - 1) : Scalar(0);
    if (a < l) {
      gamma_.push_back((g_(a, a + 1) + shift(a) * corner - coupling) / corner);
      delta_.push_back(g_(a + 1, a + 1) / corner);
    } else {
      gamma_.push_back((corner * gamma(a - l) + g_(a, a + 1) * delta(a - l) - coupling) / corner);
      delta_.push_back(g_(a + 1, a + 1) * delta(a - l) / corner);
    }
  }

  static constexpr Scalar rounding = tuning::orthogonalization::trustedSquare * std::numeric_limits<Scalar>::epsilon();

  std::vector<Scalar> shifts_, gamma_, delta_;
  BandedWindow<Scalar> g_;
};

}  // namespace capstan
