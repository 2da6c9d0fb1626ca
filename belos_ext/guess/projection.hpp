#pragma once
/// \file
/// Initial guess by projection on what earlier solves have found.
///
/// Source: [Fischer 1998], applied to the equation of the residual, A d = r, r = b - A x with the application's own x,
/// so that its guess counts. With earlier directions X and their images W = A X, d = X a is
///
/// - for conjugate gradients, and where A is said to be symmetric (Belos::LinearProblem::setHermitian()), the best in
///   the A-norm: (X^T W) a = X^T r;
/// - else the one of the least residual, (W^T W) a = W^T r; as long as A stays, also where X^T W is not definite. It
///   leaves more of the smooth errors, which hide in small residuals.
///
/// A direction is what a solve has added to the application's own x. Fischer orthonormalises each new one, and begins
/// anew when there are k. Here the directions stay as they are, and the oldest gives way: what of the Gram matrix is
/// new, a row and a column, travels with the next solve's X^T r. Its factorisation leaves out directions that depend on
/// newer ones (solveOfIndependent()), so that rounding in the rest does no harm.
///
/// || r - W a || is predicted by the Gram matrix of W. Where it is not what b - A x then is, the images are of another
/// A, and nothing hangs on them otherwise. After all but a small change (tuning::guess) A is taken to change from solve
/// to solve: images are then computed by each solve's own A, all at once. Where A is seen not to have changed any more,
/// everything is learnt anew.
///
/// The image of a new direction is, as long as A stays, the difference of the residuals of the application's own x and
/// of the solution, both computed from x by products that are there anyway.
///
/// Cost of a solve beyond the method's: 1 A (for r; none where the application's x is zero, or no guess is made, for
/// then r is the method's first residual), 1 fused reduction, W (for CG X, too) read once with r and once with the
/// newest image, X read once for d; nothing of M. Until predictions have come true, a reduction more. Where A changes:
/// 1 A on k vectors and 1 reduction more. Where the products are more than it saves, or, as long as A stays, more than
/// it can save, some solves go without (RestingPlan). Storage: 2 k vectors.
///
/// | paper   | here           | shape              | meaning                                            |
/// |---------|----------------|--------------------|----------------------------------------------------|
/// | x_i     | directions_, X | n x k, distributed | what solves have added to the application's x      |
/// | A x_i   | images_, W     | n x k, distributed | their images                                       |
/// | alpha_i | shares_, a     | k x 1, replicated  | share of each direction in the guess               |
/// | -       | energies_      | k x k, replicated  | X^T W                                              |
/// | -       | squares_       | k x k, replicated  | W^T W                                              |
/// | l, L    | count_, most_  | scalars            | directions there are, and how many there may be: k |

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "belos_ext/convergence/stop_test.hpp"
#include "belos_ext/dense/independent_solve.hpp"
#include "belos_ext/dense/small_matrix.hpp"
#include "belos_ext/guess/guess_policy.hpp"
#include "belos_ext/guess/resting_plan.hpp"
#include "belos_ext/support/bounded_quotients.hpp"

namespace capstan::tuning::guess {
/// A direction depends on newer ones where no more than this part of its square is left beside them. Measured:
/// GuessProjection.SavesIterationsOfAHeatEquation takes 354 iterations of GMRES with 1e-10 to 2e-14, 363 with 1e-8.
inline constexpr double dependent = 1e-12;
/// A predicted norm that is less than so many sqrt(eps) of the residual is nothing but rounding. Derived: its square is
/// a difference of squares, of which a few eps are left.
inline constexpr int rounding = 10;
/// A computed residual bears a prediction out up to this factor; the next guess is then taken without a look. Chosen.
inline constexpr double confirmed = 1.5;
/// Images A x belong to another A where they mispredicted a residual that did not fall to this part. Chosen: a guess
/// that gains a factor of ten is worth having, however it came about.
inline constexpr double stale = 0.1;
/// Where A changes, a product with each vector comes first. An iteration is as good as so many products where there is
/// a preconditioner of unknown cost. Chosen: about 4 with ILU(0), of many iterations, some 30 with multigrid, of few.
inline constexpr double productsOfAnIteration = 10;
/// After so many solves with the same A it is taken to stay. Chosen: more than the correctors of a time step.
inline constexpr int steady = 10;
}  // namespace capstan::tuning::guess

