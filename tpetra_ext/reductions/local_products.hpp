#pragma once

/// \file
/// The local half of a ReductionBatch: the inner products it was asked for, evaluated into one message.
///
/// Used by reduction_batch.cpp only.

#include <Kokkos_Core.hpp>
#include <Teuchos_Comm.hpp>
#include <Tpetra_Map.hpp>
#include <Tpetra_MultiVector.hpp>
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tpetra_ext/kernels/base/fence.hpp"
#include "tpetra_ext/kernels/base/leased_buffers.hpp"
#include "tpetra_ext/kernels/dots.hpp"
#include "tpetra_ext/kernels/inner_products.hpp"
#include "tpetra_ext/kernels/sketch.hpp"
#include "tpetra_ext/reductions/batch_operands.hpp"
#include "tpetra_ext/reductions/lent_memory.hpp"
#include "tpetra_ext/reductions/reduction_batch.hpp"
#include "tpetra_ext/reductions/vector_work.hpp"

namespace capstan::detail {

inline std::invalid_argument operandError(const char* call, const std::string& text) {
  return std::invalid_argument(std::string("capstan::ReductionBatch::") + call + ": " + text);
}

/// The numbers of a rank's rows, for a sketch: global ones where they are one after the other, the same on any number
/// of ranks; else those on the rank, and another Theta for each.
template <class Map>
kernels::SketchedRows sketchedRows(const Map& map) {
  if (map.isContiguous()) return {static_cast<std::uint64_t>(map.getMinGlobalIndex() - map.getIndexBase()), 0};
  return {0, kernels::mixed(static_cast<std::uint64_t>(map.getComm()->getRank()) + 1)};
}

/// Inner products asked for and not yet evaluated, and the layout of the message they make. Everything here is local.
template <class Types>
class LocalProducts {
 public:
  using Batch = ReductionBatch<Types>;
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using ExecutionSpace = typename Types::ExecutionSpace;
  using Queue = kernels::Queue<ExecutionSpace>;
  using Slot = typename Batch::Slot;
  using Singles = SingleColumns<Types>;
  using Memory = LentMemory<Scalar, typename Batch::PinnedSpace>;
  using Piece = typename Memory::Piece;

  LocalProducts(Queue& queue, int rank, int ranks) : queue_(queue), rank_(rank), ranks_(ranks) {}
  ~LocalProducts() { waitForKernels(); }
  LocalProducts(const LocalProducts&) = delete;
  LocalProducts& operator=(const LocalProducts&) = delete;

  Slot addDots(const char* call, const MultiVector& x, const MultiVector& y);
  void addDots(const char* call, const typename Batch::Pair* pairs, std::size_t count, Slot* slots);
  Slot addDotsWithEach(const MultiVector& X, const MultiVector& y);
  Slot addSum(const MultiVector& x);
  Slot addInnerProducts(const MultiVector& X, const MultiVector& Y);
  Slot addSymmetricProducts(const MultiVector& X, const MultiVector& Y);
  Slot addTrailingGram(const Singles& Q, const MultiVector& B, int first);
  Slot addSketch(const MultiVector& X, int rows);
  Slot addValue(Scalar value);
  Slot addRoom(int numbers);

  /// Numbers in the layout.
  int size() const { return size_; }
  /// Numbers to be summed over the ranks: none when every rank has all results already.
  int messageSize() const { return replicatedSize_ == size_ ? 0 : size_; }
  bool hasKernels() const { return !blocks_.empty() || !dots_.empty() || !sums_.empty() || !sketches_.empty(); }

  /// Starts the kernels that write into `message`, which it makes large enough. No view outlives the call.
  void launch(Piece& message);
  /// After the fence: completes the message on the host and lets go of the vectors.
  void collect(const Piece& message);
  void reset();
  /// Where something has failed between launch() and collect(), kernels may still use memory that is about to be
  /// others'.
  void waitForKernels();

 private:
  using Operands = BatchOperands<MultiVector>;
  using Views = typename Operands::Views;
  using Pair = kernels::detail::VectorPair<Scalar>;
  static constexpr int noGram = -1;

  /// Operands by their number.
  struct Block {
    std::size_t X, Y;
    int first;  // noGram: X^T Y; else [Q X]^T X(:, first:end)
    Slot slot;
    Singles Q = {};  // columns in single precision; no columns: none
  };
  struct Column {
    std::size_t operand, number;
  };
  static constexpr std::size_t noWeights = static_cast<std::size_t>(-1);
  struct Dot {
    Column x, y;
    std::size_t weights;  ///< an operand of one column, or noWeights
    int offset;
  };
  struct Sum {
    std::size_t x;
    int offset;
  };
  struct Value {
    Scalar value;
    int offset, count;
  };
  struct Sketch {
    std::size_t X;
    Slot slot;
    kernels::SketchedRows rows;
  };

