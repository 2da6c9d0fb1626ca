#pragma once
/// \file
/// Minimal residual smoothing ([Zhou and Walker 1994]) of enlarged CG. x_k has the smallest error in the norm of A; its
/// residual may stay orders of magnitude above what it has been while that error falls. Beside x_k and r_k
///
///     y_k = y_{k-1} + eta (x_{k-1} - y_{k-1}) + Z c,  s_k = s_{k-1} + eta (r_{k-1} - s_{k-1}) - AZ c
///
/// with the eta and the c that make || s_k || smallest, so that it never rises. The paper has x_k for x_{k-1}, and no
/// c. x_k - x_{k-1} is a combination of the directions Z, so that nothing is lost; with c each of them counts by
/// itself. Without, enlarged CG may still take twice the iterations of CG (tuning::enlarged_cg::wanders).
///
/// The error of y in the norm of A is larger than that of x. So y counts only where r has not been smaller for long.
///
/// | paper | here       | shape                        | meaning                                                 |
/// |-------|------------|------------------------------|---------------------------------------------------------|
/// | x, r  | x, r       | n x 1, distributed           | iterate and residual before a step                      |
/// | y, s  | y_, s_     | n x 1, distributed           | smoothed ones                                           |
/// | -     | z, az      | n x t, distributed           | directions of the step, and A times them                |
/// | -     | g          | (t + 1) x (t + 1), replicated| [AZ d]^T [AZ d], d = s - r                              |
/// | eta, c| c          | (t + 1) x 1, replicated      | [c eta]: g c = [AZ d]^T s                               |
///
/// Cost: none while || r || falls. Where it wanders, of an iteration: t + 2 numbers in a reduction of the method,
/// 3 t + 9 vectors read and 4 written; of the first, 2 vectors copied besides. Storage: 2 vectors.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "belos_ext/convergence/predicted_norm.hpp"
#include "belos_ext/dense/cholesky.hpp"
#include "belos_ext/dense/independent_columns.hpp"
#include "belos_ext/parameters/solver_options.hpp"
#include "belos_ext/problem/vector_like.hpp"

namespace capstan::tuning::enlarged_cg {
/// A residual wanders that has not been smaller for this part of the iterations so far. Measured (numpy; t = 4, 8;
/// nos7, ex15, cavity-pc-64x64-i10, bcsstk18, bodyy5, msc01440 and four more, medians of 1 to 8 right-hand sides): 0.05
/// and 0.1 take 0.3 to 0.6 of CG's iterations on nos7 and ex15 with Jacobi, which not smoothed take up to 1.8, 3 for
/// one right-hand side; the error in the norm of A is at most 3.4 times CG's, but for 5 and 6 on two. Smoothed and
/// judged from the first they take up to a sixth less, bcsstk18 and bodyy5 too, with errors up to 38 times CG's.
/// Without the c of smoothed_residual.hpp, 13 of 63 small systems whose coefficients jump (t = 2, 4, 8) take over 2
/// more than CG, up to twice as many; with it none.
inline constexpr double wanders = 0.05;
/// And for so many at least. Chosen: CG's residual often rises for one or two.
inline constexpr int wandersFrom = 3;
/// It is smoothed below this many times its target: what lies above weighs little in the end. Measured there: 100 takes
/// as many iterations on the matrices, and up to 1.9 of CG's on three of the 63.
inline constexpr double smoothedFrom = 1000;
}  // namespace capstan::tuning::enlarged_cg

namespace capstan {

template <class Types>
class SmoothedResidual {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using Small = SmallMatrix<Scalar>;
  using Batch = ReductionBatch<Types>;

  /// "Residual Smoothing" off: nothing is smoothed.
  void configure(ResidualSmoothingMode mode) { off_ = mode == ResidualSmoothingMode::Off; }

  /// A solve with vectors like b begins. Collective where it allocates.
  void begin(const MultiVector& b) {
    if (!off_) vectorLike(b, y_);
    if (!off_) vectorLike(b, s_);
    smallest_ = std::numeric_limits<double>::infinity();
    steps_ = idle_ = 0;
    renew();
  }

  /// The next r has been computed from its x: y and s, which come from others, are dropped. Local.
  void renew() {
    on_ = false;
    refused_ = off_;
  }

  /// What || r || is to fall to. Local.
  void aim(double target) { target_ = target; }

  /// || s ||, where y is to be judged; else infinity.
  double norm() const { return on_ && wanders() ? norm_ : std::numeric_limits<double>::infinity(); }
  /// s, and its norm as reduced last.
  const MultiVector& s() const { return *s_; }
  double measured() const { return measured_; }

  /// Enters products of s with r and with A Z, of the step that follow() will see.
  void enter(Batch& batch, const MultiVector& r, const MultiVector& az) {
    if (!on_) return;
    const typename Batch::Pair pairs[] = {{*s_, r}, {*s_, *s_}};
    const auto slots = batch.dots(pairs);
    sr_ = slots[0];
    ss_ = slots[1];
    along_ = batch.innerProducts(az, *s_);
  }

  /// A step, before x and r take it.
  struct Step {
    const MultiVector &x, &r, &z, &az;
    Scalar rr;                  ///< (r, r)
    const Small &images, &azr;  ///< AZ^T AZ and AZ^T r
  };

