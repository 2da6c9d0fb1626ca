#include "tpetra_ext/test/support/collective_log.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <sstream>
#include <utility>
#include <vector>

namespace {

/// Who made a communicator, and as his how many-th: the same on all of its ranks, and never given again.
using Identity = std::array<int, 2>;
using Calls = std::vector<std::string>;

struct Log {
  std::mutex mutex;  // held over no call of MPI
  std::map<MPI_Comm, Identity> identities;
  int made = 0;
  std::map<Identity, Calls> calls;
};

Log& log() {
  static Log instance;
  return instance;
}

constexpr Identity worldsOwn{-1, 0}, unknown{-2, 0};

/// A communicator has been made, on all of its ranks. Collective over it.
void nameCommunicator(MPI_Comm made) {
  if (made == MPI_COMM_NULL) return;
  Identity identity{0, 0};
  PMPI_Comm_rank(MPI_COMM_WORLD, identity.data());
  {
    const std::lock_guard<std::mutex> lock(log().mutex);
    identity[1] = ++log().made;
  }
  PMPI_Bcast(identity.data(), 2, MPI_INT, 0, made);
  const std::lock_guard<std::mutex> lock(log().mutex);
  log().identities[made] = identity;
}

/// A call on a communicator of several ranks begins. Local.
void note(const std::string& call, MPI_Comm comm) {
  int size = 1;
  PMPI_Comm_size(comm, &size);
  if (size == 1) return;
  const std::lock_guard<std::mutex> lock(log().mutex);
  const auto found = log().identities.find(comm);
  const Identity identity = comm == MPI_COMM_WORLD            ? worldsOwn
                            : found == log().identities.end() ? unknown
                                                              : found->second;
  log().calls[identity].push_back(call);
}

std::string bytes(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return " of " + std::to_string(static_cast<long>(size) * count) + " bytes";
}

std::string from(int root) { return ", root " + std::to_string(root); }

/// The calls of this rank, one a line: identity, then the call.
std::string written() {
  const std::lock_guard<std::mutex> lock(log().mutex);
  std::ostringstream text;
  for (const auto& [identity, calls] : log().calls) {
    for (const std::string& call : calls) text << identity[0] << ' ' << identity[1] << ' ' << call << '\n';
  }
  return text.str();
}

std::map<Identity, Calls> read(const std::string& written) {
  std::map<Identity, Calls> calls;
  std::istringstream lines(written);
  Identity identity{};
  std::string call;
  while (lines >> identity[0] >> identity[1] && lines.ignore() && std::getline(lines, call)) {
    calls[identity].push_back(call);
  }
  return calls;
}

/// What each rank has written, on all ranks.
std::vector<std::string> ofAllRanks(const std::string& mine) {
  int ranks = 0, length = static_cast<int>(mine.size());
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<int> lengths(static_cast<std::size_t>(ranks)), begins(lengths.size(), 0);
  PMPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, MPI_COMM_WORLD);
  for (std::size_t k = 1; k < begins.size(); ++k) begins[k] = begins[k - 1] + lengths[k - 1];
  std::string all(static_cast<std::size_t>(begins.back() + lengths.back()), ' ');
  PMPI_Allgatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), begins.data(), MPI_CHAR, MPI_COMM_WORLD);
  std::vector<std::string> each;
  for (std::size_t k = 0; k < begins.size(); ++k) {
    each.push_back(all.substr(static_cast<std::size_t>(begins[k]), static_cast<std::size_t>(lengths[k])));
  }
  return each;
}

std::string callOf(const Calls& calls, std::size_t at) { return at < calls.size() ? calls[at] : "no call"; }

}  // namespace

