// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/openfoam/solve_recorder.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "adapters/driver/run_summary.hpp"

namespace capstan::foam {
namespace {

driver::SolveCost solveOf(const std::string& field, double final, bool converged) {
  driver::SolveCost cost;
  cost.field = field;
  cost.method = "capstan_cg";
  cost.preconditioner = "DIC";
  cost.iterations = 10;
  cost.hasReductions = true;
  cost.reductions = 11;
  cost.initialResidual = 1;
  cost.finalResidual = final;
  cost.converged = converged;
  return cost;
}

const SolveOrigin pressure{"region0", "p", "-"};

TEST(SolveRecorder, NothingIsWantedWithoutOne) {
  EXPECT_FALSE(SolveRecorder::wanted());
  {
    SolveRecorder recorder([] { return 1L; });
    EXPECT_TRUE(SolveRecorder::wanted());
  }
  EXPECT_FALSE(SolveRecorder::wanted());
}

TEST(SolveRecorder, EachTellsTheStepOfItsOwn) {
  long step = 1;
  SolveRecorder first([&] { return step; });
  SolveRecorder second([&] { return step; });
  SolveRecorder::record(pressure, solveOf("p", 1e-7, true));
  SolveRecorder::record(pressure, solveOf("p", 1e-8, true));
  SolveRecorder::record({"region0", "U", "x"}, solveOf("Ux", 1e-7, true));
  const auto rows = first.take();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].totals.solves, 2);
  EXPECT_EQ(rows[0].totals.sum.iterations, 20);
  EXPECT_EQ(rows[0].totals.sum.finalResidual, 1e-8);
  EXPECT_TRUE(first.take().empty());
  step = 2;  // nobody has asked in time
  EXPECT_TRUE(second.take().empty());
}

TEST(SolveRecorder, FieldsOfDifferentRegionsAndMethodsStandApart) {
  SolveRecorder recorder([] { return 1L; });
  SolveRecorder::record(pressure, solveOf("p", 1e-7, true));
  SolveRecorder::record({"air", "p", "-"}, solveOf("air/p", 1e-7, true));
  auto other = solveOf("p", 1e-7, true);
  other.preconditioner = "GAMG";
  SolveRecorder::record(pressure, other);
  EXPECT_EQ(recorder.take().size(), 3U);
}

TEST(SolveRecorder, TheWorstOutcomeCounts) {
  SolveRecorder recorder([] { return 1L; });
  const auto outcome = [&] {
    const auto rows = recorder.take();
    return rows.size() == 1 ? rows[0].outcome : "not one row";
  };
  const auto good = solveOf("p", 1e-7, true);
  auto rounding = solveOf("p", 1e-6, false);
  rounding.atRounding = true;
  auto fell = good;
  fell.fellBackTo = "capstan_cg and DIC";
  const auto missed = solveOf("p", 0.5, false);
  const auto nothing = solveOf("p", 1, false);
  const auto nan = solveOf("p", std::numeric_limits<double>::quiet_NaN(), false);
  const std::pair<const driver::SolveCost*, const char*> order[] = {{&good, "converged"},
                                                                    {&rounding, "at rounding level"},
                                                                    {&fell, "fell back to capstan_cg and DIC"},
                                                                    {&missed, "unconverged"},
                                                                    {&nothing, "returned the guess"}};
  for (std::size_t worst = 0; worst < std::size(order); ++worst) {
    for (std::size_t i = worst + 1; i-- > 0;) SolveRecorder::record(pressure, *order[i].first);
    EXPECT_EQ(outcome(), order[worst].second);
  }
  SolveRecorder::record(pressure, nan);
  EXPECT_EQ(outcome(), "returned the guess");
}

TEST(SolveRecorder, WhatIsNotKnownIsAnEmptyCell) {
  SolveRecorder recorder([] { return 1L; });
  auto cost = solveOf("p", 1e-7, true);
  cost.method = "A, B";
  cost.hasReductions = false;
  cost.times.reductions = std::numeric_limits<double>::quiet_NaN();
  cost.times.product = 0.25;
  SolveRecorder::record(pressure, cost);
  EXPECT_EQ(csvLine(0.1 + 0.2, recorder.take().at(0)),
            "0.3,region0,p,-,\"A, B\",DIC,1,0,10,,0,0,,0,0.25,0,,0,0,1,1e-07,converged\n");
}

TEST(RunSummary, CountsFailuresByField) {
  driver::RunSummary summary;
  summary.add(solveOf("T", 1e-7, true));
  auto fell = solveOf("p", 1e-7, true);
  fell.steps = {"by capstan_cg and DIC"};
  summary.add(fell);
  summary.add(solveOf("p", 0.5, false));
  summary.add(solveOf("air/p", 0.5, false));
  std::ostringstream out;
  summary.printFailures(out);
  EXPECT_EQ(out.str(),
            "Capstan: p: 1 of 2 solves not converged; 1 by capstan_cg and DIC\n"
            "Capstan: air/p: 1 of 1 solve not converged\n");
}

}  // namespace
}  // namespace capstan::foam
