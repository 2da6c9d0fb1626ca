#include <gtest/gtest.h>

#include <utility>

#include "tpetra_ext/topology/hypercube/all_swaps.hpp"
#include "tpetra_ext/topology/hypercube/neighbour_swaps.hpp"
#include "tpetra_ext/topology/test/shared_cases.hpp"

namespace capstan::topology {
namespace {

struct Shape {
  int ranks, lists, most;
};
// Powers of two and others; short lists, lists of nearly all ranks, no lists.
const Shape shapes[] = {{1, 0, 2},   {2, 3, 2},    {3, 6, 3},   {8, 30, 3}, {8, 5, 8},
                        {12, 40, 4}, {16, 60, 12}, {23, 50, 5}, {32, 0, 2}, {32, 90, 6}};

MappingProblem problemOf(const Shape& shape, std::uint64_t seed) {
  MappingProblem problem;
  problem.dimensions = hypercubeDimensions(shape.ranks);
  problem.positions = randomPositions(shape.ranks, seed);
  problem.group.assign(static_cast<std::size_t>(shape.ranks), 0);
  problem.values = test::randomValues(shape.ranks, shape.lists, shape.most, seed);
  return problem;
}

long long costOf(const MappingProblem& problem) { return mappingCost(problem.values, problem.positions); }

void swapIn(MappingProblem& problem, const Swap& swap) {
  std::swap(problem.positions[static_cast<std::size_t>(swap.a)], problem.positions[static_cast<std::size_t>(swap.b)]);
}

/// Every gain of every swap that is left is what counting anew says, and the best is the largest.
template <class Search>
void expectGains(const Search& search, const MappingProblem& problem) {
  const long long cost = costOf(problem);
  EXPECT_EQ(search.counts().cost(), cost);
  const auto left = search.left();
  for (const Swap& swap : left) {
    MappingProblem other = problem;
    swapIn(other, swap);
    EXPECT_EQ(swap.gain, cost - costOf(other)) << swap.a << " and " << swap.b;
    EXPECT_EQ(swap.gain, search.counts().gain(swap.a, swap.b));
    EXPECT_GE(search.best()->gain, swap.gain);
  }
  EXPECT_EQ(search.best().has_value(), !left.empty());
}

/// Passes of random swaps, each until none is left.
template <class Search>
void walk(MappingProblem problem, std::uint64_t seed) {
  test::Random random(seed);
  for (int pass = 0; pass < 3; ++pass) {
    Search search(problem);
    for (;;) {
      expectGains(search, problem);
      const auto left = search.left();
      if (left.empty()) break;
      const Swap swap = left[static_cast<std::size_t>(random.below(static_cast<long long>(left.size())))];
      search.apply(swap);
      swapIn(problem, swap);
    }
  }
}

TEST(MappingGains, AreThoseOfRecomputationAlongRandomWalks) {
  for (const Shape& shape : shapes) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      SCOPED_TRACE(std::to_string(shape.ranks) + " ranks, seed " + std::to_string(seed));
      walk<NeighbourSwaps>(problemOf(shape, seed), seed);
      walk<AllSwaps>(problemOf(shape, seed), seed);
    }
  }
}

TEST(MappingGains, AreThoseOfRecomputationWithinGroups) {
  for (const Shape& shape : shapes) {
    auto problem = problemOf(shape, 7);
    for (int rank = 0; rank < shape.ranks; ++rank) {
      problem.group[static_cast<std::size_t>(rank)] = problem.positions[static_cast<std::size_t>(rank)] / 4;
    }
    walk<NeighbourSwaps>(problem, 7);
    walk<AllSwaps>(problem, 7);
  }
}

TEST(MappingGains, BestSwapsOfAPassAreTheLargest) {
  for (const Shape& shape : shapes) {
    auto problem = problemOf(shape, 3);
    const auto follow = [&](auto search, MappingProblem now) {
      while (const auto swap = search.best()) {
        search.apply(*swap);
        swapIn(now, *swap);
        expectGains(search, now);
      }
    };
    follow(NeighbourSwaps(problem), problem);
    follow(AllSwaps(problem), problem);
  }
}

TEST(MappingGains, NeighboursAreTheEdgesOfTheHypercube) {
  EXPECT_EQ(NeighbourSwaps(problemOf({16, 0, 2}, 1)).left().size(), 32U);  // K lg K / 2
  EXPECT_EQ(AllSwaps(problemOf({16, 0, 2}, 1)).left().size(), 120U);       // K (K - 1) / 2
  // Six ranks: a square, two corners of which, neighbours, have two.
  EXPECT_EQ(NeighbourSwaps(problemOf({6, 0, 2}, 1)).left().size(), 4U + 2U + 2U + 1U);
  EXPECT_EQ(AllSwaps(problemOf({6, 0, 2}, 1)).left().size(), 15U - 2U);
  EXPECT_TRUE(NeighbourSwaps(problemOf({1, 0, 2}, 1)).left().empty());
}

TEST(MappingGains, TheLargestOfNumbersIsFoundAgain) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{5}, std::size_t{33}}) {
    test::Random random(size);
    std::vector<long long> numbers(size);
    for (auto& number : numbers) number = random.below(50);
    LargestOf largest(numbers);
    for (int step = 0; step < 200; ++step) {
      const auto first = std::max_element(numbers.begin(), numbers.end());
      EXPECT_EQ(largest.place(), static_cast<std::size_t>(first - numbers.begin()));
      const auto place = static_cast<std::size_t>(random.below(static_cast<long long>(size)));
      numbers[place] = random.below(50);
      largest.update(numbers, place);
    }
  }
}

}  // namespace
}  // namespace capstan::topology
