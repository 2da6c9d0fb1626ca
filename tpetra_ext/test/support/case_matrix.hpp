#pragma once

/// \file
/// The matrices on which communication is tested, as Tpetra has them.

#include <Tpetra_CrsMatrix.hpp>
#include <algorithm>

#include "tpetra_ext/compat/trilinos.hpp"
#include "tpetra_ext/test/support/vectors.hpp"
#include "tpetra_ext/topology/test/patterns.hpp"

namespace capstan::test {

using CrsMatrix = Types::CrsMatrix;
using MatrixPtr = Teuchos::RCP<CrsMatrix>;
using GlobalOrdinal = Types::GlobalOrdinal;

inline MapPtr mapOf(const topology::RowPartition& partition) {
  const auto rows = partition.rowsOf(world()->getRank());
  const Teuchos::Array<GlobalOrdinal> here(rows.begin(), rows.end());
  return Teuchos::rcp(new Map(Teuchos::OrdinalTraits<Tpetra::global_size_t>::invalid(), here(), 0, world()));
}

/// Values that no sum of which is exact, or small integers, whose sums are.
inline Scalar value(long long row, long long column, bool integers) {
  const long long mixed = (row * 31 + column * 17) % 101;
  return integers ? static_cast<Scalar>(mixed % 7 - 3) : 1.0 / static_cast<Scalar>(mixed + 3) - 0.05;
}

inline MatrixPtr matrixOf(const topology::test::Case& given, bool integers) {
  const MapPtr map = mapOf(given.partition);
  std::size_t widest = 1;
  for (const auto& row : given.rows) widest = std::max(widest, row.size());
  const auto matrix = Teuchos::rcp(new CrsMatrix(map, widest));
  for (const auto row : compat::localElementList(*map)) {
    for (const long long column : given.rows[static_cast<std::size_t>(row)]) {
      matrix->insertGlobalValues(row, Teuchos::tuple<GlobalOrdinal>(column)(),
                                 Teuchos::tuple<Scalar>(value(row, column, integers))());
    }
  }
  matrix->fillComplete();
  return matrix;
}

}  // namespace capstan::test
