// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Chosen systems of a run as files, for `capstan-solve` to solve again.

#include <vector>

#include "adapters/driver/choices.hpp"
#include "adapters/driver/field_memory.hpp"
#include "adapters/driver/host.hpp"
#include "adapters/driver/solve_cost.hpp"

namespace capstan::driver {

/// How the solve was to go.
struct DumpedChoice {
  const SolverChoice& solver;
  const PreconditionerChoice& preconditioner;
  double target;  ///< of ||b - A x||_1 over that of the guess
};

/// One solve, from before it to its end.
class SystemDump {
 public:
  /// Counts the solve. Takes a copy of x where it may be written. Local.
  SystemDump(const DumpControls& controls, FieldMemory& memory, HostSystem& host, const double* x);

  /// Writes the system if it is one of those that were chosen, and tells so. Collective over the application's
  /// communicator. A system that cannot be written is warned of; the run goes on.
  /// \param sign of A, which the files hold without
  void finish(double sign, const SolveCost& cost, const DumpedChoice& choice);

 private:
  bool isWanted(const SolveCost& cost);
  std::string write(double sign, const std::string& prefix, const DumpedChoice& choice);

  const DumpControls& controls_;
  FieldMemory& memory_;
  HostSystem& host_;
  long number_;
  std::vector<double> guess_;
};

}  // namespace capstan::driver
