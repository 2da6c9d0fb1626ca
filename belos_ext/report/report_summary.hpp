#pragma once

/// \file
/// From the outcomes of the right-hand sides to the report of a solve, and from the report to files and the output
/// stream.

#include <vector>

#include "belos_ext/convergence/stop_test.hpp"
#include "belos_ext/parameters/solver_options.hpp"
#include "belos_ext/report/solve_report.hpp"

namespace capstan {

/// Fills in the right-hand sides, the outcome of the whole, norms and scaling, the seconds that no phase accounts for,
/// and puts the events in the order of their iterations. Operator counts and the seconds of the phases are there
/// already. Local.
///
/// \param stops one per right-hand side, at least one
/// \param hasLeft whether a left preconditioner makes the native residual differ from b - A x
void summarize(const std::vector<StopTest>& stops, const SolverOptions& options, bool hasLeft, SolveReport& report);

/// Writes "Report File" and "History File", and what "Verbosity" asks for to "Output Stream". Call on one rank. A file
/// that cannot be written becomes a warning there, once: the solve is done, and the other ranks do not wait. A
/// breakdown, and what is not finite, is also said once for each label on the standard error stream: applications
/// ignore what solve() returns.
void publish(const SolveReport& report, const SolverOptions& options, bool lossOfAccuracy);

}  // namespace capstan
