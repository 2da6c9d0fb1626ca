#include "tpetra_ext/topology/exchange/embedded_exchange.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "tpetra_ext/compat/instantiate.hpp"
#include "tpetra_ext/kernels/base/copy.hpp"
#include "tpetra_ext/kernels/base/fence.hpp"
#include "tpetra_ext/topology/exchange/given_up.hpp"

namespace capstan::topology {
namespace {

/// Shapes kept at a time: those of the iterations, and of what comes between them.
constexpr std::size_t keptShapes = 12;

template <class Scalar>
MPI_Datatype datatype() {
  static_assert(std::is_same<Scalar, double>::value || std::is_same<Scalar, float>::value);
  return std::is_same<Scalar, double>::value ? MPI_DOUBLE : MPI_FLOAT;
}

/// Entries that are sent, the columns of each side by side from column `first` on.
template <class Slots, class Own, class Buffer>
struct PackColumns {
  Slots slots;
  Own own;
  Buffer to;
  std::size_t first, columns;  // columns of all blocks

  KOKKOS_FUNCTION void operator()(const std::size_t k) const {
    for (std::size_t j = 0; j < own.extent(1); ++j) {
      to(k * columns + first + j) = own(static_cast<std::size_t>(slots(k)), j);
    }
  }
};

/// Of the lower position's part and the other one's, the same bits on both sides. Of two NaNs it is the former's: a
/// compiler may exchange the operands of a sum, whose NaN is one of the two.
template <class Scalar>
Scalar sumOf(Scalar lower, Scalar upper) {
  return std::isnan(lower) ? lower : lower + upper;
}

}  // namespace

template <class Types>
EmbeddedExchange<Types>::EmbeddedExchange(Queue& queue, std::shared_ptr<Channel> channel,
                                          std::shared_ptr<const EmbeddedPlan> plan)
    : queue_(queue), channel_(std::move(channel)), plan_(std::move(plan)) {
  if (plan_ == nullptr) throw std::invalid_argument("capstan: an embedded exchange needs a plan; got a null pointer");
  if (channel_ != nullptr) tag_ = channel_->takeTags();
  const int rank = channel_ == nullptr ? 0 : channel_->rank(), ranks = channel_ == nullptr ? 1 : channel_->ranks();
  if (plan_->rank != rank || plan_->ranks != ranks) {
    throw std::invalid_argument("capstan: the plan of rank " + std::to_string(plan_->rank) + " of " +
                                std::to_string(plan_->ranks) + " on rank " + std::to_string(rank) + " of " +
                                std::to_string(ranks));
  }
  std::vector<Slot> own;
  for (const EmbeddedStep& step : plan_->steps) {
    std::copy_if(step.sent.begin(), step.sent.end(), std::back_inserter(own),
                 [this](Slot slot) { return slot < plan_->owned; });
  }
  std::sort(own.begin(), own.end());
  own.erase(std::unique(own.begin(), own.end()), own.end());
  placeOfOwn_.resize(static_cast<std::size_t>(plan_->owned));
  ownSlots_ = kernels::copied<Slots>(queue_, "capstan carried", own);
  for (std::size_t k = 0; k < own.size(); ++k) placeOfOwn_[static_cast<std::size_t>(own[k])] = k;
}

template <class Types>
EmbeddedExchange<Types>::~EmbeddedExchange() {
  int finalized = 0;
  if (MPI_Finalized(&finalized) != MPI_SUCCESS || finalized != 0) return;
  const Deadline deadline = deadlineOfGivingUp();
  for (auto& [key, shape] : shapes_) {
    // Without a failure none is under way.
    const bool received = endReceives(shape.receives, deadline), sent = endOthers(shape.sends, deadline);
    if (!received || !sent) {
      keepForMpi(std::move(shape));
      continue;
    }
    try {
      freeRequests(shape);
    } catch (const std::exception&) {
      // MPI is not to be relied on any more.
    }
  }
}

template <class Types>
void EmbeddedExchange<Types>::freeRequests(Shape& shape) {
  for (auto* requests : {&shape.sends, &shape.receives}) {
    for (MPI_Request& request : *requests) {
      if (request != MPI_REQUEST_NULL) requireSuccess("MPI_Request_free", MPI_Request_free(&request));
    }
  }
}

template <class Types>
auto EmbeddedExchange<Types>::shapeFor(int count, std::size_t columns) -> Shape& {
  const Key key(count, columns);
  auto found = shapes_.find(key);
  if (found == shapes_.end()) {
    if (shapes_.size() == keptShapes) {
      const auto oldest = std::min_element(shapes_.begin(), shapes_.end(), [](const auto& a, const auto& b) {
        return a.second.lastUse < b.second.lastUse;
      });
      freeRequests(oldest->second);
      shapes_.erase(oldest);
    }
    found = shapes_.try_emplace(key).first;
    makeShape(found->second, count, columns);
  }
  found->second.lastUse = ++uses_;
  return found->second;
}

/// Buffers, requests and addresses. A message is the sums, then the values, the columns of a value side by side.
template <class Types>
void EmbeddedExchange<Types>::makeShape(Shape& shape, int count, std::size_t columns) {
  const auto sums = static_cast<std::size_t>(count);
  const auto sizeOf = [&](std::size_t values) { return sums + values * columns; };
  std::size_t outgoing = 0, incoming = 0;
  std::vector<std::size_t> placeOfReceived;  // by slot beyond the own ones
  for (const EmbeddedStep& step : plan_->steps) {
    shape.sendAt.push_back(outgoing);
    shape.receiveAt.push_back(incoming);
    if (step.sends()) outgoing += sizeOf(step.sent.size());
    if (!step.receives()) continue;
    for (Slot slot = step.begin; slot < step.end; ++slot) {
      placeOfReceived.push_back(incoming + sums + static_cast<std::size_t>(slot - step.begin) * columns);
    }
    incoming += sizeOf(static_cast<std::size_t>(step.end - step.begin));
  }
  if (std::max(outgoing, incoming) > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw std::length_error("capstan: the messages of an embedded exchange have " +
                            std::to_string(std::max(outgoing, incoming)) + " numbers; MPI takes at most " +
                            std::to_string(std::numeric_limits<int>::max()));
  }
  const Loaded& loaded = loadedFor(columns);
  shape.outgoing.resize(outgoing);
  shape.incoming.resize(incoming);
  shape.ghosts = kernels::unfilled<decltype(shape.ghosts)>("capstan ghosts", plan_->needed.size(), columns);
  const auto address = [&](Slot slot) -> const Scalar* {
    if (slot < plan_->owned) return loaded.host.data() + placeOfOwn_[static_cast<std::size_t>(slot)] * columns;
    return shape.incoming.data() + placeOfReceived[static_cast<std::size_t>(slot - plan_->owned)];
  };
  for (const Slot slot : plan_->needed) shape.needed.push_back(address(slot));
  for (std::size_t s = 0; s < plan_->steps.size(); ++s) {
    const EmbeddedStep& step = plan_->steps[s];
    shape.sends.push_back(MPI_REQUEST_NULL);
    shape.receives.push_back(MPI_REQUEST_NULL);
    if (columns > 0) {
      for (const Slot slot : step.sent) shape.sources.push_back(address(slot));
    }
    if (step.sends()) {
      const std::size_t size = sizeOf(step.sent.size());
      requireSuccess("MPI_Send_init",
                     MPI_Send_init(shape.outgoing.data() + shape.sendAt[s], static_cast<int>(size), datatype<Scalar>(),
                                   step.partner, tag_, channel_->comm(), &shape.sends.back()));
      shape.bytes += static_cast<long>(size * sizeof(Scalar));
      ++shape.messages;
    }
    if (step.receives()) {
      const std::size_t size = sizeOf(static_cast<std::size_t>(step.end - step.begin));
      requireSuccess("MPI_Recv_init",
                     MPI_Recv_init(shape.incoming.data() + shape.receiveAt[s], static_cast<int>(size),
                                   datatype<Scalar>(), step.partner, tag_, channel_->comm(), &shape.receives.back()));
    }
  }
}

template <class Types>
auto EmbeddedExchange<Types>::loadedFor(std::size_t columns) -> Loaded& {
  const auto [at, isNew] = loaded_.try_emplace(columns);
  if (isNew) {
    at->second.device = kernels::unfilled<Buffer>("capstan carried", ownSlots_.extent(0) * columns);
    at->second.host = kernels::mirror(at->second.device);
  }
  return at->second;
}

/// Columns of all blocks, which must be those of the plan.
template <class Types>
std::size_t EmbeddedExchange<Types>::columnsOf(const std::vector<Carried>& carried) const {
  std::size_t columns = 0;
  for (const Carried& block : carried) {
    if (block.own.extent(0) != static_cast<std::size_t>(plan_->owned) ||
        block.ghosts.extent(0) != plan_->needed.size() || block.own.extent(1) != block.ghosts.extent(1)) {
      throw std::invalid_argument(
          "capstan: embedded exchange: a block of " + std::to_string(block.own.extent(0)) + " x " +
          std::to_string(block.own.extent(1)) + " own entries and " + std::to_string(block.ghosts.extent(0)) + " x " +
          std::to_string(block.ghosts.extent(1)) + " of others; the plan is for " + std::to_string(plan_->owned) +
          " and " + std::to_string(plan_->needed.size()) + " rows");
    }
    columns += block.own.extent(1);
  }
  return columns;
}

template <class Types>
bool EmbeddedExchange<Types>::load(const std::vector<Carried>& carried) {
  const std::size_t columns = columnsOf(carried);
  if (ownSlots_.extent(0) == 0 || columns == 0) return false;
  const Loaded& loaded = loadedFor(columns);
  std::size_t first = 0;
  for (const Carried& block : carried) {
    kernels::launch("capstan pack", queue_, ownSlots_.extent(0),
                    PackColumns<Slots, Own, Buffer>{ownSlots_, block.own, loaded.device, first, columns});
    first += block.own.extent(1);
  }
  return true;
}

template <class Types>
void EmbeddedExchange<Types>::run(Scalar* sums, int count, const std::vector<Carried>& carried) {
  if (load(carried)) kernels::fence(queue_);
  runLoaded(sums, count, carried);
}

template <class Types>
void EmbeddedExchange<Types>::runLoaded(Scalar* sums, int count, const std::vector<Carried>& carried) {
  if (failed_) throw std::runtime_error("capstan: MPI has failed in an exchange, which cannot be used any more");
  const std::size_t columns = columnsOf(carried);
  if (channel_ == nullptr || (count == 0 && columns == 0)) return;
  try {
    Shape& shape = shapeFor(count, columns);
    const Loaded& loaded = loadedFor(columns);
    if (loaded.host.data() != loaded.device.data()) kernels::copyAndWait(queue_, loaded.host, loaded.device);
    exchange(shape, sums, count, columns);
    deliver(shape, carried, columns);
    for (ExchangeCounters* counters : {&counters_, &exchangeCounters()}) {
      counters->messages += shape.messages;
      counters->bytes += shape.bytes;
      ++counters->exchanges;
      counters->columns += static_cast<long>(columns);
    }
  } catch (...) {
    failed_ = true;
    throw;
  }
}

/// The steps, one after the other: what one brings may have to travel on in the next.
template <class Types>
void EmbeddedExchange<Types>::exchange(Shape& shape, Scalar* sums, int count, std::size_t columns) {
  using Sums = EmbeddedStep::Sums;
  for (MPI_Request& request : shape.receives) {
    if (request != MPI_REQUEST_NULL) requireSuccess("MPI_Start", MPI_Start(&request));
  }
  const Scalar* const* source = shape.sources.data();
  for (std::size_t s = 0; s < plan_->steps.size(); ++s) {
    const EmbeddedStep& step = plan_->steps[s];
    if (step.sends()) {
      Scalar* to = std::copy_n(sums, count, shape.outgoing.data() + shape.sendAt[s]);
      if (columns > 0) {
        for (std::size_t k = 0; k < step.sent.size(); ++k) to = std::copy_n(*source++, columns, to);
      }
      requireSuccess("MPI_Start", MPI_Start(&shape.sends[s]));
    }
    if (!step.receives()) continue;
    requireSuccess("MPI_Wait", MPI_Wait(&shape.receives[s], MPI_STATUS_IGNORE));
    const Scalar* const theirs = shape.incoming.data() + shape.receiveAt[s];
    if (step.sums == Sums::Replaced) {
      std::copy_n(theirs, count, sums);
    } else {
      for (int k = 0; k < count; ++k) {
        sums[k] = step.lower ? sumOf(sums[k], theirs[k]) : sumOf(theirs[k], sums[k]);
      }
    }
  }
  requireSuccess("MPI_Waitall",
                 MPI_Waitall(static_cast<int>(shape.sends.size()), shape.sends.data(), MPI_STATUSES_IGNORE));
}

template <class Types>
void EmbeddedExchange<Types>::deliver(Shape& shape, const std::vector<Carried>& carried, std::size_t columns) {
  const std::size_t rows = shape.needed.size();
  if (rows == 0 || columns == 0) return;
  for (std::size_t k = 0; k < rows; ++k) {
    for (std::size_t j = 0; j < columns; ++j) shape.ghosts(k, j) = shape.needed[k][j];
  }
  std::size_t first = 0;
  for (const Carried& block : carried) {
    const std::size_t width = block.ghosts.extent(1);
    kernels::copyAndWait(queue_, block.ghosts,
                         Kokkos::subview(shape.ghosts, Kokkos::ALL, std::make_pair(first, first + width)));
    first += width;
  }
}

#define CAPSTAN_EMBEDDED_EXCHANGE(S, LO, GO, NO) template class EmbeddedExchange<TpetraTypes<S, LO, GO, NO>>;
CAPSTAN_INSTANTIATE(CAPSTAN_EMBEDDED_EXCHANGE)

}  // namespace capstan::topology