  /// Dot products over so many rows, one after the other in the list.
  struct Run {
    std::size_t rows;
    std::size_t pairs;
  };

  void requireOperands(const char* call, const MultiVector& x, const MultiVector& y);
  Slot addProducts(const char* call, const MultiVector& x, const MultiVector& y, const MultiVector* weights = nullptr);
  void compareOperands(const char* call, const MultiVector& x, const MultiVector& y) const;
  void addDot(std::size_t rows, const Dot& dot);
  Slot addSlot(std::size_t rows, std::size_t cols, bool distributed, bool symmetric = false);
  Slot addBlocks(const MultiVector& X, const MultiVector& Y, const Slot& slot);
  void dropOperands();
  static void count(const Block& block, const Views& views);
  static void countDots(const Run& run, const Pair* pairs);
  void makeRoom(Piece& message);
  void launchBlocks(const Views& views, const Piece& message);
  void launchDots(const Views& views);
  void launchSums(const Views& views, const Piece& message);
  void launchSketches(const Views& views, const Piece& message);

  Queue& queue_;
  int rank_, ranks_;
  int size_ = 0;
  int replicatedSize_ = 0;
  Operands operands_;  // what blocks_, dots_ and sums_ are of
  std::vector<Block> blocks_;
  std::vector<Dot> dots_;
  std::vector<Run> runs_;
  std::vector<Pair> pairs_;  // of dots_, where they are launched
  std::vector<Sum> sums_;
  std::vector<Value> values_;
  std::vector<Sketch> sketches_;
  std::vector<Slot> replicated_;  // results that every rank has already: rank 0 alone contributes
  Piece dotResults_;
  Piece wholes_;                                   // symmetric results, before half of each goes into the message
  bool launched_ = false;                          // and not collected
  Teuchos::RCP<const typename Types::Map> known_;  // operands on it go together
};

/// Most products are of vectors with one and the same map: that is enough.
template <class Types>
void LocalProducts<Types>::requireOperands(const char* call, const MultiVector& x, const MultiVector& y) {
  const auto map = x.getMap();
  const bool together = map.get() == y.getMap().get();
  if (together && map.get() == known_.get()) return;
  compareOperands(call, x, y);
  if (together) known_ = map;
}

template <class Types>
void LocalProducts<Types>::compareOperands(const char* call, const MultiVector& x, const MultiVector& y) const {
  for (const MultiVector* operand : {&x, &y}) {
    if (const int has = operand->getMap()->getComm()->getSize(); has != ranks_) {
      throw operandError(call, "a vector lives on " + std::to_string(has) + " ranks, the batch reduces over " +
                                   std::to_string(ranks_));
    }
  }
  if (x.getGlobalLength() != y.getGlobalLength()) {
    throw operandError(call, "the vectors have " + std::to_string(x.getGlobalLength()) + " and " +
                                 std::to_string(y.getGlobalLength()) + " global rows; they must have the same map");
  }
  if (x.isDistributed() != y.isDistributed()) {
    throw operandError(call, "one vector is distributed and the other replicated; they must have the same map");
  }
  if (x.getLocalLength() != y.getLocalLength()) {
    throw operandError(call, "the vectors have " + std::to_string(x.getLocalLength()) + " and " +
                                 std::to_string(y.getLocalLength()) + " rows on rank " + std::to_string(rank_) +
                                 "; they must have the same map");
  }
}

template <class Types>
auto LocalProducts<Types>::addSlot(std::size_t rows, std::size_t cols, bool distributed, bool symmetric) -> Slot {
  const Slot slot{size_, static_cast<int>(rows), static_cast<int>(cols), symmetric};
  size_ += slot.size();
  if (!distributed && ranks_ > 1) {
    replicated_.push_back(slot);
    replicatedSize_ += slot.size();
  }
  return slot;
}

template <class Types>
auto LocalProducts<Types>::addDots(const char* call, const MultiVector& x, const MultiVector& y) -> Slot {
  operands_.beginCall();
  return addProducts(call, x, y);
}

template <class Types>
void LocalProducts<Types>::addDots(const char* call, const typename Batch::Pair* pairs, std::size_t count,
                                   Slot* slots) {
  operands_.beginCall();
  for (std::size_t k = 0; k < count; ++k) slots[k] = addProducts(call, pairs[k].x, pairs[k].y, pairs[k].weights);
}

template <class Types>
auto LocalProducts<Types>::addProducts(const char* call, const MultiVector& x, const MultiVector& y,
                                       const MultiVector* weights) -> Slot {
  requireOperands(call, x, y);
  const std::size_t columns = x.getNumVectors();
  if (columns != y.getNumVectors()) {
    throw operandError(call, "the operands have " + std::to_string(columns) + " and " +
                                 std::to_string(y.getNumVectors()) + " columns; they must have the same number");
  }
  if (weights != nullptr) {
    requireOperands(call, x, *weights);
    if (weights->getNumVectors() != 1) {
      throw operandError(call,
                         "the weights have " + std::to_string(weights->getNumVectors()) + " columns, must have one");
    }
  }
  const Slot slot = addSlot(columns, 1, x.isDistributed());
  if (columns == 0) return slot;
  const std::size_t left = operands_.enter(x), right = operands_.enter(y);
  const std::size_t diagonal = weights != nullptr ? operands_.enter(*weights) : noWeights;
  for (std::size_t j = 0; j < columns; ++j) {
    addDot(x.getLocalLength(), {{left, j}, {right, j}, diagonal, slot.offset + static_cast<int>(j)});
  }
  return slot;
}

template <class Types>
void LocalProducts<Types>::addDot(std::size_t rows, const Dot& dot) {
  if (runs_.empty() || runs_.back().rows != rows) runs_.push_back({rows, 0});
  ++runs_.back().pairs;
  dots_.push_back(dot);
}

template <class Types>
auto LocalProducts<Types>::addSum(const MultiVector& x) -> Slot {
  requireOperands("sum", x, x);
  if (x.getNumVectors() != 1) {
    throw operandError("sum", "the operand has " + std::to_string(x.getNumVectors()) + " columns, must have one");
  }
  const Slot slot = addSlot(1, 1, x.isDistributed());
  operands_.beginCall();
  sums_.push_back({operands_.enter(x), slot.offset});
  return slot;
}

template <class Types>
auto LocalProducts<Types>::addInnerProducts(const MultiVector& X, const MultiVector& Y) -> Slot {
  requireOperands("innerProducts", X, Y);
  return addBlocks(X, Y, addSlot(X.getNumVectors(), Y.getNumVectors(), X.isDistributed()));
}

template <class Types>
auto LocalProducts<Types>::addDotsWithEach(const MultiVector& X, const MultiVector& y) -> Slot {
  requireOperands("dotsWithEach", X, y);
  if (y.getNumVectors() != 1) {
    throw operandError("dotsWithEach", "y has " + std::to_string(y.getNumVectors()) + " columns, must have one");
  }
  const Slot slot = addSlot(X.getNumVectors(), 1, X.isDistributed());
  if (slot.rows == 0) return slot;
  operands_.beginCall();
  const std::size_t left = operands_.enter(X), right = operands_.enter(y);
  for (int i = 0; i < slot.rows; ++i) {
    addDot(y.getLocalLength(), {{left, static_cast<std::size_t>(i)}, {right, 0}, noWeights, slot.offset + i});
  }
  return slot;
}

template <class Types>
auto LocalProducts<Types>::addSymmetricProducts(const MultiVector& X, const MultiVector& Y) -> Slot {
  requireOperands("symmetricProducts", X, Y);
  if (X.getNumVectors() > Y.getNumVectors()) {
    throw operandError("symmetricProducts", "Y has " + std::to_string(Y.getNumVectors()) +
                                                " columns, must have at least the " +
                                                std::to_string(X.getNumVectors()) + " of X");
  }
  return addBlocks(X, Y, addSlot(X.getNumVectors(), Y.getNumVectors(), X.isDistributed(), true));
}

template <class Types>
auto LocalProducts<Types>::addBlocks(const MultiVector& X, const MultiVector& Y, const Slot& slot) -> Slot {
  if (slot.rows == 0 || slot.cols == 0) return slot;
  operands_.beginCall();
  const std::size_t left = operands_.enter(X);
  blocks_.push_back({left, operands_.enter(Y), noGram, slot});
  return slot;
}

template <class Types>
auto LocalProducts<Types>::addTrailingGram(const Singles& Q, const MultiVector& B, int first) -> Slot {
  requireOperands("trailingGram", B, B);
  if (Q.extent(1) > 0 && Q.extent(0) != B.getLocalLength()) {
    throw operandError("trailingGram", "the columns in single precision have " + std::to_string(Q.extent(0)) +
                                           " rows, the others " + std::to_string(B.getLocalLength()));
  }
  const int columns = static_cast<int>(B.getNumVectors());
  if (first < 0 || first > columns) {
    throw operandError("trailingGram",
                       "first column " + std::to_string(first) + " is outside 0.." + std::to_string(columns));
  }
  const Slot slot = addSlot(Q.extent(1) + static_cast<std::size_t>(columns), static_cast<std::size_t>(columns - first),
                            B.isDistributed());
  if (slot.rows == 0 || slot.cols == 0) return slot;
  operands_.beginCall();
  const std::size_t block = operands_.enter(B);
  blocks_.push_back({block, block, first, slot, Q});
  return slot;
}

template <class Types>
auto LocalProducts<Types>::addSketch(const MultiVector& X, int rows) -> Slot {
  requireOperands("sketch", X, X);
  if (!kernels::isSketchHeight(rows)) {
    throw operandError("sketch", "the sketch has " + std::to_string(rows) + " rows, must have a power of two from " +
                                     std::to_string(kernels::fewestSketchRows) + " to " +
                                     std::to_string(kernels::mostSketchRows));
  }
  const Slot slot = addSlot(static_cast<std::size_t>(rows), X.getNumVectors(), X.isDistributed());
  if (slot.cols == 0) return slot;
  operands_.beginCall();
  sketches_.push_back({operands_.enter(X), slot, sketchedRows(*X.getMap())});
  return slot;
}

template <class Types>
auto LocalProducts<Types>::addValue(Scalar value) -> Slot {
  const Slot slot = addSlot(1, 1, true);
  values_.push_back({value, slot.offset, 1});
  return slot;
}

template <class Types>
auto LocalProducts<Types>::addRoom(int numbers) -> Slot {
  const Slot slot = addSlot(static_cast<std::size_t>(numbers), 1, true);
  values_.push_back({Scalar(0), slot.offset, numbers});
  return slot;
}

template <class Types>
void LocalProducts<Types>::launch(Piece& message) {
  makeRoom(message);
  launched_ = hasKernels();
  if (!launched_) return;
  const Views views = operands_.views();
  launchBlocks(views, message);
  launchDots(views);
  launchSums(views, message);
  launchSketches(views, message);
}

template <class Types>
void LocalProducts<Types>::makeRoom(Piece& message) {
  message.take(static_cast<std::size_t>(size_));
  dotResults_.take(dots_.size());
  int wholes = 0;
  for (const Block& block : blocks_) {
    if (block.slot.symmetric) wholes += block.slot.rows * block.slot.cols;
  }
  wholes_.take(static_cast<std::size_t>(wholes));
  for (const Piece* results : {&std::as_const(message), &std::as_const(dotResults_), &std::as_const(wholes_)}) {
    kernels::poison<ExecutionSpace>(results->data(), results->view().extent(0));
  }
}

template <class Types>
void LocalProducts<Types>::launchBlocks(const Views& views, const Piece& message) {
  Scalar* whole = wholes_.data();
  for (const Block& block : blocks_) {
    const typename Batch::SmallView C(block.slot.symmetric ? whole : message.data() + block.slot.offset,
                                      static_cast<std::size_t>(block.slot.rows),
                                      static_cast<std::size_t>(block.slot.cols));
    if (block.slot.symmetric) whole += C.size();
    count(block, views);
    const auto &X = views[block.X], &Y = views[block.Y];
    if (X.extent(0) == 0) {
      std::fill_n(C.data(), C.size(), Scalar(0));
    } else if (block.slot.symmetric) {
      kernels::symmetricProducts(queue_, X, Y, C);
    } else if (block.first == noGram) {
      kernels::innerProducts(queue_, X, Y, C);
    } else if (block.Q.extent(1) > 0) {
      kernels::trailingGram(queue_, block.Q, X, block.first, C);
    } else {
      kernels::trailingGram(queue_, X, block.first, C);
    }
  }
}

/// One pass over both; of a symmetric pair one product.
template <class Types>
void LocalProducts<Types>::count(const Block& block, const Views& views) {
  VectorPass pass(views[block.X].extent(0));
  pass.readsAll(block.Q);
  pass.readsAll(views[block.X]);
  if (block.first == noGram) pass.readsAll(views[block.Y]);
  const auto rows = static_cast<std::size_t>(block.slot.rows), cols = static_cast<std::size_t>(block.slot.cols);
  const std::size_t square = block.slot.symmetric ? rows : block.first != noGram ? cols : 0;
  pass.flops(2 * (rows * cols - (square * square - square) / 2));
}

template <class Types>
void LocalProducts<Types>::countDots(const Run& run, const Pair* pairs) {
  VectorPass pass(run.rows);
  if (!pass.counts()) return;
  for (std::size_t k = 0; k < run.pairs; ++k) {
    pass.reads(pairs[k].x);
    pass.reads(pairs[k].y);
    if (pairs[k].weights != nullptr) pass.reads(pairs[k].weights);
    pass.flops(pairs[k].weights != nullptr ? 3 : 2);
  }
}

template <class Types>
void LocalProducts<Types>::launchSums(const Views& views, const Piece& message) {
  using Numbers = Kokkos::View<const Scalar*, typename Operands::View::device_type>;
  for (const Sum& sum : sums_) {
    const auto& x = views[sum.x];
    VectorPass pass(x.extent(0));
    pass.reads(x.data());
    pass.flops(1);
    // Into a view: the host does not wait.
    kernels::sum(queue_, Numbers(x.data(), x.extent(0)), Kokkos::subview(message.view(), sum.offset));
  }
}

template <class Types>
void LocalProducts<Types>::launchSketches(const Views& views, const Piece& message) {
  for (const Sketch& sketch : sketches_) {
    const auto& X = views[sketch.X];
    const typename Batch::SmallView S(message.data() + sketch.slot.offset, static_cast<std::size_t>(sketch.slot.rows),
                                      static_cast<std::size_t>(sketch.slot.cols));
    VectorPass pass(X.extent(0));
    pass.readsAll(X);
    pass.flops(static_cast<std::size_t>(kernels::sketchFlops(sketch.slot.rows) * sketch.slot.cols));
    if (X.extent(0) == 0) {
      std::fill_n(S.data(), S.size(), Scalar(0));
    } else {
      kernels::sketch(queue_, sketch.rows, X, S);
    }
  }
}

/// One pass over all of them, unless the batch mixes vectors of different lengths.
template <class Types>
void LocalProducts<Types>::launchDots(const Views& views) {
  const auto at = [&views](const Column& column) {
    const auto& block = views[column.operand];
    // Views of no rows do not always know their columns.
    return block.extent(0) == 0 ? nullptr : block.data() + column.number * block.stride(1);
  };
  pairs_.clear();
  for (const Dot& dot : dots_) {
    pairs_.push_back({at(dot.x), at(dot.y), dot.weights == noWeights ? nullptr : at({dot.weights, 0})});
  }
  std::size_t first = 0;
  for (const Run& run : runs_) {
    countDots(run, pairs_.data() + first);
    kernels::detail::dotsOf(queue_, static_cast<std::ptrdiff_t>(run.rows), pairs_.data() + first,
                            static_cast<std::ptrdiff_t>(run.pairs), dotResults_.data() + first);
    first += run.pairs;
  }
}

template <class Types>
void LocalProducts<Types>::collect(const Piece& message) {
  launched_ = false;
  for (std::size_t i = 0; i < dots_.size(); ++i) message.data()[dots_[i].offset] = dotResults_.data()[i];
  const Scalar* whole = wholes_.data();
  for (const Block& block : blocks_) {
    if (!block.slot.symmetric) continue;
    for (int j = 0; j < block.slot.cols; ++j) {
      for (int i = 0; i < block.slot.rows && i <= j; ++i) {
        message.data()[block.slot.place(i, j)] = whole[i + j * block.slot.rows];
      }
    }
    whole += block.slot.rows * block.slot.cols;
  }
  for (const Value& value : values_) std::fill_n(message.data() + value.offset, value.count, value.value);
  if (rank_ != 0 && messageSize() > 0) {
    for (const Slot& slot : replicated_) std::fill_n(message.data() + slot.offset, slot.size(), Scalar(0));
  }
  dropOperands();
  dotResults_.giveBack();
  wholes_.giveBack();
}

template <class Types>
void LocalProducts<Types>::waitForKernels() {
  if (std::exchange(launched_, false)) kernels::fence(queue_);
}

template <class Types>
void LocalProducts<Types>::dropOperands() {
  operands_.clear();
  blocks_.clear();
  dots_.clear();
  runs_.clear();
  sums_.clear();
  values_.clear();
  sketches_.clear();
}

template <class Types>
void LocalProducts<Types>::reset() {
  waitForKernels();
  dropOperands();
  replicated_.clear();
  size_ = 0;
  replicatedSize_ = 0;
}

}  // namespace capstan::detail
