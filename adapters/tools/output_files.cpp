#include "adapters/tools/output_files.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "belos_ext/support/nearest_match.hpp"
#include "belos_ext/support/output_file.hpp"

namespace capstan::tools {
namespace {

/// The files of the deck's own parameters, which the solvers write. Solves share such a file: they append to it.
std::vector<NamedFile> writtenBySolvers(const deck::Deck& deck, const std::string& key) {
  std::vector<NamedFile> files;
  for (const auto& solver : deck.linearSolvers) {
    for (const auto& entry : solver.parameters) {
      if (normalizedName(entry.first) != normalizedName(key) || !entry.second.isType<std::string>()) continue;
      files.push_back(
          {fmt::format("{}.parameters.{}", solver.place.text(), key), Teuchos::getValue<std::string>(entry.second)});
    }
  }
  return files;
}

std::vector<NamedFile> readFiles(const deck::Deck& deck) {
  std::vector<NamedFile> files = {{"the deck", deck.file}};
  for (const auto& system : deck.systems) {
    files.push_back({system.matrixPlace.text(), system.matrixFile});
    files.push_back({system.rhsPlace.text(), system.rhsFile});
    files.push_back({system.guessPlace.text(), system.guessFile});
  }
  for (const auto& solver : deck.linearSolvers)
    files.push_back({solver.mueluPlace.text(), solver.preconditioner.origin});
  const char* options = std::getenv("CAPSTAN_OPTIONS_FILE");
  files.push_back({"CAPSTAN_OPTIONS_FILE", options == nullptr ? "" : options});
  return files;
}

/// Whether both lead to the same regular file, one that is there or one that will be.
bool sameFile(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return false;
  const OutputTarget one = outputTarget(a), other = outputTarget(b);
  const auto regular = [](const OutputTarget& target) {
    return target.kind == OutputTarget::Kind::File || target.kind == OutputTarget::Kind::Nothing;
  };
  if (!regular(one) || !regular(other)) return false;
  std::error_code none;
  if (std::filesystem::equivalent(one.path, other.path, none)) return true;  // hard links, too
  const auto full = [](const std::string& path) {
    std::error_code failed;
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, failed), failed);
  };
  return full(one.path) == full(other.path);
}

}  // namespace

std::vector<std::string> whyNotWritable(const std::vector<NamedFile>& outputs) {
  std::vector<std::string> lines;
  for (const auto& [who, path] : outputs) {
    if (path.empty()) continue;
    const std::string reason = capstan::whyNotWritable(path);
    if (!reason.empty()) lines.push_back(fmt::format("{}: '{}' cannot be written: {}", who, path, reason));
  }
  return lines;
}

std::vector<std::string> whatIsOverwritten(const std::vector<NamedFile>& outputs, const deck::Deck& deck) {
  std::vector<std::vector<NamedFile>> groups;
  for (const auto& output : outputs) groups.push_back({output});
  groups.push_back(writtenBySolvers(deck, "Report File"));
  groups.push_back(writtenBySolvers(deck, "History File"));
  groups.push_back(writtenBySolvers(deck, "Trace File"));
  const std::size_t written = groups.size();
  groups.push_back(readFiles(deck));

  std::vector<std::string> lines;
  for (std::size_t first = 0; first < written; ++first) {
    for (const auto& output : groups[first]) {
      for (std::size_t second = first + 1; second < groups.size(); ++second) {
        for (const auto& other : groups[second]) {
          if (!sameFile(output.path, other.path)) continue;
          lines.push_back(fmt::format("{}: found '{}', which is the file of {}; allowed: a file of its own", output.who,
                                      output.path, other.who));
        }
      }
    }
  }
  return lines;
}

}  // namespace capstan::tools
