#pragma once
/// \file
/// The inner products that a whole iteration of BiCGStab needs, from vectors that are there before alpha is known:
/// q = r - alpha s and y = A q^ = w - alpha z are combinations of these, and so are their products.
///
/// Source: [Carson, Knight and Demmel 2013], with s = 1.
///
/// | paper | here   | shape      | meaning                                                  |
/// |-------|--------|------------|----------------------------------------------------------|
/// | G, g  | slots_ | 14 numbers | Gram matrix of r, w = A r^, s, z = A s^; r* times each   |

#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "tpetra_ext/reductions/reduction_batch.hpp"

namespace capstan {

template <class Types>
class BiCgStabProducts {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using Batch = ReductionBatch<Types>;

  /// What alpha and q need, and what omega and the next residual need. \{
  struct First {
    Scalar rho, sigma, rr, rs, ss;  ///< rho = (r*, r), sigma = (r*, s)
  };
  struct Second {
    Scalar qq, qy, yy, ofQ, ofY;  ///< ofQ = (r*, q), ofY = (r*, y)
  };
  /// \}

  /// Enters all of them into an empty batch. Local.
  void enter(Batch& batch, const MultiVector& shadow, const MultiVector& r, const MultiVector& w, const MultiVector& s,
             const MultiVector& z) {
    // clang-format off
    slots_ = batch.dots({{shadow, r}, {shadow, w}, {shadow, s}, {shadow, z}, {r, r}, {r, w}, {r, s},
                         {r, z}, {w, w}, {w, s}, {w, z}, {s, s}, {s, z}, {z, z}});
    // clang-format on
  }

  /// After the reduction. Local.
  First first(const Batch& batch) const {
    const auto of = [&](Product product) { return batch[slots_[product]]; };
    return {of(ofR), of(ofS), of(rr), of(rs), of(ss)};
  }

  /// Nothing where q or y is so short that products of themselves have more than twice the digits, or where they may
  /// be orthogonal. Local.
  std::optional<Second> second(const Batch& batch, Scalar alpha) const {
    const auto of = [&](Product product) { return batch[slots_[product]]; };
    bool lost = false;
    const auto judged = [&lost](Scalar sum, Scalar sizes) {
      lost = lost || !(std::abs(sum) > std::sqrt(std::numeric_limits<Scalar>::epsilon()) * sizes);
      return sum;
    };
    const Scalar a = std::abs(alpha), square = alpha * alpha;
    const Scalar q = std::sqrt(of(rr)) + a * std::sqrt(of(ss)), y = std::sqrt(of(ww)) + a * std::sqrt(of(zz));
    Second second;
    second.qq = judged(of(rr) - 2 * alpha * of(rs) + square * of(ss), q * q);
    second.yy = judged(of(ww) - 2 * alpha * of(wz) + square * of(zz), y * y);
    second.qy = of(rw) - alpha * (of(rz) + of(ws)) + square * of(sz);
    if (!lost) judged(second.qy, std::sqrt(second.qq) * std::sqrt(second.yy));  // else one may be negative
    second.ofQ = of(ofR) - alpha * of(ofS);
    second.ofY = of(ofW) - alpha * of(ofZ);
    return lost ? std::nullopt : std::optional(second);
  }

 private:
  enum Product { ofR, ofW, ofS, ofZ, rr, rw, rs, rz, ww, ws, wz, ss, sz, zz, count };

  std::array<typename Batch::Slot, count> slots_;
};

}  // namespace capstan
