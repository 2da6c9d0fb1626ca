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

namespace capstan::tuning::cg {
/// Steps whose products are measured, where M is costly: a solve that ends within them takes one M^{-1} less. Measured:
/// with DIC in pitzDaily, 70 iterations a solve, measured products alone take 7 in a hundred more iterations.
inline constexpr int measuredSteps = 20;
}  // namespace capstan::tuning::cg

namespace capstan {

template <class Types>
class ResidualSmoothing {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;

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
  /// (q, q), (q, r) and (q, s) of the s that r is changed by next.
  void know(Scalar qq, Scalar qr, Scalar qs) { qq_ = qq, qr_ = qr, qs_ = qs; }
  /// (q, q), as last reduced.
  Scalar square() const { return qq_; }

  /// The step to y where CG makes x + alpha p and r - alpha s. Local.
  Step next(Scalar alpha, Scalar rr, Scalar rs, Scalar ss) const {
    const Scalar qq = active_ ? qq_ : rr;
    const Scalar terms = rr + alpha * alpha * ss, own = std::max(terms - 2 * alpha * rs, Scalar(0));  // || r' ||^2
    const Scalar across = active_ ? qr_ - alpha * qs_ : rr - alpha * rs;                              // (q, r')
    const Scalar apart = qq - 2 * across + own;                                                       // || r' - q ||^2
    Scalar eta = 1;
    if (apart > Scalar(0)) eta = std::clamp((qq - across) / apart, Scalar(0), Scalar(1));
    const Scalar rest = 1 - eta;
    const Scalar square = rest * rest * qq + 2 * eta * rest * across + eta * eta * own;
    const Scalar sizes = rest * rest * qq + 2 * eta * rest * std::abs(across) + eta * eta * terms;
    return {eta,
            {std::sqrt(static_cast<double>(std::max(square, Scalar(0)))), square < 0 || hasCancelled(square, sizes)}};
  }

  /// Enters it, after what makes p and s: r -= alpha s, y += eta d, q += eta (r - q).
  void step(SweepList<Types>& sweep, Scalar eta, Scalar alpha, const MultiVector& p, const MultiVector& s,
            MultiVector& r, MultiVector& y) {
    if (q_.is_null() || q_->getMap().get() != r.getMap().get()) {
      q_ = Teuchos::rcp(new MultiVector(r.getMap(), 1));
      d_ = Teuchos::rcp(new MultiVector(r.getMap(), 1));
    }
    auto &q = *q_, &d = *d_;
    const Scalar rest = 1 - eta;
    sweep.axpby(alpha, p, kept_, d);
    sweep.axpy(eta, d, y);
    sweep.axpy(-alpha, s, r);
    sweep.axpby(active_ ? eta : Scalar(1), r, active_ ? rest : Scalar(0), q);
    if (!active_) sweep.axpy(rest * alpha, s, q);  // q was r
    kept_ = rest;
    active_ = true;
  }

  /// Enters x = y + d: CG's own iterate.
  void leave(SweepList<Types>& sweep, MultiVector& y) {
    if (active_) sweep.axpy(kept_, *d_, y);
    end();
  }

 private:
  ResidualSmoothingMode mode_ = ResidualSmoothingMode::Auto;
  bool active_ = false;
  Scalar kept_ = 0;  ///< of d, in CG's x
  Scalar qq_ = 0, qr_ = 0, qs_ = 0;
  Teuchos::RCP<MultiVector> q_, d_;
};

}  // namespace capstan
