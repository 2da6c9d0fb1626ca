#include "tpetra_ext/topology/hypercube/embedded_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tpetra_ext/topology/hypercube/embedded_counts.hpp"
#include "tpetra_ext/topology/test/expect_refused.hpp"
#include "tpetra_ext/topology/test/patterns.hpp"

namespace capstan::topology::test {
namespace {

using Sums = EmbeddedStep::Sums;

/// Rank 1 of 8 sends its one entry to ranks 0, 2, 4 and 6: Fig. 2 of [embedded-cg].
ExchangePattern figure2() {
  std::vector<PeerLists> needs(8);
  for (const int rank : {0, 2, 4, 6}) needs[static_cast<std::size_t>(rank)].append(1, 0);
  return ExchangePattern::fromNeeds(std::vector<LocalIndex>(8, 1), needs);
}

/// Runs plans as messages would, each value being its owner and number, and expects every rank to get what it needs.
void expectDelivers(const std::vector<EmbeddedPlan>& plans, const ExchangePattern& pattern,
                    StepOrder order = StepOrder::Ascending) {
  std::vector<std::vector<ValueId>> places(plans.size());
  for (const EmbeddedPlan& plan : plans) {
    auto& mine = places[static_cast<std::size_t>(plan.rank)];
    mine.resize(static_cast<std::size_t>(plan.slots), {-1, -1});
    for (LocalIndex i = 0; i < plan.owned; ++i) mine[static_cast<std::size_t>(i)] = {plan.rank, i};
  }
  const auto stepWith = [&](int rank, int partner, bool sends) -> const EmbeddedStep& {
    const auto& steps = plans[static_cast<std::size_t>(rank)].steps;
    return *std::find_if(steps.begin(), steps.end(), [&](const EmbeddedStep& step) {
      return step.partner == partner && (sends ? step.sends() : step.receives());
    });
  };
  // In rounds: step k of all, counted from fold in; a rank without a fold begins with its first dimension.
  const int dimensions = plans.front().dimensions;
  for (int round = 0; round < dimensions + 2; ++round) {
    std::vector<std::pair<std::pair<int, int>, std::vector<ValueId>>> messages;
    for (const EmbeddedPlan& plan : plans) {
      for (const EmbeddedStep& step : plan.steps) {
        if (!step.sends()) continue;
        const bool in = step.sums == Sums::Given, out = step.sums == Sums::Returned;
        int its = in ? 0 : dimensions + 1;
        if (!in && !out) {
          const int differs = plan.position ^ plans[static_cast<std::size_t>(step.partner)].position;
          const int dimension = hypercubeDimensions(differs);
          EXPECT_EQ(differs, 1 << dimension);
          its = order == StepOrder::Ascending ? dimension + 1 : dimensions - dimension;
        }
        if (its != round) continue;
        std::vector<ValueId> values;
        for (const Slot slot : step.sent) {
          values.push_back(places[static_cast<std::size_t>(plan.rank)][static_cast<std::size_t>(slot)]);
          EXPECT_GE(values.back().owner, 0) << "sent before it came";
        }
        EXPECT_EQ(std::set<ValueId>(values.begin(), values.end()).size(), values.size()) << "sent twice";
        messages.push_back({{plan.rank, step.partner}, values});
      }
    }
    for (const auto& [ends, values] : messages) {
      const EmbeddedStep& step = stepWith(ends.second, ends.first, false);
      ASSERT_EQ(values.size(), static_cast<std::size_t>(step.end - step.begin));
      std::copy(values.begin(), values.end(), places[static_cast<std::size_t>(ends.second)].begin() + step.begin);
    }
  }
  for (const EmbeddedPlan& plan : plans) {
    const PeerLists& needs = pattern.of(plan.rank).needs;
    ASSERT_EQ(plan.needed.size(), needs.entries.size());
    std::size_t at = 0;
    for (std::size_t k = 0; k < needs.size(); ++k) {
      for (const LocalIndex index : needs.list(k)) {
        const ValueId wanted{needs.peers[k], index};
        const Slot slot = plan.needed[at++];
        EXPECT_EQ(places[static_cast<std::size_t>(plan.rank)][static_cast<std::size_t>(slot)], wanted);
      }
    }
  }
}

TEST(EmbeddedPlan, ForwardsAsInTheFigure) {
  const auto plans = embeddedPlansOf(orderedPositions(8), figure2());
  const auto sent = [&](int rank, int step) {
    return plans[static_cast<std::size_t>(rank)].steps[static_cast<std::size_t>(step)].sent.size();
  };
  // P1 -> P0 in step 1; P0 -> P2 in step 2; P0 -> P4 and P2 -> P6 in step 3. Nothing else travels.
  EXPECT_EQ(sent(1, 0), 1U);
  EXPECT_EQ(sent(0, 1), 1U);
  EXPECT_EQ(sent(0, 2), 1U);
  EXPECT_EQ(sent(2, 2), 1U);
  std::size_t all = 0;
  for (const EmbeddedPlan& plan : plans) {
    EXPECT_EQ(plan.steps.size(), 3U);
    all += plan.valuesSent();
  }
  EXPECT_EQ(all, 4U);
}

TEST(EmbeddedPlan, DeliversForAnyNumberOfRanksAndPositions) {
  for (const int ranks : {1, 2, 3, 4, 5, 6, 7, 8, 11, 16, 17, 31, 33}) {
    for (const Case& given : casesFor(ranks)) {
      SCOPED_TRACE(given.name + ", " + std::to_string(ranks));
      const ExchangePattern pattern = given.pattern();
      expectDelivers(embeddedPlansOf(orderedPositions(ranks), pattern), pattern);
      Positions reversed = orderedPositions(ranks);
      std::reverse(reversed.begin(), reversed.end());
      expectDelivers(embeddedPlansOf(reversed, pattern), pattern);
      expectDelivers(embeddedPlansOf(reversed, pattern, StepOrder::Descending), pattern, StepOrder::Descending);
    }
  }
}

// The study's counts and the plans that are executed are one and the same.
TEST(EmbeddedPlan, SendsWhatTheStudyCounts) {
  for (const int ranks : {1, 2, 3, 8, 13, 16}) {
    for (const Case& given : casesFor(ranks)) {
      const ExchangePattern pattern = given.pattern();
      for (const StepOrder order : {StepOrder::Ascending, StepOrder::Descending}) {
        const Positions positions = randomPositions(ranks, 5);
        const ExchangeCounts counts = embeddedCounts(pattern, positions, NodeMap::uniform(ranks, 2), order);
        long long values = 0, messages = 0;
        for (const EmbeddedPlan& plan : embeddedPlansOf(positions, pattern, order)) {
          values += static_cast<long long>(plan.valuesSent());
          for (const EmbeddedStep& step : plan.steps) messages += step.sends() ? 1 : 0;
        }
        EXPECT_EQ(values, counts.volume) << given.name << ", " << ranks;
        EXPECT_EQ(messages, counts.messages) << given.name << ", " << ranks;
      }
    }
  }
}

TEST(EmbeddedPlan, HasOneMessageADimension) {
  for (const int ranks : {1, 2, 3, 4, 5, 8, 13, 16, 17}) {
    const auto plans = embeddedPlansOf(orderedPositions(ranks), casesFor(ranks).front().pattern());
    const int dimensions = hypercubeDimensions(ranks), folded = ranks - (1 << dimensions);
    for (const EmbeddedPlan& plan : plans) {
      int messages = 0;
      for (const EmbeddedStep& step : plan.steps) messages += step.sends() ? 1 : 0;
      const bool isFolded = plan.position >= 1 << dimensions;
      EXPECT_EQ(messages, isFolded ? 1 : dimensions + (plan.position < folded ? 1 : 0));
    }
  }
}

TEST(EmbeddedPlan, RefusesWhatIsNoPermutation) {
  const ExchangePattern pattern = figure2();
  Positions twice = orderedPositions(8);
  twice[3] = 2;
  expectRefused([&] { embeddedPlansOf(twice, pattern); }, "rank 3 has position 2");
  expectRefused([&] { embeddedPlansOf(orderedPositions(7), pattern); }, "7 positions for 8 ranks");
}

TEST(Hypercube, CornersAndDimensions) {
  EXPECT_EQ(hypercubeDimensions(1), 0);
  EXPECT_EQ(hypercubeDimensions(2), 1);
  EXPECT_EQ(hypercubeDimensions(3), 1);
  EXPECT_EQ(hypercubeDimensions(4), 2);
  EXPECT_EQ(hypercubeDimensions(2048), 11);
  EXPECT_EQ(cornerOf(5, 2), 1U);
  EXPECT_EQ(cornerOf(3, 2), 3U);
}

}  // namespace
}  // namespace capstan::topology::test
