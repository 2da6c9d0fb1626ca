#pragma once
/// \file
/// Values that are worth trying for the rows of the parameter table. Local.

#include <Teuchos_ParameterEntry.hpp>
#include <string>
#include <vector>

#include "belos_ext/parameters/parameter_table.hpp"

namespace capstan::testing {

/// At least one for every row, all of which it accepts: those that are named here, else what its type and its words
/// allow. Throws std::logic_error for a row that takes none of these: name it.
/// \param folder where files may be written
std::vector<Teuchos::ParameterEntry> valuesToTry(const ParameterRow& row, const std::string& folder);

}  // namespace capstan::testing
