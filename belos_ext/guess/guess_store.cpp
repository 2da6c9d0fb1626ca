#include "belos_ext/guess/guess_store.hpp"

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <utility>

#include "belos_ext/support/memory_share.hpp"

namespace capstan {

GuessStore& GuessStore::instance() {
  // Never destroyed: a solver may put vectors back while the process shuts down.
  static GuessStore* const store = new GuessStore;
  static std::once_flag once;
  if (Kokkos::is_initialized()) std::call_once(once, [] { Kokkos::push_finalize_hook([] { store->clear(); }); });
  return *store;
}

std::shared_ptr<KeptGuess> GuessStore::take(const StateKey& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.key == key; });
  if (found == entries_.end()) return nullptr;
  auto guess = std::move(found->guess);
  entries_.erase(found);
  return guess;
}

bool GuessStore::put(const StateKey& key, std::shared_ptr<KeptGuess> guess) {
  take(key);
  const double limit = limit_ ? static_cast<double>(*limit_) : basisMemoryShare(key.ranks);
  if (!Kokkos::is_initialized() || static_cast<double>(guess->bytes()) > limit) return false;
  std::list<Entry> dropped;  // destroyed without the lock: a vector may be the last to hold much else
  const std::lock_guard<std::mutex> lock(mutex_);
  entries_.push_front({key, std::move(guess)});
  double sum = 0;
  std::size_t count = 0;
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    sum += static_cast<double>(entry->guess->bytes());
    const auto next = std::next(entry);
    if (sum > limit || ++count > mostKeys) dropped.splice(dropped.end(), entries_, entry);
    entry = next;
  }
  return true;
}

void GuessStore::erase(const StateKey& key) {
  std::list<Entry> dropped;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto next = std::next(entry);
    if (entry->key.sameSolver(key)) dropped.splice(dropped.end(), entries_, entry);
    entry = next;
  }
}

void GuessStore::clear() {
  std::list<Entry> dropped;
  const std::lock_guard<std::mutex> lock(mutex_);
  dropped.swap(entries_);
}

std::size_t GuessStore::size() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return entries_.size();
}

std::size_t GuessStore::bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::size_t sum = 0;
  for (const Entry& entry : entries_) sum += entry.guess->bytes();
  return sum;
}

}  // namespace capstan
