// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/openfoam/solve_recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "belos_ext/report/report_io.hpp"

namespace capstan::foam {
namespace {

std::vector<SolveRecorder*>& recorders() {
  static auto* const all = new std::vector<SolveRecorder*>;  // outlives every function object
  return *all;
}

// The worse, the greater. OpenFOAM's residual decides, as it does in the log.
std::pair<int, std::string> outcomeOf(const SolveCost& cost) {
  if (!cost.converged && cost.atRounding) return {1, "at rounding level"};
  if (cost.converged && !cost.fellBackTo.empty()) return {2, "fell back to " + cost.fellBackTo};
  if (cost.converged) return {0, "converged"};
  if (cost.finalResidual < cost.initialResidual) return {3, "unconverged"};
  return {4, "returned the guess"};
}

std::string known(bool is, long count) { return is ? std::to_string(count) : std::string(); }

std::string seconds(double value) { return std::isnan(value) ? std::string() : fmt::format("{:.6g}", value); }

}  // namespace

SolveRecorder::SolveRecorder(std::function<long()> step) : step_(std::move(step)) { recorders().push_back(this); }

SolveRecorder::~SolveRecorder() {
  auto& all = recorders();
  all.erase(std::remove(all.begin(), all.end(), this), all.end());
}

bool SolveRecorder::wanted() { return !recorders().empty(); }

void SolveRecorder::record(const SolveOrigin& origin, const SolveCost& cost) {
  for (auto* recorder : recorders()) recorder->add(origin, cost);
}

void SolveRecorder::forgetEarlierSteps() {
  const long now = step_();
  if (now != recorded_) rows_.clear();
  recorded_ = now;
}

void SolveRecorder::add(const SolveOrigin& origin, const SolveCost& cost) {
  forgetEarlierSteps();
  const auto key = std::tie(origin.region, origin.field, origin.component);
  auto row = std::find_if(rows_.begin(), rows_.end(), [&](const RecordedSolves& r) {
    return std::tie(r.origin.region, r.origin.field, r.origin.component) == key && r.totals.matches(cost);
  });
  if (row == rows_.end()) row = rows_.insert(row, {origin, {}, "", -1});
  row->totals.add(cost);
  const auto [severity, outcome] = outcomeOf(cost);
  if (severity > row->severity) {
    row->severity = severity;
    row->outcome = outcome;
  }
}

std::vector<RecordedSolves> SolveRecorder::take() {
  forgetEarlierSteps();
  return std::exchange(rows_, {});
}

std::string csvHeader() {
  return "time,region,field,component,solver,preconditioner,solves,unconverged,iterations,reductions,checks,"
         "operator_applications,preconditioner_applications,setups,seconds_operator,seconds_preconditioner,"
         "seconds_reductions,seconds_setup,seconds_total,initial_residual,final_residual,outcome\n";
}

std::string csvLine(double time, const RecordedSolves& row) {
  const auto& sum = row.totals.sum;
  // 12 digits: those of a sum of time steps that are its own, not its rounding.
  return fmt::format("{:.12g},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{:.9g},{:.9g},{}\n", time,
                     csvField(row.origin.region), csvField(row.origin.field), csvField(row.origin.component),
                     csvField(sum.method), csvField(sum.preconditioner), row.totals.solves, row.totals.unconverged,
                     sum.iterations, known(sum.hasReductions, sum.reductions), sum.checks, sum.products,
                     known(sum.hasReductions, sum.applications), sum.builds, seconds(sum.times.product),
                     seconds(sum.times.preconditioner), seconds(sum.times.reductions), seconds(sum.setupSeconds),
                     seconds(sum.setupSeconds + sum.solveSeconds), sum.initialResidual, sum.finalResidual,
                     csvField(row.outcome));
}

}  // namespace capstan::foam
