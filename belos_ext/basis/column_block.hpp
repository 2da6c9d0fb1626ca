#pragma once
/// \file
/// A block of columns of which the first few are in use, as directions are dropped.

#include <Teuchos_RCP.hpp>
#include <vector>

#include "belos_ext/problem/linear_system.hpp"

namespace capstan {

/// n x t on the map of a vector, kept for later solves on that map. Views of it are made once.
template <class Types>
class ColumnBlock {
 public:
  using MultiVector = typename Types::MultiVector;

  /// Makes what is missing for `columns` columns like a vector. Collective where it allocates.
  void prepare(const MultiVector& like, int columns) {
    const auto map = like.getMap();
    const auto wanted = static_cast<std::size_t>(columns);
    if (!all_.is_null() && all_->getMap().get() == map.get() && all_->getNumVectors() >= wanted) return;
    all_ = Teuchos::rcp(new MultiVector(map, wanted));
    ranges_.clear();
  }

  /// Columns first to first + count - 1, contiguous. Local.
  MultiVector& columns(int first, int count) {
    for (const auto& range : ranges_) {
      if (range.first == first && range.count == count) return *range.view;
    }
    const Teuchos::Range1D numbers(first, first + count - 1);
    ranges_.push_back({first, count, all_->subViewNonConst(numbers)});
    return *ranges_.back().view;
  }
  MultiVector& columns(int count) { return columns(0, count); }
  MultiVector& column(int number) { return columns(number, 1); }

  /// Moves columns to the front: column numbers[i] goes to target + i. The numbers ascend, and none is below its
  /// target. Local.
  void gather(LinearSystem<Types>& system, const std::vector<int>& numbers, int target = 0) {
    for (const int number : numbers) {
      if (number != target) system.kernels().scale(typename Types::Scalar(1), column(number), column(target));
      ++target;
    }
  }

  friend void swap(ColumnBlock& one, ColumnBlock& other) noexcept {
    std::swap(one.all_, other.all_);
    std::swap(one.ranges_, other.ranges_);
  }

 private:
  struct Range {
    int first, count;
    Teuchos::RCP<MultiVector> view;
  };

  Teuchos::RCP<MultiVector> all_;
  std::vector<Range> ranges_;
};

}  // namespace capstan
