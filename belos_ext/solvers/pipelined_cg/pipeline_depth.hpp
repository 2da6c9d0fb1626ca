#pragma once
/// \file
/// How deep a pipelined CG may go, and when it is better given up.

#include <algorithm>
#include <cmath>
#include <utility>

#include "belos_ext/events/event.hpp"
#include "belos_ext/parameters/tuning.hpp"

namespace capstan {

/// Watches how far the basis Q of p(l)-CG has left orthonormality. Replicated: fed with reduced numbers only.
///
/// The recurrences of Q and of Z^(l) obey T to rounding, but |q_j|^2 is inferred, never measured, by G; its error grows
/// geometrically where the spectrum is wide, unseen until a square root fails long after CG's convergence is lost. So
/// |q_j|^2 is measured, l steps late, and the pipeline is restarted while what it leaves is still good.
///
/// Growth tells, not size: a deep pipeline begins with an error that a harmless problem keeps. The limit is a multiple
/// of the largest error seen while the pipeline fills, and the band of G after it, between bounds of its own; see
/// tuning::pipelined_cg::orthogonality.
class OrthogonalityWatch {
 public:
  /// \param epsilon of the scalars that Q is made of   \param depth l
  void begin(double epsilon, int depth) {
    namespace tuned = tuning::pipelined_cg::orthogonality;
    least_ = tuned::least * epsilon;
    most_ = std::min(tuned::most * epsilon, tuned::mostAtAll);
    limit_ = most_;
    filling_ = tuned::filling * depth;
    error_ = largest_ = 0;
    mostGood_ = tuned::good * epsilon;
    good_ = true;
  }

  /// |q_j|^2, j in order.
  void observe(double square) {
    namespace tuned = tuning::pipelined_cg::orthogonality;
    error_ = std::abs(square - 1);
    good_ = good_ && error_ <= mostGood_;
    if (filling_ == 0) return;
    largest_ = std::max(largest_, error_);
    if (--filling_ == 0) limit_ = std::min(std::max(least_, tuned::growth * largest_), most_);
  }

  /// Whether all measurements of the cycle leave room for a deeper pipeline, whose errors grow faster.
  bool good() const { return good_; }

  /// Whether the latest measurement is beyond rounding, and beyond what the solve can bear; NaN is.
  /// \param left how much the residual still has to fall, target over residual: an error e in the basis is one of e
  ///   times the residual in the iterates to come. Strong preconditioners end a solve in a few steps whose norms are
  ///   small beside the shift; errors grow faster there than they matter.
  bool lost(double left = 0) const {
    namespace tuned = tuning::pipelined_cg::orthogonality;
    const double more = left > tuned::lastDigits ? std::min(tuned::bearable * left, tuned::mostBearable) : 0;
    return !(error_ <= std::max(limit_, more));
  }

 private:
  double least_ = 0, most_ = 0, limit_ = 0, error_ = 0, largest_ = 0, mostGood_ = 0;
  bool good_ = true;
  int filling_ = 0;
};

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

}  // namespace capstan
