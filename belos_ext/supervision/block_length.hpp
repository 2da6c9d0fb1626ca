#pragma once
/// \file
/// The number t of vectors in a block of pipelined CA-GMRES: fixed, or led by how its cycles went.
///
/// Additive growth, multiplicative retreat. What ends a cycle early is orthogonality lost over many blocks, which no
/// single block foretells (on real matrices cycles broke down at column conditions from 10 to 1e7), so t grows by one
/// after a cycle that went well and is halved by one that broke down. A long pipeline is not free either: the products
/// generated ahead are lost when a solve ends, so t also follows the number of iterations there are.

#include <algorithm>

#include "belos_ext/parameters/solver_options.hpp"

namespace capstan::tuning::block_length {
/// The largest t that is chosen automatically. Chosen.
inline constexpr int largest = 10;
/// t grows after cycles of a condition below this. Measured on real matrices: cycles broke down at conditions from 10
/// to 1e7, so that none foretells it.
inline constexpr double comfortable = 30;
/// t shrinks after cycles of a condition above this. Measured likewise.
inline constexpr double strained = 1e5;
/// t grows where a cycle was so many times as long as the pipeline would be. Chosen: what runs ahead is lost at the
/// end.
inline constexpr int longCycle = 3;
/// t shrinks where the only cycle was less than so many times as long as the pipeline. Chosen, likewise.
inline constexpr int shortCycle = 2;
}  // namespace capstan::tuning::block_length

namespace capstan {

/// Controls t. Replicated: fed with reduced numbers only, so it decides alike on all ranks.
class BlockLength {
 public:
  void configure(bool automatic, int asked) {
    automatic_ = automatic;
    current_ = asked;
    ceiling_ = tuning::block_length::largest;
  }
  void recall(int length) {
    if (automatic_ && length > 0) current_ = std::min(length, tuning::block_length::largest);
  }

  bool automatic() const { return automatic_; }
  int current() const { return current_; }

  /// Shortens it for good where more does not fit.
  void limit(int most) { current_ = std::max(1, std::min(current_, most)); }

  /// What an automatic t does not grow beyond.
  int ceiling() const { return ceiling_; }
  /// Longer ones have failed in an earlier solve.
  void keepTo(int most) {
    ceiling_ = std::min(ceiling_, most);
    limit(most);
  }

  /// A cycle of that many columns has ended well.
  /// \param condition the worst of its columns   \param depth blocks in flight
  /// \param whole the solve ended with it and had no other: its length is what solves need
  void succeeded(int columns, double condition, int depth, bool whole) {
    if (!automatic_) return;
    const int ahead = (depth + 1) * current_ - 1, next = ahead + depth + 1;
    if (condition > tuning::block_length::strained || (whole && columns < tuning::block_length::shortCycle * ahead)) {
      current_ = std::max(1, current_ - 1);
    } else if (condition < tuning::block_length::comfortable && columns >= tuning::block_length::longCycle * next) {
      current_ = std::min(current_ + 1, ceiling_);
    }
  }

  /// A cycle broke down. An automatic t does not grow back to where it failed in this solve.
  void failed() {
    ceiling_ = std::max(1, std::min(ceiling_, current_ - 1));
    current_ = std::max(1, current_ / 2);
  }

 private:
  bool automatic_ = true;
  int current_ = StepSizeOptions().stepSize, ceiling_ = tuning::block_length::largest;
};

}  // namespace capstan
