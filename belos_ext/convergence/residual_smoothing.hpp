#pragma once
/// \file
/// The iterate of least residual between the last one and CG's.
///
/// Source: minimal residual smoothing, [Zhou and Walker 1994], in the form that updates the difference of the two
/// iterates. CG's own residual may rise and fall; that of y never rises, and meets a tolerance no later. CG itself goes
/// on with r, as if nothing were smoothed.
///
/// CG's x has the least error in the norm of A, and y a larger one. Measured: with DIC, whose residuals rise at first,
/// y met OpenFOAM's relTol 0.2 after 6 iterations in electrostaticFoam's chargedWire and had done nothing for the
/// potential, where CG takes 47; so it is not for a cheap M. A cycle of multigrid makes residual and error alike.
///
/// | paper | here | shape              | meaning                                                      |
/// |-------|------|--------------------|--------------------------------------------------------------|
/// | y     | y    | n x 1, distributed | the smoothed iterate: what the solve returns                 |
/// | s     | q    | n x 1, distributed | b - A y by recurrence                                        |
/// | p     | d    | n x 1, distributed | x + alpha p - y at the last step; kept (1 - eta) of it is    |
/// |       |      |                    | what CG's x has more than y                                  |
/// | eta   | eta  | scalar, replicated | y + eta d is the next y; between 0 and 1, so that y is never |
/// |       |      |                    | larger than CG's iterates                                    |
///
/// Cost of an iteration: 4 numbers more in its reduction, 2 vectors, 2 more read and written in its sweep.

#include <algorithm>
#include <cmath>

#include "belos_ext/convergence/predicted_norm.hpp"
#include "belos_ext/parameters/solver_options.hpp"
#include "tpetra_ext/operators/block_kernels.hpp"

namespace capstan {

template <class Types>
class ResidualSmoothing {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;

  /// Products of q, of r and of the s that r is changed by next.
  struct Products {
    Scalar qq = 0, qr = 0, qs = 0;
  };

  /// The next y, as if CG's step were done.
  struct Step {
    Scalar eta;
    PredictedNorm norm;  ///< || b - A y ||
  };

  void configure(ResidualSmoothingMode mode) { mode_ = mode; }
  /// \param varies M is not linear. Local.
  bool wanted(bool varies) const {
    return mode_ == ResidualSmoothingMode::On || (mode_ == ResidualSmoothingMode::Auto && varies);
  }

  /// y is CG's x from now on. Local.
  void end() {
    active_ = false;
    kept_ = 0;
  }
  /// Whether y and CG's x are two.
  bool active() const { return active_; }

  Teuchos::RCP<MultiVector>& q() { return q_; }
  void know(const Products& products) { of_ = products; }
  /// (q, q), as last reduced.
  Scalar square() const { return of_.qq; }

  /// The step to y where CG makes x + alpha p and r - alpha s. Local.
  Step next(Scalar alpha, Scalar rr, Scalar rs, Scalar ss) const {
    const Scalar qq = active_ ? of_.qq : rr;
    const Scalar terms = rr + alpha * alpha * ss, own = std::max(terms - 2 * alpha * rs, Scalar(0));  // || r' ||^2
    const Scalar across = active_ ? of_.qr - alpha * of_.qs : rr - alpha * rs;                        // (q, r')
    const Scalar apart = qq - 2 * across + own;                                                       // || r' - q ||^2
    Scalar eta = 1;
    if (apart > Scalar(0)) eta = std::clamp((qq - across) / apart, Scalar(0), Scalar(1));
    const Scalar rest = 1 - eta;
    const Scalar square = rest * rest * qq + 2 * eta * rest * across + eta * eta * own;
    const Scalar sizes = rest * rest * qq + 2 * eta * rest * std::abs(across) + eta * eta * terms;
    return {eta,
            {std::sqrt(static_cast<double>(std::max(square, Scalar(0)))), square < 0 || hasCancelled(square, sizes)}};
  }

  /// Does it, after what `before` makes p and s of: r -= alpha s, y += eta d, q += eta (r - q). One pass.
  template <class... Before>
  void step(BlockKernels<Types>& kernels, Scalar eta, Scalar alpha, const MultiVector& p, const MultiVector& s,
            MultiVector& r, MultiVector& y, const Before&... before) {
    if (q_.is_null() || q_->getMap().get() != r.getMap().get()) {
      q_ = Teuchos::rcp(new MultiVector(r.getMap(), 1));
      d_ = Teuchos::rcp(new MultiVector(r.getMap(), 1));
    }
    const Scalar rest = 1 - eta;
    if (active_) {
      kernels.sweep(before..., axpby(alpha, p, kept_, *d_), axpy(eta, *d_, y), axpy(-alpha, s, r),
                    axpby(eta, r, rest, *q_));
    } else {  // q was r, and d was zero
      kernels.sweep(before..., axpby(alpha, p, Scalar(0), *d_), axpy(eta, *d_, y), axpy(-alpha, s, r),
                    axpby(Scalar(1), r, Scalar(0), *q_), axpy(rest * alpha, s, *q_));
    }
    kept_ = rest;
    active_ = true;
  }

  /// x = y + d: CG's own iterate. Local.
  void leave(BlockKernels<Types>& kernels, MultiVector& y) {
    if (active_) kernels.sweep(axpy(kept_, *d_, y));
    end();
  }

 private:
  ResidualSmoothingMode mode_ = ResidualSmoothingMode::Auto;
  bool active_ = false;
  Scalar kept_ = 0;  ///< of d, in CG's x
  Products of_;
  Teuchos::RCP<MultiVector> q_, d_;
};

}  // namespace capstan
