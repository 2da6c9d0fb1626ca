#pragma once

/// \file
/// A communicator's own room for the messages of exchanges, and its nodes.

#include <mpi.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tpetra_ext/topology/node_map.hpp"

namespace Teuchos {
template <class Ordinal>
class Comm;
}

namespace capstan::topology {

/// Throws std::runtime_error with MPI's text where a call of MPI has failed.
void requireSuccess(const char* function, int code);

/// A list of numbers for a rank, or from one.
using Message = std::pair<int, std::vector<int>>;

/// A duplicate of a communicator, so that no other message of the program can be taken for one of an exchange, and tags
/// that keep exchanges apart. Made once for a communicator and kept with it.
class Channel {
 public:
  /// The channel of this communicator, made where there is none yet: call it on all ranks alike, as it is collective
  /// then. Null for a communicator of one rank, which needs none. Throws std::invalid_argument for one that is not
  /// MPI's.
  static std::shared_ptr<Channel> of(const Teuchos::Comm<int>& comm);

  explicit Channel(MPI_Comm comm);
  /// Gives the duplicate back, unless MPI is gone already. Local with the MPIs we know.
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  MPI_Comm comm() const { return comm_; }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

  /// Ranks that share memory, as MPI_Comm_split_type(MPI_COMM_TYPE_SHARED) has it. Found once. Collective.
  const NodeMap& nodes();

  /// Up to this many bytes MPI sends between nodes without asking the receiver: the least that a rank's MPI tells, or
  /// defaultEagerLimit where one tells nothing. Found once. Collective.
  long long eagerLimit();

  /// The first of as many tags as an exchange has steps. The same on all ranks that ask in the same order. After some
  /// thousand they come again: exchanges must not be in flight together that are further apart. Local.
  int takeTags();

  /// Brings each message to its rank, and gives those for this one, ascending by sender. At most one message to a rank;
  /// one to this rank itself is allowed. Collective, one reduction of as many numbers as there are ranks.
  std::vector<Message> exchangeMessages(std::vector<Message> messages);

  /// Whether this is so on all ranks. Collective, one reduction.
  bool onAll(bool here);

 private:
  std::vector<Message> sendAndReceive(const std::vector<Message>& messages, int coming,
                                      std::vector<MPI_Request>& requests) const;

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, ranks_ = 1;
  int tags_ = 0;
  std::unique_ptr<NodeMap> nodes_;
  long long eagerLimit_ = 0;  // 0: not looked for yet
};

}  // namespace capstan::topology
