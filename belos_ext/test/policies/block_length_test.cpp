/// \file
/// The block length of pipelined CA-GMRES.

#include "belos_ext/supervision/block_length.hpp"

#include <gtest/gtest.h>

namespace capstan {
namespace {

BlockLength automatic(int start = 5) {
  BlockLength t;
  t.configure(true, start);
  return t;
}

TEST(BlockLength, FixedIsHalvedByABreakdownOnly) {
  BlockLength t;
  t.configure(false, 8);
  t.recall(3);
  t.succeeded(100, 1, 1, true);
  t.succeeded(100, 1e12, 1, true);
  EXPECT_EQ(t.current(), 8);
  t.failed();
  EXPECT_EQ(t.current(), 4);
  t.configure(false, 8);
  EXPECT_EQ(t.current(), 8);
}

TEST(BlockLength, AutomaticGrowsWithCyclesThatGoWell) {
  BlockLength t = automatic();
  t.succeeded(100, 10, 1, false);
  EXPECT_EQ(t.current(), 6);
  t.succeeded(100, 1e3, 1, false);
  EXPECT_EQ(t.current(), 6) << "neither comfortable nor strained";
  t.succeeded(100, 1e6, 1, false);
  EXPECT_EQ(t.current(), 5);
  for (int cycle = 0; cycle < 20; ++cycle) t.succeeded(100, 10, 1, false);
  EXPECT_EQ(t.current(), 10);
}

TEST(BlockLength, ShortSolvesHaveShortBlocks) {
  BlockLength t = automatic();
  t.succeeded(12, 10, 1, true);
  EXPECT_EQ(t.current(), 4) << "9 products ahead of 12 iterations are too many";
  t.succeeded(12, 10, 1, true);
  EXPECT_EQ(t.current(), 3);
  for (int solve = 0; solve < 5; ++solve) t.succeeded(12, 10, 1, true);
  EXPECT_EQ(t.current(), 3);
  t = automatic();
  t.succeeded(4, 10, 1, false);
  EXPECT_EQ(t.current(), 5) << "the last cycle of a long solve";
  t.succeeded(30, 10, 2, false);
  EXPECT_EQ(t.current(), 5) << "17 products ahead would be too many with two blocks in flight";
}

TEST(BlockLength, DoesNotGrowBackToWhereItFailed) {
  BlockLength t = automatic();
  t.failed();
  EXPECT_EQ(t.current(), 2);
  for (int cycle = 0; cycle < 20; ++cycle) t.succeeded(100, 10, 1, false);
  EXPECT_EQ(t.current(), 4);
  for (int cycle = 0; cycle < 20; ++cycle) t.failed();
  EXPECT_EQ(t.current(), 1);
}

TEST(BlockLength, RecallsWithinItsRange) {
  BlockLength t = automatic();
  t.recall(0);
  EXPECT_EQ(t.current(), 5);
  t.recall(7);
  EXPECT_EQ(t.current(), 7);
  t.recall(1000);
  EXPECT_EQ(t.current(), 10);
  t.limit(3);
  EXPECT_EQ(t.current(), 3);
}

}  // namespace
}  // namespace capstan
