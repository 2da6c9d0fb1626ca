#pragma once
/// \file
/// Solves with "Communication Strategy", for the tests of it.

#include <algorithm>
#include <string>
#include <vector>

#include "belos_ext/manager/state_cache.hpp"
#include "belos_ext/test/solvers/solver_suite.hpp"
#include "tpetra_ext/topology/exchange/distributed_pattern.hpp"

namespace capstan::testing {

inline const std::vector<std::string>& strategies() {
  static const std::vector<std::string> all = {"standard", "two-step", "three-step", "optimal", "tuned"};
  return all;
}

inline Params strategyParameters(const std::string& strategy, int ranksPerNode = 0) {
  Params p;
  p.set("Communication Strategy", strategy);
  p.set("Ranks Per Node", ranksPerNode);
  return p;
}

/// Whether the report's numbers belong together for a solve that has multiplied with a plan.
inline void expectPlanned(const Outcome& outcome, const std::string& strategy) {
  const CommunicationReport& c = outcome.report.communication;
  EXPECT_EQ(c.strategy, strategy);
  EXPECT_EQ(c.reason.find(c.used), 0U) << c.reason;
  EXPECT_TRUE(told(outcome, "communication strategy").empty());
  if (strategy != "tuned") {
    EXPECT_EQ(c.used, strategy);
  }
  if (c.nodes == 0) {  // the matrix' own exchange has turned out fastest, or there was nothing to choose
    EXPECT_EQ(c.used, "tpetra");
    EXPECT_EQ(c.products, 0);
    return;
  }
  EXPECT_GT(c.products, 0);
  EXPECT_LE(c.products, outcome.report.operatorApplications) << "that of r_0, where made, is the matrix' own";
  EXPECT_GT(c.setupSeconds, 0);
  if (ranks() > 1) {
    EXPECT_GT(c.traffic.networkMessages.total + c.traffic.nodeMessages.total, 0);
  }
}

/// Forgets all plans before and after each test.
class PlansForgotten {
 public:
  PlansForgotten() { StateCache::instance().clear(); }
  ~PlansForgotten() { StateCache::instance().clear(); }
  PlansForgotten(const PlansForgotten&) = delete;
  PlansForgotten& operator=(const PlansForgotten&) = delete;
};

/// Plans that this process has made since.
class PlansCounted {
 public:
  long made() const { return topology::DistributedPattern::plansMade() - before_; }

 private:
  long before_ = topology::DistributedPattern::plansMade();
};

}  // namespace capstan::testing
