/// \file
/// Every solver with every "Communication Strategy": same iterates, messages as reported, errors that name the mistake.

#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "belos_ext/parameters/parameter_table.hpp"
#include "belos_ext/report/report_io.hpp"
#include "belos_ext/test/solvers/communication_suite.hpp"
#include "tpetra_ext/test/support/counted_mpi.hpp"
#include "tpetra_ext/topology/crossings.hpp"
#include "tpetra_ext/topology/exchange/eager_limit.hpp"

namespace capstan::testing {
namespace {

class Communication : public EverySolver {
  PlansForgotten plans_;
};

/// || x - y || / || y ||, the largest over the columns.
double distance(const MultiVector& x, const MultiVector& y) {
  MultiVector difference(x, Teuchos::Copy);
  difference.update(-1, y, 1);
  double largest = 0;
  const std::vector<double> far = norms(difference), whole = norms(y);
  for (size_t c = 0; c < far.size(); ++c) largest = std::max(largest, far[c] / whole[c]);
  return largest;
}

System smallGrid(size_t columns = 1) { return systemWithRightHandSide(grid2d(11, 11), wave, columns); }

TEST_P(Communication, OfAnyKindLeavesTheIteratesAsTheyAre) {
  for (const int limit : {9, 500}) {
    Params p;
    p.set("State Cache", false);  // each solve begins with what the first one knew
    p.set("Maximum Iterations", limit);
    System own = smallGrid();
    const Outcome expected = solve(GetParam(), p, own, Side::Right);
    EXPECT_EQ(expected.report.communication.used, "application");
    for (const std::string& strategy : strategies()) {
      for (const int ranksPerNode : {1, 2, 3}) {
        if (limit > 9 && (ranksPerNode != 2 || strategy == "standard" || strategy == "three-step")) continue;
        SCOPED_TRACE(strategy + ", " + std::to_string(ranksPerNode) + " ranks per node");
        Params planned = strategyParameters(strategy, ranksPerNode);
        planned.setParameters(p);
        const System system = smallGrid();
        const Outcome outcome = solve(GetParam(), planned, system, Side::Right);
        EXPECT_EQ(outcome.converged, expected.converged);
        // Sums of another order separate recursions by and by.
        EXPECT_NEAR(outcome.iterations, expected.iterations, limit == 9 ? 0 : 1);
        EXPECT_LE(distance(*system.x, *own.x), limit == 9 ? 1e-13 : 1e-7);
        if (limit == 9) {
          EXPECT_EQ(outcome.report.operatorApplications, expected.report.operatorApplications);
          EXPECT_EQ(outcome.report.reductionsBlocking, expected.report.reductionsBlocking);
          EXPECT_EQ(outcome.report.reductionsNonblocking, expected.report.reductionsNonblocking);
        }
        expectPlanned(outcome, strategy);
        expectSameOnAllRanks(outcome);
        const CommunicationReport& c = outcome.report.communication;
        if (c.nodes == 0) continue;
        EXPECT_EQ(c.nodes, (ranks() - 1) / ranksPerNode + 1) << "the last node may have fewer ranks";
        EXPECT_EQ(c.ranksPerNode, std::min(ranks(), ranksPerNode));
        if (ranksPerNode == 1) {
          EXPECT_EQ(c.traffic.nodeMessages.total, 0);
        }
      }
    }
  }
}

TEST_P(Communication, OfSeveralRightHandSidesTogetherAndInTurn) {
  for (const int together : {0, 1, 2}) {
    System own = smallGrid(3);
    Params p;
    p.set("State Cache", false);
    p.set("Block Size", together);
    const Outcome expected = solve(GetParam(), p, own);
    for (const std::string strategy : {"two-step", "tuned"}) {
      SCOPED_TRACE(strategy + ", together " + std::to_string(together));
      Params planned = strategyParameters(strategy, 2);
      planned.setParameters(p);
      const System system = smallGrid(3);
      const Outcome outcome = solve(GetParam(), planned, system);
      EXPECT_TRUE(outcome.converged);
      EXPECT_NEAR(outcome.iterations, expected.iterations, 1);
      EXPECT_LE(distance(*system.x, *own.x), 1e-7);
      expectPlanned(outcome, strategy);
      expectSameOnAllRanks(outcome);
    }
  }
}

/// Sums over the ranks.
std::pair<long, long> messagesAndBytes() {
  long mine[2] = {0, 0}, all[2] = {0, 0};
  for (const test::SentMessage& message : test::sentMessages().list) {
    ++mine[0];
    mine[1] += message.bytes;
  }
  test::sentMessages() = {};
  Teuchos::reduceAll<int, long>(*Tpetra::getDefaultComm(), Teuchos::REDUCE_SUM, 2, mine, all);
  return {all[0], all[1]};
}

TEST_P(Communication, IsReportedAsMpiCountsIt) {
  if (GetParam().canonical == id::EmbeddedCg) GTEST_SKIP() << "its iterations send no products: see EmbeddedCgTest";
  for (const std::string strategy : {"standard", "two-step", "three-step", "optimal"}) {
    SCOPED_TRACE(strategy);
    System system = smallGrid();
    const auto solver = solverOf(GetParam(), strategyParameters(strategy, 2));
    EXPECT_TRUE(solve(*solver, system).converged);
    test::sentMessages() = {true, {}};
    const auto y = copyOf(*system.x);
    system.a->apply(*system.x, *y);
    const auto own = messagesAndBytes();
    system.x->putScalar(0);
    system.arm = [] { test::sentMessages() = {true, {}}; };
    const Outcome outcome = solve(*solver, system);
    const auto all = messagesAndBytes();
    const CommunicationReport& c = outcome.report.communication;
    const long others = outcome.report.operatorApplications - c.products;
    // The solve before has shown that the guess is zero: no product for r_0.
    const auto first = GetParam().firstProducts;
    const bool multiplies = first == FirstProducts::Direction || first == FirstProducts::Image;
    EXPECT_EQ(others, multiplies ? 1 : 0) << "products before the first reduction";
    EXPECT_TRUE(c.fromEarlier);
    EXPECT_EQ(all.first, others * own.first + c.traffic.networkMessages.total + c.traffic.nodeMessages.total);
    EXPECT_EQ(all.second, others * own.second + c.traffic.networkBytes.total + c.traffic.nodeBytes.total);
  }
}

TEST_P(Communication, StandsInTheReportAndTheSummary) {
  std::ostringstream out;
  Params p = strategyParameters("two-step", 2);
  p.set("Verbosity", static_cast<int>(Belos::FinalSummary));
  p.set("Output Stream", Teuchos::rcpFromRef(static_cast<std::ostream&>(out)));
  const Outcome outcome = solve(GetParam(), p, smallGrid());
  const nlohmann::json told = toJson(outcome.report)["communication"];
  EXPECT_EQ(told["strategy"], "two-step");
  EXPECT_EQ(told["used"], "two-step");
  EXPECT_EQ(told["reason"], "two-step, as asked for");
  EXPECT_EQ(told["products"], outcome.report.communication.products);
  EXPECT_EQ(told["between_nodes"]["messages"]["total"], outcome.report.communication.traffic.networkMessages.total);
  EXPECT_EQ(told["message_memory"], outcome.report.communication.messageMemory);
  EXPECT_FALSE(outcome.report.communication.messageMemory.empty());
  if (onCpus) {
    EXPECT_EQ(told["message_memory"], "host");
  }
  EXPECT_EQ(told["paid_back_by_products"].dump(), "null") << "nothing was measured";
  if (rank() == 0) {
    EXPECT_NE(out.str().find("communication: two-step, as asked for; "), std::string::npos) << out.str();
    EXPECT_NE(out.str().find(" between nodes "), std::string::npos) << out.str();
  }
}

TEST_P(Communication, ThatIsTunedTellsWhyAndIsTunedOnce) {
  const Params p = strategyParameters("tuned", 1);
  const PlansCounted plans{};
  const Outcome first = solve(GetParam(), p, smallGrid());
  const CommunicationReport& c = first.report.communication;
  EXPECT_EQ(c.reason.find(c.used + ": "), 0U) << c.reason;
  EXPECT_FALSE(c.fromEarlier);
  const long made = plans.made();
  if (ranks() == 1) {
    EXPECT_EQ(made, 0);
    EXPECT_TRUE(c.tried.empty());
  } else {
    EXPECT_GE(made, 1);
    // The matrix' own exchange, and the standard one in a call for all neighbours.
    EXPECT_EQ(c.tried.size(), static_cast<size_t>(made) + 2);
    EXPECT_EQ(c.tried.front().first, "tpetra");
    EXPECT_FALSE(std::isnan(c.paidBackBy));
    EXPECT_EQ(std::isfinite(c.paidBackBy), c.used != "tpetra");
  }
  for (int solves = 0; solves < 3; ++solves) {
    const Outcome later = solve(GetParam(), p, smallGrid());
    EXPECT_TRUE(later.report.communication.fromEarlier);
    EXPECT_EQ(later.report.communication.used, c.used);
    EXPECT_EQ(later.report.communication.reason, c.reason);
    expectSameOnAllRanks(later);
  }
  EXPECT_EQ(plans.made(), made);
}

TEST_P(Communication, OfAnOperatorThatIsNoCrsMatrixIsItsOwnAndSaysSo) {
  Params p;
  p.set("State Cache", false);
  System own = smallGrid();
  const Outcome expected = solve(GetParam(), p, rowsHidden(own));
  for (const std::string& strategy : strategies()) {
    const System system = rowsHidden(smallGrid());
    Params planned = strategyParameters(strategy);
    planned.setParameters(p);
    const auto solver = solverOf(GetParam(), planned);
    for (int solves = 0; solves < 2; ++solves) {
      system.x->putScalar(0);
      const Outcome outcome = solve(*solver, system);
      EXPECT_TRUE(outcome.converged);
      EXPECT_EQ(outcome.iterations, expected.iterations);
      EXPECT_TRUE(identical(*system.x, *own.x));
      const auto events = told(outcome, "communication strategy");
      ASSERT_EQ(events.size(), 1U) << "of each solve";
      EXPECT_TRUE(mentions(events, "the operator's own: it is not a Tpetra::CrsMatrix"));
      EXPECT_EQ(outcome.report.communication.used, "application");
      expectSameOnAllRanks(outcome);
    }
  }
}

/// Computes products in a way of its own.
class Watched final : public CrsMatrix {
 public:
  using CrsMatrix::CrsMatrix;
  void apply(const MultiVector& x, MultiVector& y, Teuchos::ETransp mode, Scalar alpha, Scalar beta) const override {
    ++products;
    CrsMatrix::apply(x, y, mode, alpha, beta);
  }
  mutable long products = 0;
};

TEST_P(Communication, OfAClassDerivedFromCrsMatrixIsItsOwn) {
  const auto a = rcp(new Watched(evenMap(50), 1));
  for (size_t i = 0; i < compat::localNumElements(*a->getRowMap()); ++i) {
    const GO g = a->getRowMap()->getGlobalElement(static_cast<int>(i));
    const Scalar value = static_cast<Scalar>(1 + g % 5);
    a->insertGlobalValues(g, Teuchos::ArrayView<const GO>(&g, 1), Teuchos::ArrayView<const Scalar>(&value, 1));
  }
  a->fillComplete();
  System system;
  system.a = a;
  system.b = vectorFrom(a->getRowMap(), wave);
  system.x = rcp(new MultiVector(a->getRowMap(), 1));
  system.arm = [a] { a->products = 0; };
  const Outcome outcome = solve(GetParam(), strategyParameters("two-step"), system);
  EXPECT_TRUE(outcome.converged);
  EXPECT_EQ(a->products, outcome.report.operatorApplications);
  EXPECT_EQ(told(outcome, "communication strategy").size(), 1U);
}

TEST_P(Communication, OfRanksThatDifferIsNamedOnAllRanks) {
  if (ranks() == 1) GTEST_SKIP() << "needs several ranks";
  for (const size_t columns : {1, 3}) {
    const bool last = rank() == ranks() - 1;
    const auto solver = solverOf(GetParam(), strategyParameters(last ? "two-step" : "application"));
    std::string text;
    try {
      solve(*solver, smallGrid(columns));
    } catch (const std::invalid_argument& error) {
      text = error.what();
    }
    EXPECT_NE(text.find("\"Communication Strategy\" differs between ranks"), std::string::npos) << text;
    change(*solver, strategyParameters("two-step"));
    EXPECT_TRUE(solve(*solver, smallGrid(columns)).converged) << "the solver stays usable";
  }
}

/// The message with which a parameter is refused, or nothing.
std::string refusal(const Params& parameters) {
  try {
    solverOf(methodOf("CAPSTAN CG"), parameters);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST_P(Communication, LetsReductionsGoByTheNodes) {
  Params plain;
  plain.set("State Cache", false);
  System own = smallGrid();
  const Outcome expected = solve(GetParam(), plain, own, Side::Right);
  for (const std::string way : {"node-aware", "tuned"}) {
    SCOPED_TRACE(way);
    Params p = plain;
    p.set("Reduction Strategy", way);
    p.set("Ranks Per Node", 2);
    const System system = smallGrid();
    const Outcome outcome = solve(GetParam(), p, system, Side::Right);
    EXPECT_EQ(outcome.converged, expected.converged);
    EXPECT_NEAR(outcome.iterations, expected.iterations, 1);
    EXPECT_LE(distance(*system.x, *own.x), 1e-7);
    EXPECT_EQ(outcome.report.reductionsBlocking + outcome.report.reductionsNonblocking > 0,
              expected.report.reductionsBlocking + expected.report.reductionsNonblocking > 0);
    const auto events = told(outcome, "reduction strategy");
    ASSERT_EQ(events.size(), 1U);
    if (ranks() <= 2) {
      EXPECT_EQ(events.front().detail.find("mpi: "), 0U) << events.front().detail;
    } else {
      EXPECT_NE(events.front().detail.find(way == "tuned" ? "set-up" : "as asked for"), std::string::npos);
    }
    expectSameOnAllRanks(outcome);
  }
  EXPECT_TRUE(told(expected, "reduction strategy").empty());
}

TEST(ReductionStrategy, NeedsFewerAllReducesOfAllRanks) {
  if (ranks() < 3) GTEST_SKIP() << "needs two nodes";
  const auto calls = [](const std::string& way) {
    Params p;
    p.set("Reduction Strategy", way);
    if (way != "mpi") p.set("Ranks Per Node", 2);
    const System system = smallGrid();
    test::resetMpiCalls();
    const Outcome outcome = solve(methodOf("CAPSTAN CG"), p, system);
    EXPECT_TRUE(outcome.converged);
    return test::mpiCalls().allreduce;
  };
  calls("node-aware");  // makes its communicators
  const long own = calls("mpi"), byNodes = calls("node-aware");
  // The second rank of a node takes part in the first reduction, and those that check input.
  if (Tpetra::getDefaultComm()->getRank() % 2 == 1) {
    EXPECT_LE(byNodes, own / 2);
  } else {
    EXPECT_EQ(byNodes, own);
  }
}

TEST(CommunicationParameters, SayWhatIsWrongWithThem) {
  const std::string text = refusal(strategyParameters("two-stpe"));
  for (const char* part : {"\"Communication Strategy\"", "two-stpe", "application, standard, two-step, three-step",
                           "optimal, tuned", "did you mean \"two-step\""}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
  EXPECT_NE(refusal(strategyParameters("standard", -1)).find("\"Ranks Per Node\" = -1"), std::string::npos);
  EXPECT_NE(refusal(strategyParameters("application", 2)).find("has no nodes"), std::string::npos);
  Params sums = strategyParameters("application", 2);
  sums.set("Reduction Strategy", "node-aware");
  EXPECT_EQ(refusal(sums), "");
  sums.set("Reduction Strategy", "node");
  EXPECT_NE(refusal(sums).find("mpi, node-aware, tuned"), std::string::npos) << refusal(sums);
  Params p = strategyParameters("optimal");
  p.set("Message Size Cutoff", 0);
  EXPECT_NE(refusal(p).find("\"Message Size Cutoff\" = 0 is out of range; allowed: int or string, >= 1, or auto"),
            std::string::npos)
      << refusal(p);
  p.set("Message Size Cutoff", 64);
  EXPECT_EQ(refusal(p), "");
  p.set("Communication Strategy", "two-step");
  EXPECT_NE(refusal(p).find("\"Communication Strategy\" = \"two-step\" uses none"), std::string::npos) << refusal(p);
  p.set("Message Size Cutoff", "auto");
  EXPECT_EQ(refusal(p), "");
  EXPECT_EQ(refusal(strategyParameters("Two_Step", 7)), "") << "any case, and any number of ranks";
  Params aware = strategyParameters("application");
  aware.set("Device Aware MPI", "off");
  EXPECT_NE(refusal(aware).find("the messages are the operator's own"), std::string::npos) << refusal(aware);
  aware.set("Communication Strategy", "standard");
  EXPECT_EQ(refusal(aware), "");
}

TEST(CommunicationParameters, OfMoreRanksThanThereAreMeanOneNode) {
  const PlansForgotten plans;
  const Outcome outcome = solve(methodOf("CAPSTAN CG"), strategyParameters("three-step", 1000), smallGrid());
  EXPECT_TRUE(outcome.converged);
  EXPECT_EQ(outcome.report.communication.nodes, 1);
  EXPECT_EQ(outcome.report.communication.ranksPerNode, ranks());
  EXPECT_EQ(outcome.report.communication.traffic.networkMessages.total, 0);
}

TEST(CommunicationParameters, TheCutoffSplitsWhatIsLarger) {
  if (ranks() < 4) GTEST_SKIP() << "needs two nodes of two ranks";
  const PlansForgotten plans;
  const auto networkMessages = [](int cutoff) {
    Params p = strategyParameters("optimal", 2);
    p.set("Message Size Cutoff", cutoff);
    const Outcome outcome = solve(methodOf("CAPSTAN CG"), p, systemWithRightHandSide(grid3d(10)));
    EXPECT_TRUE(outcome.converged);
    const CommunicationReport& c = outcome.report.communication;
    return static_cast<double>(c.traffic.networkMessages.total) / static_cast<double>(c.products);
  };
  EXPECT_EQ(networkMessages(100000), 2) << "one from node to node";
  EXPECT_GT(networkMessages(200), 2);
}

TEST(CommunicationParameters, TheCutoffIsThatOfMpiWhereNobodyGivesOne) {
  const PlansForgotten plans;
  const auto cutoff = [](const Params& p) {
    const Outcome outcome = solve(methodOf("CAPSTAN CG"), p, smallGrid());
    expectSameOnAllRanks(outcome);
    return outcome.report.communication.messageSizeCutoff;
  };
  const long long told = topology::eagerLimitToldByMpi();
  EXPECT_EQ(cutoff(strategyParameters("optimal")), told > 0 && ranks() > 1 ? told : topology::defaultEagerLimit);
  Params p = strategyParameters("optimal");
  p.set("Message Size Cutoff", 777);
  EXPECT_EQ(cutoff(p), 777);
  EXPECT_EQ(cutoff(strategyParameters("two-step")), 0) << "it has none";
}

CAPSTAN_FOR_EVERY_SOLVER(Communication);

}  // namespace
}  // namespace capstan::testing
