#pragma once
/// \file
/// What the file of a library or program tells of it, without loading it.

#include <string>
#include <vector>

namespace capstan {

/// The sonames of the libraries that it needs (DT_NEEDED); none where it is no such file of this processor's. Local.
std::vector<std::string> neededBy(const std::string& file);

/// Whether these bytes occur in it. Reads all of it. Local.
bool fileHolds(const std::string& file, const std::string& bytes);

}  // namespace capstan
