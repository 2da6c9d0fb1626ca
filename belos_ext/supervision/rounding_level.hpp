#pragma once
/// \file
/// Whether a residual is nothing but rounding: asked after a claim of convergence has failed, so that a tolerance that
/// cannot be met ends a solve at once and not after many restarts.

#include <cmath>
#include <limits>
#include <memory>

#include "belos_ext/convergence/stop_test.hpp"
#include "belos_ext/problem/linear_system.hpp"
#include "belos_ext/problem/vector_like.hpp"

namespace capstan {

/// Its vectors are made where a claim first fails in this way, and kept.
template <class Types>
class RoundingLevel {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;

  /// Ends the solve with StopReason::AttainableAccuracy where nothing but rounding is left of b - A x and the tolerance
  /// asks for less (StopTest::endAtRoundingLevel()), and records an event. To be called after a failed claim of a
  /// recursion that rounding has separated from b - A x, when
  /// stop.verified() has had the norms of the residual of x.
  ///
  /// The last digits of x, relative eps, move b - A x by about eps || A s(x) ||, where s(x) has random signs: nothing
  /// cancels in it, and rows that are small with large entries of x in them count as what they are. It needs no entries
  /// of A. Cost, only where the recursion is wrong: 1 A, 1 reduction. Collective.
  bool ends(LinearSystem<Types>& system, const MultiVector& x, StopTest& stop) {
    const bool over = stop.over() && stop.reason() != StopReason::Stagnation;
    if (over) return false;
    prepare(x);
    system.kernels().changeSigns(x, *signed_);
    system.act(Action::Operator, *signed_, *image_);
    batch_->clear();
    const auto square = batch_->norm2(*image_);
    system.reduce(*batch_);
    const double images = std::sqrt(static_cast<double>((*batch_)[square]));
    if (!stop.endAtRoundingLevel(images, std::numeric_limits<Scalar>::epsilon())) return false;
    system.tell(stop.iterations(), {EventKind::RoundingReached, stop.norms().explicit_, images});
    return true;
  }

 private:
  void prepare(const MultiVector& x) {
    const auto known = signed_;
    if (&vectorLike(x, signed_) == known.get()) return;
    vectorLike(x, image_);
    batch_ = std::make_unique<ReductionBatch<Types>>(x.getMap()->getComm());
  }

  Teuchos::RCP<MultiVector> signed_, image_;  ///< x with other signs, and A times that
  std::unique_ptr<ReductionBatch<Types>> batch_;
};

}  // namespace capstan
