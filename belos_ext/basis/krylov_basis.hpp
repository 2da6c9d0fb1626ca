#pragma once
/// \file
/// Storage of a Krylov basis: one column-major block of vectors. The view of each column is made once, when it is asked
/// for: a short solve of a solver that is made anew needs few of many.
///
/// Its final columns may be stored in single precision, half of the bytes that orthogonalisation reads; all arithmetic
/// stays in double precision ([Aliaga, Anzt, Gruetzmacher, Quintana-Orti and Tomas 2022]). Then a window of few columns
/// in double precision holds the others. It slides: where a column does not fit, those that are not final are copied to
/// its front.
///
/// | columns                 | stored in                                              |
/// |-------------------------|--------------------------------------------------------|
/// | [0, rounded())          | single precision: singles()                            |
/// | [rounded(), those used) | double precision: [j], columns()                       |

#include <Teuchos_Range1D.hpp>
#include <Tpetra_MultiVector.hpp>
#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tpetra_ext/compat/trilinos.hpp"
#include "tpetra_ext/kernels/base/copy.hpp"
#include "tpetra_ext/kernels/base/fence.hpp"
#include "tpetra_ext/operators/block_kernels.hpp"

namespace capstan {

/// n x columns, distributed by rows over `map`, constant stride. [j] and columns(a, b) are views, not copies. What they
/// see for the first time is zero: M and A may read what they are to write, times zero, which must not be NaN.
template <class Types>
class KrylovBasis {
 public:
  using MultiVector = typename Types::MultiVector;
  using Map = typename Types::Map;
  using Singles = SingleColumns<Types>;

  /// Makes room for `columns` vectors; keeps the storage when it is already large enough and over the same map.
  /// Collective where it allocates. \param window columns in double precision, where final ones are to be stored in
  /// single precision; 0: all of them
  void resize(const Teuchos::RCP<const Map>& map, int columns, int window = 0) {
    compressed_ = window > 0;
    begin();
    const bool same = !storage_.is_null() && storage_->getMap().get() == map.get();
    if (!same || this->window() < (compressed_ ? window : columns)) allocate(map, compressed_ ? window : columns);
    if (!same) singles_ = {};
    if (compressed_ && static_cast<int>(singles_.extent(1)) < columns) {
      singles_ = {};
      singles_ = kernels::unfilled<Singles>("capstan basis", compat::localNumElements(*map), columns);
    }
  }

  /// Columns there is room for.
  int capacity() const { return compressed_ ? static_cast<int>(singles_.extent(1)) : window(); }
  Teuchos::RCP<const Map> map() const { return storage_->getMap(); }
  /// Whether final columns go to single precision.
  bool compressed() const { return compressed_; }
  /// Columns before it are in single precision.
  int rounded() const { return rounded_; }

  /// A cycle begins: no column is final. Local.
  void begin() { first_ = rounded_ = 0; }

  /// Column j in double precision. Throws std::logic_error where it is not.
  MultiVector& operator[](int j) {
    requireDouble(j, j + 1);
    see(j - first_ + 1);
    auto& view = views_[static_cast<std::size_t>(j - first_)];
    if (view.is_null()) view = storage_->subViewNonConst(Teuchos::Range1D(j - first_, j - first_));
    return *view;
  }

  /// View of columns [first, last) in double precision. Needs first < last. Throws std::logic_error as [] does.
  Teuchos::RCP<MultiVector> columns(int first, int last) {
    requireDouble(first, last);
    see(last - first_);
    return storage_->subViewNonConst(Teuchos::Range1D(first - first_, last - first_ - 1));
  }

  /// View of columns [first, last) in single precision. Throws std::logic_error where they are not.
  Singles singles(int first, int last) const {
    if (first < 0 || last > rounded_) refuse(first, last, "single");
    return Kokkos::subview(singles_, Kokkos::ALL(), std::make_pair(first, last));
  }
  /// Columns [rounded(), last) in single precision, to be written. Local.
  Singles toRound(int last) const {
    return Kokkos::subview(singles_, Kokkos::ALL(), std::make_pair(rounded_, std::max(rounded_, last)));
  }
  /// They have been: [0, last) are final. Local.
  void round(int last) { rounded_ = std::max(rounded_, last); }

  /// Makes columns [used, last) ones that can be asked for, where those before them stay as they are. References to
  /// columns become those of others. Collective where it allocates.
  void makeRoom(BlockKernels<Types>& local, int used, int last) {
    if (last - first_ <= window()) return;
    auto from = storage_;
    if (last - rounded_ > window()) allocate(from->getMap(), 2 * (last - rounded_));
    const int kept = used - rounded_;
    if (kept > 0) see(kept);
    for (int k = 0; k < kept; ++k) {
      const auto source = from->subView(Teuchos::Range1D(rounded_ - first_ + k, rounded_ - first_ + k));
      local.scale(typename Types::Scalar(1), *source, *storage_->subViewNonConst(Teuchos::Range1D(k, k)));
    }
    first_ = rounded_;
    if (from.get() != storage_.get()) kernels::handOver<typename Types::ExecutionSpace>();  // before that memory goes
  }

 private:
  int window() const { return static_cast<int>(views_.size()); }

  void allocate(const Teuchos::RCP<const Map>& map, int columns) {
    views_.clear();
    storage_ = Teuchos::rcp(new MultiVector(map, static_cast<size_t>(columns), false));
    views_.resize(static_cast<std::size_t>(columns));
    seen_ = 0;
  }

  void requireDouble(int first, int last) const {
    if (first < rounded_ || last - first_ > window()) refuse(first, last, "double");
  }
  [[noreturn]] static void refuse(int first, int last, const char* precision) {
    throw std::logic_error("capstan::KrylovBasis: columns " + std::to_string(first) + " to " +
                           std::to_string(last - 1) + " are not all there in " + precision + " precision");
  }

  /// Columns [0, last) of the storage are asked for.
  void see(int last) {
    if (last <= seen_) return;
    storage_->subViewNonConst(Teuchos::Range1D(seen_, last - 1))->putScalar(0);
    seen_ = last;
  }

  Teuchos::RCP<MultiVector> storage_;
  std::vector<Teuchos::RCP<MultiVector>> views_;
  int seen_ = 0;
  bool compressed_ = false;
  Singles singles_;
  int first_ = 0;  ///< the column that the storage begins with: not more than rounded_
  int rounded_ = 0;
};

}  // namespace capstan
