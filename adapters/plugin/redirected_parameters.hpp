#pragma once

/// \file
/// Parameters that an application meant for one of Belos' own solvers.

#include <Teuchos_ParameterList.hpp>
#include <Teuchos_RCP.hpp>
#include <string>

#include "belos_ext/core/solver_names.hpp"

namespace capstan {

/// A copy of the application's list for the solver `name` of Belos, as `solver` takes it: with what an alias stands
/// for, and with "Step Size" = "auto" in place of a number that is no step size. Applications leave that number
/// uninitialised (Nalu-wind without krylov_step_size), and the user who redirects a solver has not written it. A
/// warning says so once. Local.
Teuchos::RCP<Teuchos::ParameterList> redirectedParameters(const std::string& name, const SolverName& solver,
                                                          const Teuchos::RCP<Teuchos::ParameterList>& parameters);

}  // namespace capstan
