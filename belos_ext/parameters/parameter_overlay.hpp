#pragma once

/// \file
/// Parameters on top of the application's, from outside it. The plugin supplies them (CAPSTAN_OPTIONS), the solver
/// manager asks for them; neither includes the other.

#include <Teuchos_ParameterList.hpp>
#include <Teuchos_RCP.hpp>
#include <functional>
#include <string>

namespace capstan {

/// The values that win over the application's for a problem label; null or an empty list when there are none.
/// May throw std::invalid_argument when what the user wrote is wrong.
using ParameterOverlay = std::function<Teuchos::RCP<const Teuchos::ParameterList>(const std::string& problemLabel)>;

/// Installs the process's overlay, replacing an earlier one; an empty function removes it. Local, thread-safe.
void setParameterOverlay(ParameterOverlay overlay);

/// Asks the installed overlay; null when none is installed. Local, thread-safe; throws what the overlay throws.
Teuchos::RCP<const Teuchos::ParameterList> parameterOverlay(const std::string& problemLabel);

}  // namespace capstan
