#include "tpetra_ext/reductions/kept_with_communicator.hpp"

#include <gtest/gtest.h>

#include <Teuchos_DefaultMpiComm.hpp>
#include <Teuchos_DefaultSerialComm.hpp>
#include <Tpetra_Core.hpp>

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

TEST(KeptWithCommunicator, SerialOnesShareTheirs) {
  counterOf(Teuchos::SerialComm<int>()) = 5;
  EXPECT_EQ(counterOf(Teuchos::SerialComm<int>()), 5);
}

}  // namespace
