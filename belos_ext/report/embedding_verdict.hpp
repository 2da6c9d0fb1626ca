#pragma once

/// \file
/// Whether a halo exchange inside the all-reduce is likely to pay, from what was counted.

#include <optional>
#include <string>

#include "belos_ext/report/solve_report.hpp"

namespace capstan {

/// As many values as a network takes while a rank handles a message: 0.3 us to send it and 0.3 us to receive it, at
/// 3e9 bytes a second. Simulated and measured in docs/benchmarks.md, "Embedded exchanges".
constexpr double valuesOfAMessage = 200;

/// Values sent on top of those that a halo exchange of its own would send, for each message to a neighbour that the
/// all-reduce saves. Nothing where there is no neighbour. Local.
std::optional<double> valuesForAMessageSaved(const EmbeddedReport& embedded);

/// One clause for a summary; empty where there is no neighbour. Local.
std::string embeddingVerdict(const EmbeddedReport& embedded);

}  // namespace capstan
