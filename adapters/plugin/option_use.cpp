#include "adapters/plugin/option_use.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace capstan {

std::mutex& optionUseMutex() {
  // Never destroyed, like what follows: it is asked when MPI ends.
  static auto* const mutex = new std::mutex;
  return *mutex;
}

SolvesSeen& SolvesSeen::instance() {
  static auto* const seen = new SolvesSeen;
  return *seen;
}

void SolvesSeen::solved(const SolveFacts& facts) {
  const std::string label = facts.label.empty() ? "no name" : '"' + facts.label + '"';
  std::string line = fmt::format("system {}: {}, {}, {} row{}", facts.system, label, facts.method->canonical,
                                 facts.rows, facts.rows == 1 ? "" : "s");
  const std::lock_guard<std::mutex> lock(mutex_);
  if (std::find(systems_.begin(), systems_.end(), line) != systems_.end()) return;
  more_ = more_ || systems_.size() >= most;
  if (more_) return;
  systems_.push_back(std::move(line));
  names_.insert(facts.names.begin(), facts.names.end());
}

void SolvesSeen::askedFor(const std::string& name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (requests_.size() < most) requests_.insert(name);
}

std::vector<std::string> SolvesSeen::names() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {names_.begin(), names_.end()};
}

std::vector<std::string> SolvesSeen::requests() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {requests_.begin(), requests_.end()};
}

std::string SolvesSeen::systems() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::string text;
  for (const std::string& line : systems_) text += "  " + line + '\n';
  return text + (more_ ? "  and more\n" : "");
}

}  // namespace capstan
