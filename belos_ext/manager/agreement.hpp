#pragma once
/// \file
/// Do all ranks have the same parameters and the same cached state, and do all begin at x = 0? Answered in a message
/// that is sent anyway.

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "belos_ext/parameters/parameter_overlay.hpp"
#include "tpetra_ext/reductions/reduction_batch.hpp"

namespace capstan {

/// Checksums of what this rank brings to a solve.
struct Brought {
  std::uint64_t parameters = 0;  ///< and of why they are refused, where they are
  std::uint64_t state = 0;
  bool refused = false;    ///< the solve is misuse, as this rank sees it
  bool asks = false;       ///< this rank's options depend on the symmetry of the matrix, which nobody has looked for
  bool zeroGuess = false;  ///< this rank's part of x is zero
  bool pipeline = false;   ///< its state has a WorkingPipeline: what the method begins with may depend on that
};

/// The ranks of a solve have different parameters, or all refuse them. Thrown on all of them alike, for the solver
/// manager to say what is wrong.
struct ParametersDiffer {};

/// A rank knows a WorkingPipeline, and the ranks have different state: they may have begun differently. Thrown on all
/// of them alike, before any of them has an iterate.
struct PipelinesDiffer {};

/// The question for right-hand sides that advance together: asked in their first reduction (Opening).
///
/// The checksums travel in pieces s of a few bits, each as s and s^2. All ranks have the same if and only if n sum(s^2)
/// = (sum s)^2 (Cauchy-Schwarz), the sums being exact; the answer is the same on every rank because it comes from
/// reduced numbers. 36 bits of each checksum are compared.
template <class Types>
class Agreement {
 public:
  using Scalar = typename Types::Scalar;
  using Batch = ReductionBatch<Types>;

  /// \param settled is told whether all ranks have the same cached state, once that is known and the parameters are
  /// alike. It may communicate; it is called on all ranks alike. May be empty
  explicit Agreement(const Brought& brought, std::function<void(bool)> settled = {})
      : brought_(brought), whenSettled_(std::move(settled)) {}

  /// Adds the question to a batch, if it has not been asked yet.
  void enter(Batch& batch) {
    if (asked_) return;
    asked_ = true;
    count_ = batch.value(Scalar(1));
    asks_ = batch.value(Scalar(brought_.asks ? 1 : 0));
    others_ = batch.value(Scalar(brought_.zeroGuess ? 0 : 1));
    pipelines_ = batch.value(Scalar(brought_.pipeline ? 1 : 0));
    parameters_ = pieces(batch, brought_.parameters);
    state_ = pieces(batch, brought_.state);
  }

  /// Reads the answer once that batch is reduced. Throws ParametersDiffer, or PipelinesDiffer; SymmetryAsked where a
  /// rank asks.
  void settle(const Batch& batch) {
    if (settled_) return;
    settled_ = true;
    if (batch[asks_] != Scalar(0)) throw SymmetryAsked();
    if (!alike(batch, parameters_) || brought_.refused) throw ParametersDiffer();
    onZeroGuess_ = batch[others_] == Scalar(0);
    onState_ = alike(batch, state_);
    if (!onState_ && batch[pipelines_] != Scalar(0)) throw PipelinesDiffer();
    if (whenSettled_) whenSettled_(onState_);
  }

  /// Whether cached state is the same on all ranks. False before it is known.
  bool onState() const { return onState_; }

  /// Whether all of x is zero. False before it is known.
  bool onZeroGuess() const { return onZeroGuess_; }

 private:
  struct Piece {
    typename Batch::Slot sum, squares;
  };

  // n s^2 is exact for any number of ranks in double, and up to 74565 in float.
  static constexpr int bits = std::numeric_limits<Scalar>::digits >= 53 ? 12 : 4;
  static constexpr int count = 36 / bits;

  static std::vector<Piece> pieces(Batch& batch, std::uint64_t checksum) {
    std::vector<Piece> all;
    for (int k = 0; k < count; ++k, checksum >>= bits) {
      const auto s = static_cast<Scalar>(checksum & ((1U << bits) - 1));
      const auto sum = batch.value(s);
      all.push_back({sum, batch.value(s * s)});
    }
    return all;
  }

  bool alike(const Batch& batch, const std::vector<Piece>& all) const {
    const Scalar n = batch[count_];
    for (const Piece& piece : all) {
      const Scalar s = batch[piece.sum], q = batch[piece.squares];
      // Both products exactly, as a sum of two numbers each: one rank among many changes the last digits alone.
      if (n * q != s * s || std::fma(n, q, -(n * q)) != std::fma(s, s, -(s * s))) return false;
    }
    return true;
  }

  Brought brought_;
  std::function<void(bool)> whenSettled_;
  bool asked_ = false, settled_ = false, onState_ = false, onZeroGuess_ = false;
  typename Batch::Slot count_, asks_, others_, pipelines_;
  std::vector<Piece> parameters_, state_;
};

}  // namespace capstan