namespace capstan {

template <class Types>
class Projection final : public GuessPolicy<Types> {
 public:
  using typename GuessPolicy<Types>::Scalar;
  using typename GuessPolicy<Types>::MultiVector;
  using typename GuessPolicy<Types>::Batch;
  using Matrix = SmallMatrix<Scalar>;

  /// \param most k   \param symmetric whether A is known to be symmetric
  Projection(int most, bool symmetric)
      : most_(most), symmetric_(symmetric), energies_(most, most), squares_(most, most), shares_(most, 1) {}

  bool needsResidual() const override { return true; }
  bool wantsResiduals() const override { return !changing_; }
  bool rests() const override { return plan_.rests(); }

  void enter(LinearSystem<Types>&, Batch& batch, const MultiVector& r) override {
    shares_.putScalar(0);
    if (count_ == 0 || changing_) return;
    const auto x = first(directions_), w = first(images_);
    slots_ = {};
    const auto products = [&](const MultiVector& with, Slot& ofX, Slot& ofW) {
      if (symmetric_) ofX = batch.dotsWithEach(*x, with);
      ofW = batch.dotsWithEach(*w, with);
    };
    products(r, slots_.xr, slots_.wr);
    if (unmeasured_ >= 0) products(*images_->getVector(static_cast<std::size_t>(unmeasured_)), slots_.xw, slots_.ww);
  }

  Proposal propose(LinearSystem<Types>& system, Batch& batch, Scalar square, const MultiVector& r,
                   MultiVector& x) override {
    predicted_ = std::numeric_limits<double>::quiet_NaN();
    if (count_ == 0) return {};
    if (changing_) return proposeAnew(system, batch, r, x);
    takeCost(system, 1);
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
    add(system, x);
    return {rank, predicted_, confirmed_};
  }

  std::optional<Event> judge(double norm, double own) override {
    if (!std::isfinite(norm)) {
      forget();
      return EventKind::GuessesForgotten;
    }
    if (!changing_ && std::isnan(predicted_)) return {};
    // The last iteration is not saved: a solve that ends with its guess leaves what others have left before.
    std::optional<double> saved;
    if (this->iterations > 0) saved = this->iterations - 1;
    // As long as A stays, the next guess may be a better one.
    if (saved && changing_ && this->rate > 0) saved = std::min(*saved, std::log(boundedRatio(own, norm)) / this->rate);
    note(saved);
    if (changing_) return {};
    confirmed_ = norm <= tuning::guess::confirmed * predicted_ && norm < own;
    if (confirmed_ || norm <= tuning::guess::stale * own) return {};
    changing_ = true;
    alike_ = 0;
    return Event(EventKind::GuessesRenewed, norm, predicted_);
  }

  void ended() override { plan_.solved(); }

  void learn(LinearSystem<Types>& system, const SolvedSystem<Types>& solved) override {
    if (!solved.moved || plan_.rest() > most_) return;
    make(solved.x);
    if (changing_ && alike_ >= tuning::guess::steady) return forget();
    if (changing_) {
      newest_ = (newest_ + 1) % most_;
      const auto direction = directions_->getVectorNonConst(static_cast<std::size_t>(newest_));
      system.kernels().recur(Scalar(0), *direction, Scalar(1), solved.x, Scalar(-1), solved.own);
      count_ = std::max(count_, newest_ + 1);
      gram()(newest_, newest_) = 0;  // of no A yet
      return;
    }
    if (solved.ownResidual == nullptr || solved.residual == nullptr) return;  // forgotten while this was solved
    // One that no reduction has measured yet gives way first.
    const int column = unmeasured_ >= 0 ? unmeasured_ : (newest_ + 1) % most_;
    const auto direction = directions_->getVectorNonConst(static_cast<std::size_t>(column));
    const auto image = images_->getVectorNonConst(static_cast<std::size_t>(column));
    system.kernels().recur(Scalar(0), *direction, Scalar(1), solved.x, Scalar(-1), solved.own);
    system.kernels().recur(Scalar(0), *image, Scalar(1), *solved.ownResidual, Scalar(-1), *solved.residual);
    count_ = std::max(count_, column + 1);
    newest_ = unmeasured_ = column;
  }

