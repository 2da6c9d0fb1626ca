#include "perf/solvers/peers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "perf/solvers/contest.hpp"

namespace capstan::perf {
namespace {

/// The solvers of a system that are of a group. Local.
std::vector<const deck::LinearSolver*> membersOf(const std::string& group, const deck::Deck& deck,
                                                 const deck::SystemOptions& system) {
  std::vector<const deck::LinearSolver*> members;
  for (const auto index : system.solvers) {
    const auto& solver = deck.linearSolvers[index];
    if (groupOf(solver.method) == group) members.push_back(&solver);
  }
  return members;
}

/// Of the first one whose preconditioner is known; empty where there is none.
std::optional<PeerOptions> optionsOf(const std::vector<const deck::LinearSolver*>& members,
                                     const std::vector<std::string>& known) {
  for (const auto* solver : members) {
    const auto& preconditioner = solver->preconditioner;
    if (std::find(known.begin(), known.end(), preconditioner.name) == known.end()) continue;
    PeerOptions options;
    options.preconditioner = preconditioner.name;
    options.preconditionerParameters = preconditioner.parameters;
    options.tolerance = solver->finalTolerance;
    const auto& parameters = solver->parameters;
    if (parameters.isType<int>("Maximum Iterations")) options.maxIterations = parameters.get<int>("Maximum Iterations");
    if (parameters.isType<int>("Num Blocks")) options.restart = parameters.get<int>("Num Blocks");
    return options;
  }
  return std::nullopt;
}

}  // namespace

Peers::Peers(const std::string& option, const std::vector<std::string>& wanted,
             std::unique_ptr<PeerLibrary> (*make)()) {
  if (wanted.size() == 1 && wanted[0] == "off") return;
  library_ = make();
  const auto methods = library_ ? library_->methods() : std::vector<PeerLibrary::Method>();
  std::vector<std::string> allowed = {"off"};
  for (std::size_t index = 0; index < methods.size(); ++index) {
    const auto& [word, group, unasked] = methods[index];
    if (std::find(allowed.begin(), allowed.end(), word) == allowed.end()) allowed.push_back(word);
    const bool asked = std::find(wanted.begin(), wanted.end(), word) != wanted.end();
    if (wanted.empty() ? unasked : asked) chosen_.push_back(index);
  }
  for (const auto& word : wanted) {
    if (word != "off" && std::find(allowed.begin(), allowed.end(), word) != allowed.end()) continue;
    throw deck::InputError(fmt::format("{}: found '{}'{}; allowed: {}", option, word,
                                       library_ ? "" : ", but this program was built without that library",
                                       fmt::join(allowed, ", ")));
  }
}

std::vector<std::string> Peers::join(const deck::Deck& deck, const deck::SystemOptions& system, Field& field) const {
  std::vector<std::string> leftOut;
  for (const char* group : {"GMRES", "CG", "BiCGStab"}) {
    const auto members = membersOf(group, deck, system);
    if (!any() || members.empty()) continue;
    const auto options = optionsOf(members, library_->preconditioners());
    if (!options) {
      leftOut.push_back(fmt::format("{}: no {} peers for {}: every solver has a preconditioner that {} lacks",
                                    system.name, library_->name(), group, library_->name()));
      continue;
    }
    for (const auto index : chosen_) {
      if (library_->methods()[index].group == group) library_->join(index, *options, field);
    }
  }
  return leftOut;
}

#ifndef CAPSTAN_WITH_PETSC
std::unique_ptr<PeerLibrary> petscLibrary() { return nullptr; }
#endif

#ifndef CAPSTAN_WITH_HYPRE
std::unique_ptr<PeerLibrary> hypreLibrary() { return nullptr; }
#endif

}  // namespace capstan::perf
