#pragma once
/// \file
/// Linear systems from files or generators, distributed by contiguous blocks of rows, and the sequences made of them.

#include <Teuchos_RCP.hpp>
#include <string>

#include "adapters/deck/generated_matrix.hpp"
#include "adapters/deck/system_options.hpp"
#include "adapters/deck/types.hpp"
#include "adapters/preconditioners/random_entries.hpp"

namespace capstan::deck {

/// A x = b and a first guess. Right-hand sides are columns.
struct LinearSystem {
  Teuchos::RCP<Matrix> A;
  Teuchos::RCP<MultiVector> b;
  Teuchos::RCP<MultiVector> guess;
};

/// Reads a sparse square Matrix Market file, plain or gzip, on rank 0 and distributes it likewise. Collective.
/// \param files what has been read already; null: nothing
/// \throws InputError on every rank when the file is missing, damaged or not square.
Teuchos::RCP<Matrix> readMatrix(const std::string& path, const Teuchos::RCP<const Communicator>& comm,
                                MatrixFiles* files = nullptr);

/// Reads a dense Matrix Market file, plain or gzip, with as many rows as `map`. Collective.
/// \throws InputError on every rank when the file is missing or damaged or has another number of rows.
Teuchos::RCP<MultiVector> readVectors(const std::string& path, const Teuchos::RCP<const Map>& map,
                                      MatrixFiles* files = nullptr);

/// Builds the system a deck describes; the matrix is labelled with its name. Collective. \throws InputError on every
/// rank.
LinearSystem buildSystem(const SystemOptions& options, const Teuchos::RCP<const Communicator>& comm);

/// Writes A, b and x as Matrix Market files PREFIX_A.mtx, PREFIX_b.mtx, PREFIX_x.mtx, each as a whole or not at all.
/// Collective; rank 0 writes. \throws InputError on every rank when a file cannot be written.
void writeSystem(const Matrix& A, const MultiVector& b, const MultiVector& x, const std::string& prefix);

/// One of a deck's systems and its sequence: A and b change in place, as an application's do.
class SystemSequence {
 public:
  /// Collective. \throws InputError on every rank.
  SystemSequence(const SystemOptions& options, const Teuchos::RCP<const Communicator>& comm);

  int size() const { return options_.sequence.steps * options_.sequence.outerIterations; }
  /// Makes system k (from 0) the current one; see SequenceOptions. Local but for the matrix' fillComplete.
  /// \param x the solution of the system before it, or the guess
  void select(int k, const MultiVector& x);

  const Teuchos::RCP<Matrix>& A() const { return system_.A; }
  const Teuchos::RCP<MultiVector>& b() const { return system_.b; }
  const MultiVector& guess() const { return *system_.guess; }

 private:
  double scaling(long long row, int k) const;
  void requireDiagonal() const;
  void selectMatrix(int k);
  void selectRightHandSide(int k);

  SystemOptions options_;
  LinearSystem system_;
  Teuchos::RCP<const Matrix> A0_;
  Teuchos::RCP<const MultiVector> b0_;
  Teuchos::RCP<MultiVector> old_;  ///< solution of the time step before; null without time
};

}  // namespace capstan::deck
