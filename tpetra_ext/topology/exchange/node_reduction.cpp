#include "tpetra_ext/topology/exchange/node_reduction.hpp"

#include <Teuchos_DefaultMpiComm.hpp>
#include <algorithm>
#include <cstdio>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "tpetra_ext/reductions/kept_with_communicator.hpp"
#include "tpetra_ext/topology/exchange/channel.hpp"
#include "tpetra_ext/wall_clock.hpp"

namespace capstan::topology {
namespace {

/// Bytes of the sums that are timed: one number, some, and blocks of enlarged CG with 4, 16 and 64 directions.
constexpr std::array<long, 5> measuredBytes{8, 128, 1024, 8192, 131072};
/// Sums in a row that are timed as one, and how many timings are made for their median. Chosen.
constexpr int sumsInARow = 2;
constexpr int roundsOfSetup = 5;
/// How much faster the nodes' way must be. Chosen: MPI's own stays where differences are noise.
constexpr double leastGain = 0.05;

double medianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// A communicator of ours, given back where MPI is still there.
struct OwnComm {
  MPI_Comm comm = MPI_COMM_NULL;

  OwnComm() = default;
  OwnComm(const OwnComm&) = delete;
  OwnComm& operator=(const OwnComm&) = delete;
  ~OwnComm() {
    int finalized = 0;
    if (comm == MPI_COMM_NULL || MPI_Finalized(&finalized) != MPI_SUCCESS || finalized != 0) return;
    MPI_Comm_free(&comm);
  }
  operator MPI_Comm() const { return comm; }
};

/// Where this rank is among the nodes.
struct Place {
  int rank, node;
  bool first;  ///< of its node
  bool alone;  ///< on its node
};

Place placeOf(MPI_Comm comm, const NodeMap& nodes) {
  int rank = 0;
  requireSuccess("MPI_Comm_rank", MPI_Comm_rank(comm, &rank));
  const int node = nodes.nodeOf(rank);
  return {rank, node, nodes.placeOf(rank) == 0, nodes.sizeOf(node) == 1};
}

/// The ranks of a node, in their order.
void splitByNode(MPI_Comm comm, const Place& place, OwnComm& made) {
  requireSuccess("MPI_Comm_split", MPI_Comm_split(comm, place.node, place.rank, &made.comm));
}

/// The first ranks of all nodes; none on others.
void splitFirsts(MPI_Comm comm, const Place& place, OwnComm& made) {
  requireSuccess("MPI_Comm_split", MPI_Comm_split(comm, place.first ? 0 : MPI_UNDEFINED, place.rank, &made.comm));
}

}  // namespace

bool nodesPay(const ReductionTimes& times, double margin) { return times.nodeAware * (1 + margin) < times.mpi; }

/// A nonblocking sum, on its way through the steps: 0: to the node's first rank, 1: between these, 2: back, 3: over.
struct NodeReduction::Operation {
  long number;
  void* data;
  int count;
  MPI_Datatype type;
  int step = -1;  // -1: not begun
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;
};

/// Blocking sums.
struct NodeReduction::Blocking {
  Place place;
  OwnComm node, across;

  Blocking(MPI_Comm comm, const Place& here) : place(here) {
    splitByNode(comm, place, node);
    splitFirsts(comm, place, across);
  }

  int sum(void* data, int count, MPI_Datatype type) const {
    int code = MPI_SUCCESS;
    if (!place.alone) {
      code = place.first ? MPI_Reduce(MPI_IN_PLACE, data, count, type, MPI_SUM, 0, node)
                         : MPI_Reduce(data, nullptr, count, type, MPI_SUM, 0, node);
    }
    if (code == MPI_SUCCESS && place.first) {
      code = MPI_Allreduce(MPI_IN_PLACE, data, count, type, MPI_SUM, across);
    }
    if (code == MPI_SUCCESS && !place.alone) code = MPI_Bcast(data, count, type, 0, node);
    return code;
  }
};

/// Nonblocking sums in flight. A step begins when the one before is over on this rank, whatever other ranks do.
struct NodeReduction::Pending {
  Place place;
  OwnComm up, across, down;        // one for each step
  std::mutex mutex;                // held over calls that never wait
  std::deque<Operation> inFlight;  // in the order in which they were begun
  long last = 0;

  Pending(MPI_Comm comm, const Place& here) : place(here) {
    splitByNode(comm, place, up);
    splitFirsts(comm, place, across);
    splitByNode(comm, place, down);
  }

