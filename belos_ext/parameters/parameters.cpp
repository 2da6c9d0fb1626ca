#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>

#include "belos_ext/parameters/conflicts.hpp"
#include "belos_ext/parameters/parameter_table.hpp"
#include "belos_ext/parameters/parameter_value.hpp"
#include "belos_ext/parameters/user_options_error.hpp"
#include "belos_ext/support/checksum.hpp"
#include "belos_ext/support/nearest_match.hpp"
#include "belos_ext/support/output_file.hpp"
#include "belos_ext/support/said_once.hpp"

namespace capstan {

namespace {

/// What lists ask for and do not get, by key; told once a process, because applications make solvers anew.
using Remarks = std::map<std::string, std::string>;

/// \param to what the lists were written for
void warnOnce(const Remarks& remarks, const std::string& to, std::ostream& stream) {
  for (const auto& [key, line] : remarks) {
    if (firstTime(to + ": " + key) && speaksForAll()) stream << "Capstan warning: " << line << std::endl;
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

/// What a list that was written for another library's solver asks for and does not get.
struct Foreign {
  std::string solver;  ///< "CAPSTAN X, asked for as "Y": "; empty: lists are written for Capstan's
  Remarks remarks = {};

  void remark(const ParameterRow& row, const std::string& value, const std::string& outcome) {
    remarks[row.name] = solver + "parameter \"" + row.name + "\" = " + value + ' ' + outcome;
  }
  /// Whether a value is left out, because it costs reductions.
  bool leavesOut(const ParameterRow& row, const Teuchos::ParameterEntry& entry, const MethodTraits& method) {
    if (solver.empty() || !row.costsReductions) return false;
    checkParameter(row, entry);
    if (!row.costsReductions(entry)) return false;
    if (row.appliesTo(method)) {
      remark(row, showValue(entry), "is left out, because it costs reductions here; CAPSTAN_OPTIONS can set it");
    }
    return true;
  }
  /// "auto" in place of a step size that is none, or exceeds a restart cycle.
  void stepAutomatically(const std::string& value, ParameterState& state) {
    const ParameterRow& row = *findParameter(stepSize);
    remark(row, value, "is no step size; allowed: " + row.allowed + "; \"auto\" is used instead");
    parseParameter(row, Teuchos::ParameterEntry(std::string("auto")), state);
  }
};

/// Reads a list into a state, in the order of the table. Throws std::invalid_argument; the state is then half-changed.
void read(const Teuchos::ParameterList& list, const MethodTraits& solver, ParameterState& state, Remarks& remarks,
          Foreign& foreign) {
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
      if (foreign.leavesOut(row, entry, solver)) continue;
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
      if (foreign.solver.empty() || row.name != stepSize) throw std::invalid_argument(where + error.what());
      if (!row.appliesTo(solver)) continue;
      foreign.stepAutomatically(showValue(entry), state);
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
    Teuchos::ParameterEntry entry = row.show(state);
    // Marked as defaults, so that the list given back asks for nothing that nobody has asked for.
    entry.setAnyValue(entry.getAny(false), state.given.count(row.name) == 0);
    list->setEntry(row.name, entry);
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

bool Parameters::merge(const Teuchos::ParameterList& list) {
  if (mergeLimits(list)) return false;
  if (overlay_.is_null()) {
    commit(overlay_, &list);
    return true;
  }
  try {
    commit(overlay_, &list);
  } catch (const std::invalid_argument&) {
    // The list need not be what is wrong: the overlay was for the last solve, and is set anew for the next. Of it stays
    // how strictly lists are read.
    const auto strict = Teuchos::rcp(new Teuchos::ParameterList(overlay_->name()));
    const auto* const row = findParameter("Strict Parameters");
    for (const auto& item : *overlay_) {
      if (findParameter(item.first) == row) strict->setEntry(item.first, item.second);
    }
    commit(strict->numParams() > 0 ? strict : Teuchos::null, &list);
  }
  return true;
}

bool Parameters::mergeLimits(const Teuchos::ParameterList& list) {
  double tolerance = application_.options.tolerance;
  int maxIterations = application_.options.maxIterations;
  std::vector<std::string> given;
  for (const auto& item : list) {
    try {
      if (item.first == limitNames[0]) {
        tolerance = toReal(item.second);
      } else if (item.first == limitNames[1]) {
        maxIterations = toInt(item.second);
      } else {
        return false;
      }
    } catch (const std::invalid_argument&) {
      return false;  // the long way says what is wrong
    }
    if (!item.second.isDefault()) given.push_back(item.first);
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
  Foreign foreign{askedAs_.empty() ? "" : solver_->canonical + ", asked for as \"" + askedAs_ + "\": "}, ours{};
  if (newest != nullptr) read(*newest, *solver_, application, remarks, foreign);
  ParameterState effective = application;
  if (!overlay.is_null()) read(*overlay, *solver_, effective, remarks, ours);
  const bool overlaid = !overlay.is_null() && std::any_of(overlay->begin(), overlay->end(), [](const auto& entry) {
    return findParameter(entry.first) == findParameter(stepSize);
  });
  if (overlaid) {
    foreign.remarks.erase(stepSize);  // it is not used
  } else if (const SolverOptions& options = effective.options;
             !askedAs_.empty() && !options.stepSizeAuto && options.stepSize > options.numBlocks) {
    foreign.stepAutomatically(std::to_string(options.stepSize), effective);
  }
  resolve(effective);
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
  remarkOnFile("Trace File", effective_.options.traceFile, remarks);
  // A fixed choice is read alone.
  if (effective_.options.choiceMode != ChoiceMode::Fixed) {
    remarkOnFile("Choice File", effective_.options.choiceFile, remarks);
  }
  warnOnce(remarks, solver_->canonical, warningStream(effective_));
  warnOnce(foreign.remarks, askedAs_, warningStream(effective_));
}

std::vector<std::pair<std::string, std::string>> Parameters::alike() const {
  // Of these it matters whether they were given: other defaults follow from that.
  static const std::set<std::string> asGiven = {"Implicit Residual Scaling", "Explicit Residual Scaling",
                                                "Block Orthogonalization", "Num Blocks"};
  std::vector<std::pair<std::string, std::string>> values{{"", solver_->canonical}};
  for (const ParameterRow& row : parameterRows()) {
    std::string& value = values.emplace_back(row.name, "").second;
    if (row.mayDiffer || !row.appliesTo(*solver_)) continue;
    value = showValue(row.show(effective_));
    if (asGiven.count(row.name) != 0 && effective_.given.count(row.name) == 0) value += " (not given)";
  }
  return values;
}

void Parameters::sumAlike() {
  Checksum checksum;
  for (const auto& [name, value] : alike()) {
    if (name != limitNames[0] && name != limitNames[1] && name != "Absolute Tolerance") checksum.add(value);
  }
  others_ = checksum.value();
  sumLimits();
}

void Parameters::sumLimits() {
  const SolverOptions& options = effective_.options;
  Checksum checksum;
  checksum.add(others_);
  for (const double tolerance : {options.tolerance, options.absoluteTolerance}) {
    std::uint64_t bits = 0;
    static_assert(sizeof bits == sizeof tolerance);
    std::memcpy(&bits, &tolerance, sizeof bits);
    checksum.add(bits);
  }
  checksum.add(static_cast<std::uint64_t>(options.maxIterations));
  checksum_ = checksum.value();
}

Teuchos::ParameterList Parameters::ofApplication() const {
  const auto all = listOf(application_, *solver_);
  Teuchos::ParameterList list;
  for (const auto& item : *all) {
    if (!item.second.isDefault()) list.setEntry(item.first, item.second);
  }
  return list;
}

Teuchos::RCP<const Teuchos::ParameterList> Parameters::current() const {
  if (current_.is_null()) current_ = listOf(effective_, *solver_);
  return current_;
}

void forgetParameterWarnings() { forgetWhatWasSaid(); }

}  // namespace capstan
