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

PhaseTimes& PhaseTimes::operator+=(const PhaseTimes& other) {
  product += other.product;
  preconditioner += other.preconditioner;
  reductions += other.reductions;
  return *this;
}

bool SolveTotals::matches(const SolveCost& cost) const {
  return sum.field == cost.field && sum.method == cost.method && sum.preconditioner == cost.preconditioner;
}

void SolveTotals::add(const SolveCost& cost) {
  if (solves == 0) {
    sum.field = cost.field;
    sum.method = cost.method;
    sum.preconditioner = cost.preconditioner;
    sum.hasReductions = true;
    sum.initialResidual = cost.initialResidual;
  }
  ++solves;
  unconverged += cost.isUnconverged() ? 1 : 0;
  sum.iterations += cost.iterations;
  sum.passes += cost.passes;
  sum.hasReductions = sum.hasReductions && (cost.hasReductions || cost.iterations == 0);
  sum.builds += cost.builds;
  sum.reductions += cost.reductions;
  sum.applications += cost.applications;
  sum.checks += cost.checks;
  sum.setupSeconds += cost.setupSeconds;
  sum.solveSeconds += cost.solveSeconds;
  sum.products += cost.products;
  sum.times += cost.times;
  sum.finalResidual = cost.finalResidual;
}

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
    out << fmt::format("Capstan: {}: {} of {} solve{} not converged", field.field, field.unconverged, field.solves,
                       field.solves == 1 ? "" : "s");
    for (const auto& [step, times] : field.steps) out << fmt::format("; {} {}", times, step);
    out << "\n";
  }
  out.flush();
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
