#include "perf/solvers/peer_options.hpp"

#include <algorithm>

#include "perf/solvers/contest.hpp"

namespace capstan::perf {

bool groupTakesPart(const std::string& group, const deck::Deck& deck, const deck::SystemOptions& system) {
  return std::any_of(system.solvers.begin(), system.solvers.end(),
                     [&](std::size_t index) { return groupOf(deck.linearSolvers[index].method) == group; });
}

std::optional<PeerOptions> peerOptions(const std::string& group, const deck::Deck& deck,
                                       const deck::SystemOptions& system, const std::vector<std::string>& known) {
  for (const auto index : system.solvers) {
    const auto& solver = deck.linearSolvers[index];
    const auto& preconditioner = solver.preconditioner;
    if (groupOf(solver.method) != group) continue;
    if (std::find(known.begin(), known.end(), preconditioner.name) == known.end()) continue;
    PeerOptions options;
    options.preconditioner = preconditioner.name;
    options.preconditionerParameters = preconditioner.parameters;
    options.tolerance = solver.finalTolerance;
    if (solver.parameters.isType<int>("Maximum Iterations")) {
      options.maxIterations = solver.parameters.get<int>("Maximum Iterations");
    }
    if (solver.parameters.isType<int>("Num Blocks")) options.restart = solver.parameters.get<int>("Num Blocks");
    return options;
  }
  return std::nullopt;
}

}  // namespace capstan::perf
