#pragma once
/// \file
/// What Belos::SolverFactory can create here, Capstan's own methods included.

#include <Teuchos_ParameterList.hpp>
#include <Teuchos_RCP.hpp>
#include <string>
#include <vector>

namespace capstan::deck {

/// The names Belos::SolverFactory answers to: canonical ones, Belos' short ones ("GMRES") and Capstan's. Local.
std::vector<std::string> methodNames();

/// Whether Belos::SolverFactory creates something for this name (case-insensitive). Local.
bool isMethod(const std::string& name);

/// The parameters, with defaults, that the method says it takes. Local. \throws std::invalid_argument for an unknown
/// name.
Teuchos::RCP<const Teuchos::ParameterList> methodParameters(const std::string& name);

/// Creates the method with these parameters and drops it again. Empty when that works, else what it says. Local.
std::string tryMethod(const std::string& name, const Teuchos::ParameterList& parameters);

/// Whether that method, with parameters that tryMethod accepts, is flexible, and so takes no left preconditioner.
bool isFlexible(const std::string& name, const Teuchos::ParameterList& parameters);

}  // namespace capstan::deck
