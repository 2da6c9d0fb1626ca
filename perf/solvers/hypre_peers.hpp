#pragma once
/// \file
/// Which hypre methods join a system's contest, or why none does.

#include <string>
#include <vector>

#include "adapters/deck/deck.hpp"
#include "perf/solvers/belos_contestants.hpp"

namespace capstan::perf {

/// hypre's version; empty where the program was built without it.
std::string hypreVersion();

/// \param wanted names of methods; "off" alone: none; empty: all. \throws deck::InputError with what is allowed
void checkHypreMethods(const std::vector<std::string>& wanted);

/// Adds the methods asked for whose group the deck's solvers for this system contain, with restart length, tolerance
/// and limit of iterations of the group's first solver that has no preconditioner, Jacobi or BoomerAMG, and that
/// preconditioner. Collective. Returns one sentence for each group left out.
std::vector<std::string> joinHypre(const std::vector<std::string>& wanted, const deck::Deck& deck,
                                   const deck::SystemOptions& system, Field& field);

}  // namespace capstan::perf
