#pragma once
/// \file
/// An iterate that a solve may have to return to: the guess, or the best one.

#include <Teuchos_RCP.hpp>

#include "belos_ext/problem/linear_system.hpp"
#include "belos_ext/problem/vector_like.hpp"

namespace capstan {

/// Storage: one vector, made with the first iterate that is not zero, and kept for later solves on the same map.
template <class Types>
class KeptIterate {
 public:
  using MultiVector = typename Types::MultiVector;

  /// Keeps a copy of x, n x 1. Local, but collective where it allocates.
  void keep(LinearSystem<Types>& system, const MultiVector& x) {
    system.kernels().scale(typename Types::Scalar(1), x, vectorLike(x, x_));
    zero_ = false;
  }

  /// Keeps a guess. Most are zero, which needs no vector. As keep().
  /// \param square (x, x), which may underflow   \param sum of the entries of x, which does not
  void keepGuess(LinearSystem<Types>& system, const MultiVector& x, typename Types::Scalar square,
                 typename Types::Scalar sum) {
    zero_ = square == 0 && sum == 0;
    if (!zero_) keep(system, x);
  }

  /// x = what was kept last; 0 where nothing was. Local.
  void restore(LinearSystem<Types>& system, MultiVector& x) const {
    if (zero_) {
      system.kernels().fill(0, x);
    } else {
      system.kernels().scale(typename Types::Scalar(1), *x_, x);
    }
  }

  /// x -= what was kept last. Local.
  void subtractFrom(LinearSystem<Types>& system, MultiVector& x) const {
    if (!zero_) system.kernels().axpby(typename Types::Scalar(-1), *x_, typename Types::Scalar(1), x);
  }

 private:
  bool zero_ = true;
  Teuchos::RCP<MultiVector> x_;
};

}  // namespace capstan
