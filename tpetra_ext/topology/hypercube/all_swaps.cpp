#include "tpetra_ext/topology/hypercube/all_swaps.hpp"

#include <map>

namespace capstan::topology {

AllSwaps::AllSwaps(const MappingProblem& problem) : counts_(problem) {
  const std::size_t parts = problem.positions.size();
  std::map<int, int> numbers;
  for (std::size_t part = 0; part < parts; ++part) {
    const int group = numbers.emplace(problem.group[part], static_cast<int>(numbers.size())).first->second;
    group_.push_back(group);
    members_.resize(numbers.size());
    members_[static_cast<std::size_t>(group)].push_back(static_cast<int>(part));
  }
  flips_.assign(parts * static_cast<std::size_t>(counts_.dimensions()), 0);
  best_.resize(parts);
  locked_.assign(parts, 0);
  isChanged_.assign(parts, 0);
  shared_.assign(parts, 0);
  for (int part = 0; part < counts_.parts(); ++part) countFlips(part);
  for (int part = 0; part < counts_.parts(); ++part) findBest(part);
}

void AllSwaps::countFlips(int part) {
  long long* flips = flips_.data() + static_cast<std::size_t>(part) * static_cast<std::size_t>(counts_.dimensions());
  for (int d = 0; d < counts_.dimensions(); ++d) flips[d] = 0;
  for (const std::size_t value : counts_.valuesOf(part)) {
    const std::uint32_t alone = counts_.alone(value, part);
    for (std::uint32_t rest = alone | counts_.still(value); rest != 0; rest &= rest - 1) {
      const int d = __builtin_ctz(rest);
      flips[d] += (alone >> d & 1U) != 0 ? counts_.weight(value) : -counts_.weight(value);
    }
  }
}

/// Calls take(other, gain) for each swap of a part that is left. O(K D) and the lists of the part.
template <class Take>
void AllSwaps::forGains(int part, const Take& take) const {
  const auto dimensions = static_cast<std::size_t>(counts_.dimensions());
  for (const std::size_t value : counts_.valuesOf(part)) {
    const std::uint32_t alone = counts_.alone(value, part);
    for (const int other : counts_.partsOf(value)) {
      const std::uint32_t differ = counts_.corner(part) ^ counts_.corner(other);
      const int both = __builtin_popcount(differ & alone) + __builtin_popcount(differ & counts_.alone(value, other));
      shared_[static_cast<std::size_t>(other)] += both * counts_.weight(value);
    }
  }
  const long long* mine = flips_.data() + static_cast<std::size_t>(part) * dimensions;
  for (const int other : partners(part)) {
    if (!mayBeSwapped(part, other)) continue;
    const long long* theirs = flips_.data() + static_cast<std::size_t>(other) * dimensions;
    long long gain = -shared_[static_cast<std::size_t>(other)];
    for (std::uint32_t rest = counts_.corner(part) ^ counts_.corner(other); rest != 0; rest &= rest - 1) {
      const int d = __builtin_ctz(rest);
      gain += mine[d] + theirs[d];
    }
    take(other, gain);
  }
  for (const std::size_t value : counts_.valuesOf(part)) {
    for (const int other : counts_.partsOf(value)) shared_[static_cast<std::size_t>(other)] = 0;
  }
}

/// The best swap of a part; the others of its group whose own best is worse take it, too.
void AllSwaps::findBest(int part) {
  Best best;
  forGains(part, [&](int other, long long gain) {
    if (best.part < 0 || gain > best.gain || (gain == best.gain && other < best.part)) best = {other, gain};
    Best& theirs = best_[static_cast<std::size_t>(other)];
    if (theirs.part < 0 || gain > theirs.gain || (gain == theirs.gain && part < theirs.part)) theirs = {part, gain};
  });
  best_[static_cast<std::size_t>(part)] = best;
}

std::optional<Swap> AllSwaps::best() const {
  std::optional<Swap> best;
  for (int part = 0; part < counts_.parts(); ++part) {
    const Best& mine = best_[static_cast<std::size_t>(part)];
    if (isLocked(part) || mine.part < 0) continue;
    if (!best || mine.gain > best->gain) best = Swap{part, mine.part, mine.gain};
  }
  return best;
}

/// Does the swap and marks the parts whose flips change, and those whose best swap is with one of these.
void AllSwaps::findChanged(const Swap& swap) {
  const auto mark = [this](int part, char how) {
    char& mine = isChanged_[static_cast<std::size_t>(part)];
    if (isLocked(part) || mine != 0) return;
    mine = how;
    changed_.push_back(part);
  };
  counts_.swap(
      swap.a, swap.b, [](std::size_t, std::uint32_t) {},
      [&](std::size_t value, std::uint32_t) {
        for (const int part : counts_.partsOf(value)) mark(part, 1);
      });
  for (int part = 0; part < counts_.parts(); ++part) {
    const int partner = best_[static_cast<std::size_t>(part)].part;
    if (partner >= 0 && (isLocked(partner) || isChanged_[static_cast<std::size_t>(partner)] == 1)) mark(part, 2);
  }
}

void AllSwaps::apply(const Swap& swap) {
  locked_[static_cast<std::size_t>(swap.a)] = 1;
  locked_[static_cast<std::size_t>(swap.b)] = 1;
  findChanged(swap);
  for (const int part : changed_) {
    best_[static_cast<std::size_t>(part)] = {};
    if (isChanged_[static_cast<std::size_t>(part)] == 1) countFlips(part);
  }
  for (const int part : changed_) findBest(part);
  for (const int part : changed_) isChanged_[static_cast<std::size_t>(part)] = 0;
  changed_.clear();
}

std::vector<Swap> AllSwaps::left() const {
  std::vector<Swap> swaps;
  for (int part = 0; part < counts_.parts(); ++part) {
    if (isLocked(part)) continue;
    forGains(part, [&](int other, long long gain) {
      if (part < other) swaps.push_back({part, other, gain});
    });
  }
  return swaps;
}

}  // namespace capstan::topology
