#include "adapters/deck/solver_text.hpp"

#include <fmt/format.h>

#include <Teuchos_Comm.hpp>
#include <algorithm>
#include <iostream>
#include <utility>

#include "adapters/deck/linear_solver_checks.hpp"
#include "adapters/deck/map_reader.hpp"
#include "belos_ext/support/nearest_match.hpp"

namespace capstan::deck {
namespace {

constexpr const char* block = "linear_solvers";

/// The entry that is meant, and its place.
std::pair<YAML::Node, Place> findEntry(const YAML::Node& root, const SolverText& source) {
  const Place place{source.origin, "", 1, 1};
  if (!root.IsMap()) {
    throw InputError(fmt::format("{}: found {}; allowed: a map with method, tolerance, ..., or one with {}",
                                 source.origin, foundText(root), block));
  }
  const YAML::Node list = root[block];
  if (!list.IsDefined()) return {root, place};
  const Place here = childPlace(place, block, list);
  if (!list.IsSequence() || list.size() == 0) {
    throw InputError(fmt::format("{}: found {}; allowed: a list of solvers", here.text(), foundText(list)));
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const YAML::Node name = list[i].IsMap() ? list[i]["name"] : YAML::Node(YAML::NodeType::Undefined);
    names.push_back(name.IsDefined() && name.IsScalar() ? name.Scalar() : "");
  }
  const auto found = source.name.empty() ? names.begin() : std::find(names.begin(), names.end(), source.name);
  if (found == names.end() || (source.name.empty() && names.size() > 1)) {
    throw InputError(fmt::format("{}: {} solvers, and the name asked for is '{}'; allowed: {}{}", here.text(),
                                 names.size(), source.name, oneOf(names), didYouMean(source.name, names)));
  }
  const auto index = static_cast<std::size_t>(found - names.begin());
  return {list[index], childPlace(here, fmt::format("[{}]", index), list[index])};
}

}  // namespace

LinearSolver loadLinearSolver(const SolverText& source, const Teuchos::RCP<const Communicator>& comm) {
  const YAML::Node root = parseYaml(source.text, source.origin);
  const auto [entry, place] = findEntry(root, source);
  Diagnostics diagnostics;
  std::vector<LinearSolver> solvers{readLinearSolver(entry, place, diagnostics)};
  if (!entry.IsMap() || !entry["preconditioner"].IsDefined()) {
    solvers.front().preconditioner.name = "none";
    const Place parameters = childPlace(place, "preconditioner_parameters", entry);
    if (solvers.front().preconditionerParameters.numParams() > 0)
      diagnostics.error(parameters, "without preconditioner");
  }
  checkLinearSolvers(solvers, source.folder, comm, diagnostics);
  diagnostics.throwIfFailed();
  if (comm->getRank() == 0) {
    for (const auto& warning : diagnostics.warnings()) std::cerr << "capstan: warning: " << warning << '\n';
  }
  return std::move(solvers.front());
}

}  // namespace capstan::deck
