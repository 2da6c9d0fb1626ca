#pragma once
/// \file
/// How far a pipelined GMRES runs ahead: blocks of t vectors, d reductions in flight, and the fallbacks that make both
/// fewer.
///
/// Fallbacks, for cycles that broke down or whose recursion has lost touch with the residual: fewer products ahead, t
/// first where the user fixed nothing; with a classical cycle first where the broken one gained little; classical
/// cycles for good where that repeats itself. The next solve begins where a solve has come down to, with classical
/// cycles where one product ahead was too much: pipeline_memory.hpp. Replicated: fed with reduced numbers only, so it
/// decides alike on all ranks.

#include <algorithm>
#include <utility>

#include "belos_ext/convergence/stop_test.hpp"
#include "belos_ext/parameters/solver_options.hpp"
#include "belos_ext/problem/linear_system.hpp"
#include "belos_ext/problem/solver_state.hpp"
#include "belos_ext/supervision/block_length.hpp"
#include "belos_ext/supervision/pipeline_memory.hpp"

namespace capstan::tuning::pipelined_gmres {
/// Fruitless cycles after which all are classical. Chosen.
inline constexpr int maxFruitless = 3;
/// True and recursive residuals may differ by this factor at the end of a cycle. Chosen.
inline constexpr int astray = 10;
}  // namespace capstan::tuning::pipelined_gmres

namespace capstan {

/// All is local but for what it tells the report, which is alike on all ranks.
template <class Types>
class PipelineLadder {
 public:
  using Scalar = typename Types::Scalar;

  /// \param blocks whether t is "Step Size"; else it is 1
  explicit PipelineLadder(bool blocks) : blocks_(blocks) {}

  using Options = PipelineMemory::Options;
  /// Back to the start: the t and d of these options.
  void configure(const Options& options) {
    length_.configure(options.stepSizeAuto, options.stepSize);
    t_ = blocks_ ? options.stepSize : 1;
    depth_ = options.pipelineDepth;
    waiting_ = 0;
    fruitless_ = 0;
    promised_ = claimedFrom_ = 0;
    memory_.configure(options);
  }
  void recall(const SolverState& state) {
    length_.recall(state.stepSize);
    memory_.recall(state);
    const auto* works = memory_.works();
    if (works == nullptr || works->depth == 0) return;
    depth_ = std::min(depth_, works->depth);
    if (blocks_) length_.keepTo(works->block);
  }
  void remember(SolverState& state) const {
    if (blocks_ && length_.automatic()) state.stepSize = length_.current();
    memory_.remember(state);
  }

  /// A solve begins.
  void begin(LinearSystem<Types>& system) {
    memory_.begin(system.products());
    pipelined_ = 0;
    if (memory_.isClassical()) {
      giveUp();
      t_ = 1;
      system.tell(0, EventKind::ClassicalFromStart);
    } else if (memory_.works() != nullptr && memory_.works()->handsOver == 0) {
      system.tell(0, blocks_ ? Event(EventKind::BlocksFromEarlier, depth_, length_.current())
                             : Event(EventKind::DepthFromEarlier, depth_));
    }
  }
  /// It is over.
  void end(LinearSystem<Types>& system, const StopTest& stop) { memory_.end(stop, system.products(), pipelined_); }

  int t() const { return t_; }
  int depth() const { return depth_; }
  /// L, the products that Z runs ahead of Q.
  int lag() const { return (depth_ + 1) * t_ - 1; }
  /// t where it is "Step Size", else 0.
  int stepSize() const { return blocks_ ? t_ : 0; }

  /// Begins a cycle of at most m columns. A pipeline longer than the cycle, or than the space itself, would never fill.
  /// \param learning whether the cycle is to run one product ahead and no more: no shifts are known for more
  void fit(LinearSystem<Types>& system, const StopTest& stop, int m, bool learning) {
    if (waiting_ > 0) depth_ = std::exchange(waiting_, 0);
    t_ = blocks_ && !learning ? length_.current() : 1;
    if (learning) {
      if (depth_ > 1 || (blocks_ && !length_.automatic() && length_.current() > 1)) {
        system.tell(stop.iterations(), EventKind::DepthLearning);
      }
      waiting_ = std::exchange(depth_, 1);
    }
    depth_ = std::min(depth_, std::max(m, 1));  // more is told below, and might overflow
    if (blocks_ && length_.automatic()) t_ = std::min(t_, std::max(1, m / (2 * (depth_ + 1))));
    if (lag() < m) return;
    t_ = std::min(t_, std::max(1, m / 2));
    depth_ = std::max(1, std::min(depth_, m / t_ - 1));
    system.tell(stop.iterations(), {EventKind::DepthFitted, depth_, t_, m});
  }

