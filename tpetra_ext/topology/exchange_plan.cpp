#include "tpetra_ext/topology/exchange_plan.hpp"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

namespace capstan::topology {
namespace {

/// Makes one rank's plan step by step, and knows where each value has arrived.
class Assembly {
 public:
  Assembly(Strategy strategy, const NodeMap& map, int rank, const RankPattern& pattern) : map_(map), pattern_(pattern) {
    plan_.strategy = strategy;
    plan_.rank = rank;
    plan_.owned = plan_.slots = pattern.owned;
  }

  /// What ranks of one node need of one another.
  void addLocal() {
    StepMessages& step = begin(Step::Local);
    for (std::size_t k = 0; k < pattern_.sends.size(); ++k) {
      const int target = pattern_.sends.peers[k];
      if (!map_.sameNode(target, plan_.rank)) continue;
      for (const LocalIndex index : pattern_.sends.list(k)) step.sends.append(target, index);
    }
    for (std::size_t k = 0; k < pattern_.needs.size(); ++k) {
      const int owner = pattern_.needs.peers[k];
      if (!map_.sameNode(owner, plan_.rank)) continue;
      std::vector<ValueId> values;
      for (const LocalIndex index : pattern_.needs.list(k)) values.push_back({owner, index});
      receive(Step::Local, owner, values);
    }
  }

  /// What a rank owns, and another one of its node sends over the network: once, to however many nodes it goes.
  void addGather(const std::vector<Crossing>& leaving) {
    StepMessages& step = begin(Step::Gather);
    std::vector<ValueId> sent, received;  // `sent` has the rank to send to in place of the owner
    for (const Crossing& crossing : leaving) {
      for (const ValueId& value : crossing.values) {
        if (value.owner == plan_.rank && crossing.sender != plan_.rank) sent.push_back({crossing.sender, value.index});
        if (value.owner != plan_.rank && crossing.sender == plan_.rank) received.push_back(value);
      }
    }
    step.sends = listsOf(std::move(sent));
    const PeerLists from = listsOf(std::move(received));
    for (std::size_t k = 0; k < from.size(); ++k) {
      std::vector<ValueId> values;
      for (const LocalIndex index : from.list(k)) values.push_back({from.peers[k], index});
      receive(Step::Gather, from.peers[k], values);
    }
  }

  void addNetwork(const std::vector<Crossing>& leaving, const std::vector<Crossing>& arriving) {
    StepMessages& step = begin(Step::Network);
    for (const Crossing& crossing : leaving) {
      if (crossing.sender != plan_.rank) continue;
      for (const ValueId& value : crossing.values) step.sends.append(crossing.receiver, slotOf({Step::Gather}, value));
    }
    for (const Crossing& crossing : arriving) receive(Step::Network, crossing.sender, crossing.values);
  }

  void addScatter(const std::vector<Crossing>& arriving, const std::vector<Delivery>& deliveries) {
    StepMessages& step = begin(Step::Scatter);
    for (const Delivery& delivery : deliveriesOf(plan_.rank, arriving)) {
      for (const ValueId& value : delivery.values) {
        step.sends.append(delivery.target, slotOf({Step::Network}, value));
      }
    }
    for (const Delivery& delivery : deliveries) receive(Step::Scatter, delivery.receiver, delivery.values);
  }

  RankPlan finish() {
    const std::initializer_list<Step> final = {Step::Local, Step::Network, Step::Scatter};
    for (std::size_t k = 0; k < pattern_.needs.size(); ++k) {
      for (const LocalIndex index : pattern_.needs.list(k)) {
        plan_.needed.push_back(slotOf(final, {pattern_.needs.peers[k], index}));
      }
    }
    return std::move(plan_);
  }

 private:
  StepMessages& begin(Step step) {
    StepMessages& messages = plan_.steps[static_cast<std::size_t>(step)];
    messages.begin.assign(1, plan_.slots);
    return messages;
  }

  void receive(Step step, int from, const std::vector<ValueId>& values) {
    if (values.size() > static_cast<std::size_t>(std::numeric_limits<Slot>::max() - plan_.slots)) {
      throw std::invalid_argument("capstan: communication plan: rank " + std::to_string(plan_.rank) +
                                  " would hold more than " + std::to_string(std::numeric_limits<Slot>::max()) +
                                  " values");
    }
    Arrivals& arrivals = arrivals_[static_cast<std::size_t>(step)];
    for (const ValueId& value : values) arrivals.list.push_back({value, plan_.slots++});
    arrivals.sorted = false;
    StepMessages& messages = plan_.steps[static_cast<std::size_t>(step)];
    messages.sources.push_back(from);
    messages.begin.push_back(plan_.slots);
  }

