#pragma once

/// \file
/// Preconditioners M = M_L M_R that an operator of the application shares so much with that M_L^{-1} A M_R^{-1} costs
/// less than A and M^{-1} apart.

namespace capstan {

/// What such a preconditioner is beside a Tpetra::Operator, whose apply() is M^{-1} = M_R^{-1} M_L^{-1}. An operator
/// that is given as the right preconditioner of a problem, and derives from this, is used so where it splits().
///
/// Example: an incomplete factorisation M = (D + L) D^{-1} (D + U) that keeps the off-diagonals of A = L + diag(A) + U:
/// with u = (D + U)^{-1} v, (D + L)^{-1} A u = u + (D + L)^{-1} (v + (diag(A) - 2 D) u), two solves and no product
/// [Eisenstat 1981].
///
/// All vectors are MultiVectors of any number of columns over the operator's map; input and output are different ones.
template <class Types>
class SplitPreconditioner {
 public:
  using MultiVector = typename Types::MultiVector;

  virtual ~SplitPreconditioner() = default;

  /// Whether the functions below may be called now. Local; the same on every rank.
  virtual bool splits() const = 0;

  /// w = M_L^{-1} A M_R^{-1} v. Symmetric where A is: M_R is the transpose of M_L then. Collective.
  virtual void applySplit(const MultiVector& v, MultiVector& w) const = 0;
  /// z = M_L^{-1} r. Collective.
  virtual void applyLeftPart(const MultiVector& r, MultiVector& z) const = 0;
  /// d = M_R^{-1} u. Collective.
  virtual void applyRightPart(const MultiVector& u, MultiVector& d) const = 0;
  /// u = M_R d. Collective.
  virtual void multiplyRightPart(const MultiVector& d, MultiVector& u) const = 0;
  /// The sum of |(M_L z)_i| over this rank's rows, of one column. Collective.
  virtual double absoluteSum(const MultiVector& z) const = 0;
};

}  // namespace capstan
