#pragma once

/// \file
/// Executes a communication plan with MPI on Kokkos views.

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>

#include "tpetra_ext/kernels/base/execution.hpp"
#include "tpetra_ext/kernels/base/host_mirror.hpp"
#include "tpetra_ext/kernels/base/leased_buffers.hpp"
#include "tpetra_ext/topology/exchange/channel.hpp"
#include "tpetra_ext/topology/exchange/exchange_messages.hpp"
#include "tpetra_ext/topology/exchange/message_memory.hpp"
#include "tpetra_ext/topology/exchange_plan.hpp"
#include "tpetra_ext/types.hpp"

namespace capstan::topology {

/// Brings every rank the entries of a block of vectors that it needs, as a plan says.
///
/// Between start() and finish() the network's messages are under way, and the caller does work that needs none of them.
/// What is sent is packed by a kernel, for which start() waits, and what has come unpacked by another. Requests and
/// buffers are set up when a number of columns is seen first; from then on nothing is allocated. Where the device's
/// memory is not the host's, MPI is given addresses of the device if it takes them, else copies in page-locked memory
/// of the host (message_memory.hpp).
///
/// start() and finish() are collective, in the same order for all exchanges of a communicator. Several exchanges may be
/// in flight together, each once. Not for use by two threads at once. After an error of MPI, which is thrown as
/// std::runtime_error, the exchange can only be destroyed.
template <class Types>
class BlockExchange {
 public:
  using Scalar = typename Types::Scalar;
  using Device = typename Types::DeviceType;
  using Execution = typename Types::ExecutionSpace;
  using Queue = kernels::Queue<Execution>;
  /// Own entries, one column behind the other.
  using Own = Kokkos::View<const Scalar**, Kokkos::LayoutLeft, Device, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  /// Values received, the columns of a value side by side.
  using Received = Kokkos::View<Scalar**, Kokkos::LayoutRight, Device>;

  /// queue: that of the kernels that make the entries, and of those that read what has come; packing comes after the
  /// former, and unpacking before the latter. channel: that of the plan's communicator, null for one rank. Throws
  /// std::invalid_argument for a plan of another rank, and for a neighbourhood whose messages wait for one another: the
  /// standard plan has none. All ranks make their exchanges in the same order. Local; with a neighbourhood collective.
  BlockExchange(Queue& queue, std::shared_ptr<Channel> channel, std::shared_ptr<const RankPlan> plan,
                Carrier carrier = Carrier::Requests, DeviceAwareMpi deviceAware = DeviceAwareMpi::Auto);
  /// Finishes what is in flight, unless MPI is gone. After an error receives are cancelled; memory that MPI may still
  /// use is kept until the process ends.
  ~BlockExchange();
  BlockExchange(const BlockExchange&) = delete;
  BlockExchange& operator=(const BlockExchange&) = delete;

  /// Makes the buffers and requests for so many columns now, not in the first start(); without the requests of a
  /// neighbourhood, which are collective. Not in flight. Local.
  void reserve(std::size_t columns);

  /// Sends what the rank owns: `own` has a row for each of its entries, and as many columns on all ranks. It is not
  /// looked at any more after start(). Throws std::invalid_argument for another number of rows or no column, and
  /// std::logic_error while it is in flight.
  void start(const Own& own);

  /// Looks once whether the network's messages have come, which lets MPI make progress, and if so passes on what others
  /// on the node wait for. For the work between start() and finish(); does nothing at other times. Local.
  void advance();

  /// Whether this rank sends over the network or receives from it: only then advance() is of use. Local.
  bool usesNetwork() const { return !at(Step::Network).sends.empty() || !at(Step::Network).sources.empty(); }

  /// Waits for all messages. Then received() has row k for value k of the rank's needs. std::logic_error without
  /// start().
  void finish();

  /// As finish() has left it; valid until the next start().
  const Received& received() const { return received_; }

  const RankPlan& plan() const { return *plan_; }

  /// Where messages are while they are MPI's, and why, for people. Local.
  std::string memory() const;

  /// What this exchange alone has sent. Local.
  const ExchangeCounters& counters() const { return messages_.counters(); }

 private:
  using Buffer = Kokkos::View<Scalar*, Device>;
  using PinnedBuffer = Kokkos::View<Scalar*, kernels::PinnedSpace<Execution>>;
  using Mirror = kernels::HostMirror<Buffer>;
  static constexpr bool isShared =
      std::is_same<typename Mirror::memory_space, typename Buffer::memory_space>::value;  ///< by host and device
  using Slots = Kokkos::View<Slot*, Device>;

  void makeRoom(std::size_t columns);
  bool pack(Step step, const Own& own);
  void packAll(std::initializer_list<Step> steps, const Own& own);
  void receive(Step step);
  bool unpacks() const;
  bool givesCopies() const { return !isShared && !memory_.onDevice; }
  void startMessages(const Own& own);
  void passOn();
  void finishMessages();
  void requireUsable() const;
  template <class Work>
  void guarded(const Work& work);
  const StepMessages& at(Step step) const { return plan_->at(step); }

  Queue& queue_;
  std::shared_ptr<const RankPlan> plan_;
  ExchangeMessages<Scalar> messages_;
  Slots sendSlots_, needed_;  // of all steps
  std::size_t room_ = 0;      // columns that the buffers hold
  Buffer outgoing_, staging_;
  MessageMemory memory_;                         // where host and device do not share it
  PinnedBuffer pinnedOutgoing_, pinnedStaging_;  // where MPI is given copies
  Buffer receivedData_;
  Received received_;
  std::size_t columns_ = 0;  // of the exchange in flight
  bool inFlight_ = false;
  bool passedOn_ = false;  // what came over the network
  bool sent_ = false;      // what goes over it, as far as advance() knows
  bool failed_ = false;
  kernels::UseByKernels<Execution> unpacking_{queue_};  // of staging_, by the kernel that finish() launches
};

}  // namespace capstan::topology
