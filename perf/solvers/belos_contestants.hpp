#pragma once
/// \file
/// Contestants that Belos::SolverFactory makes: Belos' own solvers and Capstan's, from the entries of a deck.

#include <Teuchos_RCP.hpp>
#include <memory>
#include <string>
#include <vector>

#include "adapters/deck/deck.hpp"
#include "adapters/preconditioners/preconditioner.hpp"
#include "perf/solvers/contestant.hpp"
#include "perf/solvers/local_system.hpp"
#include "perf/solvers/right_hand_sides.hpp"

namespace capstan::perf {

/// A system of the deck with the solvers that it names.
struct Field {
  std::string name;
  long long rows = 0;
  long long entries = 0;
  Teuchos::RCP<deck::Matrix> A;
  Teuchos::RCP<deck::MultiVector> b;                                ///< as it is in this turn
  std::vector<Teuchos::RCP<deck::Preconditioner>> preconditioners;  ///< the contestants use their operators
  Contestants contestants;
  LocalSystem local;
  std::shared_ptr<RightHandSides> rightHandSides;  ///< null: the system's own in every turn
};

/// Builds the system, the preconditioners (one for all solvers that want the same) and the solvers. A solver that
/// cannot be made is a contestant still: its first solve throws what went wrong. Collective.
/// \param withLocal fill Field::local too
/// \param seed of the right-hand sides, where the deck wants them to change
/// \param anew Belos' and Capstan's solvers are made anew for each solve
/// \throws deck::InputError for what a contest cannot time: several right-hand sides, a guess, a sequence
Field buildField(const deck::Deck& deck, const deck::SystemOptions& system,
                 const Teuchos::RCP<const deck::Communicator>& comm, bool withLocal, unsigned seed, bool anew = false);

}  // namespace capstan::perf
