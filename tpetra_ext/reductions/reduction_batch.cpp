#include "tpetra_ext/reductions/reduction_batch.hpp"

#include <Teuchos_Comm.hpp>
#include <Tpetra_Map.hpp>
#include <Tpetra_MultiVector.hpp>
#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include "tpetra_ext/compat/instantiate.hpp"
#include "tpetra_ext/kernels/dots.hpp"
#include "tpetra_ext/kernels/inner_products.hpp"
#include "tpetra_ext/reductions/counters.hpp"

namespace capstan {

template <class Types>
struct ReductionBatch<Types>::Impl {
  using ExecutionSpace = typename Types::ExecutionSpace;
  using Buffer = Kokkos::View<Scalar*, PinnedSpace>;
  using ConstBlock = typename MultiVector::dual_view_type::t_dev::const_type;
  using ConstColumn = decltype(Kokkos::subview(std::declval<ConstBlock>(), Kokkos::ALL(), std::size_t{}));

  /// X^T Y, or for a Gram block X^T X(:, first:end).
  struct BlockJob {
    ConstBlock X, Y;
    int first;  // -1: X^T Y
    Slot slot;
  };
  struct ValueJob {
    Scalar value;
    int offset;
  };
  enum class Phase { Collecting, Reduced };

  /// What has to outlive the batch while a reduction is in flight.
  struct Storage {
    explicit Storage(Teuchos::RCP<const Teuchos::Comm<int>> comm) : allReduce(std::move(comm)) {}
    Buffer values;
    AllReduce allReduce;  // after the buffer: destroyed first, and its destructor completes the reduction
  };

  explicit Impl(Teuchos::RCP<const Teuchos::Comm<int>> comm) : storage(std::make_shared<Storage>(std::move(comm))) {}

  std::shared_ptr<Storage> storage;
  Buffer dotResults, packed;
  std::vector<BlockJob> blocks;
  std::vector<std::pair<ConstColumn, ConstColumn>> dots;
  std::vector<int> dotOffsets;
  std::vector<ValueJob> values;
  std::vector<Slot> replicated;  // results that every rank has already: rank 0 alone contributes
  int size = 0;
  int replicatedSize = 0;
  Phase phase = Phase::Collecting;

