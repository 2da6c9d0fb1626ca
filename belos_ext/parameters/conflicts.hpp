#pragma once

/// \file
/// What the options of a method mean together, and must not be together.

#include <cstddef>

#include "belos_ext/parameters/method_traits.hpp"
#include "belos_ext/parameters/solver_options.hpp"

namespace capstan {

struct ParameterState;

/// Settles what keys not given follow from those given: the schemes within and between blocks (Capstan's own keys win
/// over Belos' and upstream's), and the basis. Does nothing the second time.
void resolve(ParameterState& state);

/// Throws std::invalid_argument when options that are valid one by one exclude each other for `method`, naming both
/// keys, both values and what to change. Local; the same on every rank for the same options.
///
/// - A scheme that counts on one reduction a block (single-reduce, pip2, two-stage, sketched) needs "cholqr": the other
///   two intra-block schemes need reductions of their own.
/// - An explicit "Step Size" cannot exceed "Num Blocks".
/// - CG, BiCGStab and pipelined GMRES have no flexible variant here.
/// - The 1-norm of the right-hand side is not known, nor that of a preconditioned residual.
/// - A basis that does not use "Shifts", "Eigenvalue Bounds" or Ritz values cannot be combined with them.
/// - Pipelined GMRES has single-reduce CGS, CGS2 and MGS at depth 1, and CGS beyond.
/// - Pipelined GMRES takes "Shifts" or "Eigenvalue Bounds"; both only where the drop tolerance uses the bounds.
void checkConflicts(const SolverOptions& options, const MethodTraits& method);

/// Whether residuals in another norm than the 2-norm can be scaled as these options say. Local.
bool scalesOtherNorms(const SolverOptions& options);

/// How many of `count` right-hand sides advance together: "Block Size", or all.
std::size_t rightHandSidesTogether(const SolverOptions& options, std::size_t count);

}  // namespace capstan
