#include <gtest/gtest.h>

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

TEST(StateCache, OneForTheProcessAndBounded) {
  StateCache& cache = StateCache::instance();
  EXPECT_EQ(&cache, &StateCache::instance());
  cache.clear();
  for (int i = 0; i < 200; ++i) cache.store(key(std::to_string(i)), state(1));
  EXPECT_EQ(cache.size(), StateCache::defaultCapacity);
  cache.clear();
}

TEST(ParameterOverlay, AsksTheInstalledOneByLabel) {
  EXPECT_TRUE(parameterOverlay("p").is_null());
  setParameterOverlay([](const std::string& label) -> Teuchos::RCP<const Teuchos::ParameterList> {
    if (label == "wrong") throw std::invalid_argument("wrong options");
    auto list = Teuchos::rcp(new Teuchos::ParameterList(label));
    list->set("Step Size", 4);
    return list;
  });
  EXPECT_EQ(parameterOverlay("p")->name(), "p");
  EXPECT_THROW(parameterOverlay("wrong"), std::invalid_argument);
  setParameterOverlay(nullptr);
  EXPECT_TRUE(parameterOverlay("p").is_null());
}

}  // namespace
