#include <gtest/gtest.h>

#include <Teuchos_DefaultComm.hpp>

#include "belos_ext/support/shared_text.hpp"

namespace {

using namespace capstan;

class SharedText : public ::testing::Test {
 protected:
  const Teuchos::RCP<const Teuchos::Comm<int>> comm_ = Teuchos::DefaultComm<int>::getComm();
  const int rank_ = comm_->getRank();
  const int last_ = comm_->getSize() - 1;
};

TEST_F(SharedText, IsThatOfTheRootOnEveryRank) {
  const std::string mine = rank_ == last_ ? "a longer text of the root" : "short";
  EXPECT_EQ(sharedText(mine, last_, *comm_), "a longer text of the root");
  EXPECT_EQ(sharedText(rank_ == 0 ? "" : "not empty", 0, *comm_), "");
}

TEST_F(SharedText, NoComplaintWhereNobodyHasOne) { EXPECT_EQ(firstComplaint("", *comm_), ""); }

TEST_F(SharedText, TheComplaintOfAllNamesNoRank) {
  EXPECT_EQ(firstComplaint("wrong on rank " + std::to_string(rank_), *comm_), "wrong on rank 0");
}

TEST_F(SharedText, TheComplaintOfSomeNamesTheFirstRankThatHasIt) {
  const std::string wanted = last_ == 0 ? "wrong" : "wrong (on rank " + std::to_string(last_) + ", not on all ranks)";
  EXPECT_EQ(firstComplaint(rank_ == last_ ? "wrong" : "", *comm_), wanted);
}

}  // namespace
