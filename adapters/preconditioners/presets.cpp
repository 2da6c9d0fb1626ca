#include "adapters/preconditioners/presets.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace capstan::preconditioning {
namespace {

namespace fs = std::filesystem;

/// The file that holds this code: a program, or a library in the program of somebody else.
fs::path ownFile() {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&ownFile), &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code failed;
  // A program has here the name that it was called by: a bare one was found in PATH, and is no file of this folder.
  const std::string name = info.dli_fname;
  const fs::path file = fs::canonical(name.find('/') == std::string::npos ? "/proc/self/exe" : name, failed);
  return failed ? fs::path() : file;
}

/// The installed presets, from bin, lib, lib64 or lib/<architecture> of the prefix; empty where there are none.
fs::path installedPresets() {
  std::error_code ignored;
  fs::path folder = ownFile().parent_path();
  constexpr int levels = 2;
  for (int level = 0; level < levels && folder.has_relative_path(); ++level) {
    folder = folder.parent_path();
    const fs::path presets = folder / CAPSTAN_PRESETS_BELOW_PREFIX;
    if (fs::is_directory(presets, ignored)) return presets;
  }
  return {};
}

std::vector<fs::path> presetFolders() {
  std::vector<fs::path> folders;
  if (const char* own = std::getenv("CAPSTAN_MUELU_PRESETS")) folders.emplace_back(own);
  if (const fs::path installed = installedPresets(); !installed.empty()) folders.push_back(installed);
  folders.emplace_back(CAPSTAN_MUELU_PRESET_FOLDER);  // the source tree
  return folders;
}

}  // namespace

MueLuFile findMueLuFile(const std::string& name, const std::vector<std::string>& folders) {
  MueLuFile found;
  std::vector<fs::path> places;
  if (fs::path(name).is_absolute()) {
    places.emplace_back(name);
  } else {
    for (const auto& folder : folders) places.push_back(fs::path(folder) / name);
    places.emplace_back(name);
    for (const auto& presets : presetFolders()) {
      places.push_back(presets / name);
      places.push_back(presets / (name + ".xml"));
    }
  }
  std::error_code ignored;
  for (const auto& place : places) {
    const auto path = fs::absolute(place, ignored).lexically_normal().string();
    if (std::find(found.tried.begin(), found.tried.end(), path) != found.tried.end()) continue;
    found.tried.push_back(path);
    if (fs::is_regular_file(place, ignored)) {
      found.path = place.string();
      break;
    }
  }
  return found;
}

std::vector<std::string> mueLuPresets() {
  std::error_code ignored;
  std::vector<std::string> names;
  for (const auto& folder : presetFolders()) {
    for (const auto& file : fs::directory_iterator(folder, ignored)) {
      if (file.path().extension() == ".xml") names.push_back(file.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace capstan::preconditioning
