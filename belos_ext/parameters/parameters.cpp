#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>

#include "belos_ext/parameters/conflicts.hpp"
#include "belos_ext/parameters/parameter_groups.hpp"
#include "belos_ext/parameters/parameter_row_makers.hpp"
#include "belos_ext/parameters/parameter_table.hpp"
#include "belos_ext/parameters/user_options_error.hpp"
#include "belos_ext/support/checksum.hpp"
#include "belos_ext/support/nearest_match.hpp"
#include "belos_ext/support/output_file.hpp"
#include "belos_ext/support/said_once.hpp"

namespace capstan {

namespace {

/// What lists ask for and do not get, by key; told once a process, because applications make solvers anew.
using Remarks = std::map<std::string, std::string>;

void warnOnce(const Remarks& remarks, const MethodTraits& solver, std::ostream& stream) {
  for (const auto& [key, line] : remarks) {
    if (firstTime(solver.canonical + ": " + key) && speaksForAll()) stream << "Capstan warning: " << line << std::endl;
  }
}

/// Whether the files named can be written is a matter of the rank that writes them: no error, which would meet one rank
/// alone. The solver manager's rank 0 finds out again.
void remarkOnFile(const char* key, const std::string& path, Remarks& remarks) {
  if (path.empty() || !speaksForAll()) return;
  const std::string reason = whyNotWritable(path);
  if (reason.empty()) return;
  remarks[std::string(key) + " = " + path] =
      std::string("\"") + key + "\" = \"" + path + "\" cannot be written, and the solves go on without it: " + reason;
}

std::string origin(const MethodTraits& solver, const Teuchos::ParameterList& list) {
  const bool named = !list.name().empty() && list.name() != "ANONYMOUS";
  return solver.canonical + (named ? ", list \"" + list.name() + "\": " : ": ");
}

/// Why a valid value has no effect on a method, to go behind "has no effect"; empty where it has one.
std::string whyUnused(const ParameterRow& row, const Teuchos::ParameterEntry& entry, const MethodTraits& solver) {
  if (!row.appliesTo(solver)) return " on this solver";
  const std::string why = row.remark ? row.remark(entry, solver) : "";
  return why.empty() ? "" : ": " + why;
}

constexpr const char* stepSize = "Step Size";

/// What applications set before every solve.
const std::vector<std::string> limitNames = {"Convergence Tolerance", "Maximum Iterations"};

bool isLimit(const std::string& parameter) { return parameter == limitNames[0] || parameter == limitNames[1]; }

bool costsReductions(const ParameterRow& row, const Teuchos::ParameterEntry& entry) {
  if (!row.costsReductions) return false;
  checkParameter(row, entry);
  return row.costsReductions(entry);
}

/// What a list that was written for another library's solver asks for and does not get.
struct Foreign {
  std::string wildStepSize;                    ///< no step size; empty: none
  std::map<std::string, std::string> leftOut;  ///< values that cost reductions, by key
};

/// Reads a list into a state, in the order of the table. Throws std::invalid_argument; the state is then half-changed.
/// \param foreign where not null, the list was written for another solver: "auto" is read for a step size that is none,
///                and values that cost reductions are left out
void read(const Teuchos::ParameterList& list, const MethodTraits& solver, ParameterState& state, Remarks& remarks,
          Foreign* foreign) {
  const std::string where = origin(solver, list);
  std::map<const ParameterRow*, std::string> keys;
  for (auto item = list.begin(); item != list.end(); ++item) {
    const std::string& key = list.name(item);
    const ParameterRow* row = findParameter(key);
    if (row == nullptr) {
      const std::string nearest = nearestParameter(key);
      remarks[key] = where + "unknown parameter \"" + key + "\" has no effect" +
                     (nearest.empty() ? "" : "; did you mean \"" + nearest + "\"?");
    } else if (!keys.emplace(row, key).second) {
      throw std::invalid_argument(where + "parameter \"" + row->name + "\" is given twice, as \"" + keys.at(row) +
                                  "\" and as \"" + key + "\"");
    }
  }
  for (const ParameterRow& row : parameterRows()) {
    const auto key = keys.find(&row);
    if (key == keys.end()) continue;
    const Teuchos::ParameterEntry& entry = list.getEntry(key->second);
    try {
      if (foreign != nullptr && costsReductions(row, entry)) {
        if (row.appliesTo(solver)) foreign->leftOut[row.name] = showValue(entry);
        continue;
      }
      if (row.remark || !row.appliesTo(solver)) checkParameter(row, entry);  // remarks are on valid values
      // What has no effect never reaches the options, nor those of a method that this one falls back on.
      if (const std::string why = whyUnused(row, entry, solver); !why.empty()) {
        // Defaults that a library filled in are nobody's wish.
        if (!entry.isDefault()) {
          remarks[row.name] = where + "parameter \"" + row.name + "\" = " + showValue(entry) + " has no effect" + why;
        }
        continue;
      }
      parseParameter(row, entry, state);
    } catch (const std::invalid_argument& error) {
      if (foreign == nullptr || row.name != stepSize) throw std::invalid_argument(where + error.what());
      foreign->wildStepSize = showValue(entry);
      parseParameter(row, Teuchos::ParameterEntry(std::string("auto")), state);
    }
    if (!entry.isDefault()) state.given.insert(row.name);
  }
}

void remarkOnUserScale(const ParameterState& state, const MethodTraits& solver, Remarks& remarks) {
  const SolverOptions& options = state.options;
  const bool used = options.implicitScaling == ResidualScaling::UserProvided ||
                    options.explicitScaling == ResidualScaling::UserProvided;
  if (used || options.userScale == SolverOptions().userScale) return;
  remarks["User Defined Residual Scaling"] = solver.canonical +
                                             ": parameter \"User Defined Residual Scaling\" has no effect: no residual "
                                             "scaling is \"User Provided\"";
}

/// Whether a list names the parameter, in any spelling.
bool names(const Teuchos::ParameterList& list, const char* parameter) {
  const ParameterRow* row = findParameter(parameter);
  for (auto item = list.begin(); item != list.end(); ++item) {
    if (findParameter(list.name(item)) == row) return true;
  }
  return false;
}

std::ostream& warningStream(const ParameterState& state) {
  return state.given.count("Output Stream") != 0 ? *state.options.outputStream : std::cerr;
}

ParameterState initialState() {
  ParameterState state;
  state.options.outputStream = Teuchos::rcpFromRef(static_cast<std::ostream&>(std::cout));
  return state;
}

Teuchos::RCP<const Teuchos::ParameterList> listOf(const ParameterState& state, const MethodTraits& solver) {
  auto list = Teuchos::rcp(new Teuchos::ParameterList(solver.canonical));
  for (const ParameterRow& row : parameterRows()) {
    if (!row.appliesTo(solver)) continue;
    row.print(state, *list);
    // Marked as defaults, so that the list given back asks for nothing that nobody has asked for.
    const auto entry = list->getEntryRCP(row.name);
    if (!entry.is_null() && state.given.count(row.name) == 0) entry->setAnyValue(entry->getAny(false), true);
  }
  return list;
}

}  // namespace

Parameters::Parameters(const MethodTraits& solver, std::string askedAs) : Parameters(untold(solver)) {
  askedAs_ = std::move(askedAs);
}

Parameters::Parameters(const MethodTraits& solver, First)
    : solver_(&solver), application_(initialState()), effective_(application_) {
  sumAlike();
}

const Parameters& Parameters::untold(const MethodTraits& solver) {
  // A copy is cheaper than printing every row, and applications may make a solver for each solve. Never destroyed:
  // solvers may be made while the process shuts down.
  static auto* const known = new std::map<const MethodTraits*, Parameters>;
  static std::mutex mutex;
  const MethodTraits& row = methodOf(solver.canonical);
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = known->find(&row);
  return found != known->end() ? found->second : known->emplace(&row, Parameters(row, First())).first->second;
}

void Parameters::merge(const Teuchos::ParameterList& list) {
  if (!mergeLimits(list)) commit(overlay_, &list);
}

bool Parameters::mergeLimits(const Teuchos::ParameterList& list) {
  double tolerance = application_.options.tolerance;
  int maxIterations = application_.options.maxIterations;
  std::vector<std::string> given;
  for (auto item = list.begin(); item != list.end(); ++item) {
    const std::string& key = list.name(item);
    if (!isLimit(key)) return false;
    try {
      if (key == limitNames[0]) tolerance = toReal(list.entry(item));
      if (key == limitNames[1]) maxIterations = toInt(list.entry(item));
    } catch (const std::invalid_argument&) {
      return false;  // the long way says what is wrong
    }
    if (!list.entry(item).isDefault()) given.push_back(key);
  }
  return takeLimits(tolerance, maxIterations, given);
}

bool Parameters::takeLimits(double tolerance, int maxIterations, const std::vector<std::string>& given) {
  const bool valid = tolerance >= 0 && std::isfinite(tolerance) && maxIterations >= 0;
  if (!valid || !overlay_.is_null()) return false;
  for (ParameterState* state : {&application_, &effective_}) {
    state->options.tolerance = tolerance;
    state->options.maxIterations = maxIterations;
    state->given.insert(given.begin(), given.end());
  }
  current_ = Teuchos::null;
  sumLimits();
  return true;
}

void Parameters::setLimits(double tolerance, int maxIterations) {
  if (takeLimits(tolerance, maxIterations, limitNames)) return;
  Teuchos::ParameterList list;
  list.set(limitNames[0], tolerance);
  list.set(limitNames[1], maxIterations);
  merge(list);
}

void Parameters::setOverlay(const Teuchos::RCP<const Teuchos::ParameterList>& overlay) {
  // The usual case, before every solve.
  if (overlay.is_null() && overlay_.is_null()) return;
  if (overlay.is_null()) return commit(overlay, nullptr);
  try {
    refuseReserved(*overlay);
    commit(overlay, nullptr);
  } catch (const std::invalid_argument& error) {
    const std::string what = error.what(), name = overlay->name();
    const bool named = what.find(name) != std::string::npos;
    throw UserOptionsError(userOptionsPrefix + (named ? "" : name + ", over what the application sets: ") + what);
  }
}

void Parameters::reserve(const std::vector<std::string>& names, const std::string& why) {
  reserved_.clear();
  for (const std::string& name : names) {
    const ParameterRow* const row = findParameter(name);
    if (row == nullptr) throw std::invalid_argument("there is no parameter \"" + name + "\" to reserve");
    reserved_.insert(row);
  }
  whyReserved_ = why;
}

void Parameters::refuseReserved(const Teuchos::ParameterList& overlay) const {
  for (auto item = overlay.begin(); item != overlay.end(); ++item) {
    const ParameterRow* const row = findParameter(overlay.name(item));
    if (reserved_.count(row) == 0) continue;
    throw std::invalid_argument(origin(*solver_, overlay) + "parameter \"" + row->name +
                                "\" = " + showValue(overlay.entry(item)) + " cannot be set here: " + whyReserved_);
  }
}

void Parameters::commit(const Teuchos::RCP<const Teuchos::ParameterList>& overlay,
                        const Teuchos::ParameterList* newest) {
  Remarks remarks;
  ParameterState application = application_;
  Foreign foreign;
  std::string& wild = foreign.wildStepSize;
  if (newest != nullptr) read(*newest, *solver_, application, remarks, askedAs_.empty() ? nullptr : &foreign);
  ParameterState effective = application;
  if (!overlay.is_null()) read(*overlay, *solver_, effective, remarks, nullptr);
  if (!overlay.is_null() && names(*overlay, stepSize)) {
    wild.clear();  // it is not used
  } else if (!askedAs_.empty()) {
    fitStepSize(effective, wild);
  }
  resolve(effective);
  const auto given = [&effective](const char* key) { return effective.given.count(key) != 0; };
  effective.options.implicitScalingGiven = given("Implicit Residual Scaling") || given("Residual Scaling");
  effective.options.explicitScalingGiven = given("Explicit Residual Scaling") || given("Residual Scaling");
  effective.options.numBlocksGiven = given("Num Blocks");
  checkConflicts(effective.options, *solver_);
  remarkOnUserScale(effective, *solver_, remarks);
  if (effective.options.strictParameters && !remarks.empty()) {
    std::string all;
    for (const auto& remark : remarks) all += (all.empty() ? "" : "\n") + remark.second;
    throw std::invalid_argument(all + " (an error because \"Strict Parameters\" is true)");
  }
  application_ = std::move(application);
  effective_ = std::move(effective);
  overlay_ = overlay;
  current_ = Teuchos::null;
  sumAlike();
  remarkOnFile("Report File", effective_.options.reportFile, remarks);
  remarkOnFile("History File", effective_.options.historyFile, remarks);
  warnOnce(remarks, *solver_, warningStream(effective_));
  const ParameterRow& row = *findParameter(stepSize);
  if (!wild.empty() && row.appliesTo(*solver_)) {
    warnOfForeign(stepSize, wild, "is no step size; allowed: " + row.allowed + "; \"auto\" is used instead");
  }
  for (const auto& [key, value] : foreign.leftOut) {
    warnOfForeign(key, value, "is left out, because it costs reductions here; CAPSTAN_OPTIONS can set it");
  }
}

void Parameters::fitStepSize(ParameterState& state, std::string& wild) const {
  const ParameterRow& row = *findParameter(stepSize);
  if (state.options.stepSizeAuto || state.options.stepSize <= state.options.numBlocks) return;
  if (!row.appliesTo(*solver_)) return;
  wild = std::to_string(state.options.stepSize);
  parseParameter(row, Teuchos::ParameterEntry(std::string("auto")), state);
}

void Parameters::warnOfForeign(const std::string& key, const std::string& value, const std::string& outcome) const {
  if (!speaksForAll() || !firstTime(askedAs_ + ": " + key)) return;
  warningStream(effective_) << "Capstan warning: " << solver_->canonical << ", asked for as \"" << askedAs_
                            << "\": parameter \"" << key << "\" = " << value << ' ' << outcome << std::endl;
}

std::vector<std::pair<std::string, std::string>> Parameters::alike() const {
  std::vector<std::pair<std::string, std::string>> values{{"", solver_->canonical}};
  for (const ParameterRow& row : parameterRows()) values.push_back(alikeOf(row));
  return values;
}

std::pair<std::string, std::string> Parameters::alikeOf(const ParameterRow& row) const {
  // Of these it matters whether they were given: other defaults follow from that.
  static const std::set<std::string> asGiven = {"Implicit Residual Scaling", "Explicit Residual Scaling",
                                                "Residual Scaling", "Block Orthogonalization", "Num Blocks"};
  if (row.mayDiffer || !row.appliesTo(*solver_)) return {row.name, ""};
  Teuchos::ParameterList printed;
  row.print(effective_, printed);
  std::string value = showValue(printed.getEntry(row.name));
  if (asGiven.count(row.name) != 0 && effective_.given.count(row.name) == 0) value += " (not given)";
  return {row.name, std::move(value)};
}

void Parameters::sumAlike() {
  Checksum checksum;
  for (const auto& [name, value] : alike()) {
    if (!isLimit(name)) checksum.add(value);
  }
  others_ = checksum.value();
  sumLimits();
}

void Parameters::sumLimits() {
  const SolverOptions& options = effective_.options;
  std::uint64_t tolerance = 0;
  static_assert(sizeof tolerance == sizeof options.tolerance);
  std::memcpy(&tolerance, &options.tolerance, sizeof tolerance);
  Checksum checksum;
  checksum.add(others_);
  checksum.add(tolerance);
  checksum.add(static_cast<std::uint64_t>(options.maxIterations));
  checksum_ = checksum.value();
}

Teuchos::RCP<const Teuchos::ParameterList> Parameters::current() const {
  if (current_.is_null()) current_ = listOf(effective_, *solver_);
  return current_;
}

void forgetParameterWarnings() { forgetWhatWasSaid(); }

}  // namespace capstan
