#pragma once

/// \file
/// The messages of an exchange: what a plan says, as MPI's requests on memory of the host, or of a device whose
/// addresses MPI takes.

#include <mpi.h>

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "tpetra_ext/topology/exchange/channel.hpp"
#include "tpetra_ext/topology/exchange_plan.hpp"

namespace capstan::topology {

/// What this process has sent by exchanges so far, counted where MPI is called. Local.
struct ExchangeCounters {
  long messages = 0;
  long bytes = 0;
  /// Of these, those that a plan sends between nodes. Plans of an Import, and embedded exchanges, do not tell nodes.
  long networkMessages = 0;
  long networkBytes = 0;
  long exchanges = 0;
  long columns = 0;  ///< of all exchanges together
};
/// Of all exchanges.
ExchangeCounters& exchangeCounters();

/// How the messages of an exchange travel.
enum class Carrier {
  Requests,      ///< a persistent request for each
  Neighbourhood  ///< all in one MPI_Ineighbor_alltoallv, persistent where MPI has that (MPI-4)
};

/// The steps whose messages wait for no others.
constexpr Step stepsAtOnce[] = {Step::Local, Step::Network};

/// Requests for the messages of a plan, made when a number of columns is seen first. Numbers to be sent lie in one
/// piece of memory, step by step, numbers that come in another one, the staging area.
///
/// Failures of MPI are thrown as std::runtime_error; nothing may be called after one but giveUp() and the destructor,
/// which leaves to MPI what has not been given back by free().
template <class Scalar>
class ExchangeMessages {
 public:
  /// Numbers of a piece of memory: the first, and the one behind the last.
  using Part = std::pair<std::size_t, std::size_t>;

  /// As BlockExchange.
  ExchangeMessages(std::shared_ptr<Channel> channel, std::shared_ptr<const RankPlan> plan, Carrier carrier);
  ExchangeMessages(const ExchangeMessages&) = delete;
  ExchangeMessages& operator=(const ExchangeMessages&) = delete;

  /// Gives the requests back; none is in flight. Local.
  void freeRequests();
  /// Gives everything back. With a neighbourhood collective.
  void free();

  /// Ends what is under way after a failure, as far as MPI lets it: whether the memory named by use() is the caller's
  /// again. A neighbourhood's communicator is left to MPI. Local.
  bool giveUp() noexcept;

  /// Where what is sent lies from now on, and where what comes is put. After freeRequests(). Local.
  void use(const Scalar* outgoing, Scalar* staging);

  /// Makes what an exchange of so many columns needs, which open() does otherwise. None is in flight. Local; with a
  /// neighbourhood collective where the number is new.
  void prepare(std::size_t columns);
  /// The next exchange has so many columns. Local; with a neighbourhood collective where the number is new.
  void open(std::size_t columns);

  /// Rows that a step sends, among those of all steps. Local.
  Part rowsSent(Step step) const { return {sendBegin_[number(step)], sendBegin_[number(step) + 1]}; }
  std::size_t rowsSent() const { return sendBegin_.back(); }
  /// The same, as numbers of the outgoing memory. Local.
  Part sent(Step step) const { return {rowsSent(step).first * columns_, rowsSent(step).second * columns_}; }
  /// What a step brings, as numbers of the staging area. Local.
  Part received(Step step) const;

  /// Whether all messages travel in one call: startAll(), allOver() and waitForAll(); otherwise the functions by step.
  bool together() const { return graph_ != MPI_COMM_NULL; }
  void startAll();
  bool allOver();
  void waitForAll();

  /// From now on what others send may come.
  void startReceives();
  void send(Step step);
  /// Waits for what a step brings. False where it brings nothing.
  bool wait(Step step);
  /// Looks once whether all that a step brings has come, or all that it sends has left. Local.
  bool hasCome(Step step) { return over(width_->receives[number(step)]); }
  bool hasLeft(Step step) { return over(width_->sends[number(step)]); }
  void waitForSends();

  /// What these messages have sent. Local.
  const ExchangeCounters& counters() const { return counters_; }

 private:
  using Requests = std::vector<MPI_Request>;

  /// For one number of columns, by step.
  struct Width {
    std::array<Requests, 4> sends, receives;
    std::array<long, 4> bytes{};
    std::vector<int> sendCounts, sendBegins, receiveCounts, receiveBegins;  // of a neighbourhood
    MPI_Request all = MPI_REQUEST_NULL;                                     // its messages
    MPI_Datatype value = MPI_DATATYPE_NULL;  // the columns of a value; null: there is one
  };

  static std::size_t number(Step step) { return static_cast<std::size_t>(step); }
  const StepMessages& at(Step step) const { return plan_->at(step); }
  std::size_t stagedAt(Slot slot) const { return static_cast<std::size_t>(slot - plan_->owned); }
  void makeNeighbourhood();
  /// Messages are counted in values, since there may be more numbers in them than MPI counts.
  MPI_Datatype valueOf(Width& width);
  void makeRequests(Width& width);
  void makeCounts(Width& width);
  void count(Step step, std::size_t messages);
  static bool over(Requests& requests);

  std::shared_ptr<Channel> channel_;
  std::shared_ptr<const RankPlan> plan_;
  int tag_ = 0;
  MPI_Comm graph_ = MPI_COMM_NULL;          // of the neighbourhood; null: by requests
  std::array<std::size_t, 5> sendBegin_{};  // where a step's part begins in the sends of all, and the end
  const Scalar* outgoing_ = nullptr;
  Scalar* staging_ = nullptr;
  std::map<std::size_t, Width> widths_;
  std::size_t columns_ = 0;  // of the exchange opened last
  Width* width_ = nullptr;   // its messages
  ExchangeCounters counters_;
};

}  // namespace capstan::topology
