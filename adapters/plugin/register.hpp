#pragma once

/// \file
/// Registration of Capstan's solvers with Belos.

namespace capstan {

/// Makes Belos::SolverFactory know Capstan's solvers for every scalar, ordinals and node that the installed Trilinos
/// instantiates, and lets the options of the environment overlay the application's parameters.
///
/// The library calls it when it is loaded or, in a static build, when the program starts; an application need not.
/// Idempotent: calling it again repairs a registration that was lost and otherwise changes nothing. Local.
void registerSolvers();

}  // namespace capstan

extern "C" {
/// capstan::registerSolvers() for callers that look it up by name. Does not throw.
void capstan_register_solvers();
}
