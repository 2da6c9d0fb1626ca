#include "adapters/plugin/options_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "adapters/plugin/belos_names.hpp"
#include "adapters/plugin/option_use.hpp"
#include "adapters/run_end/run_end.hpp"
#include "belos_ext/parameters/parameter_table.hpp"
#include "belos_ext/parameters/parameter_value.hpp"
#include "belos_ext/parameters/user_options_error.hpp"
#include "belos_ext/support/nearest_match.hpp"
#include "belos_ext/support/said_once.hpp"

namespace capstan {

UserOptions UserOptions::parseFile(const std::string& path) {
  errno = 0;
  std::ifstream file(path);
  std::ostringstream text;
  // A read that fails sets badbit of `file` in peek() alone. An empty file sets failbit of `text`.
  const bool isRead = file && (file.peek(), text << file.rdbuf(), file.good() || file.eof());
  const int reason = errno;
  std::error_code ignored;  // whatever the matter is, all ranks get the error below
  const bool isFolder = std::filesystem::is_directory(path, ignored);
  if (isFolder || !isRead) {
    throw UserOptionsError(fmt::format("{}cannot read \"{}\", named by CAPSTAN_OPTIONS_FILE: {}", userOptionsPrefix,
                                       path, isFolder ? "it is a folder" : std::strerror(reason)));
  }
  return parse(text.str(), path);
}

void UserOptions::add(const UserOptions& stronger) {
  parameters_.insert(parameters_.end(), stronger.parameters_.begin(), stronger.parameters_.end());
  for (const auto& [from, to] : stronger.redirects_) redirects_[from] = to;
}

Teuchos::RCP<const Teuchos::ParameterList> UserOptions::forSolve(const SolveFacts& facts) const {
  if (empty()) return Teuchos::null;
  SolvesSeen::instance().solved(facts);
  noteRedirect(facts);
  Teuchos::RCP<Teuchos::ParameterList> merged;
  for (const Layer& layer : parameters_) {
    if (layer.label && !layer.label->matches(facts)) continue;
    noteUse(layer, facts);
    if (merged.is_null()) {
      merged = Teuchos::parameterList(layer.list.name());
    } else if (merged->name().find(layer.list.name()) == std::string::npos) {
      merged->setName(merged->name() + " and " + layer.list.name());
    }
    // A weaker single scaling yields to one for both; within one list the single one wins.
    const auto* both = layer.list.getEntryPtr("Residual Scaling");
    if (both != nullptr && !isWord(*both, "as the two")) {
      merged->remove("Implicit Residual Scaling", false);
      merged->remove("Explicit Residual Scaling", false);
    }
    for (auto item = layer.list.begin(); item != layer.list.end(); ++item) {
      merged->setEntry(layer.list.name(item), layer.list.entry(item));
    }
  }
  return merged;
}

void UserOptions::noteUse(const Layer& layer, const SolveFacts& facts) {
  const std::lock_guard<std::mutex> lock(optionUseMutex());
  layer.use->used = true;
  for (const auto& key : layer.keys) {
    if (findParameter(key.first)->appliesTo(*facts.method)) layer.use->keys.insert(key.first);
  }
}

void UserOptions::noteRedirect(const SolveFacts& facts) const {
  if (!facts.askedAs.empty()) noteRedirected(facts.askedAs);
}

void UserOptions::noteRedirected(const std::string& name) const {
  if (redirects_.empty()) return;
  const auto found = redirects_.find(canonicalSolverName(name));
  if (found == redirects_.end()) return;
  const std::lock_guard<std::mutex> lock(optionUseMutex());
  found->second.use->used = true;
}

const MethodTraits* UserOptions::redirected(const std::string& name) const {
  if (redirects_.empty()) return nullptr;
  const std::string canonical = canonicalSolverName(name);
  SolvesSeen::instance().askedFor(canonical);
  const auto found = redirects_.find(canonical);
  return found == redirects_.end() ? nullptr : found->second.to;
}

std::string UserOptions::neverUsed() const {
  const SolvesSeen& seen = SolvesSeen::instance();
  const std::string systems = seen.systems();
  std::string lines;
  const auto tell = [&lines](const std::string& where, const std::string& what) {
    lines += "  " + where + ": " + what + '\n';
  };
  const std::lock_guard<std::mutex> lock(optionUseMutex());
  for (const Layer& layer : parameters_) {
    if (layer.label && !layer.use->used) {
      std::string nearest;
      for (const std::string& name : layer.label->names()) nearest += didYouMean(name, seen.names());
      tell(layer.where, systems.empty() ? "there was no solve by Capstan" : "no solve fits it" + nearest);
      continue;
    }
    for (const auto& [key, where] : layer.keys) {
      if (layer.use->keys.count(key) != 0) continue;
      tell(where, systems.empty() ? "there was no solve by Capstan" : "no solver that takes it has solved");
    }
  }
  for (const auto& [from, redirect] : redirects_) {
    if (redirect.use->used) continue;
    std::string requests;
    for (const std::string& name : seen.requests()) requests += (requests.empty() ? "\"" : ", \"") + name + '"';
    tell(redirect.where, "no solve was asked for by that name; asked for: " + (requests.empty() ? "none" : requests));
  }
  if (lines.empty()) return "";
  return "Capstan: options that this run has not used, as rank 0 has seen it:\n" + lines +
         (systems.empty() ? "" : "Solves of the run:\n" + systems);
}

namespace {

struct Known {
  std::mutex mutex;
  std::string text, path;
  UserOptions options;
};

/// Never destroyed: it is asked when MPI ends.
Known& known() {
  static auto* const instance = new Known;
  return *instance;
}

void tellWhatWasNeverUsed() {
  const std::lock_guard<std::mutex> lock(known().mutex);
  const std::string text = known().options.neverUsed();
  if (!text.empty() && speaksForAll()) std::cerr << text << std::flush;
}

void tellAtTheEnd() {
  static bool asked = false;
  if (std::exchange(asked, true)) return;
  atRunEnd(tellWhatWasNeverUsed);
}

}  // namespace

UserOptions environmentOptions() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value != nullptr ? value : "");
  };
  const std::lock_guard<std::mutex> lock(known().mutex);
  const std::string path = variable("CAPSTAN_OPTIONS_FILE");
  const std::string text = variable("CAPSTAN_OPTIONS");
  if (path != known().path || text != known().text) {
    UserOptions options;
    if (!path.empty()) options.add(UserOptions::parseFile(path));
    options.add(UserOptions::parse(text, "CAPSTAN_OPTIONS"));
    known().options = options;
    known().path = path;
    known().text = text;
    if (!options.empty()) tellAtTheEnd();
  }
  return known().options;
}

}  // namespace capstan
