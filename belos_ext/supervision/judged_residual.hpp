#pragma once
/// \file
/// b - A x of a method that follows it, computed from x and judged: rows that hold a diagonal alone are solved first, a
/// constant that no A x has is taken out where that is asked for, and the guess is kept for solves that fail.
///
/// Cost: of begin() 1 A and 1 reduction; 1 of each more where rows are solved or a constant is taken out; of verify() 1
/// A and 1 reduction. Storage: 1 vector for a guess that is not zero, and 1 where
/// constants or the norm of M_L^{-1} r ask for it.

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

#include "belos_ext/convergence/stop_test.hpp"
#include "belos_ext/problem/constant_null_space.hpp"
#include "belos_ext/problem/kept_iterate.hpp"
#include "belos_ext/problem/rows_first.hpp"
#include "belos_ext/problem/vector_like.hpp"
#include "belos_ext/support/bounded_quotients.hpp"

namespace capstan {

template <class Types>
class JudgedResidual {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using Vector = Teuchos::RCP<MultiVector>;

  /// What a method has reduced with the first norms: the one enters it, the other takes it. Empty: nothing.
  struct FirstProducts {
    std::function<void(ReductionBatch<Types>&)> enter;
    std::function<void()> take;
    /// || M_L^{-1} r ||, of a method that minimises it: rows are not solved first for it.
    std::function<double()> native = {};
    bool judges = false;  ///< the sums of constants are among them, and the method judges A by them
  };

  void configure(NullSpace wanted) { constants_.configure(wanted); }

  /// Makes what is missing for vectors like b. Collective where it allocates.
  void prepare(const MultiVector& b) {
    if (!batch_ || map_.get() != b.getMap().get()) {
      batch_ = std::make_unique<ReductionBatch<Types>>(b.getMap()->getComm());
      map_ = b.getMap();
    }
  }

  /// The residual of the guess in a vector of the method, with its first products, and all that a solve begins with.
  /// False when there is nothing to do. After prepare(). Collective.
  bool begin(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop, MultiVector& into,
             const FirstProducts& first) {
    if (!findFirst(system, b, x, stop, into, first)) return false;
    return first.judges || takesOutConstant(system, b, x, stop);
  }
  /// Whether r() is another vector than the one that the first products were taken of. Local.
  bool changed() const { return changed_; }

  /// A solve goes on where another method has stood, whose x and last direction are at hand: the residual in a vector
  /// of the method, and both brought to the least error along the direction. The guess is the other method's. One
  /// reduction. Collective.
  /// \param p, s the direction and A p
  void resumeAlong(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop, MultiVector& into,
                   const MultiVector& p, const MultiVector& s) {
    typename ReductionBatch<Types>::Slot pr, ps, ss;
    const Scalar left = reduceFirst(system, b, x, into, {{}, {}, {}, true}, [&] {
      pr = batch_->dot(p, into);
      ps = batch_->dot(p, s);
      ss = batch_->norm2(s);
      constants_.enterSums(*batch_, into, s, p, nullptr, nullptr);
    });
    constants_.takeSums(*batch_);
    const Scalar along = ratioOr((*batch_)[pr], (*batch_)[ps], Scalar(0)), square = (*batch_)[ss];
    const double norm = rows_.norm(system, into, left, square_, *batch_);
    rest_ = norm;
    initial_ = attained_ = {norm, norm, system.measured()};
    if (std::isfinite(along)) system.kernels().sweep(axpy(along, p, x), axpy(-along, s, into));
    constants_.takesOutOfFirst(system, stop, square_, square, into);
  }

  /// r() is another vector from now on. Local.
  void use(MultiVector& r) { at_ = &r; }

