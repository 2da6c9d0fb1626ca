#pragma once

/// \file
/// Communication plans: what every rank sends, receives and passes on so that all get the entries they need.
///
/// Source: [enlarged-cg], sections 2.2 and 4.3. A plan is plain data: no MPI, no vectors. It holds for blocks of any
/// number of columns; a message of n values then has n times as many numbers.

#include <array>
#include <cstddef>
#include <vector>

#include "tpetra_ext/topology/crossings.hpp"
#include "tpetra_ext/topology/exchange_pattern.hpp"
#include "tpetra_ext/topology/lists.hpp"
#include "tpetra_ext/topology/node_map.hpp"

namespace capstan::topology {

/// Where a value stands on a rank during an exchange: s < owned is the rank's own entry s, any other is place s - owned
/// of its staging area, into which messages are received. A value is a row of the block, its columns side by side.
using Slot = LocalIndex;

/// The steps of an exchange. A message of one step holds what was there before the exchange, or what an earlier step
/// has brought: Scatter needs Network, which needs Gather. Local needs none, and none needs it.
enum class Step { Local, Gather, Network, Scatter };

/// All of them, in the order in which they may be done.
constexpr Step allSteps[] = {Step::Local, Step::Gather, Step::Network, Step::Scatter};

/// "local", "gather", "network" or "scatter".
const char* nameOf(Step step);

/// One rank's messages in one step. At most one to and one from the same rank.
struct StepMessages {
  PeerLists sends;           ///< by receiver, ascending: the slots of the values
  std::vector<int> sources;  ///< senders, ascending
  std::vector<Slot> begin;   ///< the values of sources[k] fill slots begin[k] .. begin[k+1]-1; one longer than sources

  std::size_t values(std::size_t k) const { return static_cast<std::size_t>(begin[k + 1] - begin[k]); }
};

/// One rank's part of a plan.
struct RankPlan {
  Strategy strategy = Strategy::Standard;
  int rank = 0;
  LocalIndex owned = 0;               ///< entries of the vector on this rank
  Slot slots = 0;                     ///< these, and those of the staging area
  std::array<StepMessages, 4> steps;  ///< by Step
  std::vector<Slot> needed;           ///< where each value of RankPattern::needs stands in the end, in that order

  const StepMessages& at(Step step) const { return steps[static_cast<std::size_t>(step)]; }
  /// Rows of the staging area.
  std::size_t staged() const { return static_cast<std::size_t>(slots - owned); }
};

/// What a rank that has received a crossing passes on to a rank of its node, in one message.
struct Delivery {
  int receiver = 0, target = 0;
  std::vector<ValueId> values;  ///< in the order of the message
};

/// What `rank` has to pass on, ascending by target. arriving: the crossings it receives, ascending by sender. Local.
std::vector<Delivery> deliveriesOf(int rank, const std::vector<Crossing>& arriving);

/// One rank's plan, of the parts that concern it. leaving: the crossings from its node, as crossingsOf() gives them.
/// arriving: those to this rank, ascending by sender. deliveries: what the node's other ranks pass on to it, ascending
/// by receiver. Throws std::invalid_argument where the parts do not bring all that the rank needs, or more slots would
/// be needed than there are numbers. Local.
RankPlan assemble(Strategy strategy, const NodeMap& map, int rank, const RankPattern& pattern,
                  const std::vector<Crossing>& leaving, const std::vector<Crossing>& arriving,
                  const std::vector<Delivery>& deliveries);

/// The plans of all ranks, made by this process alone: for studies and tests. DistributedPattern
/// (exchange/distributed_pattern.hpp) makes the same on the ranks of a job. Throws std::invalid_argument for invalid
/// options and for a node map of another number of ranks. Local.
std::vector<RankPlan> plansOf(const PlanOptions& options, const NodeMap& map, const ExchangePattern& pattern);

}  // namespace capstan::topology
