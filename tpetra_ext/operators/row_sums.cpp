#include "tpetra_ext/operators/row_sums.hpp"

#include <Tpetra_CrsMatrix.hpp>
#include <algorithm>
#include <limits>

#include "tpetra_ext/compat/host_rows.hpp"
#include "tpetra_ext/compat/instantiate.hpp"
#include "tpetra_ext/compat/local_views.hpp"
#include "tpetra_ext/compat/trilinos.hpp"
#include "tpetra_ext/kernels/base/execution.hpp"
#include "tpetra_ext/kernels/base/fence.hpp"
#include "tpetra_ext/node_queue.hpp"

namespace capstan {
namespace {

/// A row's sum, and whether it is rounding.
template <class Scalar>
struct RowSum {
  /// Of the sum of magnitudes: what rounding in an assembly leaves.
  static constexpr Scalar tolerance = 16 * std::numeric_limits<Scalar>::epsilon();

  Scalar sum = 0, magnitude = 0;

  KOKKOS_INLINE_FUNCTION void add(Scalar value) {
    sum += value;
    magnitude += value < Scalar(0) ? -value : value;
  }
  /// False for NaN and Inf.
  KOKKOS_INLINE_FUNCTION bool isZero() const {
    return magnitude - magnitude == Scalar(0) && (sum < Scalar(0) ? -sum : sum) <= tolerance * magnitude;
  }
};

/// Rows 0, stride, 2 stride, ... of a matrix on the device that do not sum to zero.
template <class Matrix>
struct OtherRows {
  Matrix matrix;
  std::size_t stride;

  KOKKOS_FUNCTION bool isOther(std::size_t row) const {
    RowSum<typename Matrix::value_type> sum;
    for (auto k = matrix.graph.row_map(row); k < matrix.graph.row_map(row + 1); ++k) sum.add(matrix.values(k));
    return !sum.isZero();
  }
  KOKKOS_FUNCTION void operator()(const std::size_t i, long& others) const {
    if (isOther(i * stride)) ++others;
  }
};

}  // namespace

namespace {

template <class Types>
using RowMatrix = Tpetra::RowMatrix<typename Types::Scalar, typename Types::LocalOrdinal, typename Types::GlobalOrdinal,
                                    typename Types::Node>;

/// Of rows 0, stride, 2 stride, ...; of a sample on the host up to the first one that does not sum to zero.
template <class Types>
RowSums sumsOf(const RowMatrix<Types>& matrix, std::size_t stride) {
  using Scalar = typename Types::Scalar;
  RowSums found;
  const std::size_t count = compat::localNumRows(matrix);
  if (const auto* stored = dynamic_cast<const typename Types::CrsMatrix*>(&matrix); stored != nullptr) {
    const auto held = compat::deviceMatrix(*stored);
    const auto& local = *held;
    const OtherRows<std::decay_t<decltype(local)>> rows{local, stride};
    const std::size_t read = (count + stride - 1) / stride;
    if constexpr (kernels::runsOnHost<typename Types::ExecutionSpace>) {
      if (read <= mostRowsSummed) {  // most matrices have their answer in the first rows
        std::size_t i = 0;
        while (i < read && !rows.isOther(i * stride)) ++i;
        return {static_cast<long>(i), i < read ? 1L : 0L};
      }
    }
    kernels::reduceAndWait("capstan rowsums", nodeQueue<Types>(), read, rows, found.others);
    found.zero = static_cast<long>(read) - found.others;
    return found;
  }
  compat::HostRows<RowMatrix<Types>> rows(matrix);
  for (std::size_t row = 0; row < count && found.others == 0; row += stride) {
    rows.read(row);
    RowSum<Scalar> sum;
    for (std::size_t k = 0; k < rows.size(); ++k) sum.add(rows.value(k));
    ++(sum.isZero() ? found.zero : found.others);
  }
  return found;
}

}  // namespace

template <class Types>
RowSums rowSums(const typename Types::Operator& a) {
  const auto* matrix = dynamic_cast<const RowMatrix<Types>*>(&a);
  if (matrix == nullptr || !compat::HostRows<RowMatrix<Types>>::readable(*matrix)) return {};
  const std::size_t count = compat::localNumRows(*matrix);
  const std::size_t stride = std::max<std::size_t>(1, (count + mostRowsSummed - 1) / mostRowsSummed);
  const RowSums sample = sumsOf<Types>(*matrix, stride);
  return stride > 1 && sample.others == 0 ? sumsOf<Types>(*matrix, 1) : sample;
}

#define CAPSTAN_ROW_SUMS(S, LO, GO, NO) \
  template RowSums rowSums<TpetraTypes<S, LO, GO, NO>>(const TpetraTypes<S, LO, GO, NO>::Operator&);
CAPSTAN_INSTANTIATE(CAPSTAN_ROW_SUMS)

}  // namespace capstan
