#include "tpetra_ext/topology/exchange/distributed_pattern.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <utility>

namespace capstan::topology {
namespace {

std::atomic<long> plans{0};

/// Numbers one after the other out of a message, which another rank has written in the same order.
class Reader {
 public:
  explicit Reader(const std::vector<int>& numbers) : next_(numbers.begin()), end_(numbers.end()) {}
  bool atEnd() const { return next_ == end_; }
  int next() { return *next_++; }

 private:
  std::vector<int>::const_iterator next_, end_;
};

void write(std::vector<int>& message, const PeerLists& lists) {
  message.push_back(static_cast<int>(lists.size()));
  for (std::size_t k = 0; k < lists.size(); ++k) {
    message.push_back(lists.peers[k]);
    message.push_back(static_cast<int>(lists.list(k).size()));
    message.insert(message.end(), lists.list(k).begin(), lists.list(k).end());
  }
}

PeerLists readLists(Reader& reader) {
  PeerLists lists;
  for (int peers = reader.next(); peers > 0; --peers) {
    const int peer = reader.next();
    for (int count = reader.next(); count > 0; --count) lists.append(peer, reader.next());
  }
  return lists;
}

void write(std::vector<int>& message, const Crossing& crossing) {
  for (std::size_t k = 0; k < crossing.values.size(); ++k) {
    const auto targets = crossing.targetsOf(k);
    message.insert(message.end(),
                   {crossing.values[k].owner, crossing.values[k].index, static_cast<int>(targets.size())});
    message.insert(message.end(), targets.begin(), targets.end());
  }
}

Crossing readCrossing(int sender, int receiver, Reader reader) {
  Crossing crossing;
  crossing.sender = sender;
  crossing.receiver = receiver;
  while (!reader.atEnd()) {
    const int owner = reader.next();
    crossing.values.push_back({owner, reader.next()});
    for (int count = reader.next(); count > 0; --count) crossing.targets.push_back(reader.next());
    crossing.begin.push_back(crossing.targets.size());
  }
  return crossing;
}

std::vector<const PeerLists*> pointersTo(const std::vector<PeerLists>& lists) {
  std::vector<const PeerLists*> pointers;
  for (const PeerLists& list : lists) pointers.push_back(&list);
  return pointers;
}

/// Throws on all ranks where `problem` is not empty on one.
void refuseTogether(Channel* channel, const std::string& problem) {
  const bool fine = channel == nullptr ? problem.empty() : channel->onAll(problem.empty());
  if (fine) return;
  throw std::invalid_argument(problem.empty() ? "capstan: communication pattern: refused on another rank" : problem);
}

}  // namespace

DistributedPattern::DistributedPattern(std::shared_ptr<Channel> channel, NodeMap map, LocalIndex owned, PeerLists needs)
    : channel_(std::move(channel)), map_(std::move(map)), rank_(channel_ == nullptr ? 0 : channel_->rank()) {
  const int ranks = channel_ == nullptr ? 1 : channel_->ranks();
  std::string problem;
  try {
    if (map_.ranks() != ranks) {
      throw std::invalid_argument("capstan: communication pattern: a job of " + std::to_string(ranks) +
                                  " ranks, a node map of " + std::to_string(map_.ranks()));
    }
    if (owned < 0) throw std::invalid_argument("capstan: communication pattern: " + std::to_string(owned) + " entries");
    requireWellFormed(needs, rank_, ranks, "needs");
  } catch (const std::invalid_argument& error) {
    problem = error.what();
  }
  refuseTogether(channel_.get(), problem);
  pattern_.owned = owned;
  pattern_.needs = std::move(needs);
  if (channel_ == nullptr) {
    sendsOfNode_.emplace_back();
    return;
  }
  // What the node's ranks need tells them who receives what comes from a node; owners learn it with the request.
  std::vector<Message> messages;
  std::vector<int> mine;
  write(mine, pattern_.needs);
  for (const int rank : map_.ranksOf(map_.nodeOf(rank_))) messages.emplace_back(rank, mine);
  std::vector<PeerLists> needsOfNode;
  for (const Message& message : channel_->exchangeMessages(std::move(messages))) {
    Reader reader(message.second);
    needsOfNode.push_back(readLists(reader));
  }
  nodeReceivers_ = nodeReceiversOf(map_, map_.nodeOf(rank_), pointersTo(needsOfNode));
  requestFromOwners();
  exchangeOnNode();
}

void DistributedPattern::requestFromOwners() {
  std::vector<Message> messages;
  for (std::size_t k = 0; k < pattern_.needs.size(); ++k) {
    const int owner = pattern_.needs.peers[k];
    const auto receiver = std::find_if(nodeReceivers_.begin(), nodeReceivers_.end(),
                                       [&](const NodeReceiver& one) { return one.from == map_.nodeOf(owner); });
    std::vector<int> message{receiver == nodeReceivers_.end() ? -1 : receiver->rank};  // none within the node
    message.insert(message.end(), pattern_.needs.list(k).begin(), pattern_.needs.list(k).end());
    messages.emplace_back(owner, std::move(message));
  }
  std::string problem;
  for (const Message& message : channel_->exchangeMessages(std::move(messages))) {
    Reader reader(message.second);
    if (const int receiver = reader.next(); receiver >= 0)
      remoteReceivers_.push_back({map_.nodeOf(receiver), receiver});
    while (!reader.atEnd()) {
      const LocalIndex index = reader.next();
      if (index >= pattern_.owned && problem.empty()) {
        problem = "capstan: communication pattern: rank " + std::to_string(message.first) + " needs entry " +
                  std::to_string(index) + " of rank " + std::to_string(rank_) + ", which has " +
                  std::to_string(pattern_.owned);
      }
      pattern_.sends.append(message.first, index);
    }
  }
  refuseTogether(channel_.get(), problem);
}

void DistributedPattern::exchangeOnNode() {
  std::vector<int> mine;
  write(mine, pattern_.sends);
  for (const RemoteReceiver& there : remoteReceivers_) mine.insert(mine.end(), {there.node, there.rank});
  std::vector<Message> messages;
  for (const int rank : map_.ranksOf(map_.nodeOf(rank_))) messages.emplace_back(rank, mine);
  remoteReceivers_.clear();
  for (const Message& message : channel_->exchangeMessages(std::move(messages))) {
    Reader reader(message.second);
    sendsOfNode_.push_back(readLists(reader));
    while (!reader.atEnd()) {
      const int node = reader.next();
      remoteReceivers_.push_back({node, reader.next()});
    }
  }
  std::sort(remoteReceivers_.begin(), remoteReceivers_.end(),
            [](const RemoteReceiver& a, const RemoteReceiver& b) { return a.node < b.node; });
  remoteReceivers_.erase(std::unique(remoteReceivers_.begin(), remoteReceivers_.end(),
                                     [](const RemoteReceiver& a, const RemoteReceiver& b) { return a.node == b.node; }),
                         remoteReceivers_.end());
}

/// Standard: what comes from other nodes comes from its owners.
std::vector<Crossing> DistributedPattern::arrivingDirectly() const {
  std::vector<Crossing> crossings;
  for (std::size_t k = 0; k < pattern_.needs.size(); ++k) {
    const int owner = pattern_.needs.peers[k];
    if (map_.sameNode(owner, rank_)) continue;
    Crossing crossing;
    crossing.sender = owner;
    crossing.receiver = rank_;
    for (const LocalIndex index : pattern_.needs.list(k)) {
      crossing.values.push_back({owner, index});
      crossing.targets.push_back(rank_);
      crossing.begin.push_back(crossing.targets.size());
    }
    crossings.push_back(std::move(crossing));
  }
  return crossings;
}

std::vector<Crossing> DistributedPattern::arriving(const std::vector<Crossing>& leaving) const {
  std::vector<Message> messages;
  for (const Crossing& crossing : leaving) {
    if (crossing.sender != rank_) continue;
    messages.emplace_back(crossing.receiver, std::vector<int>());
    write(messages.back().second, crossing);
  }
  std::vector<Crossing> crossings;
  for (const Message& message : channel_->exchangeMessages(std::move(messages))) {
    crossings.push_back(readCrossing(message.first, rank_, Reader(message.second)));
  }
  return crossings;
}

std::vector<Delivery> DistributedPattern::deliveries(const std::vector<Crossing>& arriving) const {
  std::vector<Message> messages;
  for (const Delivery& delivery : deliveriesOf(rank_, arriving)) {
    std::vector<int> message;
    for (const ValueId& value : delivery.values) message.insert(message.end(), {value.owner, value.index});
    messages.emplace_back(delivery.target, std::move(message));
  }
  std::vector<Delivery> deliveries;
  for (const Message& message : channel_->exchangeMessages(std::move(messages))) {
    Delivery delivery{message.first, rank_, {}};
    for (Reader reader(message.second); !reader.atEnd();) {
      const int owner = reader.next();
      delivery.values.push_back({owner, reader.next()});
    }
    deliveries.push_back(std::move(delivery));
  }
  return deliveries;
}

long DistributedPattern::plansMade() { return plans; }

RankPlan DistributedPattern::plan(const PlanOptions& options) const {
  requireValid(options);
  ++plans;
  if (channel_ == nullptr) return assemble(options.strategy, map_, rank_, pattern_, {}, {}, {});
  const auto leaving = crossingsOf(options, map_, map_.nodeOf(rank_), pointersTo(sendsOfNode_), remoteReceivers_);
  if (options.strategy == Strategy::Standard) {
    return assemble(options.strategy, map_, rank_, pattern_, leaving, arrivingDirectly(), {});
  }
  const auto coming = arriving(leaving);
  return assemble(options.strategy, map_, rank_, pattern_, leaving, coming, deliveries(coming));
}

}  // namespace capstan::topology
