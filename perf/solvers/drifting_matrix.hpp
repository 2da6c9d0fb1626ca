#pragma once
/// \file
/// A matrix whose entries drift in the course of a contest, as coefficients do in a run of a flow.

#include <Teuchos_RCP.hpp>

#include "adapters/deck/types.hpp"

namespace capstan::perf {

/// D A D with d_i = 1 + (sqrt(1 + part) - 1) w_i turn / turns and w_i in [0, 1], drawn by the global row: an entry
/// grows by up to `part` of it, each by another part. Symmetric and definite as A is. The graph stays.
class DriftingMatrix {
 public:
  /// \param a changes in place from turn to turn   \param part of an entry   \param turns of the contest. Collective.
  DriftingMatrix(const Teuchos::RCP<deck::Matrix>& a, double part, int turns);

  /// Gives the matrix the values of a turn; those of turn 0 are its own. Collective.
  void select(int turn);

 private:
  Teuchos::RCP<deck::Matrix> a_;
  deck::Matrix own_;
  double growth_;  ///< of the largest d_i in all turns
  int turns_;
};

}  // namespace capstan::perf
