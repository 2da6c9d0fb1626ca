#include "tpetra_ext/topology/plan_counts.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string>

namespace capstan::topology {
namespace {

/// Fills a tally from what each rank has, and makes its nodes' sums.
Tally tallyOf(const std::vector<long long>& ofRank, const NodeMap& map) {
  Tally tally;
  std::vector<long long> ofNode(static_cast<std::size_t>(map.nodes()), 0);
  for (std::size_t r = 0; r < ofRank.size(); ++r) {
    tally.total += ofRank[r];
    tally.mostOfARank = std::max(tally.mostOfARank, ofRank[r]);
    auto& node = ofNode[static_cast<std::size_t>(map.nodeOf(static_cast<int>(r)))];
    node += ofRank[r];
    tally.mostOfANode = std::max(tally.mostOfANode, node);
  }
  return tally;
}

/// Messages and bytes from one node to others.
struct Link {
  long long messages = 0, bytes = 0;
};

}  // namespace

PlanCounts countsOf(const std::vector<RankPlan>& plans, const NodeMap& map, int columns, int bytesPerValue) {
  PlanOptions options;
  options.columns = columns;
  options.bytesPerValue = bytesPerValue;
  requireValid(options);
  if (static_cast<int>(plans.size()) != map.ranks()) {
    throw std::invalid_argument("capstan: communication counts: plans of " + std::to_string(plans.size()) +
                                " ranks, a node map of " + std::to_string(map.ranks()));
  }
  const long long bytesOfARow = static_cast<long long>(columns) * bytesPerValue;
  using ByRank = std::vector<long long>;
  ByRank messages[2] = {ByRank(plans.size(), 0), ByRank(plans.size(), 0)};  // 0: on the node, 1: network
  ByRank bytes[2] = {messages[0], messages[0]};
  std::vector<std::map<int, Link>> links(static_cast<std::size_t>(map.nodes()));
  PlanCounts counts;
  for (std::size_t r = 0; r < plans.size(); ++r) {
    const int here = map.nodeOf(static_cast<int>(r));
    std::set<int> reached;
    for (const Step step : allSteps) {
      const PeerLists& sends = plans[r].at(step).sends;
      const std::size_t kind = step == Step::Network ? 1 : 0;
      messages[kind][r] += static_cast<long long>(sends.size());
      bytes[kind][r] += static_cast<long long>(sends.entries.size()) * bytesOfARow;
      if (step != Step::Network) continue;
      for (std::size_t k = 0; k < sends.size(); ++k) {
        const int there = map.nodeOf(sends.peers[k]);
        reached.insert(there);
        Link& link = links[static_cast<std::size_t>(here)][there];
        ++link.messages;
        link.bytes += static_cast<long long>(sends.list(k).size()) * bytesOfARow;
        counts.mostBetweenNodes = std::max(counts.mostBetweenNodes, link.messages);
        counts.mostBytesBetweenNodes = std::max(counts.mostBytesBetweenNodes, link.bytes);
      }
    }
    counts.mostNodesOfARank = std::max(counts.mostNodesOfARank, static_cast<long long>(reached.size()));
  }
  for (const auto& link : links) {
    counts.mostNodesOfANode = std::max(counts.mostNodesOfANode, static_cast<long long>(link.size()));
  }
  counts.onNode = {tallyOf(messages[0], map), tallyOf(bytes[0], map)};
  counts.network = {tallyOf(messages[1], map), tallyOf(bytes[1], map)};
  return counts;
}

}  // namespace capstan::topology
