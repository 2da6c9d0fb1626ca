#pragma once
/// \file
/// What conjugate gradients do about constants that A annihilates: A e = 0, e = (1, ..., 1), an all-Neumann pressure.
///
/// In exact arithmetic they need nothing. Where b is in the range of A, so are r and s = A p, both are orthogonal to e,
/// and no inner product of CG sees what z = M^{-1} r and p hold of e. In floating point A p is off by eps |A| |c| for
/// p = c e + p'. With Jacobi or incomplete factors c is a hundredth of p' (measured on all-Neumann grids and
/// Nalu-wind's cavity), and there is nothing to mend. Where M^{-1} is singular itself, as with a factorised coarse
/// grid, c is rounding over rounding: it stays while p' falls, until A p is noise.
///
/// So the sum of p travels with its inner products, and where p is all but constant (1000 times p') the constants are
/// taken out of what M makes, from there on. That takes two reductions and one step of A and M^{-1} where it begins,
/// one where z = M^{-1} r is formed anew, and none in other iterations: z is followed by z -= alpha t, t = M^{-1} s,
/// and the sum of t travels with its own. With m its mean, z -= alpha (t - m e) keeps the sum of z at zero, hence
/// that of p and the constant in x, and (s, t - m e) = (s, t) - m (s, e), likewise (r, t), both sums known.
///
/// "Null Space" = auto: where the rows of A are seen to sum to zero, and (e, A p) is zero. Where b - A x holds no more
/// of e than half the tolerance allows, nothing is lost by directions without e, even where A is only close to
/// singular: the rest of b - A x can meet the tolerance, and the computed residual decides as ever. Where it holds
/// more, no A x has that, and the constant is taken out of r, too: CG would grow without end. So the x is found that
/// leaves nothing of b - A x but a constant, and the solve ends as inconsistent. constant: whatever the rows, unless
/// (e, A p) is not zero; and always out of r.

#include <cmath>
#include <limits>
#include <optional>

#include "belos_ext/convergence/stop_test.hpp"
#include "belos_ext/problem/linear_system.hpp"

namespace capstan::tuning::null_space {
/// A constant in a vector below this part of sqrt(eps) of it is rounding. Derived: above what a sum of n terms has.
inline constexpr double rounding = 0.1;
/// A p of which the constant is this many times the rest is all but constant. Derived: A p has lost three digits.
/// Measured: projecting earlier, without a preconditioner, with Jacobi or RILUK, made 318 iterations of 64.
inline constexpr double large = 1e3;
/// What of the tolerance a constant that stays in b - A x may take. Chosen: half for the rest.
inline constexpr double allowed = 0.5;
}  // namespace capstan::tuning::null_space

namespace capstan {

template <class Types>
class ConstantNullSpace {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using Slot = typename ReductionBatch<Types>::Slot;

  void configure(NullSpace wanted) { wanted_ = wanted; }

  /// A solve begins: nothing is known yet. Local.
  void begin(LinearSystem<Types>& system, const MultiVector& like) {
    preconditioned_ = system.preconditioned();
    state_ = wanted_ == NullSpace::None ? State::Off : State::Undecided;
    outOfResidual_ = wanted_ == NullSpace::Constant;
    rows_ = static_cast<double>(like.getGlobalLength());
    part_ = 0;
    takenOut_ = false;
    sums_ = {};
  }

  /// Whether the sums of r, p and s are to be entered for judge().
  bool undecided() const { return state_ == State::Undecided; }
  /// Whether the sum of p is to be entered for dominates().
  bool watching() const { return state_ == State::Watching && preconditioned_; }
  /// Whether constants are taken out of what M makes: the sums of r, s and t are to be entered.
  bool active() const { return state_ == State::Active; }
  /// Whether constants are taken out of b - A x.
  bool ofResidual() const { return outOfResidual_ && (state_ == State::Watching || state_ == State::Active); }

