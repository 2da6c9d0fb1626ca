#pragma once

/// \file
/// Choices that several keys of the parameter table make together.

#include "belos_ext/parameters/parameter_table.hpp"

namespace capstan {

/// Settles what keys not given follow from those given: the schemes within and between blocks (Capstan's own keys win
/// over Belos' and upstream's), and the basis. Does nothing the second time.
void resolve(ParameterState& state);

}  // namespace capstan
