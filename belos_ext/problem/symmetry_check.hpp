#pragma once
/// \file
/// Whether the matrix under a conjugate gradient solve is symmetric, looked at once for each matrix object.
///
/// One pass over this rank's rows compares A v with A^T v for one vector v of pseudo-random entries, as far as rows and
/// columns are both on this rank: about the work of two products, and no application of the operator, which may be the
/// application's own and count its calls. Row i differs where (A v)_i is not (A^T v)_i; no single row is missed.
///
/// Rows that a symmetric method solves first (DiagonalRows: a pinned pressure) are left out with their columns: on the
/// vectors that vanish there the matrix may well be symmetric, and CG is right to be used.
///
/// Not seen: entries between ranks, since a pinned row on another rank cannot be told from here without a message; and
/// operators that are no Tpetra::RowMatrix, or give no views of their rows. Comparing (A u, v) with (u, A v) would see
/// both, for two applications of A, but would take a pinned row for asymmetry. So "symmetric" is no proof.
///
/// The ranks' findings travel in the first reduction of the solve that meets a matrix first; the verdict then stays
/// with the matrix. A change of its values in place is not noticed. Rows are read on the host, once a matrix.

#include <Teuchos_RCP.hpp>
#include <Tpetra_Map.hpp>
#include <Tpetra_RowMatrix.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "belos_ext/problem/symmetry_verdict.hpp"
#include "tpetra_ext/compat/host_rows.hpp"
#include "tpetra_ext/compat/trilinos.hpp"
#include "tpetra_ext/kernels/base/mixed_bits.hpp"
#include "tpetra_ext/operators/diagonal_rows.hpp"

namespace capstan::tuning::symmetry {
/// Differences that rounding in an assembly may leave, relative to the row's sum of absolute values. Chosen.
inline constexpr double tolerance = 1e-10;
/// The same in eps, where eps is large. Chosen.
inline constexpr double toleranceInEps = 100;
}  // namespace capstan::tuning::symmetry

namespace capstan {

template <class Types>
class SymmetryCheck {
 public:
  using Scalar = typename Types::Scalar;
  using Operator = typename Types::Operator;
  using Ordinal = typename Types::LocalOrdinal;
  using Matrix = Tpetra::RowMatrix<Scalar, Ordinal, typename Types::GlobalOrdinal, typename Types::Node>;

  /// Whether there may be a verdict. Extra data are looked for by a name that is made anew each time. Local.
  static bool mayRead(const Operator& a) { return dynamic_cast<const Matrix*>(&a) != nullptr; }

  /// What remember() has been told of this operator, or nothing. Local.
  static std::optional<SymmetryVerdict> known(const Teuchos::RCP<const Operator>& a) {
    const auto verdict = Teuchos::get_optional_extra_data<SymmetryVerdict>(a, extraDataName);
    return verdict.is_null() || verdict->rowsCompared < 0 ? std::nullopt : std::optional<SymmetryVerdict>(*verdict);
  }

  /// What this rank finds; the sum over the ranks is the verdict. Nothing, on all ranks alike, where rows cannot be
  /// read. Local.
  /// \param leftOut rows of `a` that are not compared
  static std::optional<SymmetryVerdict> compareHere(const Teuchos::RCP<const Operator>& a,
                                                    const DiagonalRows<Types>& leftOut) {
    const auto matrix = Teuchos::rcp_dynamic_cast<const Matrix>(a);
    if (matrix.is_null() || !Rows::readable(*matrix) || !matrix->hasColMap()) {
      return std::nullopt;
    }
    return compare(*matrix, leftOut.numbers());
  }

  /// Keeps the verdict with the operator. Local.
  static void remember(Teuchos::RCP<const Operator> a, const SymmetryVerdict& verdict) {
    Teuchos::set_extra_data(verdict, extraDataName, Teuchos::inOutArg(a), Teuchos::POST_DESTROY, false);
  }

  /// As if there had been none. Local.
  static void forget(Teuchos::RCP<const Operator> a) { remember(a, {-1, 0}); }

 private:
  static constexpr const char* extraDataName = "Capstan: symmetry";
  static constexpr double tolerance =
      std::max(tuning::symmetry::tolerance, std::numeric_limits<Scalar>::epsilon() * tuning::symmetry::toleranceInEps);

  using Rows = compat::HostRows<Matrix>;

  /// From 0.5 to 1 with either sign, so that no entry of A is hidden by a small factor.
  static double entryOfV(std::uint64_t row) {
    const std::uint64_t bits = kernels::mixed(row);
    const double magnitude = 0.5 + static_cast<double>(bits >> 12) * 0x1p-53;
    return (bits & 1U) != 0 ? magnitude : -magnitude;
  }

  /// The local number of the row that belongs to each column; none where it is on another rank or left out.
  static std::vector<Ordinal> rowsOfColumns(const Matrix& a, const std::vector<Ordinal>& leftOut) {
    const auto& rows = *a.getRowMap();
    const auto& columns = *a.getColMap();
    std::vector<Ordinal> rowOf(compat::localNumElements(columns));
    for (std::size_t c = 0; c < rowOf.size(); ++c) {
      const Ordinal row = rows.getLocalElement(columns.getGlobalElement(static_cast<Ordinal>(c)));
      rowOf[c] = std::binary_search(leftOut.begin(), leftOut.end(), row) ? none() : row;
    }
    return rowOf;
  }

  static Ordinal none() { return Teuchos::OrdinalTraits<Ordinal>::invalid(); }

  /// Local. NaN and Inf differ from nothing: other checks find them.
  static SymmetryVerdict compare(const Matrix& a, const std::vector<Ordinal>& leftOut) {
    const std::size_t count = compat::localNumRows(a);
    const std::vector<Ordinal> rowOf = rowsOfColumns(a, leftOut);
    std::vector<double> difference(count, 0.0), size(count, 0.0);  // (A v - A^T v)_i, and what it may be rounded by
    std::vector<double> v(count);
    for (std::size_t i = 0; i < count; ++i) v[i] = entryOfV(i);
    Rows rows(a);
    for (std::size_t i = 0; i < count; ++i) {
      const auto row = static_cast<Ordinal>(i);
      if (std::binary_search(leftOut.begin(), leftOut.end(), row)) continue;
      rows.read(i);
      for (std::size_t k = 0; k < rows.size(); ++k) {
        const auto value = static_cast<double>(rows.value(k));
        size[i] += std::abs(value);  // the whole row: what rounding has left of a zero is no asymmetry
        const Ordinal other = rowOf[static_cast<std::size_t>(rows.column(k))];
        if (other == none() || other == row) continue;
        const auto j = static_cast<std::size_t>(other);
        difference[i] += value * v[j];
        difference[j] -= value * v[i];
      }
    }
    SymmetryVerdict verdict;
    verdict.rowsCompared = static_cast<long>(count - leftOut.size());
    for (std::size_t i = 0; i < count; ++i) {
      const double gap = std::abs(difference[i]);
      if (gap > tolerance * size[i] && std::isfinite(gap)) ++verdict.rowsThatDiffer;
    }
    return verdict;
  }
};

}  // namespace capstan
