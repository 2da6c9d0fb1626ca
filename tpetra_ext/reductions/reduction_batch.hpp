#pragma once

/// \file
/// Any mix of dot products, norms, Gram blocks and plain numbers, reduced over the ranks in one message.

#include <Kokkos_Core.hpp>
#include <Teuchos_RCP.hpp>
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "tpetra_ext/kernels/base/execution.hpp"
#include "tpetra_ext/reductions/pending_reduction.hpp"
#include "tpetra_ext/single_columns.hpp"
#include "tpetra_ext/types.hpp"

namespace capstan {

/// Sums numbers over the ranks in a way of its own, in place of MPI_Allreduce.
template <class Scalar>
class Summation {
 public:
  /// Launches kernels of its own, beside those of the batches; whether there are any. They are complete when sum() is
  /// called. Local.
  virtual bool launch() = 0;
  /// data[0..count) <- its sum over all ranks, the same on each. Collective, also for count == 0.
  virtual void sum(Scalar* data, int count) = 0;

 protected:
  ~Summation() = default;
};

/// Collects inner products, norms and sums, and reduces them together.
///
/// Use: add inner products, each of which returns the Slot of its result; reduce(), or start() and later wait(); read
/// the slots; clear(); again. Products are evaluated at reduce() or start(), with the values the vectors have then, and
/// the batch lets go of the vectors there. Memory is lent (lent_memory.hpp) until clear(): after the first use with the
/// same shapes nothing is allocated, whichever batch had them. All calls are made alike on all ranks; only reduce(),
/// start()..wait(), reduceTogether() and startTogether()..wait() communicate.
///
/// Column views of a larger MultiVector, MultiVectors without constant stride (copied, hence an allocation) and ranks
/// without rows are fine. For locally replicated MultiVectors the result is the local one, of rank 0, not a sum over
/// ranks.
///
/// Misuse throws before anything is sent: std::invalid_argument for operands that do not match each other or the
/// communicator, std::logic_error for calls out of turn. Different local lengths under equal global ones are found only
/// by the ranks that have them.
template <class Types>
class ReductionBatch {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using PinnedSpace = kernels::PinnedSpace<typename Types::ExecutionSpace>;
  /// Column-major block of results, readable on the host and by kernels.
  using SmallView = Kokkos::View<Scalar**, Kokkos::LayoutLeft, PinnedSpace>;

  /// Where a result is: rows x cols numbers, column by column, from `offset` in the message. Of a symmetric result the
  /// message has the upper triangle of the leading square, and the columns after it.
  struct Slot {
    int offset = 0;
    int rows = 0;
    int cols = 0;
    bool symmetric = false;

    /// Numbers in the message.
    int size() const { return symmetric ? begin(rows) + rows * (cols - rows) : rows * cols; }
    /// Where entry (i, j) is in the message.
    int place(int i, int j) const {
      if (!symmetric) return offset + i + j * rows;
      if (j >= rows) return offset + begin(rows) + i + (j - rows) * rows;
      return offset + (i <= j ? i + begin(j) : j + begin(i));
    }

   private:
    /// Of column j in a triangle that is stored by columns.
    static int begin(int j) { return j * (j + 1) / 2; }
  };

  explicit ReductionBatch(Teuchos::RCP<const Teuchos::Comm<int>> comm);
  ~ReductionBatch();
  ReductionBatch(ReductionBatch&&) noexcept;
  ReductionBatch& operator=(ReductionBatch&&) noexcept;

  /// Column by column x(:,j)^T y(:,j): cols(x) x 1. Dots and norms of one batch share one pass over the vectors.
  Slot dot(const MultiVector& x, const MultiVector& y);

  /// Squared 2-norm of each column of x: cols(x) x 1.
  Slot norm2(const MultiVector& x);

  /// The operands of one dot(), and the weights of x^T W y, W a diagonal: a single vector like x; null: W = 1.
  struct Pair {
    const MultiVector& x;
    const MultiVector& y;
    const MultiVector* weights = nullptr;
  };
  /// What dot() makes of each pair, in their order. Each vector is looked at once, however many products it is in.
  template <std::size_t N>
  std::array<Slot, N> dots(const Pair (&pairs)[N]) {
    std::array<Slot, N> slots;
    enterDots(pairs, N, slots.data());
    return slots;
  }

  /// X^T y for a single vector y, as innerProducts() has it, but in the pass of dot(): cols(X) x 1. For a few columns.
  Slot dotsWithEach(const MultiVector& X, const MultiVector& y);

  /// The sum of the entries of a single vector: 1 x 1.
  Slot sum(const MultiVector& x);

  /// X^T Y: cols(X) x cols(Y).
  Slot innerProducts(const MultiVector& X, const MultiVector& Y);

  /// X^T Y, of which the square of the first cols(X) columns is known to be symmetric: cols(X) x cols(Y), cols(Y) >=
  /// cols(X). Each pair is computed, and sent, once. By read().
  Slot symmetricProducts(const MultiVector& X, const MultiVector& Y);

  /// B^T B(:, first:end): cols(B) x (cols(B) - first), B read once.
  Slot trailingGram(const MultiVector& B, int first);

  /// [Q B]^T B(:, first:end), Q in single precision: (cols(Q) + cols(B)) x (cols(B) - first), Q and B read once.
  Slot trailingGram(const SingleColumns<Types>& Q, const MultiVector& B, int first);

  /// Theta X, a sketch of X (kernels/sketch.hpp): rows x cols(X), the same on any number of ranks, but for the order of
  /// sums, where rows are numbered one after the other. \param rows kernels::isSketchHeight()
  Slot sketch(const MultiVector& X, int rows);

  /// A number of which every rank gives its part; 1 x 1.
  Slot value(Scalar localContribution);

  /// Numbers that no rank gives anything to, for a message of a size that depends on nothing: numbers x 1, zeros.
  Slot room(int numbers);

  /// Numbers that the message will have. Local.
  int numbers() const;

  /// Local kernels, one fence, one blocking all-reduce. Collective. An empty batch sends nothing. Throws
  /// std::runtime_error when MPI reports an error.
  void reduce();

  /// The same without waiting. Collective; the result is there after wait() of the handle.
  PendingReduction<Types> start();

  /// The single number of a 1 x 1 slot. Local; throws std::logic_error before the reduction is complete.
  Scalar operator[](const Slot& slot) const;

  /// The result of a slot; valid until the next reduce(), start() or the end of the batch. Local; throws
  /// std::logic_error before the reduction is complete, std::invalid_argument for a symmetric result.
  SmallView view(const Slot& slot) const;

  /// Writes entry (i, j) of any result to `to[i + j * leading]`. Local; throws std::logic_error before the reduction is
  /// complete.
  void read(const Slot& slot, Scalar* to, int leading) const;

  /// Forgets the products and results, keeps the buffers. Local; throws std::logic_error while a reduction is in
  /// flight.
  void clear();

  /// Reduces several batches over the same communicator in one message, with one fence. Collective.
  static void reduceTogether(const std::vector<ReductionBatch*>& batches);

  /// The same by a summation over the same ranks, which is called once, also where there is nothing to sum. It counts
  /// as a blocking reduction. Collective; throws what the summation throws.
  static void reduceTogether(const std::vector<ReductionBatch*>& batches, Summation<Scalar>& summation);

  /// The same without waiting: one handle for each batch, in their order. The first wait() completes all of them.
  /// Collective.
  static std::vector<PendingReduction<Types>> startTogether(const std::vector<ReductionBatch*>& batches);

 private:
  void enterDots(const Pair* pairs, std::size_t count, Slot* slots);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace capstan
