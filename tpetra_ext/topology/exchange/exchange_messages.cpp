#include "tpetra_ext/topology/exchange/exchange_messages.hpp"

#include <stdexcept>
#include <string>
#include <type_traits>

#include "tpetra_ext/topology/exchange/given_up.hpp"

namespace capstan::topology {
namespace {

template <class Scalar>
MPI_Datatype datatype() {
  static_assert(std::is_same<Scalar, double>::value || std::is_same<Scalar, float>::value);
  return std::is_same<Scalar, double>::value ? MPI_DOUBLE : MPI_FLOAT;
}

void start(std::vector<MPI_Request>& requests) {
  if (requests.empty()) return;
  requireSuccess("MPI_Startall", MPI_Startall(static_cast<int>(requests.size()), requests.data()));
}

void waitFor(std::vector<MPI_Request>& requests) {
  if (requests.empty()) return;
  requireSuccess("MPI_Waitall", MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
}

}  // namespace

ExchangeCounters& exchangeCounters() {
  static ExchangeCounters all;
  return all;
}

template <class Scalar>
ExchangeMessages<Scalar>::ExchangeMessages(std::shared_ptr<Channel> channel, std::shared_ptr<const RankPlan> plan,
                                           Carrier carrier)
    : channel_(std::move(channel)), plan_(std::move(plan)) {
  if (plan_ == nullptr) throw std::invalid_argument("capstan: an exchange needs a plan; got a null pointer");
  if (channel_ != nullptr) tag_ = channel_->takeTags();
  if (const int rank = channel_ == nullptr ? 0 : channel_->rank(); plan_->rank != rank) {
    throw std::invalid_argument("capstan: the communication plan of rank " + std::to_string(plan_->rank) + " on rank " +
                                std::to_string(rank));
  }
  for (const Step step : allSteps) {
    sendBegin_[number(step) + 1] = sendBegin_[number(step)] + at(step).sends.entries.size();
  }
  if (carrier == Carrier::Neighbourhood && channel_ != nullptr) makeNeighbourhood();
}

template <class Scalar>
void ExchangeMessages<Scalar>::makeNeighbourhood() {
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

template <class Scalar>
void ExchangeMessages<Scalar>::freeRequests() {
  for (auto& [columns, width] : widths_) {
    for (auto* all : {&width.sends, &width.receives}) {
      for (Requests& requests : *all) {
        for (MPI_Request& request : requests) {  // null: MPI has refused to make it
          if (request != MPI_REQUEST_NULL) requireSuccess("MPI_Request_free", MPI_Request_free(&request));
        }
        requests.clear();
      }
    }
    if (width.all != MPI_REQUEST_NULL) requireSuccess("MPI_Request_free", MPI_Request_free(&width.all));
    if (width.value != MPI_DATATYPE_NULL) requireSuccess("MPI_Type_free", MPI_Type_free(&width.value));
  }
  widths_.clear();
  width_ = nullptr;
}

template <class Scalar>
void ExchangeMessages<Scalar>::free() {
  freeRequests();
  if (graph_ != MPI_COMM_NULL) requireSuccess("MPI_Comm_free", MPI_Comm_free(&graph_));
}

template <class Scalar>
bool ExchangeMessages<Scalar>::giveUp() noexcept {
  const Deadline deadline = deadlineOfGivingUp();
  bool ended = true;
  for (auto& [columns, width] : widths_) {
    for (Requests& requests : width.receives) ended = endReceives(requests, deadline) && ended;
    for (Requests& requests : width.sends) ended = endOthers(requests, deadline) && ended;
    Requests all{width.all};
    ended = endOthers(all, deadline) && ended;
    width.all = all.front();
  }
  if (!ended) return false;
  try {
    freeRequests();
  } catch (const std::exception&) {
    // They are over, and name memory that MPI does not look at any more.
  }
  return true;
}

template <class Scalar>
void ExchangeMessages<Scalar>::use(const Scalar* outgoing, Scalar* staging) {
  outgoing_ = outgoing;
  staging_ = staging;
}

template <class Scalar>
auto ExchangeMessages<Scalar>::received(Step step) const -> Part {
  const std::vector<Slot>& begin = at(step).begin;
  if (begin.empty()) return {0, 0};
  return {stagedAt(begin.front()) * columns_, stagedAt(begin.back()) * columns_};
}

template <class Scalar>
void ExchangeMessages<Scalar>::prepare(std::size_t columns) {
  columns_ = columns;
  const auto [found, isNew] = widths_.try_emplace(columns);
  width_ = &found->second;
  if (isNew && together()) makeCounts(*width_);
  if (isNew && !together()) makeRequests(*width_);
}

template <class Scalar>
void ExchangeMessages<Scalar>::open(std::size_t columns) {
  prepare(columns);
  for (ExchangeCounters* counters : {&counters_, &exchangeCounters()}) {
    ++counters->exchanges;
    counters->columns += static_cast<long>(columns);
  }
}

template <class Scalar>
MPI_Datatype ExchangeMessages<Scalar>::valueOf(Width& width) {
  if (columns_ == 1) return datatype<Scalar>();
  requireSuccess("MPI_Type_contiguous",
                 MPI_Type_contiguous(static_cast<int>(columns_), datatype<Scalar>(), &width.value));
  requireSuccess("MPI_Type_commit", MPI_Type_commit(&width.value));
  return width.value;
}

template <class Scalar>
void ExchangeMessages<Scalar>::makeRequests(Width& width) {
  // One rank alone has no message, and may have no MPI.
  const MPI_Datatype value = channel_ == nullptr ? MPI_DATATYPE_NULL : valueOf(width);
  for (const Step step : allSteps) {
    const std::size_t s = number(step);
    const StepMessages& messages = at(step);
    const int tag = tag_ + static_cast<int>(step);
    for (std::size_t k = 0; k < messages.sources.size(); ++k) {
      width.receives[s].push_back(MPI_REQUEST_NULL);
      requireSuccess("MPI_Recv_init", MPI_Recv_init(staging_ + stagedAt(messages.begin[k]) * columns_,
                                                    static_cast<int>(messages.values(k)), value, messages.sources[k],
                                                    tag, channel_->comm(), &width.receives[s].back()));
    }
    for (std::size_t k = 0; k < messages.sends.size(); ++k) {
      width.sends[s].push_back(MPI_REQUEST_NULL);
      requireSuccess("MPI_Send_init",
                     MPI_Send_init(outgoing_ + (sendBegin_[s] + messages.sends.begin[k]) * columns_,
                                   static_cast<int>(messages.sends.list(k).size()), value, messages.sends.peers[k], tag,
                                   channel_->comm(), &width.sends[s].back()));
    }
    width.bytes[s] = static_cast<long>(messages.sends.entries.size() * columns_ * sizeof(Scalar));
  }
}

/// What a neighbourhood's call needs to know, in the order of its ranks.
template <class Scalar>
void ExchangeMessages<Scalar>::makeCounts(Width& width) {
  [[maybe_unused]] const MPI_Datatype value = valueOf(width);
  const auto counted = [](std::size_t values) { return static_cast<int>(values); };
  for (const Step step : stepsAtOnce) {
    const std::size_t s = number(step);
    const StepMessages& messages = at(step);
    for (std::size_t k = 0; k < messages.sources.size(); ++k) {
      width.receiveCounts.push_back(counted(messages.values(k)));
      width.receiveBegins.push_back(counted(stagedAt(messages.begin[k])));
    }
    for (std::size_t k = 0; k < messages.sends.size(); ++k) {
      width.sendCounts.push_back(counted(messages.sends.list(k).size()));
      width.sendBegins.push_back(counted(sendBegin_[s] + messages.sends.begin[k]));
    }
    width.bytes[s] = static_cast<long>(messages.sends.entries.size() * columns_ * sizeof(Scalar));
  }
#if MPI_VERSION >= 4
  requireSuccess("MPI_Neighbor_alltoallv_init",
                 MPI_Neighbor_alltoallv_init(outgoing_, width.sendCounts.data(), width.sendBegins.data(), value,
                                             staging_, width.receiveCounts.data(), width.receiveBegins.data(), value,
                                             graph_, MPI_INFO_NULL, &width.all));
#endif
}

template <class Scalar>
void ExchangeMessages<Scalar>::startAll() {
  for (const Step step : stepsAtOnce) count(step, at(step).sends.size());
#if MPI_VERSION >= 4
  requireSuccess("MPI_Start", MPI_Start(&width_->all));
#else
  const MPI_Datatype value = columns_ == 1 ? datatype<Scalar>() : width_->value;
  requireSuccess(
      "MPI_Ineighbor_alltoallv",
      MPI_Ineighbor_alltoallv(outgoing_, width_->sendCounts.data(), width_->sendBegins.data(), value, staging_,
                              width_->receiveCounts.data(), width_->receiveBegins.data(), value, graph_, &width_->all));
#endif
}

template <class Scalar>
bool ExchangeMessages<Scalar>::allOver() {
  int done = 0;
  requireSuccess("MPI_Test", MPI_Test(&width_->all, &done, MPI_STATUS_IGNORE));
  return done != 0;
}

template <class Scalar>
void ExchangeMessages<Scalar>::waitForAll() {
  requireSuccess("MPI_Wait", MPI_Wait(&width_->all, MPI_STATUS_IGNORE));
}

template <class Scalar>
void ExchangeMessages<Scalar>::startReceives() {
  for (Requests& requests : width_->receives) start(requests);
}

template <class Scalar>
void ExchangeMessages<Scalar>::send(Step step) {
  Requests& requests = width_->sends[number(step)];
  if (requests.empty()) return;
  start(requests);
  count(step, requests.size());
}

template <class Scalar>
bool ExchangeMessages<Scalar>::wait(Step step) {
  Requests& requests = width_->receives[number(step)];
  waitFor(requests);
  return !requests.empty();
}

template <class Scalar>
void ExchangeMessages<Scalar>::waitForSends() {
  for (Requests& requests : width_->sends) waitFor(requests);
}

template <class Scalar>
bool ExchangeMessages<Scalar>::over(Requests& requests) {
  int done = 0;
  requireSuccess("MPI_Testall",
                 MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE));
  return done != 0;
}

template <class Scalar>
void ExchangeMessages<Scalar>::count(Step step, std::size_t messages) {
  const long bytes = width_->bytes[number(step)];
  for (ExchangeCounters* counters : {&counters_, &exchangeCounters()}) {
    counters->messages += static_cast<long>(messages);
    counters->bytes += bytes;
    if (step != Step::Network) continue;
    counters->networkMessages += static_cast<long>(messages);
    counters->networkBytes += bytes;
  }
}

template class ExchangeMessages<double>;
template class ExchangeMessages<float>;

}  // namespace capstan::topology
