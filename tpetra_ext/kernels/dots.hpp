#pragma once
/// \file
/// Several dot products of vectors in one pass.

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <utility>
#include <vector>

#include "tpetra_ext/kernels/base/execution.hpp"
#include "tpetra_ext/kernels/base/fence.hpp"
#include "tpetra_ext/kernels/base/matrix_ref.hpp"
#include "tpetra_ext/kernels/generic/partial_sums.hpp"
#include "tpetra_ext/kernels/host/chunks.hpp"

namespace capstan::kernels {

namespace detail {

/// Pairs that one pass handles; longer lists take several.
constexpr int dotsPerPass = 16;
constexpr std::ptrdiff_t dotsChunkRows = 512;

/// Up to dotsPerPass pairs as the kernels run them, and where their results go.
template <class T>
struct DotTiles {
  static constexpr int size = 1;
  const T* x[dotsPerPass];
  const T* y[dotsPerPass];
  const T* weights;  ///< of the pairs that have any: the same
  bool weighted[dotsPerPass];
  T* result;
  int pairs;

  KOKKOS_INLINE_FUNCTION int count() const { return pairs; }
  KOKKOS_INLINE_FUNCTION void add(int pair, std::ptrdiff_t row, T (&sums)[1]) const {
    sums[0] += x[pair][row] * (weighted[pair] ? weights[row] * y[pair][row] : y[pair][row]);
  }
  KOKKOS_INLINE_FUNCTION void write(int pair, int, T sum) const { result[pair] = sum; }
};

template <class T>
struct SumOf {
  const T* x;
  KOKKOS_INLINE_FUNCTION void operator()(const std::size_t i, T& total) const { total += x[i]; }
};

template <class T>
struct MagnitudeOf {
  const T* x;
  KOKKOS_INLINE_FUNCTION void operator()(const std::size_t i, T& total) const { total += x[i] < 0 ? -x[i] : x[i]; }
};

/// The sum of the four entries of sums from `first` on.
template <class T>
T totalOfFour(const PartialSums<T>& sums, std::ptrdiff_t first) {
  return (sums.total(first) + sums.total(first + 1)) + (sums.total(first + 2) + sums.total(first + 3));
}

/// Vectors times their weights, entry by entry, of one chunk of rows. In place of the products themselves stand keys,
/// which nobody reads.
template <class T>
class WeightedVectors {
 public:
  /// Takes the weighted vectors of the tiles, each once, and puts their keys in place of y.
  explicit WeightedVectors(DotTiles<T>& tiles) : weights_(tiles.weights) {
    for (int pair = 0; pair < tiles.pairs; ++pair) {
      if (tiles.weighted[pair]) tiles.y[pair] = keys_ + enter(tiles.y[pair]);
    }
  }

  /// \param products a row of dotsChunkRows for each
  void multiply(std::ptrdiff_t first, std::ptrdiff_t rows, T* products) const {
    for (int k = 0; k < count_; ++k) {
      chunkKernels<T>().scale(weights_ + first, vectors_[k] + first, products + k * dotsChunkRows, rows);
    }
  }
  /// Where the entries from `first` on of a vector, or of what a key stands for, are.
  const T* at(const T* vector, std::ptrdiff_t first, const T* products) const {
    const std::less<const T*> before;
    if (before(vector, keys_) || !before(vector, keys_ + dotsPerPass)) return vector + first;
    return products + (vector - keys_) * dotsChunkRows;
  }

 private:
  int enter(const T* vector) {
    for (int k = 0; k < count_; ++k) {
      if (vectors_[k] == vector) return k;
    }
    vectors_[count_] = vector;
    return count_++;
  }

  const T* weights_;
  int count_ = 0;
  const T* vectors_[dotsPerPass];
  T keys_[dotsPerPass];
};

/// Pairs in groups that share a vector, so that it is loaded once for all of a group.
template <class T>
class SharedDots {
 public:
  struct Group {
    const T* shared;
    int first, count;  ///< of others()
  };

  /// \param most pairs of a group
  SharedDots(const DotTiles<T>& tiles, int most) {
    bool grouped[dotsPerPass] = {};
    int done = 0;
    for (int pair = 0; pair < tiles.pairs; ++pair) {
      if (grouped[pair]) continue;
      const auto uses = [&](const T* vector) {
        int count = 0;
        for (int k = pair; k < tiles.pairs; ++k) {
          count += !grouped[k] && (tiles.x[k] == vector || tiles.y[k] == vector) ? 1 : 0;
        }
        return count;
      };
      const bool byX = uses(tiles.x[pair]) >= uses(tiles.y[pair]);
      Group& group = groups_[count_++] = {byX ? tiles.x[pair] : tiles.y[pair], done, 0};
      for (int k = pair; k < tiles.pairs && group.count < most; ++k) {
        if (grouped[k] || (tiles.x[k] != group.shared && tiles.y[k] != group.shared)) continue;
        grouped[k] = true;
        place_[done] = k;
        others_[done++] = tiles.x[k] == group.shared ? tiles.y[k] : tiles.x[k];
        ++group.count;
      }
    }
  }

