// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/driver/shared_failures.hpp"

#include <fmt/format.h>

#include <Teuchos_DefaultMpiComm.hpp>
#include <array>
#include <chrono>
#include <memory>
#include <thread>

#include "belos_ext/support/shared_text.hpp"

namespace capstan::driver {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Whether `request` completes within that many seconds.
bool completes(MPI_Request& request, double seconds) {
  int done = 0;
  for (const double end = now() + seconds; done == 0 && now() < end;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return done != 0;
}

}  // namespace

SharedFailures::SharedFailures(const preconditioning::Communicator& comm)
    : rank_(comm.getRank()), ranks_(comm.getSize()) {
  // A communicator of its own: on the other one the ranks may stand in different calls.
  const auto* mpi = dynamic_cast<const Teuchos::MpiComm<int>*>(&comm);
  if (mpi != nullptr && ranks_ > 1) MPI_Comm_dup(*mpi->getRawMpiComm(), &comm_);
}

SharedFailures::~SharedFailures() {
  if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

std::string SharedFailures::share(const std::string& failure, double patience) {
  if (comm_ == MPI_COMM_NULL) return failure;
  const bool failed = !failure.empty();
  using Pair = std::array<int, 2>;  // lowest rank with a failure; 1 where all have one
  auto pair = std::make_unique<Pair>(Pair{failed ? rank_ : ranks_, failed ? 1 : 0});
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(MPI_IN_PLACE, pair->data(), 2, MPI_INT, MPI_MIN, comm_, &request);
  if (!failed) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);  // a rank that failed arrives too, or ends all
  } else if (!completes(request, patience)) {
    static_cast<void>(pair.release());  // the reduction is still under way
    comm_ = MPI_COMM_NULL;              // and freeing is collective
    throw LoneFailure(fmt::format("rank {} failed, and the others wait for it: {}", rank_, failure));
  }
  const auto [teller, all] = *pair;
  if (teller == ranks_) return "";
  const std::string text = sharedText(failure, teller, Teuchos::MpiComm<int>(comm_));
  return all == 1 ? text : fmt::format("rank {}, not all ranks: {}", teller, text);
}

}  // namespace capstan::driver
