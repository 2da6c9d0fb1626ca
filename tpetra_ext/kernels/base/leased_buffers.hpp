#pragma once
/// \file
/// Buffers that the host fills for kernels, again and again, without waiting for them.
///
/// A fence says that the kernels launched before it are done. It says nothing of one that is to be launched with what
/// the host has written already: whoever waits between the two, for reasons of his own, must not make the buffer free.
/// So a buffer is on lease from before it is filled until the kernel that reads it is launched, and free again with the
/// next fence after that.

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "tpetra_ext/kernels/base/fence.hpp"

namespace capstan::kernels {

/// Memory in use by kernels of a queue from begin() until the queue's next fence, whoever calls it.
template <class Exec>
class UseByKernels {
 public:
  explicit UseByKernels(Queue<Exec>& queue) : queue_(queue) {}

  /// A kernel that uses the memory has just been launched. Local.
  void begin() {
    used_ = true;
    fences_ = queue_.fences();
  }
  /// Whether the host may read and write the memory. Local.
  bool over() const { return !used_ || queue_.fences() != fences_; }
  /// Waits for it, where there has been no fence meanwhile. Local.
  void end() {
    if (!over()) fence(queue_);
    used_ = false;
  }

 private:
  Queue<Exec>& queue_;
  bool used_ = false;
  long fences_ = 0;
};

/// NaN in what kernels are about to write, where launches are delayed: for whoever reads it before a fence. Local.
template <class Exec, class T>
void poison([[maybe_unused]] T* data, [[maybe_unused]] std::size_t count) {
  if constexpr (runsOnHost<Exec>) {
    if (launchesDelayed()) std::fill_n(data, count, std::numeric_limits<T>::quiet_NaN());
  }
}

/// The same behind the kernels launched so far, for those that are launched later. Local.
template <class Exec, class T>
void poisonLater([[maybe_unused]] T* data, [[maybe_unused]] std::size_t count) {
  if constexpr (runsOnHost<Exec>) {
    if (launchesDelayed()) detail::DelayedLaunches::instance().add([=] { poison<Exec>(data, count); });
  }
}

/// Memory that is handed out buffer by buffer, kept, and used again. For kernels of one queue, which it carries, and
/// for the thread that launches them. It outlives its leases.
template <class Exec, class T>
class LeasedBuffers {
  struct Buffer {
    explicit Buffer(Queue<Exec>& queue) : use(queue) {}
    Kokkos::View<T*, PinnedSpace<Exec>> memory;
    UseByKernels<Exec> use;
    bool leased = false;
  };

 public:
  /// Buffers beyond which the host waits for kernels rather than to allocate another one.
  static constexpr std::size_t most = 16;

  explicit LeasedBuffers(Queue<Exec>& queue) : queue_(queue) {}

  /// A buffer, to be filled by the host and given to kernels while this lives. Where launches are delayed it holds NaN
  /// for kernels that are launched later.
  class Lease {
   public:
    Lease(Lease&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (buffer_ == nullptr) return;
      buffer_->leased = false;
      buffer_->use.begin();
      poisonLater<Exec>(buffer_->memory.data(), buffer_->memory.extent(0));
    }
    T* data() const { return buffer_->memory.data(); }

   private:
    friend class LeasedBuffers;
    explicit Lease(Buffer& buffer) : buffer_(&buffer) { buffer.leased = true; }
    Buffer* buffer_;
  };

  /// At least `count` numbers. Waits, or allocates, where no buffer is free. Local.
  [[nodiscard]] Lease take(std::size_t count) {
    if (!findFree() && buffers_.size() >= most) {
      fence(queue_);
      findFree();
    }
    if (next_ == buffers_.size()) buffers_.push_back(std::make_unique<Buffer>(queue_));
    Buffer& buffer = *buffers_[next_++];
    if (buffer.memory.extent(0) < count) {
      buffer.memory = decltype(buffer.memory)(Kokkos::view_alloc(Kokkos::WithoutInitializing, "capstan coefficients"),
                                              std::max(count, 2 * buffer.memory.extent(0)));
    }
    return Lease(buffer);
  }

 private:
  /// Goes on to the next buffer that is free, from the first one after each fence: so the same buffers are taken by
  /// what is done again and again. Whether there is one.
  bool findFree() {
    if (const long now = queue_.fences(); now != fences_) {
      fences_ = now;
      next_ = 0;
    }
    while (next_ < buffers_.size() && (buffers_[next_]->leased || !buffers_[next_]->use.over())) ++next_;
    return next_ < buffers_.size();
  }

  Queue<Exec>& queue_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::size_t next_ = 0;  ///< none before it is free
  long fences_ = 0;       ///< when it was set to the first one
};

}  // namespace capstan::kernels
