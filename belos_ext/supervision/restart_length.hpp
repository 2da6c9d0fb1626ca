#pragma once
/// \file
/// The restart length where neither the application nor the user names one: Belos' default, so that a changed name of
/// the solver alone costs no iterations, or less where the basis would take too much memory on some rank; and whether
/// there is room for a second basis.

#include <algorithm>
#include <array>
#include <cstddef>

#include "belos_ext/parameters/solver_options.hpp"
#include "tpetra_ext/reductions/reduction_batch.hpp"

namespace capstan::tuning::gmres {
/// The restart lengths tried where Belos' default needs too much memory; the first stands for the one wanted. Chosen.
inline constexpr std::array<int, 8> shorterRestarts = {0, 200, 150, 100, 70, 50, 30, 20};
/// The first restart length where GMRES goes on for another method. Chosen: storage that nobody asked for.
inline constexpr int fallbackRestart = 30;
/// A cycle that leaves more than this part of the residual doubles the length of the next one there. Chosen.
inline constexpr double fallbackGain = 0.5;
}  // namespace capstan::tuning::gmres

namespace capstan {

/// Ranks may have room for different numbers of vectors, and restart alike: each says in a reduction that is there
/// anyway which of a few lengths are too much for it.
template <class Types>
class RestartLength {
 public:
  using Batch = ReductionBatch<Types>;
  using Scalar = typename Types::Scalar;

  /// Takes the options of a solve. Local.
  void configure(const RestartOptions& options, KeepBasis keep) {
    wanted_ = options.numBlocks;
    open_ = !options.numBlocksGiven;
    memory_ = options.basisMemory;
    keep_ = keep;
  }

  /// As many numbers whatever the options: where ranks have different ones, this very reduction finds it out.
  /// \param vectorBytes local bytes that each iteration of a cycle adds   \param keptBytes those of a vector kept
  /// besides
  void enter(Batch& batch, double vectorBytes, double keptBytes) {
    const bool both = (vectorBytes + keptBytes) * (wanted_ + 1.0) <= memory_;
    noRoom_ = batch.value(keep_ == KeepBasis::On || (keep_ == KeepBasis::Auto && both) ? Scalar(0) : Scalar(1));
    if (keep_ == KeepBasis::On) vectorBytes += keptBytes;
    for (std::size_t i = 0; i < shorter.size(); ++i) {
      const bool tooMuch = open_ && vectorBytes * (lengthOf(i) + 1.0) > memory_;
      tooMuch_[i] = batch.value(tooMuch ? Scalar(1) : Scalar(0));
    }
  }

  /// The length all ranks have room for. After the reduction of the batch.
  int agreed(const Batch& batch) const {
    if (!open_) return wanted_;
    std::size_t i = 0;
    while (i + 1 < shorter.size() && batch[tooMuch_[i]] > Scalar(0)) ++i;
    return lengthOf(i);
  }

  /// Whether all ranks keep the preconditioned basis. After the reduction of the batch.
  bool keeps(const Batch& batch) const { return batch[noRoom_] == Scalar(0); }

  int wanted() const { return wanted_; }

 private:
  int lengthOf(std::size_t i) const { return std::min(wanted_, i == 0 ? wanted_ : shorter[i]); }

  /// The first stands for the one wanted.
  static constexpr auto& shorter = tuning::gmres::shorterRestarts;

  int wanted_ = 0;
  bool open_ = false;
  double memory_ = 0;
  KeepBasis keep_ = KeepBasis::Auto;
  typename Batch::Slot noRoom_;
  std::array<typename Batch::Slot, shorter.size()> tooMuch_;
};

}  // namespace capstan
