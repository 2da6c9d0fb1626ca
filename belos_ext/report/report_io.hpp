#pragma once

/// \file
/// Solve reports as files: JSON for programs, CSV for plots.
///
/// Call on one rank only, the rank 0 of the solve's communicator. The first report a process writes to a path replaces
/// what an earlier run left there, by way of a temporary file and a rename; later ones are appended with one write, so
/// that a run with many solves does not write its whole history again each time, and the file is complete after each.
/// To what is no regular file (/dev/stdout, a FIFO) everything is written in turn: there each JSON report is an array
/// of its own.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "belos_ext/report/solve_report.hpp"

namespace capstan {

/// The report without its history, as a JSON object. Seconds are nested under "seconds", reductions under "reductions".
/// Numbers that are not finite become null.
nlohmann::json toJson(const SolveReport& report);

/// Appends the report to a JSON array, one element a solve in the order of the calls.
/// Throws std::runtime_error naming the path and the system's reason; the file is then as it was before.
void writeReport(const std::string& path, const SolveReport& report);

/// Appends the report's history to a CSV file with the header
/// `solve,solver,label,iteration,column,residual`; `solve` counts the calls for this path from 1. Throws as above.
void writeHistory(const std::string& path, const SolveReport& report);

/// Forgets which files this process has begun: the next report to any path replaces the file.
void beginReportFilesAnew();

}  // namespace capstan
