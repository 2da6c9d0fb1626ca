#pragma once
/// \file
/// Storage of a Krylov basis: one column-major block of vectors. The view of each column is made once, when it is asked
/// for: a short solve of a solver that is made anew needs few of many.

#include <Teuchos_Range1D.hpp>
#include <Tpetra_MultiVector.hpp>
#include <vector>

namespace capstan {

/// n x columns, distributed by rows over `map`, constant stride. [j] and columns(a, b) are views, not copies. What they
/// see for the first time is zero: M and A may read what they are to write, times zero, which must not be NaN.
template <class Types>
class KrylovBasis {
 public:
  using MultiVector = typename Types::MultiVector;
  using Map = typename Types::Map;

  /// Makes room for `columns` vectors; keeps the storage when it is already large enough and over the same map.
  /// Collective where it allocates.
  void resize(const Teuchos::RCP<const Map>& map, int columns) {
    if (!storage_.is_null() && storage_->getMap().get() == map.get() && capacity() >= columns) return;
    views_.clear();
    storage_ = Teuchos::rcp(new MultiVector(map, static_cast<size_t>(columns), false));
    views_.resize(static_cast<std::size_t>(columns));
    seen_ = 0;
  }

  int capacity() const { return static_cast<int>(views_.size()); }
  MultiVector& operator[](int j) {
    see(j + 1);
    auto& view = views_[static_cast<std::size_t>(j)];
    if (view.is_null()) view = storage_->subViewNonConst(Teuchos::Range1D(j, j));
    return *view;
  }

  /// View of columns [first, last). Needs first < last.
  Teuchos::RCP<MultiVector> columns(int first, int last) {
    see(last);
    return storage_->subViewNonConst(Teuchos::Range1D(first, last - 1));
  }

 private:
  /// Columns [0, last) are asked for.
  void see(int last) {
    if (last <= seen_) return;
    storage_->subViewNonConst(Teuchos::Range1D(seen_, last - 1))->putScalar(0);
    seen_ = last;
  }

  Teuchos::RCP<MultiVector> storage_;
  std::vector<Teuchos::RCP<MultiVector>> views_;
  int seen_ = 0;
};

}  // namespace capstan
