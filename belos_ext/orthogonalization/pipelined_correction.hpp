#pragma once
/// \file
/// CGS1, CGS2 and MGS of one vector with one reduction, for a method that is one product ahead of its basis.
///
/// Source: [low-sync], section 3: Fig. 3 with panels of one vector, and the last paragraph of the section. CGS1:
/// [Ghysels, Ashby, Meerbergen and Vanroose 2013].
///
/// | paper        | here | shape  | meaning                                                |
/// |--------------|------|--------|--------------------------------------------------------|
/// | Q_{1:j-1}    | Q    | n x c  | basis; q_{c-1} is normalised again here                |
/// | v_j          | z    | n x 1  | A M^{-1} q_{c-1} - sigma q_{c-1}                       |
/// | T, L         | t_   | c x c  | Q^T Q and its strict lower part                        |
/// | R bar        | r0   | c      | Q^T z                                                  |
/// | R hat, tilde | r    | c      | corrected: CGS2 (2 I - T) r0, MGS (I + L)^{-1} r0      |
/// | R_{j,j}      | norm | scalar | sqrt(z^T z + r^T T r - 2 r0^T r): T = I is not assumed |
///
/// A new normalisation of q_{c-1} to q_{c-1} / s asks the caller to divide z by s, too: it was made of the old one.
/// Loss of orthogonality: CGS1 O(eps kappa^2), MGS O(eps kappa), CGS2 O(eps). Replicated; no communication.

#include <algorithm>
#include <cmath>

#include "belos_ext/orthogonalization/pipelined_recurrence.hpp"
#include "belos_ext/parameters/solver_options.hpp"

namespace capstan::tuning::orthogonalization {
/// Squares of a norm that should be 1, between which a vector is normalised by it; beyond, it is none. Chosen.
inline constexpr double leastNorm2 = 0.25;
}  // namespace capstan::tuning::orthogonalization

namespace capstan {

enum class PipelinedScheme { Cgs1, Cgs2, Mgs };

/// What "Block Orthogonalization" means one product ahead: with and without "single-reduce" the same.
inline PipelinedScheme pipelinedScheme(BlockOrthogonalization scheme) {
  switch (scheme) {
    case BlockOrthogonalization::Cgs:
    case BlockOrthogonalization::SingleReduceCgs:
      return PipelinedScheme::Cgs1;
    case BlockOrthogonalization::Mgs:
    case BlockOrthogonalization::SingleReduceMgs:
      return PipelinedScheme::Mgs;
    default:
      return PipelinedScheme::Cgs2;
  }
}

template <class Scalar>
class PipelinedCorrection {
 public:
  using Matrix = SmallMatrix<Scalar>;

  struct Column {
    bool usable = false;    ///< false: the norm of what is new cannot be trusted; the normaliser holds all the same
    Scalar normalizer = 1;  ///< s: q_{c-1} and z are to be divided by it
    Matrix r;               ///< (c+1) x 1: z / s = [Q q_c] r
  };

  void begin(int capacity, PipelinedScheme scheme) {
    scheme_ = scheme;
    capacity_ = capacity;
    t_.putScalar(0);
  }

  /// How many of the last columns of [Q z] are multiplied with all of it.
  int columnsNeeded() const { return scheme_ == PipelinedScheme::Cgs1 ? 1 : 2; }

  /// \param inner (c+1) x columnsNeeded(): [Q z]^T [q_{c-1} z], or [Q z]^T z
  Column orthogonalize(int c, const Matrix& inner) {
    const int last = inner.numCols() - 1;
    if (scheme_ != PipelinedScheme::Cgs1) growTo(t_, c + 1, capacity_ + 1);
    Column column;
    column.r.shape(c + 1, 1);
    for (int j = 0; j <= c; ++j) column.r(j, 0) = inner(j, last);
    if (scheme_ != PipelinedScheme::Cgs1) column.normalizer = normalize(c, inner, column.r);
    Scalar square = column.r(c, 0);
    const Scalar before = square;
    const Matrix r0 = copyOf(block(column.r, 0, 0, c, 1));
    Matrix r = block(column.r, 0, 0, c, 1);
    correct(c, r0, r);
    const Matrix tr = scheme_ == PipelinedScheme::Cgs1 ? copyOf(r) : product(block(t_, 0, 0, c, c), r);
    for (int j = 0; j < c; ++j) square += r(j, 0) * (tr(j, 0) - 2 * r0(j, 0));
    column.usable = PipelinedRecurrence<Scalar>::trusted(square, before);
    column.r(c, 0) = std::sqrt(std::max(square, Scalar(0)));
    return column;
  }

 private:
  /// Column c - 1 of T, and s = ||q_{c-1}||; inner products with q_{c-1} / s and z / s take the place of those given.
  Scalar normalize(int c, const Matrix& inner, Matrix& r) {
    const Scalar square = inner(c - 1, 0);
    const bool near = square > static_cast<Scalar>(tuning::orthogonalization::leastNorm2) &&
                      square < 1 / static_cast<Scalar>(tuning::orthogonalization::leastNorm2);
    const Scalar s = near ? std::sqrt(square) : Scalar(1);
    for (int j = 0; j < c; ++j) t_(j, c - 1) = t_(c - 1, j) = inner(j, 0) / s;
    t_(c - 1, c - 1) = square / (s * s);
    for (int j = 0; j <= c; ++j) r(j, 0) /= s;
    r(c - 1, 0) /= s;
    r(c, 0) /= s;
    return s;
  }

  void correct(int c, const Matrix& r0, Matrix& r) const {
    if (scheme_ == PipelinedScheme::Cgs2) {
      r *= Scalar(2);
      multiply<Scalar>(-1, Teuchos::NO_TRANS, block(t_, 0, 0, c, c), Teuchos::NO_TRANS, r0, 1, r);
    } else if (scheme_ == PipelinedScheme::Mgs) {
      for (int j = 1; j < c; ++j) {
        for (int k = 0; k < j; ++k) r(j, 0) -= t_(j, k) * r(k, 0);
      }
    }
  }

  PipelinedScheme scheme_ = PipelinedScheme::Cgs1;
  int capacity_ = 0;
  Matrix t_;
};

}  // namespace capstan
