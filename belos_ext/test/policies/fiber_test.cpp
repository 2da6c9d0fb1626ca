/// \file
/// Fiber: order of pauses, exceptions, destruction in the middle, many at once, errands outside.

#include "belos_ext/manager/fiber.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace capstan {
namespace {

/// Writes to a log when it is destroyed.
struct Trace {
  Trace(std::string& l, char n) : log(l), name(n) {}
  ~Trace() { log += name; }
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
  std::string& log;
  char name;
};

TEST(Fiber, PausesAndResumesInOrder) {
  std::string log;
  Fiber* self = nullptr;
  Fiber fiber([&] {
    log += 'a';
    self->pause();
    log += 'b';
    self->pause();
    log += 'c';
  });
  self = &fiber;
  EXPECT_EQ(log, "");
  fiber.resume();
  log += '1';
  EXPECT_FALSE(fiber.done());
  fiber.resume();
  log += '2';
  EXPECT_FALSE(fiber.done());
  fiber.resume();
  EXPECT_TRUE(fiber.done());
  EXPECT_EQ(log, "a1b2c");
  EXPECT_NO_THROW(fiber.rethrow());
}

TEST(Fiber, KeepsAnExceptionUntilAsked) {
  std::string log;
  Fiber* self = nullptr;
  Fiber fiber([&] {
    const Trace trace(log, 'd');
    self->pause();
    throw std::runtime_error("inside");
  });
  self = &fiber;
  fiber.resume();
  EXPECT_NO_THROW(fiber.rethrow());
  fiber.resume();
  EXPECT_TRUE(fiber.done());
  EXPECT_EQ(log, "d");
  try {
    fiber.rethrow();
    FAIL() << "nothing was rethrown";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "inside");
  }
}

TEST(Fiber, ExceptionsCaughtInsideStayInside) {
  Fiber* self = nullptr;
  int caught = 0;
  Fiber fiber([&] {
    for (int k = 0; k < 3; ++k) {
      try {
        self->pause();
        throw k;
      } catch (int value) {
        EXPECT_EQ(value, k);
        ++caught;
      }
    }
  });
  self = &fiber;
  while (!fiber.done()) {
    try {
      fiber.resume();
      throw std::runtime_error("outside");
    } catch (const std::runtime_error&) {
    }
  }
  EXPECT_EQ(caught, 3);
  EXPECT_NO_THROW(fiber.rethrow());
}

TEST(Fiber, DestructionWhilePausedUnwinds) {
  std::string log;
  {
    Fiber* self = nullptr;
    Fiber fiber([&] {
      const Trace outer(log, 'o');
      const std::vector<double> memory(1000, 1.0);
      const Trace inner(log, 'i');
      self->pause();
      log += '!';
    });
    self = &fiber;
    fiber.resume();
    EXPECT_EQ(log, "");
  }
  EXPECT_EQ(log, "io");
}

TEST(Fiber, DestructionWhileAnotherExceptionFlies) {
  std::string log;
  try {
    Fiber* self = nullptr;
    Fiber fiber([&] {
      const Trace trace(log, 't');
      self->pause();
    });
    self = &fiber;
    fiber.resume();
    throw std::logic_error("flying");
  } catch (const std::logic_error& e) {
    EXPECT_STREQ(e.what(), "flying");
  }
  EXPECT_EQ(log, "t");
}

TEST(Fiber, NeverStartedOrFinishedNeedsNoUnwinding) {
  int runs = 0;
  {
    const Fiber never([&] { ++runs; });
  }
  EXPECT_EQ(runs, 0);
  Fiber once([&] { ++runs; });
  once.resume();
  EXPECT_TRUE(once.done());
  EXPECT_EQ(runs, 1);
}

TEST(Fiber, ManyAdvanceTogether) {
  const int count = 200;
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<long> sums(count, 0);
  for (int f = 0; f < count; ++f) {
    fibers.push_back(nullptr);
    fibers.back() = std::make_unique<Fiber>([&, f] {
      double local[512];  // each has a stack of its own
      for (int k = 0; k <= f; ++k) {
        local[k % 512] = k;
        fibers[static_cast<std::size_t>(f)]->pause();
        sums[static_cast<std::size_t>(f)] += static_cast<long>(local[k % 512]);
      }
    });
  }
  for (bool active = true; active;) {
    active = false;
    for (auto& fiber : fibers) {
      if (fiber->done()) continue;
      fiber->resume();
      active = true;
    }
  }
  for (long f = 0; f < count; ++f) EXPECT_EQ(sums[static_cast<std::size_t>(f)], f * (f + 1) / 2);
}

long depth(int levels) {
  volatile char frame[1024];
  frame[0] = static_cast<char>(levels);
  return levels == 0 ? 0 : depth(levels - 1) + frame[0] - static_cast<char>(levels) + 1;
}

TEST(Fiber, StackHoldsWhatItPromises) {
  long reached = 0;
  Fiber fiber([&] { reached = depth(400); });  // 400 frames of more than 1 KiB of the default 1 MiB
  fiber.resume();
  EXPECT_EQ(reached, 400);
}

/// Where the stack is.
std::uintptr_t here() {
  const volatile char local = 0;
  return reinterpret_cast<std::uintptr_t>(&local);
}

bool isNear(std::uintptr_t one, std::uintptr_t other) { return std::max(one, other) - std::min(one, other) < 100000; }

TEST(Fiber, ErrandsRunOnTheStackOfTheResumer) {
  std::vector<std::string> order;
  std::uintptr_t inside = 0, errand = 0, nested = 0;
  const auto caller = here();
  EXPECT_FALSE(Fiber::inside());
  Fiber inner([&] { onCallersStack([&] { nested = here(); }); });
  Fiber fiber([&] {
    EXPECT_TRUE(Fiber::inside());
    inside = here();
    onCallersStack([&] {
      EXPECT_FALSE(Fiber::inside());
      errand = here();
      order.emplace_back("errand");
      onCallersStack([&] { order.emplace_back("within"); });
    });
    order.emplace_back("after");
    fiber.pause();
    inner.resume();
    EXPECT_TRUE(Fiber::inside());
  });
  fiber.resume();
  EXPECT_EQ(order, (std::vector<std::string>{"errand", "within", "after"})) << "without a pause for the resumer";
  EXPECT_FALSE(fiber.done());
  fiber.resume();
  EXPECT_TRUE(fiber.done());
  fiber.rethrow();
  EXPECT_FALSE(isNear(inside, caller));
  EXPECT_TRUE(isNear(errand, caller));
  EXPECT_TRUE(isNear(nested, inside)) << "of its own resumer, a fiber";
}

TEST(Fiber, WhatAnErrandThrowsIsThrownInside) {
  std::string caught;
  Fiber fiber([&] {
    try {
      onCallersStack([] { throw std::domain_error("errand"); });
    } catch (const std::domain_error& error) {
      caught = error.what();
    }
    onCallersStack([&] { caught += ", and another one"; });
    onCallersStack([] { throw std::range_error("escapes"); });
  });
  fiber.resume();
  EXPECT_EQ(caught, "errand, and another one");
  EXPECT_TRUE(fiber.done());
  EXPECT_THROW(fiber.rethrow(), std::range_error);
}

}  // namespace
}  // namespace capstan
