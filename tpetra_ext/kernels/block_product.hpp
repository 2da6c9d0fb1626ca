#pragma once
/// \file
/// A sparse matrix times a block of columns, the matrix read once for up to 16 of them.
///
/// A row of X is needed for every entry of A's column. So X lies row by row here, the columns of a row side by side:
/// an entry of A then meets one short piece of contiguous memory, in registers as wide as the processor has them.
/// packRows() brings a block of columns into that form, which costs as much as one or two entries a row.
///
/// Local to the process; asynchronous; a row is summed in the order in which A stores it, with the same bits whatever
/// the list of rows and the number of columns. NaN and Inf propagate.
/// Source: [enlarged-cg], section 2.2.

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>

#include "tpetra_ext/kernels/base/execution.hpp"
#include "tpetra_ext/kernels/base/launch.hpp"
#include "tpetra_ext/kernels/base/matrix_ref.hpp"
#include "tpetra_ext/kernels/host/chunks.hpp"
#include "tpetra_ext/kernels/row_runs.hpp"
#include "tpetra_ext/kernels/sweep.hpp"

namespace capstan::kernels {

/// Rows of A, and where their columns find their rows of X. Memory of the execution space.
template <class T, class Offset, class Index>
struct SparseRows {
  const Offset* begin = nullptr;  ///< of row i in `columns` and `values`; i + 1: its end
  const Index* columns = nullptr;
  const T* values = nullptr;
  const int* rows = nullptr;      ///< numbers of the rows, in A and Y, ascending; null: 0, 1, ...
  const int* sources = nullptr;   ///< where a column's row of X is; null: where its number says
  int own = 0;                    ///< sources below it are rows of X, those from it on of what is received
  const RowRuns* runs = nullptr;  ///< of the same list and sources; makes products faster on CPUs
  bool large = false;             ///< larger than caches: CPUs ask for it ahead, see isLarge()
};

/// Whether a matrix of so many entries does not stay in the caches of a core from one product to the next.
template <class T>
constexpr bool isLarge(std::size_t entries) {
  return entries * (sizeof(T) + sizeof(int)) > (std::size_t(8) << 20);
}

/// How many of `rows` rows a caller gives to a call of multiplyRows() who looks at something else between two calls:
/// for one thread some microseconds of work; for several all tiles that they can share; and all rows where a call
/// returns at once, or is Kokkos' alone. Local.
template <class Exec>
std::ptrdiff_t rowsBetweenLooks([[maybe_unused]] const Queue<Exec>& queue, std::ptrdiff_t rows) {
  if constexpr (runsOnHost<Exec>) {
    if (genericPathForced() || runsLater<Exec>()) return rows;
    const bool several = detail::tilesShared.load(std::memory_order_relaxed) || queue.instance().concurrency() > 1;
    return std::min(rows, several ? detail::tileRows * detail::mostTiles : detail::tileRows);
  }
  return rows;
}

namespace detail {

/// Rows in a chunk of the product with several columns, and with one: some microseconds of work between two interludes.
constexpr std::ptrdiff_t productChunkRows = 256, columnChunkRows = 1024;
/// The same for packing: a chunk of 8 columns of X fits into the first-level cache.
constexpr std::ptrdiff_t packChunkRows = 256;

template <class Exec, class T>
void packRowsOn(HostPath, Queue<Exec>& queue, const MatrixRef<const T>& X, T* packed) {
  const ChunkKernels<T>& kernels = chunkKernels<T>();
  forEachChunk(queue, ChunkPlan(X.rows, packChunkRows), [&](int, std::ptrdiff_t first, std::ptrdiff_t rows) {
    kernels.packRows(chunk(X.rowRange(first, rows)), packed + first * X.cols);
  });
}

template <class T>
struct PackRow {
  MatrixRef<const T> X;
  T* packed;
  KOKKOS_FUNCTION void operator()(const std::ptrdiff_t k) const { packed[k] = X(k / X.cols, int(k % X.cols)); }
};

template <class Exec, class T>
void packRowsOn(GenericPath, Queue<Exec>& queue, const MatrixRef<const T>& X, T* packed) {
  launch("capstan pack rows", queue, X.rows * X.cols, PackRow<T>{X, packed});
}

/// What a product does with its rows, if anything.
template <class T>
struct RowUpdate {
  bool any = false;
  CombineRef<T> operation{};
};

/// One row and up to four columns a thread: the threads of a row read neighbouring pieces of the rows of X.
template <class T, class Offset, class Index>
struct MultiplyRow {
  static constexpr int tile = 4;
  SparseRows<T, Offset, Index> a;
  const T* x;
  const T* received;
  T alpha, beta;
  MatrixRef<T> Y;
  std::ptrdiff_t from;
  int tiles;
  RowUpdate<T> then;