  /// r() = b - A x, without rows that are solved already, and its norms. Collective.
  /// \param looksAtX x itself has to be finite, too
  void compute(LinearSystem<Types>& system, const MultiVector& b, const MultiVector& x, bool looksAtX = false) {
    MultiVector& r = *at_;
    system.residual(b, x, r);
    rows_.takeOut(system, r);
    batch_->clear();
    const auto rr = batch_->norm2(r);
    const auto sum = constants_.ofResidual() ? constants_.enter(*batch_, r) : rr;
    const auto bad = looksAtX ? batch_->value(system.kernels().finite(x) ? Scalar(0) : Scalar(1)) : rr;
    rows_.enter(*batch_);
    system.reduce(*batch_);
    square_ = (*batch_)[rr];
    const Scalar square = square_, left = rows_.left(*batch_), constant = (*batch_)[sum];
    const bool finite = !looksAtX || (*batch_)[bad] == Scalar(0);
    rest_ = rows_.norm(system, r, left, square, *batch_);
    attained_ = {rest_, rest_, system.measured()};
    finite_ = finite && std::isfinite(rest_);
    changed_ = true;
    if (constants_.ofResidual()) rest_ = constants_.takeOutOfResidual(system, constant, square, r, *batch_);
  }

  /// Judges what was computed last. True where the solve is over. Local.
  /// \param claimed the recursion had reached its target
  bool judge(LinearSystem<Types>& system, StopTest& stop, bool claimed) {
    if (claimed && constants_.endsInconsistent(system, attained_, rest_, stop)) return true;
    return stop.verified(attained_, claimed);
  }

  /// Both.
  bool verify(LinearSystem<Types>& system, const MultiVector& b, const MultiVector& x, StopTest& stop, bool claimed) {
    compute(system, b, x);
    return judge(system, stop, claimed);
  }

  /// Another method has gone on, and this is what it has computed last. Local.
  void attain(const ResidualNorms& norms) { attained_ = norms; }

  /// After a solve that leaves a larger residual than the guess has, or none that is finite: x = the point of least
  /// residual between the two, or the guess. No x is worse than the application's own. After others that failed, a
  /// constant that A does not see is taken out of x (takeOutOfIterate). Collective: one reduction, one more where
  /// `looksAtX`; 3 A and 2 reductions where there is something to be done.
  void settle(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop, bool looksAtX) {
    if (stop.converged() || stop.reason() == StopReason::UserTest || stop.refusesGuess()) return;
    bool finite = std::isfinite(attained_.explicit_);
    if (finite && looksAtX) finite = isFinite(system, x);
    if (finite && stop.keepsLast()) return;
    if (finite && (!stop.isWorse(attained_, initial_) || minimizeTowardsGuess(system, b, x, stop))) {
      return takeOutOfIterate(system, b, x, stop);
    }
    goBack(system, x, stop);
    system.tell(stop.iterations(), finite ? EventKind::BackToGuess : EventKind::BackFromOverflow);
  }

  /// x less the constant that has come to the guess, where A annihilates constants and that one is more than the rest
  /// of x: where b has a part that no A x has, or M^{-1} makes little else, x grows along the null space without end,
  /// and rounding of A x decides how large b - A x is. x = the guess where that has left nothing better. Collective
  /// where A annihilates constants: 1 reduction, and 1 A and 1 reduction more where there is something to be done, with
  /// M_L that and 1 reduction, too.
  void takeOutOfIterate(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop) {
    if (!system.annihilatesConstants()) return;
    batch_->clear();
    const auto sum = batch_->sum(x), square = batch_->norm2(x);
    system.reduce(*batch_);
    const Scalar entries = (*batch_)[sum], change = constants_.meanOf(entries - entriesOfGuess_);
    const double whole = static_cast<double>((*batch_)[square]), constant = constants_.norm(entries);
    const double added = constants_.norm(entries - entriesOfGuess_), rest = whole - constant * constant;
    if (!std::isfinite(whole) || !(added * added > rest)) return;
    constants_.remove(system, change, x);
    computeBoth(system, b, x);
    if (!finite_ || stop.isWorse(attained_, initial_)) {
      goBack(system, x, stop);
      system.tell(stop.iterations(), EventKind::BackToGuess);
      return;
    }
    stop.wentBack(attained_);
    system.tell(stop.iterations(), {EventKind::ConstantOutOfIterate, added, std::sqrt(std::max(rest, 0.0))});
  }

  /// x = the guess, whose residual is to be computed anew. Local.
  void restoreGuess(LinearSystem<Types>& system, MultiVector& x) const { guess_.restore(system, x); }
  /// x = the guess. Local.
  void goBack(LinearSystem<Types>& system, MultiVector& x, StopTest& stop) {
    guess_.restore(system, x);
    attained_ = initial_;
    stop.wentBack(initial_);
  }

