#pragma once

/// \file
/// Executes an all-reduce that carries entries of vectors, with MPI on Kokkos views.

#include <mpi.h>

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "tpetra_ext/kernels/base/host_mirror.hpp"
#include "tpetra_ext/topology/exchange/block_exchange.hpp"
#include "tpetra_ext/topology/exchange/channel.hpp"
#include "tpetra_ext/topology/hypercube/embedded_plan.hpp"
#include "tpetra_ext/types.hpp"

namespace capstan::topology {

/// Sums numbers over the ranks, and brings every rank the entries that it needs, in the messages of one hypercube
/// all-reduce.
///
/// Messages are persistent requests, and what goes into them is a list of addresses: both are made when a number of
/// sums and columns is seen first, and kept for the shapes seen last; from then on nothing is allocated or looked for.
/// Sums are the same, bit by bit, on all ranks. Where the device's memory is not the host's, messages go through copies
/// on the host.
///
/// Source: [embedded-cg], section 4; Algorithm 4, lines 5 to 9.
///
/// run() is collective, in the same order for all exchanges of a communicator. Not for use by two threads at once.
/// After an error of MPI, which is thrown as std::runtime_error, the exchange can only be destroyed.
template <class Types>
class EmbeddedExchange {
 public:
  using Scalar = typename Types::Scalar;
  using Device = typename Types::DeviceType;
  using Queue = kernels::Queue<typename Types::ExecutionSpace>;
  /// Own entries, one column behind the other.
  using Own = typename BlockExchange<Types>::Own;
  /// Entries of others, one column behind the other.
  using Ghosts = Kokkos::View<Scalar**, Kokkos::LayoutLeft, Device, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  /// A block whose entries travel. own: a row for each entry of this rank; ghosts: row k gets value k of the rank's
  /// needs. As many columns in both, and on all ranks.
  struct Carried {
    Own own;
    Ghosts ghosts;
  };

  /// queue: as BlockExchange's. channel: that of the plan's communicator, null for one rank. Throws
  /// std::invalid_argument for a plan of another rank. All ranks make their exchanges in the same order. Local.
  EmbeddedExchange(Queue& queue, std::shared_ptr<Channel> channel, std::shared_ptr<const EmbeddedPlan> plan);
  /// Frees the requests, unless MPI is gone.
  ~EmbeddedExchange();
  EmbeddedExchange(const EmbeddedExchange&) = delete;
  EmbeddedExchange& operator=(const EmbeddedExchange&) = delete;

  /// sums[0..count) <- their sum over all ranks; ghosts <- what others own. Either may be empty. Throws
  /// std::invalid_argument for blocks whose rows are not those of the plan.
  void run(Scalar* sums, int count, const std::vector<Carried>& carried);

  /// The same in two halves, for a caller who waits for kernels of its own between them. Launches the kernels that take
  /// what travels out of the blocks; whether there are any. Local; throws as run().
  bool load(const std::vector<Carried>& carried);
  /// What load() has launched for these blocks is complete. Collective.
  void runLoaded(Scalar* sums, int count, const std::vector<Carried>& carried);

  const EmbeddedPlan& plan() const { return *plan_; }

  /// What this exchange alone has sent. Local.
  const ExchangeCounters& counters() const { return counters_; }

 private:
  using Buffer = Kokkos::View<Scalar*, Device>;
  using HostBuffer = kernels::HostMirror<Buffer>;
  using Slots = Kokkos::View<Slot*, Device>;

  /// What a number of sums and columns takes. Memory beyond the vectors: the values that are sent, received and needed.
  struct Shape {
    std::vector<MPI_Request> sends, receives;  ///< by step; MPI_REQUEST_NULL: none
    std::vector<std::size_t> sendAt, receiveAt;
    std::vector<const Scalar*> sources;  ///< of all steps, where the values sent stand
    std::vector<const Scalar*> needed;   ///< where the values needed stand
    std::vector<Scalar> outgoing, incoming;
    Kokkos::View<Scalar**, Kokkos::LayoutLeft, Kokkos::HostSpace> ghosts;
    long bytes = 0, messages = 0;
    long lastUse = 0;
  };
  using Key = std::pair<int, std::size_t>;  // sums, columns
  /// Entries of this rank that are sent.
  struct Loaded {
    Buffer device;
    HostBuffer host;
  };

  Shape& shapeFor(int count, std::size_t columns);
  void makeShape(Shape& shape, int count, std::size_t columns);
  static void freeRequests(Shape& shape);
  std::size_t columnsOf(const std::vector<Carried>& carried) const;
  Loaded& loadedFor(std::size_t columns);
  void exchange(Shape& shape, Scalar* sums, int count, std::size_t columns);
  void deliver(Shape& shape, const std::vector<Carried>& carried, std::size_t columns);

  Queue& queue_;
  std::shared_ptr<Channel> channel_;
  std::shared_ptr<const EmbeddedPlan> plan_;
  int tag_ = 0;
  Slots ownSlots_;                        // own entries that are sent, ascending
  std::vector<std::size_t> placeOfOwn_;   // by own entry: where it stands among these
  std::map<std::size_t, Loaded> loaded_;  // by columns; shapes point into it
  std::map<Key, Shape> shapes_;
  long uses_ = 0;
  bool failed_ = false;
  ExchangeCounters counters_;
};

}  // namespace capstan::topology
