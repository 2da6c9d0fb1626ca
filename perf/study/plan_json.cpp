#include "perf/study/plan_json.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace capstan::study {
namespace {

using Json = nlohmann::json;

Json jsonOf(const topology::Tally& tally) {
  return {{"total", tally.total}, {"most_of_a_rank", tally.mostOfARank}, {"most_of_a_node", tally.mostOfANode}};
}

Json jsonOf(const topology::MessageCounts& counts) {
  return {{"messages", jsonOf(counts.messages)}, {"bytes", jsonOf(counts.bytes)}};
}

/// Smallest and largest message between nodes, in values; 0 where there is none.
std::pair<std::size_t, std::size_t> messageSizes(const std::vector<topology::RankPlan>& plans) {
  std::size_t least = 0, most = 0;
  for (const auto& plan : plans) {
    const auto& sends = plan.at(topology::Step::Network).sends;
    for (std::size_t k = 0; k < sends.size(); ++k) {
      const std::size_t size = sends.list(k).size();
      least = least == 0 ? size : std::min(least, size);
      most = std::max(most, size);
    }
  }
  return {least, most};
}

}  // namespace

nlohmann::json jsonOf(const std::vector<topology::RankPlan>& plans, const topology::NodeMap& map,
                      topology::Strategy strategy, int columns) {
  const auto counts = topology::countsOf(plans, map, columns);
  const auto [least, most] = messageSizes(plans);
  const long long bytesOfARow = static_cast<long long>(columns) * static_cast<long long>(sizeof(double));
  return {{"strategy", nameOf(strategy)},
          {"columns", columns},
          {"network", jsonOf(counts.network)},
          {"on_node", jsonOf(counts.onNode)},
          {"most_between_nodes", counts.mostBetweenNodes},
          {"most_bytes_between_nodes", counts.mostBytesBetweenNodes},
          {"most_nodes_of_a_rank", counts.mostNodesOfARank},
          {"most_nodes_of_a_node", counts.mostNodesOfANode},
          {"least_bytes_of_a_message", static_cast<long long>(least) * bytesOfARow},
          {"most_bytes_of_a_message", static_cast<long long>(most) * bytesOfARow}};
}

}  // namespace capstan::study
