#pragma once
/// \file
/// What this rank's part of the guess holds; a guess with NaN or Inf in it is refused, also where no equation reads the
/// entry.
///
/// An unknown in no row of A leaves the residual finite whatever its value, so that a solve would end "converged" with
/// the NaN still in x. No rank can refuse alone, and a reduction to agree would be one more in every solve. A rank that
/// finds such an entry instead makes the right-hand side it belongs to not finite, in a copy: the first reduction of
/// the solve tells all ranks, and the outcome is that of a right-hand side with a NaN.

#include <Teuchos_RCP.hpp>
#include <Tpetra_MultiVector.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "tpetra_ext/operators/block_kernels.hpp"

namespace capstan {

struct GuessContent {
  bool zero = true;                    ///< every entry of all columns
  std::vector<std::size_t> notFinite;  ///< columns with NaN or Inf
};

/// x: n x c. Reads it once, twice where its sum overflows. Local.
template <class Types>
GuessContent contentOf(const typename Types::MultiVector& x) {
  const BlockKernels<Types> kernels{};
  GuessContent content;
  const auto look = [&](const auto& column, std::size_t c) {
    const auto sum = kernels.absoluteSum(column);
    if (sum != 0) content.zero = false;
    if (!std::isfinite(sum) && !kernels.finite(column)) content.notFinite.push_back(c);
  };
  if (x.getNumVectors() == 1) {
    look(x, 0);
  } else {
    for (std::size_t c = 0; c < x.getNumVectors(); ++c) look(*x.getVector(c), c);
  }
  return content;
}

/// b itself where this rank's part of the guess is finite, as it nearly always is; else the copy described above.
/// b: n x c, the right-hand sides of that guess. Local.
template <class Types>
Teuchos::RCP<const typename Types::MultiVector> refusingBadGuess(
    const Teuchos::RCP<const typename Types::MultiVector>& b, const GuessContent& guess) {
  using MultiVector = typename Types::MultiVector;
  if (guess.notFinite.empty()) return b;
  const auto copy = Teuchos::rcp(new MultiVector(*b, Teuchos::Copy));
  for (const std::size_t c : guess.notFinite) {
    copy->getVectorNonConst(c)->putScalar(std::numeric_limits<typename Types::Scalar>::quiet_NaN());
  }
  return copy;
}

}  // namespace capstan
