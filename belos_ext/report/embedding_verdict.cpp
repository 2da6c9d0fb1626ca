#include "belos_ext/report/embedding_verdict.hpp"

#include <fmt/format.h>

#include <cmath>

namespace capstan {

std::optional<double> valuesForAMessageSaved(const EmbeddedReport& embedded) {
  if (!(embedded.meanNeighbours > 0)) return std::nullopt;
  return embedded.values / embedded.meanNeighbours;
}

std::string embeddingVerdict(const EmbeddedReport& embedded, int ranks) {
  const auto values = valuesForAMessageSaved(embedded);
  if (!values) return {};
  const double dimensions = std::log2(ranks);
  std::string outcome = "CAPSTAN CG is likely faster, except where a message costs microseconds";
  if (*values <= valuesOfAMessage) {
    outcome = fmt::format("likely faster than CAPSTAN CG, {} of the messages saved",
                          embedded.meanNeighbours < dimensions ? "less than half" : "half and more");
  }
  return fmt::format("{:.3g} for each message saved (limit {:g}) and {:.3g} neighbours against lg K = {:.3g}: {}",
                     *values, valuesOfAMessage, embedded.meanNeighbours, dimensions, outcome);
}

}  // namespace capstan