  /// Whether all entries of v are, on all ranks. 1 reduction.
  bool isFinite(LinearSystem<Types>& system, const MultiVector& v) {
    batch_->clear();
    const auto bad = batch_->value(system.kernels().finite(v) ? Scalar(0) : Scalar(1));
    system.reduce(*batch_);
    return (*batch_)[bad] == Scalar(0);
  }

  /// As computed last; n x 1.
  const MultiVector& r() const { return *at_; }
  /// (r, r) as computed last, without what is taken out of b - A x.
  Scalar square() const { return square_; }
  /// Whether it is not zero, and cannot be followed by its square. Local.
  bool mayUnderflow() const { return rest_ > 0 && LinearSystem<Types>::mayUnderflow(*at_, square_); }
  /// Whether it and, where that was asked for, x are finite.
  bool finite() const { return finite_; }
  /// Of the guess, and of the x that was judged last.
  const ResidualNorms& initial() const { return initial_; }
  const ResidualNorms& attained() const { return attained_; }
  /// || r() || without what is taken out of it.
  double rest() const { return rest_; }
  /// || A x || of the guess, or more.
  double sizeOfImage() const { return sizeOfImage_; }
  /// (x, x) of the guess.
  Scalar sizeOfGuess() const { return sizeOfGuess_; }

  ConstantNullSpace<Types>& constants() { return constants_; }
  RowsFirst<Types>& rows() { return rows_; }
  /// For reductions between those above.
  ReductionBatch<Types>& batch() { return *batch_; }

 private:
  /// The first residual and its norms, and what stop.begin() takes. False when there is nothing to do.
  bool findFirst(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop, MultiVector& into,
                 const FirstProducts& first) {
    MultiVector& r = into;
    typename ReductionBatch<Types>::Slot bb;
    const Scalar left = reduceFirst(system, b, x, r, first, [&] { bb = batch_->norm2(b); });
    const Scalar rhs = (*batch_)[bb];
    native_ = static_cast<bool>(first.native);
    const double native = native_ ? first.native() : 0;
    const double norm = rows_.norm(system, r, left, square_, *batch_), whole = system.norm(b, rhs, *batch_);
    const bool scaled = system.hasLeft() && stop.criteria().scalesByNative();
    initial_ = attained_ = {native_ ? native : norm, norm, system.measured()};
    rest_ = norm;
    sizeOfImage_ = norm + whole;
    stop.begin(initial_, whole, scaled && !native_ ? rows_.nativeNorm(system, r, scratch(), *batch_) : initial_.native);
    if (stop.verified(initial_, false)) return false;
    if (native_) return true;
    if (!std::isfinite(square_)) {
      stop.stop(StopReason::NonFinite);
      return false;
    }
    if (!RowsFirst<Types>::matters(r, left, rhs, square_)) return true;
    return solveRows(system, b, x, stop, first);
  }

  /// x = x_0 + eta (x - x_0), with the eta of least residual: (r_0, A d) / (A d, A d), d = x - x_0. False where that is
  /// not better than the guess x_0; x is to be restored then.
  bool minimizeTowardsGuess(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop) {
    auto& kernels = system.kernels();
    MultiVector& image = scratch();
    guess_.subtractFrom(system, x);  // d
    system.act(Action::Operator, x, image);
    MultiVector& r = *at_;
    guess_.restore(system, vectorLike(b, other_));
    system.residual(b, *other_, r);
    batch_->clear();
    const auto along = batch_->dot(r, image), square = batch_->norm2(image);
    system.reduce(*batch_);
    const Scalar eta = (*batch_)[square] > Scalar(0) ? (*batch_)[along] / (*batch_)[square] : Scalar(0);
    if (!(eta > Scalar(0)) || !std::isfinite(eta)) return false;
    kernels.axpby(Scalar(1), *other_, eta, x);
    computeBoth(system, b, x);
    if (!finite_ || stop.isWorse(attained_, initial_)) return false;
    stop.wentBack(attained_);
    system.tell(stop.iterations(), {EventKind::BackTowardsGuess, eta});
    return true;
  }

  /// compute(), and || M_L^{-1} r || where the method minimises that, of an x that is not the method's: 1 M_L^{-1} and
  /// 1 reduction more.
  void computeBoth(LinearSystem<Types>& system, const MultiVector& b, const MultiVector& x) {
    compute(system, b, x, true);
    if (native_ && system.hasLeft()) attained_.native = rows_.nativeNorm(system, *at_, scratch(), *batch_);
  }

