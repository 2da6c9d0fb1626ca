#pragma once
/// \file
/// Whether the rows of A sum to zero, so that A annihilates constants: looked at before a conjugate gradient solve.
///
/// Up to mostRows rows of a rank are read, evenly spread, and reading ends at the first that does not sum to zero: less
/// work than one product, and no application of the operator, which may be the application's own and count its calls.
/// Nothing is kept from solve to solve, for a matrix may get new values in place. It is no proof; what is done with it
/// (constant_null_space.hpp) does no harm to a matrix of other rows.

#include <Tpetra_RowMatrix.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "belos_ext/manager/monitor.hpp"
#include "tpetra_ext/compat/trilinos.hpp"

namespace capstan {

/// Rows found on this rank that sum to zero, and rows that do not: 1 at most. Nothing where rows cannot be read. Local.
template <class Types>
struct RowSums {
  using Scalar = typename Types::Scalar;
  using Matrix =
      Tpetra::RowMatrix<Scalar, typename Types::LocalOrdinal, typename Types::GlobalOrdinal, typename Types::Node>;

  static constexpr std::size_t mostRows = 1000;
  /// Of the sum of magnitudes, for each entry: what rounding in an assembly leaves.
  static constexpr Scalar tolerance = 16 * std::numeric_limits<Scalar>::epsilon();

  explicit RowSums(const typename Types::Operator& a) {
    const auto* matrix = dynamic_cast<const Matrix*>(&a);
    if (matrix == nullptr || !matrix->supportsRowViews() || !matrix->isFillComplete()) return;
    const std::size_t count = compat::localNumRows(*matrix);
    const std::size_t stride = std::max<std::size_t>(1, (count + mostRows - 1) / mostRows);
    typename Matrix::local_inds_host_view_type columns;
    typename Matrix::values_host_view_type values;
    for (std::size_t row = 0; row < count && others == 0; row += stride) {
      matrix->getLocalRowView(static_cast<typename Types::LocalOrdinal>(row), columns, values);
      Scalar sum = 0, magnitude = 0;
      for (std::size_t k = 0; k < values.extent(0); ++k) {
        sum += values(k);
        magnitude += std::abs(values(k));
      }
      ++(std::abs(sum) <= tolerance * magnitude ? zero : others);
    }
  }

  long zero = 0, others = 0;
};

/// Tells the monitor, when the first reduction has carried what all ranks have found. Local; call it alike on all
/// ranks.
template <class Types>
void watchRowSums(const typename Types::Operator& a, Monitor<Types>& monitor) {
  using Scalar = typename Types::Scalar;
  const RowSums<Types> mine(a);
  monitor.sendAlong({static_cast<Scalar>(mine.zero), static_cast<Scalar>(mine.others)},
                    [&monitor](const std::vector<Scalar>& sums) {
                      monitor.setAnnihilatesConstants(sums[0] > Scalar(0) && sums[1] == Scalar(0));
                    });
}

}  // namespace capstan
