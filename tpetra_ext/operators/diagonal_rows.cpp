#include "tpetra_ext/operators/diagonal_rows.hpp"

#include <Tpetra_CrsMatrix.hpp>
#include <algorithm>
#include <cmath>

#include "tpetra_ext/compat/instantiate.hpp"
#include "tpetra_ext/compat/local_views.hpp"
#include "tpetra_ext/compat/trilinos.hpp"
#include "tpetra_ext/kernels/base/copy.hpp"
#include "tpetra_ext/node_queue.hpp"

namespace capstan {
namespace {

/// A row's only entry that is not zero, as its position; -1 where there are none or several. NaN is not zero.
template <class Matrix>
KOKKOS_INLINE_FUNCTION std::ptrdiff_t onlyEntry(const Matrix& matrix, std::ptrdiff_t row) {
  using Scalar = typename Matrix::value_type;
  std::ptrdiff_t found = -1;
  for (auto k = matrix.graph.row_map(row); k < matrix.graph.row_map(row + 1); ++k) {
    if (matrix.values(k) == Scalar(0)) continue;
    if (found >= 0) return -1;
    found = static_cast<std::ptrdiff_t>(k);
  }
  return found;
}

template <class Matrix>
struct CountCandidates {
  Matrix matrix;
  KOKKOS_FUNCTION void operator()(std::ptrdiff_t i, int& sum) const { sum += onlyEntry(matrix, i) >= 0 ? 1 : 0; }
};

/// Rows and entries of those rows whose only entry is finite and on the diagonal.
template <class Matrix, class LocalMap, class Rows, class Entries>
struct ListDiagonals {
  Matrix matrix;
  LocalMap rowNumbers, columnNumbers;
  Rows rows;
  Entries diagonal;

  KOKKOS_FUNCTION void operator()(std::ptrdiff_t i, std::ptrdiff_t& place, bool last) const {
    using Scalar = typename Matrix::value_type;
    const std::ptrdiff_t k = onlyEntry(matrix, i);
    if (k < 0) return;
    const auto row = static_cast<typename LocalMap::local_ordinal_type>(i);
    if (columnNumbers.getGlobalElement(matrix.graph.entries(k)) != rowNumbers.getGlobalElement(row)) return;
    if (!(matrix.values(k) - matrix.values(k) == Scalar(0))) return;  // Inf, NaN
    if (last) {
      rows(place) = row;
      diagonal(place) = matrix.values(k);
    }
    ++place;
  }
};

/// held = the entries, which become zero; sums their squares.
template <class Values, class Rows, class Held>
struct TakeOut {
  using Scalar = typename Held::non_const_value_type;
  Values values;
  Rows rows;
  Held held;

  KOKKOS_FUNCTION void operator()(const std::size_t k, Scalar& squares) const {
    const Scalar value = values(rows(k), 0);
    squares += value * value;
    held(k) = value;
    values(rows(k), 0) = Scalar(0);
  }
};

template <class Values, class Rows, class Held>
struct PutBack {
  Values values;
  Rows rows;
  Held held;

  KOKKOS_FUNCTION void operator()(const std::size_t k) const { values(rows(k), 0) = held(k); }
};

/// Entries of x where the quotient is finite.
template <class Values, class Solution, class Rows, class Entries>
struct DivideByDiagonal {
  Values values;
  Solution solution;
  Rows rows;
  Entries diagonal;

  KOKKOS_FUNCTION void operator()(const std::size_t k) const {
    using Scalar = typename Entries::non_const_value_type;
    const Scalar entry = values(rows(k), 0) / diagonal(k);
    if (entry - entry == Scalar(0)) solution(rows(k), 0) = entry;
  }
};

template <class Values, class Rows>
struct ClearRows {
  Values values;
  Rows rows;
  std::size_t columns;

