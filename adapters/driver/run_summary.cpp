// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/driver/run_summary.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <iostream>

#include "adapters/run_end/run_end.hpp"

namespace capstan::driver {
namespace {

std::string withThreeDecimals(double value) { return fmt::format("{:.3f}", value); }

std::string perIteration(const SolveCost& cost, long count) {
  if (!cost.hasReductions) return "not counted";
  return cost.iterations == 0 ? "-" : withThreeDecimals(static_cast<double>(count) / cost.iterations);
}

using Cells = std::array<std::string, 13>;

Cells cellsOf(const SolveTotals& row) {
  const auto& sum = row.sum;
  return {sum.field,
          sum.method,
          sum.preconditioner,
          std::to_string(row.solves),
          std::to_string(row.unconverged),
          std::to_string(sum.builds),
          std::to_string(sum.iterations),
          std::to_string(sum.passes),
          perIteration(sum, sum.reductions),
          perIteration(sum, sum.reductions + sum.checks),
          perIteration(sum, sum.applications),
          withThreeDecimals(sum.setupSeconds),
          withThreeDecimals(sum.solveSeconds)};
}

constexpr std::size_t names = 3;  // of the cells: to the left of their columns, the others to the right

void printRow(std::ostream& out, const Cells& cells, const std::array<int, 13>& widths) {
  for (std::size_t k = 0; k < cells.size(); ++k) {
    const auto text =
        k < names ? fmt::format("{:<{}}", cells[k], widths[k]) : fmt::format("{:>{}}", cells[k], widths[k]);
    out << (k == 0 ? "" : " ") << text;
  }
  out << "\n";
}

}  // namespace

void RunSummary::add(const SolveCost& cost) {
  auto row = std::find_if(rows_.begin(), rows_.end(), [&](const SolveTotals& r) { return r.matches(cost); });
  if (row == rows_.end()) row = rows_.insert(row, SolveTotals());
  row->add(cost);
  count(cost);
}

void RunSummary::count(const SolveCost& cost) {
  auto field =
      std::find_if(failures_.begin(), failures_.end(), [&](const Failures& f) { return f.field == cost.field; });
  if (field == failures_.end()) {
    field = failures_.insert(field, Failures());
    field->field = cost.field;
  }
  ++field->solves;
  field->unconverged += cost.isUnconverged() ? 1 : 0;
  for (const auto& step : cost.steps) ++field->steps[step];
}

void RunSummary::printFailures(std::ostream& out) const {
  for (const auto& field : failures_) {
    if (field.unconverged == 0 && field.steps.empty()) continue;
    out << "Capstan: " << field.field << ": " << field.unconverged << " of " << field.solves << " solve"
        << (field.solves == 1 ? "" : "s") << " not converged";
    for (const auto& [step, times] : field.steps) out << "; " << times << " " << step;
    out << "\n";
  }
  out.flush();
}

void RunSummary::print(std::ostream& out, int ranks) const {
  if (rows_.empty()) {
    return;
  }
  std::array<int, 13> widths{5, 6, 14, 7, 11, 7, 11, 7, 13, 13, 11, 10, 10};
  for (const auto& row : rows_) {
    widths[0] = std::max(widths[0], static_cast<int>(row.sum.field.size()));
    widths[1] = std::max(widths[1], static_cast<int>(row.sum.method.size()));
  }
  out << "\nCapstan: solves of this run on " << ranks << " rank" << (ranks == 1 ? "" : "s") << "\n";
  printRow(out,
           {"field", "method", "preconditioner", "solves", "unconverged", "builds", "iterations", "passes",
            "reductions/it", "with checks", "M/it", "set-up s", "solve s"},
           widths);
  long solves = 0;
  int iterations = 0;
  double seconds = 0;
  for (const auto& row : rows_) {
    printRow(out, cellsOf(row), widths);
    solves += row.solves;
    iterations += row.sum.iterations;
    seconds += row.sum.setupSeconds + row.sum.solveSeconds;
  }
  out << "total: " << solves << " solves, " << iterations << " iterations, " << withThreeDecimals(seconds) << " s\n";
  out << "builds: of the preconditioner; reductions/it: all-reduces of the Krylov solver an iteration; with checks: "
         "the application's residual norms included; M/it: applications of the preconditioner an iteration.\n";
  out.flush();
}

namespace {

struct Record {
  RunSummary summary;
  bool print = false;
};

void endRun(Record*& record) {
  int rank = 0;
  int ranks = 1;
  if (mpiRuns()) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  }
  if (rank == 0) {
    if (record->print) record->summary.print(std::cout, ranks);
    record->summary.printFailures(std::cout);
  }
  delete record;
  record = nullptr;
}

}  // namespace

void recordSolve(const SolveCost& cost, bool print) {
  static Record* record = nullptr;  // of the run, not of the process: MPI ends before statics do
  if (record == nullptr) {
    record = new Record;
    atRunEnd([] { endRun(record); });
  }
  record->summary.add(cost);
  record->print = record->print || print;
}

}  // namespace capstan::driver
