#pragma once

/// \file
/// Where vectors for initial guesses stay between solves, although the application destroys its solver in between.

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <optional>

#include "belos_ext/problem/state_key.hpp"

namespace capstan::tuning::guess {
/// Keys of solves whose order a communicator remembers. Chosen, as StateCache.
inline constexpr std::size_t mostKeys = 64;
}  // namespace capstan::tuning::guess

namespace capstan {

/// What is kept for the solves of one key, on this rank.
class KeptGuess {
 public:
  virtual ~KeptGuess() = default;
  /// Of memory, where the vectors live. Local.
  virtual std::size_t bytes() const = 0;
};

/// Holds at most a tenth of this rank's share of the machine's memory (basisMemoryShare()), or at most `bytes`, for at
/// most `mostKeys` keys; the least recently used give way, and what is too large alone is not kept. A solve takes out
/// what it uses, and puts it back when it has ended: of two solves of one key at once, one finds nothing.
///
/// Vectors are in the memory of the device, so that all are given back before Kokkos is finalized; what comes later is
/// not kept. Local, and thread-safe. Ranks may hold different things: they agree before they use them (Agreement).
class GuessStore {
 public:
  static constexpr std::size_t mostKeys = tuning::guess::mostKeys;

  explicit GuessStore(std::optional<std::size_t> bytes = std::nullopt) : limit_(bytes) {}

  /// The store of the process.
  static GuessStore& instance();

  /// What is kept for the key, or null. It is here no more.
  std::shared_ptr<KeptGuess> take(const StateKey& key);

  /// Keeps it, in the place of what was kept for the key. False where it is too large.
  bool put(const StateKey& key, std::shared_ptr<KeptGuess> guess);

  /// Forgets what is kept for the solver of the key, of whatever series.
  void erase(const StateKey& key);
  void clear();
  std::size_t size() const;
  std::size_t bytes() const;

 private:
  struct Entry {
    StateKey key;
    std::shared_ptr<KeptGuess> guess;
  };

  mutable std::mutex mutex_;
  std::list<Entry> entries_;  ///< most recently used first
  std::optional<std::size_t> limit_;
};

}  // namespace capstan
