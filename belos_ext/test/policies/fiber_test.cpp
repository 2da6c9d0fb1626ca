/// \file
/// Fiber: order of pauses, exceptions, destruction in the middle, many at once.

#include "belos_ext/manager/fiber.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace capstan
