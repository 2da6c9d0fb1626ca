#pragma once

/// \file
/// Plans of an all-reduce that carries entries of a vector to the ranks that need them: lg K messages a rank, whatever
/// the pattern.
///
/// Source: [embedded-cg], section 4. In step d every rank exchanges one message with its neighbour in dimension
/// d, or D - 1 - d. A message holds the sums so far and the entries that have to change their bit d: those of the
/// sender itself, and those it has received in earlier steps and passes on (store and forward). An entry that many
/// ranks need travels over a link once. Ranks beyond the power of two send what they have to their partner before the
/// first step, and get what they need after the last one.

#include <cstddef>
#include <map>
#include <vector>

#include "tpetra_ext/topology/exchange_pattern.hpp"
#include "tpetra_ext/topology/exchange_plan.hpp"
#include "tpetra_ext/topology/hypercube/hypercube.hpp"
#include "tpetra_ext/topology/lists.hpp"

namespace capstan::topology {

/// One rank's message to, and from, one other rank.
struct EmbeddedStep {
  enum class Sums {
    Exchanged,  ///< both add what they get to what they have
    Given,      ///< this rank gives its part away
    Taken,      ///< this rank adds another one's part
    Returned,   ///< this rank sends the result
    Replaced,   ///< this rank gets the result
  };

  int partner = 0;
  Sums sums = Sums::Exchanged;
  bool lower = true;        ///< this rank's position is the lower one: its part of a sum comes first
  std::vector<Slot> sent;   ///< where the values it sends stand, in the order of the message
  Slot begin = 0, end = 0;  ///< the values it receives fill these slots

  bool sends() const { return sums != Sums::Taken && sums != Sums::Replaced; }
  bool receives() const { return sums != Sums::Given && sums != Sums::Returned; }
};

/// One rank's part of the plan; slots are numbered as in RankPlan.
struct EmbeddedPlan {
  int rank = 0, ranks = 1;
  int dimensions = 0;
  int position = 0;
  LocalIndex owned = 0;             ///< entries of the vector on this rank
  Slot slots = 0;                   ///< these, and those that are received
  std::vector<EmbeddedStep> steps;  ///< in their order
  std::vector<Slot> needed;         ///< where each value of RankPattern::needs stands in the end, in that order

  /// Values sent in an exchange with one column. Local.
  std::size_t valuesSent() const;
  /// Of memory. Local.
  std::size_t bytes() const;
};

/// Makes one rank's plan in rounds, from what its partners write to it. The rounds are the same on all ranks.
class EmbeddedRouter {
 public:
  /// Throws std::invalid_argument for positions that are no permutation and a pattern that names other ranks. Local.
  EmbeddedRouter(int rank, const Positions& positions, const RankPattern& pattern,
                 StepOrder order = StepOrder::Ascending);

  /// Fold in, one round a dimension, fold out.
  int rounds() const { return dimensions_ + 2; }
  /// The rank to write to or to hear from in a round; -1: none.
  int partner(int round) const;
  bool sends(int round) const;
  bool receives(int round) const;

  /// What this rank writes to its partner: of each value the owner, its number there, how many ranks it is still to
  /// reach through the partner, and these. Call it once a round, in their order, before take(). Local.
  std::vector<int> message(int round);
  /// Reads the partner's message. Local.
  void take(int round, const std::vector<int>& message);

  /// After the last round. Throws std::logic_error where a value has not come. Local.
  EmbeddedPlan plan() const;

 private:
  /// A value that this rank holds for others.
  struct Held {
    ValueId value;
    Slot slot = 0;
    std::vector<int> targets;
  };
  int positionOf(int rank) const { return positions_[static_cast<std::size_t>(rank)]; }
  int dimensionOf(int round) const { return order_ == StepOrder::Ascending ? round - 1 : dimensions_ - round; }
  bool leaves(int target, int round) const;
  EmbeddedStep& stepOf(int round);

  StepOrder order_;
  int rank_, dimensions_, position_, corner_;
  Positions positions_, rankAt_;
  PeerLists needs_;
  std::vector<Held> held_;
  std::map<ValueId, Slot> arrived_;
  EmbeddedPlan plan_;
  int lastRound_ = -1;  // the one whose step is at the end of plan_.steps
};

/// The plans of all ranks, made by this process alone: for studies and tests. Throws as EmbeddedRouter. Local.
std::vector<EmbeddedPlan> embeddedPlansOf(const Positions& positions, const ExchangePattern& pattern,
                                          StepOrder order = StepOrder::Ascending);

}  // namespace capstan::topology
