#include "tpetra_ext/operators/diagonal_rows.hpp"

#include <Tpetra_CrsMatrix.hpp>
#include <algorithm>
#include <cmath>

#include "tpetra_ext/compat/instantiate.hpp"
#include "tpetra_ext/compat/trilinos.hpp"
#include "tpetra_ext/kernels/base/fence.hpp"

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

}  // namespace

template <class Types>
void DiagonalRows<Types>::find(const Operator& a) {
  using LocalOrdinal = typename Types::LocalOrdinal;
  using Matrix = Tpetra::CrsMatrix<Scalar, LocalOrdinal, typename Types::GlobalOrdinal, typename Types::Node>;
  using Range = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::ptrdiff_t>>;
  count_ = 0;
  const auto* matrix = dynamic_cast<const Matrix*>(&a);
  if (matrix == nullptr || !matrix->isFillComplete()) return;
  // Vector entries are addressed by the local number of their row.
  const auto rowMap = matrix->getRowMap();
  for (const auto& map : {matrix->getDomainMap(), matrix->getRangeMap()}) {
    if (map.get() != rowMap.get() && !map->isLocallyFitted(*rowMap)) return;
    if (compat::localNumElements(*map) != compat::localNumElements(*rowMap)) return;
  }
  const auto local = matrix->getLocalMatrixDevice();
  const auto rows = static_cast<std::ptrdiff_t>(compat::localNumRows(*matrix));
  int candidates = 0;
  kernels::reduceAndWait(
      "capstan diagonal rows: count", Range(0, rows),
      KOKKOS_LAMBDA(std::ptrdiff_t i, int& sum) { sum += onlyEntry(local, i) >= 0 ? 1 : 0; }, candidates);
  if (candidates == 0) return;

  if (rows_.extent(0) < static_cast<std::size_t>(candidates)) {
    rows_ = decltype(rows_)("capstan diagonal rows", static_cast<std::size_t>(candidates));
    diagonal_ = decltype(diagonal_)("capstan diagonal entries", static_cast<std::size_t>(candidates));
  }
  const auto rowNumbers = matrix->getRowMap()->getLocalMap();
  const auto columnNumbers = matrix->getColMap()->getLocalMap();
  const auto found = rows_;
  const auto diagonal = diagonal_;
  std::ptrdiff_t diagonals = 0;
  kernels::scanAndWait(
      "capstan diagonal rows: list", Range(0, rows),
      KOKKOS_LAMBDA(std::ptrdiff_t i, std::ptrdiff_t & place, bool last) {
        const std::ptrdiff_t k = onlyEntry(local, i);
        if (k < 0) return;
        const auto row = static_cast<LocalOrdinal>(i);
        if (columnNumbers.getGlobalElement(local.graph.entries(k)) != rowNumbers.getGlobalElement(row)) return;
        if (!(local.values(k) - local.values(k) == Scalar(0))) return;  // Inf, NaN
        if (last) {
          found(place) = row;
          diagonal(place) = local.values(k);
        }
        ++place;
      },
      diagonals);
  count_ = static_cast<std::size_t>(diagonals);
}

template <class Types>
auto DiagonalRows<Types>::numbers() const -> std::vector<typename Types::LocalOrdinal> {
  std::vector<typename Types::LocalOrdinal> all(count_);
  if (count_ == 0) return all;
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), rows_);
  std::copy_n(host.data(), count_, all.begin());
  return all;
}

template <class Types>
auto DiagonalRows<Types>::takeOut(MultiVector& r, Held& held) const -> Scalar {
  Scalar sum = 0;
  if (count_ == 0) return sum;
  if (held.extent(0) < count_) held = Held("capstan diagonal rows: held", count_);
  const auto values = r.getLocalViewDevice(Tpetra::Access::ReadWrite);
  const auto rows = rows_;
  const Held kept = held;
  kernels::reduceAndWait(
      "capstan diagonal rows: take out", Kokkos::RangePolicy<ExecutionSpace>(0, count_),
      KOKKOS_LAMBDA(const std::size_t k, Scalar& part) {
        const Scalar value = values(rows(k), 0);
        part += value * value;
        kept(k) = value;
        values(rows(k), 0) = Scalar(0);
      },
      sum);
  return sum;
}

template <class Types>
void DiagonalRows<Types>::putBack(const Held& held, MultiVector& r) const {
  if (count_ == 0) return;
  const auto values = r.getLocalViewDevice(Tpetra::Access::ReadWrite);
  const auto rows = rows_;
  const Held kept = held;
  Kokkos::parallel_for(
      "capstan diagonal rows: put back", Kokkos::RangePolicy<ExecutionSpace>(0, count_),
      KOKKOS_LAMBDA(const std::size_t k) { values(rows(k), 0) = kept(k); });
}

template <class Types>
void DiagonalRows<Types>::solve(const MultiVector& b, MultiVector& x) const {
  if (count_ == 0) return;
  const auto values = b.getLocalViewDevice(Tpetra::Access::ReadOnly);
  const auto solution = x.getLocalViewDevice(Tpetra::Access::ReadWrite);
  const auto rows = rows_;
  const auto diagonal = diagonal_;
  Kokkos::parallel_for(
      "capstan diagonal rows: solve", Kokkos::RangePolicy<ExecutionSpace>(0, count_),
      KOKKOS_LAMBDA(const std::size_t k) {
        const Scalar entry = values(rows(k), 0) / diagonal(k);
        if (entry - entry == Scalar(0)) solution(rows(k), 0) = entry;
      });
}

template <class Types>
void DiagonalRows<Types>::clear(MultiVector& v) const {
  if (count_ == 0) return;
  const auto values = v.getLocalViewDevice(Tpetra::Access::ReadWrite);
  const auto rows = rows_;
  const std::size_t columns = v.getNumVectors();
  Kokkos::parallel_for(
      "capstan diagonal rows: clear", Kokkos::RangePolicy<ExecutionSpace>(0, count_),
      KOKKOS_LAMBDA(const std::size_t k) {
        for (std::size_t j = 0; j < columns; ++j) values(rows(k), j) = Scalar(0);
      });
}

#define CAPSTAN_DIAGONAL_ROWS(S, LO, GO, NO) template class DiagonalRows<TpetraTypes<S, LO, GO, NO>>;
CAPSTAN_INSTANTIATE(CAPSTAN_DIAGONAL_ROWS)

}  // namespace capstan
