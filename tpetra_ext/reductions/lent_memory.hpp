#pragma once

/// \file
/// Memory of reductions, lent piece by piece and used again by whoever asks next.
///
/// A batch of products needs memory from the launch of its kernels until its results are read. Were it the batch's own,
/// each batch would have to grow once: and which of them carries the others' messages, or sees a long message first,
/// depends on the order in which right-hand sides converge. So the memory is nobody's own, and how much there is
/// depends on how much was in use at a time. To page-lock memory takes longer than a solve of a small system.

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace capstan::detail {

/// The pieces that are lent by a process, kept until Kokkos::finalize(). For several threads at once.
template <class Scalar, class Space>
class LentMemory {
 public:
  using View = Kokkos::View<Scalar*, Space>;

  /// A piece, as long as this lives: kernels that use it are done before.
  class Piece {
   public:
    Piece() = default;
    Piece(Piece&& other) noexcept : view_(std::exchange(other.view_, View())) {}
    Piece& operator=(Piece&& other) noexcept {
      std::swap(view_, other.view_);
      return *this;
    }
    ~Piece() { giveBack(); }

    /// At least `count` numbers, of any values. Keeps the piece it has where that is large enough.
    void take(std::size_t count) {
      if (view_.extent(0) >= count) return;
      giveBack();
      view_ = LentMemory::instance().lend(count);
    }
    void giveBack() noexcept {
      if (view_.extent(0) > 0) LentMemory::instance().takeBack(std::exchange(view_, View()));
    }
    bool taken() const { return view_.extent(0) > 0; }
    const View& view() const { return view_; }
    Scalar* data() const { return view_.data(); }

   private:
    View view_;
  };

 private:
  /// Sizes are powers of two, from 64 numbers on. Small pieces are made by the page, so that a few more in use at a
  /// time than ever before need no memory.
  static constexpr std::size_t least = 64, sizes = 40, page = 4096;
  /// Pieces so many sizes larger will do.
  static constexpr std::size_t mostTooLarge = 2;

  static LentMemory& instance() {
    // Not destroyed: pieces may come back when objects of the program are.
    static LentMemory& memory = *new LentMemory;
    return memory;
  }

  LentMemory() {
    Kokkos::push_finalize_hook([this] {
      const std::lock_guard<std::mutex> lock(mutex_);
      closed_ = true;
      for (auto& pieces : free_) pieces = {};
      pages_ = {};
    });
  }

  static std::size_t numberOf(std::size_t count) {
    std::size_t number = 0;
    while (least << number < count) ++number;
    return number;
  }

  View lend(std::size_t count) {
    const std::size_t wanted = numberOf(count);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (std::size_t number = wanted; number <= wanted + mostTooLarge; ++number) {
        if (free_[number].empty()) continue;
        View piece = std::move(free_[number].back());
        free_[number].pop_back();
        return piece;
      }
    }
    return make(wanted);
  }

  /// Makes a piece of this size, and what else a page has room for.
  View make(std::size_t number) {
    const std::size_t size = least << number, pieces = std::max<std::size_t>(1, page / size);
    const View all(Kokkos::view_alloc(Kokkos::WithoutInitializing, "capstan::ReductionBatch"), pieces * size);
    // Without a count of their own: Kokkos' counts are not atomic where it has no parallel backend, and tasks copy
    // views.
    const auto piece = [&](std::size_t k) { return View(all.data() + k * size, size); };
    const std::lock_guard<std::mutex> lock(mutex_);
    pages_.push_back(all);
    made_[number] += pieces;
    free_[number].reserve(made_[number]);  // so that to take them back needs no memory
    for (std::size_t k = 1; k < pieces; ++k) free_[number].push_back(piece(k));
    return piece(0);
  }

  void takeBack(View piece) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!closed_) free_[numberOf(piece.extent(0))].push_back(std::move(piece));
  }

  std::mutex mutex_;
  bool closed_ = false;  ///< Kokkos has been finalized
  std::array<std::vector<View>, sizes + mostTooLarge> free_;
  std::array<std::size_t, sizes> made_{};
  std::vector<View> pages_;  ///< what the pieces are of
};

}  // namespace capstan::detail
