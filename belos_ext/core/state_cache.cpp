#include "belos_ext/core/state_cache.hpp"

#include <algorithm>

#include "belos_ext/core/checksum.hpp"

namespace capstan {

std::uint64_t checksumOf(const std::optional<SolverState>& state) {
  Checksum checksum;
  if (!state) return checksum.value();
  checksum.add(static_cast<std::uint64_t>(state->shifts.size()));
  for (const auto& shift : state->shifts) {
    checksum.add(shift.real());
    checksum.add(shift.imag());
  }
  checksum.add(static_cast<std::uint64_t>(state->eigenvalueBounds ? 1 : 0));
  const EigenvalueBounds bounds = state->eigenvalueBounds.value_or(EigenvalueBounds{});
  for (const double value : {bounds.min, bounds.max, state->shownOfBounds}) checksum.add(value);
  checksum.add(static_cast<std::uint64_t>(state->stepSize));
  return checksum.value();
}

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

namespace {

/// So that ranks whose checksums are equal hold equal numbers, to the last bit.
SolverState rounded(SolverState state) {
  for (auto& shift : state.shifts) shift = {roundedForRanks(shift.real()), roundedForRanks(shift.imag())};
  if (state.eigenvalueBounds) {
    state.eigenvalueBounds = {roundedForRanks(state.eigenvalueBounds->min),
                              roundedForRanks(state.eigenvalueBounds->max)};
  }
  state.shownOfBounds = roundedForRanks(state.shownOfBounds);
  return state;
}

}  // namespace

void StateCache::store(const StateKey& key, const SolverState& given) {
  const SolverState state = rounded(given);
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = locate(key);
  if (found != entries_.end()) {
    found->state = state;
    entries_.splice(entries_.begin(), entries_, found);
    return;
  }
  entries_.push_front({key, state});
  if (entries_.size() > capacity_) entries_.pop_back();
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
