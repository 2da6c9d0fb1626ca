#pragma once
/// \file
/// The last few vectors of a sequence.

#include "belos_ext/basis/krylov_basis.hpp"

namespace capstan {

/// Vector j of the sequence lives in slot j mod size, so it stands until vector j + size is written.
template <class Types>
class VectorRing {
 public:
  using MultiVector = typename Types::MultiVector;

  /// Collective where it allocates; keeps storage of the same map and at least that size.
  void resize(const Teuchos::RCP<const typename Types::Map>& map, int size) {
    size_ = size;
    vectors_.resize(map, size);
  }

  MultiVector& operator[](int j) { return vectors_[j % size_]; }

 private:
  int size_ = 1;
  KrylovBasis<Types> vectors_;
};

}  // namespace capstan
