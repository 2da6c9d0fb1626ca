#include "tpetra_ext/topology/node_map.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>

namespace capstan::topology {
namespace {

void requirePositive(const char* what, int value) {
  if (value >= 1) return;
  throw std::invalid_argument("capstan: node map: " + std::string(what) + ": " + std::to_string(value) +
                              "; allowed: 1 or more");
}

}  // namespace

NodeMap::NodeMap(std::vector<int> nodeOf, int nodes) : nodeOf_(std::move(nodeOf)), placeOf_(nodeOf_.size()) {
  begin_.assign(static_cast<std::size_t>(nodes) + 1, 0);
  for (const int node : nodeOf_) ++begin_[static_cast<std::size_t>(node) + 1];
  for (std::size_t k = 1; k < begin_.size(); ++k) begin_[k] += begin_[k - 1];
  ranksByNode_.resize(nodeOf_.size());
  std::vector<int> seen(static_cast<std::size_t>(nodes), 0);
  for (int rank = 0; rank < ranks(); ++rank) {
    const auto node = static_cast<std::size_t>(this->nodeOf(rank));
    const int place = seen[node]++;
    placeOf_[static_cast<std::size_t>(rank)] = place;
    ranksByNode_[begin_[node] + static_cast<std::size_t>(place)] = rank;
  }
}

NodeMap NodeMap::uniform(int ranks, int ranksPerNode) {
  requirePositive("ranks", ranks);
  requirePositive("ranks per node", ranksPerNode);
  std::vector<int> nodeOf(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) nodeOf[static_cast<std::size_t>(rank)] = rank / ranksPerNode;
  return NodeMap(std::move(nodeOf), (ranks - 1) / ranksPerNode + 1);
}

NodeMap NodeMap::fromLabels(const std::vector<long long>& labels) {
  requirePositive("ranks", static_cast<int>(labels.size()));
  std::map<long long, int> numbers;
  std::vector<int> nodeOf;
  nodeOf.reserve(labels.size());
  for (const long long label : labels) {
    nodeOf.push_back(numbers.emplace(label, static_cast<int>(numbers.size())).first->second);
  }
  return NodeMap(std::move(nodeOf), static_cast<int>(numbers.size()));
}

int NodeMap::largestNode() const {
  int most = 0;
  for (int node = 0; node < nodes(); ++node) most = std::max(most, sizeOf(node));
  return most;
}

}  // namespace capstan::topology
