#pragma once
/// \file
/// One linear solver from YAML, for applications that bring their systems themselves.

#include <Teuchos_RCP.hpp>
#include <string>

#include "adapters/deck/linear_solvers.hpp"

namespace capstan::deck {

/// Where a solver stands.
struct SolverText {
  std::string text;    ///< an entry of linear_solvers, or a deck
  std::string origin;  ///< of the text, for messages: a file, or what the application calls it
  std::string folder;  ///< where files that it names are looked for first
  std::string name;    ///< of the solver in a deck; empty: the only one
};

/// The solver, checked as loadDeck() does; other blocks of a deck are not looked at. Without `preconditioner` it has
/// none. Rank 0 prints warnings on standard error. Collective: the text is to be the same on all ranks. \throws
/// InputError with every problem found
LinearSolver loadLinearSolver(const SolverText& source, const Teuchos::RCP<const Communicator>& comm);

}  // namespace capstan::deck