namespace capstan::test {

void forgetCollectives() {
  const std::lock_guard<std::mutex> lock(log().mutex);
  log().calls.clear();
}

long notedCollectives() {
  const std::lock_guard<std::mutex> lock(log().mutex);
  long sum = 0;
  for (const auto& one : log().calls) sum += static_cast<long>(one.second.size());
  return sum;
}

std::string differingCollectives() {
  std::string text;
  std::map<Identity, std::pair<std::size_t, Calls>> first;  // a rank that has called, and what
  const auto all = ofAllRanks(written());
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    for (const auto& [identity, calls] : read(all[rank])) {
      const std::string mine = "rank " + std::to_string(rank) + ": ";
      if (identity == unknown) text += mine + calls.front() + " on a communicator that the log does not know\n";
      const auto [known, isNew] = first.try_emplace(identity, rank, calls);
      if (isNew || known->second.second == calls) continue;
      const Calls& others = known->second.second;
      const auto shorter = std::min(calls.size(), others.size());
      std::size_t at = 0;
      while (at < shorter && calls[at] == others[at]) ++at;
      text += mine + "call " + std::to_string(at + 1) + " on a communicator is " + callOf(calls, at) + "; on rank " +
              std::to_string(known->second.first) + " it is " + callOf(others, at) + '\n';
    }
  }
  return text;
}

}  // namespace capstan::test