  KOKKOS_FUNCTION void operator()(const std::size_t k) const {
    for (std::size_t j = 0; j < columns; ++j) values(rows(k), j) = typename Values::non_const_value_type(0);
  }
};

// Aggregates, which this C++ cannot deduce.
template <template <class...> class Functor, class... Members>
Functor<Members...> functorOf(const Members&... members) {
  return {members...};
}

}  // namespace

template <class Types>
void DiagonalRows<Types>::find(const Operator& a) {
  using LocalOrdinal = typename Types::LocalOrdinal;
  using Matrix = Tpetra::CrsMatrix<Scalar, LocalOrdinal, typename Types::GlobalOrdinal, typename Types::Node>;
  count_ = 0;
  const auto* matrix = dynamic_cast<const Matrix*>(&a);
  if (matrix == nullptr || !matrix->isFillComplete()) return;
  // Vector entries are addressed by the local number of their row.
  const auto rowMap = matrix->getRowMap();
  for (const auto& map : {matrix->getDomainMap(), matrix->getRangeMap()}) {
    if (map.get() != rowMap.get() && !map->isLocallyFitted(*rowMap)) return;
    if (compat::localNumElements(*map) != compat::localNumElements(*rowMap)) return;
  }
  const auto held = compat::deviceMatrix(*matrix);
  const auto& local = *held;
  const auto rows = static_cast<std::ptrdiff_t>(compat::localNumRows(*matrix));
  auto& queue = nodeQueue<Types>();
  int candidates = 0;
  kernels::reduceAndWait("capstan diagonal rows: count", queue, rows, functorOf<CountCandidates>(local), candidates);
  if (candidates == 0) return;

  if (rows_.extent(0) < static_cast<std::size_t>(candidates)) {
    rows_ = kernels::unfilled<decltype(rows_)>("capstan diagonal rows", candidates);
    diagonal_ = kernels::unfilled<decltype(diagonal_)>("capstan diagonal entries", candidates);
  }
  const auto rowNumbers = matrix->getRowMap()->getLocalMap();
  const auto columnNumbers = matrix->getColMap()->getLocalMap();
  std::ptrdiff_t diagonals = 0;
  kernels::scanAndWait("capstan diagonal rows: list", queue, rows,
                       ListDiagonals<std::decay_t<decltype(local)>, std::decay_t<decltype(rowNumbers)>, decltype(rows_),
                                     decltype(diagonal_)>{local, rowNumbers, columnNumbers, rows_, diagonal_},
                       diagonals);
  count_ = static_cast<std::size_t>(diagonals);
}

template <class Types>
auto DiagonalRows<Types>::numbers() const -> std::vector<typename Types::LocalOrdinal> {
  std::vector<typename Types::LocalOrdinal> all(count_);
  if (count_ == 0) return all;
  const auto found = Kokkos::subview(rows_, std::make_pair(std::size_t(0), count_));
  const auto host = kernels::mirror(found);
  kernels::copyAndWait(nodeQueue<Types>(), host, found);
  std::copy_n(host.data(), count_, all.begin());
  return all;
}

template <class Types>
auto DiagonalRows<Types>::takeOut(MultiVector& r, Held& held) const -> Scalar {
  Scalar sum = 0;
  if (count_ == 0) return sum;
  if (held.extent(0) < count_) held = kernels::unfilled<Held>("capstan diagonal rows: held", count_);
  const auto values = compat::deviceView(r, Tpetra::Access::ReadWrite);
  kernels::reduceAndWait("capstan diagonal rows: take out", nodeQueue<Types>(), count_,
                         functorOf<TakeOut>(*values, rows_, held), sum);
  return sum;
}

template <class Types>
void DiagonalRows<Types>::putBack(const Held& held, MultiVector& r) const {
  if (count_ == 0) return;
  const auto values = compat::deviceView(r, Tpetra::Access::ReadWrite);
  kernels::launch("capstan diagonal rows: put back", nodeQueue<Types>(), count_,
                  functorOf<PutBack>(*values, rows_, held));
}

template <class Types>
void DiagonalRows<Types>::solve(const MultiVector& b, MultiVector& x) const {
  if (count_ == 0) return;
  const auto values = compat::deviceView(b, Tpetra::Access::ReadOnly);
  const auto solution = compat::deviceView(x, Tpetra::Access::ReadWrite);
  kernels::launch("capstan diagonal rows: solve", nodeQueue<Types>(), count_,
                  functorOf<DivideByDiagonal>(*values, *solution, rows_, diagonal_));
}

template <class Types>
void DiagonalRows<Types>::clear(MultiVector& v) const {
  if (count_ == 0) return;
  const auto held = compat::deviceView(v, Tpetra::Access::ReadWrite);
  const auto& values = *held;
  kernels::launch("capstan diagonal rows: clear", nodeQueue<Types>(), count_,
                  ClearRows<std::decay_t<decltype(values)>, decltype(rows_)>{values, rows_, v.getNumVectors()});
}

#define CAPSTAN_DIAGONAL_ROWS(S, LO, GO, NO) template class DiagonalRows<TpetraTypes<S, LO, GO, NO>>;
CAPSTAN_INSTANTIATE(CAPSTAN_DIAGONAL_ROWS)

}  // namespace capstan
