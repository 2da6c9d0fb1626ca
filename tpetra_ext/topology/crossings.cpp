#include "tpetra_ext/topology/crossings.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace capstan::topology {
namespace {

/// Everything that a node needs of another one, each value once.
struct Parcel {
  int node = 0;  ///< where it goes
  Crossing content;
};

/// A value, and a rank on another node that needs it.
struct Demand {
  int node;
  ValueId value;
  int target;

  friend bool operator<(const Demand& a, const Demand& b) {
    if (a.node != b.node) return a.node < b.node;
    if (a.value != b.value) return a.value < b.value;
    return a.target < b.target;
  }
};

void add(Crossing& crossing, const ValueId& value, int target) {
  if (crossing.values.empty() || crossing.values.back() != value) {
    crossing.values.push_back(value);
    crossing.begin.push_back(crossing.targets.size());
  }
  crossing.targets.push_back(target);
  crossing.begin.back() = crossing.targets.size();
}

/// Values from..to-1 of a crossing.
Crossing slice(const Crossing& all, std::size_t from, std::size_t to) {
  Crossing part;
  part.values.assign(all.values.begin() + static_cast<std::ptrdiff_t>(from),
                     all.values.begin() + static_cast<std::ptrdiff_t>(to));
  part.targets.assign(all.targets.begin() + static_cast<std::ptrdiff_t>(all.begin[from]),
                      all.targets.begin() + static_cast<std::ptrdiff_t>(all.begin[to]));
  for (std::size_t k = from; k < to; ++k) part.begin.push_back(all.begin[k + 1] - all.begin[from]);
  return part;
}

/// One parcel for each node to which this one sends, ascending.
std::vector<Parcel> parcelsOf(const NodeMap& map, int node, const std::vector<const PeerLists*>& sends) {
  std::vector<Demand> demands;
  const auto here = map.ranksOf(node);
  for (std::size_t place = 0; place < here.size(); ++place) {
    const PeerLists& lists = *sends[place];
    for (std::size_t k = 0; k < lists.size(); ++k) {
      const int target = lists.peers[k];
      const int there = map.nodeOf(target);
      if (there == node) continue;
      for (const LocalIndex index : lists.list(k)) demands.push_back({there, {here[place], index}, target});
    }
  }
  std::sort(demands.begin(), demands.end());
  std::vector<Parcel> parcels;
  for (const Demand& demand : demands) {
    if (parcels.empty() || parcels.back().node != demand.node) parcels.push_back({demand.node, {}});
    add(parcels.back().content, demand.value, demand.target);
  }
  return parcels;
}

/// Largest number of nodes to which one rank sends: "m_proc->node" of [enlarged-cg], Table 1, for this node.
int mostNodesOfARank(const std::vector<Parcel>& parcels) {
  std::map<int, int> nodesOf;
  for (const Parcel& parcel : parcels) {
    int last = -1;
    for (const ValueId& value : parcel.content.values) {
      if (value.owner != last) ++nodesOf[value.owner];
      last = value.owner;
    }
  }
  int most = 0;
  for (const auto& [rank, nodes] : nodesOf) most = std::max(most, nodes);
  return most;
}

/// Deals things out to the ranks of a node, each to one with the fewest so far.
class Dealer {
 public:
  explicit Dealer(std::size_t places) : dealt_(places, 0), used_(places, false) {}

  /// The next things go to different places.
  void beginGroup() { used_.assign(used_.size(), false); }

  /// A place with the fewest; of these one of the highest worth, of these the first.
  std::size_t deal(const std::vector<std::size_t>& worth) {
    std::size_t best = used_.size();
    for (std::size_t place = 0; place < used_.size(); ++place) {
      if (used_[place]) continue;
      if (best == used_.size() || dealt_[place] < dealt_[best] ||
          (dealt_[place] == dealt_[best] && worth[place] > worth[best])) {
        best = place;
      }
    }
    ++dealt_[best];
    used_[best] = true;
    return best;
  }

