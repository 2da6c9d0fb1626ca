#pragma once
/// \file
/// What capstan-solve shows and writes: the table, the JSON report, the CSV history. All local; call on rank 0.

#include <string>
#include <vector>

#include "adapters/deck/solve.hpp"

namespace capstan::tools {

/// The aligned table of results, one line a solve, with what went wrong below it.
std::string resultTable(const std::vector<deck::SolveRecord>& records);

/// The report as JSON text: what was run, then one element a solve, with Capstan's own report under "capstan" (null for
/// other solvers).
std::string reportJson(const deck::Deck& deck, int ranks, const std::vector<deck::SolveRecord>& records);

/// The residual histories as CSV: solve,system,step,solver,iteration,column,residual; solves are counted from 1.
std::string historyCsv(const std::vector<deck::SolveRecord>& records);

/// Whether a file can be made at this path; else why not. Leaves nothing behind.
std::string whyNotWritable(const std::string& path);

/// Writes a file under a temporary name and renames it, so that nobody sees half of it.
/// \throws std::runtime_error with the path and the system's reason.
void writeFile(const std::string& path, const std::string& text);

}  // namespace capstan::tools
