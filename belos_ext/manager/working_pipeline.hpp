#pragma once
/// \file
/// The depth that a pipelined method came down to is kept as long as the matrix has the values it failed with.

#include <memory>
#include <optional>

#include "belos_ext/problem/solver_state.hpp"
#include "tpetra_ext/operators/matrix_sample.hpp"

namespace capstan {

/// What a matrix was like, as this rank sees it.
class SampledMatrix final : public KeptObject {
 public:
  static constexpr const char* name = "matrix of the working pipeline";

  explicit SampledMatrix(std::uint64_t sample) : sample_(sample) {}
  std::uint64_t sample() const { return sample_; }
  /// Ranks have different samples: nothing to compare.
  std::uint64_t checksum() const override { return 0; }
  std::size_t bytes() const override { return sizeof(*this); }

 private:
  std::uint64_t sample_;
};

/// Drops what an earlier solve has learnt of the pipeline, where `a` has other values now, or none that can be read.
/// Ranks that see no change keep it: then they do not agree on the state, and all of them forget theirs. Reads `a` only
/// where there is something to drop. Local.
template <class Types>
void checkWorkingPipeline(std::optional<SolverState>& known, const typename Types::Operator& a) {
  if (!known || !known->workingPipeline) return;
  const auto then = known->object<SampledMatrix>(SampledMatrix::name);
  const auto now = matrixSample<Types>(a);
  if (then != nullptr && now && *now == then->sample()) return;
  known->workingPipeline.reset();
  known->objects.erase(SampledMatrix::name);
}

/// Notes the matrix that the state's pipeline works with, or drops the pipeline where it cannot be read. Local.
template <class Types>
void noteWorkingPipeline(SolverState& state, const typename Types::Operator& a) {
  if (!state.workingPipeline || state.objects.count(SampledMatrix::name) > 0) return;
  if (const auto now = matrixSample<Types>(a)) {
    state.objects[SampledMatrix::name] = std::make_shared<SampledMatrix>(*now);
  } else {
    state.workingPipeline.reset();
  }
}

}  // namespace capstan
