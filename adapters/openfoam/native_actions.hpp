// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What the application does with vectors: its own product, and its own preconditioner.

#include <string>

namespace capstan::foam {

/// A square operator A and a preconditioner M of the application, on vectors of this rank's rows on the host, in the
/// order of places().
///
/// The functions are collective over the mesh's communicator. Vectors never overlap.
class NativeActions {
 public:
  virtual ~NativeActions() = default;
  /// y = A x.
  virtual void apply(const double* x, double* y) = 0;
  /// z = M^-1 r. Called only where the application gave a preconditioner.
  virtual void precondition(const double* r, double* z) = 0;
  /// The application's name for that preconditioner: what solves with one have learnt is no use to another. Local.
  virtual std::string preconditionerName() const = 0;
  /// The place of each cell in these vectors; null: they have the order of the cells. Local.
  virtual const int* places() const { return nullptr; }
};

}  // namespace capstan::foam
