// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/openfoam/solve_recorder.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <tuple>
#include <utility>

#include "belos_ext/support/csv_field.hpp"

namespace capstan::foam {
namespace {

std::vector<SolveRecorder*>& recorders() {
  static auto* const all = new std::vector<SolveRecorder*>;  // outlives every function object
  return *all;
}

// The worse, the greater. OpenFOAM's residual decides, as it does in the log.
std::pair<int, std::string> outcomeOf(const driver::SolveCost& cost) {
  if (!cost.converged && cost.atRounding) return {1, "at rounding level"};
  if (cost.converged && !cost.fellBackTo.empty()) return {2, "fell back to " + cost.fellBackTo};
  if (cost.converged) return {0, "converged"};
  if (cost.finalResidual < cost.initialResidual) return {3, "unconverged"};
  return {4, "returned the guess"};
}

std::string known(bool is, long count) { return is ? std::to_string(count) : std::string(); }

std::string number(double value, int digits) {
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "%.*g", digits, value);
  return text.data();
}

std::string seconds(double value) { return std::isnan(value) ? std::string() : number(value, 6); }

}  // namespace

SolveRecorder::SolveRecorder(std::function<long()> step) : step_(std::move(step)) { recorders().push_back(this); }

SolveRecorder::~SolveRecorder() {
  auto& all = recorders();
  all.erase(std::remove(all.begin(), all.end(), this), all.end());
}

bool SolveRecorder::wanted() { return !recorders().empty(); }

void SolveRecorder::record(const SolveOrigin& origin, const driver::SolveCost& cost) {
  for (auto* recorder : recorders()) recorder->add(origin, cost);
}

void SolveRecorder::forgetEarlierSteps() {
  const long now = step_();
  if (now != recorded_) rows_.clear();
  recorded_ = now;
}

void SolveRecorder::add(const SolveOrigin& origin, const driver::SolveCost& cost) {
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
  const std::string cells[] = {number(time, 12),  // those of a sum of time steps that are its own, not its rounding
                               csvField(row.origin.region),
                               csvField(row.origin.field),
                               csvField(row.origin.component),
                               csvField(sum.method),
                               csvField(sum.preconditioner),
                               std::to_string(row.totals.solves),
                               std::to_string(row.totals.unconverged),
                               std::to_string(sum.iterations),
                               known(sum.hasReductions, sum.reductions),
                               std::to_string(sum.checks),
                               std::to_string(sum.products),
                               known(sum.hasReductions, sum.applications),
                               std::to_string(sum.builds),
                               seconds(sum.times.product),
                               seconds(sum.times.preconditioner),
                               seconds(sum.times.reductions),
                               seconds(sum.setupSeconds),
                               seconds(sum.setupSeconds + sum.solveSeconds),
                               number(sum.initialResidual, 9),
                               number(sum.finalResidual, 9),
                               csvField(row.outcome)};
  std::string line;
  for (const auto& cell : cells) line += (&cell == cells ? "" : ",") + cell;
  return line + "\n";
}

}  // namespace capstan::foam
