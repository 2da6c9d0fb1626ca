#pragma once

/// \file
/// The rows of the parameter table by subject. Only parameterRows() uses them.

#include <vector>

#include "belos_ext/parameters/parameter_table.hpp"

namespace capstan::rows {

std::vector<ParameterRow> stopping();           ///< tolerances, limits, scalings
std::vector<ParameterRow> enlargedSpace();      ///< of enlarged CG
std::vector<ParameterRow> krylovSpace();        ///< restart length, blocks of right-hand sides, flexibility
std::vector<ParameterRow> stepSize();           ///< step size, basis, shifts
std::vector<ParameterRow> orthogonalization();  ///< block and intra-block schemes, Belos' and upstream's keys for them
std::vector<ParameterRow> output();             ///< what is printed and written, where
std::vector<ParameterRow> communication();      ///< how the messages of products travel
std::vector<ParameterRow> behaviour();          ///< strictness, caching, progress of reductions
std::vector<ParameterRow> acceptedForBelos();   ///< Belos' keys for what Capstan does in one way only

}  // namespace capstan::rows