  /// The residual of the x at hand in a vector of the method, and the guess, which that x is, with reduceWith().
  template <class More>
  Scalar reduceFirst(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, MultiVector& into,
                     const FirstProducts& first, const More& more) {
    at_ = &into;
    system.residual(b, x, into);
    rows_.takeOut(system, into);
    constants_.begin(system, b);
    typename ReductionBatch<Types>::Slot xx, entries;
    const Scalar left = reduceWith(system, first, [&] {
      more();
      xx = batch_->norm2(x);
      entries = batch_->sum(x);
    });
    sizeOfGuess_ = (*batch_)[xx];
    entriesOfGuess_ = (*batch_)[entries];
    guess_.keepGuess(system, x, sizeOfGuess_, entriesOfGuess_);
    return left;
  }

  /// (r, r) of the residual at hand, with the first products and what `more` enters, in one reduction. Returns the
  /// square of what the rows held. Collective.
  template <class More>
  Scalar reduceWith(LinearSystem<Types>& system, const FirstProducts& first, const More& more) {
    batch_->clear();
    if (first.enter) first.enter(*batch_);
    more();
    const auto rr = batch_->norm2(*at_);
    const auto sum = !first.judges && constants_.undecided() ? constants_.enter(*batch_, *at_) : rr;
    rows_.enter(*batch_);
    system.reduce(*batch_);
    if (first.take) first.take();
    changed_ = false;
    square_ = (*batch_)[rr];
    sum_ = (*batch_)[sum];
    return rows_.left(*batch_);
  }

  /// x_i = b_i / a_ii first, and the rest from there. 1 A, 1 reduction, and what the first products take.
  bool solveRows(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop,
                 const FirstProducts& first) {
    MultiVector& r = *at_;
    rows_.solve(system, stop.iterations(), b, x, r);
    const Scalar left = reduceWith(system, first, [] {});
    rest_ = rows_.norm(system, r, left, square_, *batch_);
    const ResidualNorms now{rest_, rest_, system.measured()};
    if (std::isfinite(rest_)) {
      sizeOfGuess_ = std::max(sizeOfGuess_, Scalar(1));
      attained_ = now;
    } else {
      guess_.restore(system, x);  // the norms of which the stop test keeps
    }
    stop.judgesAnew();
    return !stop.verified(now, false);
  }

  /// Where A may annihilate constants: 1 A and a reduction to know that, and as many where r has a constant that is to
  /// be taken out. False when the solve is over.
  bool takesOutConstant(LinearSystem<Types>& system, const MultiVector& b, const MultiVector& x, StopTest& stop) {
    if (!constants_.needsImage(system, sum_, square_)) return true;
    auto& image = scratch();
    system.act(Action::Operator, *at_, image);
    batch_->clear();
    const auto ofImage = constants_.enter(*batch_, image), ofSquare = batch_->norm2(image);
    system.reduce(*batch_);
    const Scalar onto = (*batch_)[ofImage], size = (*batch_)[ofSquare];
    const bool takesOut = constants_.judge(system, stop, sum_, onto, size) && constants_.ofResidual();
    if (!takesOut || !constants_.matters(sum_, square_)) return true;
    stop.judgesAnew();
    return !verify(system, b, x, stop, false);
  }

  MultiVector& scratch() { return vectorLike(*at_, scratch_); }

  Vector scratch_, other_;
  MultiVector* at_ = nullptr;  ///< where the residual is, a vector of the method
  Teuchos::RCP<const typename Types::Map> map_;
  std::unique_ptr<ReductionBatch<Types>> batch_;
  RowsFirst<Types> rows_;
  ConstantNullSpace<Types> constants_;
  KeptIterate<Types> guess_;
  ResidualNorms initial_, attained_;
  Scalar square_ = 0, sum_ = 0, sizeOfGuess_ = 0, entriesOfGuess_ = 0;
  bool native_ = false;  ///< the method minimises || M_L^{-1} r ||
  bool finite_ = true, changed_ = false;
  double rest_ = 0, sizeOfImage_ = 0;
};

}  // namespace capstan
