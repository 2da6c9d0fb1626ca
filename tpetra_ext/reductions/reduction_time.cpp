#include "tpetra_ext/reductions/reduction_time.hpp"

#include <Teuchos_Comm.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <vector>
#ifdef HAVE_TEUCHOS_MPI
#include <mpi.h>

#include <Teuchos_DefaultMpiComm.hpp>

#include "tpetra_ext/reductions/kept_with_communicator.hpp"
#endif

namespace capstan {
namespace {

#if defined(HAVE_TEUCHOS_MPI) && MPI_VERSION >= 3

/// Seconds by size class.
using Times = std::map<int, double>;

double measured(MPI_Comm comm, int sizeClass) {
  constexpr int warmUps = 2, samples = 5;
  std::vector<double> data(std::max<std::size_t>(1, (std::size_t(1) << sizeClass) / sizeof(double)));
  std::array<double, samples> seconds{};
  for (int k = -warmUps; k < samples; ++k) {
    MPI_Request request = MPI_REQUEST_NULL;
    const double begin = MPI_Wtime();
    if (MPI_Iallreduce(MPI_IN_PLACE, data.data(), static_cast<int>(data.size()), MPI_DOUBLE, MPI_SUM, comm, &request) !=
            MPI_SUCCESS ||
        MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    if (k >= 0) seconds[static_cast<std::size_t>(k)] = MPI_Wtime() - begin;
  }
  std::nth_element(seconds.begin(), seconds.begin() + samples / 2, seconds.end());
  return seconds[samples / 2];
}

/// The size classes of which reductions were counted on this rank, a bit for each.
std::uint32_t sizesOf(const ReductionCounters& spent) {
  static_assert(std::tuple_size<decltype(spent.nonblockingBySize)>::value <= 32, "a bit for each");
  std::uint32_t sizes = 0;
  for (std::size_t k = 0; k < spent.nonblockingBySize.size(); ++k) {
    if (spent.nonblockingBySize[k] != 0) sizes |= std::uint32_t(1) << k;
  }
  return sizes;
}

/// What this rank's reductions would have taken; `sizes`, the same on all ranks, are measured where they are not known.
double aloneSeconds(const Teuchos::Comm<int>& comm, MPI_Comm raw, std::uint32_t sizes, const ReductionCounters& spent) {
  // Of this communicator alone: MPI may take another way for a duplicate.
  const auto kept = keptWith(
      comm, "capstan times of reductions", [] { return std::make_shared<Times>(); }, Duplicates::BeginAnew);
  Times& times = *static_cast<Times*>(kept.get());
  double seconds = 0;
  for (std::size_t k = 0; k < spent.nonblockingBySize.size(); ++k) {
    if (((sizes >> k) & 1U) == 0) continue;
    const int size = static_cast<int>(k);
    if (times.count(size) == 0) times[size] = measured(raw, size);
    seconds += static_cast<double>(spent.nonblockingBySize[k]) * times[size];
  }
  return seconds;
}

#endif

}  // namespace

OverlapSeconds measureOverlap(const Teuchos::Comm<int>& comm, const ReductionCounters& spent) {
  OverlapSeconds own{spent.nonblockingWaitSeconds, 0};
  if (comm.getSize() == 1) return own;
#if defined(HAVE_TEUCHOS_MPI) && MPI_VERSION >= 3
  if (const auto* const mpi = dynamic_cast<const Teuchos::MpiComm<int>*>(&comm)) {
    const MPI_Comm raw = *mpi->getRawMpiComm();
    // Ranks may have counted other sizes than others, in solves on parts of the communicator; each takes part in all.
    std::uint32_t sizes = sizesOf(spent);
    if (MPI_Allreduce(MPI_IN_PLACE, &sizes, 1, MPI_UINT32_T, MPI_BOR, raw) == MPI_SUCCESS) {
      double sums[2] = {own.wait, aloneSeconds(comm, raw, sizes, spent)};
      if (MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, raw) == MPI_SUCCESS) {
        return {sums[0] / comm.getSize(), sums[1] / comm.getSize()};
      }
    }
  }
#endif
  own.alone = std::numeric_limits<double>::quiet_NaN();
  return own;
}

}  // namespace capstan
