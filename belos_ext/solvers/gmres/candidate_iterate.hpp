#pragma once
/// \file
/// The iterate a cycle of GMRES leads to, with its computed residuals: looked at where a claim is to be examined, taken
/// as the new x at the end of the cycle, or refused.
///
/// | symbol     | here       | shape | meaning                                                           |
/// |------------|------------|-------|-------------------------------------------------------------------|
/// | x          | *x_        | n x 1 | iterate of the solve                                              |
/// | x + d      | candidate_ | n x 1 | d = M_R^{-1} Q y, or Z y with flexible preconditioning            |
/// | r          | r_         | n x 1 | b - A x, of the candidate where there is one                      |
/// | M_L^{-1} r | native_    | n x 1 | the residual that GMRES minimises; symbols as in krylov_space.hpp |
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
#include <memory>

#include "belos_ext/convergence/stop_test.hpp"
#include "belos_ext/parameters/tuning.hpp"
#include "belos_ext/problem/kept_iterate.hpp"
#include "belos_ext/solvers/gmres/krylov_space.hpp"

namespace capstan {

template <class Types>
class CandidateIterate {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;

  enum class Update { Made, Refused, NotFinite };

  /// Starts a solve: residuals of x, no candidate. b and x, n x 1, outlive the solve. 1 A, 1 M_L^{-1}. Collective.
  void begin(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x) {
    prepare(b);
    b_ = &b;
    x_ = &x;
    computeResiduals(system, x);
  }

  const MultiVector& residual() const { return *r_; }
  const MultiVector& native() const { return *native_; }
  /// For other reductions of the solve; begin() and form() clear it.
  ReductionBatch<Types>& batch() { return *batch_; }

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
  void form(LinearSystem<Types>& system, KrylovSpace<Types>& space, int columns) {
    measure(system, space, columns);
    if (!space.keeps() || shown_ == columns ||
        StopTest::trusts(norms_, static_cast<double>(space.relation().leastSquares().residual(columns)))) {
      return;
    }
    space.keepNoMore();  // Z c may be to blame: M itself decides
    measure(system, space, columns);
  }

  /// Puts the residuals of x back in the place of those of a candidate that was not taken. Collective.
  void forget(LinearSystem<Types>& system) {
    hide();
    if (columns_ == 0) return;
    clear();
    computeResiduals(system, *x_);
  }

  /// x <- x + d, the one that a test has seen, if it is finite; where none has, x <- x + M_R^{-1} Q y, if it and its
  /// residual are finite and the residual is hardly larger than that of x: it cannot be without an A or M that changes,
  /// or a basis that is none. Else the same with fewer columns; in the end x stays. Collective. \param norms those of
  /// x, before and after
  Update take(LinearSystem<Types>& system, KrylovSpace<Types>& space, int columns, ResidualNorms& norms) {
    if (shown_ > 0) {
      columns = shown_;
      form(system, space, columns);
    }
    bool finite = false;
    for (; columns > 0; columns /= 2) {
      if (columns_ != columns) form(system, space, columns);
      if (!finite_) continue;
      finite = true;
      if (shown_ != columns && norms_.native > tuning::gmres::tolerated * norms.native) continue;
      if (norms_.native > norms.native) keep(system, norms);
      norms = norms_;
      system.kernels().scale(Scalar(1), *candidate_, *x_);
      clear();
      return Update::Made;
    }
    if (!finite) return Update::NotFinite;
    forget(system);
    return Update::Refused;
  }

  /// Returns to the x of the smallest native residual, if that is not the last one. The application's own test has
  /// judged the last one.
  /// \param norms those of the last x
  void goBack(LinearSystem<Types>& system, const ResidualNorms& norms, StopTest& stop) {
    if (stop.converged() || stop.reason() == StopReason::UserTest || !(best_ < norms.native)) return;
    bestX_.restore(system, *x_);
    stop.wentBack(bestNorms_);
    system.tell(stop.iterations(), "went back", "to an earlier iterate with a smaller residual");
  }

 private:
  using Vector = Teuchos::RCP<MultiVector>;

  void measure(LinearSystem<Types>& system, KrylovSpace<Types>& space, int columns) {
    if (shown_ == columns) {
      system.kernels().scale(Scalar(1), *change_, *candidate_);
    } else {
      space.change(system, columns, *candidate_);
    }
    system.kernels().axpby(Scalar(1), *x_, Scalar(1), *candidate_);
    computeResiduals(system, *candidate_);
    batch_->clear();
    const auto native = batch_->norm2(*native_), explicit_ = batch_->norm2(*r_), size = batch_->norm2(*candidate_);
    system.reduce(*batch_);
    const Scalar zz = (*batch_)[native], rr = (*batch_)[explicit_], xx = (*batch_)[size];
    norms_ = {system.norm(*native_, zz, *batch_), system.norm(*r_, rr, *batch_), system.measured()};
    columns_ = columns;
    finite_ = std::isfinite(norms_.native) && std::isfinite(norms_.explicit_) && std::isfinite(xx);
  }

  void prepare(const MultiVector& b) {
    const auto map = b.getMap();
    clear();
    best_ = std::numeric_limits<double>::infinity();
    if (r_.is_null() || r_->getMap().get() != map.get()) {
      for (Vector* vector : {&r_, &native_, &candidate_}) *vector = Teuchos::rcp(new MultiVector(map, 1));
      batch_ = std::make_unique<ReductionBatch<Types>>(map->getComm());
    }
  }

  void clear() {
    columns_ = shown_ = 0;
    finite_ = false;
    norms_ = {};
  }

  void computeResiduals(LinearSystem<Types>& system, const MultiVector& of) {
    system.residual(*b_, of, *r_);
    system.toNative(*r_, *native_);
  }

  /// Remembers x, which the next one will be a little worse than: near the attainable accuracy residuals rise and fall.
  void keep(LinearSystem<Types>& system, const ResidualNorms& norms) {
    if (best_ <= norms.native) return;
    bestX_.keep(system, *x_);
    best_ = norms.native;
    bestNorms_ = norms;
  }

  const MultiVector* b_ = nullptr;  ///< those of the solve at work
  MultiVector* x_ = nullptr;
  Vector r_, native_, candidate_;
  Vector change_;  ///< d, which a test of the application's own has seen
  int columns_ = 0;
  int shown_ = 0;  ///< columns that `change_` is made of; 0: nobody has seen one
  bool finite_ = false;
  ResidualNorms norms_;
  double best_ = std::numeric_limits<double>::infinity();  ///< native residual of bestX_
  ResidualNorms bestNorms_;
  KeptIterate<Types> bestX_;  ///< kept where a cycle makes the residual larger
  std::unique_ptr<ReductionBatch<Types>> batch_;
};

}  // namespace capstan
