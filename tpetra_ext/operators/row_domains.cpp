#include "tpetra_ext/operators/row_domains.hpp"

#include <Teuchos_Comm.hpp>
#include <Tpetra_Map.hpp>
#include <Tpetra_MultiVector.hpp>
#include <cstdint>

#include "tpetra_ext/compat/instantiate.hpp"
#include "tpetra_ext/compat/local_views.hpp"
#include "tpetra_ext/kernels/base/launch.hpp"
#include "tpetra_ext/node_queue.hpp"

namespace capstan {
namespace {

/// What a splitting needs to know of a row, as plain numbers for a kernel.
struct Domains {
  RowSplitting splitting;
  std::int64_t count;        // t
  std::int64_t first, rows;  // smallest global row number, and how many there are up to the largest
  std::int64_t rank, ranks;
  std::int64_t here;  // rows of this rank

  KOKKOS_INLINE_FUNCTION std::int64_t of(std::int64_t globalRow, std::int64_t localRow) const {
    if (splitting == RowSplitting::Interleaved) return (globalRow - first) % count;
    // Not (globalRow - first) * count: global numbers may be large.
    if (splitting == RowSplitting::Contiguous) {
      const std::int64_t length = rows / count, longer = rows % count, row = globalRow - first;
      const std::int64_t inLonger = longer * (length + 1);
      return row < inLonger ? row / (length + 1) : longer + (row - inLonger) / length;
    }
    if (ranks >= count) return rank % count;
    const std::int64_t mine = (count - rank + ranks - 1) / ranks;  // subdomains of this rank
    return rank + ranks * (localRow * mine / here);
  }
};

/// Column 0 of a row goes to the column of the row's domain; the others become zero.
template <class Columns, class LocalMap>
struct SplitRow {
  Columns columns;
  LocalMap globalRows;
  Domains domains;
  std::int64_t count;

  KOKKOS_FUNCTION void operator()(const std::size_t i) const {
    const auto row = static_cast<typename LocalMap::local_ordinal_type>(i);
    const std::int64_t domain = domains.of(globalRows.getGlobalElement(row), row);
    for (std::int64_t j = 1; j < count; ++j) {
      columns(i, j) = j == domain ? columns(i, 0) : typename Columns::non_const_value_type(0);
    }
  }
};

}  // namespace

template <class Types>
void splitByRows(RowSplitting splitting, typename Types::MultiVector& parts) {
  const auto& map = *parts.getMap();
  if (parts.getLocalLength() == 0) return;  // a map of no rows at all has no first one
  const auto held = compat::deviceView(parts, Tpetra::Access::ReadWrite);
  const auto& columns = *held;
  const auto globalRows = map.getLocalMap();
  const auto count = static_cast<std::int64_t>(parts.getNumVectors());
  const std::int64_t first = map.getMinAllGlobalIndex();
  const Domains domains{splitting,
                        count,
                        first,
                        static_cast<std::int64_t>(map.getMaxAllGlobalIndex()) - first + 1,
                        map.getComm()->getRank(),
                        map.getComm()->getSize(),
                        static_cast<std::int64_t>(columns.extent(0))};
  kernels::launch("capstan split by rows", nodeQueue<Types>(), columns.extent(0),
                  SplitRow<std::decay_t<decltype(columns)>, std::decay_t<decltype(globalRows)>>{columns, globalRows,
                                                                                                domains, count});
}

#define CAPSTAN_ROW_DOMAINS(S, LO, GO, NO) \
  template void splitByRows<TpetraTypes<S, LO, GO, NO>>(RowSplitting, TpetraTypes<S, LO, GO, NO>::MultiVector&);
CAPSTAN_INSTANTIATE(CAPSTAN_ROW_DOMAINS)

}  // namespace capstan
