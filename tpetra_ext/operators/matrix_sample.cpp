#include "tpetra_ext/operators/matrix_sample.hpp"

#include <Tpetra_CrsMatrix.hpp>
#include <algorithm>
#include <cstring>

#include "tpetra_ext/compat/host_rows.hpp"
#include "tpetra_ext/compat/instantiate.hpp"
#include "tpetra_ext/compat/local_views.hpp"
#include "tpetra_ext/compat/trilinos.hpp"
#include "tpetra_ext/kernels/base/fence.hpp"
#include "tpetra_ext/node_queue.hpp"

namespace capstan {
namespace {

/// What an entry adds: its bits, mixed with its place. Sums of integers do not depend on their order.
template <class Scalar>
KOKKOS_INLINE_FUNCTION std::uint64_t mixed(Scalar value, std::size_t row, std::size_t k) {
  std::uint64_t bits = 0;
  memcpy(&bits, &value, sizeof(value));
  bits ^= (row + 1) * 0x9E3779B97F4A7C15ULL + (k + 1) * 0xC2B2AE3D27D4EB4FULL;
  bits = (bits ^ (bits >> 31)) * 0xBF58476D1CE4E5B9ULL;
  return bits ^ (bits >> 29);
}

/// Rows 0, stride, 2 stride, ... of a matrix on the device.
template <class Matrix>
struct SampledRows {
  Matrix matrix;
  std::size_t stride;

  KOKKOS_FUNCTION void operator()(const std::size_t i, std::uint64_t& sum) const {
    const std::size_t row = i * stride;
    const auto begin = matrix.graph.row_map(row), end = matrix.graph.row_map(row + 1);
    for (auto k = begin; k < end; ++k) sum += mixed(matrix.values(k), row, static_cast<std::size_t>(k - begin));
  }
};

}  // namespace

template <class Types>
std::optional<std::uint64_t> matrixSample(const typename Types::Operator& a) {
  using RowMatrix = Tpetra::RowMatrix<typename Types::Scalar, typename Types::LocalOrdinal,
                                      typename Types::GlobalOrdinal, typename Types::Node>;
  using Rows = compat::HostRows<RowMatrix>;
  const auto* matrix = dynamic_cast<const RowMatrix*>(&a);
  if (matrix == nullptr || !Rows::readable(*matrix)) return std::nullopt;
  const std::size_t count = compat::localNumRows(*matrix);
  const std::size_t stride = std::max<std::size_t>(1, (count + mostRowsSampled - 1) / mostRowsSampled);
  std::uint64_t sum = 0;
  if (const auto* stored = dynamic_cast<const typename Types::CrsMatrix*>(matrix); stored != nullptr) {
    const auto held = compat::deviceMatrix(*stored);
    const auto& local = *held;
    const std::size_t read = (count + stride - 1) / stride;
    kernels::reduceAndWait("capstan matrixsample", nodeQueue<Types>(), read,
                           SampledRows<std::decay_t<decltype(local)>>{local, stride}, sum);
    return sum;
  }
  Rows rows(*matrix);
  for (std::size_t row = 0; row < count; row += stride) {
    rows.read(row);
    for (std::size_t k = 0; k < rows.size(); ++k) sum += mixed(rows.value(k), row, k);
  }
  return sum;
}

#define CAPSTAN_MATRIX_SAMPLE(S, LO, GO, NO)                                      \
  template std::optional<std::uint64_t> matrixSample<TpetraTypes<S, LO, GO, NO>>( \
      const TpetraTypes<S, LO, GO, NO>::Operator&);
CAPSTAN_INSTANTIATE(CAPSTAN_MATRIX_SAMPLE)

}  // namespace capstan
