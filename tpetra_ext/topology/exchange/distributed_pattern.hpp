#pragma once

/// \file
/// Plans made by the ranks of a job together, each knowing only what it needs itself.

#include <memory>
#include <vector>

#include "tpetra_ext/topology/exchange/channel.hpp"
#include "tpetra_ext/topology/exchange_plan.hpp"

namespace capstan::topology {

/// One rank's part of a pattern, and what it has to know of the other ranks on its node.
///
/// Every rank tells the owners what it needs, one message to each, and the ranks of a node tell one another what they
/// send and need. From then on all of a node know what leaves it. Its plans equal those of plansOf().
class DistributedPattern {
 public:
  /// owned: entries of the vector here; needs: as RankPattern::needs. channel: null for a job of one rank. map: for as
  /// many ranks as the channel has, the same on all. Throws std::invalid_argument on all ranks where the numbers of
  /// ranks differ, or needs are not well formed, or ask for what their owner does not have, on one of them. Collective.
  DistributedPattern(std::shared_ptr<Channel> channel, NodeMap map, LocalIndex owned, PeerLists needs);

  /// This rank's plan. The options must be the same on all ranks. Throws std::invalid_argument for options that are
  /// invalid. Collective: two exchanges of messages, or none for Standard.
  RankPlan plan(const PlanOptions& options) const;

  /// Plans that this process has made of such patterns so far, for tests and studies. Local.
  static long plansMade();

  const NodeMap& map() const { return map_; }
  const RankPattern& pattern() const { return pattern_; }
  /// Null for a job of one rank.
  const std::shared_ptr<Channel>& channel() const { return channel_; }

 private:
  void requestFromOwners();
  void exchangeOnNode();
  std::vector<Crossing> arrivingDirectly() const;
  std::vector<Crossing> arriving(const std::vector<Crossing>& leaving) const;
  std::vector<Delivery> deliveries(const std::vector<Crossing>& arriving) const;

  std::shared_ptr<Channel> channel_;
  NodeMap map_;
  int rank_ = 0;
  RankPattern pattern_;
  std::vector<NodeReceiver> nodeReceivers_;      // of this node
  std::vector<RemoteReceiver> remoteReceivers_;  // of other nodes, for what comes from this one
  std::vector<PeerLists> sendsOfNode_;           // of its ranks, by place
};

}  // namespace capstan::topology