  /// y and s, from the batch reduced. Local.
  /// \param kept the numbers that the columns of Z had when enter() was called
  void follow(LinearSystem<Types>& system, const Batch& batch, const Step& step, const std::vector<int>& kept) {
    const double norm = std::sqrt(static_cast<double>(step.rr));
    ++steps_;
    idle_ = norm < smallest_ ? 0 : idle_ + 1;
    smallest_ = std::min(smallest_, norm);
    if (on_) {
      Small all(along_.rows, 1), azs(static_cast<int>(kept.size()), 1);
      batch.read(along_, all.values(), all.stride());
      for (int i = 0; i < azs.numRows(); ++i) azs(i, 0) = all(kept[i], 0);
      return smooth(system, step, batch[sr_], batch[ss_], azs);
    }
    if (refused_ || !wanders() || !(norm <= tuning::enlarged_cg::smoothedFrom * target_)) return;
    system.kernels().sweep(axpby(Scalar(1), step.x, Scalar(0), *y_), axpby(Scalar(1), step.r, Scalar(0), *s_));
    on_ = true;
    smooth(system, step, step.rr, step.rr, step.azr);
  }

  /// x = y, which is to be judged; r and s are another's vectors until exchangeBack(). Local.
  void exchange(LinearSystem<Types>& system, MultiVector& x) {
    system.kernels().sweep(axpby(Scalar(1), x, Scalar(0), *s_), axpby(Scalar(1), *y_, Scalar(0), x));
  }
  /// x as it was. Smoothing goes on only if the recurrence was right. Local.
  /// \param computed b - A y   \param norm of that, as far as it is judged
  void exchangeBack(LinearSystem<Types>& system, MultiVector& x, const MultiVector& computed, double norm, bool right) {
    system.kernels().sweep(axpby(Scalar(1), *s_, Scalar(0), x), axpby(Scalar(1), computed, Scalar(0), *s_));
    norm_ = norm;
    on_ = right;
    refused_ = !on_;
  }
  /// Iterations since || r || was smallest.
  int idle() const { return idle_; }

 private:
  bool wanders() const {
    return idle_ >= std::max<double>(tuning::enlarged_cg::wandersFrom, tuning::enlarged_cg::wanders * steps_);
  }

  /// \param sr, ss, azs (s, r), (s, s) and AZ^T s
  void smooth(LinearSystem<Types>& system, const Step& step, Scalar sr, Scalar ss, const Small& azs) {
    norm_ = measured_ = std::sqrt(static_cast<double>(ss));
    const int t = azs.numRows();
    const Scalar sd = ss - sr, rd = sr - step.rr, dd = sd - rd;
    Small g(t + 1, t + 1), c(t + 1, 1);
    for (int i = 0; i < t; ++i) {
      for (int j = 0; j < t; ++j) g(i, j) = step.images(i, j);
      g(i, t) = azs(i, 0) - step.azr(i, 0);
      c(i, 0) = azs(i, 0);
    }
    g(t, t) = hasCancelled(dd, ss + 2 * std::abs(sr) + step.rr) ? Scalar(0) : dd;  // 0: not chosen
    c(t, 0) = sd;
    const Scalar gained = solve(g, c);
    if (!(gained > Scalar(0)) || !allFinite(c)) return;
    const Scalar rounding = tuning::predicted_norm::cancelled * std::numeric_limits<Scalar>::epsilon() * ss;
    norm_ = std::sqrt(static_cast<double>(std::max(ss - gained, rounding)));
    const Scalar eta = c(t, 0);
    const Small ofZ = copyOf(block(c, 0, 0, t, 1));
    system.kernels().sweep(axpby(eta, step.x, 1 - eta, *y_), axpby(eta, step.r, 1 - eta, *s_));
    system.kernels().accumulate(step.z, ofZ, *y_);
    system.kernels().update(step.az, ofZ, *s_);
  }

  /// g^{-1} c, with 0 for what depends on the rest. Returns c^T g^{-1} c, 0 where there is none.
  static Scalar solve(const Small& g, Small& c) {
    const auto chosen = independentColumns<Scalar>(g, tuning::orthogonalization::rounding);
    const int count = static_cast<int>(chosen.size());
    Small those(count, count), factor(count, count), values(count, 1);
    for (int j = 0; j < count; ++j) {
      for (int i = 0; i <= j; ++i) those(i, j) = g(chosen[i], chosen[j]);
      values(j, 0) = c(chosen[j], 0);
    }
    if (count == 0 || !cholesky<Scalar>(those, factor, nullptr, Scalar(0)).succeeded(count)) return 0;
    solveLeftTransposed(factor, values);
    Scalar gained = 0;
    for (int i = 0; i < count; ++i) gained += values(i, 0) * values(i, 0);
    solveLeft(factor, values);
    c.putScalar(0);
    for (int i = 0; i < count; ++i) c(chosen[i], 0) = values(i, 0);
    return gained;
  }

  Teuchos::RCP<MultiVector> y_, s_;
  typename Batch::Slot sr_, ss_, along_;
  double target_ = 0, smallest_ = 0, norm_ = 0, measured_ = 0;
  int steps_ = 0, idle_ = 0;  ///< of the solve; since || r || was smallest
  bool off_ = false;
  bool on_ = false;       ///< y and s are there
  bool refused_ = false;  ///< y has not kept what s claimed
};

}  // namespace capstan
