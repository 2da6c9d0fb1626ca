#pragma once
/// \file
/// What plans cost, as JSON for the Python side of perf/study and perf/models.

#include <nlohmann/json.hpp>
#include <vector>

#include "tpetra_ext/topology/plan_counts.hpp"

namespace capstan::study {

/// Messages and bytes of the plans of all ranks for blocks of `columns` columns of doubles. Local.
nlohmann::json jsonOf(const std::vector<topology::RankPlan>& plans, const topology::NodeMap& map,
                      topology::Strategy strategy, int columns);

}  // namespace capstan::study
