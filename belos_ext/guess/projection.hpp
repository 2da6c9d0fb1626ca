#pragma once
/// \file
/// Initial guess by projection on what earlier solves have found.
///
/// Source: [Fischer 1998], applied to the equation of the residual, A d = r, r = b - A x with the application's own x,
/// so that its guess counts. With earlier directions X and their images W = A X, d = X a is
///
/// - for conjugate gradients the best in the A-norm: (X^T W) a = X^T r;
/// - else, and where X^T W is not positive definite, the one of the least residual: (W^T W) a = W^T r.
///
/// Fischer orthonormalises each new direction. Here they are orthogonal by themselves, up to the tolerance of the
/// solves: what is kept of a solve is e = x' - x, what it has added to its guess, and that guess had taken out all that
/// X can reach. Rounding and tolerances are seen to by the Gram matrix, whose new row and column travel with the next
/// solve's X^T r. Where k directions are kept, the oldest, x_j, gives its share of the solution to the new one:
/// x_j <- a_j x_j + e; so the last solution as a whole is always in the span, and there is no restart.
///
/// || r - W a || is predicted by the Gram matrix of W. Where it is not what b - A x then is, the images are of another
/// A: they are forgotten, but for small changes (tuning::guess), and nothing hangs on them otherwise.
///
/// Cost of a solve beyond the method's: 2 A (r, and the image of the new direction; 1 where no guess is made, for then
/// r is the method's first residual), 1 fused reduction, W (for CG X, too) read once with r and once with the newest
/// image, X read once for d; nothing of M. Until predictions have come true, a reduction more. Storage: 2 k vectors.
///
/// | paper   | here             | shape                | meaning                                           |
/// |---------|------------------|----------------------|---------------------------------------------------|
/// | x_i     | directions_, X   | n x k                | what solves have added to their guesses           |
/// | A x_i   | images_, W       | n x k                | their images                                      |
/// | alpha_i | shares_, a       | k x 1, replicated    | share of each direction in the guess              |
/// | -       | energies_        | k x k, replicated    | X^T W                                             |
/// | -       | squares_         | k x k, replicated    | W^T W                                             |
/// | l, L    | count_, most_    | scalars              | directions there are, and may be: k               |

#include <algorithm>
#include <limits>

#include "belos_ext/dense/cholesky.hpp"
#include "belos_ext/guess/guess_policy.hpp"
#include "belos_ext/parameters/tuning.hpp"

namespace capstan {

template <class Types>
class Projection final : public GuessPolicy<Types> {
 public:
  using typename GuessPolicy<Types>::Scalar;
  using typename GuessPolicy<Types>::MultiVector;
  using typename GuessPolicy<Types>::Batch;
  using Matrix = SmallMatrix<Scalar>;

  /// \param most k   \param symmetric whether A is for conjugate gradients
  Projection(int most, bool symmetric)
      : most_(most), symmetric_(symmetric), energies_(most, most), squares_(most, most), shares_(most, 1) {}

  bool needsResidual() const override { return true; }

  int enter(LinearSystem<Types>&, Batch& batch, const MultiVector& r) override {
    shares_.putScalar(0);
    if (count_ == 0) return 0;
    const auto x = first(*directions_), w = first(*images_);
    slots_ = {};
    const auto products = [&](const MultiVector& with, Slot& ofX, Slot& ofW) {
      if (symmetric_) ofX = batch.innerProducts(*x, with);
      ofW = batch.innerProducts(*w, with);
    };
    products(r, slots_.xr, slots_.wr);
    if (unmeasured_ >= 0) products(*images_->getVector(static_cast<std::size_t>(unmeasured_)), slots_.xw, slots_.ww);
    return count_ * (symmetric_ ? 2 : 1) * (unmeasured_ >= 0 ? 2 : 1);
  }

  Proposal propose(LinearSystem<Types>& system, const Batch& batch, Scalar square, MultiVector& x) override {
    predicted_ = std::numeric_limits<double>::quiet_NaN();
    if (count_ == 0) return {};
    measure(batch);
    int rank = symmetric_ ? solve(energies_, batch.view(slots_.xr)) : 0;
    if (rank == 0) rank = solve(squares_, batch.view(slots_.wr));
    predicted_ = predict(batch, square);
    if (rank == 0 || std::isnan(predicted_)) {
      forget();
      predicted_ = std::numeric_limits<double>::quiet_NaN();
      return {};
    }
    if (!(predicted_ < std::sqrt(static_cast<double>(square)))) {
      shares_.putScalar(0);
      return {};
    }
    system.kernels().accumulate(*first(*directions_), block(shares_, 0, 0, count_, 1), x);
    return {rank, predicted_, confirmed_};
  }

  bool judge(double norm, double own) override {
    if (std::isnan(predicted_)) return false;
    confirmed_ = norm <= tuning::guess::confirmed * predicted_ && norm < own;
    if (confirmed_ || norm <= tuning::guess::stale * own) return false;
    forget();
    return true;
  }

