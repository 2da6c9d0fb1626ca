#include "tpetra_ext/reductions/reduction_batch.hpp"

#include <Teuchos_Comm.hpp>
#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "tpetra_ext/compat/instantiate.hpp"
#include "tpetra_ext/kernels/base/fence.hpp"
#include "tpetra_ext/node_queue.hpp"
#include "tpetra_ext/reductions/counters.hpp"
#include "tpetra_ext/reductions/local_products.hpp"
#include "tpetra_ext/reductions/progress.hpp"

namespace capstan {

template <class Types>
struct ReductionBatch<Types>::Impl {
  using Queue = kernels::Queue<typename Types::ExecutionSpace>;
  using Products = detail::LocalProducts<Types>;

  /// What has to outlive the batch while a reduction is in flight. Several batches that are reduced together pack their
  /// messages into the buffer of the first, whose AllReduce carries it.
  struct Storage final : ReductionListener {
    explicit Storage(Teuchos::RCP<const Teuchos::Comm<int>> comm) : allReduce(std::move(comm)) {}

    bool inFlight() const { return piggybacked ? onTheWay : allReduce.inFlight(); }
    bool failed() const { return piggybacked ? lost : allReduce.failed(); }
    /// Hands the sums in `packed` out to the batches they belong to.
    void reductionEnded(bool failed) noexcept override;

    typename Products::Piece message;
    int size = 0;                     // numbers of the message that travel
    bool piggybacked = false;         // another batch carries, or carried, the latest reduction of this one
    bool onTheWay = false;            // such a reduction is in flight
    bool lost = false;                // such a reduction failed
    typename Products::Piece packed;  // where this one carries others: its message and theirs
    std::vector<std::shared_ptr<Storage>> carried;  // those others, while they are on the way
    AllReduce allReduce;  // after the buffers: destroyed first, and its destructor completes the reduction
  };

  explicit Impl(Teuchos::RCP<const Teuchos::Comm<int>> comm)
      : storage(std::make_shared<Storage>(std::move(comm))),
        products(queue, storage->allReduce.rank(), storage->allReduce.size()) {}

  std::shared_ptr<Storage> storage;
  Queue& queue = nodeQueue<Types>();
  Products products;
  bool evaluated = false;  // reduce() or start() has been called since clear()

