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

/// What is wrong with a solve by the first rank that has a complaint, and which rank that is where others have none;
/// empty where nobody has one. The same text on every rank. Collective, likewise.
/// \param mine this rank's complaint, or an empty string
std::string firstComplaint(const std::string& mine, const Teuchos::Comm<int>& comm);

}  // namespace capstan
