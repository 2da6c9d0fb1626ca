#pragma once

/// \file
/// Whether a halo exchange inside the all-reduce is likely to pay, from what was counted.

#include <optional>
#include <string>

#include "belos_ext/report/solve_report.hpp"

namespace capstan {

/// Beyond so many values for each message saved CAPSTAN CG is likely faster. From what a message costs on a cluster:
/// 0.3 us to send it and 0.3 us to receive it, in which 3e9 bytes a second move 225 values. Simulated iterations cross
/// at about 200, where a message costs a third of that at about 90; through TCP, where it costs microseconds, embedding
/// breaks even with 600 to 700 ("Simulated iterations" and "Embedded exchanges" in docs/benchmarks.md).
constexpr double valuesOfAMessage = 200;

/// Values that a rank sends in an all-reduce with a halo exchange, for each message to a neighbour that this saves. All
/// of them count: the product cannot hide them, as it hides those of a halo exchange of its own. Nothing where there is
/// no neighbour. Local.
std::optional<double> valuesForAMessageSaved(const EmbeddedReport& embedded);

/// One clause for a summary of a solve on `ranks` ranks; empty where there is no neighbour. With as many neighbours as
/// lg ranks, half of the messages are saved. Local.
std::string embeddingVerdict(const EmbeddedReport& embedded, int ranks);

}  // namespace capstan
