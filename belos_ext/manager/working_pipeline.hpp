#pragma once
/// \file
/// The pipeline that works is known as long as the matrix has the values with which another one has failed.

#include <memory>

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

/// Local.
inline void forgetWorkingPipeline(SolverState& state) {
  state.workingPipeline.reset();
  state.objects.erase(SampledMatrix::name);
}

/// Before a solve: forgets it where `a` has other values now, or none that can be read. Reads `a` only where there is
/// something to forget. Local: ranks that see no change are told by the others in the first reduction
/// (PipelinesDiffer).
template <class Types>
void checkWorkingPipeline(SolverState& state, const typename Types::Operator& a) {
  if (!state.workingPipeline) return;
  const auto then = state.object<SampledMatrix>(SampledMatrix::name);
  const auto now = matrixSample<Types>(a);
  if (then == nullptr || !now || *now != then->sample()) forgetWorkingPipeline(state);
}

/// After a solve: notes the matrix that it goes with. Local.
template <class Types>
void noteWorkingPipeline(SolverState& state, const typename Types::Operator& a) {
  if (state.workingPipeline && state.objects.count(SampledMatrix::name) > 0) return;
  const auto now = state.workingPipeline ? matrixSample<Types>(a) : std::nullopt;
  if (!now) return forgetWorkingPipeline(state);
  state.objects[SampledMatrix::name] = std::make_shared<SampledMatrix>(*now);
}

}  // namespace capstan
