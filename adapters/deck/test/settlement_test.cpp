#include "adapters/deck/settlement.hpp"

#include <gtest/gtest.h>

#include <Tpetra_Core.hpp>

namespace capstan::deck {
namespace {

TEST(Settlement, TellsAllRanksWhatOneOfThemMet) {
  const auto comm = Tpetra::getDefaultComm();
  const int rank = comm->getRank(), last = comm->getSize() - 1;
  Settlement settlement(*comm);
  EXPECT_EQ(settlement.settle(""), "");
  EXPECT_EQ(settlement.settle("what all ranks meet"), "what all ranks meet");
  const std::string alone = "what rank " + std::to_string(rank) + " meets";
  const std::string told =
      last == 0 ? "what rank 0 meets"
                : "rank " + std::to_string(last) + ", not all ranks: what rank " + std::to_string(last) + " meets";
  EXPECT_EQ(settlement.settle(rank == last ? alone : ""), told);
  EXPECT_EQ(settlement.settle(""), "") << "a failure is told once";
}

}  // namespace
}  // namespace capstan::deck
