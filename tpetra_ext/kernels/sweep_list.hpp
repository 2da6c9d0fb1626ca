#pragma once
/// \file
/// A fused pass over a list of recurrences whose length is known only at run time: pipelined methods of depth l update
/// 3 l + 4 vectors an iteration.
///
/// Same meaning as sweep(): operations act in order on every row, memory is read once. Local, asynchronous. To a device
/// a list travels in the smallest of three sizes that holds it: short ones, a three-term recurrence or the pipeline of
/// depth 1, are as small as the arguments of sweep().

#include <algorithm>
#include <stdexcept>
#include <string>

#include "tpetra_ext/kernels/sweep.hpp"

namespace capstan::kernels {

namespace detail {

/// A list of at most `Most` operations as it travels to a device.
template <class T, int Most>
struct SweepArguments {
  int count;
  CombineRef<T> operations[Most];

  KOKKOS_INLINE_FUNCTION void operator()(std::ptrdiff_t i) const {
    for (int k = 0; k < count; ++k) operations[k](i);
  }
};

/// Operations that travel as cheaply as the arguments of any kernel; that CUDA takes as arguments when told to; any.
constexpr int shortSweep = 7, longSweep = 64, longestSweep = 96;
static_assert(sizeof(SweepArguments<double, shortSweep>) <= smallArguments,
              "short sweeps would travel through constant memory");
static_assert(sizeof(SweepArguments<double, longSweep>) <= largeArguments, "CUDA takes no such arguments");

template <int Most, class Exec, class T>
void sweepAtMost(Queue<Exec>& queue, std::ptrdiff_t n, const CombineRef<T>* operations, int count) {
  SweepArguments<T, Most> arguments;
  arguments.count = count;
  std::copy_n(operations, count, arguments.operations);
  sweepOn(GenericPath(), queue, n, arguments);
}

}  // namespace detail

/// Up to `capacity` operations z = a x + b y + c w on vectors of one length.
template <class T>
class SweepList {
 public:
  static constexpr int capacity = detail::longestSweep;

  SweepList() = default;
  SweepList(const SweepList& other) : count_(other.count_) {
    std::copy_n(other.operations_, other.count_, operations_);
  }
  SweepList& operator=(const SweepList&) = delete;

  /// z = a x + b y; with b == 0, y is not read. \tparam Exec where the list will be executed
  template <class Exec, class ViewX, class ViewY, class ViewZ>
  void add(std::ptrdiff_t n, T a, const ViewX& x, T b, const ViewY& y, const ViewZ& z) {
    next() = detail::combineRef<Exec>(detail::Combine<ViewX, ViewY, ViewZ>{a, x, b, y, z}, n);
  }

  /// z = a x + b y + c w; terms whose factor b or c is zero are not read.
  template <class Exec, class ViewX, class ViewY, class ViewW, class ViewZ>
  void add(std::ptrdiff_t n, T a, const ViewX& x, T b, const ViewY& y, T c, const ViewW& w, const ViewZ& z) {
    if (b == T(0)) return add<Exec>(n, a, x, c, w, z);
    auto& operation = next();
    operation = detail::combineRef<Exec>(detail::Combine<ViewX, ViewY, ViewZ>{a, x, b, y, z}, n);
    operation.c = c;
    operation.w = detail::vectorData<Exec>(w, n, "sweep", "w");
  }

  void clear() { count_ = 0; }
  int size() const { return count_; }

  const detail::CombineRef<T>* begin() const { return operations_; }
  void run(std::ptrdiff_t first, std::ptrdiff_t rows) const {
    for (int k = 0; k < count_; ++k) operations_[k].run(first, rows);
  }

 private:
  detail::CombineRef<T>& next() {
    if (count_ == capacity) {
      throw std::length_error("capstan::kernels::SweepList: more than " + std::to_string(capacity) + " operations");
    }
    return operations_[count_++];
  }

  int count_ = 0;
  detail::CombineRef<T> operations_[capacity];
};

namespace detail {

template <class Exec, class T>
void sweepListOn(HostPath, Queue<Exec>& queue, std::ptrdiff_t n, const SweepList<T>& list) {
  sweepOn(HostPath(), queue, n, list);
}

template <class Exec, class T>
void sweepListOn(GenericPath, Queue<Exec>& queue, std::ptrdiff_t n, const SweepList<T>& list) {
  if (list.size() <= shortSweep) {
    sweepAtMost<shortSweep>(queue, n, list.begin(), list.size());
  } else if (list.size() <= longSweep) {
    sweepAtMost<longSweep>(queue, n, list.begin(), list.size());
  } else {
    sweepAtMost<longestSweep>(queue, n, list.begin(), list.size());
  }
}

}  // namespace detail

/// Executes the list on rows [0, n) in one pass.
template <class Path = AutoPath, class Exec, class T>
void sweep(Queue<Exec>& queue, std::ptrdiff_t n, const SweepList<T>& list) {
  if (n <= 0 || list.size() == 0) return;
  detail::onPath<Path, Exec>("recurrences", [=, &queue](auto path) { detail::sweepListOn(path, queue, n, list); });
}

}  // namespace capstan::kernels