  void forget() override {
    count_ = 0;
    newest_ = unmeasured_ = -1;
    confirmed_ = changing_ = false;
    plan_ = {};
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

  /// With zeros: an operator that reads its output before writing it must not meet leftover NaN.
  void make(const MultiVector& like) {
    if (!directions_.is_null()) return;
    for (auto* v : {&directions_, &images_}) {
      *v = Teuchos::rcp(new MultiVector(like.getMap(), static_cast<std::size_t>(most_)));
    }
  }

  /// The columns there are. A view takes as long as hundreds of rows.
  Teuchos::RCP<MultiVector> first(const Teuchos::RCP<MultiVector>& v) const {
    return count_ == most_ ? v : v->subViewNonConst(Teuchos::Range1D(0, count_ - 1));
  }

  void add(LinearSystem<Types>& system, MultiVector& x) {
    system.kernels().accumulate(*first(directions_), block(shares_, 0, 0, count_, 1), x);
  }

  /// Of iterations. Where others of its right-hand sides do not rest, one that is to rest has a guess all the same.
  void note(std::optional<double> saved) {
    if (!plan_.rests()) plan_.note(saved, cost_);
  }

  /// Of a guess that takes so many products.
  void takeCost(const LinearSystem<Types>& system, int products) {
    cost_ = products / (system.sparesProducts() ? tuning::guess::productsOfAnIteration : 1.0);
  }

  /// The Gram matrix that is solved with where A changes.
  Matrix& gram() { return symmetric_ ? energies_ : squares_; }

  /// The same by images of this solve's own A: nothing has to be predicted, and the method's first residual judges.
  Proposal proposeAnew(LinearSystem<Types>& system, Batch& batch, const MultiVector& r, MultiVector& x) {
    const auto d = first(directions_), w = first(images_);
    system.act(Action::Operator, *d, *w);
    const MultiVector& tests = symmetric_ ? *d : *w;
    batch.clear();
    const auto products = batch.innerProducts(tests, *w), right = batch.innerProducts(tests, r);
    system.reduce(batch);
    takeGram(batch.view(products));
    const int rank = solve(gram(), batch.view(right));
    takeCost(system, count_ + 1);
    if (rank == 0) {
      note(0);
      return {};
    }
    add(system, x);
    return {rank, predicted_, true};
  }

  /// Of all directions: where one that was there before has the same square, A has not changed.
  void takeGram(const typename Batch::SmallView& products) {
    bool same = false;
    for (int i = 0; i < count_; ++i) {
      const auto now = products(static_cast<std::size_t>(i), static_cast<std::size_t>(i)), before = gram()(i, i);
      same = same || (before != Scalar(0) && std::abs(now - before) <= tuning::stop_test::unchanged * std::abs(before));
      for (int j = 0; j < count_; ++j)
        gram()(i, j) = products(static_cast<std::size_t>(i), static_cast<std::size_t>(j));
    }
    alike_ = same ? alike_ + 1 : 0;
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

  /// a, from the newest direction to the oldest. Returns how many have a share.
  int solve(const Matrix& gram, const typename Batch::SmallView& right) {
    std::vector<int> order;
    for (int age = 0; age < count_; ++age) order.push_back((newest_ - age + count_) % count_);
    const auto entry = [&](int i) { return right(static_cast<std::size_t>(i), 0); };
    return solveOfIndependent(gram, order, entry, tuning::guess::dependent, shares_);
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
  bool changing_ = false;   ///< A is another one in each solve
  int alike_ = 0;           ///< solves in a row whose A has been the same all the same
  double cost_ = 0;         ///< of a guess, in iterations
  RestingPlan plan_;
  double predicted_ = 0;
  Matrix energies_, squares_, shares_;
  Slots slots_;
  Teuchos::RCP<MultiVector> directions_, images_;
};

}  // namespace capstan
