#pragma once
/// \file
/// What the solves of one label keep for their initial guesses: a policy for each right-hand side.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "belos_ext/convergence/stop_test.hpp"
#include "belos_ext/guess/extrapolation.hpp"
#include "belos_ext/guess/guess_store.hpp"
#include "belos_ext/guess/projection.hpp"
#include "belos_ext/parameters/solver_options.hpp"
#include "belos_ext/support/checksum.hpp"
#include "tpetra_ext/operators/same_maps.hpp"

namespace capstan {

template <class Types>
class GuessMemory final : public KeptGuess {
 public:
  using Map = typename Types::Map;
  using Policy = GuessPolicy<Types>;

  /// \param symmetric whether A is known to be symmetric   \param count right-hand sides
  GuessMemory(const InitialGuess& choice, bool symmetric, std::size_t count, Teuchos::RCP<const Map> map)
      : choice_(choice), symmetric_(symmetric), map_(std::move(map)) {
    while (policies_.size() < count) policies_.push_back(made());
  }

  /// Whether it was made for these. Where the map is another object of the same rows on this rank, the vectors get it.
  /// Local; ranks for which it fits are found out by the checksum.
  bool fits(const InitialGuess& choice, bool symmetric, std::size_t count, const Teuchos::RCP<const Map>& map) {
    if (!(choice == choice_) || symmetric != symmetric_ || count != policies_.size()) return false;
    if (map.get() == map_.get()) return true;
    if (map->getComm()->getSize() != map_->getComm()->getSize() || !sameHere(ComparedMap<Map>{map_}, *map)) {
      return false;
    }
    for (const auto& policy : policies_) {
      for (const auto& v : policy->kept()) v->replaceMap(map);
    }
    map_ = map;
    return true;
  }

  Policy& policy(std::size_t rightHandSide) { return *policies_[rightHandSide]; }

  /// A solve has ended: what became of the right-hand sides is part of the checksum. Local.
  /// \param agreed whether the ranks held the same before it
  void add(const std::vector<StopTest>& stops, bool agreed) {
    Checksum checksum;
    if (agreed) checksum.add(history_);
    for (const StopTest& stop : stops) {
      checksum.add(static_cast<std::uint64_t>(stop.iterations()));
      checksum.add(stop.initial());
      checksum.add(stop.norms().explicit_);
    }
    history_ = checksum.value();
  }

  /// Of all that ranks have to agree on before they use it. Local.
  std::uint64_t checksum() const {
    Checksum checksum;
    checksum.add(toString(choice_));
    checksum.add(static_cast<std::uint64_t>(policies_.size()));
    checksum.add(history_);
    return checksum.value();
  }

  /// Whether no right-hand side of the next solve wants a guess. The same on all ranks that have solved alike. Local.
  bool rests() const {
    return std::all_of(policies_.begin(), policies_.end(), [](const auto& policy) { return policy->rests(); });
  }

  /// Whether nothing is kept: the same on all ranks, those without rows among them.
  bool empty() const {
    return std::all_of(policies_.begin(), policies_.end(), [](const auto& policy) { return policy->kept().empty(); });
  }

  std::size_t bytes() const override {
    std::size_t sum = 0;
    for (const auto& policy : policies_) sum += policy->bytes();
    return sum;
  }

 private:
  std::unique_ptr<Policy> made() const {
    if (choice_.mode == InitialGuess::Mode::Projection) {
      return std::make_unique<Projection<Types>>(choice_.number, symmetric_);
    }
    return std::make_unique<Extrapolation<Types>>(choice_.number);
  }

  InitialGuess choice_;
  bool symmetric_;
  Teuchos::RCP<const Map> map_;
  std::uint64_t history_ = 0;
  std::vector<std::unique_ptr<Policy>> policies_;
};

}  // namespace capstan