  /// Whether b - A x has had a constant, more than rounding, that was taken out of it.
  bool hasTakenOut() const { return takenOut_; }

  /// (e, v), to be read with meanOf(). Collective where e is not there yet.
  Slot enter(ReductionBatch<Types>& batch, const MultiVector& v) {
    return active() ? batch.dot(ones(v), v) : batch.sum(v);
  }
  Scalar meanOf(Scalar sum) const { return sum / static_cast<Scalar>(rows_); }
  const MultiVector& ones(const MultiVector& like) {
    if (ones_.is_null() || ones_->getMap().get() != like.getMap().get()) {
      ones_ = Teuchos::rcp(new MultiVector(like.getMap(), 1, false));
      ones_->putScalar(1);
    }
    return *ones_;
  }

  /// v -= mean e. Local.
  void remove(LinearSystem<Types>& system, Scalar mean, MultiVector& v) {
    system.kernels().axpby(-mean, ones(v), Scalar(1), v);
  }
  /// The same with its mean, in one reduction. `batch` is cleared. Collective.
  void takeOut(LinearSystem<Types>& system, MultiVector& v, ReductionBatch<Types>& batch) {
    batch.clear();
    const auto sum = enter(batch, v);
    system.reduce(batch);
    remove(system, meanOf(batch[sum]), v);
  }

  /// Takes the constant out of a residual just computed, whose sum and square are known. Returns the norm of the rest:
  /// summed anew, in one reduction for which `batch` is cleared, where the difference of squares has cancelled.
  /// Collective.
  double takeOutOfResidual(LinearSystem<Types>& system, Scalar sum, Scalar square, MultiVector& r,
                           ReductionBatch<Types>& batch) {
    part_ = norm(sum);
    takenOut_ = takenOut_ || matters(sum, square);
    remove(system, meanOf(sum), r);
    const double rest = static_cast<double>(square) - part_ * part_;
    if (rest > static_cast<double>(square) / tuning::null_space::large) return std::sqrt(rest);
    batch.clear();
    const auto slot = batch.norm2(r);
    system.reduce(batch);
    const Scalar anew = batch[slot];
    return system.norm(r, anew, batch);
  }

  /// The norm of v's constant from its sum.
  double norm(Scalar sum) const { return std::abs(static_cast<double>(sum)) / std::sqrt(rows_); }
  /// Whether p is all but constant, from its sum and its square.
  bool dominates(Scalar sum, Scalar square) const {
    const double constant = norm(sum) * norm(sum);
    return watching() &&
           static_cast<double>(square) - constant <= constant / (tuning::null_space::large * tuning::null_space::large);
  }
  void project(LinearSystem<Types>& system, int iteration) {
    state_ = State::Active;
    system.tell(iteration, EventKind::ConstantsProjected);
  }
  /// Whether A is to be judged by an image of its own: it may annihilate constants as far as its rows or the user tell,
  /// and r has one, or the rows are not known. After the first reduction.
  bool needsImage(LinearSystem<Types>& system, Scalar sum, Scalar square) const {
    if (!undecided()) return false;
    return wanted_ == NullSpace::Constant || (system.annihilatesConstants() && matters(sum, square));
  }
  /// Whether A has been seen to annihilate constants: not only some of its rows, (e, A p) is zero.
  bool isSingular() const { return state_ == State::Watching || state_ == State::Active; }
  /// Whether b - A x holds a constant that is more than rounding.
  bool matters(Scalar sum, Scalar square) const {
    return norm(sum) > rounding() * std::sqrt(static_cast<double>(square));
  }

