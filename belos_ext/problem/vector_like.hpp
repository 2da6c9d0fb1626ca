#pragma once
/// \file
/// Vectors that a method makes where they are missing, and keeps for its next solve.

#include <Teuchos_RCP.hpp>

namespace capstan {

/// v; first made anew, with zeros, where it is null or lies over another map than `like`. n x 1, distributed, on the
/// device. Collective where it allocates.
template <class MultiVector>
MultiVector& vectorLike(const MultiVector& like, Teuchos::RCP<MultiVector>& v) {
  const auto map = like.getMap();
  if (v.is_null() || v->getMap().get() != map.get()) v = Teuchos::rcp(new MultiVector(map, 1));
  return *v;
}

}  // namespace capstan
