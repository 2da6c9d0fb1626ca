#pragma once

/// \file
/// What an iteration takes on a machine, from the cost line of its method.

#include "belos_ext/parameters/method_traits.hpp"

namespace capstan {

/// Seconds, as means over the ranks.
struct MachineTimes {
  double product = 0.0;         ///< an application of A, its messages included
  double preconditioner = 0.0;  ///< an application of M^{-1}
  double byte = 0.0;            ///< one byte of each row of a rank, read or written by kernels
  double reduction = 0.0;       ///< an all-reduce that is waited for at once
};

/// An iteration of a method, as the model sees it.
struct IterationCost {
  Cost cost{};
  bool hidden = false;  ///< reductions are in flight while something is computed
  int depth = 1;        ///< so many of them; counts where they are hidden
};

/// Seconds of an iteration without its reductions.
double workSeconds(const IterationCost& iteration, const MachineTimes& times);

/// Seconds of an iteration: its work, and of its reductions what that does not hide.
double iterationSeconds(const IterationCost& iteration, const MachineTimes& times);

/// The seconds of an all-reduce, from what iterations of a method have waited for each of theirs; those that are hidden
/// show only what their work has not hidden. \param earlier what is known already
double reductionSeconds(const IterationCost& iteration, const MachineTimes& times, double wait, double earlier);

}  // namespace capstan
