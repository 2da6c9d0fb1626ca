// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Typed settings on their way from a dictionary of the application to a Trilinos parameter list.

#include <string>
#include <variant>
#include <vector>

namespace Teuchos {
class ParameterList;
}

namespace capstan {
struct MethodTraits;
class Parameters;
}  // namespace capstan

namespace capstan::driver {

/// One entry as the application's dictionary gave it: a value, or a list of further settings.
struct Setting {
  std::string name;
  std::variant<bool, int, double, std::string, std::vector<Setting>> value;

  bool operator==(const Setting& other) const { return name == other.name && value == other.value; }
};

/// Settings in the order of the dictionary.
using Settings = std::vector<Setting>;

/// Copies \p settings into \p list. Local.
///
/// Where \p valid (may be null) knows a name equal up to case and '_' for ' ', that spelling is taken and a number is
/// converted to the type expected: an int to a double, 0 or 1 to a bool. In other names '_' becomes ' ': a dictionary's
/// keys hold no blanks, and the names of MueLu and Ifpack2 no '_'.
void copySettings(const Settings& settings, const Teuchos::ParameterList* valid, Teuchos::ParameterList& list);

/// The name in \p valid that equals \p name up to case and '_' for ' '; else \p name with blanks for '_'. Local.
std::string canonicalName(const std::string& name, const Teuchos::ParameterList* valid);

/// The parameters of a solver of Capstan's with these settings. Local. Throws as Parameters::merge().
Parameters parametersOf(const MethodTraits& method, const Settings& settings);

}  // namespace capstan::driver
