#pragma once
/// \file
/// The kernels on one chunk of rows, as a table: they are compiled once for each instruction set, and the process
/// chooses one table when it first needs it.

#include <cstddef>
#include <cstdint>

namespace capstan::kernels {

/// Rows of a list that stand behind one another in the matrix, too; of one pattern where all have as many entries, and
/// entry k of a row finds its x one place behind that of the row before. See row_runs.hpp.
struct RowRun {
  int first;    ///< place in the list
  int length;   ///< entries of a row of the pattern; 0: rows of any; sameColumns: rows of the same columns
  int offsets;  ///< where, in an array, those of the run begin: entry k of row i finds its x at i + offset k
  int row;      ///< the number of the first row; of what stands behind the last run: one there is `begin` of
};

/// The length of a run of rows that have the same columns, as the unknowns of one cell or node have.
constexpr int sameColumns = -1;

namespace detail {

/// Entries of the longest row that is part of a pattern.
constexpr int longestPattern = 64;

/// A column-major matrix as the tables take it. No member function: code for different instruction sets shares the
/// layout alone.
template <class T>
struct ChunkMatrix {
  T* data;
  std::ptrdiff_t rows;
  int cols;
  std::ptrdiff_t stride;
};

/// Rows of Y = beta Y + alpha A X as the tables take them: A by rows, X and what is received a row behind the other.
template <class T>
struct ChunkRows {
  const std::size_t* begin;  ///< of row i in `columns` and `values`; i + 1: its end
  const int* columns;
  const T* values;
  const int* rows;     ///< numbers of the rows, in A and Y; null: 0, 1, ...
  const int* sources;  ///< where a column's row of X is; null: where its number says
  int own;             ///< sources below it are rows of x, those from it on of `received`
  const T* x;
  const T* received;  ///< null: nothing
  T alpha, beta;
  T* y;
  std::ptrdiff_t stride;  ///< between the columns of Y
  int cols;
  const RowRun* runs;  ///< all rows of the list, and one behind the last
  std::ptrdiff_t runCount;
  const int* offsets;
  bool large;  ///< the matrix is larger than caches
};

/// Sums over rows are kept in `lanes` parts each, those of entry k from sums + k * lanes on; who adds them up is the
/// caller. All functions are local, throw nothing and let NaN and Inf through.
template <class T>
struct ChunkKernels {
  const char* name;  ///< as in CAPSTAN_KERNELS
  int lanes;         ///< scalars in a register
  int narrow;        ///< widest V that `update` handles by groups of Q's columns: its chunks are higher
  int dotsAtOnce;    ///< the most products of one vector that `dots` takes
  /// Entry i + j * X.cols += (X^T Y)(i, j).
  void (*innerProducts)(ChunkMatrix<const T> X, ChunkMatrix<const T> Y, T* sums);
  /// Entry i + j * B.cols += (B^T B(:, first:end))(i, j), of the trailing square only the upper triangle.
  void (*trailingGram)(ChunkMatrix<const T> B, int first, T* sums);
  /// Entry i + j * X.cols += (X^T Y)(i, j) where i <= j; below the diagonal there are some numbers.
  void (*upperProducts)(ChunkMatrix<const T> X, ChunkMatrix<const T> Y, T* sums);
  /// V += sign Q R. Q and V must not overlap.
  void (*update)(ChunkMatrix<const T> Q, ChunkMatrix<const T> R, T sign, ChunkMatrix<T> V);
  /// V <- V U^{-1}, U upper triangular.
  void (*solve)(ChunkMatrix<T> V, ChunkMatrix<const T> U);
  /// The sum of entries 4 k to 4 k + 3 += x^T y_k, k < count. The same for each k whatever the others are.
  void (*dots)(const T* x, const T* const* y, int count, std::ptrdiff_t rows, T* sums);
  /// The sum of entries 0 to 3 += the sum of |x_i|.
  void (*magnitudes)(const T* x, std::ptrdiff_t rows, T* sums);
  /// The sum of entries 0 to 3 += the sum of x_i.
  void (*sum)(const T* x, std::ptrdiff_t rows, T* sums);
  /// z = a x + b y + c w; terms whose factor b or c is zero are not read, c is zero where b is.
  void (*combine)(T a, const T* x, T b, const T* y, T c, const T* w, T* z, std::ptrdiff_t rows);
  /// z = d * x, entry by entry; z is apart from both.
  void (*scale)(const T* d, const T* x, T* z, std::ptrdiff_t rows);
  /// y = d * x + b y, entry by entry; y is not read where b is zero, and is apart from d and x.
  void (*scaledAxpby)(const T* d, const T* x, T b, T* y, std::ptrdiff_t rows);
  /// Rows from..to-1 of a's list: each is summed in the order of storage, whatever the number of columns.
  void (*multiplyRows)(const ChunkRows<T>& a, std::ptrdiff_t from, std::ptrdiff_t to);
  /// Entry j + i * X.cols of `packed` = X(i, j).
  void (*packRows)(ChunkMatrix<const T> X, T* packed);
  /// Entry i + j * (Q.cols + W.cols) += ([Q W]^T W(:, first:end))(i, j), of the trailing square only the upper
  /// triangle.
  void (*singleGram)(ChunkMatrix<const float> Q, ChunkMatrix<const T> W, int first, T* sums);
  /// V += sign Q R.
  void (*singleUpdate)(ChunkMatrix<const float> Q, ChunkMatrix<const T> R, T sign, ChunkMatrix<T> V);
  /// to = from in single precision, zero where that is below the smallest normal number.
  void (*round)(ChunkMatrix<const T> from, ChunkMatrix<float> to);
  /// Column j of `sums` += E H D y, y of `size` numbers: the rows of X from `place` on, zero elsewhere. H: Hadamard's
  /// matrix; D and E: signs, a bit each, 1 for minus, those of D first. `memory`: 3 size numbers.
  void (*sketch)(ChunkMatrix<const T> X, int place, const std::uint64_t* signs, int size, T* memory, T* sums);
};

/// The table of this process, see instructionSet(). Local. \throws std::invalid_argument as that does.
template <class T>
const ChunkKernels<T>& chunkKernels();
template <>
const ChunkKernels<float>& chunkKernels<float>();
template <>
const ChunkKernels<double>& chunkKernels<double>();

}  // namespace detail
}  // namespace capstan::kernels
