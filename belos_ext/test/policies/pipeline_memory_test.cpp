/// \file
/// Which failures of a pipeline speak against it, and when.

#include "belos_ext/supervision/pipeline_memory.hpp"

#include <gtest/gtest.h>

namespace capstan {
namespace {

SolverOptions optionsFor(double tolerance = 1e-8, int depth = 4) {
  SolverOptions options;
  options.tolerance = tolerance;
  options.pipelineDepth = depth;
  return options;
}

/// A solve that took so many iterations to 1e-8; its pipeline of that depth failed after `failed` of them.
struct Solve {
  int iterations = 100;
  int failed = -1;  ///< it did not
  int from = 1, to = 0;
  bool sure = true;
  double attained = 1e-9;
  StopReason reason = StopReason::Stagnation;  ///< where that does not meet the tolerance
};

/// Solves with one memory, as a method does, and says what the next one begins with: the depth; -1: what is asked for.
class Memory {
 public:
  explicit Memory(SolverOptions options = optionsFor()) : options_(std::move(options)) {}

  int next() {
    PipelineMemory memory = recalled();
    return memory.works() == nullptr ? -1 : memory.works()->depth;
  }

  int after(const Solve& solve) {
    PipelineMemory memory = recalled();
    memory.begin();
    StopCriteria criteria;
    criteria.tolerance = options_.tolerance;
    StopTest stop(criteria);
    stop.begin({1, 1}, 1);
    for (int i = 0; i < solve.iterations; ++i) {
      if (i == solve.failed) memory.failed(solve.from, solve.to, 1, stop, solve.sure);
      stop.iterated(std::pow(1e-8, (i + 1.0) / solve.iterations));
    }
    if (!stop.verified({solve.attained, solve.attained}, true)) stop.stop(solve.reason);
    memory.end(stop, solve.iterations, solve.failed >= 0 ? solve.failed : solve.iterations);
    memory.remember(state_);
    return next();
  }

  SolverOptions& options() { return options_; }
  SolverState& state() { return state_; }

 private:
  PipelineMemory recalled() {
    PipelineMemory memory;
    memory.configure(options_);
    memory.recall(state_);
    return memory;
  }

  SolverOptions options_;
  SolverState state_;
};

TEST(PipelineMemory, KeepsTheDepthThatASolveHasComeDownTo) {
  Memory memory;
  EXPECT_EQ(memory.next(), -1);
  EXPECT_EQ(memory.after({100, 10, 4, 2}), 2);
  EXPECT_EQ(memory.after({100}), 2) << "it works";
  EXPECT_EQ(memory.after({100, 10, 2, 1}), 1);
  EXPECT_EQ(memory.after({100, 10, 1, 0}), 0);
  EXPECT_EQ(memory.after({100}), 0);
}

TEST(PipelineMemory, TriesAgainWhatHadNoShifts) {
  Memory memory;
  const Solve learning{100, 10, 1, 0, false};
  EXPECT_EQ(memory.after(learning), -1);
  EXPECT_EQ(memory.after({100}), -1) << "with shifts it works";
  EXPECT_FALSE(memory.state().workingPipeline);
  EXPECT_EQ(memory.after(learning), -1);
  EXPECT_EQ(memory.after(learning), 0) << "shifts that never hold";
}

TEST(PipelineMemory, DoesNotBlameThePipelineForWhatNobodyReaches) {
  Memory memory;
  Solve solve{100, 10, 1, 0, true, 1e-7};
  EXPECT_EQ(memory.after(solve), -1) << "a tolerance that cannot be met";
  solve.reason = StopReason::MaxIterations;
  EXPECT_EQ(memory.after(solve), 0) << "the classical method left far less";
  EXPECT_EQ(memory.state().workingPipeline->handsOver, 1) << "a limit: it is to be compared";
  solve.failed = 95;
  EXPECT_EQ(Memory().after(solve), -1) << "and here little less than there was";
  solve = {100};
  solve.attained = 0.5;
  EXPECT_EQ(memory.after(solve), -1) << "it gets no further than the pipeline";
}

TEST(PipelineMemory, SpeaksToSolvesThatGetThere) {
  Memory memory;
  EXPECT_EQ(memory.after({100, 50, 4, 2}), 2);  // at 1e-4
  for (const auto& [tolerance, depth] : {std::pair(1e-2, -1), {5e-4, 2}, {1e-12, 2}}) {
    memory.options().tolerance = tolerance;
    EXPECT_EQ(memory.next(), depth) << tolerance;
  }
}

TEST(PipelineMemory, SpeaksToSolvesWithTheSameOptions) {
  Memory memory;
  EXPECT_EQ(memory.after({100, 50, 4, 2}), 2);
  memory.options().pipelineDepth = 3;
  EXPECT_EQ(memory.next(), -1);
  memory.options() = optionsFor();
  memory.options().shiftsAuto = false;
  memory.options().shifts = {1, 2};
  EXPECT_EQ(memory.next(), -1);
}

TEST(PipelineMemory, ComparesAPipelineThatHandsOverLateWithAClassicalSolve) {
  const Solve late{100, 90, 1, 0};
  Memory memory;
  EXPECT_EQ(memory.after(late), 0);
  EXPECT_EQ(memory.after({100}), 1) << "it takes no more";
  EXPECT_EQ(memory.after(late), 1);
  EXPECT_EQ(memory.after({140, 90, 1, 0}), 0) << "it does after all";
  EXPECT_EQ(memory.after({100}), 0);
  Memory other;
  EXPECT_EQ(other.after(late), 0);
  EXPECT_EQ(other.after({80}), 0) << "it takes a quarter more";
  EXPECT_EQ(other.after({100}), 0) << "once and for all";
}

}  // namespace
}  // namespace capstan
