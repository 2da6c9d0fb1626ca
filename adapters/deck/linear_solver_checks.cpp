#include "adapters/deck/linear_solver_checks.hpp"

#include <fmt/format.h>

#include <Teuchos_XMLParameterListCoreHelpers.hpp>
#include <exception>

#include "adapters/deck/matrix_files.hpp"
#include "adapters/deck/matrix_market.hpp"
#include "adapters/driver/belos_method.hpp"
#include "adapters/preconditioners/presets.hpp"
#include "adapters/values/yaml_document.hpp"
#include "belos_ext/support/nearest_match.hpp"
#include "belos_ext/support/shared_text.hpp"

namespace capstan::deck {

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
  try {
    return yamlDocument(text);
  } catch (const YAML::ParserException& error) {
    throw InputError(
        fmt::format("{}:{}:{}: malformed YAML: {}", file, error.mark.line + 1, error.mark.column + 1, error.msg));
  }
}

namespace {

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

}  // namespace

void checkLinearSolvers(std::vector<LinearSolver>& solvers, const std::string& folder,
                        const Teuchos::RCP<const Communicator>& comm, Diagnostics& diagnostics) {
  for (auto& solver : solvers) {
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
  for (const auto& solver : solvers) {
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

}  // namespace capstan::deck
