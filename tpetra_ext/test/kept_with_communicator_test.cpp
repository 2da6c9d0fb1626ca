#include "tpetra_ext/reductions/kept_with_communicator.hpp"

#include <gtest/gtest.h>

#include <Teuchos_DefaultMpiComm.hpp>
#include <Teuchos_DefaultSerialComm.hpp>
#include <Tpetra_Core.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>

namespace {

using namespace capstan;
using Comm = Teuchos::Comm<int>;

/// A counter kept with a communicator, under a name of each test's own.
int& counterOf(const Comm& comm, const std::string& name = "counter") {
  const std::string own = std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + name;
  return *static_cast<int*>(keptWith(comm, own, [] { return std::make_shared<int>(0); }).get());
}

TEST(KeptWithCommunicator, IsFoundAgainUnderItsName) {
  const auto world = Tpetra::getDefaultComm();
  counterOf(*world) = 7;
  counterOf(*world, "other") = 8;
  EXPECT_EQ(counterOf(*world), 7);
  EXPECT_EQ(counterOf(*world, "other"), 8);
  const Teuchos::MpiComm<int> again(MPI_COMM_WORLD);  // the same communicator in another object
  const bool isWorld = dynamic_cast<const Teuchos::MpiComm<int>*>(world.get()) != nullptr;
  EXPECT_EQ(counterOf(again), isWorld ? 7 : 0);
}

TEST(KeptWithCommunicator, ADuplicateSharesAndAPartBeginsAnew) {
  const auto world = Teuchos::rcp(new Teuchos::MpiComm<int>(MPI_COMM_WORLD));
  counterOf(*world) = 3;
  {
    const auto twin = world->duplicate();
    ++counterOf(*twin);
  }
  EXPECT_EQ(counterOf(*world), 4) << "and outlives it";
  const auto part = world->split(world->getRank() % 2, world->getRank());
  EXPECT_EQ(counterOf(*part), 0);
  counterOf(*part) = 9;
  EXPECT_EQ(counterOf(*world), 4);
}

TEST(KeptWithCommunicator, ADuplicateHasNothingOfWhatBeginsAnew) {
  const Teuchos::MpiComm<int> world(MPI_COMM_WORLD);
  const auto make = [] { return std::make_shared<int>(0); };
  const auto kept = [&](const Comm& comm, Duplicates duplicates) {
    return keptWith(comm, "begins anew", make, duplicates);
  };
  Teuchos::RCP<const Comm> original = world.duplicate();
  const std::weak_ptr<void> own = kept(*original, Duplicates::BeginAnew);
  const std::weak_ptr<void> shared = kept(*original, Duplicates::Share);
  EXPECT_NE(own.lock(), shared.lock());
  EXPECT_EQ(own.lock(), kept(*original, Duplicates::BeginAnew));
  const auto twin = original->duplicate();
  EXPECT_NE(own.lock(), kept(*twin, Duplicates::BeginAnew));
  EXPECT_EQ(shared.lock(), kept(*twin, Duplicates::Share));
  original = Teuchos::null;
  EXPECT_TRUE(own.expired());
  EXPECT_FALSE(shared.expired());
}

TEST(KeptWithCommunicator, SerialOnesShareTheirs) {
  counterOf(Teuchos::SerialComm<int>()) = 5;
  EXPECT_EQ(counterOf(Teuchos::SerialComm<int>()), 5);
}

// A channel is made by a collective call. Two threads with a communicator each waited for one another for ever where
// one came first on one rank, and the other one on another rank: the lock was held while an object was made.
TEST(KeptWithCommunicator, OneThatIsMadeKeepsNobodyWaiting) {
  const Teuchos::SerialComm<int> comm;
  std::promise<void> otherIsThere;
  auto other = otherIsThere.get_future();
  std::thread thread;
  auto status = std::future_status::timeout;
  const auto made = keptWith(comm, "made slowly", [&] {
    thread = std::thread([&] {
      keptWith(comm, "made by another thread", [] { return std::make_shared<int>(1); });
      otherIsThere.set_value();
    });
    status = other.wait_for(std::chrono::seconds(10));
    return std::make_shared<int>(2);
  });
  thread.join();
  EXPECT_EQ(status, std::future_status::ready);
  EXPECT_EQ(*static_cast<int*>(made.get()), 2);
}

TEST(KeptWithCommunicator, OfTwoThatAreMadeAtOnceTheFirstIsKept) {
  const Teuchos::SerialComm<int> comm;
  const auto make = [](int value) { return [value] { return std::make_shared<int>(value); }; };
  const auto late = keptWith(comm, "made twice", [&] {
    keptWith(comm, "made twice", make(1));
    return std::make_shared<int>(2);
  });
  EXPECT_EQ(*static_cast<int*>(late.get()), 1);
  EXPECT_EQ(keptWith(comm, "made twice", make(3)), late);
}

}  // namespace
