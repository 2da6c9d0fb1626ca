#pragma once
/// \file
/// Random vectors that are the same on any machine and for any number of ranks.

#include "adapters/preconditioners/types.hpp"

namespace capstan::preconditioning {

/// Fills `x` (any number of columns) with entries in [-1, 1] that depend on seed, column and global row alone. Local.
void fillRandom(MultiVector& x, int seed);

}  // namespace capstan::preconditioning
