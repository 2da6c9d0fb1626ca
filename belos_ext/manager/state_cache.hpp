#pragma once

/// \file
/// What is worth keeping from one solve to the next although the application destroys its solver in between.

#include <cstddef>
#include <list>
#include <mutex>
#include <optional>

#include "belos_ext/problem/solver_state.hpp"
#include "belos_ext/problem/state_key.hpp"

namespace capstan {

/// The least recently used entries give way to new ones, where they are too many or their objects take too much memory;
/// objects that are too large alone are not kept. Holds plain data only, so it may outlive MPI and Kokkos.
///
/// Local, and thread-safe. Ranks may have taken part in different solves, so find() may succeed on one rank and fail on
/// another. The ranks of a solve must agree before they use an entry: they compare its checksum in the reduction that
/// computes the initial residual (Agreement).
class StateCache {
 public:
  static constexpr std::size_t defaultCapacity = 64;
  static constexpr std::size_t defaultBytes = std::size_t{1} << 26U;

  /// \param capacity entries   \param bytes of all objects
  explicit StateCache(std::size_t capacity = defaultCapacity, std::size_t bytes = defaultBytes)
      : capacity_(capacity), bytes_(bytes) {}

  /// The cache of the process.
  static StateCache& instance();

  /// The entry, which becomes the most recently used one, or nothing.
  std::optional<SolverState> find(const StateKey& key);

  /// Stores or replaces an entry; it becomes the most recently used one.
  void store(const StateKey& key, const SolverState& state);

  void erase(const StateKey& key);
  void clear();
  std::size_t size() const;
  std::size_t capacity() const { return capacity_; }

 private:
  struct Entry {
    StateKey key;
    SolverState state;
  };

  std::list<Entry>::iterator locate(const StateKey& key);
  void makeRoom();

  mutable std::mutex mutex_;
  std::list<Entry> entries_;  ///< most recently used first; a few dozen at most, so searched in order
  std::size_t capacity_, bytes_;
};

}  // namespace capstan
