#include "perf/device/grid_laplacian.hpp"

#include <fmt/format.h>

#include <Kokkos_Core.hpp>
#include <Teuchos_Comm.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_Map.hpp>
#include <limits>
#include <stdexcept>
#include <vector>

#include "tpetra_ext/compat/trilinos.hpp"

namespace capstan::perf {
namespace {

using preconditioning::Map;
using preconditioning::Matrix;
using Local = Matrix::local_matrix_device_type;
using Exec = Matrix::execution_space;
using GlobalOrdinal = Map::global_ordinal_type;
using Rows = Kokkos::RangePolicy<Exec, Kokkos::IndexType<int>>;

constexpr int neighbours = 6;

/// The slab of one rank. Local columns: its own rows, then the plane below, where there is one, then the plane above.
struct Slab {
  int cells;
  int planes;
  bool hasBelow;
  bool hasAbove;

  KOKKOS_FUNCTION int plane() const { return cells * cells; }
  KOKKOS_FUNCTION int rows() const { return plane() * planes; }
  KOKKOS_FUNCTION int above() const { return rows() + (hasBelow ? plane() : 0); }

  /// Calls take(column) for each entry of a row, in ascending local columns.
  template <class Take>
  KOKKOS_FUNCTION void forEach(int row, const Take& take) const {
    const int x = row % cells, y = row / cells % cells, z = row / plane();
    if (z > 0) take(row - plane());
    if (y > 0) take(row - cells);
    if (x > 0) take(row - 1);
    take(row);
    if (x + 1 < cells) take(row + 1);
    if (y + 1 < cells) take(row + cells);
    if (z + 1 < planes) take(row + plane());
    if (z == 0 && hasBelow) take(rows() + row % plane());
    if (z + 1 == planes && hasAbove) take(above() + row % plane());
  }
};

/// The number of entries ahead of each row, `starts` of rows + 1 entries.
struct CountEntries {
  Slab slab;
  Local::row_map_type::non_const_type starts;

  KOKKOS_FUNCTION void operator()(const int row, std::size_t& sum, const bool final) const {
    if (final) starts(row) = sum;
    if (row == slab.rows()) return;
    int count = 0;
    slab.forEach(row, [&count](int) { ++count; });
    sum += static_cast<std::size_t>(count);
  }
};

struct FillEntries {
  Slab slab;
  Local::row_map_type::non_const_type starts;
  Local::index_type::non_const_type columns;
  Local::values_type::non_const_type values;

  KOKKOS_FUNCTION void operator()(const int row) const {
    auto at = starts(row);
    slab.forEach(row, [&](int column) {
      columns(at) = column;
      values(at) = column == row ? double(neighbours) : -1.0;
      ++at;
    });
  }
};

Teuchos::RCP<const Map> columnMap(const Slab& slab, GlobalOrdinal first, const Map& rowMap) {
  std::vector<GlobalOrdinal> columns;
  const auto append = [&columns](GlobalOrdinal begin, int count) {
    for (int i = 0; i < count; ++i) columns.push_back(begin + i);
  };
  append(first, slab.rows());
  if (slab.hasBelow) append(first - slab.plane(), slab.plane());
  if (slab.hasAbove) append(first + slab.rows(), slab.plane());
  const auto unknown = Teuchos::OrdinalTraits<Tpetra::global_size_t>::invalid();
  return Teuchos::rcp(new Map(unknown, Teuchos::ArrayView<const GlobalOrdinal>(columns), 0, rowMap.getComm()));
}

}  // namespace

Teuchos::RCP<Matrix> gridLaplacian(int cells, const Teuchos::RCP<const preconditioning::Communicator>& comm) {
  const int rank = comm->getRank(), ranks = comm->getSize();
  const long long plane = static_cast<long long>(cells) * cells;
  const long long most = plane * ((cells + ranks - 1) / ranks) * (neighbours + 1);
  if (cells < ranks || most > std::numeric_limits<int>::max()) {
    throw std::invalid_argument(
        fmt::format("cells: found {} for {} ranks; allowed: a plane a rank at least, and {} entries a "
                    "rank at most",
                    cells, ranks, std::numeric_limits<int>::max()));
  }
  const auto firstPlane = [&](int r) { return static_cast<int>(static_cast<long long>(cells) * r / ranks); };
  const Slab slab{cells, firstPlane(rank + 1) - firstPlane(rank), rank > 0, rank + 1 < ranks};
  const auto first = static_cast<GlobalOrdinal>(plane * firstPlane(rank));
  const auto rowMap = Teuchos::rcp(
      new Map(static_cast<Tpetra::global_size_t>(plane * cells), static_cast<std::size_t>(slab.rows()), 0, comm));

  Local::row_map_type::non_const_type starts("row starts", static_cast<std::size_t>(slab.rows()) + 1);
  std::size_t entries = 0;
  Kokkos::parallel_scan(Rows(0, slab.rows() + 1), CountEntries{slab, starts}, entries);
  Local::index_type::non_const_type columns("columns", entries);
  Local::values_type::non_const_type values("values", entries);
  Kokkos::parallel_for(Rows(0, slab.rows()), FillEntries{slab, starts, columns, values});
  Exec().fence();

  const auto colMap = columnMap(slab, first, *rowMap);
  const Local local("A", slab.rows(), static_cast<int>(compat::localNumElements(*colMap)), static_cast<int>(entries),
                    values, starts, columns);
  return Teuchos::rcp(new Matrix(local, rowMap, colMap, rowMap, rowMap));
}

}  // namespace capstan::perf
