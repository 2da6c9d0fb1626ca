#pragma once
// In place of Nalu-wind's own: what HypreDirectSolver.C needs of it, without STK.
#include <HYPRE_utilities.h>

namespace sierra::nalu {
using HypreIntType = HYPRE_Int;
}
