#pragma once
/// \file
/// The small matrices of pipelined GMRES: an auxiliary basis Z that runs L products ahead of the orthonormal basis Q.
///
/// Source: [pipelined-and-s-step], Fig. 2 [Ghysels, Ashby, Meerbergen and Vanroose 2013], Fig. 4 and section III-C.
///
/// | paper | here             | shape         | meaning                                                            |
/// |-------|------------------|---------------|--------------------------------------------------------------------|
/// | q_j   | Q (the caller's) | n x (m+1)     | orthonormal basis                                                  |
/// | v_j   | Z (the caller's) | n x (m+1)     | auxiliary basis, generated ahead of Q                              |
/// | R     | g_               | (m+1) x (m+1) | Z = Q G, upper triangular                                          |
/// | B     | b_               | (m+1) x m     | A M^{-1} Z = Z B: L Newton shifts, then columns of H, L steps late |
/// | H     | (the caller's)   | (m+1) x m     | A M^{-1} Q = Q H, H = G B G^{-1}                                   |
/// | tau   | drop             | scalar        | entries of B under it are left out, the normaliser takes them in   |
///
/// Replicated on every rank, fed with reduced numbers only; no communication.

#include <limits>
#include <vector>

#include "belos_ext/dense/cholesky.hpp"
#include "belos_ext/dense/sampled_column.hpp"
#include "belos_ext/dense/small_matrix.hpp"

namespace capstan {

template <class Scalar>
class PipelinedRecurrence {
 public:
  using Matrix = SmallMatrix<Scalar>;

  /// z_{i+1} = (A M^{-1} z_i - Z(:, L : L + rows(r)) r) / norm.
  struct Change {
    Matrix r;
    Scalar norm = 1;
  };

  /// Whether the square of a norm found by subtraction can be trusted: it stands above the rounding error of what it
  /// was subtracted from. Below, the vector has to be orthogonalised again, with explicit norms. False for NaN.
  static bool trusted(Scalar square, Scalar before) {
    return square > tuning::orthogonalization::trustedSquare * std::numeric_limits<Scalar>::epsilon() * before &&
           std::isfinite(before);
  }

  /// Starts a cycle of at most `capacity` columns of H, with Z running `lag` products ahead.
  void begin(int capacity, int lag) {
    lag_ = lag;
    direct_ = lag == 1;
    capacity_ = capacity;
    for (Matrix* matrix : {&g_, &b_}) {
      matrix->putScalar(0);
      makeRoom(*matrix, 1);
    }
    g_(0, 0) = 1;
    errors_.clear();
  }

  int lag() const { return lag_; }

  /// Column c of G from inner products: with q_0 .. q_{known-1}, then with z_known .. z_c. Theirs follow from
  /// z_j = Q g_{:,j}: g_{j,c} = (z_j^T z_c - sum_{k<j} g_{k,j} g_{k,c}) / g_{j,j}, and the norm from Pythagoras.
  /// \param withQ known entries   \param withZ c - known + 1 entries
  /// \return whether the norm of what is new can be trusted; if not, column c is not usable
  bool orthogonalize(int c, int known, const Scalar* withQ, const Scalar* withZ) {
    makeRoom(g_, c + 1);
    for (int j = 0; j < known; ++j) g_(j, c) = withQ[j];
    for (int j = known; j <= c; ++j) {
      Scalar sum = withZ[j - known];
      for (int k = 0; k < j; ++k) sum -= g_(k, j) * g_(k, c);
      g_(j, c) = j < c ? sum / g_(j, j) : sum;
    }
    const bool good = trusted(g_(c, c), withZ[c - known]);
    if (good) g_(c, c) = std::sqrt(g_(c, c));
    return good;
  }

  /// Column c of G as another orthogonalisation found it: z_c = Q(:, 0:c+1) column.
  void set(int c, const Scalar* column) {
    makeRoom(g_, c + 1);
    std::copy(column, column + c + 1, g_[c]);
  }

