#include "tpetra_ext/reductions/reduction_batch.hpp"

#include <Teuchos_Comm.hpp>
#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "tpetra_ext/compat/instantiate.hpp"
#include "tpetra_ext/kernels/base/fence.hpp"
#include "tpetra_ext/reductions/counters.hpp"
#include "tpetra_ext/reductions/local_products.hpp"
#include "tpetra_ext/reductions/progress.hpp"

namespace capstan {

template <class Types>
struct ReductionBatch<Types>::Impl {
  using ExecutionSpace = typename Types::ExecutionSpace;
  using Products = detail::LocalProducts<Types>;

  /// What has to outlive the batch while a reduction is in flight.
  struct Storage {
    explicit Storage(Teuchos::RCP<const Teuchos::Comm<int>> comm) : allReduce(std::move(comm)) {}
    typename Products::Buffer message;
    AllReduce allReduce;  // after the message: destroyed first, and its destructor completes the reduction
  };

  explicit Impl(Teuchos::RCP<const Teuchos::Comm<int>> comm)
      : storage(std::make_shared<Storage>(std::move(comm))),
        products(storage->allReduce.rank(), storage->allReduce.size()) {}

  std::shared_ptr<Storage> storage;
  ExecutionSpace exec;  // kept: newer releases of Kokkos allocate to make one
  Products products;
  typename Products::Buffer packed;  // message of reduceTogether(), kept by its first batch
  bool evaluated = false;            // reduce() or start() has been called since clear()

  void requireCollecting(const char* call) const;
  void requireReduced(const Slot& slot) const;
  void launch(const ExecutionSpace& where) { products.launch(where, storage->message); }
  void collect();
  void evaluate(const char* call);
};

template <class Types>
void ReductionBatch<Types>::Impl::requireCollecting(const char* call) const {
  if (!evaluated) return;
  throw std::logic_error(std::string("capstan::ReductionBatch::") + call +
                         (storage->allReduce.inFlight() ? ": a reduction of this batch is in flight; wait for it first"
                                                        : ": call clear() before using the batch again"));
}

template <class Types>
void ReductionBatch<Types>::Impl::requireReduced(const Slot& slot) const {
  if (!evaluated || storage->allReduce.inFlight()) {
    throw std::logic_error("capstan::ReductionBatch: results are there only after reduce(), or start() and wait()");
  }
  if (storage->allReduce.failed()) {
    throw std::logic_error("capstan::ReductionBatch: there are no results, because MPI reported an error");
  }
  if (slot.offset < 0 || slot.offset + slot.rows * slot.cols > products.size()) {
    throw std::invalid_argument("capstan::ReductionBatch: the slot is not one of this batch");
  }
}

template <class Types>
void ReductionBatch<Types>::Impl::collect() {
  products.collect(storage->message);
  evaluated = true;
}

template <class Types>
void ReductionBatch<Types>::Impl::evaluate(const char* call) {
  requireCollecting(call);
  const LocalWork work;
  const bool launched = products.hasKernels();
  launch(exec);
  if (launched) kernels::fence(exec);
  collect();
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
  impl_->requireCollecting("dot");
  return impl_->products.addDots("dot", x, y);
}

template <class Types>
auto ReductionBatch<Types>::norm2(const MultiVector& x) -> Slot {
  impl_->requireCollecting("norm2");
  return impl_->products.addDots("norm2", x, x);
}

template <class Types>
auto ReductionBatch<Types>::sum(const MultiVector& x) -> Slot {
  impl_->requireCollecting("sum");
  return impl_->products.addSum(x);
}

template <class Types>
auto ReductionBatch<Types>::innerProducts(const MultiVector& X, const MultiVector& Y) -> Slot {
  impl_->requireCollecting("innerProducts");
  return impl_->products.addInnerProducts(X, Y);
}

template <class Types>
auto ReductionBatch<Types>::trailingGram(const MultiVector& B, int first) -> Slot {
  impl_->requireCollecting("trailingGram");
  return impl_->products.addTrailingGram(B, first);
}

template <class Types>
auto ReductionBatch<Types>::value(Scalar localContribution) -> Slot {
  impl_->requireCollecting("value");
  return impl_->products.addValue(localContribution);
}

template <class Types>
void ReductionBatch<Types>::reduce() {
  impl_->evaluate("reduce");
  impl_->storage->allReduce.run(impl_->storage->message.data(), impl_->products.messageSize());
}

template <class Types>
PendingReduction<Types> ReductionBatch<Types>::start() {
  impl_->evaluate("start");
  const auto& storage = impl_->storage;
  const long ticket = storage->allReduce.start(storage->message.data(), impl_->products.messageSize());
  return {std::shared_ptr<AllReduce>(storage, &storage->allReduce), ticket};
}

template <class Types>
auto ReductionBatch<Types>::operator[](const Slot& slot) const -> Scalar {
  impl_->requireReduced(slot);
  if (slot.rows != 1 || slot.cols != 1) {
    throw std::invalid_argument("capstan::ReductionBatch: the slot holds " + std::to_string(slot.rows) + " x " +
                                std::to_string(slot.cols) + " numbers, not one; use view()");
  }
  return impl_->storage->message(slot.offset);
}

template <class Types>
auto ReductionBatch<Types>::view(const Slot& slot) const -> SmallView {
  impl_->requireReduced(slot);
  return SmallView(impl_->storage->message.data() + slot.offset, static_cast<std::size_t>(slot.rows),
                   static_cast<std::size_t>(slot.cols));
}

template <class Types>
void ReductionBatch<Types>::clear() {
  if (impl_->storage->allReduce.inFlight()) impl_->requireCollecting("clear");
  impl_->products.reset();
  impl_->evaluated = false;
}

template <class Types>
void ReductionBatch<Types>::reduceTogether(const std::vector<ReductionBatch*>& batches) {
  if (batches.empty()) return;
  Impl& first = *batches.front()->impl_;
  for (const ReductionBatch* batch : batches) {
    batch->impl_->requireCollecting("reduceTogether");
    if (!batch->impl_->storage->allReduce.sameCommunicator(first.storage->allReduce)) {
      throw std::invalid_argument("capstan::ReductionBatch::reduceTogether: the batches have different communicators");
    }
  }
  int total = 0;
  {
    const LocalWork work;
    bool launched = false;
    for (ReductionBatch* batch : batches) {
      total += batch->impl_->products.messageSize();
      launched = batch->impl_->products.hasKernels() || launched;
      batch->impl_->launch(first.exec);
    }
    if (launched) kernels::fence(first.exec);
  }
  detail::grow(first.packed, total, "capstan::ReductionBatch::packed");
  Scalar* next = first.packed.data();
  for (ReductionBatch* batch : batches) {
    batch->impl_->collect();
    next = std::copy_n(batch->impl_->storage->message.data(), batch->impl_->products.messageSize(), next);
  }
  try {
    first.storage->allReduce.run(first.packed.data(), total);
  } catch (...) {
    for (ReductionBatch* batch : batches) batch->clear();
    throw;
  }
  const Scalar* sums = first.packed.data();
  for (ReductionBatch* batch : batches) {
    const int count = batch->impl_->products.messageSize();
    std::copy_n(sums, count, batch->impl_->storage->message.data());
    sums += count;
  }
}

#define CAPSTAN_REDUCTION_BATCH(S, LO, GO, NO) template class ReductionBatch<TpetraTypes<S, LO, GO, NO>>;
CAPSTAN_INSTANTIATE(CAPSTAN_REDUCTION_BATCH)

}  // namespace capstan
