#pragma once
/// \file
/// When the basis of a pipelined CG is to be made anew.

#include <algorithm>
#include <cmath>

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

}  // namespace capstan
