#pragma once
/// \file
/// The `campaign:` block of a deck: how a benchmark (perf/bench) runs it. Solving the deck itself needs none of it.

#include <yaml-cpp/yaml.h>

#include <vector>

#include "adapters/deck/diagnostics.hpp"

namespace capstan::deck {

/// What a deck asks of a benchmark; the benchmark's command line comes first.
struct CampaignOptions {
  int repeat = 0;                      ///< timed solves of each solver; 0: the benchmark's default
  std::vector<double> latencies;       ///< emulated latencies in microseconds; empty: none asked for
  bool changingRightHandSide = false;  ///< another right-hand side in every turn; else the system's own in all
};

/// Reads the block. What is wrong goes into the diagnostics. Local.
CampaignOptions readCampaign(const YAML::Node& block, const Place& place, Diagnostics& diagnostics);

}  // namespace capstan::deck
