#pragma once
/// \file
/// A deck: the YAML file that says which systems to solve and how.

#include <Teuchos_RCP.hpp>
#include <string>
#include <vector>

#include "adapters/deck/campaign_options.hpp"
#include "adapters/deck/linear_solvers.hpp"
#include "adapters/deck/system_options.hpp"

namespace capstan::deck {

/// Where a deck comes from, and what the command line changes in it.
struct DeckSource {
  std::string file;
  std::vector<std::string> overrides;  ///< "key=value"; see loadDeck
  std::string solver;                  ///< use this linear solver (or "all") for every system; empty: as the deck says
};

/// A deck in which everything has been checked.
struct Deck {
  std::string file;
  std::vector<LinearSolver> linearSolvers;
  std::vector<SystemOptions> systems;
  CampaignOptions campaign;  ///< for benchmarks alone
  std::vector<std::string> warnings;
};

/// Reads a deck and checks all of it before anything is built: every key, type, range and name, every file named
/// (present, whole, square, of matching sizes), every solver and preconditioner with its parameters.
///
/// Relative paths are taken from the deck's folder; a MueLu file is also looked for among Capstan's presets. An
/// override `a.b[2].c=value` sets that key; when its first word is no block of the deck it is meant for every linear
/// solver (or for the one chosen by `source.solver`): "tolerance=1e-8", "parameters.Step Size=10".
///
/// Collective: rank 0 reads the files. \throws InputError with every problem found, alike on all ranks.
Deck loadDeck(const DeckSource& source, const Teuchos::RCP<const Communicator>& comm);

}  // namespace capstan::deck
