#include "tpetra_ext/topology/hypercube/embedded_counts.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "tpetra_ext/topology/hypercube/receivers.hpp"
#include "tpetra_ext/topology/hypercube/value_counts.hpp"

namespace capstan::topology {
namespace {

void requireAsMany(int ranks, int found, const char* what) {
  if (ranks == found) return;
  throw std::invalid_argument("capstan: counts of an embedded exchange: " + std::string(what) + " of " +
                              std::to_string(found) + " ranks for a pattern of " + std::to_string(ranks));
}

/// Counts what an embedded exchange sends, step by step: fold in, dimensions in their order, fold out.
class EmbeddedCounter {
 public:
  EmbeddedCounter(const Positions& positions, const NodeMap& nodes, StepOrder order)
      : positions_(positions),
        nodes_(nodes),
        ranks_(positions.size()),
        dimensions_(hypercubeDimensions(static_cast<int>(positions.size()))),
        rankAt_(positions.size()),
        handled_(ranks_ * static_cast<std::size_t>(dimensions_ + 2), 0),
        sent_(handled_) {
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      rankAt_[static_cast<std::size_t>(positions[rank])] = static_cast<int>(rank);
    }
    for (int d = 0; d < dimensions_; ++d) dims_.push_back(order == StepOrder::Ascending ? d : dimensions_ - 1 - d);
    countMessages();
  }

  void add(int owner, const SentValues& sent) {
    const std::uint32_t from = corner(owner);
    if (isFolded(owner)) send(0, owner, rankAt_[from], sent.count);
    std::uint32_t reached = 0;  // dimensions of the steps so far
    for (std::size_t step = 0; step < dims_.size(); ++step) {
      const std::uint32_t bit = 1U << dims_[step];
      ways_.clear();
      for (const int receiver : sent.receivers) {
        const std::uint32_t to = corner(receiver);
        if (((from ^ to) & bit) != 0) ways_.push_back((to & reached) | (from & ~reached));
      }
      std::sort(ways_.begin(), ways_.end());
      ways_.erase(std::unique(ways_.begin(), ways_.end()), ways_.end());
      for (const std::uint32_t way : ways_) send(step + 1, rankAt_[way], rankAt_[way ^ bit], sent.count);
      reached |= bit;
    }
    for (const int receiver : sent.receivers) {
      if (isFolded(receiver)) send(dims_.size() + 1, rankAt_[corner(receiver)], receiver, sent.count);
    }
  }

  ExchangeCounts counts() const {
    ExchangeCounts counts = counts_;
    for (std::size_t step = 0; step < dims_.size() + 2; ++step) {
      const auto mostOf = [&](const std::vector<long long>& volumes) {
        const auto first = volumes.begin() + static_cast<std::ptrdiff_t>(step * ranks_);
        return *std::max_element(first, first + static_cast<std::ptrdiff_t>(ranks_));
      };
      counts.mostVolume += mostOf(handled_);
      counts.mostSent += mostOf(sent_);
    }
    return counts;
  }

 private:
  std::uint32_t corner(int rank) const { return cornerOf(positions_[static_cast<std::size_t>(rank)], dimensions_); }
  bool isFolded(int rank) const { return positions_[static_cast<std::size_t>(rank)] >> dimensions_ != 0; }

  void send(std::size_t step, int from, int to, long long count) {
    counts_.volume += count;
    if (!nodes_.sameNode(from, to)) counts_.networkVolume += count;
    sent_[step * ranks_ + static_cast<std::size_t>(from)] += count;
    handled_[step * ranks_ + static_cast<std::size_t>(from)] += count;
    handled_[step * ranks_ + static_cast<std::size_t>(to)] += count;
  }

  void countMessages() {
    for (int rank = 0; rank < static_cast<int>(ranks_); ++rank) {
      if (isFolded(rank)) {
        const bool crosses = !nodes_.sameNode(rank, rankAt_[corner(rank)]);
        counts_.messages += 2;  // to and fro
        counts_.networkMessages += crosses ? 2 : 0;
        continue;
      }
      counts_.messages += dimensions_;
      for (const int d : dims_) {
        if (!nodes_.sameNode(rank, rankAt_[corner(rank) ^ 1U << d])) ++counts_.networkMessages;
      }
    }
    const bool folds = ranks_ >> dimensions_ << dimensions_ != ranks_;
    counts_.mostMessages = dimensions_ + (folds ? 1 : 0);
  }

  const Positions& positions_;
  const NodeMap& nodes_;
  std::size_t ranks_;
  int dimensions_;
  std::vector<int> rankAt_;         // by position
  std::vector<int> dims_;           // of the steps
  std::vector<long long> handled_;  // by step, then by rank: values sent and received
  std::vector<long long> sent_;     // likewise: sent
  std::vector<std::uint32_t> ways_;
  ExchangeCounts counts_;
};

}  // namespace

ExchangeCounts embeddedCounts(const ExchangePattern& pattern, const Positions& positions, const NodeMap& nodes,
                              StepOrder order) {
  requireAsMany(pattern.ranks(), static_cast<int>(positions.size()), "positions");
  requireAsMany(pattern.ranks(), nodes.ranks(), "nodes");
  requirePermutation(positions);
  EmbeddedCounter counter(positions, nodes, order);
  for (int owner = 0; owner < pattern.ranks(); ++owner) {
    for (const SentValues& sent : sentValuesOf(pattern.of(owner))) counter.add(owner, sent);
  }
  return counter.counts();
}

ExchangeCounts conventionalCounts(const ExchangePattern& pattern, const NodeMap& nodes) {
  requireAsMany(pattern.ranks(), nodes.ranks(), "nodes");
  const Positions positions = orderedPositions(pattern.ranks());
  ExchangeCounts counts = EmbeddedCounter(positions, nodes, StepOrder::Ascending).counts();  // the all-reduce
  const int dimensions = hypercubeDimensions(pattern.ranks());
  const int folded = pattern.ranks() - (1 << dimensions);
  counts.mostMessages = 0;
  for (int rank = 0; rank < pattern.ranks(); ++rank) {
    const RankPattern& mine = pattern.of(rank);
    const long long reduction = rank >> dimensions != 0 ? 1 : dimensions + (rank < folded ? 1 : 0);
    const auto messages = static_cast<long long>(mine.sends.size());
    const auto values = static_cast<long long>(mine.sends.entries.size());
    counts.messages += messages;
    counts.mostMessages = std::max(counts.mostMessages, messages + reduction);
    counts.volume += values;
    counts.mostSent = std::max(counts.mostSent, values);
    counts.mostVolume = std::max(counts.mostVolume, values + static_cast<long long>(mine.needs.entries.size()));
    for (std::size_t k = 0; k < mine.sends.size(); ++k) {
      if (nodes.sameNode(rank, mine.sends.peers[k])) continue;
      ++counts.networkMessages;
      counts.networkVolume += static_cast<long long>(mine.sends.list(k).size());
    }
  }
  return counts;
}

}  // namespace capstan::topology
