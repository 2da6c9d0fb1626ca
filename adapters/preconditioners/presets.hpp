#pragma once
/// \file
/// Where MueLu's parameter files are looked for: Capstan's presets among them.

#include <string>
#include <vector>

namespace capstan::preconditioning {

struct MueLuFile {
  std::string path;                ///< empty: there is none
  std::vector<std::string> tried;  ///< full paths, in this order
};

/// The file that a name of MueLu parameters means: in one of `folders`, the first one first, then in the working
/// folder, then (also without ".xml") among the presets in CAPSTAN_MUELU_PRESETS, in the prefix of the program or
/// library that holds this code, and in the source tree. A full path means itself. Local; reads the file system.
MueLuFile findMueLuFile(const std::string& name, const std::vector<std::string>& folders);

/// The names of the presets found, without ".xml". Local; reads the file system.
std::vector<std::string> mueLuPresets();

}  // namespace capstan::preconditioning
