#pragma once
/// \file
/// The products of CG's next direction, all measured in one reduction before the direction is made.
///
/// Source: the vectors of [Chronopoulos and Gear 1989], p = z + beta p and s = w + beta s with w = A z, so that one
/// reduction an iteration is enough. Their (p, A p) is derived from symmetry, and loses convergence where a pressure is
/// pinned by a row whose column is kept; here it is expanded into measured products, which loses nothing (362
/// iterations of Hestenes and Stiefel's 362 on cavity-pc-64x64-i10, where the derived one does not converge in 4000).
/// beta makes p conjugate to the direction before, and alpha minimises along p, whatever M is: [Notay 2000], flexible
/// CG. Where M is linear and symmetric, beta is the textbook's (r, z) over the last one; where the first steps see
/// another number, M is not.
///
/// | paper | here | meaning                                        |
/// |-------|------|------------------------------------------------|
/// | beta  | beta | -(z, s) / (p, s), of the last p and s          |
/// | delta | mu   | (p, s) of the next p and s                     |
/// | gamma | nu   | (r, z); pr is (p, r) of the next p             |

#include <algorithm>
#include <array>
#include <cmath>

#include "belos_ext/convergence/residual_smoothing.hpp"
#include "belos_ext/parameters/tuning.hpp"
#include "belos_ext/support/bounded_quotients.hpp"
#include "tpetra_ext/reductions/reduction_batch.hpp"

namespace capstan {

template <class Types>
struct MeasuredProducts {
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;

  Scalar beta = 0;
  Scalar nu = 0, rr = 0;
  int steps = 0;                                          ///< since begin()
  bool varies = false;                                    ///< M is seen to be no linear symmetric operator
  Scalar pr = 0, mu = 0, pp = 0, rs = 0, ss = 0, sz = 0;  ///< of the next p and s
  typename ResidualSmoothing<Types>::Products smoothed;   ///< the same, where q was given

  /// From the first direction of a solve, p = z. Local.
  void begin(Scalar rz) {
    beta = 0;
    pr = nu = rz;
  }

  /// Enters 15 products; p and s are the last ones. With q (ResidualSmoothing) 19. Local.
  void enter(ReductionBatch<Types>& batch, const MultiVector& r, const MultiVector& z, const MultiVector& w,
             const MultiVector& p, const MultiVector& s, const MultiVector* q) {
    if (q == nullptr) {
      note(batch.dots({{r, z},
                       {z, w},
                       {z, s},
                       {p, w},
                       {p, s},
                       {r, p},
                       {r, r},
                       {r, w},
                       {r, s},
                       {w, w},
                       {w, s},
                       {s, s},
                       {z, z},
                       {z, p},
                       {p, p}}));
    } else {
      note(batch.dots({{r, z},
                       {z, w},
                       {z, s},
                       {p, w},
                       {p, s},
                       {r, p},
                       {r, r},
                       {r, w},
                       {r, s},
                       {w, w},
                       {w, s},
                       {s, s},
                       {z, z},
                       {z, p},
                       {p, p},
                       {*q, *q},
                       {*q, r},
                       {*q, w},
                       {*q, s}}));
    }
  }

  /// After the reduction. Local.
  void take(const ReductionBatch<Types>& batch) {
    const Scalar zw = batch[slots_.zw], zs = batch[slots_.zs], pw = batch[slots_.pw], ps = batch[slots_.ps];
    const Scalar last = nu;
    nu = batch[slots_.rz];
    rr = batch[slots_.rr];
    beta = ratioOr(-zs, ps, Scalar(0));
    const Scalar textbook = ratioOr(nu, last, Scalar(0));
    const auto apart = static_cast<Scalar>(tuning::cg::variable) * (std::abs(beta) + std::abs(textbook));
    varies = varies || (++steps <= tuning::cg::firstSteps && !(std::abs(beta - textbook) <= apart));
    pr = nu + beta * batch[slots_.rp];
    mu = zw + beta * (zs + pw) + beta * beta * ps;
    sz = zw + beta * zs;
    rs = batch[slots_.rw] + beta * batch[slots_.rs];
    ss = expanded(batch[slots_.ww], batch[slots_.ws], batch[slots_.ss]);
    pp = expanded(batch[slots_.zz], batch[slots_.zp], batch[slots_.pp]);
    if (smoothed_) smoothed = {batch[slots_.qq], batch[slots_.qr], batch[slots_.qw] + beta * batch[slots_.qs]};
  }

 private:
  struct Slots {
    using Slot = typename ReductionBatch<Types>::Slot;
    Slot rz, zw, zs, pw, ps, rp, rr, rw, rs, ww, ws, ss, zz, zp, pp, qq = {}, qr = {}, qw = {}, qs = {};
  };

  template <std::size_t N>
  void note(const std::array<typename Slots::Slot, N>& of) {
    slots_ = {of[0], of[1], of[2],  of[3],  of[4],  of[5],  of[6], of[7],
              of[8], of[9], of[10], of[11], of[12], of[13], of[14]};
    smoothed_ = N > 15;
    if constexpr (N > 15) slots_.qq = of[15], slots_.qr = of[16], slots_.qw = of[17], slots_.qs = of[18];
  }

  /// || a + beta b ||^2, which rounding must not make negative.
  Scalar expanded(Scalar aa, Scalar ab, Scalar bb) const {
    return std::max(aa + 2 * beta * ab + beta * beta * bb, Scalar(0));
  }

  Slots slots_;
  bool smoothed_ = false;
};

}  // namespace capstan
