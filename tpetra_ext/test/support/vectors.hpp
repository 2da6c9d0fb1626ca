#pragma once

/// \file
/// Maps and vectors of small integers, whose sums are exact in any order.

#include <Teuchos_DefaultMpiComm.hpp>
#include <Teuchos_DefaultSerialComm.hpp>
#include <Tpetra_Core.hpp>
#include <Tpetra_Map.hpp>
#include <Tpetra_MultiVector.hpp>
#include <Tpetra_Vector.hpp>
#include <vector>

#include "tpetra_ext/types.hpp"

namespace capstan::test {

using Types = DefaultTypes;
using Scalar = Types::Scalar;
using Map = Types::Map;
using MultiVector = Types::MultiVector;
using Vector = Types::Vector;
using CommPtr = Teuchos::RCP<const Teuchos::Comm<int>>;
using MapPtr = Teuchos::RCP<const Map>;

inline CommPtr world() { return Tpetra::getDefaultComm(); }

/// A map with `local` elements on this rank; `local` may differ between ranks, and be 0.
inline MapPtr mapOfLocal(std::size_t local, const CommPtr& comm = world()) {
  return Teuchos::rcp(new Map(Teuchos::OrdinalTraits<Tpetra::global_size_t>::invalid(), local, 0, comm));
}

/// A map that gives every rank all of its `size` elements.
inline MapPtr replicatedMap(std::size_t size, const CommPtr& comm = world()) {
  return Teuchos::rcp(new Map(size, 0, comm, Tpetra::LocallyReplicated));
}

/// Entry (global row i, column j) is ((a i + b j + c) mod 7) - 3 for a, b, c from `seed`.
inline void fill(MultiVector& x, int seed) {
  const auto map = x.getMap();
  for (std::size_t j = 0; j < x.getNumVectors(); ++j) {
    for (std::size_t i = 0; i < x.getLocalLength(); ++i) {
      const long row = static_cast<long>(map->getGlobalElement(static_cast<Map::local_ordinal_type>(i)));
      const long value = (row * (2 * seed + 1) + static_cast<long>(j) * (seed + 2) + seed) % 7 - 3;
      x.replaceLocalValue(static_cast<Map::local_ordinal_type>(i), j, static_cast<Scalar>(value));
    }
  }
}

inline MultiVector filled(const MapPtr& map, std::size_t columns, int seed) {
  MultiVector x(map, columns);
  fill(x, seed);
  return x;
}

/// X(:,i)^T Y(:,j) by Tpetra.
inline Scalar reference(const MultiVector& X, std::size_t i, const MultiVector& Y, std::size_t j) {
  return X.getVector(i)->dot(*Y.getVector(j));
}

}  // namespace capstan::test
