#pragma once

/// \file
/// The vectors that the inner products of a ReductionBatch are of, from when these are entered until they are there.
///
/// Much may lie in between: an application of A or M, or that of another right-hand side, to whom the same vectors may
/// be shown on the host. So what is kept of a vector is another handle of it, which keeps its memory and is no view of
/// it; views are taken where kernels are launched.

#include <Tpetra_MultiVector.hpp>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "tpetra_ext/compat/local_views.hpp"

namespace capstan::detail {

/// Local. Its memory is kept, so that the same products again allocate nothing.
template <class MultiVector>
class BatchOperands {
  using HeldView = decltype(compat::deviceView(std::declval<const MultiVector&>(), Tpetra::Access::ReadOnly));

 public:
  /// n x columns on the device.
  using View = std::decay_t<decltype(*std::declval<const HeldView&>())>;

  /// Views of all operands, in the order of their numbers, with the values they have now. As long as this lives.
  class Views {
   public:
    Views(Views&&) = delete;
    ~Views() { all_.clear(); }
    const View& operator[](std::size_t operand) const { return *all_[operand]; }

   private:
    friend class BatchOperands;
    explicit Views(std::vector<HeldView>& all) : all_(all) {}
    // By the other constructor, so that Tpetra may throw here.
    explicit Views(BatchOperands& operands) : Views(operands.views_) {
      // While no view is alive: Tpetra's copies.
      for (MultiVector& one : operands.vectors_) {
        if (!one.isConstantStride()) one = MultiVector(one, Teuchos::Copy);
      }
      for (const MultiVector& one : operands.vectors_)
        all_.push_back(compat::deviceView(one, Tpetra::Access::ReadOnly));
    }
    std::vector<HeldView>& all_;
  };

  /// What is entered from now on belongs to another call: another object may be where one of an earlier call was.
  void beginCall() { places_.clear(); }

  /// The number of x, which is the same for all products of one call: to look at a vector takes as long as hundreds of
  /// rows.
  std::size_t enter(const MultiVector& x) {
    for (std::size_t k = 0; k < places_.size(); ++k) {
      if (places_[k] == &x) return vectors_.size() - places_.size() + k;
    }
    vectors_.push_back(x);
    places_.push_back(&x);
    return vectors_.size() - 1;
  }

  Views views() { return Views(*this); }

  /// Lets go of all.
  void clear() {
    places_.clear();
    vectors_.clear();
  }

 private:
  std::vector<MultiVector> vectors_;        // handles, not copies, but where columns are not evenly spaced
  std::vector<const MultiVector*> places_;  // the objects that the last of them were in this call: only to compare
  std::vector<HeldView> views_;
};

}  // namespace capstan::detail
