#pragma once

/// \file
/// Options that the user gives outside the application, in YAML: CAPSTAN_OPTIONS holds them, CAPSTAN_OPTIONS_FILE names
/// a file that does.
///
///     step_size: 10                  # parameters for all problems, as in parameterRows(), in any spelling
///     labels:
///       pressure:                    # parameters for the problem with this label only
///         convergence_tolerance: 1e-8
///     redirect:
///       BLOCK GMRES: CAPSTAN GMRES S-STEP   # who asks for the left gets the right
///
/// What stands later in this list wins: application, file for all, file for the label, CAPSTAN_OPTIONS for all,
/// CAPSTAN_OPTIONS for the label.

#include <Teuchos_ParameterList.hpp>
#include <Teuchos_RCP.hpp>
#include <map>
#include <string>

#include "belos_ext/parameters/method_traits.hpp"

namespace capstan {

/// The options of one source, or of several one over the other.
class UserOptions {
 public:
  /// No options.
  UserOptions() = default;

  /// Reads YAML text. `source` names it in messages: a file's path, or "CAPSTAN_OPTIONS".
  /// Local. Throws std::invalid_argument naming source, line, key path, value, what is allowed and the nearest match,
  /// for text that is no YAML, an unknown or repeated key, a value its parameter does not take, an unknown solver name.
  static UserOptions parse(const std::string& text, const std::string& source);

  /// Reads a file. Local: every rank reads it. Throws as parse() does, and when the file cannot be read.
  static UserOptions parseFile(const std::string& path);

  /// Lays stronger options over these.
  void add(const UserOptions& stronger);

  /// The parameters for a problem label; null when there are none. The list's name is that of its sources.
  Teuchos::RCP<const Teuchos::ParameterList> forLabel(const std::string& label) const;

  /// The solver that a name is redirected to, or nullptr. Belos' aliases stand for the same solver: a redirect of
  /// "PSEUDOBLOCK GMRES" also holds for who asks for "Pseudo Block GMRES".
  const MethodTraits* redirected(const std::string& name) const;

  bool empty() const { return parameters_.empty() && redirects_.empty(); }

 private:
  friend class OptionsReader;

  /// A layer of parameters; `forAll` or for one label.
  struct Layer {
    bool forAll = true;
    std::string label;
    Teuchos::ParameterList list;
  };

  std::vector<Layer> parameters_;                         ///< weakest first
  std::map<std::string, const MethodTraits*> redirects_;  ///< by canonical name
};

/// What CAPSTAN_OPTIONS_FILE and CAPSTAN_OPTIONS say now, the latter over the former. Read when first asked for and
/// again when a variable has changed. Local, thread-safe: no rank talks to another, so the variables must be the same
/// on all. Throws as UserOptions::parse() does, every time, until the options are right.
UserOptions environmentOptions();

}  // namespace capstan
