#pragma once
/// \file
/// What the state cache keeps of communication plans, and by which keys they are found.

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "belos_ext/manager/state_cache.hpp"
#include "belos_ext/parameters/solver_options.hpp"
#include "tpetra_ext/operators/embedded_operator.hpp"
#include "tpetra_ext/operators/traffic.hpp"
#include "tpetra_ext/operators/tuned_exchange.hpp"

namespace capstan {

/// A plan, or the choice of one, as the state cache keeps it.
class KeptExchange final : public KeptObject {
 public:
  /// \param number the same on all ranks, and another one each time a plan is made
  KeptExchange(TunedExchange exchange, Embedding embedding, const Traffic& ofAProduct, std::uint64_t number)
      : tuned(std::move(exchange)), embedded(std::move(embedding)), traffic(ofAProduct), number_(number) {}

  std::uint64_t checksum() const override { return number_; }
  std::size_t bytes() const override {
    return sizeof(*this) + (tuned.exchange == nullptr ? 0 : tuned.exchange->bytes()) +
           (embedded.exchange == nullptr ? 0 : embedded.exchange->bytes());
  }

  const TunedExchange tuned;
  const Embedding embedded;
  const Traffic traffic;  ///< of a product with one column

 private:
  std::uint64_t number_;
};

/// All ranks' maps as one number, which a rank finds by its own part of them: the last one with that part.
class MapsOfAll final : public KeptObject {
 public:
  explicit MapsOfAll(std::uint64_t number) : value(number) {}
  std::uint64_t checksum() const override { return value; }
  std::size_t bytes() const override { return sizeof(*this); }

  const std::uint64_t value;
};

/// What a plan is for.
struct ExchangeWanted {
  CommunicationStrategy strategy = CommunicationStrategy::Application;
  int ranksPerNode = 0, cutoff = 0;
  int columns = 1;        ///< where they matter
  long long entries = 0;  ///< of the matrix, where they matter
  std::uint64_t maps = 0;
  long long rows = 0;
  int ranks = 1, rank = 0;
  bool embeds = false;
  HypercubeMapping mapping = HypercubeMapping::None;  ///< where it embeds
  topology::DeviceAwareMpi deviceAware = topology::DeviceAwareMpi::Auto;

  bool operator==(const ExchangeWanted& o) const {
    return strategy == o.strategy && ranksPerNode == o.ranksPerNode && cutoff == o.cutoff && columns == o.columns &&
           entries == o.entries && maps == o.maps && rows == o.rows && ranks == o.ranks && rank == o.rank &&
           embeds == o.embeds && mapping == o.mapping && deviceAware == o.deviceAware;
  }
  /// Of the plan; the same on all ranks but for the rank's number.
  StateKey key(std::uint64_t mapsOfAll) const { return keyOf("communication plan", mapsOfAll); }
  /// Of MapsOfAll.
  StateKey keyOfMyMaps() const { return keyOf("maps of a communication plan", maps); }
  StateKey keyOf(const char* what, std::uint64_t number) const {
    return {"",
            fmt::format(
                "{}: {}, {} ranks per node, cutoff {}, {} columns, {} entries, device-aware {}, rank {}, maps {:x}{}",
                what, toString(strategy), ranksPerNode, cutoff, columns, entries, toString(deviceAware), rank, number,
                embeds ? ", embedded, mapping " + toString(mapping) : ""),
            rows, ranks};
  }
};

/// What the state cache has under a key, and a name, or null. Local.
template <class Object>
std::shared_ptr<const Object> knownExchange(const StateKey& key, const char* name) {
  const auto state = StateCache::instance().find(key);
  return state ? state->object<Object>(name) : nullptr;
}

/// Puts it there. Local.
inline void keepExchange(const StateKey& key, const char* name, std::shared_ptr<const KeptObject> object) {
  SolverState state;
  state.objects[name] = std::move(object);
  StateCache::instance().store(key, state);
}

}  // namespace capstan
