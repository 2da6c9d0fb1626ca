#pragma once
/// \file
/// What is checked of solvers that have been read, from a deck or from a text of their own, before anything is built.

#include <yaml-cpp/yaml.h>

#include <Teuchos_RCP.hpp>
#include <functional>
#include <string>
#include <vector>

#include "adapters/deck/diagnostics.hpp"
#include "adapters/deck/linear_solvers.hpp"

namespace capstan::deck {

/// Runs `read` on rank 0 and gives every rank its text, or throws its FileError on every rank. Collective.
std::string readOnRankZero(const Communicator& comm, const std::function<std::string()>& read);

/// The document of a text. Local. \throws InputError with the place where it is malformed
YAML::Node parseYaml(const std::string& text, const std::string& file);

/// The checks that need every rank: preconditioners, methods with all their parameters. The parameters of MueLu are
/// read from its file. What is wrong goes into the diagnostics. Collective.
/// \param folder where that file is looked for first
void checkLinearSolvers(std::vector<LinearSolver>& solvers, const std::string& folder,
                        const Teuchos::RCP<const Communicator>& comm, Diagnostics& diagnostics);

}  // namespace capstan::deck
