#pragma once

/// \file
/// Another way for the sums of AllReduce than MPI's own all-reduce.

#include <mpi.h>

#include <memory>

namespace capstan {

/// Sums over the ranks of one communicator. What it does and when is the same on all of them. The functions return
/// codes of MPI, and throw nothing.
class ReductionRoute {
 public:
  virtual ~ReductionRoute() = default;

  /// Whether it is to carry a sum of so many bytes over this communicator. Local; the same on all ranks.
  virtual bool takes(MPI_Comm comm, long bytes, bool blocking) const noexcept = 0;

  /// data[0..count) <- its sum over all ranks, the same bits on all of them. Blocking, collective.
  virtual int run(void* data, int count, MPI_Datatype type) noexcept = 0;

  /// Begins the same. `number` is what test() knows it by. Collective; several may be in flight.
  virtual int start(void* data, int count, MPI_Datatype type, long& number) noexcept = 0;

  /// Lets all that is in flight advance, and says whether this one is over; after that its number is forgotten. From
  /// any thread. Not collective.
  virtual int test(long number, bool& done) noexcept = 0;
};

/// Chooses the way of reductions that are started during its life, alike on all ranks of its communicator; null: MPI's
/// own. Scopes nest, as solvers inside preconditioners do.
class ReductionRouteScope {
 public:
  explicit ReductionRouteScope(std::shared_ptr<ReductionRoute> route);
  ~ReductionRouteScope();
  ReductionRouteScope(const ReductionRouteScope&) = delete;
  ReductionRouteScope& operator=(const ReductionRouteScope&) = delete;

  /// Another way from now on.
  void take(std::shared_ptr<ReductionRoute> route);

 private:
  std::shared_ptr<ReductionRoute> before_;
};

namespace detail {
/// That of the innermost scope; null: MPI's own.
const std::shared_ptr<ReductionRoute>& currentRoute();
}  // namespace detail

}  // namespace capstan
