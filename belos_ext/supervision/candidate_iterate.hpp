#pragma once
/// \file
/// The iterate that a Krylov space leads to, with its computed residuals: looked at where a claim is to be examined,
/// taken as the new x at the end of a cycle, or refused.
///
/// | symbol     | here       | shape | meaning                                                                   |
/// |------------|------------|-------|---------------------------------------------------------------------------|
/// | x + d      | candidate_ | n x 1 | d = M_R^{-1} Q y, or Z y with flexible preconditioning                    |
/// | r          | r_         | n x 1 | b - A x, of the candidate where there is one                              |
/// | M_L^{-1} r | native_    | n x 1 | the residual that GMRES minimises; symbols as in basis/krylov_space.hpp   |
///
/// Cost of a candidate: 1 reduction, 1 A, 1 M_L^{-1}, 1 M_R^{-1} (none where Z is kept), the basis read once; twice
/// that where Z is kept and the residual is not the one expected. One that was looked at is not computed again when it
/// is taken. Storage: 3 vectors, 1 more from the first x that was worse than the one before it, and 1 more where the
/// application's own test looks at x + d.
///
/// Where that test ends the solve, x is the candidate that it has seen, whatever another application of M would make
/// of it.
///
/// x is never left with a larger || M_L^{-1} r || than an iterate before it had: what an absurd basis or a
/// preconditioner that changes makes of x is refused.

#include <cmath>
#include <limits>

#include "belos_ext/basis/krylov_space.hpp"
#include "belos_ext/convergence/stop_test.hpp"
#include "belos_ext/problem/kept_iterate.hpp"
#include "belos_ext/supervision/progress.hpp"

namespace capstan {

template <class Types>
class CandidateIterate {
 public:
  using MultiVector = typename Types::MultiVector;
  using Scalar = typename Types::Scalar;

  /// A solve begins: no candidate. Collective where it allocates.
  void prepare(const MultiVector& b) {
    for (auto* vector : {&r_, &native_, &candidate_}) vectorLike(b, *vector);
    columns_ = shown_ = 0;
    ofX_ = true;
    best_ = std::numeric_limits<double>::infinity();
  }

  Teuchos::RCP<MultiVector>& residual() { return r_; }
  MultiVector& native() { return *native_; }

  /// Columns of H the candidate is made of; 0: there is none.
  int columns() const { return columns_; }
  /// Whether the candidate and its residuals are.
  bool finite() const { return finite_; }
  const ResidualNorms& norms() const { return norms_; }

  /// out = d, the change of x after `columns` columns, for a test of the application's own; computed once. 1 M_R^{-1}.
  void show(LinearSystem<Types>& system, KrylovSpace<Types>& space, int columns, MultiVector& out) {
    if (shown_ != columns) space.change(system, columns, vectorLike(*r_, change_));
    shown_ = columns;
    system.kernels().scale(Scalar(1), *change_, out);
  }
  /// That test lets the solve go on. Local.
  void hide() { shown_ = 0; }

  /// candidate = x + M_R^{-1} Q y, with its residuals and their norms. Collective.
  void form(Progress<Types>& progress, KrylovSpace<Types>& space, int columns) {
    measure(progress, space, columns);
    if (!space.keeps() || shown_ == columns ||
        StopTest::trusts(norms_, static_cast<double>(space.relation().residual(columns)))) {
      return;
    }
    space.keepNoMore();  // Z c may be to blame: M itself decides
    measure(progress, space, columns);
  }

  /// The columns that the candidate was made of have changed. Local.
  void drop() { columns_ = 0; }

  /// Puts the residuals of x back in the place of those of a candidate that was not taken. Collective.
  void forget(Progress<Types>& progress) {
    columns_ = shown_ = 0;
    if (!ofX_) computeResiduals(progress, progress.x());
    ofX_ = true;
  }