// A call on `comm` that is noted and passed on, given its parameters and arguments in parentheses.
#define CAPSTAN_NOTED(name, detail, parameters, arguments) \
  int name parameters {                                    \
    note(std::string(#name) + (detail), comm);             \
    return P##name arguments;                              \
  }
#define CAPSTAN_UNPACKED(...) __VA_ARGS__
// A collective, blocking and not, given what comes before the communicator.
#define CAPSTAN_COLLECTIVE(name, nonblocking, detail, parameters, arguments)                                  \
  CAPSTAN_NOTED(name, detail, (CAPSTAN_UNPACKED parameters MPI_Comm comm), (CAPSTAN_UNPACKED arguments comm)) \
  CAPSTAN_NOTED(nonblocking, detail, (CAPSTAN_UNPACKED parameters MPI_Comm comm, MPI_Request * request),      \
                (CAPSTAN_UNPACKED arguments comm, request))
// One that makes a communicator of `comm`.
#define CAPSTAN_MAKES(name, parameters, arguments)    \
  int name parameters {                               \
    note(#name, comm);                                \
    const int code = P##name arguments;               \
    if (code == MPI_SUCCESS) nameCommunicator(*made); \
    return code;                                      \
  }

extern "C" {

CAPSTAN_COLLECTIVE(MPI_Barrier, MPI_Ibarrier, "", (), ())
CAPSTAN_COLLECTIVE(MPI_Bcast, MPI_Ibcast, bytes(n, type) + from(root),
                   (void* data, int n, MPI_Datatype type, int root, ), (data, n, type, root, ))
CAPSTAN_COLLECTIVE(MPI_Reduce, MPI_Ireduce, bytes(n, type) + from(root),
                   (const void* send, void* receive, int n, MPI_Datatype type, MPI_Op op, int root, ),
                   (send, receive, n, type, op, root, ))
CAPSTAN_COLLECTIVE(MPI_Allreduce, MPI_Iallreduce, bytes(n, type),
                   (const void* send, void* receive, int n, MPI_Datatype type, MPI_Op op, ),
                   (send, receive, n, type, op, ))
CAPSTAN_COLLECTIVE(MPI_Scan, MPI_Iscan, bytes(n, type),
                   (const void* send, void* receive, int n, MPI_Datatype type, MPI_Op op, ),
                   (send, receive, n, type, op, ))
CAPSTAN_COLLECTIVE(MPI_Exscan, MPI_Iexscan, bytes(n, type),
                   (const void* send, void* receive, int n, MPI_Datatype type, MPI_Op op, ),
                   (send, receive, n, type, op, ))
CAPSTAN_COLLECTIVE(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, bytes(n, type),
                   (const void* send, void* receive, int n, MPI_Datatype type, MPI_Op op, ),
                   (send, receive, n, type, op, ))
CAPSTAN_COLLECTIVE(MPI_Reduce_scatter, MPI_Ireduce_scatter, "",
                   (const void* send, void* receive, const int n[], MPI_Datatype type, MPI_Op op, ),
                   (send, receive, n, type, op, ))
CAPSTAN_COLLECTIVE(MPI_Gather, MPI_Igather, from(root),
                   (const void* send, int n, MPI_Datatype type, void* receive, int m, MPI_Datatype to, int root, ),
                   (send, n, type, receive, m, to, root, ))
CAPSTAN_COLLECTIVE(MPI_Gatherv, MPI_Igatherv, from(root),
                   (const void* send, int n, MPI_Datatype type, void* receive, const int m[], const int at[],
                    MPI_Datatype to, int root, ),
                   (send, n, type, receive, m, at, to, root, ))
CAPSTAN_COLLECTIVE(MPI_Scatter, MPI_Iscatter, from(root),
                   (const void* send, int n, MPI_Datatype type, void* receive, int m, MPI_Datatype to, int root, ),
                   (send, n, type, receive, m, to, root, ))
CAPSTAN_COLLECTIVE(MPI_Scatterv, MPI_Iscatterv, from(root),
                   (const void* send, const int n[], const int at[], MPI_Datatype type, void* receive, int m,
                    MPI_Datatype to, int root, ),
                   (send, n, at, type, receive, m, to, root, ))
CAPSTAN_COLLECTIVE(MPI_Allgather, MPI_Iallgather, "",
                   (const void* send, int n, MPI_Datatype type, void* receive, int m, MPI_Datatype to, ),
                   (send, n, type, receive, m, to, ))
CAPSTAN_COLLECTIVE(MPI_Allgatherv, MPI_Iallgatherv, "",
                   (const void* send, int n, MPI_Datatype type, void* receive, const int m[], const int at[],
                    MPI_Datatype to, ),
                   (send, n, type, receive, m, at, to, ))
CAPSTAN_COLLECTIVE(MPI_Alltoall, MPI_Ialltoall, "",
                   (const void* send, int n, MPI_Datatype type, void* receive, int m, MPI_Datatype to, ),
                   (send, n, type, receive, m, to, ))
CAPSTAN_COLLECTIVE(MPI_Alltoallv, MPI_Ialltoallv, "",
                   (const void* send, const int n[], const int from[], MPI_Datatype type, void* receive, const int m[],
                    const int at[], MPI_Datatype to, ),
                   (send, n, from, type, receive, m, at, to, ))
CAPSTAN_COLLECTIVE(MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, "",
                   (const void* send, const int n[], const int from[], MPI_Datatype type, void* receive, const int m[],
                    const int at[], MPI_Datatype to, ),
                   (send, n, from, type, receive, m, at, to, ))

CAPSTAN_MAKES(MPI_Comm_dup, (MPI_Comm comm, MPI_Comm* made), (comm, made))
CAPSTAN_MAKES(MPI_Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm* made), (comm, group, made))
CAPSTAN_MAKES(MPI_Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* made), (comm, color, key, made))
CAPSTAN_MAKES(MPI_Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made),
              (comm, type, key, info, made))
CAPSTAN_MAKES(MPI_Dist_graph_create_adjacent,
              (MPI_Comm comm, int in, const int from[], const int inWeights[], int out, const int to[],
               const int outWeights[], MPI_Info info, int reorder, MPI_Comm* made),
              (comm, in, from, inWeights, out, to, outWeights, info, reorder, made))

int MPI_Comm_free(MPI_Comm* comm) {
  note("MPI_Comm_free", *comm);
  {
    const std::lock_guard<std::mutex> lock(log().mutex);
    log().identities.erase(*comm);
  }
  return PMPI_Comm_free(comm);
}

}  // extern "C"
