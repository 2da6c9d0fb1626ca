#pragma once
/// \file
/// A solve of an object of hypre's by one of Capstan's methods.
#include <functional>

#include "adapters/hypre/record.hpp"

namespace capstan::hypre {

/// Solves by Capstan where the options say so; else by \p own, which is hypre. Returns hypre's error flags; x is the
/// guess after an error. Collective. No exception of Capstan's leaves it. \param family the one whose function was
/// called, as Record has it
HYPRE_Int solve(HYPRE_Solver solver, const char* family, HYPRE_ParCSRMatrix a, HYPRE_ParVector b, HYPRE_ParVector x,
                const std::function<HYPRE_Int()>& own);

}  // namespace capstan::hypre
