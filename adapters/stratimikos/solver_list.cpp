#include "adapters/stratimikos/solver_list.hpp"

#include <Teuchos_VerboseObjectParameterListHelpers.hpp>
#include <algorithm>
#include <set>
#include <stdexcept>
#include <vector>

#include "adapters/plugin/options_file.hpp"
#include "belos_ext/parameters/parameter_table.hpp"
#include "belos_ext/support/nearest_match.hpp"

namespace capstan::stratimikos {

namespace {

constexpr const char* solverType = "Solver Type";
constexpr const char* solverTypes = "Solver Types";
constexpr const char* leftKey = "Left Preconditioner If Unspecified";
constexpr const char* verboseObject = "VerboseObject";

[[noreturn]] void refuse(const Teuchos::ParameterList& list, const std::string& what) {
  throw std::invalid_argument("Capstan: parameter list \"" + list.name() + "\": " + what);
}

template <class Value>
Value valueOf(const Teuchos::ParameterList& list, const char* key, const Value& otherwise, const char* allowed) {
  if (!list.isParameter(key)) return otherwise;
  if (list.isType<Value>(key)) return list.get<Value>(key);
  refuse(list, std::string("\"") + key + "\" is of the wrong type; allowed: " + allowed);
}

/// "there is no solver ...", with the valid names and the nearest one.
std::string noSolver(const std::string& name) {
  const std::string text = unknownSolverMessage(name), prefix = "Capstan: ";
  return text.rfind(prefix, 0) == 0 ? text.substr(prefix.size()) : text;
}

/// What of a solver's list its method does not take.
void checkParameters(const Teuchos::ParameterList& list) {
  for (const auto& item : list) {
    const ParameterRow* const row = findParameter(item.first);
    if (row == nullptr) {
      const std::string nearest = nearestParameter(item.first);
      refuse(list, "there is no parameter \"" + item.first + "\"" +
                       (nearest.empty() ? "" : "; did you mean \"" + nearest + "\"?"));
    }
    try {
      checkParameter(*row, item.second);
    } catch (const std::invalid_argument& error) {
      refuse(list, error.what());
    }
  }
}

/// Checks the sublists of all solvers, and returns a copy of the one for `solver`, or an empty list.
Teuchos::RCP<Teuchos::ParameterList> parametersOf(const std::string& solver, const Teuchos::ParameterList& types) {
  Teuchos::RCP<Teuchos::ParameterList> chosen = Teuchos::parameterList();
  const MethodTraits* const method = findMethod(solver);
  std::set<const MethodTraits*> seen;
  for (const auto& item : types) {
    if (!item.second.isList()) refuse(types, "\"" + item.first + "\" is no list of a solver's parameters");
    const auto& list = types.sublist(item.first);
    const MethodTraits* const named = findMethod(item.first);
    if (named == nullptr && item.first != solver) refuse(types, noSolver(item.first));
    if (named != nullptr && !seen.insert(named).second) {
      refuse(types, "there are two lists for " + named->canonical + ", by its name and by its alias");
    }
    // A list that was written for Belos' solver may hold what ours does not know: the solver says so once.
    if (named != nullptr) checkParameters(list);
    if (named != nullptr ? named == method : item.first == solver) chosen = Teuchos::parameterList(list);
  }
  return chosen;
}

}  // namespace

const MethodTraits* methodFor(const std::string& type) {
  const MethodTraits* const redirected = environmentOptions().redirected(type);
  return redirected != nullptr ? redirected : findMethod(type);
}

bool isForCapstan(const std::string& type) { return looksLikeOurs(type) || methodFor(type) != nullptr; }

SolverChoice readSolverList(const Teuchos::ParameterList& list) {
  const std::vector<std::string> known = {solverType, solverTypes, leftKey, verboseObject};
  for (const auto& item : list) {
    const bool isKnown = std::find(known.begin(), known.end(), item.first) != known.end();
    if (!isKnown) refuse(list, "there is no parameter \"" + item.first + "\"" + didYouMean(item.first, known));
    const bool isList = item.first == solverTypes || item.first == verboseObject;
    if (isList && !item.second.isList()) refuse(list, "\"" + item.first + "\" is no list");
  }
  SolverChoice choice;
  choice.solver = valueOf<std::string>(list, solverType, choice.solver, "the name of a solver");
  if (methodFor(choice.solver) == nullptr) {
    refuse(list, std::string("\"") + solverType + "\": " + noSolver(choice.solver));
  }
  choice.leftIfUnspecified = valueOf<bool>(list, leftKey, false, "true, false");
  if (list.isSublist(solverTypes)) choice.parameters = parametersOf(choice.solver, list.sublist(solverTypes));
  return choice;
}

Teuchos::RCP<const Teuchos::ParameterList> validSolverList() {
  const auto list = Teuchos::parameterList("Capstan");
  list->set(solverType, SolverChoice().solver,
            "The method: a name or an alias of the table in Capstan's README, in any case.");
  list->set(leftKey, false, "Whether a preconditioner that does not say its side goes to the left. Else: the right.");
  Teuchos::ParameterList& types = list->sublist(solverTypes, false, "The parameters of each method, below its name.");
  for (const MethodTraits* row : namedMethods()) types.sublist(row->canonical).setParameters(*Parameters(*row).valid());
  Teuchos::setupVerboseObjectSublist(list.get());
  return list;
}

Teuchos::RCP<Teuchos::ParameterList> capstansPart(const Teuchos::ParameterList& belos) {
  const auto part = Teuchos::parameterList(belos);
  // Belos' adapter asks it for how often to judge criteria that Capstan refuses.
  part->remove("Convergence Test Frequency", false);
  if (!part->isSublist(solverTypes)) return part;
  Teuchos::ParameterList& types = part->sublist(solverTypes);
  const std::string chosen = valueOf<std::string>(belos, solverType, "", "the name of a solver");
  std::vector<std::string> others;
  for (const auto& item : types) {
    if (!looksLikeOurs(item.first) && item.first != chosen) others.push_back(item.first);
  }
  for (const std::string& name : others) types.remove(name);
  return part;
}

}  // namespace capstan::stratimikos
