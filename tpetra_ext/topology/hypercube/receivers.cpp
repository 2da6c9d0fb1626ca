#include "tpetra_ext/topology/hypercube/receivers.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace capstan::topology {

std::vector<SentValues> sentValuesOf(const RankPattern& pattern) {
  std::vector<std::pair<LocalIndex, int>> uses;
  for (std::size_t k = 0; k < pattern.sends.size(); ++k) {
    for (const LocalIndex entry : pattern.sends.list(k)) uses.emplace_back(entry, pattern.sends.peers[k]);
  }
  std::sort(uses.begin(), uses.end());
  std::map<std::vector<int>, long long> counts;
  std::vector<int> receivers;
  for (std::size_t k = 0; k < uses.size(); ++k) {
    receivers.push_back(uses[k].second);
    if (k + 1 < uses.size() && uses[k + 1].first == uses[k].first) continue;
    ++counts[receivers];
    receivers.clear();
  }
  std::vector<SentValues> sent;
  for (auto& [ranks, count] : counts) sent.push_back({ranks, count});
  return sent;
}

}  // namespace capstan::topology
