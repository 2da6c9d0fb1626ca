#pragma once

/// \file
/// Whether vectors and operators are on the same map, found out by all ranks together.

#include <Teuchos_CommHelpers.hpp>
#include <Teuchos_RCP.hpp>
#include <cstddef>
#include <vector>

#include "tpetra_ext/compat/trilinos.hpp"

namespace capstan {

/// A map to be compared with another one.
template <class Map>
struct ComparedMap {
  Teuchos::RCP<const Map> map;
  /// Whether it may be on a communicator of fewer ranks: a subdomain solver used bare (Ifpack2's RILUK) sees the rows
  /// of its rank alone. It then needs as many rows as the other map has on this rank.
  bool mayBeLocal = false;
};

/// Whether the rows of both are the same on this rank, in the same order. Local.
template <class Map>
bool sameHere(const ComparedMap<Map>& compared, const Map& wanted) {
  const Map& has = *compared.map;
  if (&has == &wanted) return true;
  const auto rows = compat::localNumElements(wanted);
  if (compat::localNumElements(has) != rows) return false;
  const int ranks = has.getComm()->getSize(), wantedRanks = wanted.getComm()->getSize();
  if (compared.mayBeLocal && ranks < wantedRanks) return true;
  // Where there are no rows, locallySameAs() would compare bounds that mean nothing.
  return ranks == wantedRanks && (rows == 0 || has.locallySameAs(wanted));
}

/// The first of the maps whose rows are dealt out to the ranks, or ordered there, in another way than those of
/// `wanted`, as its place in the list; the length of the list where there is none. The same on every rank.
///
/// Collective over wanted's communicator, one reduction, unless all maps are the object `wanted`.
template <class Map>
std::size_t firstOtherMap(const std::vector<ComparedMap<Map>>& compared, const Map& wanted) {
  bool oneObject = true;
  int mine = static_cast<int>(compared.size());
  for (int k = mine; k-- > 0;) {
    const auto& item = compared[static_cast<std::size_t>(k)];
    oneObject = oneObject && item.map.get() == &wanted;
    if (!sameHere(item, wanted)) mine = k;
  }
  if (oneObject) return compared.size();
  int first = 0;
  Teuchos::reduceAll<int, int>(*wanted.getComm(), Teuchos::REDUCE_MIN, 1, &mine, &first);
  return static_cast<std::size_t>(first);
}

}  // namespace capstan
