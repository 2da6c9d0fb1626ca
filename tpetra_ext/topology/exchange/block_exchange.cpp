#include "tpetra_ext/topology/exchange/block_exchange.hpp"

#include <mpi.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tpetra_ext/compat/instantiate.hpp"
#include "tpetra_ext/kernels/base/copy.hpp"
#include "tpetra_ext/kernels/base/execution.hpp"
#include "tpetra_ext/kernels/base/fence.hpp"
#include "tpetra_ext/topology/exchange/given_up.hpp"

namespace capstan::topology {
namespace {

/// Rows that are sent, from where they are to where their message is made.
template <class Slots, class Own, class Buffer>
struct Pack {
  Slots slots;
  Own own;
  Buffer staging, outgoing;
  std::size_t owned, columns;

  KOKKOS_FUNCTION void operator()(const std::size_t k) const {
    const auto slot = static_cast<std::size_t>(slots(k));
    if (slot < owned) {
      for (std::size_t j = 0; j < columns; ++j) outgoing(k * columns + j) = own(slot, j);
    } else {
      for (std::size_t j = 0; j < columns; ++j) outgoing(k * columns + j) = staging((slot - owned) * columns + j);
    }
  }
};

/// Rows that are needed, from where they have been received to their order in the needs.
template <class Slots, class Buffer, class Received>
struct Unpack {
  Slots slots;
  Buffer staging;
  Received received;
  std::size_t owned, columns;