  void requireCollecting(const char* call);
  void requireReduced() const;
  void requireOperands(const char* call, const MultiVector& x, const MultiVector& y) const;
  Slot addSlot(std::size_t rows, std::size_t cols, bool distributed);
  Slot addDots(const char* call, const MultiVector& x, const MultiVector& y);
  Slot addBlock(const char* call, const MultiVector& X, const MultiVector& Y, int first);
  void launch(const ExecutionSpace& exec);
  void launchBlock(const ExecutionSpace& exec, const BlockJob& job);
  void launchDots(const ExecutionSpace& exec);
  void collect();
  void evaluate();
  void reset();
  bool hasKernels() const { return !blocks.empty() || !dots.empty(); }
  const Slot& checked(const Slot& slot) const;
  int messageSize() const { return replicatedSize == size ? 0 : size; }
};

namespace {

/// The local part of a MultiVector with constant stride; a copy of one that has none.
template <class MultiVector>
auto localBlock(const MultiVector& x) {
  if (x.isConstantStride()) return x.getLocalViewDevice(Tpetra::Access::ReadOnly);
  const MultiVector copy(x, Teuchos::Copy);
  return copy.getLocalViewDevice(Tpetra::Access::ReadOnly);
}

template <class Buffer>
void grow(Buffer& buffer, int size, const char* label) {
  const auto wanted = static_cast<std::size_t>(size);
  if (buffer.extent(0) >= wanted) return;
  buffer = Buffer(Kokkos::view_alloc(Kokkos::WithoutInitializing, std::string(label)),
                  std::max(wanted, 2 * buffer.extent(0)));
}

/// Part of a container, for a range-based loop.
template <class Iterator>
struct Range {
  Iterator first, last;
  Iterator begin() const { return first; }
  Iterator end() const { return last; }
};

template <class ExecutionSpace>
void fence(const ExecutionSpace& exec) {
  exec.fence();
  ++counters().fences;
}

std::invalid_argument operandError(const char* call, const std::string& text) {
  return std::invalid_argument(std::string("capstan::ReductionBatch::") + call + ": " + text);
}

}  // namespace

template <class Types>
void ReductionBatch<Types>::Impl::requireCollecting(const char* call) {
  if (phase == Phase::Collecting) return;
  throw std::logic_error(std::string("capstan::ReductionBatch::") + call +
                         (storage->allReduce.inFlight()
                              ? ": a reduction of this batch is still in flight; wait for it first"
                              : ": call clear() before using the batch again"));
}

template <class Types>
void ReductionBatch<Types>::Impl::requireReduced() const {
  if (phase == Phase::Collecting || storage->allReduce.inFlight()) {
    throw std::logic_error("capstan::ReductionBatch: the results are there only after reduce(), or start() and wait()");
  }
  if (storage->allReduce.failed()) {
    throw std::logic_error("capstan::ReductionBatch: there are no results, because MPI reported an error");
  }
}

template <class Types>
void ReductionBatch<Types>::Impl::requireOperands(const char* call, const MultiVector& x, const MultiVector& y) const {
  const int ranks = storage->allReduce.size();
  for (const MultiVector* operand : {&x, &y}) {
    if (const int has = operand->getMap()->getComm()->getSize(); has != ranks) {
      throw operandError(
          call, "a vector lives on " + std::to_string(has) + " ranks, the batch reduces over " + std::to_string(ranks));
    }
  }
  if (x.getGlobalLength() != y.getGlobalLength()) {
    throw operandError(call, "the vectors have " + std::to_string(x.getGlobalLength()) + " and " +
                                 std::to_string(y.getGlobalLength()) + " global rows; they must have the same map");
  }
  if (x.getLocalLength() != y.getLocalLength()) {
    throw operandError(call, "the vectors have " + std::to_string(x.getLocalLength()) + " and " +
                                 std::to_string(y.getLocalLength()) + " rows on rank " +
                                 std::to_string(storage->allReduce.rank()) + "; they must have the same map");
  }
  if (x.isDistributed() != y.isDistributed()) {
    throw operandError(call, "one vector is distributed and the other replicated; they must have the same map");
  }
}

template <class Types>
typename ReductionBatch<Types>::Slot ReductionBatch<Types>::Impl::addSlot(std::size_t rows, std::size_t cols,
                                                                          bool distributed) {
  const Slot slot{size, static_cast<int>(rows), static_cast<int>(cols)};
  size += slot.rows * slot.cols;
  if (!distributed && storage->allReduce.size() > 1) {
    replicated.push_back(slot);
    replicatedSize += slot.rows * slot.cols;
  }
  return slot;
}

template <class Types>
typename ReductionBatch<Types>::Slot ReductionBatch<Types>::Impl::addDots(const char* call, const MultiVector& x,
                                                                          const MultiVector& y) {
  requireCollecting(call);
  requireOperands(call, x, y);
  const std::size_t columns = x.getNumVectors();
  if (columns != y.getNumVectors()) {
    throw operandError(call, "the operands have " + std::to_string(columns) + " and " +
                                 std::to_string(y.getNumVectors()) + " columns; they must have the same number");
  }
  const Slot slot = addSlot(columns, 1, x.isDistributed());
  if (columns == 0) return slot;
  const ConstBlock X = localBlock(x);
  const ConstBlock Y = &x == &y ? X : ConstBlock(localBlock(y));
  for (std::size_t j = 0; j < columns; ++j) {
    if (X.extent(0) == 0) {  // views of no rows do not always know their columns
      dots.emplace_back();
    } else {
      dots.emplace_back(Kokkos::subview(X, Kokkos::ALL(), j), Kokkos::subview(Y, Kokkos::ALL(), j));
    }
    dotOffsets.push_back(slot.offset + static_cast<int>(j));
  }
  return slot;
}

template <class Types>
typename ReductionBatch<Types>::Slot ReductionBatch<Types>::Impl::addBlock(const char* call, const MultiVector& X,
                                                                           const MultiVector& Y, int first) {
  requireCollecting(call);
  requireOperands(call, X, Y);
  const int columns = static_cast<int>(Y.getNumVectors());
  const Slot slot =
      addSlot(X.getNumVectors(), static_cast<std::size_t>(first < 0 ? columns : columns - first), X.isDistributed());
  if (slot.rows == 0 || slot.cols == 0) return slot;
  const ConstBlock localX = localBlock(X);
  blocks.push_back({localX, &X == &Y ? localX : ConstBlock(localBlock(Y)), first, slot});
  return slot;
}

template <class Types>
void ReductionBatch<Types>::Impl::launchBlock(const ExecutionSpace& exec, const BlockJob& job) {
  const SmallView C(storage->values.data() + job.slot.offset, static_cast<std::size_t>(job.slot.rows),
                    static_cast<std::size_t>(job.slot.cols));
  if (job.X.extent(0) == 0) {  // views of no rows do not always know their columns
    std::fill_n(C.data(), C.size(), Scalar(0));
  } else if (job.first >= 0) {
    kernels::trailingGram(exec, job.X, job.first, C);
  } else {
    kernels::innerProducts(exec, job.X, job.Y, C);
  }
}

template <class Types>
void ReductionBatch<Types>::Impl::launch(const ExecutionSpace& exec) {
  grow(storage->values, size, "capstan::ReductionBatch::values");
  grow(dotResults, static_cast<int>(dots.size()), "capstan::ReductionBatch::dots");
  for (const BlockJob& job : blocks) launchBlock(exec, job);
  launchDots(exec);
}

template <class Types>
void ReductionBatch<Types>::Impl::launchDots(const ExecutionSpace& exec) {
  // One pass over all of them, unless the batch mixes vectors of different lengths.
  auto begin = dots.begin();
  while (begin != dots.end()) {
    const auto end = std::find_if(begin, dots.end(),
                                  [begin](const auto& pair) { return pair.first.extent(0) != begin->first.extent(0); });
    const auto first = static_cast<std::size_t>(begin - dots.begin());
    kernels::dots(exec, Range<decltype(begin)>{begin, end},
                  Buffer(dotResults, std::make_pair(first, first + static_cast<std::size_t>(end - begin))));
    begin = end;
  }
}

/// After the fence: completes the message on the host.
template <class Types>
void ReductionBatch<Types>::Impl::collect() {
  for (std::size_t i = 0; i < dots.size(); ++i) storage->values(dotOffsets[i]) = dotResults(i);
  for (const ValueJob& job : values) storage->values(job.offset) = job.value;
  if (storage->allReduce.rank() != 0 && messageSize() > 0) {
    for (const Slot& slot : replicated)
      std::fill_n(storage->values.data() + slot.offset, slot.rows * slot.cols, Scalar(0));
  }
  blocks.clear();  // lets go of the vectors: Tpetra forbids host access while a device view is alive
  dots.clear();
  dotOffsets.clear();
  values.clear();
}

template <class Types>
void ReductionBatch<Types>::Impl::evaluate() {
  requireCollecting("reduce");
  const ExecutionSpace exec;
  const bool kernels = hasKernels();
  launch(exec);
  if (kernels) fence(exec);
  collect();
}

template <class Types>
void ReductionBatch<Types>::Impl::reset() {
  blocks.clear();
  dots.clear();
  dotOffsets.clear();
  values.clear();
  replicated.clear();
  size = 0;
  replicatedSize = 0;
  phase = Phase::Collecting;
}

template <class Types>
auto ReductionBatch<Types>::Impl::checked(const Slot& slot) const -> const Slot& {
  if (slot.offset < 0 || slot.offset + slot.rows * slot.cols > size) {
    throw std::invalid_argument("capstan::ReductionBatch: the slot is not one of this batch");
  }
  return slot;
}

template <class Types>
ReductionBatch<Types>::ReductionBatch(Teuchos::RCP<const Teuchos::Comm<int>> comm)
    : impl_(std::make_unique<Impl>(std::move(comm))) {}

template <class Types>
ReductionBatch<Types>::~ReductionBatch() = default;
template <class Types>
ReductionBatch<Types>::ReductionBatch(ReductionBatch&&) noexcept = default;
template <class Types>
ReductionBatch<Types>& ReductionBatch<Types>::operator=(ReductionBatch&&) noexcept = default;

template <class Types>
auto ReductionBatch<Types>::dot(const MultiVector& x, const MultiVector& y) -> Slot {
  return impl_->addDots("dot", x, y);
}

template <class Types>
auto ReductionBatch<Types>::norm2(const MultiVector& x) -> Slot {
  return impl_->addDots("norm2", x, x);
}

template <class Types>
auto ReductionBatch<Types>::innerProducts(const MultiVector& X, const MultiVector& Y) -> Slot {
  return impl_->addBlock("innerProducts", X, Y, -1);
}

template <class Types>
auto ReductionBatch<Types>::trailingGram(const MultiVector& B, int first) -> Slot {
  if (first < 0 || first > static_cast<int>(B.getNumVectors())) {
    throw operandError("trailingGram",
                       "first column " + std::to_string(first) + " is outside 0.." + std::to_string(B.getNumVectors()));
  }
  return impl_->addBlock("trailingGram", B, B, first);
}

template <class Types>
auto ReductionBatch<Types>::value(Scalar localContribution) -> Slot {
  impl_->requireCollecting("value");
  const Slot slot = impl_->addSlot(1, 1, true);
  impl_->values.push_back({localContribution, slot.offset});
  return slot;
}

template <class Types>
void ReductionBatch<Types>::reduce() {
  impl_->evaluate();
  impl_->phase = Impl::Phase::Reduced;
  impl_->storage->allReduce.run(impl_->storage->values.data(), impl_->messageSize());
}

template <class Types>
PendingReduction<Types> ReductionBatch<Types>::start() {
  impl_->evaluate();
  impl_->phase = Impl::Phase::Reduced;
  const auto& storage = impl_->storage;
  const long ticket = storage->allReduce.start(storage->values.data(), impl_->messageSize());
  return {std::shared_ptr<AllReduce>(storage, &storage->allReduce), ticket};
}

template <class Types>
auto ReductionBatch<Types>::operator[](const Slot& slot) const -> Scalar {
  impl_->requireReduced();
  if (slot.rows != 1 || slot.cols != 1) {
    throw std::invalid_argument("capstan::ReductionBatch: the slot holds " + std::to_string(slot.rows) + " x " +
                                std::to_string(slot.cols) + " numbers, not one; use view()");
  }
  return impl_->storage->values(impl_->checked(slot).offset);
}

template <class Types>
auto ReductionBatch<Types>::view(const Slot& slot) const -> SmallView {
  impl_->requireReduced();
  return SmallView(impl_->storage->values.data() + impl_->checked(slot).offset, static_cast<std::size_t>(slot.rows),
                   static_cast<std::size_t>(slot.cols));
}

template <class Types>
void ReductionBatch<Types>::clear() {
  if (impl_->storage->allReduce.inFlight()) {
    throw std::logic_error(
        "capstan::ReductionBatch::clear: a reduction of this batch is still in flight; wait for it first");
  }
  impl_->reset();
}

template <class Types>
void ReductionBatch<Types>::reduceTogether(const std::vector<ReductionBatch*>& batches) {
  if (batches.empty()) return;
  Impl& first = *batches.front()->impl_;
  int total = 0;
  for (const ReductionBatch* batch : batches) {
    batch->impl_->requireCollecting("reduceTogether");
    if (!batch->impl_->storage->allReduce.sameCommunicator(first.storage->allReduce)) {
      throw std::invalid_argument("capstan::ReductionBatch::reduceTogether: the batches have different communicators");
    }
    total += batch->impl_->messageSize();
  }
  const typename Types::ExecutionSpace exec;
  bool kernels = false;
  for (ReductionBatch* batch : batches) {
    kernels = batch->impl_->hasKernels() || kernels;
    batch->impl_->launch(exec);
  }
  if (kernels) fence(exec);
  grow(first.packed, total, "capstan::ReductionBatch::packed");
  Scalar* next = first.packed.data();
  for (ReductionBatch* batch : batches) {
    batch->impl_->collect();
    batch->impl_->phase = Impl::Phase::Reduced;
    next = std::copy_n(batch->impl_->storage->values.data(), batch->impl_->messageSize(), next);
  }
  first.storage->allReduce.run(first.packed.data(), total);
  const Scalar* sums = first.packed.data();
  for (ReductionBatch* batch : batches) {
    std::copy_n(sums, batch->impl_->messageSize(), batch->impl_->storage->values.data());
    sums += batch->impl_->messageSize();
  }
}

#define CAPSTAN_REDUCTION_BATCH(S, LO, GO, NO) template class ReductionBatch<TpetraTypes<S, LO, GO, NO>>;
CAPSTAN_INSTANTIATE(CAPSTAN_REDUCTION_BATCH)

}  // namespace capstan
