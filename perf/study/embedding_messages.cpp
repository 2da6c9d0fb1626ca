#include "perf/study/embedding_messages.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace capstan::study {

EmbeddingMessages::EmbeddingMessages(const std::string& path)
    : file_(path.empty() ? nullptr : std::fopen(path.c_str(), "w")) {
  if (path.empty() || file_ != nullptr) return;
  throw std::invalid_argument(fmt::format("study_embedding: --messages: '{}' cannot be written to", path));
}

void EmbeddingMessages::addConventional(const topology::ExchangePattern& pattern) const {
  if (file_ == nullptr) return;
  for (int rank = 0; rank < pattern.ranks(); ++rank) {
    const auto& sends = pattern.of(rank).sends;
    for (std::size_t k = 0; k < sends.size(); ++k) {
      add(pattern.ranks(), "conventional", 0, rank, sends.peers[k], sends.list(k).size());
    }
  }
}

void EmbeddingMessages::addEmbedded(const std::string& scheme, const topology::ExchangePattern& pattern,
                                    const topology::Positions& positions, topology::StepOrder order) const {
  using Sums = topology::EmbeddedStep::Sums;
  if (file_ == nullptr) return;
  for (const auto& plan : topology::embeddedPlansOf(positions, pattern, order)) {
    int dimension = 0;
    for (const auto& step : plan.steps) {
      if (step.sums == Sums::Exchanged) ++dimension;
      if (!step.sends()) continue;
      const int number = step.sums == Sums::Given ? 0 : step.sums == Sums::Returned ? plan.dimensions + 1 : dimension;
      add(plan.ranks, scheme, number, plan.rank, step.partner, step.sent.size());
    }
  }
}

void EmbeddingMessages::add(int ranks, const std::string& scheme, int step, int sender, int receiver,
                            std::size_t values) const {
  fmt::print(file_.get(), "{} {} {} {} {} {}\n", ranks, scheme, step, sender, receiver, values);
}

}  // namespace capstan::study
