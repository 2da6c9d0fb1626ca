// Built twice, against all_reduce.cpp as it is without MPI and as it is with an MPI older than 3.

#include <gtest/gtest.h>

#include <Teuchos_DefaultSerialComm.hpp>
#include <Tpetra_Core.hpp>
#include <memory>
#include <stdexcept>

#include "tpetra_ext/reductions/all_reduce.hpp"
#include "tpetra_ext/reductions/counters.hpp"
#include "tpetra_ext/reductions/pending_reduction.hpp"

namespace capstan::test {
namespace {

TEST(ReductionsElsewhere, NonblockingIsDeferredAndNativeIsRefused) {
  EXPECT_EQ(nonblockingMode(), NonblockingMode::Deferred);
  EXPECT_THROW(setNonblockingMode(NonblockingMode::Native), std::invalid_argument);
  EXPECT_NO_THROW(setNonblockingMode(NonblockingMode::Deferred));
}

TEST(ReductionsElsewhere, SerialCommunicatorIsLocal) {
  AllReduce sum(Teuchos::rcp(new Teuchos::SerialComm<int>()));
  double data = 3;
  sum.run(&data, 1);
  const long ticket = sum.start(&data, 1);
  EXPECT_TRUE(sum.inFlight());
  EXPECT_TRUE(sum.test(ticket));
  sum.wait(ticket);
  EXPECT_EQ(data, 3);
  EXPECT_EQ(counters().messages, 0);
}

#ifdef CAPSTAN_WITHOUT_MPI

TEST(ReductionsElsewhere, OtherCommunicatorsAreRefusedByName) {
  EXPECT_THROW(AllReduce{Tpetra::getDefaultComm()}, std::invalid_argument);
}

#else

TEST(ReductionsElsewhere, TheWaitSums) {
  const auto comm = Tpetra::getDefaultComm();
  const auto sum = std::make_shared<AllReduce>(comm);
  double data[2] = {1, static_cast<double>(comm->getRank())};
  PendingReduction<void> pending(sum, sum->start(data, 2));
  EXPECT_EQ(pending.test(), comm->getSize() == 1);
  pending.wait();
  EXPECT_EQ(data[0], comm->getSize());
  EXPECT_EQ(data[1], comm->getSize() * (comm->getSize() - 1) / 2);
}

#endif

}  // namespace
}  // namespace capstan::test