  const Group* begin() const { return groups_; }
  const Group* end() const { return groups_ + count_; }
  const T* other(int k) const { return others_[k]; }
  /// The pair of the k-th of others.
  int place(int k) const { return place_[k]; }

 private:
  Group groups_[dotsPerPass];
  int count_ = 0;
  const T* others_[dotsPerPass];
  int place_[dotsPerPass];
};

template <class Exec, class T>
void dotsOn(HostPath, Queue<Exec>& queue, std::ptrdiff_t n, DotTiles<T> tiles) {
  const ChunkKernels<T>& kernels = chunkKernels<T>();
  const ChunkPlan plan(n, dotsChunkRows);
  const PartialSums<T> sums(plan.slots, 4 * tiles.pairs, kernels.lanes);
  const WeightedVectors<T> weighted(tiles);
  const SharedDots<T> dots(tiles, kernels.dotsAtOnce);
  forEachChunk(queue, plan, [&](int slot, std::ptrdiff_t first, std::ptrdiff_t rows) {
    T products[dotsPerPass *
               dotsChunkRows];  // of weighted vectors; 64 kB of the stack, written as far as there are any
    weighted.multiply(first, rows, products);
    for (const auto& group : dots) {
      const T* others[dotsPerPass];
      for (int k = 0; k < group.count; ++k) others[k] = weighted.at(dots.other(group.first + k), first, products);
      kernels.dots(weighted.at(group.shared, first, products), others, group.count, rows,
                   sums.slot(slot) + 4 * group.first * kernels.lanes);
    }
  });
  sums.fold();
  for (int k = 0; k < tiles.pairs; ++k) tiles.result[dots.place(k)] = totalOfFour(sums, 4 * k);
}

/// What `add`, a kernel of the table that takes one vector, makes of all rows.
template <class Exec, class T>
T totalOf(Queue<Exec>& queue, std::ptrdiff_t n, const T* x, void (*add)(const T*, std::ptrdiff_t, T*)) {
  const ChunkPlan plan(n, 4 * dotsChunkRows);
  const PartialSums<T> sums(plan.slots, 4, chunkKernels<T>().lanes);
  forEachChunk(queue, plan,
               [&](int slot, std::ptrdiff_t first, std::ptrdiff_t rows) { add(x + first, rows, sums.slot(slot)); });
  sums.fold();
  return totalOfFour(sums, 0);
}

template <class Exec, class T>
T magnitudesOn(HostPath, Queue<Exec>& queue, std::ptrdiff_t n, const T* x) {
  finishTasks();
  queue.noteFence();
  return totalOf(queue, n, x, chunkKernels<T>().magnitudes);
}

template <class Exec, class T>
T magnitudesOn(GenericPath, Queue<Exec>& queue, std::ptrdiff_t n, const T* x) {
  T total = 0;
  reduceAndWait("capstan magnitudes", queue, n, MagnitudeOf<T>{x}, total);
  return total;
}

template <class Exec, class T, class ViewResult>
void sumOn(HostPath, Queue<Exec>& queue, std::ptrdiff_t n, const T* x, const ViewResult& result) {
  result() = totalOf(queue, n, x, chunkKernels<T>().sum);
}

template <class Exec, class T, class ViewResult>
void sumOn(GenericPath, Queue<Exec>& queue, std::ptrdiff_t n, const T* x, const ViewResult& result) {
  launchReduction("capstan sum", queue, n, SumOf<T>{x}, result);
}

template <class Exec, class T>
void dotsOn(GenericPath, Queue<Exec>& queue, std::ptrdiff_t n, const DotTiles<T>& tiles) {
  sumOverRows<Exec, T>(queue, n, tiles);
}

/// Two vectors of one length, contiguous where Exec runs, and the weights of their product, if there are any.
template <class T>
struct VectorPair {
  const T *x, *y;
  const T* weights = nullptr;
};

/// result[i] = x_i^T W_i y_i of vectors with n entries, W_i a diagonal of weights or 1, as dots() below. Other weights
/// than those of a pair before take another pass.
template <class Path = AutoPath, class Exec, class T>
void dotsOf(Queue<Exec>& queue, std::ptrdiff_t n, const VectorPair<T>* pairs, std::ptrdiff_t count, T* result) {
  DotTiles<T> tiles;
  for (std::ptrdiff_t done = 0; done < count; done += tiles.pairs) {
    tiles.pairs = 0;
    tiles.weights = nullptr;
    for (; tiles.pairs < std::min<std::ptrdiff_t>(dotsPerPass, count - done); ++tiles.pairs) {
      const VectorPair<T>& pair = pairs[done + tiles.pairs];
      const bool weighted = pair.weights != nullptr;
      if (weighted && tiles.weights != nullptr && tiles.weights != pair.weights) break;  // in the next pass
      if (weighted) tiles.weights = pair.weights;
      tiles.x[tiles.pairs] = pair.x;
      tiles.y[tiles.pairs] = pair.y;
      tiles.weighted[tiles.pairs] = weighted;
    }
    tiles.result = result + done;
    onPath<Path, Exec>("inner products", [=, &queue](auto path) { dotsOn(path, queue, n, tiles); });
  }
}

}  // namespace detail

/// result(i) = x_i^T y_i for every pair, in one pass over the vectors (one per 16 pairs). A vector that several pairs
/// share is read from memory once.
///
/// Local to the process; asynchronous; deterministic for the same shapes and number of threads; NaN and Inf propagate.
///
/// \param pairs std::pair<view, view> of rank 1, all of the same length and contiguous: any container that can be
///   iterated (std::array, std::vector)
/// \param result rank 1, at least as long as the list, in PinnedSpace<Exec>; read it after a fence
/// \throws std::invalid_argument when lengths differ, a vector is not contiguous or the result is too short
template <class Path = AutoPath, class Exec, class Pairs, class ViewResult>
void dots(Queue<Exec>& queue, const Pairs& pairs, const ViewResult& result) {
  using T = detail::ScalarOf<ViewResult>;
  const auto count = static_cast<std::ptrdiff_t>(std::distance(std::begin(pairs), std::end(pairs)));
  if (count == 0) return;
  T* const to = detail::vectorData<Exec>(result, count, "dots", "result");
  const auto n = static_cast<std::ptrdiff_t>(std::begin(pairs)->first.extent(0));
  std::vector<detail::VectorPair<T>> list;
  for (const auto& [x, y] : pairs) {
    if (static_cast<std::ptrdiff_t>(x.extent(0)) != n || static_cast<std::ptrdiff_t>(y.extent(0)) != n) {
      throw std::invalid_argument("capstan::kernels::dots: pair " + std::to_string(list.size()) + " has vectors of " +
                                  std::to_string(x.extent(0)) + " and " + std::to_string(y.extent(0)) +
                                  " entries, must be " + std::to_string(n));
    }
    list.push_back({detail::vectorData<Exec>(x, n, "dots", "x"), detail::vectorData<Exec>(y, n, "dots", "y")});
  }
  detail::dotsOf<Path>(queue, n, list.data(), count, to);
}

/// The same for a braced list: dots(queue, {std::pair(r, u), std::pair(w, u)}, result).
template <class Path = AutoPath, class Exec, class ViewX, class ViewY, class ViewResult>
void dots(Queue<Exec>& queue, std::initializer_list<std::pair<ViewX, ViewY>> pairs, const ViewResult& result) {
  dots<Path, Exec, std::initializer_list<std::pair<ViewX, ViewY>>, ViewResult>(queue, pairs, result);
}

/// The sum of |x_i|. Local to the process; waits for the result; NaN and Inf propagate.
///
/// \param x rank 1, contiguous
template <class Path = AutoPath, class Exec, class ViewX>
auto magnitudes(Queue<Exec>& queue, const ViewX& x) {
  using T = detail::ScalarOf<ViewX>;
  const auto n = static_cast<std::ptrdiff_t>(x.extent(0));
  const T* const from = detail::vectorData<Exec>(x, n, "magnitudes", "x");
  T total = 0;
  detail::choosePath<Path, Exec>([&](auto path) { total = detail::magnitudesOn(path, queue, n, from); });
  return total;
}

/// result() = the sum of the entries of x. Local to the process; asynchronous; NaN and Inf propagate.
///
/// \param x rank 1, contiguous
/// \param result rank 0, in PinnedSpace<Exec>; read it after a fence
template <class Path = AutoPath, class Exec, class ViewX, class ViewResult>
void sum(Queue<Exec>& queue, const ViewX& x, const ViewResult& result) {
  const auto n = static_cast<std::ptrdiff_t>(x.extent(0));
  const auto* const from = detail::vectorData<Exec>(x, n, "sum", "x");
  detail::onPath<Path, Exec>("sum", [=, &queue](auto path) { detail::sumOn(path, queue, n, from, result); });
}

}  // namespace capstan::kernels
