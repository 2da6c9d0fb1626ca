/// \file
/// "Initial Guess" where ranks differ: in what they have kept, in their parameters, in whom they have solved with.

#include <memory>
#include <stdexcept>

#include "belos_ext/test/solvers/guess_suite.hpp"

namespace capstan::testing {
namespace {

class GuessRanks : public Guess {
 protected:
  void SetUp() override {
    if (ranks() == 1) GTEST_SKIP() << "needs several ranks";
    Guess::SetUp();
  }

  /// The message of the exception a solve ends with on every rank, or nothing.
  static std::string complaint(const Params& p, size_t columns) {
    std::string text;
    try {
      solve(GetParam(), p, systemWithRightHandSide(grid2d(12, 12), wave, columns), Side::Right);
    } catch (const std::invalid_argument& error) {
      text = error.what();
    }
    std::vector<double> letters(400, 0);
    for (size_t i = 0; i < text.size() && i < letters.size(); ++i) letters[i] = text[i];
    expectSameOnAllRanks(letters);
    return text;
  }
};

TEST_P(GuessRanks, WhatOneRankHasLostAllForget) {
  const auto a = matrix();
  for (const size_t columns : {size_t(1), size_t(3)}) {
    for (const int loser : {0, ranks() - 1}) {
      SCOPED_TRACE(std::to_string(columns) + " columns, lost on rank " + std::to_string(loser));
      const auto system = [&] {
        System made = systemWithRightHandSide(a, first, columns);
        if (columns > 1) made.x->putScalar(1);  // a product comes before the first reduction, and the question with it
        return made;
      };
      forgetAll();
      for (int k = 0; k < 3; ++k) anew(system(), guessing("projection 4", k == 0 ? 1e-12 : 1e-8));
      if (rank() == loser) GuessStore::instance().clear();
      const Outcome outcome = anew(system(), guessing("projection 4", 1e-12));
      EXPECT_TRUE(outcome.converged);
      EXPECT_EQ(guess(outcome).vectors, 0);
      EXPECT_GT(outcome.iterations, 0);
      for (int k = 0; k < 2; ++k) anew(system(), guessing("projection 4", 1e-12));
      EXPECT_EQ(anew(system(), guessing("projection 4")).iterations, 0) << "learnt anew";
    }
  }
}

// From the first solve on, and where it begins in the middle of a run.
TEST_P(GuessRanks, ParametersThatDifferAreNamed) {
  const auto set = [](const std::string& mine, const std::string& theirs) {
    return guessing(rank() == ranks() - 1 ? mine : theirs);
  };
  for (const size_t columns : {size_t(1), size_t(3)}) {
    for (const std::string before : {"application", "projection 3", "extrapolation 2"}) {
      if (columns > 1 && before != "projection 3") continue;
      for (const std::string mine : {"application", "projection 4", "extrapolation 1"}) {
        SCOPED_TRACE(before + ", then " + mine);
        for (int k = 0; k < 2; ++k) EXPECT_EQ(complaint(guessing(before), columns), "");
        const std::string text = complaint(set(mine, "projection 2"), columns);
        EXPECT_NE(text.find("\"Initial Guess\""), std::string::npos) << text;
        EXPECT_NE(text.find("rank " + std::to_string(ranks() - 1)), std::string::npos) << text;
        EXPECT_EQ(complaint(guessing(before), columns), "");
      }
    }
  }
}

TEST_P(GuessRanks, OfOtherCommunicatorsIsForgotten) {
  if (ranks() != 4) GTEST_SKIP() << "needs 4 ranks";
  const auto half = [](int color) { return Tpetra::getDefaultComm()->split(color, rank()); };
  const auto before = half(rank() / 2), after = half(rank() % 2);
  const auto on = [](const RCP<const Teuchos::Comm<int>>& comm, Scalar factor) {
    return systemWithSolution(grid2d(12, 12, 0, evenMap(144, comm)), [=](GO g) { return factor * first(g); });
  };
  for (const bool used : {false, true}) {  // whether the later communicators have had guesses before
    forgetAll();
    if (used) {
      for (int k = 0; k < 2; ++k) solve(GetParam(), guessing("projection 4"), on(after, 1));
      forgetAll();
    }
    for (int k = 0; k < 3; ++k) {
      const Outcome outcome = solve(GetParam(), guessing("projection 4", k == 0 ? 1e-12 : 1e-8), on(before, k + 1));
      EXPECT_EQ(outcome.iterations == 0, k > 0);
    }
    const Outcome mixed = solve(GetParam(), guessing("projection 4", 1e-12), on(after, 5));
    EXPECT_TRUE(mixed.converged);
    EXPECT_EQ(guess(mixed).vectors, 0);
    EXPECT_GT(mixed.iterations, 0);
    for (int k = 0; k < 2; ++k) solve(GetParam(), guessing("projection 4", 1e-12), on(after, 5));
    EXPECT_EQ(solve(GetParam(), guessing("projection 4"), on(after, 6)).iterations, 0);
  }
}

CAPSTAN_FOR_EVERY_SOLVER(GuessRanks);

/// Something of a size.
class Kept final : public KeptGuess {
 public:
  Kept(std::size_t size, int* alive) : size_(size), alive_(alive) { ++*alive_; }
  ~Kept() override { --*alive_; }
  std::size_t bytes() const override { return size_; }

 private:
  std::size_t size_;
  int* alive_;
};

TEST(GuessStore, BoundsItsMemoryAndDropsTheLeastRecentlyUsed) {
  int alive = 0;
  {
    GuessStore store(100);
    const auto key = [](const std::string& label) { return StateKey{label, "", 10, 1}; };
    const auto put = [&](const std::string& label, std::size_t size) {
      return store.put(key(label), std::make_shared<Kept>(size, &alive));
    };
    EXPECT_TRUE(put("a", 50));
    EXPECT_TRUE(put("b", 50));
    EXPECT_EQ(store.bytes(), 100U);
    EXPECT_TRUE(store.put(key("a"), store.take(key("a")))) << "used again";
    EXPECT_TRUE(put("c", 40));
    EXPECT_EQ(store.take(key("b")), nullptr);
    EXPECT_EQ(store.bytes(), 90U);
    EXPECT_FALSE(put("a", 101)) << "too large, and the old one is gone";
    EXPECT_EQ(store.size(), 1U);
    EXPECT_EQ(alive, 1);
    EXPECT_TRUE(put("c", 10)) << "replaces";
    EXPECT_EQ(store.bytes(), 10U);
    store.erase(key("c"));
    EXPECT_EQ(alive, 0);
    put("d", 1);
    store.clear();
    EXPECT_EQ(store.size(), 0U);
    put("e", 1);
  }
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace capstan::testing
