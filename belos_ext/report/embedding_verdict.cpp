#include "belos_ext/report/embedding_verdict.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace capstan {

std::optional<double> valuesForAMessageSaved(const EmbeddedReport& embedded) {
  if (!(embedded.meanNeighbours > 0)) return std::nullopt;
  return std::max(0.0, embedded.values - embedded.halo) / embedded.meanNeighbours;
}

std::string embeddingVerdict(const EmbeddedReport& embedded) {
  const auto values = valuesForAMessageSaved(embedded);
  if (!values) return {};
  return fmt::format(
      "{:.3g} more values for each message saved, which pays where a message costs more than they do: {}", *values,
      *values <= valuesOfAMessage ? "on most networks" : "hardly anywhere, CAPSTAN CG is likely faster");
}

}  // namespace capstan
