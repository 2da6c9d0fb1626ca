#include "tpetra_ext/topology/exchange/block_exchange.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "tpetra_ext/compat/instantiate.hpp"
#include "tpetra_ext/kernels/base/fence.hpp"

namespace capstan::topology {
namespace {

template <class Scalar>
MPI_Datatype datatype() {
  static_assert(std::is_same<Scalar, double>::value || std::is_same<Scalar, float>::value);
  return std::is_same<Scalar, double>::value ? MPI_DOUBLE : MPI_FLOAT;
}

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

template <class Device>
Kokkos::View<Slot*, Device> onDevice(const char* label, const std::vector<Slot>& slots) {
  Kokkos::View<Slot*, Device> view(std::string(label), slots.size());
  const auto host = Kokkos::create_mirror_view(view);
  std::copy(slots.begin(), slots.end(), host.data());
  Kokkos::deep_copy(view, host);
  return view;
}

/// Entries from..to-1, copied where host and device have memories of their own.
template <class To, class From>
void copyPart(const To& to, const From& from, std::size_t begin, std::size_t end) {
  if (begin == end || static_cast<const void*>(to.data()) == static_cast<const void*>(from.data())) return;
  const auto part = std::make_pair(begin, end);
  Kokkos::deep_copy(Kokkos::subview(to, part), Kokkos::subview(from, part));
}

}  // namespace

ExchangeCounters& exchangeCounters() {
  static ExchangeCounters all;
  return all;
}

template <class Types>
BlockExchange<Types>::BlockExchange(std::shared_ptr<Channel> channel, std::shared_ptr<const RankPlan> plan,
                                    Carrier carrier)
    : channel_(std::move(channel)), plan_(std::move(plan)) {
  if (plan_ == nullptr) throw std::invalid_argument("capstan: an exchange needs a plan; got a null pointer");
  if (channel_ != nullptr) tag_ = channel_->takeTags();
  if (const int rank = channel_ == nullptr ? 0 : channel_->rank(); plan_->rank != rank) {
    throw std::invalid_argument("capstan: the communication plan of rank " + std::to_string(plan_->rank) + " on rank " +
                                std::to_string(rank));
  }
  std::vector<Slot> slots;
  for (const Step step : allSteps) {
    slots.insert(slots.end(), at(step).sends.entries.begin(), at(step).sends.entries.end());
    sendBegin_[static_cast<std::size_t>(step) + 1] = slots.size();
  }
  sendSlots_ = onDevice<Device>("capstan sends", slots);
  needed_ = onDevice<Device>("capstan needs", plan_->needed);
  if (carrier == Carrier::Neighbourhood && channel_ != nullptr) makeNeighbourhood();
}

/// The steps whose messages wait for no others.
constexpr Step stepsAtOnce[] = {Step::Local, Step::Network};

template <class Types>
void BlockExchange<Types>::makeNeighbourhood() {
  // By the strategy, which all ranks have alike: a rank may have no message that waits for others where another has.
  if (plan_->strategy != Strategy::Standard) {
    throw std::invalid_argument("capstan: a neighbourhood exchange needs the standard communication plan");
  }
  std::vector<int> sources, receivers;
  for (const Step step : stepsAtOnce) {
    sources.insert(sources.end(), at(step).sources.begin(), at(step).sources.end());
    receivers.insert(receivers.end(), at(step).sends.peers.begin(), at(step).sends.peers.end());
  }
  requireSuccess("MPI_Dist_graph_create_adjacent",
                 MPI_Dist_graph_create_adjacent(channel_->comm(), static_cast<int>(sources.size()), sources.data(),
                                                MPI_UNWEIGHTED, static_cast<int>(receivers.size()), receivers.data(),
                                                MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph_));
}

template <class Types>
BlockExchange<Types>::~BlockExchange() {
  int finalized = 0;
  if (MPI_Finalized(&finalized) != MPI_SUCCESS || finalized != 0) return;
  try {
    if (failed_) return;
    if (inFlight_ != nullptr) finishMessages();
    freeRequests();
    if (graph_ != MPI_COMM_NULL) MPI_Comm_free(&graph_);
  } catch (const std::exception&) {
    // MPI is not to be relied on any more; what is in flight stays where it is.
  }
}

template <class Types>
void BlockExchange<Types>::freeRequests() {
  for (auto& [columns, width] : widths_) {
    for (auto* all : {&width.sends, &width.receives}) {
      for (Requests& requests : *all) {
        for (MPI_Request& request : requests) requireSuccess("MPI_Request_free", MPI_Request_free(&request));
        requests.clear();
      }
    }
    if (width.all != MPI_REQUEST_NULL) requireSuccess("MPI_Request_free", MPI_Request_free(&width.all));
  }
  widths_.clear();
}

template <class Types>
void BlockExchange<Types>::makeRoom(std::size_t columns) {
  if (columns <= room_) return;
  freeRequests();  // they name the old buffers
  outgoing_ = Buffer("capstan outgoing", sendBegin_.back() * columns);
  staging_ = Buffer("capstan staging", plan_->staged() * columns);
  receivedData_ = Buffer("capstan received", plan_->needed.size() * columns);
  hostOutgoing_ = Kokkos::create_mirror_view(outgoing_);
  hostStaging_ = Kokkos::create_mirror_view(staging_);
  room_ = columns;
}

template <class Types>
void BlockExchange<Types>::makeRequests(Width& width, int columns) {
  const auto c = static_cast<std::size_t>(columns);
  const auto count = [&](std::size_t values) {
    if (values * c > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
      throw std::length_error("capstan: a message of " + std::to_string(values * c) + " numbers; MPI takes at most " +
                              std::to_string(std::numeric_limits<int>::max()));
    }
    return static_cast<int>(values * c);
  };
  if (graph_ != MPI_COMM_NULL) return makeCounts(width, columns);
  for (const Step step : allSteps) {
    const auto s = static_cast<std::size_t>(step);
    const StepMessages& messages = at(step);
    const int tag = tag_ + static_cast<int>(step);
    for (std::size_t k = 0; k < messages.sources.size(); ++k) {
      Scalar* const to = hostStaging_.data() + static_cast<std::size_t>(messages.begin[k] - plan_->owned) * c;
      width.receives[s].push_back(MPI_REQUEST_NULL);
      requireSuccess("MPI_Recv_init",
                     MPI_Recv_init(to, count(messages.values(k)), datatype<Scalar>(), messages.sources[k], tag,
                                   channel_->comm(), &width.receives[s].back()));
    }
    for (std::size_t k = 0; k < messages.sends.size(); ++k) {
      const Scalar* const from = hostOutgoing_.data() + (sendBegin_[s] + messages.sends.begin[k]) * c;
      width.sends[s].push_back(MPI_REQUEST_NULL);
      requireSuccess("MPI_Send_init",
                     MPI_Send_init(from, count(messages.sends.list(k).size()), datatype<Scalar>(),
                                   messages.sends.peers[k], tag, channel_->comm(), &width.sends[s].back()));
    }
    width.bytes[s] = static_cast<long>(messages.sends.entries.size() * c * sizeof(Scalar));
  }
}

/// What a neighbourhood's call needs to know, in the order of its ranks.
template <class Types>
void BlockExchange<Types>::makeCounts(Width& width, int columns) {
  const auto c = static_cast<std::size_t>(columns);
  if (std::max(sendBegin_.back(), plan_->staged()) * c > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw std::length_error("capstan: an exchange of more numbers than MPI counts");
  }
  const auto scaled = [c](std::size_t values) { return static_cast<int>(values * c); };
  for (const Step step : stepsAtOnce) {
    const auto s = static_cast<std::size_t>(step);
    const StepMessages& messages = at(step);
    for (std::size_t k = 0; k < messages.sources.size(); ++k) {
      width.receiveCounts.push_back(scaled(messages.values(k)));
      width.receiveBegins.push_back(scaled(static_cast<std::size_t>(messages.begin[k] - plan_->owned)));
    }
    for (std::size_t k = 0; k < messages.sends.size(); ++k) {
      width.sendCounts.push_back(scaled(messages.sends.list(k).size()));
      width.sendBegins.push_back(scaled(sendBegin_[s] + messages.sends.begin[k]));
    }
    width.bytes[s] = static_cast<long>(messages.sends.entries.size() * c * sizeof(Scalar));
  }
#if MPI_VERSION >= 4
  requireSuccess(
      "MPI_Neighbor_alltoallv_init",
      MPI_Neighbor_alltoallv_init(hostOutgoing_.data(), width.sendCounts.data(), width.sendBegins.data(),
                                  datatype<Scalar>(), hostStaging_.data(), width.receiveCounts.data(),
                                  width.receiveBegins.data(), datatype<Scalar>(), graph_, MPI_INFO_NULL, &width.all));
#endif
}

template <class Types>
void BlockExchange<Types>::startNeighbourhood(const Own& own) {
  bool packed = false;
  for (const Step step : stepsAtOnce) packed = pack(step, own) || packed;
  if (packed) kernels::fence(Execution());
  Width& width = *inFlight_;
  for (const Step step : stepsAtOnce) {
    const auto s = static_cast<std::size_t>(step);
    copyPart(hostOutgoing_, outgoing_, sendBegin_[s] * columns_, sendBegin_[s + 1] * columns_);
    count(step, static_cast<long>(at(step).sends.size()));
  }
#if MPI_VERSION >= 4
  requireSuccess("MPI_Start", MPI_Start(&width.all));
#else
  requireSuccess("MPI_Ineighbor_alltoallv",
                 MPI_Ineighbor_alltoallv(hostOutgoing_.data(), width.sendCounts.data(), width.sendBegins.data(),
                                         datatype<Scalar>(), hostStaging_.data(), width.receiveCounts.data(),
                                         width.receiveBegins.data(), datatype<Scalar>(), graph_, &width.all));
#endif
}

template <class Types>
void BlockExchange<Types>::count(Step step, long messages) {
  const long bytes = inFlight_->bytes[static_cast<std::size_t>(step)];
  for (ExchangeCounters* counters : {&counters_, &exchangeCounters()}) {
    counters->messages += messages;
    counters->bytes += bytes;
    if (step != Step::Network) continue;
    counters->networkMessages += messages;
    counters->networkBytes += bytes;
  }
}

template <class Types>
auto BlockExchange<Types>::widthFor(std::size_t columns) -> Width& {
  makeRoom(columns);
  const auto [at, isNew] = widths_.try_emplace(columns);
  if (isNew) makeRequests(at->second, static_cast<int>(columns));
  return at->second;
}

/// Whether there was anything to pack.
template <class Types>
bool BlockExchange<Types>::pack(Step step, const Own& own) {
  const std::size_t begin = sendBegin_[static_cast<std::size_t>(step)];
  const std::size_t end = sendBegin_[static_cast<std::size_t>(step) + 1];
  if (begin == end) return false;
  Kokkos::parallel_for(
      "capstan pack", Kokkos::RangePolicy<Execution>(begin, end),
      Pack<Slots, Own, Buffer>{sendSlots_, own, staging_, outgoing_, static_cast<std::size_t>(plan_->owned), columns_});
  return true;
}

template <class Types>
void BlockExchange<Types>::send(Step step) {
  const auto s = static_cast<std::size_t>(step);
  Requests& requests = inFlight_->sends[s];
  if (requests.empty()) return;
  copyPart(hostOutgoing_, outgoing_, sendBegin_[s] * columns_, sendBegin_[s + 1] * columns_);
  requireSuccess("MPI_Startall", MPI_Startall(static_cast<int>(requests.size()), requests.data()));
  count(step, static_cast<long>(requests.size()));
}

template <class Types>
void BlockExchange<Types>::packAndSend(std::initializer_list<Step> steps, const Own& own) {
  bool packed = false;
  for (const Step step : steps) packed = pack(step, own) || packed;
  if (packed) kernels::fence(Execution());
  for (const Step step : steps) send(step);
}

/// Waits for the messages of a step; what they bring is then on the device.
template <class Types>
void BlockExchange<Types>::receive(Step step) {
  Requests& requests = inFlight_->receives[static_cast<std::size_t>(step)];
  if (requests.empty()) return;
  requireSuccess("MPI_Waitall", MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
  const auto place = [&](Slot slot) { return static_cast<std::size_t>(slot - plan_->owned) * columns_; };
  copyPart(staging_, hostStaging_, place(at(step).begin.front()), place(at(step).begin.back()));
}

/// After an error nothing that is in flight can be waited for.
template <class Types>
template <class Work>
void BlockExchange<Types>::guarded(const Work& work) {
  if (failed_) throw std::runtime_error("capstan: MPI has failed in an exchange, which cannot be used any more");
  try {
    work();
  } catch (...) {
    failed_ = true;
    throw;
  }
}

template <class Types>
void BlockExchange<Types>::start(const Own& own) {
  if (inFlight_ != nullptr) throw std::logic_error("capstan: an exchange is in flight already; finish it first");
  if (own.extent(0) != static_cast<std::size_t>(plan_->owned) || own.extent(1) == 0) {
    throw std::invalid_argument("capstan: a block of " + std::to_string(own.extent(0)) + " rows and " +
                                std::to_string(own.extent(1)) + " columns; the communication plan is for " +
                                std::to_string(plan_->owned) + " rows and at least one column");
  }
  guarded([&] { startMessages(own); });
}

template <class Types>
void BlockExchange<Types>::startMessages(const Own& own) {
  Width& width = widthFor(own.extent(1));
  columns_ = own.extent(1);
  received_ = Received(receivedData_.data(), plan_->needed.size(), columns_);
  inFlight_ = &width;
  passedOn_ = sent_ = false;
  for (ExchangeCounters* counters : {&counters_, &exchangeCounters()}) {
    ++counters->exchanges;
    counters->columns += static_cast<long>(columns_);
  }
  if (graph_ != MPI_COMM_NULL) return startNeighbourhood(own);
  for (Requests& requests : width.receives) {
    if (requests.empty()) continue;
    requireSuccess("MPI_Startall", MPI_Startall(static_cast<int>(requests.size()), requests.data()));
  }
  // What the network waits for goes first.
  packAndSend({Step::Gather, Step::Local}, own);
  receive(Step::Gather);
  packAndSend({Step::Network}, own);
}

/// Waits for the network's messages, and sends what they bring for others on the node.
template <class Types>
void BlockExchange<Types>::passOn() {
  if (passedOn_) return;
  receive(Step::Network);
  packAndSend({Step::Scatter}, Own());
  passedOn_ = true;
}

template <class Types>
void BlockExchange<Types>::advance() {
  if (inFlight_ == nullptr || (passedOn_ && sent_)) return;
  guarded([this] {
    if (graph_ != MPI_COMM_NULL) {
      int over = 0;
      requireSuccess("MPI_Test", MPI_Test(&inFlight_->all, &over, MPI_STATUS_IGNORE));
      sent_ = passedOn_ = over != 0;
      return;
    }
    // A large message leaves in parts, and only while MPI is asked for something.
    const auto network = static_cast<std::size_t>(Step::Network);
    Requests& requests = passedOn_ ? inFlight_->sends[network] : inFlight_->receives[network];
    int done = 0;
    requireSuccess("MPI_Testall",
                   MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE));
    if (done == 0) return;
    if (passedOn_) {
      sent_ = true;
    } else {
      passOn();
    }
  });
}

template <class Types>
void BlockExchange<Types>::finishMessages() {
  if (graph_ != MPI_COMM_NULL) {
    requireSuccess("MPI_Wait", MPI_Wait(&inFlight_->all, MPI_STATUS_IGNORE));
    copyPart(staging_, hostStaging_, 0, plan_->staged() * columns_);
    inFlight_ = nullptr;
    return;
  }
  passOn();
  for (const Step step : {Step::Local, Step::Scatter}) receive(step);
  for (Requests& requests : inFlight_->sends) {
    if (requests.empty()) continue;
    requireSuccess("MPI_Waitall", MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
  }
  inFlight_ = nullptr;
}

template <class Types>
void BlockExchange<Types>::finish() {
  if (inFlight_ == nullptr) throw std::logic_error("capstan: no exchange is in flight; start one first");
  guarded([this] { finishMessages(); });
  if (plan_->needed.empty()) return;
  Kokkos::parallel_for(
      "capstan unpack", Kokkos::RangePolicy<Execution>(0, plan_->needed.size()),
      Unpack<Slots, Buffer, Received>{needed_, staging_, received_, static_cast<std::size_t>(plan_->owned), columns_});
}

#define CAPSTAN_BLOCK_EXCHANGE(S, LO, GO, NO) template class BlockExchange<TpetraTypes<S, LO, GO, NO>>;
CAPSTAN_INSTANTIATE(CAPSTAN_BLOCK_EXCHANGE)

}  // namespace capstan::topology