  void learn(LinearSystem<Types>& system, bool taken, const MultiVector* start, const MultiVector& x) override {
    if (start == nullptr) return;
    make(x);
    const int column = unmeasured_ >= 0 ? unmeasured_ : count_ < most_ ? count_ : (newest_ + 1) % most_;
    const bool full = unmeasured_ < 0 && count_ == most_;
    const Scalar share = taken && full ? shares_(column, 0) : Scalar(0);
    const auto direction = directions_->getVectorNonConst(static_cast<std::size_t>(column));
    const auto image = images_->getVectorNonConst(static_cast<std::size_t>(column));
    system.kernels().recur(share, *direction, Scalar(1), x, Scalar(-1), *start);  // x_j <- a_j x_j + e
    system.act(Action::Operator, *direction, *image);
    count_ = std::max(count_, column + 1);
    newest_ = unmeasured_ = column;
  }

  void forget() override {
    count_ = 0;
    newest_ = unmeasured_ = -1;
    confirmed_ = false;
    shares_.putScalar(0);
  }

  std::vector<Teuchos::RCP<MultiVector>> kept() const override {
    if (directions_.is_null()) return {};
    return {directions_, images_};
  }

 private:
  using Slot = typename Batch::Slot;
  struct Slots {
    Slot xr, wr, xw, ww;  ///< X^T r, W^T r; X^T w and W^T w, w the newest image
  };

  static constexpr double epsilon = static_cast<double>(std::numeric_limits<Scalar>::epsilon());

  void make(const MultiVector& like) {
    if (!directions_.is_null()) return;
    for (auto* v : {&directions_, &images_}) {
      *v = Teuchos::rcp(new MultiVector(like.getMap(), static_cast<std::size_t>(most_), false));
    }
  }

  Teuchos::RCP<const MultiVector> first(const MultiVector& v) const {
    return v.subView(Teuchos::Range1D(0, count_ - 1));
  }

  /// Takes the Gram matrices' rows and columns of the newest direction.
  void measure(const Batch& batch) {
    if (unmeasured_ < 0) return;
    const auto put = [&](Matrix& gram, const Slot& slot) {
      const auto column = batch.view(slot);
      for (int i = 0; i < count_; ++i) {
        gram(i, unmeasured_) = gram(unmeasured_, i) = column(static_cast<std::size_t>(i), 0);
      }
    };
    if (symmetric_) put(energies_, slots_.xw);
    put(squares_, slots_.ww);
    unmeasured_ = -1;
  }

  /// The column of the direction of this age, from 0.
  int ofAge(int age) const { return (newest_ - age + count_) % count_; }

  /// a, from the newest direction to the oldest one that does not depend on newer ones. Returns how many have a share.
  int solve(const Matrix& gram, const typename Batch::SmallView& right) {
    Matrix byAge(count_, count_), u(count_, count_), y(count_, 1);
    for (int i = 0; i < count_; ++i) {
      for (int j = 0; j < count_; ++j) byAge(i, j) = gram(ofAge(i), ofAge(j));
      y(i, 0) = right(static_cast<std::size_t>(ofAge(i)), 0);
    }
    shares_.putScalar(0);
    const int rank = cholesky<Scalar>(byAge, u, nullptr, tuning::guess::dependent).rank;
    for (int i = 0; i < rank; ++i) {  // y <- U^{-T} y
      for (int k = 0; k < i; ++k) y(i, 0) -= u(k, i) * y(k, 0);
      y(i, 0) /= u(i, i);
    }
    for (int i = rank; i-- > 0;) {  // y <- U^{-1} y
      for (int k = i + 1; k < rank; ++k) y(i, 0) -= u(i, k) * y(k, 0);
      y(i, 0) /= u(i, i);
      shares_(ofAge(i), 0) = y(i, 0);
    }
    return allFinite(shares_) ? rank : 0;
  }

  /// || r - W a ||, but no less than rounding leaves.
  double predict(const Batch& batch, Scalar square) const {
    const auto wr = batch.view(slots_.wr);
    double sum = static_cast<double>(square);
    for (int i = 0; i < count_; ++i) {
      double image = 0;  // (W^T W a)_i
      for (int j = 0; j < count_; ++j) image += static_cast<double>(squares_(i, j) * shares_(j, 0));
      const double product = static_cast<double>(wr(static_cast<std::size_t>(i), 0));
      sum += static_cast<double>(shares_(i, 0)) * (image - 2 * product);
    }
    const double least = tuning::guess::rounding * std::sqrt(epsilon * static_cast<double>(square));
    return sum > 0 ? std::max(std::sqrt(sum), least) : std::isnan(sum) ? sum : least;
  }

  int most_;
  bool symmetric_;
  int count_ = 0, newest_ = -1;
  int unmeasured_ = -1;     ///< the newest direction, while its products with the others are not known; else -1
  bool confirmed_ = false;  ///< the last prediction has come true
  double predicted_ = 0;
  Matrix energies_, squares_, shares_;
  Slots slots_;
  Teuchos::RCP<MultiVector> directions_, images_;
};

}  // namespace capstan
