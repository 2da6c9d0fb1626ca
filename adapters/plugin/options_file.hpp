#pragma once

/// \file
/// Options that the user gives outside the application, in YAML: CAPSTAN_OPTIONS holds them, CAPSTAN_OPTIONS_FILE names
/// a file that does.
///
///     step_size: 10                  # parameters for all solves, as in parameterRows(), in any spelling
///     labels:
///       pressure:                    # parameters for some solves only, see label_pattern.hpp
///         convergence_tolerance: 1e-8
///     redirect:
///       BLOCK GMRES: CAPSTAN GMRES S-STEP   # who asks for the left gets the right
///
/// What stands later in this list wins: application, file for all, file for labels, CAPSTAN_OPTIONS for all,
/// CAPSTAN_OPTIONS for labels; of several labels that mean a solve, the one that stands later.

#include <Teuchos_ParameterList.hpp>
#include <Teuchos_RCP.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/plugin/label_pattern.hpp"
#include "belos_ext/parameters/method_traits.hpp"
#include "belos_ext/parameters/parameter_overlay.hpp"

namespace capstan {

struct OptionUse;

/// The options of one source, or of several one over the other. Copies share what is known of their use.
class UserOptions {
 public:
  /// No options.
  UserOptions() = default;

  /// Reads YAML text. `source` names it in messages: a file's path, or "CAPSTAN_OPTIONS".
  /// Local. Throws UserOptionsError naming source, line, key path, value, what is allowed and the nearest match,
  /// for text that is no YAML, an unknown or repeated key, a label that is no pattern, a value its parameter does not
  /// take, an unknown solver name.
  static UserOptions parse(const std::string& text, const std::string& source);

  /// Reads a file. Local: every rank reads it. Throws as parse() does, and when the file cannot be read.
  static UserOptions parseFile(const std::string& path);

  /// Lays stronger options over these.
  void add(const UserOptions& stronger);

  /// The parameters for a solve, whose use is noted; null when there are none. The list's name is that of its sources.
  /// Collective where a label asks for the symmetry, else local.
  Teuchos::RCP<const Teuchos::ParameterList> forSolve(const SolveFacts& facts) const;

  /// The solver that a name is redirected to, or nullptr. Belos' aliases stand for the same solver: a redirect of
  /// "PSEUDOBLOCK GMRES" also holds for who asks for "gmres". Notes that the name was asked for.
  const MethodTraits* redirected(const std::string& name) const;

  /// That name was asked for in another way than Belos' factory, and is solved as it says. Local.
  void noteRedirected(const std::string& name) const;

  bool empty() const { return parameters_.empty() && redirects_.empty(); }

  /// For people: the labels, redirects and keys that no solve on this rank has used, and what its solves were; empty
  /// where all have been used. Local.
  std::string neverUsed() const;

 private:
  friend class OptionsReader;

  /// A layer of parameters, for all solves where it has no label.
  struct Layer {
    std::optional<LabelPattern> label;
    Teuchos::ParameterList list;
    std::string where;                        ///< of a label: source, line and key path
    std::map<std::string, std::string> keys;  ///< the same of each parameter
    std::shared_ptr<OptionUse> use;
  };

  struct Redirect {
    const MethodTraits* to = nullptr;
    std::string where;
    std::shared_ptr<OptionUse> use;
  };

  static void noteUse(const Layer& layer, const SolveFacts& facts);
  void noteRedirect(const SolveFacts& facts) const;

  std::vector<Layer> parameters_;              ///< weakest first
  std::map<std::string, Redirect> redirects_;  ///< by canonical name
};

/// What CAPSTAN_OPTIONS_FILE and CAPSTAN_OPTIONS say now, the latter over the former. Read when first asked for and
/// again when a variable has changed. Local, thread-safe: no rank talks to another, so the variables must be the same
/// on all. Throws as UserOptions::parse() does, every time, until the options are right.
///
/// When MPI ends, rank 0 says on the standard error stream which of the options in force then were never used.
UserOptions environmentOptions();

}  // namespace capstan