  KOKKOS_INLINE_FUNCTION const T* rowFor(Index column) const {
    const int source = a.sources == nullptr ? static_cast<int>(column) : a.sources[column];
    return received == nullptr || source < a.own ? x + std::ptrdiff_t(source) * Y.cols
                                                 : received + std::ptrdiff_t(source - a.own) * Y.cols;
  }

  template <int Columns>
  KOKKOS_INLINE_FUNCTION void multiply(std::ptrdiff_t row, int j0) const {
    T sum[Columns] = {};
    for (Offset k = a.begin[row]; k < a.begin[row + 1]; ++k) {
      const T value = a.values[k];
      const T* entries = rowFor(a.columns[k]) + j0;
      for (int j = 0; j < Columns; ++j) sum[j] += value * entries[j];
    }
    for (int j = 0; j < Columns; ++j) {
      T& result = Y(row, j0 + j);
      // What Y holds counts for nothing where beta is zero, NaN included.
      result = beta == T(0) ? alpha * sum[j] : beta * result + alpha * sum[j];
    }
    if (then.any) then.operation(row);
  }

  KOKKOS_FUNCTION void operator()(const std::ptrdiff_t k) const {
    const std::ptrdiff_t place = from + k / tiles;
    const std::ptrdiff_t row = a.rows == nullptr ? place : a.rows[place];
    const int j0 = int(k % tiles) * tile;
    switch (Y.cols - j0) {
      case 1:
        return multiply<1>(row, j0);
      case 2:
        return multiply<2>(row, j0);
      case 3:
        return multiply<3>(row, j0);
      default:
        return multiply<tile>(row, j0);
    }
  }
};

/// Tells Kokkos' tools, to whom a loop of our own is no kernel. Names this short take no allocation.
struct ProductRegion {
  ProductRegion() { Kokkos::Profiling::pushRegion("capstan rows"); }
  ~ProductRegion() { Kokkos::Profiling::popRegion(); }
  ProductRegion(const ProductRegion&) = delete;
  ProductRegion& operator=(const ProductRegion&) = delete;
};

/// Where the rows end that lie beside one another from place `first` of an ascending list on; `to` at most.
inline std::ptrdiff_t endOfNeighbours(const int* rows, std::ptrdiff_t first, std::ptrdiff_t to) {
  const auto reaches = [=](std::ptrdiff_t place) { return rows[place] - rows[first] == place - first; };
  if (reaches(to - 1)) return to;
  std::ptrdiff_t last = first, end = to - 1;  // reaches(last), and not `end`
  while (end - last > 1) {
    const std::ptrdiff_t middle = last + (end - last) / 2;
    (reaches(middle) ? last : end) = middle;
  }
  return end;
}

/// The operation on rows from..to-1 of a list, those that lie beside one another together.
template <class T>
void updateRows(const CombineRef<T>& then, const int* rows, std::ptrdiff_t from, std::ptrdiff_t to) {
  if (rows == nullptr) return then.run(from, to - from);
  for (std::ptrdiff_t first = from, last = from; first < to; first = last) {
    last = endOfNeighbours(rows, first, to);
    then.run(rows[first], last - first);
  }
}

template <class Exec, class T>
void multiplyRowsOn(HostPath, Queue<Exec>& queue, const SparseRows<T, std::size_t, int>& a, std::ptrdiff_t from,
                    std::ptrdiff_t to, const T* x, const T* received, T alpha, T beta, const MatrixRef<T>& Y,
                    const RowUpdate<T>& then) {
  const ChunkKernels<T>& kernels = chunkKernels<T>();
  const RowRuns* const runs = a.runs;
  // Rows of one pattern help one column alone.
  const bool hasRuns = runs != nullptr && (Y.cols == 1 ? runs->count() > 0 : runs->repeatColumns());
  const ChunkRows<T> all{a.begin,
                         a.columns,
                         a.values,
                         a.rows,
                         a.sources,
                         a.own,
                         x,
                         received,
                         alpha,
                         beta,
                         Y.data,
                         Y.stride,
                         Y.cols,
                         hasRuns ? runs->runs() : nullptr,
                         hasRuns ? runs->count() : 0,
                         hasRuns ? runs->offsets() : nullptr,
                         a.large};
  const ChunkPlan plan(to - from, Y.cols == 1 ? columnChunkRows : productChunkRows, ChunksOf::Matrix);
  forEachChunk(queue, plan, [&](int, std::ptrdiff_t first, std::ptrdiff_t rows) {
    kernels.multiplyRows(all, from + first, from + first + rows);
    if (then.any) updateRows(then.operation, a.rows, from + first, from + first + rows);
  });
}

template <class Exec, class T, class Offset, class Index>
void multiplyRowsOn(GenericPath, Queue<Exec>& queue, const SparseRows<T, Offset, Index>& a, std::ptrdiff_t from,
                    std::ptrdiff_t to, const T* x, const T* received, T alpha, T beta, const MatrixRef<T>& Y,
                    const RowUpdate<T>& then) {
  using Kernel = MultiplyRow<T, Offset, Index>;
  static_assert(sizeof(Kernel) <= smallArguments, "the arguments would travel through constant memory");
  const int tiles = (Y.cols + Kernel::tile - 1) / Kernel::tile;
  launch("capstan multiply", queue, (to - from) * tiles, Kernel{a, x, received, alpha, beta, Y, from, tiles, then});
}

}  // namespace detail

/// packed(i, j) = X(i, j), row by row.
///
/// \param X n x t, contiguous columns
/// \param packed n x t numbers, those of a row side by side; a rank-1 view, at least as long
/// \throws std::invalid_argument when it is shorter, or columns are not contiguous
template <class Path = AutoPath, class Exec, class ViewX, class ViewP>
void packRows(Queue<Exec>& queue, const ViewX& X, const ViewP& packed) {
  using T = detail::ScalarOf<ViewP>;
  const detail::MatrixRef<const T> x = detail::matrixRef<Exec>(X, "packRows", "X");
  T* const to = detail::vectorData<Exec>(packed, x.rows * x.cols, "packRows", "packed");
  if (x.rows == 0 || x.cols == 0) return;
  detail::onPath<Path, Exec>("pack rows", [=, &queue](auto path) { detail::packRowsOn(path, queue, x, to); });
}

/// Rows from..to-1 of the list of rows of Y = beta Y + alpha A X; what Y holds is not read where beta is zero.
///
/// \param X rows of t numbers, a rank-1 view, as packRows() leaves it; for one column the column itself
/// \param received the same for the rows from a.own on; of length 0 where no row of the list needs one
/// \param Y n x t, contiguous columns
/// \param then an operation (of a SweepList) that rows go through as soon as they are there, in the same pass; for one
///   column, which it may read and write. What else it reads is not written meanwhile. Null: none
/// \throws std::invalid_argument when the columns of Y are not contiguous, or an operation goes with several columns
template <class Path = AutoPath, class Exec, class T, class Offset, class Index, class ViewX, class ViewR, class ViewY>
void multiplyRows(Queue<Exec>& queue, const SparseRows<T, Offset, Index>& a, std::ptrdiff_t from, std::ptrdiff_t to,
                  T alpha, const ViewX& X, const ViewR& received, T beta, const ViewY& Y,
                  const detail::CombineRef<T>* then = nullptr) {
  const detail::MatrixRef<T> y = detail::matrixRef<Exec>(Y, "multiplyRows", "Y");
  const T* const x = detail::vectorData<Exec>(X, 0, "multiplyRows", "X");
  const T* const others =
      received.extent(0) == 0 ? nullptr : detail::vectorData<Exec>(received, 0, "multiplyRows", "received");
  if (then != nullptr && y.cols > 1) {
    throw std::invalid_argument("capstan::kernels::multiplyRows: an operation for one column, Y has " +
                                std::to_string(y.cols));
  }
  if (from >= to || y.cols == 0) return;
  std::optional<detail::ProductRegion> region;  // told here: threads tell Kokkos' tools nothing
  detail::choosePath<Path, Exec>([&](auto path) {
    if constexpr (std::is_same<decltype(path), HostPath>::value) region.emplace();
  });
  const detail::RowUpdate<T> update = then == nullptr ? detail::RowUpdate<T>{} : detail::RowUpdate<T>{true, *then};
  detail::onPath<Path, Exec>("product", [=, &queue](auto path) {
    // The tables know one type of offsets and columns.
    constexpr bool inTables = std::is_same<Offset, std::size_t>::value && std::is_same<Index, int>::value;
    using Chosen = std::conditional_t<inTables, decltype(path), GenericPath>;
    detail::multiplyRowsOn(Chosen(), queue, a, from, to, x, others, alpha, beta, y, update);
  });
}

}  // namespace capstan::kernels
