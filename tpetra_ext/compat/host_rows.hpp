#pragma once

/// \file
/// The one place where entries of a matrix are read on the host.

#include <Tpetra_RowMatrix.hpp>
#include <cstddef>
#include <optional>

#include "tpetra_ext/compat/local_views.hpp"

namespace capstan::compat {

/// Rows of a Tpetra::RowMatrix, one after the other. Where the matrix lives on a device, Tpetra copies it to the host
/// first: this is for what is done once a matrix, never for an iteration. It holds views (local_views.hpp): let it live
/// for one pass. Local.
template <class Matrix>
class HostRows {
 public:
  using Ordinal = typename Matrix::local_ordinal_type;

  /// Whether the matrix gives views of its rows: the same on all ranks.
  static bool readable(const Matrix& a) { return a.supportsRowViews() && a.isFillComplete(); }

  explicit HostRows(const Matrix& a) : matrix_(a) {}

  /// Turns to a local row, whose entries are then here.
  void read(std::size_t row) {
    matrix_.getLocalRowView(static_cast<Ordinal>(row), columns_, values_);
    if (!claim_.has_value()) claim_.emplace(values_, ViewSide::Host);
  }
  std::size_t size() const { return values_.extent(0); }
  /// Local number of the column of entry k.
  Ordinal column(std::size_t k) const { return columns_(k); }
  auto value(std::size_t k) const { return values_(k); }

 private:
  const Matrix& matrix_;
  typename Matrix::local_inds_host_view_type columns_;
  typename Matrix::values_host_view_type values_;
  std::optional<detail::ViewClaim> claim_;
};

}  // namespace capstan::compat
