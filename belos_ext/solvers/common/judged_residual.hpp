#pragma once
/// \file
/// b - A x of a symmetric method, computed from x and judged: rows that hold a diagonal alone are solved first, a
/// constant that no A x has is taken out where that is asked for, and the guess is kept for solves that fail.
///
/// Cost: of begin() 1 A and 1 reduction; 1 of each more where rows are solved or a constant is taken out; of verify() 1
/// A and 1 reduction. Storage: 1 vector, 1 more for a guess that is not zero, and 1 where constants or the norm of
/// M_L^{-1} r ask for it.

#include <cmath>
#include <memory>

#include "belos_ext/convergence/stop_test.hpp"
#include "belos_ext/problem/constant_null_space.hpp"
#include "belos_ext/problem/kept_iterate.hpp"
#include "belos_ext/problem/rows_first.hpp"
#include "belos_ext/problem/vector_like.hpp"

namespace capstan {

template <class Types>
class JudgedResidual {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;

  void configure(NullSpace wanted) { constants_.configure(wanted); }

  /// The residual of the guess, and all that a solve begins with. False when there is nothing to do. Collective.
  bool begin(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop) {
    if (r_.is_null() || r_->getMap().get() != b.getMap().get()) {
      batch_ = std::make_unique<ReductionBatch<Types>>(b.getMap()->getComm());
    }
    auto& r = vectorLike(b, r_);
    system.residual(b, x, r);
    rows_.takeOut(system, r);
    constants_.begin(system, b);
    batch_->clear();
    const auto rr = batch_->norm2(r), bb = batch_->norm2(b), xx = batch_->norm2(x), entries = batch_->sum(x);
    const auto sum = constants_.askedFor() ? constants_.enter(*batch_, r) : rr;
    rows_.enter(*batch_);
    system.reduce(*batch_);
    const Scalar square = (*batch_)[rr], rhs = (*batch_)[bb], left = rows_.left(*batch_), constant = (*batch_)[sum];
    guess_.keepGuess(system, x, (*batch_)[xx], (*batch_)[entries]);
    const double norm = rows_.norm(system, r, left, square, *batch_), whole = system.norm(b, rhs, *batch_);
    const bool scaled = system.hasLeft() && stop.criteria().scalesByNative();
    initial_ = attained_ = {norm, norm, system.measured()};
    sizeOfImage_ = norm + whole;
    stop.begin(initial_, whole, scaled ? rows_.nativeNorm(system, r, scratch(), *batch_) : norm);
    if (stop.verified(initial_, false)) return false;
    if (!std::isfinite(square)) {
      stop.stop(StopReason::NonFinite);
      return false;
    }
    const bool solved = RowsFirst<Types>::matters(r, left, rhs, square);
    if (solved) rows_.solve(system, stop.iterations(), b, x, r);
    const bool without = findConstant(system, stop, constant, square);
    return !(solved || without) || !verify(system, b, x, stop, false);
  }

  /// r() = b - A x, without rows that are solved already. True where the solve is over. Collective.
  /// \param claimed the recursion had reached its target
  bool verify(LinearSystem<Types>& system, const MultiVector& b, const MultiVector& x, StopTest& stop, bool claimed) {
    system.residual(b, x, *r_);
    rows_.takeOut(system, *r_);
    batch_->clear();
    const auto rr = batch_->norm2(*r_);
    const auto sum = constants_.ofResidual() ? constants_.enter(*batch_, *r_) : rr;
    rows_.enter(*batch_);
    system.reduce(*batch_);
    const Scalar square = (*batch_)[rr], left = rows_.left(*batch_), constant = (*batch_)[sum];
    rest_ = rows_.norm(system, *r_, left, square, *batch_);
    attained_ = {rest_, rest_, system.measured()};
    if (constants_.ofResidual()) {
      rest_ = constants_.takeOutOfResidual(system, constant, square, *r_, *batch_);
      if (claimed && constants_.endsInconsistent(system, attained_, rest_, stop)) return true;
    }
    return stop.verified(attained_, claimed);
  }

  /// Another method has gone on, and this is what it has computed last. Local.
  void attain(const ResidualNorms& norms) { attained_ = norms; }

  /// The guess, where x or b - A x have overflowed. One reduction, for solves that failed only. Collective.
  void leaveFinite(LinearSystem<Types>& system, MultiVector& x, StopTest& stop) {
    batch_->clear();
    const auto bad = batch_->value(system.kernels().finite(x) ? Scalar(0) : Scalar(1));
    system.reduce(*batch_);
    if ((*batch_)[bad] == Scalar(0) && std::isfinite(attained_.explicit_)) return;
    guess_.restore(system, x);
    stop.wentBack(initial_);
    system.tell(stop.iterations(), "went back", "to the guess: the iterates overflow");
  }

  /// As computed last; n x 1.
  const MultiVector& r() const { return *r_; }
  /// Of the guess, and of the x that was judged last.
  const ResidualNorms& initial() const { return initial_; }
  const ResidualNorms& attained() const { return attained_; }
  /// || r() || without what is taken out of it.
  double rest() const { return rest_; }
  /// || A x || of the guess, or more.
  double sizeOfImage() const { return sizeOfImage_; }

  ConstantNullSpace<Types>& constants() { return constants_; }
  /// For reductions between those above.
  ReductionBatch<Types>& batch() { return *batch_; }

 private:
  /// Whether r has a constant that is to be taken out, from its sum and its square. 1 A and a reduction where it has.
  bool findConstant(LinearSystem<Types>& system, const StopTest& stop, Scalar sum, Scalar square) {
    if (!constants_.askedFor() || !constants_.matters(sum, square)) return false;
    auto& image = scratch();
    system.act(Action::Operator, *r_, image);
    batch_->clear();
    const auto ofImage = constants_.enter(*batch_, image), ofSquare = batch_->norm2(image);
    system.reduce(*batch_);
    return constants_.judge(system, stop, sum, (*batch_)[ofImage], (*batch_)[ofSquare]);
  }

  MultiVector& scratch() { return vectorLike(*r_, scratch_); }

  Teuchos::RCP<MultiVector> r_, scratch_;
  std::unique_ptr<ReductionBatch<Types>> batch_;
  RowsFirst<Types> rows_;
  ConstantNullSpace<Types> constants_;
  KeptIterate<Types> guess_;
  ResidualNorms initial_, attained_;
  double rest_ = 0, sizeOfImage_ = 0;
};

}  // namespace capstan
