#pragma once
/// \file
/// HPDDM's enlarged conjugate gradients as contestants. Its headers are not part of the project: CAPSTAN_HPDDM_DIR.

#include <mpi.h>

#include <string>
#include <vector>

#include "adapters/deck/deck.hpp"
#include "perf/solvers/belos_contestants.hpp"

namespace capstan::perf {

/// HPDDM's version; empty where the program was built without it.
std::string hpddmVersion();

/// Adds HPDDM's breakdown-free block CG (BFBCG), for every "Enlarging Factor" from 2 on that a deck's enlarged CG
/// without a preconditioner has on this system, with its tolerance and limit of iterations. It multiplies blocks by
/// Tpetra's own product, as Belos' solvers do. `field` must outlive them. Collective. Returns a sentence where a factor
/// is left out for its preconditioner.
std::vector<std::string> joinHpddm(const deck::Deck& deck, const deck::SystemOptions& system, Field& field,
                                   MPI_Comm comm);

}  // namespace capstan::perf
