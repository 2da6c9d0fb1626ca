#include "adapters/deck/campaign_options.hpp"

#include <fmt/format.h>

#include "adapters/deck/map_reader.hpp"

namespace capstan::deck {

CampaignOptions readCampaign(const YAML::Node& block, const Place& place, Diagnostics& diagnostics) {
  constexpr int mostTurns = 1000000;
  constexpr double mostMicroseconds = 1e7;
  constexpr std::size_t mostLatencies = 100;
  CampaignOptions options;
  MapReader reader(block, place, diagnostics);
  options.repeat = reader.integer("repeat", 1, mostTurns).value_or(0);
  options.latencies = reader.reals("latency", 1, mostLatencies).value_or(std::vector<double>{});
  for (const double latency : options.latencies) {
    if (latency >= 0.0 && latency <= mostMicroseconds) continue;
    reader.error("latency", fmt::format("found {}; allowed: microseconds from 0 to {}", latency, mostMicroseconds));
  }
  options.changingRightHandSide = reader.word("right_hand_side", {"fixed", "changing"}).value_or("fixed") == "changing";
  reader.finish();
  return options;
}

}  // namespace capstan::deck