 private:
  std::vector<int> dealt_;
  std::vector<bool> used_;
};

/// Into how many messages each parcel is split: as many as bring them down to the eager limit, at most one a rank.
/// Parcels come in descending size, so that the largest are split first where inequality (4.4) leaves room for few.
std::vector<std::size_t> pieceCounts(const PlanOptions& options, const std::vector<Parcel>& parcels,
                                     std::size_t ranksHere) {
  std::vector<std::size_t> pieces(parcels.size(), 1);
  if (options.strategy != Strategy::Optimal) return pieces;
  const auto most = std::max(static_cast<std::size_t>(mostNodesOfARank(parcels)), ranksHere);
  // Every parcel has a rank that sends to its node, so that there are at most ranksHere * most of them.
  std::size_t spare = ranksHere * most - parcels.size();
  for (std::size_t k = 0; k < parcels.size(); ++k) {
    const auto values = static_cast<long long>(parcels[k].content.values.size());
    const long long bytes = values * options.columns * options.bytesPerValue;
    const long long wanted = std::min((bytes - 1) / options.eagerLimit + 1, values);
    pieces[k] = std::min({static_cast<std::size_t>(wanted), ranksHere, 1 + spare});
    spare -= pieces[k] - 1;
  }
  return pieces;
}

int remoteReceiverOf(const std::vector<RemoteReceiver>& remoteReceivers, int node) {
  const auto at = std::lower_bound(remoteReceivers.begin(), remoteReceivers.end(), node,
                                   [](const RemoteReceiver& there, int wanted) { return there.node < wanted; });
  if (at == remoteReceivers.end() || at->node != node) {
    throw std::invalid_argument("capstan: three-step communication: no rank receives for node " + std::to_string(node));
  }
  return at->rank;
}

/// Three-step and optimal: parcels, or pieces of them, in descending size, each to a rank that has the fewest to send;
/// of these to the one that owns most of it, since that need not be gathered.
std::vector<Crossing> dealtOut(const PlanOptions& options, const NodeMap& map, int node, std::vector<Parcel> parcels,
                               const std::vector<RemoteReceiver>& remoteReceivers) {
  const auto here = map.ranksOf(node);
  std::stable_sort(parcels.begin(), parcels.end(),
                   [](const Parcel& a, const Parcel& b) { return a.content.values.size() > b.content.values.size(); });
  const auto pieces = pieceCounts(options, parcels, here.size());
  std::vector<std::size_t> order(parcels.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  const auto largest = [&](std::size_t k) { return (parcels[k].content.values.size() - 1) / pieces[k] + 1; };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return largest(a) > largest(b); });

  std::vector<Crossing> crossings;
  Dealer dealer(here.size());
  for (const std::size_t k : order) {
    const Crossing& all = parcels[k].content;
    const std::size_t values = all.values.size();
    dealer.beginGroup();
    for (std::size_t piece = 0; piece < pieces[k]; ++piece) {
      Crossing part = slice(all, values * piece / pieces[k], values * (piece + 1) / pieces[k]);
      std::vector<std::size_t> worth(here.size(), 0);
      for (const ValueId& value : part.values) ++worth[static_cast<std::size_t>(map.placeOf(value.owner))];
      part.sender = here[dealer.deal(worth)];
      part.receiver = options.strategy == Strategy::ThreeStep ? remoteReceiverOf(remoteReceivers, parcels[k].node)
                                                              : map.pairedRank(part.sender, parcels[k].node);
      crossings.push_back(std::move(part));
    }
  }
  return crossings;
}

std::vector<Crossing> twoStep(const NodeMap& map, const std::vector<Parcel>& parcels) {
  std::vector<Crossing> crossings;
  for (const Parcel& parcel : parcels) {
    const auto& values = parcel.content.values;
    for (std::size_t from = 0, to = 0; from < values.size(); from = to) {
      while (to < values.size() && values[to].owner == values[from].owner) ++to;
      Crossing part = slice(parcel.content, from, to);
      part.sender = values[from].owner;
      part.receiver = map.pairedRank(part.sender, parcel.node);
      crossings.push_back(std::move(part));
    }
  }
  return crossings;
}

