#include "adapters/preconditioners/presets.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace capstan::preconditioning {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> presetFolders() {
  std::vector<fs::path> folders;
  if (const char* own = std::getenv("CAPSTAN_MUELU_PRESETS")) folders.emplace_back(own);
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  if (!failed) folders.push_back(program.parent_path().parent_path() / "share/capstan/app-inputs/muelu");
  folders.emplace_back(CAPSTAN_MUELU_PRESET_FOLDER);  // the source tree
  return folders;
}

}  // namespace

std::string findMueLuFile(const std::string& name, const std::string& first) {
  std::error_code ignored;
  std::vector<std::string> places = {first, name};
  for (const auto& presets : presetFolders()) {
    places.push_back((presets / name).string());
    places.push_back((presets / (name + ".xml")).string());
  }
  for (const auto& place : places) {
    if (fs::is_regular_file(place, ignored)) return place;
  }
  return "";
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
