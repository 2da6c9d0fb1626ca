#pragma once

/// \file
/// Parameters on top of the application's, from outside it. The plugin supplies them (CAPSTAN_OPTIONS), the solver
/// manager asks for them; neither includes the other.

#include <Teuchos_ParameterList.hpp>
#include <Teuchos_RCP.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "belos_ext/parameters/method_traits.hpp"

namespace capstan {

/// Thrown by SolveFacts::symmetric() where the ranks do not look for it together yet: passes through the overlay, and
/// the solve asks once more when they do.
struct SymmetryAsked {};

/// What the user can tell a solve by. The same on all ranks of the solve.
struct SolveFacts {
  const MethodTraits* method = nullptr;  ///< not null
  std::string label;                     ///< the application's name of the solver, else of the matrix; may be empty
  std::string askedAs;                   ///< the name under which the application asked for the solver; may be empty
  std::vector<std::string> names;        ///< all it can be called by; none is empty
  long long rows = 0;
  int system = 0;  ///< its number among the systems of the run, from 1 (SystemNumbers)

  /// Whether the matrix is symmetric; nothing where it cannot be read. Local: some ranks may ask, and others not. May
  /// throw SymmetryAsked.
  std::function<std::optional<bool>()> symmetric;
};

/// The values that win over the application's for a solve; null or an empty list when there are none.
/// May throw UserOptionsError when what the user wrote is wrong. Local.
using ParameterOverlay = std::function<Teuchos::RCP<const Teuchos::ParameterList>(const SolveFacts&)>;

/// Installs the process's overlay, replacing an earlier one; an empty function removes it. Local, thread-safe.
void setParameterOverlay(ParameterOverlay overlay);

/// Asks the installed overlay; null when none is installed. Thread-safe, local; throws what the overlay throws.
Teuchos::RCP<const Teuchos::ParameterList> parameterOverlay(const SolveFacts& facts);

}  // namespace capstan
