// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The driver as an application sees it: what solves the systems of one field, one after the other.
///
/// No Trilinos type appears here, so that an application's own headers and Trilinos' never meet in one file.

#include <memory>
#include <string>

#include "adapters/driver/choices.hpp"
#include "adapters/driver/host.hpp"
#include "adapters/driver/solve_cost.hpp"

namespace capstan::driver {

/// Chooses and tries preconditioners, solves, goes on where a method fails, renews what it keeps, records.
///
/// It has virtual functions for applications that open the driver at run time. It is to be gone before MPI ends.
class FieldDriver {
 public:
  virtual ~FieldDriver() = default;

  /// Solves a system of the field. x is never worse than the guess in the norm that the host judges by, and never NaN
  /// or Inf; what was done about failures is told. Floating point traps are off meanwhile.
  ///
  /// Collective over the application's communicator; throws std::exception for misuse (unknown names, wrong types).
  /// \param x the guess, and the solution: this rank's rows   \param summary the summary of the run, which counts all
  /// solves, is to be printed when the run ends
  virtual SolveCost solve(HostSystem& host, const Plan& plan, const DumpControls& dump, double* x, bool summary) = 0;
};

/// \param mesh fields of one mesh share rows and pattern where they are equal   \param why parameters are reserved
/// Starts Kokkos, and Tpetra where MPI runs, unless they are. Local.
std::unique_ptr<FieldDriver> makeFieldDriver(const std::string& mesh, WhyReserved why);

}  // namespace capstan::driver
