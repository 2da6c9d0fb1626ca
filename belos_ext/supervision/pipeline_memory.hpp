#pragma once
/// \file
/// What a pipelined method remembers, from solve to solve, of pipelines that have failed.
///
/// A failure speaks against a pipeline where
///
/// - it had the shifts that the next solve begins with. A cycle that only learns them, or a solve whose bounds of the
///   spectrum have turned out to be wrong, leaves a doubt: the next solve tries again, and then any failure counts;
/// - what followed it got further: the solve converged, or left far less of the residual when it met a limit. A
///   tolerance that nobody can meet says nothing.
///
/// It speaks to solves with the same options for the pipeline, and with a tolerance that lies beyond the residual at
/// which it was met, or near it: looser ones are over before. It is forgotten where the form that it has led to gets no
/// further either, and with the values of the matrix (manager/working_pipeline.hpp).
///
/// The last fallback is the classical method, which hides nothing. Where the pipeline has made most of the iterations
/// before it handed over, or the solve met a limit, one solve is classical, to compare: the pipeline is better as long
/// as it takes no more products with A, but for a few, as restarts do.

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "belos_ext/convergence/stop_test.hpp"
#include "belos_ext/parameters/solver_options.hpp"
#include "belos_ext/problem/solver_state.hpp"
#include "belos_ext/support/bounded_quotients.hpp"
#include "belos_ext/support/checksum.hpp"

namespace capstan::tuning::pipeline_memory {
/// A solve may meet a failure again where its tolerance is below this many times the residual at which it was met, and
/// what follows a failure got further where it left the residual that much smaller. Chosen: right-hand sides differ.
inline constexpr int near = 10;
/// A pipeline that hands over to the classical method after half of a solve may take so many times its products for a
/// digit. Chosen: a few products hide most of the reductions; right-hand sides differ by 2 or 3 in a hundred.
inline constexpr double slower = 1.05;
}  // namespace capstan::tuning::pipeline_memory

namespace capstan {

/// Replicated: fed with reduced numbers only, so it decides alike on all ranks. All is local.
class PipelineMemory {
 public:
  /// Whatever a pipeline is told.
  using Options = MethodOptions<RestartOptions, SchemeOptions, DepthOptions, PolynomialOptions, StepSizeOptions,
                                ShiftOptions, SpectrumOptions, DropOptions>;

  /// Forgets all.
  void configure(const Options& options) {
    asked_ = checksumOf(options);
    tolerance_ = options.tolerance;
    known_.reset();
    begin();
  }

  void recall(const SolverState& state) {
    if (state.workingPipeline && state.workingPipeline->asked == asked_) known_ = state.workingPipeline;
  }

  /// What a solve is to begin with; null: with what is asked for.
  const WorkingPipeline* works() const {
    const bool meetsIt = known_ && known_->sure && tolerance_ < tuning::pipeline_memory::near * known_->failedAt;
    return meetsIt ? &*known_ : nullptr;
  }

  /// Whether that is the classical method.
  bool isClassical() const { return works() != nullptr && works()->depth == 0; }

  /// A solve begins. \param products LinearSystem::products()
  void begin(long products = 0) {
    products_ = products;
    failed_.reset();
    learns_ = forgets_ = false;
    latest_ = 0;
  }

  /// So many products were made to learn the spectrum: later solves do without. Local.
  void leaveOut(long products) { products_ += products; }

  /// A pipeline of that depth has failed, and the solve goes on with another one.
  /// \param sure it had the shifts that the next solve begins with
  void failed(int from, int depth, int block, const StopTest& stop, bool sure) {
    const double most = std::numeric_limits<double>::max() / (2 * tuning::pipeline_memory::near);
    const double residual = ratioOr(stop.recursive(), stop.implicitScale(), most);
    latest_ = stop.iterations() > 0 && std::isfinite(residual) ? std::min(residual, most) : most;
    const double first = failed_ ? std::max(failed_->failedAt, latest_) : latest_;
    failed_ = WorkingPipeline{depth, block, first, sure || known_ || (failed_ && failed_->sure), asked_};
    failed_->handsOver = depth == 0 ? from : 0;
  }

  /// The solve is over.
  /// \param products LinearSystem::products()   \param pipelined iterations
  void end(const StopTest& stop, long products, int pipelined) {
    const bool limited = stop.reason() == StopReason::MaxIterations || stop.reason() == StopReason::MaxRestarts ||
                         stop.reason() == StopReason::UserTest;
    forgets_ = works() != nullptr ? !limited && !gotFurther(stop, known_->failedAt)
                                  : known_ && !known_->sure && stop.iterations() > 0;  // a doubt not confirmed
    const bool exact = stop.explicitNorm() == 0;                                       // which says nothing of a rate
    const double fallen = exact ? 0 : std::log(boundedRatio(stop.initial(), stop.explicitNorm()));
    const double pace = std::isfinite(fallen) && fallen > 0 ? static_cast<double>(products - products_) / fallen : 0;
    if (failed_) {
      learns_ = stop.converged() || (limited && gotFurther(stop, latest_));
      if (failed_->handsOver > 0) {
        failed_->itsPace = pace;
        failed_->classicalPace = known_ ? known_->classicalPace : 0;
        const bool early = stop.converged() && 2 * pipelined < stop.iterations();
        if (early || pace == 0) failed_->handsOver = 0;
        decide();
      }
      if (works() != nullptr) failed_->failedAt = std::max(failed_->failedAt, known_->failedAt);
    } else if (isClassical() && known_->handsOver > 0 && (stop.converged() || limited) && pace > 0) {
      failed_ = known_;
      failed_->classicalPace = pace;
      decide();
      learns_ = true;
    }
  }

  void remember(SolverState& state) const {
    if (learns_) {
      state.workingPipeline = failed_;
    } else if (forgets_) {
      state.workingPipeline.reset();
    }
  }

 private:
  static std::uint64_t checksumOf(const Options& options) {
    Checksum checksum;
    for (const int number :
         {options.pipelineDepth, options.polynomialDegree, options.stepSizeAuto ? 0 : options.stepSize,
          options.numBlocks, static_cast<int>(options.blockOrthogonalization)}) {
      checksum.add(static_cast<std::uint64_t>(number));
    }
    for (const auto& shift : options.shifts) {
      checksum.add(shift.real());
      checksum.add(shift.imag());
    }
    const auto& bounds = options.eigenvalueBounds;
    for (const double end : {bounds.min, bounds.max}) checksum.add(options.eigenvalueBoundsAuto ? 0.0 : end);
    checksum.add(options.changeOfBasisDropTolerance);
    return checksum.value();
  }

  /// Goes back to the depth that hands over where that is no slower.
  void decide() {
    if (failed_->handsOver == 0 || failed_->classicalPace == 0) return;
    const bool pays = failed_->itsPace <= tuning::pipeline_memory::slower * failed_->classicalPace;
    failed_->depth = pays ? failed_->handsOver : 0;
    if (!pays) failed_->handsOver = 0;
  }

  static bool gotFurther(const StopTest& stop, double failedAt) {
    return stop.converged() || stop.attained() <= failedAt / tuning::pipeline_memory::near;
  }

  std::uint64_t asked_ = 0;
  double tolerance_ = 0;
  std::optional<WorkingPipeline> known_;   ///< of earlier solves
  std::optional<WorkingPipeline> failed_;  ///< what this solve has come down to
  double latest_ = 0;                      ///< the scaled residual of its last failure
  bool learns_ = false, forgets_ = false;  ///< what remember() does
  long products_ = 0;                      ///< before the solve
};

}  // namespace capstan
