// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/openfoam/run_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace capstan::foam {
namespace {

std::string perIteration(const SolveCost& cost, long count) {
  if (!cost.hasReductions) return "not counted";
  return cost.iterations == 0 ? "-" : fmt::format("{:.3f}", static_cast<double>(count) / cost.iterations);
}

}  // namespace

void RunSummary::add(const SolveCost& cost) {
  auto row = std::find_if(rows_.begin(), rows_.end(), [&](const Row& r) {
    return r.sum.field == cost.field && r.sum.method == cost.method && r.sum.preconditioner == cost.preconditioner;
  });
  if (row == rows_.end()) {
    rows_.push_back({});
    row = rows_.end() - 1;
    row->sum.field = cost.field;
    row->sum.method = cost.method;
    row->sum.preconditioner = cost.preconditioner;
    row->sum.hasReductions = true;
  }
  ++row->solves;
  row->unconverged += cost.converged || cost.atRounding ? 0 : 1;
  row->sum.iterations += cost.iterations;
  row->sum.passes += cost.passes;
  row->sum.hasReductions = row->sum.hasReductions && (cost.hasReductions || cost.iterations == 0);
  row->sum.builds += cost.builds;
  row->sum.reductions += cost.reductions;
  row->sum.applications += cost.applications;
  row->sum.checks += cost.checks;
  row->sum.setupSeconds += cost.setupSeconds;
  row->sum.solveSeconds += cost.solveSeconds;
}

void RunSummary::print(std::ostream& out, int ranks) const {
  if (rows_.empty()) {
    return;
  }
  std::size_t fieldWidth = 5;
  std::size_t methodWidth = 6;
  for (const auto& row : rows_) {
    fieldWidth = std::max(fieldWidth, row.sum.field.size());
    methodWidth = std::max(methodWidth, row.sum.method.size());
  }
  out << fmt::format("\nCapstan: solves of this run on {} rank{}\n", ranks, ranks == 1 ? "" : "s");
  out << fmt::format("{:<{}} {:<{}} {:<14} {:>7} {:>11} {:>7} {:>11} {:>7} {:>13} {:>13} {:>11} {:>10} {:>10}\n",
                     "field", fieldWidth, "method", methodWidth, "preconditioner", "solves", "unconverged", "builds",
                     "iterations", "passes", "reductions/it", "with checks", "M/it", "set-up s", "solve s");
  long solves = 0;
  int iterations = 0;
  double seconds = 0;
  for (const auto& row : rows_) {
    const auto& sum = row.sum;
    out << fmt::format(
        "{:<{}} {:<{}} {:<14} {:>7} {:>11} {:>7} {:>11} {:>7} {:>13} {:>13} {:>11} {:>10.3f} {:>10.3f}\n", sum.field,
        fieldWidth, sum.method, methodWidth, sum.preconditioner, row.solves, row.unconverged, sum.builds,
        sum.iterations, sum.passes, perIteration(sum, sum.reductions), perIteration(sum, sum.reductions + sum.checks),
        perIteration(sum, sum.applications), sum.setupSeconds, sum.solveSeconds);
    solves += row.solves;
    iterations += sum.iterations;
    seconds += sum.setupSeconds + sum.solveSeconds;
  }
  out << fmt::format("total: {} solves, {} iterations, {:.3f} s\n", solves, iterations, seconds);
  out << "builds: of the preconditioner; reductions/it: all-reduces of the Krylov solver an iteration; with checks: "
         "OpenFOAM's residual norms included; M/it: applications of the preconditioner an iteration.\n";
  out.flush();
}

}  // namespace capstan::foam