  void requireCollecting(const char* call) const;
  void requireReduced(const Slot& slot) const;
  void launch() { products.launch(storage->message); }
  void collect();
  void evaluate(const char* call);
  static int pack(const std::vector<ReductionBatch*>& batches, const char* call,
                  Summation<Scalar>* summation = nullptr);
  static void unpackNothing(const std::vector<ReductionBatch*>& batches);
  /// send(carrier, count) sums what the batches hold, packed in the carrier.
  template <class Send>
  static void reduceBy(const std::vector<ReductionBatch*>& batches, const Send& send,
                       Summation<Scalar>* summation = nullptr);
};

template <class Types>
void ReductionBatch<Types>::Impl::Storage::reductionEnded(bool failed) noexcept {
  if (!failed) std::copy_n(packed.data(), size, message.data());
  const Scalar* sums = packed.data() + size;
  for (const auto& other : carried) {
    other->onTheWay = false;
    other->lost = failed;
    if (!failed) std::copy_n(sums, other->size, other->message.data());
    sums += other->size;
  }
  carried.clear();
  if (!failed) packed.giveBack();  // MPI may still write into that of a reduction that failed
}

template <class Types>
void ReductionBatch<Types>::Impl::requireCollecting(const char* call) const {
  if (!evaluated) return;
  throw std::logic_error(std::string("capstan::ReductionBatch::") + call +
                         (storage->inFlight() ? ": a reduction of this batch is in flight; wait for it first"
                                              : ": call clear() before using the batch again"));
}

template <class Types>
void ReductionBatch<Types>::Impl::requireReduced(const Slot& slot) const {
  if (!evaluated || storage->inFlight()) {
    throw std::logic_error("capstan::ReductionBatch: results are there only after reduce(), or start() and wait()");
  }
  if (storage->failed()) {
    throw std::logic_error("capstan::ReductionBatch: there are no results, because MPI reported an error");
  }
  if (slot.offset < 0 || slot.offset + slot.size() > products.size()) {
    throw std::invalid_argument("capstan::ReductionBatch: the slot is not one of this batch");
  }
}

template <class Types>
void ReductionBatch<Types>::Impl::collect() {
  products.collect(storage->message);
  storage->size = products.messageSize();
  storage->piggybacked = false;
  evaluated = true;
}

template <class Types>
void ReductionBatch<Types>::Impl::evaluate(const char* call) {
  requireCollecting(call);
  const LocalWork work;
  const bool launched = products.hasKernels();
  launch();
  if (launched) kernels::fence(queue);
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
void ReductionBatch<Types>::enterDots(const Pair* pairs, std::size_t count, Slot* slots) {
  impl_->requireCollecting("dots");
  impl_->products.addDots("dots", pairs, count, slots);
}

template <class Types>
auto ReductionBatch<Types>::dotsWithEach(const MultiVector& X, const MultiVector& y) -> Slot {
  impl_->requireCollecting("dotsWithEach");
  return impl_->products.addDotsWithEach(X, y);
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
auto ReductionBatch<Types>::symmetricProducts(const MultiVector& X, const MultiVector& Y) -> Slot {
  impl_->requireCollecting("symmetricProducts");
  return impl_->products.addSymmetricProducts(X, Y);
}

template <class Types>
auto ReductionBatch<Types>::trailingGram(const MultiVector& B, int first) -> Slot {
  impl_->requireCollecting("trailingGram");
  return impl_->products.addTrailingGram(SingleColumns<Types>(), B, first);
}

template <class Types>
auto ReductionBatch<Types>::trailingGram(const SingleColumns<Types>& Q, const MultiVector& B, int first) -> Slot {
  impl_->requireCollecting("trailingGram");
  return impl_->products.addTrailingGram(Q, B, first);
}

template <class Types>
auto ReductionBatch<Types>::sketch(const MultiVector& X, int rows) -> Slot {
  impl_->requireCollecting("sketch");
  return impl_->products.addSketch(X, rows);
}

template <class Types>
auto ReductionBatch<Types>::value(Scalar localContribution) -> Slot {
  impl_->requireCollecting("value");
  return impl_->products.addValue(localContribution);
}

template <class Types>
auto ReductionBatch<Types>::room(int numbers) -> Slot {
  impl_->requireCollecting("room");
  if (numbers < 0) throw detail::operandError("room", "found " + std::to_string(numbers) + " numbers, must be >= 0");
  return impl_->products.addRoom(numbers);
}

template <class Types>
int ReductionBatch<Types>::numbers() const {
  return impl_->products.messageSize();
}

template <class Types>
void ReductionBatch<Types>::reduce() {
  impl_->evaluate("reduce");
  impl_->storage->allReduce.run(impl_->storage->message.data(), impl_->storage->size);
}

template <class Types>
PendingReduction<Types> ReductionBatch<Types>::start() {
  impl_->evaluate("start");
  const auto& storage = impl_->storage;
  const long ticket = storage->allReduce.start(storage->message.data(), storage->size);
  return {std::shared_ptr<AllReduce>(storage, &storage->allReduce), ticket};
}

template <class Types>
auto ReductionBatch<Types>::operator[](const Slot& slot) const -> Scalar {
  impl_->requireReduced(slot);
  if (slot.rows != 1 || slot.cols != 1) {
    throw std::invalid_argument("capstan::ReductionBatch: the slot holds " + std::to_string(slot.rows) + " x " +
                                std::to_string(slot.cols) + " numbers, not one; use view()");
  }
  return impl_->storage->message.data()[slot.offset];
}

template <class Types>
auto ReductionBatch<Types>::view(const Slot& slot) const -> SmallView {
  impl_->requireReduced(slot);
  if (slot.symmetric) {
    throw std::invalid_argument("capstan::ReductionBatch: of a symmetric result half is there; use read()");
  }
  return SmallView(impl_->storage->message.data() + slot.offset, static_cast<std::size_t>(slot.rows),
                   static_cast<std::size_t>(slot.cols));
}

template <class Types>
void ReductionBatch<Types>::read(const Slot& slot, Scalar* to, int leading) const {
  impl_->requireReduced(slot);
  const Scalar* const message = impl_->storage->message.data();
  for (int j = 0; j < slot.cols; ++j) {
    for (int i = 0; i < slot.rows; ++i) to[i + j * leading] = message[slot.place(i, j)];
  }
}

template <class Types>
void ReductionBatch<Types>::clear() {
  if (impl_->storage->inFlight()) impl_->requireCollecting("clear");
  impl_->products.reset();
  if (!impl_->storage->failed()) impl_->storage->message.giveBack();
  impl_->evaluated = false;
}

/// Evaluates the batches with one fence, and packs their messages into the first one's buffer. Returns its size.
template <class Types>
int ReductionBatch<Types>::Impl::pack(const std::vector<ReductionBatch*>& batches, const char* call,
                                      Summation<Scalar>* summation) {
  Impl& first = *batches.front()->impl_;
  for (const ReductionBatch* batch : batches) {
    batch->impl_->requireCollecting(call);
    if (!batch->impl_->storage->allReduce.sameCommunicator(first.storage->allReduce)) {
      throw std::invalid_argument(std::string("capstan::ReductionBatch::") + call +
                                  ": the batches have different communicators");
    }
  }
  {
    const LocalWork work;
    bool launched = summation != nullptr && summation->launch();
    for (ReductionBatch* batch : batches) {
      launched = batch->impl_->products.hasKernels() || launched;
      batch->impl_->launch();
    }
    if (launched) kernels::fence(first.queue);
  }
  int total = 0;
  for (ReductionBatch* batch : batches) {
    batch->impl_->collect();
    total += batch->impl_->storage->size;
  }
  Storage& carrier = *first.storage;
  carrier.packed.take(static_cast<std::size_t>(total));
  Scalar* next = carrier.packed.data();
  for (ReductionBatch* batch : batches) {
    const auto& storage = batch->impl_->storage;
    next = std::copy_n(storage->message.data(), storage->size, next);
    if (storage == first.storage) continue;
    storage->piggybacked = storage->onTheWay = true;
    carrier.carried.push_back(storage);
  }
  return total;
}

/// Where the packed message could not be sent.
template <class Types>
void ReductionBatch<Types>::Impl::unpackNothing(const std::vector<ReductionBatch*>& batches) {
  batches.front()->impl_->storage->reductionEnded(true);
  for (ReductionBatch* batch : batches) batch->clear();
}

template <class Types>
template <class Send>
void ReductionBatch<Types>::Impl::reduceBy(const std::vector<ReductionBatch*>& batches, const Send& send,
                                           Summation<Scalar>* summation) {
  if (batches.empty()) return;
  const int total = pack(batches, "reduceTogether", summation);
  Storage& carrier = *batches.front()->impl_->storage;
  try {
    send(carrier, total);
  } catch (...) {
    unpackNothing(batches);
    throw;
  }
  carrier.reductionEnded(false);
}

template <class Types>
void ReductionBatch<Types>::reduceTogether(const std::vector<ReductionBatch*>& batches) {
  Impl::reduceBy(batches, [](auto& carrier, int total) { carrier.allReduce.run(carrier.packed.data(), total); });
}

template <class Types>
void ReductionBatch<Types>::reduceTogether(const std::vector<ReductionBatch*>& batches, Summation<Scalar>& summation) {
  const auto send = [&summation](auto& carrier, int total) {
    ++counters().blocking;
    const CounterTimer timer(counters().waitSeconds);
    summation.sum(carrier.packed.data(), total);
  };
  Impl::reduceBy(batches, send, &summation);
}

template <class Types>
std::vector<PendingReduction<Types>> ReductionBatch<Types>::startTogether(const std::vector<ReductionBatch*>& batches) {
  std::vector<PendingReduction<Types>> handles;
  if (batches.empty()) return handles;
  handles.reserve(batches.size());
  const int total = Impl::pack(batches, "startTogether");
  const auto& carrier = batches.front()->impl_->storage;
  long ticket = 0;
  try {
    ticket = carrier->allReduce.start(carrier->packed.data(), total, carrier.get());
  } catch (...) {
    Impl::unpackNothing(batches);
    throw;
  }
  while (handles.size() < batches.size()) {
    handles.emplace_back(std::shared_ptr<AllReduce>(carrier, &carrier->allReduce), ticket);
  }
  return handles;
}

#define CAPSTAN_REDUCTION_BATCH(S, LO, GO, NO) template class ReductionBatch<TpetraTypes<S, LO, GO, NO>>;
CAPSTAN_INSTANTIATE(CAPSTAN_REDUCTION_BATCH)

}  // namespace capstan
