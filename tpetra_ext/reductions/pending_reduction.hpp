#pragma once

/// \file
/// Handle of a reduction that has been started and not yet waited for.

#include <memory>
#include <utility>

#include "tpetra_ext/reductions/all_reduce.hpp"

namespace capstan {

/// RAII handle of a nonblocking reduction; movable, not copyable.
///
/// It shares ownership of the buffers, so it may outlive the batch it came from and the vectors that went into it.
/// Letting it fall out of scope completes the reduction (never cancels it): every rank has to do it alike, as with
/// wait(). After MPI_Finalize the destructor does nothing. After an error of MPI it does not wait for ever, but leaves
/// the buffers to MPI (see AllReduce::finish()).
template <class Types>
class PendingReduction {
 public:
  /// An empty handle: nothing to wait for.
  PendingReduction() = default;

  /// Adopts the reduction that `reduction->start()` returned `ticket` for; `reduction` shares ownership of its data.
  PendingReduction(std::shared_ptr<AllReduce> reduction, long ticket)
      : reduction_(std::move(reduction)), ticket_(ticket) {}

  ~PendingReduction() { finish(); }

  PendingReduction(PendingReduction&& other) noexcept
      : reduction_(std::move(other.reduction_)), ticket_(std::exchange(other.ticket_, 0)) {}

  /// Completes the reduction held so far, then takes over the other.
  PendingReduction& operator=(PendingReduction&& other) noexcept {
    if (this != &other) {
      finish();
      reduction_ = std::move(other.reduction_);
      ticket_ = std::exchange(other.ticket_, 0);
    }
    return *this;
  }

  PendingReduction(const PendingReduction&) = delete;
  PendingReduction& operator=(const PendingReduction&) = delete;

  /// True when the result has arrived (or failed to). Not collective; gives MPI a chance to make progress.
  bool test() { return reduction_ == nullptr || reduction_->test(ticket_); }

  /// Blocks until the result has arrived. Collective; idempotent. Throws std::runtime_error when MPI reports an error.
  void wait() {
    if (reduction_ != nullptr) reduction_->wait(ticket_);
  }

  /// The number under which the event log knows this reduction; 0 for an empty handle.
  long ticket() const { return ticket_; }

 private:
  void finish() noexcept {
    if (reduction_ != nullptr && !reduction_->finish(ticket_)) AllReduce::abandon(reduction_);
    reduction_.reset();
  }

  std::shared_ptr<AllReduce> reduction_;
  long ticket_ = 0;
};

}  // namespace capstan
