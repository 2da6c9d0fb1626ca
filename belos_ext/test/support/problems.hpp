#pragma once
/// \file
/// Small linear systems for the tests of the solvers, distributed as the test asks.

#include <Teuchos_CommHelpers.hpp>
#include <Tpetra_Core.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <functional>
#include <vector>

#include "tpetra_ext/compat/trilinos.hpp"
#include "tpetra_ext/types.hpp"

namespace capstan::testing {

using Types = DefaultTypes;
using Scalar = Types::Scalar;
using GO = Types::GlobalOrdinal;
using Map = Types::Map;
using MultiVector = Types::MultiVector;
using CrsMatrix = Types::CrsMatrix;
using Operator = Types::Operator;
using Teuchos::RCP;
using Teuchos::rcp;

/// Contiguous rows over all ranks.
inline RCP<const Map> evenMap(GO rows, const RCP<const Teuchos::Comm<int>>& comm = Tpetra::getDefaultComm()) {
  return rcp(new Map(static_cast<Tpetra::global_size_t>(rows), 0, comm));
}

/// All rows on the last rank, the others empty.
inline RCP<const Map> lastRankMap(GO rows) {
  const auto comm = Tpetra::getDefaultComm();
  const bool last = comm->getRank() == comm->getSize() - 1;
  return rcp(new Map(static_cast<Tpetra::global_size_t>(rows), last ? static_cast<size_t>(rows) : 0, 0, comm));
}

struct Entry {
  GO column;
  Scalar value;
};

/// The matrix whose row i is row(i).
inline RCP<CrsMatrix> matrixFrom(const RCP<const Map>& map, const std::function<std::vector<Entry>(GO)>& row,
                                 size_t mostEntries = 32) {
  auto a = rcp(new CrsMatrix(map, mostEntries));
  for (size_t i = 0; i < compat::localNumElements(*map); ++i) {
    const GO g = map->getGlobalElement(static_cast<int>(i));
    std::vector<GO> columns;
    std::vector<Scalar> values;
    for (const Entry& e : row(g)) {
      columns.push_back(e.column);
      values.push_back(e.value);
    }
    a->insertGlobalValues(g, Teuchos::ArrayView<const GO>(columns), Teuchos::ArrayView<const Scalar>(values));
  }
  a->fillComplete();
  return a;
}

/// Five-point Laplacian plus convection on an nx x ny grid: diagonal 4, east -1 + wind, west -1 - wind, north, south
/// -1.
inline RCP<CrsMatrix> grid2d(GO nx, GO ny, Scalar wind = 0, RCP<const Map> map = Teuchos::null) {
  if (map.is_null()) map = evenMap(nx * ny);
  return matrixFrom(map, [=](GO g) {
    const GO i = g % nx, j = g / nx;
    std::vector<Entry> row{{g, 4}};
    if (i > 0) row.push_back({g - 1, -1 - wind});
    if (i + 1 < nx) row.push_back({g + 1, -1 + wind});
    if (j > 0) row.push_back({g - nx, -1});
    if (j + 1 < ny) row.push_back({g + nx, -1});
    return row;
  });
}

/// Seven-point Laplacian on an n x n x n grid.
inline RCP<CrsMatrix> grid3d(GO n, RCP<const Map> map = Teuchos::null) {
  if (map.is_null()) map = evenMap(n * n * n);
  return matrixFrom(map, [=](GO g) {
    const GO i = g % n, j = g / n % n, k = g / (n * n);
    std::vector<Entry> row{{g, 6}};
    if (i > 0) row.push_back({g - 1, -1});
    if (i + 1 < n) row.push_back({g + 1, -1});
    if (j > 0) row.push_back({g - n, -1});
    if (j + 1 < n) row.push_back({g + n, -1});
    if (k > 0) row.push_back({g - n * n, -1});
    if (k + 1 < n) row.push_back({g + n * n, -1});
    return row;
  });
}

/// Row g of the Laplacian on an nx x ny x nz grid without boundary values (all-Neumann): every row sums to zero.
inline std::vector<Entry> neumannRow(GO g, GO nx, GO ny, GO nz = 1) {
  const GO i = g % nx, j = g / nx % ny, k = g / (nx * ny);
  std::vector<Entry> row;
  if (i > 0) row.push_back({g - 1, -1});
  if (i + 1 < nx) row.push_back({g + 1, -1});
  if (j > 0) row.push_back({g - nx, -1});
  if (j + 1 < ny) row.push_back({g + nx, -1});
  if (k > 0) row.push_back({g - nx * ny, -1});
  if (k + 1 < nz) row.push_back({g + nx * ny, -1});
  row.push_back({g, static_cast<Scalar>(row.size())});
  return row;
}

/// The singular matrix of these rows: constants are its null space.
inline RCP<CrsMatrix> neumannGrid(GO nx, GO ny = 1, GO nz = 1) {
  return matrixFrom(evenMap(nx * ny * nz), [=](GO g) { return neumannRow(g, nx, ny, nz); });
}

inline RCP<CrsMatrix> diagonal(const std::function<Scalar(GO)>& entry, GO n, RCP<const Map> map = Teuchos::null) {
  if (map.is_null()) map = evenMap(n);
  return matrixFrom(map, [=](GO g) { return std::vector<Entry>{{g, entry(g)}}; });
}

/// diag(0.001, 1, 2, ..., 99): the ill-conditioned problem of [low-sync], section 4.
inline RCP<CrsMatrix> lowSyncDiagonal() {
  return diagonal([](GO g) { return g == 0 ? Scalar(0.001) : static_cast<Scalar>(g); }, 100);
}

/// A vector with the same entries on any number of ranks.
inline RCP<MultiVector> vectorFrom(const RCP<const Map>& map, const std::function<Scalar(GO)>& entry,
                                   size_t columns = 1) {
  auto v = rcp(new MultiVector(map, columns));
  for (size_t c = 0; c < columns; ++c) {
    for (size_t i = 0; i < compat::localNumElements(*map); ++i) {
      const GO g = map->getGlobalElement(static_cast<int>(i));
      v->replaceLocalValue(static_cast<int>(i), c, entry(g + static_cast<GO>(7919 * c)));
    }
  }
  return v;
}

inline Scalar wave(GO g) {
  return std::sin(0.37 * static_cast<double>(g) + 0.2) + 0.5 * std::cos(1.7 * static_cast<double>(g));
}

/// || b - A x || / || b - A x0 || per column, computed here and not by the solver under test.
inline std::vector<double> relativeResiduals(const Operator& a, const MultiVector& b, const MultiVector& x,
                                             const MultiVector& x0) {
  const auto norms = [&](const MultiVector& at) {
    MultiVector r(b.getMap(), b.getNumVectors());
    a.apply(at, r);
    r.update(1, b, -1);
    std::vector<double> n(b.getNumVectors());
    r.norm2(Teuchos::ArrayView<double>(n));
    return n;
  };
  std::vector<double> now = norms(x), then = norms(x0);
  for (size_t c = 0; c < now.size(); ++c) now[c] = then[c] > 0 ? now[c] / then[c] : now[c];
  return now;
}

}  // namespace capstan::testing
