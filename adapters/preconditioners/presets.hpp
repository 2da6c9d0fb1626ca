#pragma once
/// \file
/// Where MueLu's parameter files are looked for: Capstan's presets among them.

#include <string>
#include <vector>

namespace capstan::preconditioning {

/// The file that a name of MueLu parameters means: the path `first`, then the name in the working folder, then (also
/// without ".xml") the presets in CAPSTAN_MUELU_PRESETS, beside the installed program and in the source tree. Empty
/// when there is none. Local; reads the file system.
std::string findMueLuFile(const std::string& name, const std::string& first);

/// The names of the presets found, without ".xml". Local; reads the file system.
std::vector<std::string> mueLuPresets();

}  // namespace capstan::preconditioning
