#include "adapters/deck/deck.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Teuchos_Comm.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <sstream>

#include "adapters/deck/file_checks.hpp"
#include "adapters/deck/linear_solver_checks.hpp"
#include "adapters/deck/map_reader.hpp"
#include "adapters/deck/matrix_files.hpp"
#include "adapters/deck/matrix_market.hpp"
#include "adapters/deck/overrides.hpp"
#include "adapters/deck/system_size.hpp"
#include "belos_ext/support/nearest_match.hpp"
#include "belos_ext/support/shared_text.hpp"

namespace capstan::deck {
namespace {

YAML::Node parseDeck(const std::string& text, const std::string& file) {
  YAML::Node root = parseYaml(text, file);
  if (!root.IsMap()) {
    throw InputError(
        fmt::format("{}: found {}; allowed: a map with the blocks linear_solvers and systems", file, foundText(root)));
  }
  return root;
}

Deck readDeck(const YAML::Node& root, const DeckSource& source, const std::string& folder, Diagnostics& diagnostics) {
  Deck deck;
  deck.file = source.file;
  MapReader reader(root, Place{source.file, "", 0, 0}, diagnostics);
  for (const char* key : {"linear_solvers", "systems"}) {
    if (!reader.has(key)) reader.error(key, "missing; allowed: a list");
  }
  for (const char* key : {"Simulations", "Simulation", "Time_Integrators", "realms", "transfers"}) {
    if (reader.has(key)) reader.warning(key, "has no effect here; it belongs to Nalu-wind");
  }
  const YAML::Node solvers = reader.node("linear_solvers");
  if (reader.has("linear_solvers")) {
    deck.linearSolvers = readLinearSolvers(solvers, reader.place("linear_solvers"), diagnostics);
  }
  std::vector<std::string> names;
  for (const auto& solver : deck.linearSolvers) names.push_back(solver.name);
  const YAML::Node systems = reader.node("systems");
  if (reader.has("systems")) deck.systems = readSystems(systems, reader.place("systems"), folder, names, diagnostics);
  if (reader.has("campaign")) {
    deck.campaign = readCampaign(reader.node("campaign"), reader.place("campaign"), diagnostics);
  }
  reader.finish();
  return deck;
}

/// Gives every system the solver asked for on the command line.
void chooseSolver(Deck& deck, const std::string& wanted, Diagnostics& diagnostics) {
  if (wanted.empty()) return;
  std::vector<std::size_t> indices;
  std::vector<std::string> allowed;
  for (std::size_t i = 0; i < deck.linearSolvers.size(); ++i) {
    allowed.push_back(deck.linearSolvers[i].name);
    if (wanted == "all" || wanted == allowed.back()) indices.push_back(i);
  }
  allowed.emplace_back("all");
  if (indices.empty()) {
    diagnostics.error(Place{"--solver", "", 0, 0},
                      fmt::format("found '{}'; allowed: {}{}", wanted, oneOf(allowed), didYouMean(wanted, allowed)));
  }
  for (auto& system : deck.systems) system.solvers = indices;
}

}  // namespace

Deck loadDeck(const DeckSource& source, const Teuchos::RCP<const Communicator>& comm) {
  std::string text;
  try {
    text = readOnRankZero(*comm, [&] { return readText(source.file); });
  } catch (const FileError& error) {
    throw InputError(error.what());
  }
  const std::string folder = std::filesystem::path(source.file).parent_path().string();
  YAML::Node root = parseDeck(text, source.file);
  Diagnostics diagnostics;
  for (const auto& assignment : source.overrides) applyOverride(root, assignment, source.solver, diagnostics);
  Deck deck = readDeck(root, source, folder, diagnostics);
  chooseSolver(deck, source.solver, diagnostics);

  const SystemLimits limits = systemLimits(*comm, machineMemory());
  checkSystemSizes(deck.systems, limits, diagnostics);

  checkFileNames(deck, diagnostics);

  // Rank 0 alone looks at files; its findings become everyone's.
  const auto matrixFiles = std::make_shared<MatrixFiles>(machineMemory() / 8);
  for (auto& system : deck.systems) system.files = matrixFiles;
  Diagnostics files;
  if (comm->getRank() == 0) {
    for (const auto& system : deck.systems) inspectFiles(system, limits, files);
  }
  std::istringstream findings(sharedText(fmt::format("{}", fmt::join(files.errors(), "\n")), 0, *comm));
  for (std::string line; std::getline(findings, line);) diagnostics.append({line});
  checkLinearSolvers(deck.linearSolvers, folder, comm, diagnostics);
  diagnostics.throwIfFailed();
  deck.warnings = diagnostics.warnings();
  return deck;
}

}  // namespace capstan::deck