  /// x <- x + d, the one that a test has seen, if it is finite; where none has, x <- x + M_R^{-1} Q y, if it and its
  /// residual are finite and the residual is hardly larger than that of x: it cannot be without an A or M that changes,
  /// or a basis that is none. Else the same with fewer columns; in the end x stays. False where nothing is finite.
  /// Collective.
  bool take(Progress<Types>& progress, KrylovSpace<Types>& space, int columns) {
    auto& kernels = progress.system().kernels();
    const ResidualNorms before = progress.residual().attained();
    if (shown_ > 0) form(progress, space, columns = shown_);
    bool finite = false;
    for (; columns > 0; columns /= 2) {
      if (columns_ != columns) form(progress, space, columns);
      if (!finite_) continue;
      finite = true;
      if (shown_ != columns && norms_.native > tuning::stop_test::trusted * before.native) continue;
      if (norms_.native > before.native) keep(progress, before);
      kernels.scale(Scalar(1), *candidate_, progress.x());
      ofX_ = true;
      progress.formed(norms_);
      forget(progress);
      return true;
    }
    if (!finite) return false;
    forget(progress);
    progress.formed(before);
    progress.tell(EventKind::Refused);
    return true;
  }

  /// Returns to the x of the smallest native residual, if that is not the last one. The application's own test has
  /// judged the last one. Local.
  void goBack(Progress<Types>& progress) {
    auto& stop = progress.stop();
    if (stop.converged() || stop.reason() == StopReason::UserTest || !(best_ < progress.residual().attained().native)) {
      return;
    }
    bestX_.restore(progress.system(), progress.x());
    progress.formed(bestNorms_);
    stop.wentBack(bestNorms_);
    progress.tell(EventKind::BackToIterate);
  }

 private:
  void measure(Progress<Types>& progress, KrylovSpace<Types>& space, int columns) {
    auto& system = progress.system();
    auto& batch = progress.residual().batch();
    if (shown_ == columns) {
      system.kernels().scale(Scalar(1), *change_, *candidate_);
    } else {
      space.change(system, columns, *candidate_);
    }
    system.kernels().axpby(Scalar(1), progress.x(), Scalar(1), *candidate_);
    computeResiduals(progress, *candidate_);
    batch.clear();
    const auto native = batch.norm2(*native_), explicit_ = batch.norm2(*r_);
    const auto bad = batch.value(system.kernels().finite(*candidate_) ? Scalar(0) : Scalar(1));
    system.reduce(batch);
    const Scalar zz = batch[native], rr = batch[explicit_];
    const bool finite = batch[bad] == Scalar(0);
    norms_ = {system.norm(*native_, zz, batch), system.norm(*r_, rr, batch), system.measured()};
    columns_ = columns;
    ofX_ = false;
    finite_ = finite && std::isfinite(norms_.native) && std::isfinite(norms_.explicit_);
  }

  void computeResiduals(Progress<Types>& progress, const MultiVector& of) {
    progress.system().residual(progress.b(), of, *r_);
    progress.system().toNative(*r_, *native_);
  }

  /// Remembers x, which the next one will be a little worse than: near the attainable accuracy residuals rise and fall.
  void keep(Progress<Types>& progress, const ResidualNorms& norms) {
    if (best_ <= norms.native) return;
    bestX_.keep(progress.system(), progress.x());
    best_ = norms.native;
    bestNorms_ = norms;
  }

  Teuchos::RCP<MultiVector> r_, native_, candidate_;
  Teuchos::RCP<MultiVector> change_;  ///< d, which a test of the application's own has seen
  int columns_ = 0;
  int shown_ = 0;    ///< columns that `change_` is made of; 0: nobody has seen one
  bool ofX_ = true;  ///< the residuals are those of x
  bool finite_ = false;
  ResidualNorms norms_;
  double best_ = std::numeric_limits<double>::infinity();  ///< native residual of bestX_
  ResidualNorms bestNorms_;
  KeptIterate<Types> bestX_;  ///< kept where a cycle makes the residual larger
};

}  // namespace capstan
