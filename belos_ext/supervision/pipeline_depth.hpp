#pragma once
/// \file
/// How deep a pipelined CG may go, and when it is better given up.

#include <algorithm>
#include <optional>
#include <utility>

#include "belos_ext/events/event.hpp"
#include "belos_ext/supervision/pipeline_memory.hpp"

namespace capstan::tuning::pipelined_cg {
/// The deepest pipeline. Derived: a sweep holds all recurrences.
inline constexpr int deepest = 20;
}  // namespace capstan::tuning::pipelined_cg

namespace capstan::tuning::pipelined_cg::depth {
/// Steps of a cycle that are worth a restart. Measured: 1138_bus with Jacobi on 2 ranks, p(3): 1060 iterations where
/// cycles of 20 steps were allowed, 917 with 100, CG 909.
inline constexpr int worthwhile = 100;
/// Restarts that a solve may have at any time, and the steps done that allow one more each. Measured: on
/// hypre_TEST_ij_A, where Hestenes and Stiefel's CG takes 2620 to 2830 iterations as the last digit of p has it, an
/// error of 1e-10 in one direction, as a restart leaves it, makes 2800 to 2970 of them, errors of 1e-8 in four
/// directions 3000 to 3420. With all restarts p(3)-CG took 3142 iterations on 2 ranks, CG 2823; with these 2847.
/// RealMatrices.PipelinedCgKeepsUpWithCg: 24 in a hundred iterations stay pipelined, 26 with all restarts, and the
/// worst ratio of a solve that fell back is 1.13, not 1.19.
inline constexpr int freeRestarts = 2;
inline constexpr int stepsOfARestart = 500;
}  // namespace capstan::tuning::pipelined_cg::depth

namespace capstan {

/// The depth of p(l)-CG from setback to setback: the same again, shallower, or none (the classical method). A solve
/// that knows no shifts begins with depth 1, where one is enough.
class PipelineDepth {
 public:
  /// \param asked for; `most` is what the storage of a sweep and the problem allow
  /// \param learns begins with depth 1, and goes deeper by learnt()
  void begin(int asked, int most, bool learns) {
    wanted_ = current_ = std::max(1, std::min(asked, most));
    if (learns) current_ = 1;
    restarts_ = steps_ = 0;
    failed_ = false;
  }

  int current() const { return current_; }
  /// Whether a setback() since the last question has made it less.
  bool hasFailed() { return std::exchange(failed_, false); }
  bool givenUp() const { return current_ == 0; }
  /// The depth once shifts are known; the current one from then on.
  int wanted() const { return wanted_; }
  /// Whether it is still to go deeper.
  bool learns() const { return current_ < wanted_; }
  void learnt() { current_ = wanted_; }
  /// It is better not to go deeper in this solve.
  void stays() { wanted_ = current_; }
  /// Why the last setback() changed the depth; None where it did not.
  Cause reason() const { return reason_; }

  /// Whether that many steps are worth what a restart costs: l products and more to fill the pipeline, and about ten
  /// iterations of CG's superlinear convergence where a spectrum is wide.
  static bool pays(int steps) { return steps >= tuning::pipelined_cg::depth::worthwhile; }

  /// Ends pipelining.
  void giveUp(Cause why) {
    wanted_ = current_ = 0;
    reason_ = why;
  }

  /// A cycle of that many steps ended before the solve did. One that does not pay, or a breakdown, halves the depth:
  /// the next one would be shorter still. Restarts that come too often end pipelining: each leaves errors in the
  /// direction that cost CG iterations where its convergence hangs on rounding, and no cycle tells how many.
  void setback(int steps, bool brokeDown) {
    namespace tuned = tuning::pipelined_cg::depth;
    const int before = current_;
    reason_ = Cause::None;
    wanted_ = current_;
    steps_ += steps;
    if (++restarts_ > tuned::freeRestarts + steps_ / tuned::stepsOfARestart) {
      giveUp(Cause::RestartsTooOften);
    } else if (brokeDown || !pays(steps)) {
      reason_ = brokeDown ? Cause::Breakdown : Cause::CyclesTooShort;
      wanted_ = current_ /= 2;
    }
    failed_ = failed_ || current_ < before;
  }

 private:
  int wanted_ = 1, current_ = 1;
  int restarts_ = 0, steps_ = 0;  ///< of the solve, but for restarts that go deeper
  bool failed_ = false;
  Cause reason_ = Cause::None;
};

/// The same with what solves before have come down to.
class RememberedDepth : public PipelineDepth {
 public:
  void configure(const PipelineMemory::Options& options) {
    asked_ = options.pipelineDepth;
    memory_.configure(options);
  }
  void recall(const SolverState& state) { memory_.recall(state); }
  void remember(SolverState& state) const { memory_.remember(state); }

  /// A solve begins. Whether it is the next method's. \param products LinearSystem::products()
  bool defers(long products) {
    memory_.begin(products);
    return memory_.isClassical();
  }
  /// So many products were made to learn the spectrum.
  void leaveOut(long products) { memory_.leaveOut(products); }
  /// It is over. \param own iterations before the next method went on
  void learn(const StopTest& stop, long products, int own) { memory_.end(stop, products, own); }

  /// \param rows of the system   \param learns as for PipelineDepth
  void choose(double rows, bool learns) {
    most_ = static_cast<int>(std::min<double>(std::max(rows, 1.0), tuning::pipelined_cg::deepest));
    begin(remembered() > 0 ? remembered() : asked_, most_, learns);
  }
  /// What is to be told of that, if anything.
  std::optional<Event> told() const {
    if (remembered() > 0) return Event{EventKind::DepthFromEarlier, remembered()};
    return asked_ > most_ ? std::optional(Event{EventKind::DepthReduced, asked_, most_}) : std::nullopt;
  }

  /// \param sure the pipeline had the shifts that the next solve begins with
  void setback(const StopTest& stop, int steps, bool brokeDown, bool sure) {
    const int before = current();
    PipelineDepth::setback(steps, brokeDown);
    if (hasFailed()) memory_.failed(before, current(), 1, stop, sure);
  }

 private:
  /// The depth that earlier solves have come down to, where that is less than what is asked for; else 0.
  int remembered() const {
    const auto* works = memory_.works();
    return works != nullptr && works->depth < std::min(asked_, most_) ? works->depth : 0;
  }

  int asked_ = 1, most_ = 1;
  PipelineMemory memory_;
};

}  // namespace capstan
