#pragma once
/// \file
/// A guess with NaN or Inf in it is refused, also where no equation reads the entry.
///
/// An unknown in no row of A leaves the residual finite whatever its value, so that a solve would end "converged" with
/// the NaN still in x. No rank can refuse alone, and a reduction to agree would be one more in every solve. A rank that
/// finds such an entry instead makes the right-hand side it belongs to not finite, in a copy: the first reduction of
/// the solve tells all ranks, and the outcome is that of a right-hand side with a NaN.

#include <Teuchos_RCP.hpp>
#include <Tpetra_MultiVector.hpp>
#include <limits>

#include "tpetra_ext/operators/block_kernels.hpp"

namespace capstan {

/// b itself where this rank's part of the guess x is finite, as it nearly always is; else the copy described above.
/// b, x: n x c on the same map. Reads x once. Local.
template <class Types>
Teuchos::RCP<const typename Types::MultiVector> refusingBadGuess(
    const Teuchos::RCP<const typename Types::MultiVector>& b, const typename Types::MultiVector& x) {
  using MultiVector = typename Types::MultiVector;
  using Scalar = typename Types::Scalar;
  const BlockKernels<Types> kernels;
  Teuchos::RCP<MultiVector> copy;
  for (std::size_t c = 0; c < x.getNumVectors(); ++c) {
    if (kernels.finite(*x.getVector(c))) continue;
    if (copy.is_null()) copy = Teuchos::rcp(new MultiVector(*b, Teuchos::Copy));
    copy->getVectorNonConst(c)->putScalar(std::numeric_limits<Scalar>::quiet_NaN());
  }
  if (copy.is_null()) return b;
  return copy;
}

}  // namespace capstan
