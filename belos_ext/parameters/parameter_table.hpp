#pragma once

/// \file
/// The parameters of Capstan's solvers, declared once. Validation, defaults, help text and the README table derive from
/// the rows of parameterRows(); a new parameter is one row there.

#include <Teuchos_ParameterEntry.hpp>
#include <Teuchos_ParameterList.hpp>
#include <Teuchos_RCP.hpp>
#include <array>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "belos_ext/parameters/method_traits.hpp"
#include "belos_ext/parameters/solver_options.hpp"

namespace capstan {

/// What the rows of the table read and write.
struct ParameterState {
  SolverOptions options;
  std::set<std::string> given;  ///< names of the rows set so far; a default yields to a related key that was given
};

/// How people come to a parameter, and the order of the tables.
enum class ParameterGroup {
  Basic,         ///< when to stop, what to print and to write
  Method,        ///< what the method is to do
  Expert,        ///< what rarely has to be said
  Compatibility  ///< keys of Belos' that are understood, and change nothing
};
constexpr auto wordsOf(ParameterGroup) { return std::array{"Basic", "Method", "Expert", "Compatibility"}; }

/// One parameter.
struct ParameterRow {
  std::string name;     ///< the key of a parameter list
  std::string type;     ///< for people, for example "int or string"
  std::string allowed;  ///< for people, for example "1 to 100, or auto"
  std::string doc;      ///< one or two sentences
  ParameterGroup group = ParameterGroup::Method;
  bool general = true;             ///< every method takes it; else those whose options (OptionsOf) hold it
  std::vector<std::string> words;  ///< the words it takes, where it takes words, for nearest-match messages

  /// Stores the entry's value. Throws std::invalid_argument, saying only what is wrong with the value ("is not an
  /// integer"): the caller adds key, value and what is allowed. Changes nothing when it throws.
  std::function<void(const Teuchos::ParameterEntry&, ParameterState&)> parse;

  /// The current value, as a list holds it.
  std::function<Teuchos::ParameterEntry(const ParameterState&)> show;

  /// Why a valid value has no effect on this method, or an empty string when it has one (or asks for what Capstan does
  /// anyway). May be unset.
  std::function<std::string(const Teuchos::ParameterEntry&, const MethodTraits&)> remark;

  /// Whether a value means more reductions here than the solver it was written for expects of it, so that a solver
  /// asked for under another library's name leaves it out. May be unset: no value does.
  std::function<bool(const Teuchos::ParameterEntry&)> costsReductions;

  bool mayDiffer = false;  ///< from rank to rank: what is printed and where, and what changes no iterate and no message

  bool appliesTo(const MethodTraits& method) const { return general || method.takes(name); }
};

/// All rows, in the order in which they are parsed and listed. Local.
const std::vector<ParameterRow>& parameterRows();

/// The row of a key, or nullptr. Case, '_', '-' and blanks do not matter: "step_size" finds "Step Size". Local.
const ParameterRow* findParameter(const std::string& key);

/// The nearest known key to an unknown one, or an empty string.
std::string nearestParameter(const std::string& key);

/// Stores one value through its row. Throws std::invalid_argument naming key, value, what is allowed, nearest word.
void parseParameter(const ParameterRow& row, const Teuchos::ParameterEntry& entry, ParameterState& state);

/// Checks one value against its row. Throws as parseParameter() does.
void checkParameter(const ParameterRow& row, const Teuchos::ParameterEntry& entry);

/// The parameters of one solver: defaults, the application's values, and an overlay on top of them.
class Parameters {
 public:
  /// \param askedAs the name under which the application asked, where that is another library's; else empty. Its lists
  /// were written for that other solver, and some applications leave "Step Size" uninitialised in them (Nalu-wind
  /// without krylov_step_size). A value there that is no step size, or exceeds "Num Blocks", becomes "auto", and a
  /// warning says so once a process. What costs reductions here (ParameterRow::costsReductions) is left out, with a
  /// warning. Neither holds for the overlay: the user has written it.
  explicit Parameters(const MethodTraits& solver, std::string askedAs = "");

