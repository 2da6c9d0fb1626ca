#pragma once
/// \file
/// A recurrence that takes a product along: w = a w + b v + c u for a w that has just been computed.

namespace capstan {

/// Of single vectors of one length. v and u are not w, nor parts of it; they may be null where their factor is zero.
template <class Types>
struct VectorRecurrence {
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;

  Scalar a = Scalar(1);
  Scalar b = Scalar(0);
  const MultiVector* v = nullptr;
  Scalar c = Scalar(0);
  const MultiVector* u = nullptr;

  /// w = u - w: of a product A z, what is left of u.
  static VectorRecurrence differenceTo(const MultiVector& u) { return {Scalar(-1), Scalar(1), &u}; }

  /// Whether it changes nothing.
  bool plain() const { return a == Scalar(1) && b == Scalar(0) && c == Scalar(0); }
};

}  // namespace capstan
