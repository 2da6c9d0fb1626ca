#pragma once
/// \file
/// When the basis of a pipelined CG is to be made anew.

#include <algorithm>
#include <cmath>

/// The limit of | |v_j|^2 - 1 |, and of the part of a step that is missing. Measured:
/// RealMatrices.PipelinedCgKeepsUpWithCg and PipelinedCg.DeepPipelinesKeepUpOnLaplacians; limits that do not follow the
/// first errors cost p(8)-CG and p(10)-CG half as many iterations again on the 2D Laplacian.
namespace capstan::tuning::pipelined_cg::orthogonality {
/// The limit in terms of the largest error seen while the pipeline fills, and the band of G after it.
inline constexpr double growth = 16;
/// That lasts so many times l steps. Derived: l to fill the pipeline, 2 l superdiagonals of G.
inline constexpr int filling = 3;
/// The limit is at least so many eps,
inline constexpr double least = 1e5;
/// and at most so many: beyond, restarts, l steps late, find a spoilt direction.
inline constexpr double most = 3e7;
/// The same where eps is large, as a number.
inline constexpr double mostAtAll = 0.05;
/// Part of what the residual still has to fall that an error may be instead, and the largest such error. Derived: an
/// error e in the basis is one of e times the residual in the iterates to come.
inline constexpr double bearable = 0.01;
/// Errors of 16 steps of p(1), in eps, after which a deeper pipeline may follow. Measured: hypre_beam_hex_459 with
/// RILUK, 6e3 eps: p(2)-CG was lost 6 steps later, and with it 14 of 50 iterations; 6e2 eps on 2 ranks: p(3)-CG was
/// lost 8 steps later, and took 76 iterations for 69.
inline constexpr double good = 3e2;
/// It is borne only where no more than these digits are left. Measured: before, an error costs convergence (bcsstk16:
/// 427 iterations for 265).
inline constexpr double lastDigits = 1e-3;
}  // namespace capstan::tuning::pipelined_cg::orthogonality

namespace capstan {

/// Watches how far the basis Q of p(l)-CG has left orthonormality. Replicated: fed with reduced numbers only.
///
/// The recurrences of Q and of Z^(l) obey T to rounding, but |q_j|^2 is inferred, never measured, by G; its error grows
/// geometrically where the spectrum is wide, unseen until a square root fails long after CG's convergence is lost. So
/// |q_j|^2 is measured, l steps late, and the pipeline is restarted while what it leaves is still good. An error along
/// the low end of the spectrum, which costs most, is small in it: it shows in q_j along the last direction, as the part
/// of the last step that is missing, delta_{j-1} (q_j, M p_{j-1}).
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

  /// |q_j|^2, j in order. \param step the part of the last step that is missing; 0: not known
  void observe(double square, double step = 0) {
    namespace tuned = tuning::pipelined_cg::orthogonality;
    const double ofNorm = std::abs(square - 1), ofStep = std::abs(step);
    error_ = ofNorm > ofStep || std::isnan(ofNorm) ? ofNorm : ofStep;  // NaN of either
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
    const double more = left > tuned::lastDigits ? std::min(tuned::bearable * left, tuned::bearable) : 0;
    return !(error_ <= std::max(limit_, more));
  }

 private:
  double least_ = 0, most_ = 0, limit_ = 0, error_ = 0, largest_ = 0, mostGood_ = 0;
  bool good_ = true;
  int filling_ = 0;
};

}  // namespace capstan