  /// Where one of these steps brings a value. Each brings it once at most, but Gather and Local may bring the same.
  Slot slotOf(std::initializer_list<Step> steps, const ValueId& value) {
    if (value.owner == plan_.rank) return value.index;
    for (const Step step : steps) {
      Arrivals& arrivals = arrivals_[static_cast<std::size_t>(step)];
      if (!arrivals.sorted) std::sort(arrivals.list.begin(), arrivals.list.end());
      arrivals.sorted = true;
      const auto at = std::lower_bound(arrivals.list.begin(), arrivals.list.end(), Arrival{value, 0});
      if (at != arrivals.list.end() && at->first == value) return at->second;
    }
    throw std::invalid_argument("capstan: communication plan: entry " + std::to_string(value.index) + " of rank " +
                                std::to_string(value.owner) + " does not reach rank " + std::to_string(plan_.rank));
  }

  using Arrival = std::pair<ValueId, Slot>;
  struct Arrivals {
    std::vector<Arrival> list;
    bool sorted = true;
  };

  const NodeMap& map_;
  const RankPattern& pattern_;
  RankPlan plan_;
  std::array<Arrivals, 4> arrivals_;  // by Step
};

/// The parts of a pattern that belong to the ranks of a node.
std::vector<const PeerLists*> listsOfNode(const NodeMap& map, int node, const ExchangePattern& pattern,
                                          PeerLists RankPattern::*which) {
  std::vector<const PeerLists*> lists;
  for (const int rank : map.ranksOf(node)) lists.push_back(&(pattern.of(rank).*which));
  return lists;
}

/// By node: who receives there what comes from it.
std::vector<std::vector<RemoteReceiver>> allRemoteReceivers(const NodeMap& map, const ExchangePattern& pattern) {
  std::vector<std::vector<RemoteReceiver>> remoteReceivers(static_cast<std::size_t>(map.nodes()));
  for (int node = 0; node < map.nodes(); ++node) {
    for (const NodeReceiver& receiver :
         nodeReceiversOf(map, node, listsOfNode(map, node, pattern, &RankPattern::needs))) {
      remoteReceivers[static_cast<std::size_t>(receiver.from)].push_back({node, receiver.rank});
    }
  }
  return remoteReceivers;
}

}  // namespace

const char* nameOf(Step step) {
  switch (step) {
    case Step::Local:
      return "local";
    case Step::Gather:
      return "gather";
    case Step::Network:
      return "network";
    case Step::Scatter:
      return "scatter";
  }
  return "unknown";
}

std::vector<Delivery> deliveriesOf(int rank, const std::vector<Crossing>& arriving) {
  std::map<int, Delivery> byTarget;
  for (const Crossing& crossing : arriving) {
    for (std::size_t k = 0; k < crossing.values.size(); ++k) {
      for (const int target : crossing.targetsOf(k)) {
        if (target != rank) byTarget[target].values.push_back(crossing.values[k]);
      }
    }
  }
  std::vector<Delivery> deliveries;
  for (auto& [target, delivery] : byTarget) deliveries.push_back({rank, target, std::move(delivery.values)});
  return deliveries;
}

RankPlan assemble(Strategy strategy, const NodeMap& map, int rank, const RankPattern& pattern,
                  const std::vector<Crossing>& leaving, const std::vector<Crossing>& arriving,
                  const std::vector<Delivery>& deliveries) {
  Assembly assembly(strategy, map, rank, pattern);
  assembly.addLocal();
  assembly.addGather(leaving);
  assembly.addNetwork(leaving, arriving);
  assembly.addScatter(arriving, deliveries);
  return assembly.finish();
}

std::vector<RankPlan> plansOf(const PlanOptions& options, const NodeMap& map, const ExchangePattern& pattern) {
  requireValid(options);
  if (map.ranks() != pattern.ranks()) {
    throw std::invalid_argument("capstan: communication plan: a pattern of " + std::to_string(pattern.ranks()) +
                                " ranks, a node map of " + std::to_string(map.ranks()));
  }
  const auto remoteReceivers = allRemoteReceivers(map, pattern);
  const auto ranks = static_cast<std::size_t>(map.ranks());
  std::vector<std::vector<Crossing>> leaving(static_cast<std::size_t>(map.nodes())), arriving(ranks);
  for (int node = 0; node < map.nodes(); ++node) {
    const auto n = static_cast<std::size_t>(node);
    leaving[n] =
        crossingsOf(options, map, node, listsOfNode(map, node, pattern, &RankPattern::sends), remoteReceivers[n]);
    for (const Crossing& crossing : leaving[n])
      arriving[static_cast<std::size_t>(crossing.receiver)].push_back(crossing);
  }
  std::vector<std::vector<Delivery>> deliveries(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    std::sort(arriving[rank].begin(), arriving[rank].end(),
              [](const Crossing& a, const Crossing& b) { return a.sender < b.sender; });
    for (Delivery& delivery : deliveriesOf(static_cast<int>(rank), arriving[rank])) {
      deliveries[static_cast<std::size_t>(delivery.target)].push_back(std::move(delivery));
    }
  }
  std::vector<RankPlan> plans;
  plans.reserve(ranks);
  for (int rank = 0; rank < map.ranks(); ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    plans.push_back(assemble(options.strategy, map, rank, pattern.of(rank),
                             leaving[static_cast<std::size_t>(map.nodeOf(rank))], arriving[r], deliveries[r]));
  }
  return plans;
}

}  // namespace capstan::topology
