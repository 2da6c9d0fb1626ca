#include "adapters/driver/shared_failures.hpp"

#include <gtest/gtest.h>

#include <Tpetra_Core.hpp>

namespace capstan::driver {
namespace {

TEST(SharedFailures, TellsAllRanksWhatOneOfThemMet) {
  const auto comm = Tpetra::getDefaultComm();
  const int rank = comm->getRank(), last = comm->getSize() - 1;
  SharedFailures failures(*comm);
  EXPECT_EQ(failures.share(""), "");
  EXPECT_EQ(failures.share("what all ranks meet"), "what all ranks meet");
  const std::string alone = "what rank " + std::to_string(rank) + " meets";
  const std::string told =
      last == 0 ? "what rank 0 meets"
                : "rank " + std::to_string(last) + ", not all ranks: what rank " + std::to_string(last) + " meets";
  EXPECT_EQ(failures.share(rank == last ? alone : ""), told);
  EXPECT_EQ(failures.share(""), "") << "a failure is told once";
}

}  // namespace
}  // namespace capstan::driver
