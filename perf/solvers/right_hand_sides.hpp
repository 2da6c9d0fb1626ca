#pragma once
/// \file
/// A right-hand side for every turn of a contest, so that no solver meets the same one twice.

#include <Tpetra_MultiVector.hpp>

#include "adapters/deck/types.hpp"
#include "perf/solvers/local_system.hpp"

namespace capstan::perf {

/// Right-hand sides of one system: (1 - t) b / |b| + t r / |r|, times |b|, in the 2-norm. b is the system's own, r has
/// random entries in [-1, 1], without their mean where A 1 = 0, and t in [0, 1] is drawn too. Seed, turn and global row
/// decide alone: the same for every library and on any number of ranks.
class RightHandSides {
 public:
  /// \param b one column, not zero; changes in place from turn to turn. Collective.
  RightHandSides(const deck::Matrix& a, const Teuchos::RCP<deck::MultiVector>& b, unsigned seed);

  /// Puts the right-hand side of a turn (0: the warm-up) into b, and into `local` where that is filled. Collective.
  void select(int turn, LocalSystem& local);

 private:
  Teuchos::RCP<deck::MultiVector> b_;
  deck::MultiVector own_;  ///< the system's
  double norm_;            ///< its 2-norm
  bool singular_;          ///< A 1 = 0, but for rounding: what has a mean is no A x of a symmetric A
  unsigned seed_;
};

}  // namespace capstan::perf