  /// Q(:, first : first + count) = (Z(:, first : first + count) - Q(:, 0:first) above) within^{-1}.
  Matrix above(int first, int count) { return block(g_, 0, first, first, count); }
  Matrix within(int first, int count) { return block(g_, first, first, count, count); }

  /// How much longer z_c is than what is new in it. Orthogonality suffers by its square.
  double condition(int c) const {
    Scalar norm = 0;
    for (int j = 0; j <= c; ++j) norm = std::hypot(norm, g_(j, c));
    return static_cast<double>(norm / g_(c, c));
  }

  /// How far rounding has taken column a of A M^{-1} Q = Q H from the truth, relative to || A M^{-1} ||, estimated. The
  /// products keep A M^{-1} Z = Z B + F with F their rounding alone, so the error is E = F G^{-1}, and a few rows of
  /// it, with random signs in F, stand for all. To be asked for a = 0, 1, ... in turn; column a of G is known.
  Scalar relationError(int a) {
    Scalar length = 0;
    for (int k = 0; k <= a; ++k) length = std::hypot(length, g_(k, a));
    auto error = SampledColumn<Scalar>::rounding(a, std::numeric_limits<Scalar>::epsilon() * length);
    for (int k = 0; k < a; ++k) error.subtract(g_(k, a), errors_[static_cast<std::size_t>(k)]);
    error.divide(g_(a, a));
    errors_.resize(static_cast<std::size_t>(a));
    errors_.push_back(error);
    return error.size();
  }

  /// Column i < L of B: z_{i+1} = A M^{-1} z_i - sigma z_i.
  void shift(int i, Scalar sigma) {
    makeRoom(b_, i + 2);
    b_(i, i) = sigma;
    b_(i + 1, i) = 1;
  }

  /// Column i >= L of B from column i - L of H. Entries smaller than `drop` times the last one are left out.
  Change changeOfBasis(int i, const Matrix& h, Scalar drop) {
    const int a = i - lag_;
    makeRoom(b_, i + 2);
    Change change{Matrix(a + 1, 1), 1};
    Scalar square = h(a + 1, a) * h(a + 1, a);
    for (int j = 0; j <= a; ++j) {
      const bool kept = std::abs(h(j, a)) >= drop * h(a + 1, a);
      if (!kept) square += h(j, a) * h(j, a);
      change.r(j, 0) = b_(j + lag_, i) = kept ? h(j, a) : Scalar(0);
      direct_ = direct_ && kept;
    }
    change.norm = b_(i + 1, i) = std::sqrt(square);
    return change;
  }

  /// Column a of H, a + 2 entries, from the columns before it: h_{:,a} = (G b_{:,a} - H_{:,0:a} g_{0:a,a}) / g_{a,a}.
  /// One product ahead, z_{a+1} = (A M^{-1} - sigma) q_a, so h_{:,a} = g_{:,a+1} + sigma e_a, with nothing to cancel.
  Matrix hessenbergColumn(int a, const Matrix& h) const {
    Matrix column(a + 2, 1);
    for (int j = 0; j <= a + 1; ++j) {
      if (direct_) {
        column(j, 0) = g_(j, a + 1) + (j == a ? b_(0, 0) : Scalar(0));
        continue;
      }
      Scalar sum = 0;
      for (int k = j; k <= a + 1; ++k) sum += g_(j, k) * b_(k, a);
      for (int k = std::max(0, j - 1); k < a; ++k) sum -= h(j, k) * g_(k, a);
      column(j, 0) = sum / g_(a, a);
    }
    return column;
  }

 private:
  void makeRoom(Matrix& matrix, int size) { growTo(matrix, size, capacity_ + 1); }

  int capacity_ = 0, lag_ = 1;
  bool direct_ = true;  ///< z_{j+1} = (A M^{-1} - sigma) q_j holds for every j
  Matrix g_, b_;
  std::vector<SampledColumn<Scalar>> errors_;  ///< of E / || A M^{-1} ||
};

}  // namespace capstan
