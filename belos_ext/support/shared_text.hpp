#pragma once

/// \file
/// Text of one rank on every rank, and complaints that only some ranks have.

#include <string>

namespace Teuchos {
template <class Ordinal>
class Comm;
}

namespace capstan {

/// The text of rank `root` on every rank; the texts of the others are not used. Collective: two broadcasts.
std::string sharedText(const std::string& mine, int root, const Teuchos::Comm<int>& comm);

/// The complaint of the first rank that has one, and which rank that is where others have none; empty where nobody has
/// one. The same text on every rank. Collective: a reduction, and two broadcasts where there is a complaint.
/// \param mine this rank's complaint, or an empty string
std::string firstComplaint(const std::string& mine, const Teuchos::Comm<int>& comm);

}  // namespace capstan
