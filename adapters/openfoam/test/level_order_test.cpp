// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/openfoam/level_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "adapters/openfoam/test/faces.hpp"

namespace capstan::foam {
namespace {

TEST_F(LevelOrderTest, SortsAGridByItsDiagonals) {
  // 0 1 2 3 / 4 5 6 7 / 8 9 10 11 / 12 13 14 15: levels of 1, 2, 3, 4, 3, 2 and 1 cells are 16 cells in 7 levels: too
  // few in each.
  EXPECT_FALSE(grid(4, 4).order()->suits());
  // 8 x 8: 15 levels, 64 cells.
  const auto order = grid(8, 8).order();
  ASSERT_TRUE(order->suits());
  const auto& place = order->places();
  EXPECT_EQ(place[0], 0);
  EXPECT_EQ(place[1], 1);  // level 1: cells 1 and 8
  EXPECT_EQ(place[8], 2);
  EXPECT_EQ(place[2], 3);  // level 2: cells 2, 9 and 16
  EXPECT_EQ(place[9], 4);
  EXPECT_EQ(place[16], 5);
  EXPECT_EQ(place[63], 63);
}

TEST_F(LevelOrderTest, EveryRowComesAfterThoseItNeeds) {
  const auto mesh = tangle(500, true);
  const auto order = mesh.order();
  ASSERT_TRUE(order->suits());
  std::vector<int> sorted = order->places();
  for (std::size_t face = 0; face < mesh.faces(); ++face) {
    EXPECT_LT(order->places()[mesh.low(face)], order->places()[mesh.up(face)]);
  }
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) EXPECT_EQ(sorted[i], static_cast<int>(i));
}

TEST_F(LevelOrderTest, DoesNotSuitALineOfCells) { EXPECT_FALSE(grid(100, 1).order()->suits()); }

TEST_F(LevelOrderTest, DoesNotSuitFacesInAnotherOrder) {
  auto mesh = grid(20, 20);
  std::swap(mesh.lower.front(), mesh.lower.back());
  std::swap(mesh.upper.front(), mesh.upper.back());
  EXPECT_FALSE(mesh.order()->suits());
  auto turned = grid(20, 20);
  std::swap(turned.lower[5], turned.upper[5]);
  EXPECT_FALSE(turned.order()->suits());
}

TEST_F(LevelOrderTest, KnowsItsMesh) {
  const auto mesh = grid(20, 20);
  const auto order = mesh.order();
  const auto isOf = [&](const Faces<int>& other) {
    return order->isOf(other.cells, other.faces(), other.lower.data(), other.upper.data());
  };
  EXPECT_TRUE(isOf(mesh));
  EXPECT_FALSE(isOf(grid(20, 21)));
  auto changed = mesh;  // as many cells and faces
  changed.upper[100] += 1;
  EXPECT_FALSE(isOf(changed));
}

TEST_F(LevelOrderTest, IsOfNoUseWithoutCells) { EXPECT_FALSE(Faces<int>().order()->suits()); }

TEST_F(LevelOrderTest, KnowsTheRunOfARow) {
  const auto order = grid(31, 26).order();
  for (std::size_t run = 0; run < order->runs().size(); ++run) {
    EXPECT_EQ(order->runOf(static_cast<std::size_t>(order->runs()[run].first)), run);
    EXPECT_EQ(order->runOf(static_cast<std::size_t>(order->runs()[run].end) - 1), run);
  }
}

}  // namespace
}  // namespace capstan::foam
