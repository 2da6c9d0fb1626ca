#pragma once

/// \file
/// Names of the ways of an all-reduce.

#include <stdexcept>
#include <string>

namespace capstan::topology {

/// Which sums go by the nodes (exchange/node_reduction.hpp).
enum class ReductionStrategy {
  Mpi,        ///< none: MPI's own all-reduce
  NodeAware,  ///< all
  Tuned       ///< those whose size measurements have shown to be faster so
};

/// "mpi", "node-aware", "tuned".
inline std::string toString(ReductionStrategy strategy) {
  switch (strategy) {
    case ReductionStrategy::Mpi:
      return "mpi";
    case ReductionStrategy::NodeAware:
      return "node-aware";
    case ReductionStrategy::Tuned:
      return "tuned";
  }
  throw std::logic_error("ReductionStrategy out of range");
}

}  // namespace capstan::topology
