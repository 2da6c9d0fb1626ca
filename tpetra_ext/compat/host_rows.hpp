#pragma once

/// \file
/// The one place where entries of a matrix are read on the host.

#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_RowMatrix.hpp>
#include <cstddef>
#include <optional>
#include <utility>

#include "tpetra_ext/compat/local_views.hpp"
#include "tpetra_ext/kernels/base/execution.hpp"

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

  explicit HostRows(const Matrix& a) : matrix_(a) {
    if constexpr (kernels::runsOnHost<typename Stored::execution_space>) {
      const auto* const stored = dynamic_cast<const Stored*>(&a);
      if (stored != nullptr) stored_.emplace(hostMatrix(*stored));
    }
  }

  /// Turns to a local row, whose entries are then here.
  void read(std::size_t row) {
    if (stored_.has_value()) {
      // Tpetra's own view of a row counts who holds it (measured: three fifths of a look at a matrix' symmetry).
      const auto& local = **stored_;
      const std::size_t begin = local.graph.row_map(row);
      size_ = local.graph.row_map(row + 1) - begin;
      column_ = local.graph.entries.data() + begin;
      value_ = local.values.data() + begin;
      return;
    }
    matrix_.getLocalRowView(static_cast<Ordinal>(row), columns_, values_);
    if (!claim_.has_value()) claim_.emplace(values_, ViewSide::Host);
    size_ = values_.extent(0);
    column_ = columns_.data();
    value_ = values_.data();
  }
  std::size_t size() const { return size_; }
  /// Local number of the column of entry k.
  Ordinal column(std::size_t k) const { return column_[k]; }
  auto value(std::size_t k) const { return value_[k]; }

 private:
  using Stored = Tpetra::CrsMatrix<typename Matrix::scalar_type, Ordinal, typename Matrix::global_ordinal_type,
                                   typename Matrix::node_type>;
  using Values = typename Matrix::values_host_view_type;

  const Matrix& matrix_;
  std::optional<decltype(hostMatrix(std::declval<const Stored&>()))> stored_;
  typename Matrix::local_inds_host_view_type columns_;
  Values values_;
  std::optional<detail::ViewClaim> claim_;
  std::size_t size_ = 0;
  const Ordinal* column_ = nullptr;
  decltype(std::declval<const Values&>().data()) value_ = nullptr;
};

}  // namespace capstan::compat
