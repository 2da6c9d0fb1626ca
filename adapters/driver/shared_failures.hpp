// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Failures that not every rank meets: an exception out of a preconditioner, say, on the one rank without rows.

#include <mpi.h>

#include <stdexcept>
#include <string>

#include "adapters/preconditioners/types.hpp"

namespace capstan::driver {

/// A rank failed, and the others have not come out of the work they share with it: nothing is left but to end all.
class LoneFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Lets all ranks know after a common piece of work whether one of them failed in it.
class SharedFailures {
 public:
  /// Collective.
  explicit SharedFailures(const preconditioning::Communicator& comm);
  ~SharedFailures();
  SharedFailures(const SharedFailures&) = delete;
  SharedFailures& operator=(const SharedFailures&) = delete;

  /// What went wrong, alike on all ranks: `failure` of the lowest rank that has one, with its number where others have
  /// none; empty where none has. Collective over the ranks that return from the work at all: \throws LoneFailure on a
  /// rank that failed, where the others do not arrive within `patience` seconds; end the program then.
  std::string share(const std::string& failure, double patience = 5.0);

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;  ///< null: a single process
  int rank_ = 0, ranks_ = 1;
};

}  // namespace capstan::driver
