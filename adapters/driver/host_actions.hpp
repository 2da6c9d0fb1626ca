// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What the application does with vectors: its own product, and its own preconditioner.

#include <string>

namespace capstan::driver {

/// A between the halves of a preconditioner M = M_L M_R, where the application has it at little cost: as
/// capstan::SplitPreconditioner, on vectors like those of HostActions.
class SplitActions {
 public:
  virtual ~SplitActions() = default;
  /// w = M_L^-1 A M_R^-1 v.
  virtual void applySplit(const double* v, double* w) = 0;
  /// z = M_L^-1 r.
  virtual void solveLeft(const double* r, double* z) = 0;
  /// d = M_R^-1 u.
  virtual void solveRight(const double* u, double* d) = 0;
  /// u = M_R d.
  virtual void multiplyRight(const double* d, double* u) = 0;
  /// The sum of |(M_L z)_i| over this rank's rows.
  virtual double absoluteSum(const double* z) = 0;
};

/// A square operator A and a preconditioner M of the application, on vectors of this rank's rows on the host, in the
/// order of places().
///
/// The functions are collective over the application's communicator. Vectors never overlap.
class HostActions {
 public:
  virtual ~HostActions() = default;
  /// y = A x.
  virtual void apply(const double* x, double* y) = 0;
  /// z = M^-1 r. Called only where the application gave a preconditioner.
  virtual void precondition(const double* r, double* z) = 0;
  /// The application's name for that preconditioner: what solves with one have learnt is no use to another. Local.
  virtual std::string preconditionerName() const = 0;
  /// What A and M stand for here: sign times those of the application. Local.
  virtual double sign() const = 0;
  /// The same A and M in one; null: not so. Local; on all ranks or on none.
  virtual SplitActions* split() { return nullptr; }
  /// The place of each row in these vectors; null: they have that order. Local.
  virtual const int* places() const { return nullptr; }
};

}  // namespace capstan::driver
