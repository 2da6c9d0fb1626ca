#pragma once
/// \file
/// Whether a residual is nothing but rounding: asked after a claim of convergence has failed, so that a tolerance that
/// cannot be met ends a solve at once and not after many restarts.

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <memory>

#include "belos_ext/convergence/stop_test.hpp"
#include "belos_ext/core/linear_system.hpp"

namespace capstan {

/// Its vectors are made where a claim first fails in this way, and kept.
template <class Types>
class RoundingLevel {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;

  /// Ends the solve with StopReason::AttainableAccuracy where || b - A x || <= few eps (|| b || + || A || || x ||), and
  /// records an event. To be called after a failed claim: stop.verified() has had the norms of r.
  ///
  /// || A || is estimated by || A r || / || r ||, a lower bound whatever A is: what rounding leaves in r has parts in
  /// all directions, those of large A among them. Cost, only where the recursion is wrong: 1 A, 1 reduction.
  /// Collective. \param r b - A x, as computed; n x 1 like x
  bool ends(LinearSystem<Types>& system, const MultiVector& x, const MultiVector& r, StopTest& stop) {
    const double residual = stop.norms().explicit_;
    if (stop.over() || !stop.recursionIsWrong() || !(residual > 0)) return false;
    prepare(x);
    system.kernels().scale(static_cast<Scalar>(1 / residual), r, *unit_);
    system.act(Action::Operator, *unit_, *image_);
    batch_->clear();
    const auto image = batch_->norm2(*image_), size = batch_->norm2(x);
    system.reduce(*batch_);
    const double operatorNorm = std::sqrt(static_cast<double>((*batch_)[image]));
    const double xNorm = std::sqrt(static_cast<double>((*batch_)[size]));
    if (!stop.endAtRoundingLevel(operatorNorm, xNorm, std::numeric_limits<Scalar>::epsilon())) return false;
    system.tell(stop.iterations(), "attainable accuracy",
                fmt::format("|| b - A x || = {:.2e} is rounding: || A || is at least {:.2e}, || x || {:.2e}", residual,
                            operatorNorm, xNorm));
    return true;
  }

 private:
  void prepare(const MultiVector& x) {
    const auto map = x.getMap();
    if (!unit_.is_null() && unit_->getMap().get() == map.get()) return;
    unit_ = Teuchos::rcp(new MultiVector(map, 1, false));
    image_ = Teuchos::rcp(new MultiVector(map, 1, false));
    batch_ = std::make_unique<ReductionBatch<Types>>(map->getComm());
  }

  Teuchos::RCP<MultiVector> unit_, image_;  ///< r / || r ||, and A times that
  std::unique_ptr<ReductionBatch<Types>> batch_;
};

}  // namespace capstan
