#include "perf/solvers/drifting_matrix.hpp"

#include <Tpetra_CrsMatrix.hpp>
#include <cmath>
#include <cstdint>

#include "tpetra_ext/compat/trilinos.hpp"
#include "tpetra_ext/kernels/base/mixed_bits.hpp"

namespace capstan::perf {
namespace {

/// In [0, 1].
double weight(long long row) {
  return static_cast<double>(kernels::mixed(static_cast<std::uint64_t>(row)) >> 11U) * 0x1p-53;
}

}  // namespace

DriftingMatrix::DriftingMatrix(const Teuchos::RCP<deck::Matrix>& a, double part, int turns)
    : a_(a), own_(*a, Teuchos::Copy), growth_(std::sqrt(1 + part) - 1), turns_(turns) {}

void DriftingMatrix::select(int turn) {
  const double grown = growth_ * turn / turns_;
  const auto& rowMap = *a_->getRowMap();
  const auto& columnMap = *a_->getColMap();
  const auto factor = [&](long long row) { return 1 + grown * weight(row); };
  deck::Matrix::nonconst_local_inds_host_view_type columns("columns", compat::localMaxNumRowEntries(own_));
  deck::Matrix::nonconst_values_host_view_type values("values", compat::localMaxNumRowEntries(own_));
  const auto domain = a_->getDomainMap(), range = a_->getRangeMap();
  a_->resumeFill();
  for (int row = 0; row < static_cast<int>(compat::localNumRows(own_)); ++row) {
    std::size_t count = 0;
    own_.getLocalRowCopy(row, columns, values, count);
    const double ofRow = factor(rowMap.getGlobalElement(row));
    for (std::size_t e = 0; e < count; ++e) values(e) *= ofRow * factor(columnMap.getGlobalElement(columns(e)));
    a_->replaceLocalValues(row, Teuchos::ArrayView<const int>(columns.data(), static_cast<long>(count)),
                           Teuchos::ArrayView<const double>(values.data(), static_cast<long>(count)));
  }
  a_->fillComplete(domain, range);
}

}  // namespace capstan::perf