  KOKKOS_FUNCTION void operator()(const std::size_t k) const {
    const std::size_t from = (static_cast<std::size_t>(slots(k)) - owned) * columns;
    for (std::size_t j = 0; j < columns; ++j) received(k, j) = staging(from + j);
  }
};

/// A part of the numbers.
template <class Queue, class To, class From>
void copyPart(const Queue& queue, const To& to, const From& from, const std::pair<std::size_t, std::size_t>& part) {
  if (part.first == part.second) return;
  kernels::copyAndWait(queue, Kokkos::subview(to, part), Kokkos::subview(from, part));
}

}  // namespace

template <class Types>
BlockExchange<Types>::BlockExchange(Queue& queue, std::shared_ptr<Channel> channel,
                                    std::shared_ptr<const RankPlan> plan, Carrier carrier, DeviceAwareMpi deviceAware)
    : queue_(queue), plan_(std::move(plan)), messages_(std::move(channel), plan_, carrier) {
  if (!isShared) memory_ = messageMemory(deviceAware, deviceKindOf<Execution>());
  std::vector<Slot> slots;
  for (const Step step : allSteps) {
    slots.insert(slots.end(), at(step).sends.entries.begin(), at(step).sends.entries.end());
  }
  sendSlots_ = kernels::copied<Slots>(queue_, "capstan sends", slots);
  needed_ = kernels::copied<Slots>(queue_, "capstan needs", plan_->needed);
}

template <class Types>
BlockExchange<Types>::~BlockExchange() {
  int finalized = 0;
  if (MPI_Finalized(&finalized) != MPI_SUCCESS || finalized != 0) return;
  try {
    if (!failed_) {
      if (inFlight_) finishMessages();
      messages_.free();
      return;
    }
  } catch (const std::exception&) {
    // MPI is not to be relied on any more.
  }
  if (!messages_.giveUp()) keepForMpi(std::make_tuple(outgoing_, staging_, pinnedOutgoing_, pinnedStaging_));
}

template <class Types>
std::string BlockExchange<Types>::memory() const {
  if (isShared) return "host";
  return (memory_.onDevice ? "device: " : "page-locked on the host: ") + memory_.reason;
}

template <class Types>
void BlockExchange<Types>::makeRoom(std::size_t columns) {
  if (columns <= room_) return;
  messages_.freeRequests();  // they name the old buffers
  outgoing_ = kernels::unfilled<Buffer>("capstan outgoing", messages_.rowsSent() * columns);
  staging_ = kernels::unfilled<Buffer>("capstan staging", plan_->staged() * columns);
  receivedData_ = kernels::unfilled<Buffer>("capstan received", plan_->needed.size() * columns);
  if (givesCopies()) {
    pinnedOutgoing_ = kernels::unfilled<PinnedBuffer>("capstan outgoing of MPI", outgoing_.extent(0));
    pinnedStaging_ = kernels::unfilled<PinnedBuffer>("capstan staging of MPI", staging_.extent(0));
    messages_.use(pinnedOutgoing_.data(), pinnedStaging_.data());
  } else {
    messages_.use(outgoing_.data(), staging_.data());
  }
  room_ = columns;
}

template <class Types>
void BlockExchange<Types>::reserve(std::size_t columns) {
  makeRoom(columns);
  if (!messages_.together()) guarded([&] { messages_.prepare(columns); });
}

/// Whether there is anything to wait for.
template <class Types>
bool BlockExchange<Types>::pack(Step step, const Own& own) {
  const auto [begin, end] = messages_.rowsSent(step);
  if (begin == end) return false;
  kernels::launch(
      "capstan pack", queue_, begin, end,
      Pack<Slots, Own, Buffer>{sendSlots_, own, staging_, outgoing_, static_cast<std::size_t>(plan_->owned), columns_});
  return kernels::runsLater<Execution>();
}

/// Packs what is sent in these steps, which follow one another, and waits until it is there: one fence where kernels
/// run later, or a copy, which waits itself.
template <class Types>
void BlockExchange<Types>::packAll(std::initializer_list<Step> steps, const Own& own) {
  bool wait = false;
  for (const Step step : steps) wait = pack(step, own) || wait;
  if (!givesCopies()) {
    if (wait) kernels::fence(queue_);
    return;
  }
  copyPart(queue_, pinnedOutgoing_, outgoing_,
           {messages_.sent(*steps.begin()).first, messages_.sent(*(steps.end() - 1)).second});
}

/// Waits for the messages of a step; what they bring is then on the device.
template <class Types>
void BlockExchange<Types>::receive(Step step) {
  if (messages_.wait(step) && givesCopies()) {
    copyPart(queue_, staging_, pinnedStaging_, messages_.received(step));
  }
}

template <class Types>
void BlockExchange<Types>::requireUsable() const {
  if (failed_) throw std::runtime_error("capstan: MPI has failed in an exchange, which cannot be used any more");
}

/// After an error nothing that is in flight can be waited for.
template <class Types>
template <class Work>
void BlockExchange<Types>::guarded(const Work& work) {
  try {
    work();
  } catch (...) {
    failed_ = true;
    throw;
  }
}

template <class Types>
void BlockExchange<Types>::start(const Own& own) {
  requireUsable();
  if (inFlight_) throw std::logic_error("capstan: an exchange is in flight already; finish it first");
  if (own.extent(0) != static_cast<std::size_t>(plan_->owned) || own.extent(1) == 0) {
    throw std::invalid_argument("capstan: a block of " + std::to_string(own.extent(0)) + " rows and " +
                                std::to_string(own.extent(1)) + " columns; the communication plan is for " +
                                std::to_string(plan_->owned) + " rows and at least one column");
  }
  guarded([&] { startMessages(own); });
}

/// Whether a kernel of the last exchange may still read what messages are about to be written to: on a device that
/// shares its memory with the host, or whose addresses MPI is given. The fence after packing is one for that kernel,
/// too.
template <class Types>
bool BlockExchange<Types>::unpacks() const {
  return kernels::runsLater<Execution>() && !givesCopies() && !unpacking_.over();
}

template <class Types>
void BlockExchange<Types>::startMessages(const Own& own) {
  columns_ = own.extent(1);
  makeRoom(columns_);
  messages_.open(columns_);
  received_ = Received(receivedData_.data(), plan_->needed.size(), columns_);
  inFlight_ = true;
  passedOn_ = sent_ = false;
  if (messages_.together()) {
    packAll({Step::Local, Step::Gather, Step::Network}, own);  // nothing is gathered
    if (unpacks()) unpacking_.end();
    return messages_.startAll();
  }
  const bool receivesFirst = !unpacks();
  if (receivesFirst) messages_.startReceives();
  // What the network sends may have to be gathered first.
  const bool gathers = !at(Step::Gather).sources.empty();
  if (gathers) {
    packAll({Step::Local, Step::Gather}, own);
  } else {
    packAll({Step::Local, Step::Gather, Step::Network}, own);
  }
  if (unpacks()) unpacking_.end();
  if (!receivesFirst) messages_.startReceives();
  // What the network waits for goes first.
  for (const Step step : {Step::Gather, Step::Local}) messages_.send(step);
  if (gathers) {
    receive(Step::Gather);
    packAll({Step::Network}, own);
  }
  messages_.send(Step::Network);
}

/// Waits for the network's messages, and sends what they bring for others on the node.
template <class Types>
void BlockExchange<Types>::passOn() {
  if (passedOn_) return;
  receive(Step::Network);
  packAll({Step::Scatter}, Own());
  messages_.send(Step::Scatter);
  passedOn_ = true;
}

template <class Types>
void BlockExchange<Types>::advance() {
  requireUsable();
  if (!inFlight_ || (passedOn_ && sent_)) return;
  guarded([this] {
    if (messages_.together()) {
      sent_ = passedOn_ = messages_.allOver();
    } else if (passedOn_) {
      // A large message leaves in parts, and only while MPI is asked for something.
      sent_ = messages_.hasLeft(Step::Network);
    } else if (messages_.hasCome(Step::Network)) {
      passOn();
    }
  });
}

template <class Types>
void BlockExchange<Types>::finishMessages() {
  if (messages_.together()) {
    messages_.waitForAll();
    if (givesCopies()) copyPart(queue_, staging_, pinnedStaging_, {0, plan_->staged() * columns_});
  } else {
    passOn();
    for (const Step step : {Step::Local, Step::Scatter}) receive(step);
    messages_.waitForSends();
  }
  inFlight_ = false;
}

template <class Types>
void BlockExchange<Types>::finish() {
  requireUsable();
  if (!inFlight_) throw std::logic_error("capstan: no exchange is in flight; start one first");
  guarded([this] { finishMessages(); });
  if (plan_->needed.empty()) return;
  kernels::launch(
      "capstan unpack", queue_, plan_->needed.size(),
      Unpack<Slots, Buffer, Received>{needed_, staging_, received_, static_cast<std::size_t>(plan_->owned), columns_});
  unpacking_.begin();
}

#define CAPSTAN_BLOCK_EXCHANGE(S, LO, GO, NO) template class BlockExchange<TpetraTypes<S, LO, GO, NO>>;
CAPSTAN_INSTANTIATE(CAPSTAN_BLOCK_EXCHANGE)

}  // namespace capstan::topology
