#pragma once
/// \file
/// || b - A x ||_1, where the tolerance is meant in that norm ("Residual Norm"), or a norm of the application's own.
///
/// Methods follow the residual in the 2-norm. The local part of the other norm is taken wherever b - A x is computed,
/// and travels in the reduction that brings the 2-norm of the same vector, so that no method has to know of it. Between
/// two computed residuals the ratio of the two norms stands for it; the ratio at the end of a solve is kept for the
/// next.

#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "tpetra_ext/reductions/reduction_batch.hpp"

namespace capstan {

/// A norm of the application's own: (the sum of part(r) over the ranks)^(1 / power).
struct HostNorm {
  /// This rank's part of a residual, a Types::MultiVector of one column. Collective; none: there is no such norm.
  std::function<double(const void*)> part;
  int power = 1;  ///< 1 or 2

  explicit operator bool() const { return static_cast<bool>(part); }
};

class ResidualMeasure {
 public:
  /// The norm that is meant; none: the 1-norm. Local; all ranks alike.
  void measureBy(HostNorm host) { host_ = std::move(host); }
  const HostNorm& host() const { return host_; }

  /// The sum of |r_i| over this rank's rows, or this rank's part of another norm: reduced with the next message. Local.
  void take(double local) {
    local_ = local;
    apart_ = false;
    pending_ = true;
  }
  /// (r, r) of the residual just taken goes along, where the method follows another vector. Local; all ranks alike.
  void takeSquare(double square) {
    square_ = square;
    apart_ = true;
  }

  /// Whether the norm of a residual that a method follows costs as much as half a product. What has been kept is the
  /// ratio to another residual's norm where that changes. Local; all ranks alike.
  void setCostly(bool costly) {
    if (costly != costly_) kept_ = 0;
    costly_ = costly;
  }
  bool isCostly() const { return costly_; }

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
    if (apart_) squares_ = batch.value(static_cast<Scalar>(square_)).offset;
  }

  /// After the reduction. Local.
  template <class Types>
  void read(const ReductionBatch<Types>& batch) {
    if (!entered_) return;
    using Slot = typename ReductionBatch<Types>::Slot;
    const auto number = [&](int offset) { return static_cast<double>(batch[Slot{offset, 1, 1}]); };
    value_ = host_.power == 2 ? std::sqrt(number(sum_)) : number(sum_);
    known_ = number(ratio_) / number(one_);
    twoNorm_ = apart_ ? std::sqrt(number(squares_)) : std::numeric_limits<double>::quiet_NaN();
    pending_ = entered_ = false;
  }

  /// || r ||_1 of the residual that was taken last and has been reduced.
  double value() const { return value_; }
  /// Its 2-norm, where the method's own is that of another vector; else NaN.
  double twoNorm() const { return twoNorm_; }

  /// || r ||_1, divided by the norm that the method follows, at the end of the last solve, the same on all ranks after
  /// a reduction; 0: nothing is known.
  double knownRatio() const { return known_; }
  void keepRatio(double ratio) { kept_ = ratio; }

 private:
  HostNorm host_;
  double local_ = 0, value_ = 0;
  double kept_ = 0, known_ = 0;
  double square_ = 0, twoNorm_ = std::numeric_limits<double>::quiet_NaN();
  bool pending_ = false, entered_ = false, apart_ = false, costly_ = false;
  int sum_ = 0, ratio_ = 0, one_ = 0, squares_ = 0;
};

}  // namespace capstan
