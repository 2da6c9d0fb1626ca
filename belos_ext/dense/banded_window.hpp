#pragma once
/// \file
/// The last columns of a banded upper triangular matrix that grows column by column.

#include <vector>

namespace capstan {

/// Entry (row, column) of a matrix whose column c has nonzeros in rows [c - bandwidth, c] only. The last `kept` columns
/// are stored; entries outside the band, and with a negative index, read as zero. Replicated, local.
template <class Scalar>
class BandedWindow {
 public:
  void reset(int bandwidth, int kept) {
    bandwidth_ = bandwidth;
    kept_ = kept;
    entries_.assign(static_cast<std::size_t>((bandwidth + 1) * kept), Scalar(0));
  }

  Scalar operator()(int row, int column) const {
    return row < 0 || column < row || column - row > bandwidth_ ? Scalar(0) : entries_[index(row, column)];
  }

  /// For writing; the entry must lie in the band.
  Scalar& at(int row, int column) { return entries_[index(row, column)]; }

 private:
  std::size_t index(int row, int column) const {
    return static_cast<std::size_t>((column % kept_) * (bandwidth_ + 1) + column - row);
  }

  int bandwidth_ = 0, kept_ = 1;
  std::vector<Scalar> entries_;
};

}  // namespace capstan
