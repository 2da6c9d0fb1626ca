#pragma once
/// \file
/// Do all ranks have the same cached state? Answered in a message that is sent anyway.

#include "tpetra_ext/reductions/reduction_batch.hpp"

namespace capstan {

/// Each rank's stamp s enters a batch as s, s^2 and 1. All stamps are equal if and only if n sum(s^2) = (sum s)^2
/// (Cauchy-Schwarz); the answer is the same on every rank because it comes from reduced numbers.
template <class Types>
class Agreement {
 public:
  using Scalar = typename Types::Scalar;
  using Batch = ReductionBatch<Types>;

  /// 0: this rank has no state. Stamps are small, so that the sums are exact.
  static int stampOf(long solves) { return 1 + static_cast<int>(solves % 15); }

  void enter(Batch& batch, int stamp) {
    const auto s = static_cast<Scalar>(stamp);
    sum_ = batch.value(s);
    squares_ = batch.value(s * s);
    count_ = batch.value(Scalar(1));
  }

  bool reached(const Batch& batch) const { return batch[count_] * batch[squares_] == batch[sum_] * batch[sum_]; }

 private:
  typename Batch::Slot sum_, squares_, count_;
};

}  // namespace capstan
