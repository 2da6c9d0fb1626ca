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

}  // namespace capstan::tools
