#pragma once

/// \file
/// A sum over the ranks of a Teuchos communicator, in place, blocking or nonblocking.
///
/// All sums of the solvers' inner products and norms go through it, except those that carry entries of vectors
/// (topology/exchange/embedded_exchange.hpp) and those inside Tpetra's TSQR. Measurements (reduction_time.hpp), checks
/// of input and what Trilinos does on its own call MPI themselves. On a serial communicator, on one rank, and where
/// Trilinos has no MPI, the same calls complete locally and no MPI function is called.

#include <Teuchos_RCP.hpp>
#include <memory>

namespace Teuchos {
template <class Ordinal>
class Comm;
}

namespace capstan {

/// How start() works. Native: MPI_Iallreduce (MPI-3). Deferred: nothing is sent until the wait, which then blocks.
enum class NonblockingMode { Native, Deferred };

/// The mode in use: Native where MPI has MPI_Iallreduce.
NonblockingMode nonblockingMode();

/// Chooses the mode of reductions started from now on, alike on all ranks. Asking for Native where MPI lacks it throws
/// std::invalid_argument.
void setNonblockingMode(NonblockingMode mode);

/// Is told, once, when a reduction is over: its data are there, or it failed.
class ReductionListener {
 public:
  virtual void reductionEnded(bool failed) noexcept = 0;

 protected:
  ~ReductionListener() = default;
};

/// One all-reduce at a time over one communicator; reusable. Collective calls: run(), start() followed by wait().
///
/// Scalars: float and double. The data stay where they are and must live until the reduction is complete; an
/// owner that shares ownership of both (see ReductionBatch) guarantees it. The destructor completes a pending
/// reduction, unless MPI has been finalized: MPI forbids MPI_Cancel on a collective.
///
/// Reductions make progress as the ProgressScope says under which they are started.
class AllReduce {
 public:
  /// Throws std::invalid_argument when `comm` is null or neither an MPI nor a serial communicator. Local.
  explicit AllReduce(Teuchos::RCP<const Teuchos::Comm<int>> comm);
  ~AllReduce();
  AllReduce(const AllReduce&) = delete;
  AllReduce& operator=(const AllReduce&) = delete;

  /// data[0..count) <- its sum over all ranks. Blocking, collective; count == 0 sends nothing. Throws
  /// std::runtime_error when MPI reports an error, std::logic_error when a reduction is in flight.
  template <class Scalar>
  void run(Scalar* data, int count);

  /// Begins the same sum. Returns its ticket, by which wait() and test() know it. Errors of MPI are thrown by wait().
  /// \param listener lives as long as the data, and is told from within wait(), test(), finish() or the destructor; for
  ///   count == 0 at once. Null: nobody.
  template <class Scalar>
  long start(Scalar* data, int count, ReductionListener* listener = nullptr);

  /// Completes the reduction with this ticket; returns at once when it is complete. Throws std::runtime_error when MPI
  /// reported an error, each time it is asked for that ticket until the next start().
  void wait(long ticket);

  /// True when the reduction with this ticket is complete, with or without error. Lets MPI make progress. In Deferred
  /// mode it is false until wait().
  bool test(long ticket);

  /// Like wait(), for destructors: throws nothing, and does nothing after MPI_Finalize. Where MPI has just reported an
  /// error, of this reduction or of another one, it may never complete anything again: then the wait lasts two seconds
  /// at most. False when it was given up: MPI may still write to the data, and no reduction can be started here again.
  bool finish(long ticket) noexcept;

  /// Keeps a reduction that finish() has given up, and all it shares ownership of, to the end of the process.
  static void abandon(std::shared_ptr<AllReduce> reduction) noexcept;

  /// Whether a reduction has been started and not yet completed by wait() or test(). Local.
  bool inFlight() const;
  /// Whether the latest reduction ended with an error of MPI. Local.
  bool failed() const;

  int rank() const;
  int size() const;
  /// True when both sum over the same MPI communicator, or both are local.
  bool sameCommunicator(const AllReduce& other) const;

 private:
  enum class Type { Float, Double };
  template <class Scalar>
  static Type typeOf();
  void runRaw(void* data, int count, Type type, int bytes);
  long startRaw(void* data, int count, Type type, int bytes, ReductionListener* listener);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace capstan
