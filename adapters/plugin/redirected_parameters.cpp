#include "adapters/plugin/redirected_parameters.hpp"

#include <fmt/format.h>

#include <iostream>
#include <stdexcept>

#include "adapters/plugin/belos_names.hpp"
#include "belos_ext/core/parameter_table.hpp"
#include "belos_ext/core/parameter_value.hpp"
#include "belos_ext/core/said_once.hpp"

namespace capstan {

namespace {

constexpr const char* stepSize = "Step Size";

/// The key under which the list holds a row's value, or an empty string.
std::string keyOf(const Teuchos::ParameterList& list, const ParameterRow& row) {
  for (auto item = list.begin(); item != list.end(); ++item) {
    if (findParameter(list.name(item)) == &row) return list.name(item);
  }
  return "";
}

/// Whether the list's step size could have been meant: in range, and within a restart cycle.
bool plausible(const Teuchos::ParameterList& list, const std::string& key) {
  const ParameterRow& row = *findParameter(stepSize);
  ParameterState state;
  try {
    parseParameter(row, list.getEntry(key), state);
    const ParameterRow& cycle = *findParameter("Num Blocks");
    const std::string cycleKey = keyOf(list, cycle);
    if (!cycleKey.empty()) parseParameter(cycle, list.getEntry(cycleKey), state);
  } catch (const std::invalid_argument&) {
    return false;
  }
  return state.options.stepSizeAuto || state.options.stepSize <= state.options.numBlocks;
}

std::ostream& warningStream(const Teuchos::ParameterList& list) {
  const ParameterRow& row = *findParameter("Output Stream");
  const std::string key = keyOf(list, row);
  if (key.empty()) return std::cerr;
  ParameterState state;
  try {
    parseParameter(row, list.getEntry(key), state);
  } catch (const std::invalid_argument&) {
    return std::cerr;  // the solver will say what is wrong with it
  }
  return *state.options.outputStream;
}

}  // namespace

Teuchos::RCP<Teuchos::ParameterList> redirectedParameters(const std::string& name, const SolverName& solver,
                                                          const Teuchos::RCP<Teuchos::ParameterList>& parameters) {
  auto list = parametersOfAlias(name, parameters);
  const ParameterRow& row = *findParameter(stepSize);
  const std::string key = keyOf(*list, row);
  if (key.empty() || plausible(*list, key)) return list;
  const std::string found = showValue(list->getEntry(key));
  const bool used = row.appliesTo(solver.method);
  list->remove(key);
  if (used) list->set(stepSize, std::string("auto"));
  if (speaksForAll() && firstTime(name + ": step size redirected")) {
    warningStream(*list) << fmt::format(
                                "Capstan warning: {}, asked for as \"{}\": parameter \"{}\" = {} is no step size; "
                                "allowed: {}; {}",
                                solver.canonical, name, stepSize, found, row.allowed,
                                used ? "\"auto\" is used instead" : "it is left out")
                         << std::endl;
  }
  return list;
}

}  // namespace capstan
