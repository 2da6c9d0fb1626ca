// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The solves of the present time step, for the function object capstanReport. Without one nothing is recorded.

#include <functional>
#include <string>
#include <vector>

#include "adapters/driver/solve_cost.hpp"

namespace capstan::foam {

/// Whose solve it was; "-" for what there is none of.
struct SolveOrigin {
  std::string region;     ///< the mesh
  std::string field;      ///< without the component: U
  std::string component;  ///< x, y, z, xx, ...
};

/// The solves of one field in one time step with one method and preconditioner.
struct RecordedSolves {
  SolveOrigin origin;
  driver::SolveTotals totals;
  std::string outcome;  ///< of the solve that went worst
  int severity = 0;     ///< of that outcome
};

/// Adds up what is recorded while it lives. Not copied: it is known by its address. Local.
class SolveRecorder {
 public:
  /// \param step tells the number of the time step; what was recorded of an earlier one is forgotten
  explicit SolveRecorder(std::function<long()> step);
  ~SolveRecorder();
  SolveRecorder(const SolveRecorder&) = delete;
  SolveRecorder& operator=(const SolveRecorder&) = delete;

  /// Whether there is one: what only a report needs is else not measured.
  static bool wanted();
  /// Adds a solve to all there are.
  static void record(const SolveOrigin& origin, const driver::SolveCost& cost);

  /// The solves of the present time step, in order of appearance; they are forgotten here.
  std::vector<RecordedSolves> take();

 private:
  void add(const SolveOrigin& origin, const driver::SolveCost& cost);
  void forgetEarlierSteps();

  std::function<long()> step_;
  long recorded_ = 0;  // the step of rows_
  std::vector<RecordedSolves> rows_;
};

/// The first line of capstanReport.csv, and the line of one row. A cell is empty where nothing is known. \{
std::string csvHeader();
std::string csvLine(double time, const RecordedSolves& row);
/// \}

}  // namespace capstan::foam
