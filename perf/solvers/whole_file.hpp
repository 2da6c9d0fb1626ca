#pragma once
/// \file
/// Results that nobody sees half of.

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace capstan::perf {

/// Writes the file under another name first. False, and the file as it was, when it cannot be written. Local.
inline bool writeWhole(const std::string& path, const std::string& text) {
  const std::string draft = path + ".tmp";
  std::ofstream file(draft);
  file << text;
  file.close();
  if (!file) return false;
  std::error_code failed;
  std::filesystem::rename(draft, path, failed);
  return !failed;
}

}  // namespace capstan::perf
