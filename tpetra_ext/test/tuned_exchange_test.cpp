#include "tpetra_ext/operators/tuned_exchange.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <Tpetra_CrsMatrix.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "tpetra_ext/compat/local_views.hpp"
#include "tpetra_ext/operators/node_aware_operator.hpp"
#include "tpetra_ext/test/support/case_matrix.hpp"
#include "tpetra_ext/test/support/counted_mpi.hpp"
#include "tpetra_ext/topology/test/distributed_case.hpp"
#include "tpetra_ext/topology/test/expect_refused.hpp"

namespace capstan::test {
namespace {

using topology::PlanOptions;
using topology::Strategy;
using topology::test::casesFor;
using topology::test::expectRefused;
using Candidates = std::vector<ExchangeCandidate>;
using Operator = Types::Operator;
using ConstMatrixPtr = Teuchos::RCP<const CrsMatrix>;

ConstMatrixPtr randomlyNumbered() { return matrixOf(casesFor(world()->getSize())[1], true); }

void expectSameProduct(const Operator& got, const Operator& wanted) {
  const MultiVector x = filled(wanted.getDomainMap(), 3, 1);
  MultiVector y(wanted.getRangeMap(), 3), difference(wanted.getRangeMap(), 3);
  wanted.apply(x, difference);
  got.apply(x, y);
  compat::handOver<Types::ExecutionSpace>("the test");
  difference.update(-1, y, 1);
  Teuchos::Array<Types::Magnitude> norms(3);
  difference.normInf(norms());
  for (const auto norm : norms) EXPECT_EQ(norm, 0);
}

TEST(ChosenOf, KeepsTheFirstUnlessAnotherOneIsFasterByMoreThanTheMargin) {
  const auto chosen = [](const Candidates& candidates) { return chosenOf(candidates, 0.02); };
  EXPECT_EQ(chosen({}), 0U);
  EXPECT_EQ(chosen({{"a", 1}}), 0U);
  EXPECT_EQ(chosen({{"a", 1}, {"b", 2}}), 0U);
  EXPECT_EQ(chosen({{"a", 1.019}, {"b", 1}}), 0U);
  EXPECT_EQ(chosen({{"a", 1.021}, {"b", 1}}), 1U);
  EXPECT_EQ(chosen({{"a", 3}, {"b", 2}, {"c", 1}, {"d", 2}}), 2U);
  EXPECT_EQ(chosenOf({{"a", 1.001}, {"b", 1}}, 0), 1U);
}

TEST(ComparisonOf, IsWonByTheMarginInThreeRoundsOfFour) {
  const std::vector<double> ones(4, 1.0);
  const auto won = [&](const std::vector<double>& candidate) { return comparisonOf(ones, candidate, 0.02).isWon(); };
  EXPECT_TRUE(won({0.9, 0.9, 0.9, 5}));
  EXPECT_FALSE(won({0.9, 0.99, 0.99, 0.1}));  // by less than the margin twice
  EXPECT_TRUE(won({0.9, 0.98, 0.99, 0.1}));
  EXPECT_FALSE(won({0.9, 0.9, 2, 2}));
  const TimingComparison comparison = comparisonOf({1, 2, 4}, {1.1, 1, 3}, 0.02);
  EXPECT_EQ(comparison.rounds, 3);
  EXPECT_EQ(comparison.won, 2);
  EXPECT_EQ(comparison.ratio, 0.75);
  EXPECT_FALSE(comparison.isWon());
  EXPECT_FALSE(TimingComparison().isWon());
}

TEST(TuneExchange, TriesAllAndAgreesOnAllRanks) {
  const ConstMatrixPtr matrix = randomlyNumbered();
  TuningOptions options;
  options.columns = 4;
  options.ranksPerNode = 2;
  const TunedExchange tuned = tuneExchange<Types>(matrix, options);
  const int ranks = world()->getSize();
  std::vector<std::string> names;
  for (const ExchangeCandidate& candidate : tuned.candidates) {
    names.push_back(candidate.name);
    EXPECT_GT(candidate.seconds, 0);
  }
  if (ranks == 1) {
    EXPECT_EQ(names, std::vector<std::string>());
    EXPECT_EQ(tuned.reason, "tpetra: one rank has nothing to exchange");
    EXPECT_EQ(tuned.exchange, nullptr);
    return;
  }
  if (ranks == 2) {
    EXPECT_EQ(names, (std::vector<std::string>{"tpetra", "standard", "neighbourhood"}));
  } else {
    EXPECT_EQ(names,
              (std::vector<std::string>{"tpetra", "standard", "two-step", "three-step", "optimal", "neighbourhood"}));
  }
  // What is said is what was measured, and the same everywhere.
  const auto chosen = static_cast<std::size_t>(std::find(names.begin(), names.end(), tuned.name) - names.begin());
  ASSERT_LT(chosen, names.size());
  // It beats the first one by the margin, or the second one where that does so; or what seemed to has lost.
  const auto& all = tuned.candidates;
  if (tuned.reason.find(" seemed faster, but in ") != std::string::npos) {
    EXPECT_LE(chosen, 1U);
  } else if (chosen == 0) {
    EXPECT_EQ(chosenOf(all, options.margin), 0U);
  } else {
    const std::size_t current = chosen == 1 ? 0 : chosenOf({all[0], all[1]}, options.margin);
    EXPECT_GT(all[current].seconds, (1 + options.margin) * all[chosen].seconds);
  }
  EXPECT_EQ(tuned.exchange == nullptr, chosen == 0);
  EXPECT_EQ(tuned.reason.find(tuned.name + ": "), 0U) << tuned.reason;
  EXPECT_GT(tuned.setupSeconds, 0);
  double theirs[2] = {static_cast<double>(chosen), tuned.setupSeconds};
  MPI_Bcast(theirs, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  EXPECT_EQ(theirs[0], static_cast<double>(chosen));
  EXPECT_EQ(theirs[1], tuned.setupSeconds);
  const auto product = productBy<Types>(matrix, tuned);
  EXPECT_EQ(product.reason, tuned.reason);
  expectSameProduct(*product.product, *matrix);
}

TEST(TuneExchange, OnNodesOfOneRankAllStrategiesAreTheStandardOne) {
  if (world()->getSize() == 1) return;  // nothing is tried there, see above
  TuningOptions options;
  options.ranksPerNode = 1;
  EXPECT_EQ(tuneExchange<Types>(randomlyNumbered(), options).candidates.size(), 3U);
}

TEST(TuneExchange, ReducesTheTimesAtOnce) {
  const ConstMatrixPtr matrix = randomlyNumbered();
  TuningOptions options;
  options.ranksPerNode = 2;
  long reductions[2];
  for (const int more : {0, 1}) {
    options.rounds = 3 + 4 * more;
    options.margin = 1e9;  // no second trial, which would be one more
    resetMpiCalls();
    tuneExchange<Types>(matrix, options);
    reductions[more] = mpiCalls().allreduce;
  }
  EXPECT_EQ(reductions[0], reductions[1]);
}

TEST(TuneExchange, RefusesBadOptions) {
  const ConstMatrixPtr matrix = randomlyNumbered();
  const auto refused = [&](const TuningOptions& options, const std::string& part) {
    expectRefused([&] { tuneExchange<Types>(matrix, options); }, part);
  };
  TuningOptions options;
  options.columns = 0;
  refused(options, "columns: 0; allowed: 1 or more");
  options = {};
  options.rounds = 0;
  refused(options, "rounds: 0");
  options = {};
  options.comparisonRounds = 0;
  refused(options, "rounds of a comparison: 0");
  options = {};
  options.margin = -1;
  refused(options, "margin: -1");
  options = {};
  options.eagerLimit = 0;
  refused(options, "eager limit in bytes: 0");
  expectRefused([] { tuneExchange<Types>(Teuchos::null); }, "fill-complete");
  expectRefused([&] { tuneExchange<Types>(Teuchos::rcp(new CrsMatrix(matrix->getRowMap(), 1))); }, "fill-complete");
  options = {};
  options.ranksPerNode = -3;
  refused(options, "ranks per node: -3; allowed: 0 or more");
}

/// Twice the vector.
class Twice final : public Operator {
 public:
  explicit Twice(MapPtr map) : map_(std::move(map)) {}
  MapPtr getDomainMap() const override { return map_; }
  MapPtr getRangeMap() const override { return map_; }
  void apply(const MultiVector& X, MultiVector& Y, Teuchos::ETransp, Scalar, Scalar) const override {
    Y.update(2, X, 0);
  }

 private:
  MapPtr map_;
};

TEST(ProductBy, UsesThePlanAskedForWhereItCan) {
  const ConstMatrixPtr matrix = randomlyNumbered();
  PlanOptions options;
  for (const Strategy strategy : topology::allStrategies) {
    options.strategy = strategy;
    const auto chosen = productBy<Types>(Teuchos::rcp_implicit_cast<const Operator>(matrix), options, 2);
    const auto* ours = dynamic_cast<const NodeAwareOperator<Types>*>(chosen.product.get());
    ASSERT_NE(ours, nullptr);
    EXPECT_EQ(ours->exchange().plan.strategy, strategy);
    EXPECT_EQ(chosen.reason, std::string(nameOf(strategy)) + ", as asked for");
    expectSameProduct(*ours, *matrix);
  }
}

TEST(ProductBy, LeavesOtherOperatorsAlone) {
  const Teuchos::RCP<const Operator> twice = Teuchos::rcp(new Twice(mapOfLocal(3)));
  const auto chosen = productBy<Types>(twice, PlanOptions());
  EXPECT_EQ(chosen.product, twice);
  EXPECT_EQ(chosen.reason, "the operator's own exchange: it is not a Tpetra::CrsMatrix");
  expectRefused([] { productBy<Types>(Teuchos::RCP<const Operator>(), PlanOptions()); }, "null pointer");
  expectRefused([] { productBy<Types>(ConstMatrixPtr(), TunedExchange()); }, "null pointer");
  const ConstMatrixPtr matrix = randomlyNumbered();
  EXPECT_EQ(productBy<Types>(matrix, TunedExchange()).product, matrix);
}

}  // namespace
}  // namespace capstan::test
