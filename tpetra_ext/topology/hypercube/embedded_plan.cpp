#include "tpetra_ext/topology/hypercube/embedded_plan.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace capstan::topology {
namespace {

/// By value: whom each entry of this rank is for.
std::map<LocalIndex, std::vector<int>> targetsOf(const RankPattern& pattern) {
  std::map<LocalIndex, std::vector<int>> targets;
  for (std::size_t k = 0; k < pattern.sends.size(); ++k) {
    for (const LocalIndex entry : pattern.sends.list(k)) targets[entry].push_back(pattern.sends.peers[k]);
  }
  return targets;
}

}  // namespace

std::size_t EmbeddedPlan::valuesSent() const {
  std::size_t values = 0;
  for (const EmbeddedStep& step : steps) values += step.sent.size();
  return values;
}

std::size_t EmbeddedPlan::bytes() const {
  return sizeof(*this) + steps.size() * sizeof(EmbeddedStep) + (valuesSent() + needed.size()) * sizeof(Slot);
}

EmbeddedRouter::EmbeddedRouter(int rank, const Positions& positions, const RankPattern& pattern, StepOrder order)
    : order_(order),
      rank_(rank),
      dimensions_(hypercubeDimensions(static_cast<int>(positions.size()))),
      position_(0),
      corner_(0),
      positions_(positions),
      rankAt_(positions.size()),
      needs_(pattern.needs) {
  requirePermutation(positions);
  const auto ranks = static_cast<int>(positions.size());
  if (rank < 0 || rank >= ranks) {
    throw std::invalid_argument("capstan: hypercube: rank " + std::to_string(rank) + "; allowed: 0 to " +
                                std::to_string(ranks - 1));
  }
  requireWellFormed(pattern.needs, rank, ranks, "what a rank needs");
  requireWellFormed(pattern.sends, rank, ranks, "what a rank sends");
  for (int r = 0; r < ranks; ++r) rankAt_[static_cast<std::size_t>(positionOf(r))] = r;
  position_ = positionOf(rank);
  corner_ = static_cast<int>(cornerOf(position_, dimensions_));
  plan_.rank = rank;
  plan_.ranks = ranks;
  plan_.dimensions = dimensions_;
  plan_.position = position_;
  plan_.owned = plan_.slots = pattern.owned;
  for (auto& [entry, targets] : targetsOf(pattern)) held_.push_back({{rank, entry}, entry, std::move(targets)});
}

int EmbeddedRouter::partner(int round) const {
  const int corners = 1 << dimensions_;
  const bool folded = position_ != corner_;
  const auto at = [this](int position) { return rankAt_[static_cast<std::size_t>(position)]; };
  if (round == 0 || round == dimensions_ + 1) {
    if (folded) return at(corner_);
    return position_ + corners < plan_.ranks ? at(position_ + corners) : -1;
  }
  return folded ? -1 : at(position_ ^ (1 << dimensionOf(round)));
}

bool EmbeddedRouter::sends(int round) const {
  const bool folded = position_ != corner_;
  if (round == 0) return folded;
  if (round == dimensions_ + 1) return !folded && partner(round) >= 0;
  return !folded;
}

bool EmbeddedRouter::receives(int round) const {
  if (round == 0 || round == dimensions_ + 1) return partner(round) >= 0 && !sends(round);
  return sends(round);
}

/// Whether a value for `target` goes to the partner in this round.
bool EmbeddedRouter::leaves(int target, int round) const {
  if (round == 0) return true;
  if (round == dimensions_ + 1) return target == partner(round);
  const std::uint32_t differs = cornerOf(positionOf(target), dimensions_) ^ static_cast<std::uint32_t>(corner_);
  return ((differs >> dimensionOf(round)) & 1U) != 0;
}

EmbeddedStep& EmbeddedRouter::stepOf(int round) {
  if (round == lastRound_) return plan_.steps.back();
  using Sums = EmbeddedStep::Sums;
  EmbeddedStep step;
  step.partner = partner(round);
  step.lower = position_ < positionOf(step.partner);
  if (round == 0) {
    step.sums = sends(round) ? Sums::Given : Sums::Taken;
  } else if (round == dimensions_ + 1) {
    step.sums = sends(round) ? Sums::Returned : Sums::Replaced;
  }
  step.begin = step.end = plan_.slots;
  plan_.steps.push_back(step);
  lastRound_ = round;
  return plan_.steps.back();
}

std::vector<int> EmbeddedRouter::message(int round) {
  std::vector<int> written;
  if (!sends(round)) return written;
  EmbeddedStep& step = stepOf(round);
  for (Held& held : held_) {
    const auto stay = std::stable_partition(held.targets.begin(), held.targets.end(),
                                            [&](int target) { return leaves(target, round); });
    if (stay == held.targets.begin()) continue;
    step.sent.push_back(held.slot);
    written.insert(written.end(), {held.value.owner, held.value.index, static_cast<int>(stay - held.targets.begin())});
    written.insert(written.end(), held.targets.begin(), stay);
    held.targets.erase(held.targets.begin(), stay);
  }
  held_.erase(std::remove_if(held_.begin(), held_.end(), [](const Held& held) { return held.targets.empty(); }),
              held_.end());
  return written;
}

void EmbeddedRouter::take(int round, const std::vector<int>& message) {
  if (!receives(round)) return;
  EmbeddedStep& step = stepOf(round);
  for (auto next = message.begin(); next != message.end();) {
    Held held;
    held.value = {next[0], next[1]};
    held.slot = plan_.slots++;
    const auto targets = next + 3;
    next = targets + next[2];
    for (auto target = targets; target != next; ++target) {
      if (*target == rank_) {
        arrived_[held.value] = held.slot;
      } else {
        held.targets.push_back(*target);
      }
    }
    if (!held.targets.empty()) held_.push_back(std::move(held));
  }
  step.end = plan_.slots;
}

EmbeddedPlan EmbeddedRouter::plan() const {
  EmbeddedPlan plan = plan_;
  for (std::size_t k = 0; k < needs_.size(); ++k) {
    for (const LocalIndex entry : needs_.list(k)) {
      const auto found = arrived_.find({needs_.peers[k], entry});
      if (found == arrived_.end()) {
        throw std::logic_error("capstan: hypercube: entry " + std::to_string(entry) + " of rank " +
                               std::to_string(needs_.peers[k]) + " does not reach rank " + std::to_string(rank_));
      }
      plan.needed.push_back(found->second);
    }
  }
  return plan;
}

std::vector<EmbeddedPlan> embeddedPlansOf(const Positions& positions, const ExchangePattern& pattern, StepOrder order) {
  if (static_cast<int>(positions.size()) != pattern.ranks()) {
    throw std::invalid_argument("capstan: hypercube: " + std::to_string(positions.size()) + " positions for " +
                                std::to_string(pattern.ranks()) + " ranks");
  }
  std::vector<EmbeddedRouter> routers;
  for (int r = 0; r < pattern.ranks(); ++r) routers.emplace_back(r, positions, pattern.of(r), order);
  const int rounds = routers.front().rounds();
  std::vector<std::vector<int>> messages(routers.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t r = 0; r < routers.size(); ++r) messages[r] = routers[r].message(round);
    for (EmbeddedRouter& router : routers) {
      if (router.receives(round)) router.take(round, messages[static_cast<std::size_t>(router.partner(round))]);
    }
  }
  std::vector<EmbeddedPlan> plans;
  for (const EmbeddedRouter& router : routers) plans.push_back(router.plan());
  return plans;
}

}  // namespace capstan::topology
