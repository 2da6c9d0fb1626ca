#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

#include "belos_ext/manager/state_cache.hpp"
#include "belos_ext/parameters/parameter_overlay.hpp"

namespace {

using namespace capstan;

StateKey key(const std::string& label, long long rows = 100) { return {label, "right", rows, 2}; }

SolverState state(int stepSize) {
  SolverState result;
  result.stepSize = stepSize;
  result.shifts = {{1.0, 2.0}, {1.0, -2.0}};
  result.eigenvalueBounds = EigenvalueBounds{0.5, 4.0};
  result.solves = 1;
  return result;
}

TEST(StateCache, FindsWhatWasStoredUnderTheWholeKey) {
  StateCache cache;
  cache.store(key("p"), state(7));
  const auto found = cache.find(key("p"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->stepSize, 7);
  EXPECT_EQ(found->shifts, state(7).shifts);
  EXPECT_EQ(found->eigenvalueBounds->max, 4.0);
  EXPECT_FALSE(cache.find(key("U")));
  EXPECT_FALSE(cache.find(key("p", 200)));
  StateKey left = key("p");
  left.variant = "left";
  EXPECT_FALSE(cache.find(left));
  StateKey moreRanks = key("p");
  moreRanks.ranks = 3;
  EXPECT_FALSE(cache.find(moreRanks));
}

TEST(StateCache, DropsTheLeastRecentlyUsed) {
  StateCache cache(2);
  cache.store(key("a"), state(1));
  cache.store(key("b"), state(2));
  EXPECT_TRUE(cache.find(key("a")));
  cache.store(key("c"), state(3));
  EXPECT_EQ(cache.size(), 2u);
  EXPECT_TRUE(cache.find(key("a")));
  EXPECT_FALSE(cache.find(key("b")));
  EXPECT_TRUE(cache.find(key("c")));
}

TEST(StateCache, StoringAgainReplaces) {
  StateCache cache(2);
  cache.store(key("a"), state(1));
  cache.store(key("a"), state(9));
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_EQ(cache.find(key("a"))->stepSize, 9);
}

TEST(StateCache, ErasesOneAndAll) {
  StateCache cache;
  cache.store(key("a"), state(1));
  cache.store(key("b"), state(1));
  cache.erase(key("a"));
  EXPECT_FALSE(cache.find(key("a")));
  EXPECT_TRUE(cache.find(key("b")));
  cache.clear();
  EXPECT_EQ(cache.size(), 0u);
}

/// A plan as communication plans will be kept: its content differs between ranks, its checksum does not.
class Plan final : public KeptObject {
 public:
  Plan(std::uint64_t made, std::size_t size) : made_(made), size_(size) {}
  std::uint64_t checksum() const override { return made_; }
  std::size_t bytes() const override { return size_; }

 private:
  std::uint64_t made_;
  std::size_t size_;
};

class OtherPlan final : public KeptObject {
 public:
  std::uint64_t checksum() const override { return 0; }
  std::size_t bytes() const override { return 0; }
};

SolverState withPlan(std::uint64_t made, std::size_t size) {
  SolverState result = state(3);
  result.objects["plan"] = std::make_shared<Plan>(made, size);
  return result;
}

TEST(StateCache, KeepsObjects) {
  StateCache cache;
  cache.store(key("p"), withPlan(5, 10));
  const auto plan = cache.find(key("p"))->object<Plan>("plan");
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->checksum(), 5U);
  EXPECT_EQ(cache.find(key("p"))->object<OtherPlan>("plan"), nullptr) << "of another type";
  EXPECT_EQ(cache.find(key("p"))->object<Plan>("mapping"), nullptr) << "of another name";
  cache.clear();
  EXPECT_EQ(plan->bytes(), 10U) << "whoever took it out holds it";
}

TEST(StateCache, BoundsTheMemoryOfObjects) {
  StateCache cache(8, 100);
  cache.store(key("a"), withPlan(1, 60));
  cache.store(key("b"), withPlan(2, 40));
  EXPECT_EQ(cache.size(), 2U);
  cache.find(key("a"));
  cache.store(key("c"), withPlan(3, 1));
  EXPECT_FALSE(cache.find(key("b"))) << "the least recently used";
  EXPECT_TRUE(cache.find(key("a")));
  cache.store(key("a"), withPlan(1, 99));
  EXPECT_TRUE(cache.find(key("c"))) << "what was replaced does not count";
  cache.store(key("d"), withPlan(4, 101));
  ASSERT_TRUE(cache.find(key("d"))) << "numbers are kept";
  EXPECT_EQ(cache.find(key("d"))->object<Plan>("plan"), nullptr) << "too large alone";
  EXPECT_TRUE(cache.find(key("a"))->object<Plan>("plan"));
}

TEST(StateCache, RanksCompareObjectsByTheirChecksums) {
  const std::uint64_t of = checksumOf(withPlan(5, 10));
  EXPECT_EQ(of, checksumOf(withPlan(5, 70))) << "each rank has its part";
  EXPECT_NE(of, checksumOf(withPlan(6, 10)));
  EXPECT_NE(of, checksumOf(state(3)));
  SolverState renamed = state(3);
  renamed.objects["mapping"] = withPlan(5, 10).objects["plan"];
  EXPECT_NE(of, checksumOf(renamed));
}

// What ranks hold equal by their checksums, they use alike.
TEST(StateCache, NumbersOfOneChecksumAreOneNumber) {
  SolverState one = state(3), other = one;
  one.productRounding = 1.23456789e-12;
  other.productRounding = one.productRounding * (1 + 1e-12);
  ASSERT_EQ(checksumOf(one), checksumOf(other));
  EXPECT_EQ(rounded(one).productRounding, rounded(other).productRounding);
}

TEST(StateCache, OneForTheProcessAndBounded) {
  StateCache& cache = StateCache::instance();
  EXPECT_EQ(&cache, &StateCache::instance());
  cache.clear();
  for (int i = 0; i < 200; ++i) cache.store(key(std::to_string(i)), state(1));
  EXPECT_EQ(cache.size(), StateCache::defaultCapacity);
  cache.clear();
}

TEST(ParameterOverlay, AsksTheInstalledOneForEachSolve) {
  SolveFacts facts;
  facts.label = "p";
  EXPECT_TRUE(parameterOverlay(facts).is_null());
  setParameterOverlay([](const SolveFacts& solve) -> Teuchos::RCP<const Teuchos::ParameterList> {
    if (solve.label == "wrong") throw std::invalid_argument("wrong options");
    auto list = Teuchos::rcp(new Teuchos::ParameterList(solve.label));
    list->set("Step Size", 4);
    return list;
  });
  EXPECT_EQ(parameterOverlay(facts)->name(), "p");
  facts.label = "wrong";
  EXPECT_THROW(parameterOverlay(facts), std::invalid_argument);
  setParameterOverlay(nullptr);
  EXPECT_TRUE(parameterOverlay(facts).is_null());
}

}  // namespace
