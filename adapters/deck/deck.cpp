#include "adapters/deck/deck.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Teuchos_CommHelpers.hpp>
#include <Teuchos_XMLParameterListCoreHelpers.hpp>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <sstream>

#include "adapters/deck/file_checks.hpp"
#include "adapters/deck/map_reader.hpp"
#include "adapters/deck/matrix_files.hpp"
#include "adapters/deck/matrix_market.hpp"
#include "adapters/deck/overrides.hpp"
#include "adapters/deck/system_size.hpp"
#include "adapters/driver/belos_method.hpp"
#include "adapters/preconditioners/presets.hpp"
#include "adapters/values/yaml_document.hpp"
#include "belos_ext/support/nearest_match.hpp"
#include "belos_ext/support/shared_text.hpp"

namespace capstan::deck {
namespace {

/// Runs `read` on rank 0 and gives every rank its text, or throws its error on every rank. Collective.
std::string readOnRankZero(const Communicator& comm, const std::function<std::string()>& read) {
  std::string text;
  std::string failure;
  if (comm.getRank() == 0) {
    try {
      text = read();
    } catch (const FileError& error) {
      failure = error.what();
    }
  }
  failure = sharedText(failure, 0, comm);
  if (!failure.empty()) throw FileError(failure);
  return sharedText(text, 0, comm);
}

YAML::Node parseYaml(const std::string& text, const std::string& file) {
  YAML::Node root;
  try {
    root = yamlDocument(text);
  } catch (const YAML::ParserException& error) {
    throw InputError(
        fmt::format("{}:{}:{}: malformed YAML: {}", file, error.mark.line + 1, error.mark.column + 1, error.msg));
  }
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

/// Fills the parameters of a MueLu preconditioner from its file and the deck. Collective.
void loadMueLu(LinearSolver& solver, const std::string& folder, const Communicator& comm, Diagnostics& diagnostics) {
  std::string file;
  try {
    const std::string text = readOnRankZero(comm, [&] {
      file = findMueLuFile(solver.mueluFile, {folder}).path;
      if (!file.empty()) return file + "\n" + readText(file);
      throw FileError(fmt::format("found '{}'; allowed: an XML file, or a preset: {}{}", solver.mueluFile,
                                  oneOf(mueLuPresets()), didYouMean(solver.mueluFile, mueLuPresets())));
    });
    const auto end = text.find('\n');
    file = text.substr(0, end);
    solver.preconditioner.origin = file;
    solver.preconditioner.parameters = *Teuchos::getParametersFromXmlString(text.substr(end + 1));
  } catch (const FileError& error) {
    diagnostics.error(solver.mueluPlace, error.what());
  } catch (const std::exception& error) {
    diagnostics.error(solver.mueluPlace,
                      fmt::format("{}: malformed parameter XML: {}", file, plainMessage(error.what())));
  }
}

/// The checks that need every rank: preconditioners, methods with all their parameters. Collective.
void checkSolvers(Deck& deck, const std::string& folder, const Teuchos::RCP<const Communicator>& comm,
                  Diagnostics& diagnostics) {
  for (auto& solver : deck.linearSolvers) {
    auto& preconditioner = solver.preconditioner;
    if (findPreconditioner(preconditioner.name) == nullptr) continue;
    if (findPreconditioner(preconditioner.name)->name == "muelu") {
      const std::size_t before = diagnostics.errors().size();
      loadMueLu(solver, folder, *comm, diagnostics);
      if (diagnostics.errors().size() > before) continue;
    }
    overrideParameters(preconditioner.parameters, solver.preconditionerParameters);
    if (const auto wrong = validatePreconditioner(preconditioner, comm)) {
      const auto own = solver.preconditionerParameterPlaces.find(wrong->parameter);
      const bool given = own != solver.preconditionerParameterPlaces.end();
      const std::string origin = given || preconditioner.origin.empty() ? "" : preconditioner.origin + ": ";
      diagnostics.error(given ? own->second : solver.preconditionerPlace, origin + wrong->message);
    }
  }
  if (diagnostics.failed()) return;
  for (const auto& solver : deck.linearSolvers) {
    std::string wrong = driver::whyNoMethod(solver.method, solver.parameters);
    if (wrong.find("\"Strict Parameters\"") != std::string::npos) {
      wrong += "; decks set it, parameters: {Strict Parameters: no} makes this a warning";
    }
    if (!wrong.empty()) {
      diagnostics.error(solver.place, wrong);
    } else if (solver.preconditioner.side == Side::Left &&
               driver::BelosMethod(solver.method, Teuchos::parameterList(solver.parameters)).isFlexible()) {
      diagnostics.error(solver.place, "preconditioner_side: left conflicts with \"Flexible Gmres\"; allowed: right");
    }
  }
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
  YAML::Node root = parseYaml(text, source.file);
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
  checkSolvers(deck, folder, comm, diagnostics);
  diagnostics.throwIfFailed();
  deck.warnings = diagnostics.warnings();
  return deck;
}

}  // namespace capstan::deck
