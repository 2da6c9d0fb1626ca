#pragma once
/// \file
/// Whether the matrix under a conjugate gradient solve is symmetric, looked at once for each matrix object.
///
/// Rows of the matrix are compared with its columns, as far as both are on one rank and for at most mostRowsCompared
/// rows a rank, evenly spread: less work than one product, and no application of the operator, which may be the
/// application's own and count its calls. Entries between ranks and most rows of a large matrix are not seen, so a
/// verdict "symmetric" is no proof. An operator that is no Tpetra::RowMatrix, or gives no views of its rows, is not
/// looked at.
///
/// The ranks' findings travel in the first reduction of the solve that meets a matrix first; the verdict then stays
/// with the matrix. A change of its values in place is not noticed.

#include <Teuchos_RCP.hpp>
#include <Tpetra_Map.hpp>
#include <Tpetra_RowMatrix.hpp>
#include <algorithm>
#include <cmath>
#include <optional>

#include "belos_ext/convergence/symmetry_verdict.hpp"
#include "tpetra_ext/compat/trilinos.hpp"

namespace capstan {

template <class Types>
class SymmetryCheck {
 public:
  using Scalar = typename Types::Scalar;
  using Operator = typename Types::Operator;
  using Ordinal = typename Types::LocalOrdinal;
  using Matrix = Tpetra::RowMatrix<Scalar, Ordinal, typename Types::GlobalOrdinal, typename Types::Node>;

  static constexpr std::size_t mostRowsCompared = 1000;

  /// What remember() has been told of this operator, or nothing. Local.
  static std::optional<SymmetryVerdict> known(const Teuchos::RCP<const Operator>& a) {
    const auto verdict = Teuchos::get_optional_extra_data<SymmetryVerdict>(a, extraDataName);
    return verdict.is_null() ? std::nullopt : std::optional<SymmetryVerdict>(*verdict);
  }

  /// What this rank finds; the sum over the ranks is the verdict. Nothing, on all ranks alike, where rows cannot be
  /// read. Local.
  static std::optional<SymmetryVerdict> compareHere(const Teuchos::RCP<const Operator>& a) {
    const auto matrix = Teuchos::rcp_dynamic_cast<const Matrix>(a);
    if (matrix.is_null() || !matrix->supportsRowViews() || !matrix->isFillComplete() || !matrix->hasColMap()) {
      return std::nullopt;
    }
    return compare(*matrix);
  }

  /// Keeps the verdict with the operator. Local.
  static void remember(Teuchos::RCP<const Operator> a, const SymmetryVerdict& verdict) {
    Teuchos::set_extra_data(verdict, extraDataName, Teuchos::inOutArg(a), Teuchos::POST_DESTROY, false);
  }

 private:
  static constexpr const char* extraDataName = "Capstan: symmetry";
  /// Relative differences that rounding in an assembly may leave.
  static constexpr double tolerance = 1e-10;

  using Indices = typename Matrix::local_inds_host_view_type;
  using Values = typename Matrix::values_host_view_type;

  /// The entry of a row in a column, by local numbers; 0 where there is none.
  static double entry(const Indices& columns, const Values& values, Ordinal column) {
    for (std::size_t k = 0; k < columns.extent(0); ++k) {
      if (columns(k) == column) return static_cast<double>(values(k));
    }
    return 0;
  }

  /// NaN and Inf differ from nothing: other checks find them.
  static bool differs(double a, double b, double largest) {
    const double gap = std::abs(a - b);
    return gap > tolerance * std::max(std::abs(a), std::abs(b)) && gap > tolerance * tolerance * largest &&
           std::isfinite(gap);
  }

  /// Local.
  static SymmetryVerdict compare(const Matrix& a) {
    const auto& rows = *a.getRowMap();
    const auto& columns = *a.getColMap();
    const std::size_t count = compat::localNumRows(a);
    const std::size_t stride = std::max<std::size_t>(1, (count + mostRowsCompared - 1) / mostRowsCompared);
    const Ordinal none = Teuchos::OrdinalTraits<Ordinal>::invalid();
    SymmetryVerdict verdict;
    Indices rowIndices, otherIndices;
    Values rowValues, otherValues;
    for (std::size_t row = 0; row < count; row += stride) {
      const auto i = static_cast<Ordinal>(row);
      a.getLocalRowView(i, rowIndices, rowValues);
      const Ordinal diagonal = columns.getLocalElement(rows.getGlobalElement(i));
      double largest = 0;
      for (std::size_t k = 0; k < rowValues.extent(0); ++k) {
        largest = std::max(largest, std::abs(static_cast<double>(rowValues(k))));
      }
      bool same = true;
      for (std::size_t k = 0; k < rowIndices.extent(0) && same; ++k) {
        const Ordinal j = rows.getLocalElement(columns.getGlobalElement(rowIndices(k)));
        if (j == none || j == i) continue;
        a.getLocalRowView(j, otherIndices, otherValues);
        const double mirrored = diagonal == none ? 0 : entry(otherIndices, otherValues, diagonal);
        same = !differs(static_cast<double>(rowValues(k)), mirrored, largest);
      }
      ++verdict.rowsCompared;
      if (!same) ++verdict.rowsThatDiffer;
    }
    return verdict;
  }
};

}  // namespace capstan