  int begin(Operation& sum) const {
    const auto data = sum.data;
    switch (sum.step) {
      case 0:
        if (place.alone) return MPI_SUCCESS;
        return place.first ? MPI_Ireduce(MPI_IN_PLACE, data, sum.count, sum.type, MPI_SUM, 0, up, &sum.request)
                           : MPI_Ireduce(data, nullptr, sum.count, sum.type, MPI_SUM, 0, up, &sum.request);
      case 1:
        if (!place.first) return MPI_SUCCESS;
        return MPI_Iallreduce(MPI_IN_PLACE, data, sum.count, sum.type, MPI_SUM, across, &sum.request);
      case 2:
        return place.alone ? MPI_SUCCESS : MPI_Ibcast(data, sum.count, sum.type, 0, down, &sum.request);
      default:
        return MPI_SUCCESS;
    }
  }

  /// As many steps as can be taken now, and as `most` allows. After an error a sum is over.
  void advance(Operation& sum, int most) const {
    while (sum.step < most) {
      if (sum.request != MPI_REQUEST_NULL) {
        int done = 0;
        sum.code = MPI_Test(&sum.request, &done, MPI_STATUS_IGNORE);
        if (sum.code == MPI_SUCCESS && done == 0) return;
      }
      if (sum.code == MPI_SUCCESS) {
        ++sum.step;
        sum.code = begin(sum);
      }
      if (sum.code != MPI_SUCCESS) {
        sum.request = MPI_REQUEST_NULL;
        sum.step = 3;
      }
    }
  }

