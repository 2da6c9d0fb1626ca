#pragma once
/// \file
/// What the host kernels do between two chunks of rows: nothing, unless somebody asks.
///
/// A kernel over many rows may keep its thread for milliseconds. Whoever has to be attended to meanwhile, such as a
/// message library that advances only when called, sets a function here.

#include <atomic>

namespace capstan::kernels {

/// What the rows of a kernel are of: vectors it passes over, or a sparse matrix it multiplies by.
enum class ChunksOf { Vectors, Matrix };

/// Called between chunks of rows of a kernel, with what they are of; null: nothing is called. It must return quickly,
/// must not throw and must not touch the operands. Where Capstan's threads share the rows, it is called in those that
/// the launching thread computes; else in the first range of rows, on the thread that computes them, which with a
/// threaded backend need not be the one that launched the kernel.
inline std::atomic<void (*)(ChunksOf)> interlude{nullptr};

namespace detail {

/// For whoever waits for kernels that others compute.
inline void callInterlude() {
  if (void (*const call)(ChunksOf) = interlude.load(std::memory_order_relaxed); call != nullptr) {
    call(ChunksOf::Vectors);
  }
}

}  // namespace detail

}  // namespace capstan::kernels