  /// Whether all cycles are classical from now on.
  bool givenUp() const { return fruitless_ > tuning::pipelined_gmres::maxFruitless; }

  /// Whether the next cycle is a classical one, since rounding has separated Z from the products it stands for: the
  /// recursion of the last cycle promised a far smaller residual than beta, the true one, and nothing shorter is left
  /// to try; or it claimed to have met the target and gained nothing. Goes on to the next fallback in both cases.
  bool wentAstray(LinearSystem<Types>& system, const StopTest& stop, Scalar beta) {
    const bool inVain = claimedFrom_ > 0 && beta > static_cast<Scalar>(tuning::stop_test::progress) * claimedFrom_;
    if (!inVain && !(promised_ > 0 && beta > tuning::pipelined_gmres::astray * promised_)) return false;
    const bool classical = inVain || lag() == 1;
    ++fruitless_;
    shrink(system, stop, Cause::LostTouch, classical);
    return classical;
  }

  /// Fewer products ahead: shorter blocks first where the user fixed nothing.
  /// \param why for the report, with two numbers   \param classical whether the next cycle is a classical one
  void shrink(LinearSystem<Types>& system, const StopTest& stop, Cause why, bool classical, int columns = 0,
              int kept = 0) {
    const int from = depth_;
    const bool shortest = lag() == 1;
    if (t_ > 1 && (depth_ == 1 || length_.automatic())) {
      length_.limit(t_);
      length_.failed();
      t_ = length_.current();
    } else if (depth_ > 1) {
      depth_ = depth_ / 2;
    }
    const int block = blocks_ && length_.automatic() ? length_.ceiling() : t_;
    memory_.failed(from, shortest ? 0 : depth_, shortest ? 1 : block, stop, sure_);
    const EventKind what = givenUp()   ? EventKind::PipelineGivenUp
                           : classical ? EventKind::PipelineAfterCycle
                                       : EventKind::PipelineShorter;
    system.tell(stop.iterations(), {what, why, depth_, t_, columns, kept});
  }

  /// So many products were made to learn the spectrum.
  void learnt(long products) { memory_.leaveOut(products); }

  /// A pipelined cycle is over.
  /// \param columns that stand   \param sure it had the shifts that the next solve begins with
  void ran(int columns, bool sure) {
    pipelined_ += columns;
    sure_ = sure;
  }

  /// A cycle has ended, for wentAstray(); both 0 where it was a classical one.
  /// \param promised the residual of the recursion at its end
  /// \param claimedFrom the true one at its beginning, if it claimed to have met the target, else 0
  void ended(Scalar promised, Scalar claimedFrom) {
    promised_ = promised;
    claimedFrom_ = claimedFrom;
  }

  /// The cycle gained that many columns before it broke down for good: as good as none where the pipeline was hardly
  /// filled.
  void brokeAfter(int columns) { fruitless_ = columns > lag() ? 0 : fruitless_ + 1; }

  /// The broken cycle could be taken to its end.
  void recovered() { fruitless_ = 0; }

  /// A cycle of that many columns went well: an automatic t follows what it was like.
  /// \param condition the worst of its vectors   \param whole the solve ended with it and had no other
  void succeeded(LinearSystem<Types>& system, const StopTest& stop, int columns, double condition, bool whole) {
    if (!blocks_ || length_.current() != t_) return;  // it did not fit
    length_.succeeded(columns, condition, depth_, whole);
    if (length_.current() != t_) {
      system.tell(stop.iterations(), {EventKind::BlockLength, length_.current()});
    }
  }

 private:
  void giveUp() { fruitless_ = tuning::pipelined_gmres::maxFruitless + 1; }

  bool blocks_;
  int t_ = 1, depth_ = 1;
  int waiting_ = 0;                        ///< the depth after a cycle that learns; 0 where the last one did not
  int fruitless_ = 0;                      ///< cycles in a row
  Scalar promised_ = 0, claimedFrom_ = 0;  ///< of the last cycle, if that was pipelined
  int pipelined_ = 0;                      ///< columns of the solve that stand
  bool sure_ = false;                      ///< of the last pipelined cycle
  BlockLength length_;
  PipelineMemory memory_;
};

}  // namespace capstan
