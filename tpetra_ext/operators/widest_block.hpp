#pragma once

/// \file
/// Room for blocks of vectors whose number of columns changes.

#include <Teuchos_RCP.hpp>
#include <Teuchos_Range1D.hpp>
#include <Tpetra_MultiVector.hpp>
#include <algorithm>
#include <cstddef>
#include <vector>

#include "tpetra_ext/types.hpp"

namespace capstan {

/// One block of as many columns as were ever asked for together, and views of its first columns: k right-hand sides
/// that end one after the other take k vectors, and not those of all blocks of k, k - 1, ... columns.
template <class Types>
class WidestBlock {
 public:
  using MultiVector = typename Types::MultiVector;
  using Map = typename Types::Map;

  /// n x columns over this map object, columns > 0; valid until more columns or another map are asked for. Holds zeros
  /// when it is made, later whatever is left there: who reads an entry before he writes it must not meet a NaN of
  /// memory that was never written. Allocates where so many columns are asked for first. Local.
  MultiVector& columns(const Teuchos::RCP<const Map>& map, std::size_t columns) {
    if (views_.size() < columns || views_.back()->getMap().get() != map.get()) make(map, columns);
    if (views_[columns - 1].is_null()) view(columns);
    return *views_[columns - 1];
  }

 private:
  /// With views of as many columns as there were of before, so that these need not be made later.
  void make(const Teuchos::RCP<const Map>& map, std::size_t columns) {
    std::vector<std::size_t> known;
    for (std::size_t k = 1; k < std::min(columns, views_.size() + 1); ++k) {
      if (!views_[k - 1].is_null()) known.push_back(k);
    }
    views_.clear();  // before there are two of them
    views_.resize(columns);
    views_.back() = Teuchos::rcp(new MultiVector(map, columns));
    for (const std::size_t k : known) view(k);
  }

  void view(std::size_t columns) {
    views_[columns - 1] =
        views_.back()->subViewNonConst(Teuchos::Range1D(0, static_cast<Teuchos::Ordinal>(columns) - 1));
  }

  std::vector<Teuchos::RCP<MultiVector>> views_;  ///< by number of columns, from 1; the last one is the block itself
};

}  // namespace capstan
