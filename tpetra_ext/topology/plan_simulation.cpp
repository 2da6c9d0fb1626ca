#include "tpetra_ext/topology/plan_simulation.hpp"

#include <algorithm>
#include <tuple>

namespace capstan::topology {
namespace detail {

std::string messageName(int from, Step step, int to) {
  return "rank " + std::to_string(from) + ", " + nameOf(step) + ", to rank " + std::to_string(to);
}

std::size_t sourceOf(const StepMessages& messages, int sender) {
  const auto at = std::lower_bound(messages.sources.begin(), messages.sources.end(), sender);
  if (at == messages.sources.end() || *at != sender) return messages.sources.size();
  return static_cast<std::size_t>(at - messages.sources.begin());
}

bool mayHold(Step step, Step by) {
  return (step == Step::Network && by == Step::Gather) || (step == Step::Scatter && by == Step::Network);
}

std::string formProblem(const RankPlan& plan, int rank, int ranks) {
  const std::string name = "rank " + std::to_string(rank) + ": ";
  const auto ascending = [&](const std::vector<int>& peers) {
    for (std::size_t k = 0; k < peers.size(); ++k) {
      if (peers[k] < 0 || peers[k] >= ranks || peers[k] == rank || (k > 0 && peers[k - 1] >= peers[k])) return false;
    }
    return true;
  };
  const auto inRange = [&](const std::vector<Slot>& slots) {
    return std::all_of(slots.begin(), slots.end(), [&](Slot slot) { return slot >= 0 && slot < plan.slots; });
  };
  if (plan.rank != rank) return name + "the plan of rank " + std::to_string(plan.rank);
  if (plan.owned < 0 || plan.slots < plan.owned) return name + "fewer slots than own entries";
  if (!inRange(plan.needed)) return name + "needs a slot that does not exist";
  Slot last = plan.owned;
  for (const Step step : allSteps) {
    const StepMessages& messages = plan.at(step);
    const std::string stepName = name + nameOf(step) + ": ";
    if (!ascending(messages.sends.peers) || !ascending(messages.sources)) return stepName + "peers do not ascend";
    if (!inRange(messages.sends.entries)) return stepName + "a slot that does not exist is sent";
    if (messages.begin.size() != messages.sources.size() + 1 || messages.begin.front() != last) {
      return stepName + "receives into slots of others";
    }
    if (!std::is_sorted(messages.begin.begin(), messages.begin.end())) return stepName + "slots do not ascend";
    last = messages.begin.back();
  }
  return last == plan.slots ? std::string() : name + "slots that nothing fills";
}

}  // namespace detail

namespace {

std::string topologyProblem(const std::vector<RankPlan>& plans, const NodeMap& map) {
  for (const RankPlan& plan : plans) {
    for (const Step step : allSteps) {
      for (const int peer : plan.at(step).sends.peers) {
        if (map.sameNode(plan.rank, peer) != (step == Step::Network)) continue;
        return detail::messageName(plan.rank, step, peer) +
               (step == Step::Network ? ": stays on its node" : ": leaves its node");
      }
    }
  }
  return {};
}

/// Values that cross the network twice to the same node.
std::string repeatProblem(const std::vector<RankPlan>& plans, const NodeMap& map) {
  std::vector<std::vector<ValueId>> content(plans.size());  // what stands in each slot
  for (std::size_t r = 0; r < plans.size(); ++r) {
    content[r].resize(static_cast<std::size_t>(plans[r].slots));
    for (LocalIndex index = 0; index < plans[r].owned; ++index) {
      content[r][static_cast<std::size_t>(index)] = {plans[r].rank, index};
    }
  }
  std::vector<std::tuple<int, ValueId>> crossed;  // the node, the value
  for (const Step step : {Step::Gather, Step::Network}) {
    for (std::size_t r = 0; r < plans.size(); ++r) {
      const PeerLists& sends = plans[r].at(step).sends;
      for (std::size_t k = 0; k < sends.size(); ++k) {
        const auto to = static_cast<std::size_t>(sends.peers[k]);
        const StepMessages& theirs = plans[to].at(step);
        auto target = static_cast<std::size_t>(theirs.begin[detail::sourceOf(theirs, plans[r].rank)]);
        for (const Slot slot : sends.list(k)) {
          const ValueId value = content[r][static_cast<std::size_t>(slot)];
          content[to][target++] = value;
          if (step == Step::Network) crossed.emplace_back(map.nodeOf(sends.peers[k]), value);
        }
      }
    }
  }
  std::sort(crossed.begin(), crossed.end());
  const auto twice = std::adjacent_find(crossed.begin(), crossed.end());
  if (twice == crossed.end()) return {};
  const auto& [node, value] = *twice;
  return "entry " + std::to_string(value.index) + " of rank " + std::to_string(value.owner) +
         " crosses the network twice to node " + std::to_string(node);
}

}  // namespace

std::string problemOf(const std::vector<RankPlan>& plans, const NodeMap& map, const ExchangePattern& pattern,
                      std::size_t columns) {
  if (static_cast<int>(plans.size()) != map.ranks() || map.ranks() != pattern.ranks()) {
    return "plans of " + std::to_string(plans.size()) + " ranks, a node map of " + std::to_string(map.ranks()) +
           ", a pattern of " + std::to_string(pattern.ranks());
  }
  using Value = std::tuple<int, LocalIndex, std::size_t>;
  const auto exchange = simulate<Value>(
      plans, columns, [](int rank, LocalIndex index, std::size_t column) { return Value(rank, index, column); });
  if (!exchange.problem.empty()) return exchange.problem;
  for (int rank = 0; rank < pattern.ranks(); ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    const PeerLists& needs = pattern.of(rank).needs;
    if (plans[r].owned != pattern.of(rank).owned || plans[r].needed.size() != needs.entries.size()) {
      return "rank " + std::to_string(rank) + ": the plan is for another pattern";
    }
    std::size_t at = 0;
    for (std::size_t k = 0; k < needs.size(); ++k) {
      for (const LocalIndex index : needs.list(k)) {
        for (std::size_t j = 0; j < columns; ++j) {
          if (exchange.received[r][at++] == Value(needs.peers[k], index, j)) continue;
          return "rank " + std::to_string(rank) + ": does not get entry " + std::to_string(index) + " of rank " +
                 std::to_string(needs.peers[k]);
        }
      }
    }
  }
  if (auto problem = topologyProblem(plans, map); !problem.empty()) return problem;
  const bool repeats = !plans.empty() && plans.front().strategy == Strategy::Standard;
  return repeats ? std::string() : repeatProblem(plans, map);
}

}  // namespace capstan::topology
