#pragma once
/// \file
/// What the solvers of a deck ask for, as far as a peer of another library is given the same.

#include <Teuchos_ParameterList.hpp>
#include <optional>
#include <string>
#include <vector>

#include "adapters/deck/deck.hpp"

namespace capstan::perf {

/// What the peers of one group are given.
struct PeerOptions {
  std::string preconditioner = "none";
  Teuchos::ParameterList preconditionerParameters;
  double tolerance = 1e-8;
  int maxIterations = 1000;
  int restart = 30;
};

/// Whether a solver of the group takes part in this system. Local.
bool groupTakesPart(const std::string& group, const deck::Deck& deck, const deck::SystemOptions& system);

/// The options of the group's first solver for this system whose preconditioner is one of `known`; empty where there is
/// none. Local.
std::optional<PeerOptions> peerOptions(const std::string& group, const deck::Deck& deck,
                                       const deck::SystemOptions& system, const std::vector<std::string>& known);

}  // namespace capstan::perf
