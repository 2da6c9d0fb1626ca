#include "tpetra_ext/topology/exchange_pattern.hpp"

#include <gtest/gtest.h>

#include "tpetra_ext/topology/test/expect_refused.hpp"
#include "tpetra_ext/topology/test/patterns.hpp"

namespace capstan::topology::test {
namespace {

PeerLists lists(const std::vector<std::pair<int, std::vector<LocalIndex>>>& given) {
  PeerLists result;
  for (const auto& [peer, entries] : given) {
    result.peers.push_back(peer);
    result.entries.insert(result.entries.end(), entries.begin(), entries.end());
    result.begin.push_back(result.entries.size());
  }
  return result;
}

void expectLists(const PeerLists& got, const PeerLists& wanted) {
  EXPECT_EQ(got.peers, wanted.peers);
  EXPECT_EQ(got.begin, wanted.begin);
  EXPECT_EQ(got.entries, wanted.entries);
}

TEST(RowPartition, DealsRowsInEqualNumbersTheFirstRanksHaveOneMore) {
  const auto partition = RowPartition::contiguous(8, 3);
  EXPECT_EQ(partition.owned(0), 3);
  EXPECT_EQ(partition.owned(1), 3);
  EXPECT_EQ(partition.owned(2), 2);
  EXPECT_EQ(partition.ownerOf(6), 2);
  EXPECT_EQ(partition.localOf(7), 1);
}

TEST(RowPartition, NumbersRowsInAscendingOrderOnEachRank) {
  const auto partition = RowPartition::fromOwners({1, 0, 1, 1, 0}, 3);
  EXPECT_EQ(partition.owned(2), 0);
  EXPECT_EQ(partition.localOf(3), 2);
  EXPECT_EQ(partition.localOf(4), 1);
  EXPECT_EQ(partition.rowsOf(1)[2], 3);
}

TEST(RowPartition, RefusesWhatIsNoPartition) {
  expectRefused([] { RowPartition::contiguous(3, 0); }, "ranks: 0; allowed: 1 or more");
  expectRefused([] { RowPartition::contiguous(-1, 2); }, "rows: -1");
  expectRefused([] { RowPartition::fromOwners({0, 2}, 2); }, "row 1 has owner 2; allowed: 0 to 1");
  expectRefused([] { RowPartition::fromOwners({-1}, 2); }, "row 0 has owner -1");
}

TEST(ExchangePattern, OfAMatrixNamesEachEntryOnceByItsNumberOnTheOwner) {
  // Rank 0: rows 0, 1; rank 1: rows 2, 3; rank 2: row 4.
  const Rows rows = {{0, 3, 2, 3}, {1, 4, 2}, {2, 1}, {3}, {4, 4}};
  const Case given{"", rows, RowPartition::contiguous(5, 3)};
  const auto pattern = given.pattern();
  expectLists(pattern.of(0).needs, lists({{1, {0, 1}}, {2, {0}}}));
  expectLists(pattern.of(1).needs, lists({{0, {1}}}));
  expectLists(pattern.of(2).needs, lists({}));
  expectLists(pattern.of(0).sends, lists({{1, {1}}}));
  expectLists(pattern.of(1).sends, lists({{0, {0, 1}}}));
  expectLists(pattern.of(2).sends, lists({{0, {0}}}));
  EXPECT_EQ(pattern.of(2).owned, 1);
}

TEST(ExchangePattern, OfAMatrixRefusesColumnsThatDoNotExist) {
  for (const long long column : {-1LL, 2LL}) {
    const Case given{"", {{0}, {column}}, RowPartition::contiguous(2, 2)};
    expectRefused([&] { given.pattern(); }, "row 1 has column " + std::to_string(column) + "; allowed: 0 to 1");
  }
}

TEST(ExchangePattern, RefusesNeedsThatCannotBeMet) {
  const auto refused = [](const PeerLists& needs, const std::string& part) {
    expectRefused([&] { ExchangePattern::fromNeeds({3, 2}, {needs, {}}); }, part);
  };
  refused(lists({{1, {2}}}), "rank 0 needs entry 2 of rank 1, which has 2");
  refused(lists({{1, {-1}}}), "entry -1 of peer 1 is negative");
  refused(lists({{2, {0}}}), "peer 2; allowed: 0 to 1");
  refused(lists({{-1, {0}}}), "peer -1; allowed: 0 to 1");
  refused(lists({{0, {0}}}), "the rank itself");
  refused(lists({{1, {1, 0}}}), "entry 0 of peer 1 is not in ascending order");
  refused(lists({{1, {1, 1}}}), "entry 1 of peer 1 is not in ascending order");
  refused(lists({{1, {}}}), "an empty list for peer 1");
  refused(lists({{1, {0}}, {1, {1}}}), "peer 1 is not in ascending order");
  PeerLists torn = lists({{1, {0, 1}}});
  torn.entries.pop_back();
  refused(torn, "the lists do not fill their array");
  expectRefused([] { ExchangePattern::fromNeeds({3, -1}, {{}, {}}); }, "rank 1 has -1 entries");
  expectRefused([] { ExchangePattern::fromNeeds({3, 2}, {{}}); }, "needs of 1 ranks, entries of 2");
  expectRefused([] { ExchangePattern::fromNeeds({}, {}); }, "ranks: 0");
}

}  // namespace
}  // namespace capstan::topology::test
