#include "belos_ext/problem/solver_state.hpp"

#include <tuple>

#include "belos_ext/support/checksum.hpp"

namespace capstan::tuning::expected_end {
/// How many earlier solves are remembered. Chosen.
inline constexpr int remembered = 8;
}  // namespace capstan::tuning::expected_end

namespace capstan {

std::uint64_t checksumOf(const std::optional<SolverState>& state) {
  Checksum checksum;
  if (!state) return checksum.value();
  checksum.add(static_cast<std::uint64_t>(state->shifts.size()));
  for (const auto& shift : state->shifts) {
    checksum.add(shift.real());
    checksum.add(shift.imag());
  }
  for (const auto& known : {state->eigenvalueBounds, state->polynomialBounds}) {
    checksum.add(static_cast<std::uint64_t>(known ? 1 : 0));
    const EigenvalueBounds bounds = known.value_or(EigenvalueBounds{});
    for (const double value : {bounds.min, bounds.max}) checksum.add(value);
  }
  for (const double value : {state->polynomialPace, state->shownOfBounds, state->productRounding}) checksum.add(value);
  checksum.add(static_cast<std::uint64_t>(state->stepSize));
  for (const int steps : state->exactSteps) checksum.add(static_cast<std::uint64_t>(steps));
  checksum.add(static_cast<std::uint64_t>(state->workingPipeline ? 1 : 0));
  const WorkingPipeline pipeline = state->workingPipeline.value_or(WorkingPipeline{});
  for (const int number : {pipeline.depth, pipeline.block, pipeline.sure ? 1 : 0, pipeline.handsOver}) {
    checksum.add(static_cast<std::uint64_t>(number));
  }
  for (const double value : {pipeline.failedAt, pipeline.itsPace, pipeline.classicalPace}) checksum.add(value);
  checksum.add(pipeline.asked);
  checksum.add(static_cast<std::uint64_t>(pipeline.until));
  for (const auto& [factor, times] : state->factorTimes) {
    checksum.add(static_cast<std::uint64_t>(factor));
    for (const double seconds : times.seconds) checksum.add(seconds);
    for (const double iterations : times.iterations) checksum.add(iterations);
    checksum.add(static_cast<std::uint64_t>(times.solve));
  }
  checksum.add(static_cast<std::uint64_t>(state->preconditionerVaries ? 1 : 0));
  checksum.add(static_cast<std::uint64_t>(state->singleBasis ? 1 : 0));
  for (const int iterations : state->iterations) checksum.add(static_cast<std::uint64_t>(iterations));
  for (const auto& [name, object] : state->objects) {
    checksum.add(name);
    checksum.add(object->checksum());
  }
  return checksum.value();
}

bool isShorter(const std::optional<WorkingPipeline>& one, const std::optional<WorkingPipeline>& other) {
  if (!one || !other) return one.has_value();
  return std::make_tuple(!one->sure, one->depth, one->block) <
         std::make_tuple(!other->sure, other->depth, other->block);
}

void rememberIterations(SolverState& state, int iterations) {
  state.iterations.push_back(iterations);
  if (state.iterations.size() > std::size_t{tuning::expected_end::remembered}) {
    state.iterations.erase(state.iterations.begin());
  }
}

std::size_t bytesOf(const SolverState& state) {
  std::size_t bytes = 0;
  for (const auto& [name, object] : state.objects) bytes += object->bytes();
  return bytes;
}

SolverState rounded(SolverState state) {
  for (auto& shift : state.shifts) shift = {roundedForRanks(shift.real()), roundedForRanks(shift.imag())};
  for (auto* const bounds : {&state.eigenvalueBounds, &state.polynomialBounds}) {
    if (*bounds) *bounds = EigenvalueBounds{roundedForRanks((*bounds)->min), roundedForRanks((*bounds)->max)};
  }
  state.polynomialPace = roundedForRanks(state.polynomialPace);
  state.shownOfBounds = roundedForRanks(state.shownOfBounds);
  state.productRounding = roundedForRanks(state.productRounding);
  if (auto& pipeline = state.workingPipeline) {
    for (double* const value : {&pipeline->failedAt, &pipeline->itsPace, &pipeline->classicalPace}) {
      *value = roundedForRanks(*value);
    }
  }
  for (auto& [factor, times] : state.factorTimes) {
    for (double& seconds : times.seconds) seconds = roundedForRanks(seconds);
    for (double& iterations : times.iterations) iterations = roundedForRanks(iterations);
  }
  return state;
}

}  // namespace capstan
