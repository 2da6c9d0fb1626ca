#pragma once

/// \file
/// Rows of a matrix that hold a diagonal entry alone: equations a_ii x_i = b_i that need no Krylov method.
///
/// A CFD code pins a pressure, or sets a boundary value, by such a row, and often leaves the column's entries where
/// they are. The matrix is then symmetric but for these rows, and methods that rely on symmetry lose convergence. On
/// the space of vectors that vanish there the matrix is symmetric again: solve these rows first, and keep every later
/// vector zero in them.

#include <Kokkos_Core.hpp>
#include <Tpetra_MultiVector.hpp>
#include <Tpetra_Operator.hpp>
#include <vector>

#include "tpetra_ext/types.hpp"

namespace capstan {

template <class Types>
class DiagonalRows {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using Operator = typename Types::Operator;

  /// Looks for this rank's diagonal rows with a finite entry that is not zero. None where the operator is no
  /// Tpetra::CrsMatrix, or spreads its vectors differently from its rows. Reads up to two entries that are not zero of
  /// every row; allocates only where rows are found. Local.
  void find(const Operator& a);

  /// Their local numbers, ascending. Copies them to the host. Local.
  std::vector<typename Types::LocalOrdinal> numbers() const;

  /// What a vector held in these rows.
  using Held = Kokkos::View<Scalar*, typename Types::ExecutionSpace::memory_space>;

  /// r_i = 0 in this rank's diagonal rows; returns the sum of r_i^2 before. r: n x 1. Local; waits for the result.
  /// \param held gets what the rows held; grows where it is too short
  Scalar takeOut(MultiVector& r, Held& held) const;

  /// r_i = what takeOut() found there. r: n x 1. Local.
  void putBack(const Held& held, MultiVector& r) const;

  /// x_i = b_i / a_ii, for the rows where that is finite. b, x: n x 1. Local.
  void solve(const MultiVector& b, MultiVector& x) const;

  /// v_i = 0 in all columns. v: n x k. Local.
  void clear(MultiVector& v) const;

 private:
  using ExecutionSpace = typename Types::ExecutionSpace;
  using MemorySpace = typename ExecutionSpace::memory_space;

  std::size_t count_ = 0;
  Kokkos::View<typename Types::LocalOrdinal*, MemorySpace> rows_;
  Kokkos::View<Scalar*, MemorySpace> diagonal_;
};

}  // namespace capstan
