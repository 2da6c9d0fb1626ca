#include <gtest/gtest.h>

#include <Teuchos_Describable.hpp>

#include "belos_ext/manager/system_numbers.hpp"

namespace {

using namespace capstan;
using Teuchos::RCP;

struct Matrix : Teuchos::Describable {};

RCP<const Teuchos::Describable> matrix() { return Teuchos::rcp(new Matrix); }

const SystemLook usual{"pressure", 100, 500};

TEST(SystemNumbers, AnObjectKeepsItsNumberWhateverItLooksLike) {
  SystemNumbers numbers;
  const auto a = matrix(), b = matrix();
  EXPECT_EQ(numbers.next(a, usual), 1);
  EXPECT_EQ(numbers.next(b, usual), 2);
  EXPECT_EQ(numbers.next(a, {"other", 7, -1}), 1);
  EXPECT_EQ(numbers.next(b, usual), 2);
}

TEST(SystemNumbers, WhatIsGoneIsFollowedByWhatLooksTheSame) {
  SystemNumbers numbers;
  auto a = matrix(), b = matrix(), c = matrix();
  EXPECT_EQ(numbers.next(a, usual), 1);
  EXPECT_EQ(numbers.next(b, {"pressure", 200, 900}), 2);
  EXPECT_EQ(numbers.next(c, {"momentum", 100, 500}), 3);
  a = b = c = Teuchos::null;
  a = matrix(), b = matrix(), c = matrix();
  EXPECT_EQ(numbers.next(b, {"pressure", 200, 900}), 2) << "the size decides first";
  EXPECT_EQ(numbers.next(c, {"momentum", 300, 900}), 3) << "then the kind";
  EXPECT_EQ(numbers.next(matrix(), {"energy", 100, 500}), 4);
  EXPECT_EQ(numbers.next(a, usual), 1);
}

TEST(SystemNumbers, TheOneWhoseLastSolveIsTheLongestAgoIsFollowed) {
  SystemNumbers numbers;
  auto a = matrix(), b = matrix();
  numbers.next(a, usual);
  numbers.next(b, usual);
  numbers.next(a, usual);
  a = b = Teuchos::null;
  const auto c = matrix(), d = matrix();
  EXPECT_EQ(numbers.next(c, usual), 2);
  EXPECT_EQ(numbers.next(d, usual), 1);
}

TEST(SystemNumbers, AreBounded) {
  SystemNumbers numbers;
  const auto first = matrix(), second = matrix();
  numbers.next(first, usual);
  numbers.next(second, usual);
  std::vector<RCP<const Teuchos::Describable>> others;
  for (std::size_t k = 2; k < SystemNumbers::capacity; ++k) {
    others.push_back(matrix());
    EXPECT_EQ(numbers.next(others.back(), usual), static_cast<int>(k) + 1);
  }
  EXPECT_EQ(numbers.next(first, usual), 1);
  const int more = static_cast<int>(SystemNumbers::capacity) + 1;
  others.push_back(matrix());
  EXPECT_EQ(numbers.next(others.back(), usual), more);
  EXPECT_EQ(numbers.next(first, usual), 1);
  EXPECT_EQ(numbers.next(second, usual), more + 1) << "forgotten, as it was solved the longest ago";
}

}  // namespace
