#pragma once

/// \file
/// Flops of this process's vector work, and the vector entries it reads and writes: that of BlockKernels and of the
/// batches of inner products. Tests hold the costs that methods declare against it.
///
/// Off unless enabled, for the vectors of a pass are compared with each other. The rules:
/// - A vector is read once in a pass over memory, and written once; one that the pass has written is not read from
///   memory any more.
/// - A factor of 1 or -1 is no flop. A term with factor 0 that the kernel does not read is nothing.
/// - What is stored in single precision is counted apart.
/// - A copy is a vector read and one written. Sums over a vector that travel with an exchange, products with A and M,
///   and what Tpetra does itself are not counted.

#include <cstddef>
#include <type_traits>
#include <vector>

namespace capstan {

/// What has been counted since clear(). Process-wide, for the one thread that drives the solver; local, never waits.
class VectorWork {
 public:
  void enable(bool on) { enabled_ = on; }
  bool enabled() const { return enabled_; }
  void clear() { flops_ = entries_ = singles_ = 0; }
  /// Of all local rows together.
  long long flops() const { return flops_; }
  /// Read and written, of all local rows together.
  long long entries() const { return entries_; }
  /// The same in single precision.
  long long singles() const { return singles_; }
  /// Of both.
  double bytes() const {
    return static_cast<double>(entries_) * sizeof(double) + static_cast<double>(singles_) * sizeof(float);
  }

 private:
  friend class VectorPass;
  bool enabled_ = false;
  long long flops_ = 0, entries_ = 0, singles_ = 0;
  std::vector<const void*> read_, written_;  ///< columns of the pass that is being counted
};

/// The count of this process.
VectorWork& vectorWork();

/// One pass over vectors of so many local rows, counted where counting is enabled. One at a time.
class VectorPass {
 public:
  explicit VectorPass(std::size_t rows);

  /// Whether it counts: callers skip what only describes the pass where it does not.
  bool counts() const { return work_ != nullptr; }
  /// The flops of a row.
  void flops(std::size_t ofRow);
  /// A column of the pass, by its address.
  void reads(const void* column, bool single = false);
  void writes(const void* column, bool single = false);
  /// The columns of a view of rank 2, LayoutLeft.
  template <class Block>
  void readsAll(const Block& block) {
    for (std::size_t j = 0; j < columnsOf(block); ++j) reads(block.data() + j * block.stride(1), isSingle<Block>);
  }
  template <class Block>
  void writesAll(const Block& block) {
    for (std::size_t j = 0; j < columnsOf(block); ++j) writes(block.data() + j * block.stride(1), isSingle<Block>);
  }
  /// z = a x + b y + c w; terms whose factor b or c is zero are not read.
  template <class Scalar>
  void combines(Scalar a, const void* x, Scalar b, const void* y, Scalar c, const void* w, const void* z) {
    reads(x);
    if (b != Scalar(0)) reads(y);
    if (c != Scalar(0)) reads(w);
    writes(z);
    flops(ofSum(a, b, c));
  }

  /// w = a w + b v + c u in the pass of a product, which has w at hand and writes it. v or u null: it has that at hand,
  /// too.
  template <class Scalar>
  void recurs(Scalar a, Scalar b, const void* v, Scalar c, const void* u) {
    if (b != Scalar(0) && v != nullptr) reads(v);
    if (c != Scalar(0) && u != nullptr) reads(u);
    flops(ofSum(a, b, c));
  }

 private:
  template <class Block>
  static constexpr bool isSingle = std::is_same_v<typename Block::non_const_value_type, float>;
  void adds(bool single);
  template <class Block>
  std::size_t columnsOf(const Block& block) const {
    return counts() ? block.extent(1) : 0;
  }
  /// Flops of three terms with these factors; the second and the third are left out where theirs is zero.
  template <class Scalar>
  static std::size_t ofSum(Scalar a, Scalar b, Scalar c) {
    return products(a) + products(b) + products(c) + (b != Scalar(0)) + (c != Scalar(0));
  }
  template <class Scalar>
  static std::size_t products(Scalar factor) {
    return factor != Scalar(0) && factor != Scalar(1) && factor != Scalar(-1) ? 1 : 0;
  }

  VectorWork* work_;  ///< null where nothing is counted
  long long rows_;
};

}  // namespace capstan
