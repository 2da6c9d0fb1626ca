#pragma once
/// \file
/// A file of all messages of conventional and embedded exchanges, for simulations.

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "tpetra_ext/topology/exchange_pattern.hpp"
#include "tpetra_ext/topology/hypercube/embedded_plan.hpp"

namespace capstan::study {

/// Writes a line a message: ranks, scheme, step, sender, receiver, values. Local.
class EmbeddingMessages {
 public:
  /// path: an empty one writes nothing. Throws std::invalid_argument where the file cannot be written to.
  explicit EmbeddingMessages(const std::string& path);

  /// Scheme "conventional", step 0: from each owner to each rank that needs something of it. The all-reduce is left
  /// out.
  void addConventional(const topology::ExchangePattern& pattern) const;

  /// All messages of the all-reduce, those with sums alone too. Steps: 0 folds in, 1 to D the dimensions in their
  /// order, D + 1 folds out. Throws as topology::embeddedPlansOf().
  void addEmbedded(const std::string& scheme, const topology::ExchangePattern& pattern,
                   const topology::Positions& positions, topology::StepOrder order) const;

 private:
  void add(int ranks, const std::string& scheme, int step, int sender, int receiver, std::size_t values) const;
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace capstan::study