  /// Decides for this solve. Returns whether constants may be projected out. Local; the same on all ranks.
  /// \param sum (e, b - A x)   \param sumOfImage (e, A p)   \param image (A p, A p)
  bool judge(LinearSystem<Types>& system, const StopTest& stop, Scalar sum, Scalar sumOfImage, Scalar image) {
    if (!undecided()) return false;
    state_ = State::Off;
    if (wanted_ == NullSpace::Auto && !system.annihilatesConstants()) return false;
    if (norm(sumOfImage) > rounding() * std::sqrt(static_cast<double>(image))) {
      system.tell(stop.iterations(), EventKind::ConstantsKept);
    } else {
      state_ = State::Watching;
      if (wanted_ == NullSpace::Auto && norm(sum) > tuning::null_space::allowed * stop.target()) {
        outOfResidual_ = true;
        system.tell(stop.iterations(), {EventKind::ConstantTakenOut, norm(sum)});
      }
    }
    return state_ == State::Watching;
  }

  /// What the first reduction of CG tells of A. Whether a constant has been taken out of r, so that all that follows
  /// from r is to be made anew. Local.
  /// \param rr, ss (r, r) and (A p, A p), reduced with the sums
  bool takesOutOfFirst(LinearSystem<Types>& system, const StopTest& stop, Scalar rr, Scalar ss, MultiVector& r) {
    if (!judge(system, stop, sums_.r, sums_.s, ss) || !ofResidual() || !matters(sums_.r, rr)) return false;
    takenOut_ = true;
    remove(system, meanOf(sums_.r), r);
    return true;
  }

  /// (e, v) of CG's vectors, as far as this solve wants them; 0 elsewhere.
  struct Sums {
    Scalar r = 0, s = 0, p = 0, t = 0;
  };
  /// Enters them. \param t M^{-1} s; null: it is not there   \param last with it p = z + beta last, and `p` is z
  void enterSums(ReductionBatch<Types>& batch, const MultiVector& r, const MultiVector& s, const MultiVector& p,
                 const MultiVector* last, const MultiVector* t) {
    slots_ = {};
    const bool first = undecided(), withT = active() && t != nullptr;
    if (first || withT) slots_.r = enter(batch, r);
    if (first || withT) slots_.s = enter(batch, s);
    if (watching()) slots_.p = enter(batch, p);
    if (watching() && last != nullptr) slots_.last = enter(batch, *last);
    if (withT) slots_.t = enter(batch, *t);
  }
  void takeSums(const ReductionBatch<Types>& batch, Scalar beta = Scalar(0)) {
    const auto read = [&](const std::optional<Slot>& slot) { return slot ? batch[*slot] : Scalar(0); };
    sums_ = {read(slots_.r), read(slots_.s), read(slots_.p) + beta * read(slots_.last), read(slots_.t)};
  }
  const Sums& sums() const { return sums_; }

  /// Ends a solve whose b has a constant that no A x has, where the rest of b - A x meets the tolerance. Local.
  /// \param whole norms of b - A x   \param rest || b - A x || without its constant
  bool endsInconsistent(LinearSystem<Types>& system, const ResidualNorms& whole, double rest, StopTest& stop) const {
    if (!ofResidual() || !stop.endInconsistent(whole, part_, rest)) return false;
    system.tell(stop.iterations(), {EventKind::Inconsistent, part_, rest});
    return true;
  }

 private:
  /// Relative, and above what rounding makes of a sum of n terms.
  static double rounding() {
    return tuning::null_space::rounding * std::sqrt(static_cast<double>(std::numeric_limits<Scalar>::epsilon()));
  }

  /// Undecided until the first reduction. Watching: constants may be projected out, once p is all but constant.
  enum class State { Off, Undecided, Watching, Active };

  struct Slots {
    std::optional<Slot> r, s, p, last, t;
  };
  Slots slots_;
  Sums sums_;
  NullSpace wanted_ = NullSpace::None;
  State state_ = State::Off;
  bool preconditioned_ = false;
  double rows_ = 0;
  bool outOfResidual_ = false, takenOut_ = false;
  double part_ = 0;  ///< || (e, r) e / n || of the residual that takeOutOfResidual() saw
  Teuchos::RCP<MultiVector> ones_;
};

}  // namespace capstan
