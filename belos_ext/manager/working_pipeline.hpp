#pragma once
/// \file
/// The pipeline that works is known as long as the matrix has the values with which another one has failed; for some
/// solves where they cannot be read, as in hosts that multiply themselves.

#include <memory>

#include "belos_ext/problem/solver_state.hpp"
#include "tpetra_ext/operators/matrix_sample.hpp"

namespace capstan::tuning::working_pipeline {
/// Solves for which it is known where the values of A cannot be read. Chosen: a pipeline that fails again costs up to
/// one solve more, which is 5 in a hundred.
inline constexpr long solvesUnread = 20;
}  // namespace capstan::tuning::working_pipeline

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

/// Local.
inline void forgetWorkingPipeline(SolverState& state) {
  state.workingPipeline.reset();
  state.objects.erase(SampledMatrix::name);
}

/// Before a solve: forgets it where `a` has other values now, or where it has been known for long enough and they
/// cannot be read. Reads `a` only where there is something to forget. Local: ranks that see no change are told by the
/// others in the first reduction (PipelinesDiffer).
template <class Types>
void checkWorkingPipeline(SolverState& state, const typename Types::Operator& a) {
  if (!state.workingPipeline) return;
  const auto then = state.object<SampledMatrix>(SampledMatrix::name);
  const auto now = matrixSample<Types>(a);
  const bool holds =
      then != nullptr ? now && *now == then->sample() : !now && state.solves < state.workingPipeline->until;
  if (!holds) forgetWorkingPipeline(state);
}

/// After a solve: notes the matrix that it goes with. Local.
template <class Types>
void noteWorkingPipeline(SolverState& state, const typename Types::Operator& a) {
  if (!state.workingPipeline) return forgetWorkingPipeline(state);
  if (state.objects.count(SampledMatrix::name) > 0) return;
  if (const auto now = matrixSample<Types>(a)) {
    state.objects[SampledMatrix::name] = std::make_shared<SampledMatrix>(*now);
  } else if (state.workingPipeline->until == 0) {
    state.workingPipeline->until = state.solves + 1 + tuning::working_pipeline::solvesUnread;
  }
}

}  // namespace capstan
