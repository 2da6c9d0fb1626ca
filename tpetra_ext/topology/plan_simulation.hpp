#pragma once

/// \file
/// Executes a plan for all ranks in one process, on plain arrays: what shows that a plan is right.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tpetra_ext/topology/exchange_plan.hpp"
#include "tpetra_ext/topology/lists.hpp"

namespace capstan::topology {

/// What the ranks have after an exchange.
template <class Value>
struct SimulatedExchange {
  /// received[r]: of every value of rank r's needs, in that order, all columns, one value behind the other.
  std::vector<std::vector<Value>> received;
  /// Why the plan cannot be executed; empty where it can.
  std::string problem;
};

namespace detail {

/// "rank 3, network, to rank 5".
std::string messageName(int from, Step step, int to);

/// The place among `sources` of a sender, ascending; their number if it is none.
std::size_t sourceOf(const StepMessages& messages, int sender);

/// Whether a message of `step` may hold what came by `by`, see Step.
bool mayHold(Step step, Step by);

/// Why one rank's plan is not even well formed, or empty.
std::string formProblem(const RankPlan& plan, int rank, int ranks);

}  // namespace detail

/// Executes the plans of all ranks for blocks of `columns` columns; initial(rank, index, column) is the value of an own
/// entry. A message may hold what the rank owns or what a step that it may wait for has brought, see Step; all messages
/// must be expected by their receiver with the same number of values, and no message may be expected that is not sent;
/// else `problem` says what is wrong, and the rest is empty. Local.
template <class Value, class Initial>
SimulatedExchange<Value> simulate(const std::vector<RankPlan>& plans, std::size_t columns, const Initial& initial) {
  const auto ranks = static_cast<int>(plans.size());
  SimulatedExchange<Value> result;
  const auto fail = [&](std::string text) {
    result.received.clear();
    result.problem = std::move(text);
    return result;
  };
  std::vector<std::vector<Value>> values(plans.size());           // all slots of a rank
  std::vector<std::vector<signed char>> broughtBy(plans.size());  // the step; own entries: -1; nothing yet: -2
  for (int rank = 0; rank < ranks; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    if (auto problem = detail::formProblem(plans[r], rank, ranks); !problem.empty()) return fail(std::move(problem));
    values[r].resize(static_cast<std::size_t>(plans[r].slots) * columns);
    broughtBy[r].assign(static_cast<std::size_t>(plans[r].slots), -2);
    for (LocalIndex index = 0; index < plans[r].owned; ++index) {
      broughtBy[r][static_cast<std::size_t>(index)] = -1;
      for (std::size_t j = 0; j < columns; ++j) {
        values[r][static_cast<std::size_t>(index) * columns + j] = initial(rank, index, j);
      }
    }
  }
  for (const Step step : allSteps) {
    std::size_t sent = 0, expected = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      const StepMessages& mine = plans[r].at(step);
      expected += mine.sources.size();
      sent += mine.sends.size();
      for (std::size_t k = 0; k < mine.sends.size(); ++k) {
        const auto to = static_cast<std::size_t>(mine.sends.peers[k]);
        const StepMessages& theirs = plans[to].at(step);
        const auto slots = mine.sends.list(k);
        const std::size_t at = detail::sourceOf(theirs, rank);
        const std::string name = detail::messageName(rank, step, mine.sends.peers[k]);
        if (at == theirs.sources.size()) return fail(name + ": not expected");
        if (theirs.values(at) != slots.size()) return fail(name + ": another length is expected");
        auto target = static_cast<std::size_t>(theirs.begin[at]);
        for (const Slot slot : slots) {
          const auto source = static_cast<std::size_t>(slot);
          const int by = broughtBy[r][source];
          if (by == -2 || (by >= 0 && !detail::mayHold(step, static_cast<Step>(by))))
            return fail(name + ": holds what is not there yet");
          for (std::size_t j = 0; j < columns; ++j) values[to][target * columns + j] = values[r][source * columns + j];
          broughtBy[to][target++] = static_cast<signed char>(step);
        }
      }
    }
    // Every message sent is expected, and none twice: sources ascend.
    if (sent != expected) return fail(std::string(nameOf(step)) + ": a message is expected that nobody sends");
  }
  result.received.resize(plans.size());
  for (std::size_t r = 0; r < plans.size(); ++r) {
    for (const Slot slot : plans[r].needed) {
      const auto s = static_cast<std::size_t>(slot);
      if (broughtBy[r][s] == -2) return fail("rank " + std::to_string(r) + ": needs what never comes");
      for (std::size_t j = 0; j < columns; ++j) result.received[r].push_back(values[r][s * columns + j]);
    }
  }
  return result;
}

/// What is wrong with the plans of all ranks, as an answer to a pattern and a node map: the values received are not
/// those needed, a step that stays on a node leaves it, a message of the network does not, or, where the strategy
/// promises that it does not happen, a value crosses the network twice to the same node. Empty where nothing is. Local.
std::string problemOf(const std::vector<RankPlan>& plans, const NodeMap& map, const ExchangePattern& pattern,
                      std::size_t columns = 1);

}  // namespace capstan::topology
