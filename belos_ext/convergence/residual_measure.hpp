#pragma once
/// \file
/// || b - A x ||_1, where the tolerance is meant in that norm ("Residual Norm").
///
/// Methods follow the residual in the 2-norm. The local part of the 1-norm is taken wherever b - A x is computed, and
/// travels in the reduction that brings the 2-norm of the same vector, so that no method has to know of it. Between two
/// computed residuals the ratio of the two norms stands for it; the ratio at the end of a solve is kept for the next.

#include "tpetra_ext/reductions/reduction_batch.hpp"

namespace capstan {

class ResidualMeasure {
 public:
  /// The sum of |r_i| over this rank's rows: reduced with the next message. Local.
  void take(double local) {
    local_ = local;
    pending_ = true;
  }

  /// Enters what was taken; all ranks alike. Local.
  template <class Types>
  void enter(ReductionBatch<Types>& batch) {
    using Scalar = typename Types::Scalar;
    entered_ = pending_;
    if (!entered_) return;
    sum_ = batch.value(static_cast<Scalar>(local_)).offset;
    // Ranks with another past must not judge by another ratio.
    ratio_ = batch.value(static_cast<Scalar>(kept_)).offset;
    one_ = batch.value(Scalar(1)).offset;
  }

  /// After the reduction. Local.
  template <class Types>
  void read(const ReductionBatch<Types>& batch) {
    if (!entered_) return;
    using Slot = typename ReductionBatch<Types>::Slot;
    const auto number = [&](int offset) { return static_cast<double>(batch[Slot{offset, 1, 1}]); };
    value_ = number(sum_);
    known_ = number(ratio_) / number(one_);
    pending_ = entered_ = false;
  }

  /// || r ||_1 of the residual that was taken last and has been reduced.
  double value() const { return value_; }

  /// || r ||_1 / || r ||_2 at the end of the last solve, the same on all ranks after a reduction; 0: nothing is known.
  double knownRatio() const { return known_; }
  void keepRatio(double ratio) { kept_ = ratio; }

 private:
  double local_ = 0, value_ = 0;
  double kept_ = 0, known_ = 0;
  bool pending_ = false, entered_ = false;
  int sum_ = 0, ratio_ = 0, one_ = 0;
};

}  // namespace capstan
