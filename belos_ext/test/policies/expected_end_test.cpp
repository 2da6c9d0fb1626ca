/// \file
/// ExpectedEnd: guesses by hand.

#include "belos_ext/convergence/expected_end.hpp"

#include <gtest/gtest.h>

namespace capstan::testing {
namespace {

constexpr auto byRate = ExpectedEnd::TooEarly::CostsReductions, byMost = ExpectedEnd::TooEarly::CostsProduct;

/// A solve that begins at 1 and gains `digits` a step.
void advance(ExpectedEnd& end, int from, int steps, double digits) {
  for (int k = from + 1; k <= from + steps; ++k) end.observe(std::pow(10.0, -digits * k));
}

TEST(ExpectedEnd, KnowsNothingAtFirst) {
  ExpectedEnd end;
  end.begin(0, 1);
  EXPECT_EQ(end.remaining(1e-8), ExpectedEnd::unknown);
  EXPECT_EQ(end.nextPanel(1e-8, 5), 5);
  end.observe(0.1);
  EXPECT_EQ(end.remaining(1e-8), ExpectedEnd::unknown) << "one step tells nothing";
}

TEST(ExpectedEnd, FollowsTheRate) {
  ExpectedEnd end;
  end.begin(0, 1);
  advance(end, 0, 4, 1);
  EXPECT_EQ(end.remaining(1e-8), 4);
  EXPECT_EQ(end.remaining(1e-3), 1) << "never none";
  advance(end, 4, 3, 1);
  EXPECT_EQ(end.remaining(1e-8), 1);
  end.begin(7, 1e-7);
  end.observe(1e-7);
  end.observe(2e-7);
  EXPECT_EQ(end.remaining(1e-8), ExpectedEnd::unknown) << "no end without a gain";
}

TEST(ExpectedEnd, EarlierSolvesSayHowFarAllHadToGo) {
  ExpectedEnd end;
  end.recall({12, 9, 11});
  end.begin(0, 1);
  EXPECT_EQ(end.remaining(1e-8), 9);
  end.observe(0.9);
  end.observe(0.8);
  EXPECT_EQ(end.remaining(1e-8), 7) << "two slow steps say less than they";
  end.begin(0, 1);
  advance(end, 0, 4, 2);
  EXPECT_EQ(end.remaining(1e-9), 1) << "this solve is faster: nearly half a step is left";
  end.begin(0, 1);
  advance(end, 0, 9, 0.5);
  EXPECT_EQ(end.remaining(1e-8), 7) << "and this one slower: the rate alone counts";
  end.forget();
  end.begin(0, 1);
  EXPECT_EQ(end.remaining(1e-8), ExpectedEnd::unknown);
}

// As the guesses of earlier solves make them: some are over at once.
TEST(ExpectedEnd, PassesFromEarlierEndToEarlierEndWhileTheRateIsUnknown) {
  ExpectedEnd end;
  end.recall({0, 3, 1, 1});
  end.begin(0, 1);
  EXPECT_EQ(end.remaining(1e-8), 1);
  EXPECT_EQ(end.nextPanel(1e-8, 16), 1);
  end.observe(0.9);
  EXPECT_EQ(end.remaining(1e-8), 2);
  EXPECT_EQ(end.nextPanel(1e-8, 16), 2);
  end.observe(0.8);
  end.observe(0.8);
  EXPECT_EQ(end.nextPanel(1e-8, 16), 16) << "later than all before it: the rate alone counts";
  end.recall({1});
  end.begin(1, 1);
  EXPECT_EQ(end.nextPanel(1e-8, 16), 1) << "nothing is known: as if it ended at once";
  EXPECT_EQ(end.nextPanel(1e-8, 16), 2) << "and twice as many each time it does not";
  end.recall({0, 3, 1, 1});
  EXPECT_EQ(end.likely(1e-8, byRate), ExpectedEnd::unknown);
}

TEST(ExpectedEnd, IsLikelyWhereEarlierSolvesEndedAndTheRateDoesNotContradict) {
  ExpectedEnd end;
  const double rate = std::pow(10, -0.5);
  end.recall({12, 10, 11});
  end.begin(0, 1);
  EXPECT_EQ(end.likely(1e-5, byRate), 10) << "no rate yet: the shortest";
  double residual = 1;
  for (int k = 0; k < 6; ++k) end.observe(residual *= rate);
  EXPECT_EQ(end.likely(1e-2, byRate), 4) << "never sooner than all before it";
  EXPECT_EQ(end.likely(std::pow(10, -5.5), byRate), 5);
  EXPECT_EQ(end.likely(1e-6, byRate), 6);
  EXPECT_EQ(end.likely(std::pow(10, -6.5), byRate), 6) << "one behind the longest";
  EXPECT_EQ(end.likely(1e-7, byRate), 6);
  EXPECT_EQ(end.likely(std::pow(10, -7.5), byRate), 9) << "farther: the rate";
  end.recall({11, 12, 11});
  EXPECT_EQ(end.likely(1e-5, byRate), 5);
  EXPECT_EQ(end.likely(1e-5, byMost), 5) << "most ended there";
  end.recall({11, 12, 12});
  EXPECT_EQ(end.likely(1e-5, byRate), 5);
  EXPECT_EQ(end.likely(1e-5, byMost), 6);
  for (const auto tooEarly : {byRate, byMost}) {
    EXPECT_EQ(end.likely(1e-7, tooEarly), 6);
    EXPECT_EQ(end.likely(1e-10, tooEarly), 6) << "earlier solves are alike: 14 by the rate are still near 6";
    EXPECT_EQ(end.likely(std::pow(10, -10.5), tooEarly), 15);
  }
}

// Some solves take one iteration more: the panel behind the usual end has that one step.
TEST(ExpectedEnd, GoesOnToTheEndOfALongerSolveAndNotBeyond) {
  ExpectedEnd end;
  end.recall({10, 11, 11, 10});
  end.begin(0, 1);
  EXPECT_EQ(end.nextPanel(1e-8, 16), 10);
  advance(end, 0, 10, 0.79);
  EXPECT_EQ(end.nextPanel(1e-8, 16), 1);
  end.observe(1.1e-8);
  EXPECT_EQ(end.nextPanel(1e-8, 16), 4) << "beyond all of them";
}

TEST(ExpectedEnd, MakesFewPanelsOfEqualLength) {
  ExpectedEnd end;
  end.recall({11});
  end.begin(0, 1);
  EXPECT_EQ(end.nextPanel(0, 16), 11);
  end.begin(0, 1);
  EXPECT_EQ(end.nextPanel(0, 10), 6);
  end.begin(6, 1);
  EXPECT_EQ(end.nextPanel(0, 10), 5);
  end.begin(0, 1);
  EXPECT_EQ(end.nextPanel(0, 5), 4);
  end.begin(10, 1);
  EXPECT_EQ(end.nextPanel(0, 5), 1);
}

TEST(ExpectedEnd, WhereTheEndDoesNotComePanelsGrowAgain) {
  ExpectedEnd end;
  end.begin(0, 1);
  advance(end, 0, 7, 1);
  EXPECT_EQ(end.nextPanel(1e-8, 8), 1);
  for (const int panel : {2, 4, 8, 8}) {
    for (int k = 0; k < 10; ++k) end.observe(1e-7);  // no gain any more
    end.observe(1e-8 * 2);
    EXPECT_EQ(end.nextPanel(1e-8, 8), panel);
  }
}

// A residual measured in another norm moves the target: the rate has been right.
TEST(ExpectedEnd, MayMoveWithoutLongerPanels) {
  ExpectedEnd end;
  end.begin(0, 1);
  advance(end, 0, 7, 1);
  EXPECT_EQ(end.nextPanel(1e-8, 8), 1);
  end.observe(1e-8);
  EXPECT_EQ(end.nextPanel(9e-9, 8), 2) << "hardly moved";
  end.observe(1e-9);
  EXPECT_EQ(end.nextPanel(1e-10, 8), 1);
  end.observe(1e-10);
  EXPECT_EQ(end.nextPanel(1e-10, 8), 2);
}

}  // namespace
}  // namespace capstan::testing