  /// A sum may take a step that all before it have taken.
  void advance() {
    int most = 3;
    for (Operation& sum : inFlight) {
      advance(sum, most);
      most = std::min(most, sum.step);
    }
  }
};

NodeReduction::NodeReduction(MPI_Comm comm, const NodeMap& nodes) : comm_(comm) {
  const Place place = placeOf(comm, nodes);
  blocking_ = std::make_unique<Blocking>(comm, place);
  pending_ = std::make_unique<Pending>(comm, place);
}

NodeReduction::~NodeReduction() = default;

bool NodeReduction::takes(MPI_Comm comm, long bytes, bool blocking) const noexcept {
  if (comm != comm_) return false;
  if (takesAll_) return true;
  const ReductionTimes* found = nullptr;
  for (const ReductionTimes& times : times_) {
    if (times.blocking != blocking) continue;
    found = &times;
    if (times.bytes >= bytes) break;
  }
  return found != nullptr && nodesPay(*found, margin_);
}

int NodeReduction::run(void* data, int count, MPI_Datatype type) noexcept { return blocking_->sum(data, count, type); }

int NodeReduction::start(void* data, int count, MPI_Datatype type, long& number) noexcept {
  const std::lock_guard<std::mutex> lock(pending_->mutex);
  number = ++pending_->last;
  try {
    Operation sum{number, data, count, type};
    pending_->inFlight.push_back(sum);
  } catch (const std::bad_alloc&) {
    return MPI_ERR_NO_MEM;
  }
  pending_->advance();
  return MPI_SUCCESS;
}

int NodeReduction::test(long number, bool& done) noexcept {
  const std::lock_guard<std::mutex> lock(pending_->mutex);
  pending_->advance();
  auto& all = pending_->inFlight;
  const auto found = std::find_if(all.begin(), all.end(), [&](const Operation& sum) { return sum.number == number; });
  done = found == all.end() || found->step == 3;
  if (!done || found == all.end()) return MPI_SUCCESS;
  const int code = found->code;
  all.erase(found);
  return code;
}

std::vector<double> NodeReduction::timesOf(long bytes, bool blocking, int rounds) {
  const int count = static_cast<int>(bytes / static_cast<long>(sizeof(double)));
  std::vector<double> data(static_cast<std::size_t>(count), 0.0), mine;
  const auto own = [&] {
    if (blocking) {
      requireSuccess("MPI_Allreduce", MPI_Allreduce(MPI_IN_PLACE, data.data(), count, MPI_DOUBLE, MPI_SUM, comm_));
      return;
    }
    MPI_Request request = MPI_REQUEST_NULL;
    requireSuccess("MPI_Iallreduce",
                   MPI_Iallreduce(MPI_IN_PLACE, data.data(), count, MPI_DOUBLE, MPI_SUM, comm_, &request));
    requireSuccess("MPI_Wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
  };
  const auto byNodes = [&] {
    if (blocking) return requireSuccess("a node-aware all-reduce", run(data.data(), count, MPI_DOUBLE));
    long number = 0;
    bool done = false;
    requireSuccess("a node-aware all-reduce", start(data.data(), count, MPI_DOUBLE, number));
    while (!done) {
      requireSuccess("a node-aware all-reduce", test(number, done));
      if (!done) std::this_thread::yield();
    }
  };
  const auto timed = [&](const auto& sum) {
    requireSuccess("MPI_Barrier", MPI_Barrier(comm_));
    const double begin = wallSeconds();
    for (int k = 0; k < sumsInARow; ++k) sum();
    mine.push_back((wallSeconds() - begin) / sumsInARow);
  };
  own();
  byNodes();
  for (int round = 0; round < rounds; ++round) {  // in turn: whatever else the machine does meets them alike
    timed(own);
    timed(byNodes);
  }
  std::vector<double> all(mine.size());
  requireSuccess("MPI_Allreduce",
                 MPI_Allreduce(mine.data(), all.data(), static_cast<int>(mine.size()), MPI_DOUBLE, MPI_MAX, comm_));
  std::vector<double> ways[2];
  for (std::size_t k = 0; k < all.size(); ++k) ways[k % 2].push_back(all[k]);
  return {medianOf(ways[0]), medianOf(ways[1])};
}

void NodeReduction::measure(int rounds, double margin) {
  const double begin = wallSeconds();
  std::vector<ReductionTimes> measured;
  for (const bool blocking : {true, false}) {
    for (const long bytes : measuredBytes) {
      const std::vector<double> seconds = timesOf(bytes, blocking, rounds);
      measured.push_back({bytes, blocking, seconds[0], seconds[1]});
    }
  }
  take(measured, margin);
  setupSeconds_ = wallSeconds() - begin;
}

void NodeReduction::take(const std::vector<ReductionTimes>& times, double margin) {
  times_ = times;
  margin_ = margin;
  takesAll_ = false;
}

namespace {

std::string reasonOf(const NodeReduction& route) {
  std::string text;
  for (const bool blocking : {true, false}) {
    text += blocking ? "all-reduces of" : "; nonblocking ones of";
    for (const ReductionTimes& times : route.times()) {
      if (times.blocking != blocking) continue;
      char part[96];
      std::snprintf(part, sizeof part, "%s %ld bytes %s (%.3g s, mpi %.3g)", times.bytes > 8 ? "," : "", times.bytes,
                    nodesPay(times, leastGain) ? "node-aware" : "mpi", times.nodeAware, times.mpi);
      text += part;
    }
  }
  char setup[48];
  std::snprintf(setup, sizeof setup, "; set-up %.3g s", route.setupSeconds());
  return text + setup;
}

}  // namespace

ChosenReduction reductionBy(const Teuchos::Comm<int>& comm, ReductionStrategy strategy, int ranksPerNode) {
  if (ranksPerNode < 0) {
    throw std::invalid_argument("capstan: node-aware reductions: ranks per node: " + std::to_string(ranksPerNode) +
                                "; allowed: 1 or more, or 0 for those that share memory");
  }
  if (strategy == ReductionStrategy::Mpi) return {nullptr, "mpi, as asked for"};
  const auto channel = Channel::of(comm);
  if (channel == nullptr) return {nullptr, "mpi: there is one rank"};
  const NodeMap nodes = ranksPerNode > 0 ? NodeMap::uniform(comm.getSize(), ranksPerNode) : channel->nodes();
  if (nodes.nodes() == 1) return {nullptr, "mpi: all ranks are on one node"};
  if (nodes.largestNode() == 1) return {nullptr, "mpi: each rank is on a node of its own"};
  const bool tuned = strategy == ReductionStrategy::Tuned;
  // A channel says that it is MPI's.
  const MPI_Comm raw = *dynamic_cast<const Teuchos::MpiComm<int>&>(comm).getRawMpiComm();
  const std::string name =
      "capstan " + toString(strategy) + " reductions, " + std::to_string(ranksPerNode) + " ranks a node";
  const auto make = [&] {
    auto made = std::make_shared<NodeReduction>(raw, nodes);
    if (tuned) made->measure(roundsOfSetup, leastGain);
    return made;
  };
  // It knows the communicator by its handle, which MPI uses again for another one: it must be gone before that.
  const auto route = std::static_pointer_cast<NodeReduction>(keptWith(comm, name, make, Duplicates::BeginAnew));
  return {route, tuned ? reasonOf(*route) : "node-aware, as asked for"};
}

}  // namespace capstan::topology
