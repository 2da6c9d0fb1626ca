#include "belos_ext/manager/state_cache.hpp"

#include <algorithm>
#include <utility>

namespace capstan {

StateCache& StateCache::instance() {
  // Never destroyed: a solver may store its state while the process shuts down.
  static StateCache* const cache = new StateCache;
  return *cache;
}

std::list<StateCache::Entry>::iterator StateCache::locate(const StateKey& key) {
  return std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.key == key; });
}

std::optional<SolverState> StateCache::find(const StateKey& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = locate(key);
  if (found == entries_.end()) return std::nullopt;
  entries_.splice(entries_.begin(), entries_, found);
  return found->state;
}

void StateCache::store(const StateKey& key, const SolverState& given) {
  SolverState state = rounded(given);
  if (bytesOf(state) > bytes_) state.objects.clear();
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = locate(key);
  if (found != entries_.end()) entries_.erase(found);
  entries_.push_front({key, std::move(state)});
  makeRoom();
}

/// Takes the least recently used entries out. The newest fits.
void StateCache::makeRoom() {
  std::size_t bytes = 0;
  for (const Entry& entry : entries_) bytes += bytesOf(entry.state);
  while (entries_.size() > capacity_ || bytes > bytes_) {
    bytes -= bytesOf(entries_.back().state);
    entries_.pop_back();
  }
}

void StateCache::erase(const StateKey& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = locate(key);
  if (found != entries_.end()) entries_.erase(found);
}

void StateCache::clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  entries_.clear();
}

std::size_t StateCache::size() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return entries_.size();
}

}  // namespace capstan