std::vector<Crossing> standard(const NodeMap& map, int node, const std::vector<const PeerLists*>& sends) {
  std::vector<Crossing> crossings;
  const auto here = map.ranksOf(node);
  for (std::size_t place = 0; place < here.size(); ++place) {
    for (std::size_t k = 0; k < sends[place]->size(); ++k) {
      const int target = sends[place]->peers[k];
      if (map.nodeOf(target) == node) continue;
      Crossing crossing;
      crossing.sender = here[place];
      crossing.receiver = target;
      for (const LocalIndex index : sends[place]->list(k)) add(crossing, {here[place], index}, target);
      crossings.push_back(std::move(crossing));
    }
  }
  return crossings;
}

}  // namespace

const char* nameOf(Strategy strategy) {
  switch (strategy) {
    case Strategy::Standard:
      return "standard";
    case Strategy::TwoStep:
      return "two-step";
    case Strategy::ThreeStep:
      return "three-step";
    case Strategy::Optimal:
      return "optimal";
  }
  return "unknown";
}

Strategy strategyNamed(const std::string& name) {
  for (const Strategy strategy : allStrategies) {
    if (name == nameOf(strategy)) return strategy;
  }
  throw std::invalid_argument("capstan: communication strategy '" + name +
                              "'; allowed: standard, two-step, three-step, optimal");
}

void requireValid(const PlanOptions& options) {
  const auto require = [](const char* what, long long value) {
    if (value >= 1) return;
    throw std::invalid_argument("capstan: communication plan: " + std::string(what) + ": " + std::to_string(value) +
                                "; allowed: 1 or more");
  };
  require("eager limit in bytes", options.eagerLimit);
  require("columns", options.columns);
  require("bytes per value", options.bytesPerValue);
}

std::vector<NodeReceiver> nodeReceiversOf(const NodeMap& map, int node, const std::vector<const PeerLists*>& needs) {
  std::vector<std::pair<int, ValueId>> wanted;            // with the node it comes from
  std::map<int, std::vector<std::size_t>> wantedByPlace;  // number of values, by node
  for (std::size_t place = 0; place < needs.size(); ++place) {
    for (std::size_t k = 0; k < needs[place]->size(); ++k) {
      const int owner = needs[place]->peers[k];
      const int from = map.nodeOf(owner);
      if (from == node) continue;
      auto& counts = wantedByPlace[from];
      counts.resize(needs.size(), 0);
      counts[place] += needs[place]->list(k).size();
      for (const LocalIndex index : needs[place]->list(k)) wanted.push_back({from, {owner, index}});
    }
  }
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  std::map<int, std::size_t> sizes;
  for (const auto& value : wanted) ++sizes[value.first];
  std::vector<int> order;
  for (const auto& from : sizes) order.push_back(from.first);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return sizes.at(a) > sizes.at(b); });
  Dealer dealer(needs.size());
  std::vector<NodeReceiver> receivers;
  for (const int from : order) {
    dealer.beginGroup();
    receivers.push_back({from, map.ranksOf(node)[dealer.deal(wantedByPlace.at(from))]});
  }
  std::sort(receivers.begin(), receivers.end(),
            [](const NodeReceiver& a, const NodeReceiver& b) { return a.from < b.from; });
  return receivers;
}

std::vector<Crossing> crossingsOf(const PlanOptions& options, const NodeMap& map, int node,
                                  const std::vector<const PeerLists*>& sends,
                                  const std::vector<RemoteReceiver>& remoteReceivers) {
  requireValid(options);
  std::vector<Crossing> crossings;
  if (options.strategy == Strategy::Standard) {
    crossings = standard(map, node, sends);
  } else if (options.strategy == Strategy::TwoStep) {
    crossings = twoStep(map, parcelsOf(map, node, sends));
  } else {
    crossings = dealtOut(options, map, node, parcelsOf(map, node, sends), remoteReceivers);
  }
  std::sort(crossings.begin(), crossings.end(), [](const Crossing& a, const Crossing& b) {
    return a.sender != b.sender ? a.sender < b.sender : a.receiver < b.receiver;
  });
  return crossings;
}

}  // namespace capstan::topology