  /// Merges a list: what it does not name keeps its value. All or nothing: nothing changes when it throws.
  ///
  /// Keys are those of parameterRows(). Integers may come as any integer type or an integral floating-point number,
  /// reals as any number, words in any case, Belos' enumerations as themselves or as int. A key that Capstan does not
  /// know, or that has no effect on this solver, is told once a process, by rank 0, on the "Output Stream" (std::cerr
  /// when the list or an earlier one gave none), unless "Strict Parameters" is true.
  /// Local; the same on every rank for the same lists.
  /// Throws std::invalid_argument for a value of the wrong type or out of range, a key given twice in two spellings,
  /// options that conflict (checkConflicts), and with "Strict Parameters" for a key that is unknown or has no effect.
  /// \return false where it had no more than limits, as setLimits() takes: all else is as it was
  bool merge(const Teuchos::ParameterList& list);

  /// As merge() with a list of "Convergence Tolerance" and "Maximum Iterations", at less cost: for callers who set them
  /// before every solve.
  void setLimits(double tolerance, int maxIterations);

  /// Parameters that no overlay may set: the application relies on the values it has given. `why` is for the message.
  /// Throws std::invalid_argument for a name that is no parameter's. Local.
  void reserve(const std::vector<std::string>& names, const std::string& why);

  /// Replaces the overlay: values that win over the application's, whatever merge() brings later. Null removes it, and
  /// so does merge() with a list that is right but for the overlay: set it before each solve.
  /// Same checks and same guarantee as merge(), and what is wrong is thrown as UserOptionsError, with the overlay's
  /// name.
  void setOverlay(const Teuchos::RCP<const Teuchos::ParameterList>& overlay);

  /// The values in force.
  const SolverOptions& options() const { return effective_.options; }

  /// Whether the application or the overlay has set a parameter, by its full name. Local.
  bool isGiven(const std::string& name) const { return effective_.given.count(name) != 0; }

  /// "Solver Name" as the application has given it, whatever the overlay says; empty where it has not. Local.
  const std::string& applicationsName() const { return application_.options.solverLabel; }

  /// Every key with its default, doc string and validator, as Belos::SolverManager::getValidParameters() returns it.
  Teuchos::RCP<const Teuchos::ParameterList> valid() const;

  /// Every key that has an effect on this solver with its value in force; those that nobody has given are marked as
  /// defaults. Merged into the parameters of a solver of the same method, it makes them equal to these, with "Strict
  /// Parameters" too.
  Teuchos::RCP<const Teuchos::ParameterList> current() const;

  /// Those that the application has given, without the overlay, with their full names. Local.
  Teuchos::ParameterList ofApplication() const;

  /// What must be the same on all ranks: the solver's name, then name and value of every row; the value is empty where
  /// ranks may differ. As many on every rank. Local.
  std::vector<std::pair<std::string, std::string>> alike() const;

  /// Of alike().
  std::uint64_t checksum() const { return checksum_; }
  /// Of alike() but for "Convergence Tolerance" and "Maximum Iterations".
  std::uint64_t checksumButLimits() const { return others_; }

 private:
  /// Tells the constructor that makes the first ones of a method.
  struct First {};
  Parameters(const MethodTraits& solver, First);
  /// Those of a solver that has been told nothing. Local, thread-safe.
  static const Parameters& untold(const MethodTraits& solver);
  /// Throws where an overlay sets what is reserved.
  void refuseReserved(const Teuchos::ParameterList& overlay) const;
  void commit(const Teuchos::RCP<const Teuchos::ParameterList>& overlay, const Teuchos::ParameterList* newest);
  /// The tolerance and the iteration limit, which applications set before every solve, without looking at all others.
  /// Returns whether the list holds no more than these, and they are valid.
  bool mergeLimits(const Teuchos::ParameterList& list);
  /// The same of valid values; false where they are not, or an overlay has a say.
  bool takeLimits(double tolerance, int maxIterations, const std::vector<std::string>& given);
  void sumAlike();
  void sumLimits();

  const MethodTraits* solver_;
  std::string askedAs_;
  ParameterState application_;
  ParameterState effective_;
  Teuchos::RCP<const Teuchos::ParameterList> overlay_;
  std::set<const ParameterRow*> reserved_;  ///< for the application
  std::string whyReserved_;
  mutable Teuchos::RCP<const Teuchos::ParameterList> current_;  ///< made where it is asked for
  std::uint64_t others_ = 0;                                    ///< checksum of alike() but for the limits
  std::uint64_t checksum_ = 0;                                  ///< of others_ and the limits
};

/// Forgets which warnings have been given, so that they are given again.
void forgetParameterWarnings();

/// The parameters that have an effect on a solver of this version: Markdown (for the README) and plain text.
std::string parameterTableMarkdown();
std::string parameterTableText();

}  // namespace capstan
