/// \file
/// The step size of an s-step method.

#include "belos_ext/basis/step_size.hpp"

#include <gtest/gtest.h>

namespace capstan {
namespace {

TEST(StepSize, FixedComesBackWithTheNextCycle) {
  StepSize s;
  s.configure(false, 8);
  s.recall(3);
  EXPECT_EQ(s.current(), 8);
  s.succeeded(8, 1);
  s.succeeded(8, 1e12);
  EXPECT_EQ(s.current(), 8);
  s.failed(8);
  EXPECT_EQ(s.current(), 4);
  s.failed(3);  // a short panel at the end of a cycle
  EXPECT_EQ(s.current(), 1);
  s.failed(1);
  EXPECT_EQ(s.current(), 1);
  s.beginCycle();
  EXPECT_EQ(s.current(), 8);
}

TEST(StepSize, AutomaticFollowsTheConditioningByOneWhereProductsAreCostly) {
  StepSize s;
  s.configure(true, 5);
  s.beginCycle(true);
  s.succeeded(5, 10);
  EXPECT_EQ(s.current(), 6);
  s.succeeded(5, 10);  // shorter than asked: says nothing about 6
  EXPECT_EQ(s.current(), 6);
  s.succeeded(6, 1e5);
  EXPECT_EQ(s.current(), 6);
  s.succeeded(6, 1e7);
  EXPECT_EQ(s.current(), 5);
  s.beginCycle(true);
  EXPECT_EQ(s.current(), 5);
  for (int k = 0; k < 40; ++k) s.succeeded(s.current(), 1);
  const int costly = s.current();
  EXPECT_GT(costly, 8);
  EXPECT_EQ(s.most(), costly);
  s.beginCycle(false);
  for (int k = 0; k < 40; ++k) s.succeeded(s.current(), 1);
  const int most = s.current();
  EXPECT_GT(most, costly);
  EXPECT_EQ(s.most(), most);
  s.recall(most + 100);
  EXPECT_EQ(s.current(), most);
  s.recall(0);
  EXPECT_EQ(s.current(), most);
  s.recall(4);
  EXPECT_EQ(s.current(), 4);
  for (int k = 0; k < 40; ++k) s.succeeded(s.current(), 1e9);
  EXPECT_EQ(s.current(), 1);
  EXPECT_TRUE(StepSize::isStrained(1e9));
  EXPECT_FALSE(StepSize::isStrained(1e2));
}

/// A panel of kappa leads to one of kappa^(t / s) with t steps.
TEST(StepSize, AutomaticGrowsAsFarAsTheConditioningAllowsWhereProductsAreCheap) {
  StepSize s;
  s.configure(true, 6);
  s.beginCycle();
  s.succeeded(6, 1e3);  // 1e4 with 8
  EXPECT_EQ(s.current(), 8);
  s.succeeded(8, 9e3);
  EXPECT_EQ(s.current(), 9) << "one more, though less than one is allowed";
  s.succeeded(9, 2e4);
  EXPECT_EQ(s.current(), 9);
  s.succeeded(9, 1);
  EXPECT_EQ(s.current(), 18) << "no more than twice as many";
  s.succeeded(18, 1);
  EXPECT_EQ(s.current(), s.most());
  s.beginCycle(true);
  EXPECT_EQ(s.current(), s.most()) << "fewer where products are costly";
  EXPECT_LT(s.current(), 18);
}

TEST(StepSize, AutomaticDoesNotGrowBackToWhereItFailed) {
  StepSize s;
  s.configure(true, 6);
  s.failed(6);
  EXPECT_EQ(s.current(), 3);
  for (int k = 0; k < 40; ++k) s.succeeded(s.current(), 1);
  EXPECT_EQ(s.current(), 5);
  s.failed(1);
  EXPECT_EQ(s.current(), 1);
  s.succeeded(1, 1);
  EXPECT_EQ(s.current(), 1);
}

}  // namespace
}  // namespace capstan
