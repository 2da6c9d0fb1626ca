#pragma once

/// \file
/// What the parameters of a solve differ in, from rank to rank.

#include <string>

#include "belos_ext/parameters/parameter_table.hpp"

namespace Teuchos {
template <class Ordinal>
class Comm;
}

namespace capstan {

/// Which parameters differ between the ranks, with two of the values and who has them; the same text on every rank.
/// Collective: a few reductions and broadcasts, for the error that ends a solve.
std::string differingParameters(const Parameters& parameters, const Teuchos::Comm<int>& comm);

}  // namespace capstan
