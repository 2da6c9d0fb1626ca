#pragma once
/// \file
/// For hosts that say their limits before every solve.

#include <optional>
#include <tuple>

#include "adapters/c/capstan.h"

namespace capstan::c {

/// Tells a solver its limits where they are others than those it was told last.
class ToldLimits {
 public:
  /// As capstan_set_limits(). Local.
  int tell(capstan_solver* solver, double tolerance, double absoluteTolerance, int maxIterations) {
    const std::tuple limits{tolerance, absoluteTolerance, maxIterations};
    if (told_ == limits) return CAPSTAN_SUCCESS;
    const int status = capstan_set_limits(solver, tolerance, absoluteTolerance, maxIterations);
    told_.reset();  // what is refused is refused again
    if (status == CAPSTAN_SUCCESS) told_ = limits;
    return status;
  }

 private:
  std::optional<std::tuple<double, double, int>> told_;
};

}  // namespace capstan::c
