/// \file
/// T_{r,t}: the parts of a vector in t subdomains.

#include "tpetra_ext/operators/row_domains.hpp"

#include <gtest/gtest.h>

#include <Teuchos_CommHelpers.hpp>
#include <Tpetra_Map.hpp>
#include <Tpetra_MultiVector.hpp>
#include <vector>

#include "tpetra_ext/compat/trilinos.hpp"
#include "tpetra_ext/kernels/base/fence.hpp"
#include "tpetra_ext/test/support/vectors.hpp"

namespace capstan::test {
namespace {

/// Rows dealt out so that some ranks have none: all on the last one.
MapPtr lastRankOnly(int rows) {
  const auto comm = Tpetra::getDefaultComm();
  const bool last = comm->getRank() == comm->getSize() - 1;
  return Teuchos::rcp(new Map(static_cast<Tpetra::global_size_t>(rows), last ? rows : 0, 0, comm));
}

MapPtr even(int rows) {
  return Teuchos::rcp(new Map(static_cast<Tpetra::global_size_t>(rows), 0, Tpetra::getDefaultComm()));
}

/// The parts of r(g) = g + 1, with rubbish where the parts are to be written.
MultiVector parts(const MapPtr& map, RowSplitting splitting, int t) {
  MultiVector v(map, static_cast<std::size_t>(t));
  v.putScalar(-7);
  for (std::size_t i = 0; i < v.getLocalLength(); ++i) {
    const auto row = static_cast<Map::local_ordinal_type>(i);
    v.replaceLocalValue(row, 0, static_cast<Scalar>(map->getGlobalElement(row) + 1));
  }
  splitByRows<Types>(splitting, v);
  kernels::handOver<Types::ExecutionSpace>();
  return v;
}

/// The subdomain of each local row: the column beyond the first that holds r there, or 0; -1 where the parts are wrong.
std::vector<int> domains(const MultiVector& v) {
  std::vector<int> found(v.getLocalLength(), 0);
  for (std::size_t j = 0; j < v.getNumVectors(); ++j) {
    const auto column = v.getData(j);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto wanted =
          static_cast<Scalar>(v.getMap()->getGlobalElement(static_cast<Map::local_ordinal_type>(i)) + 1);
      if (j == 0 ? column[i] != wanted : column[i] != 0 && (column[i] != wanted || found[i] != 0)) found[i] = -1;
      if (j > 0 && column[i] == wanted && found[i] == 0) found[i] = static_cast<int>(j);
    }
  }
  return found;
}

// Under the sanitizers: the first and the last row of such a map are the ends of the range of integers.
TEST(RowDomains, OfNoRowsAreNone) {
  for (const RowSplitting splitting : {RowSplitting::Contiguous, RowSplitting::Interleaved, RowSplitting::ByRank}) {
    EXPECT_TRUE(domains(parts(even(0), splitting, 4)).empty());
  }
}

TEST(RowDomains, AreEqualRangesOfGlobalRowNumbers) {
  const std::vector<int> wanted = {0, 0, 0, 1, 1, 1, 2, 2, 3, 3};  // 10 rows, 4 subdomains
  for (const auto& map : {even(10), lastRankOnly(10)}) {
    const auto found = domains(parts(map, RowSplitting::Contiguous, 4));
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i], wanted[static_cast<std::size_t>(map->getGlobalElement(static_cast<int>(i)))]) << i;
    }
  }
}

TEST(RowDomains, TakeRowsInTurn) {
  for (const auto& map : {even(10), lastRankOnly(10)}) {
    const auto found = domains(parts(map, RowSplitting::Interleaved, 3));
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], map->getGlobalElement(static_cast<int>(i)) % 3);
  }
}

TEST(RowDomains, AreThoseOfRanks) {
  const auto map = even(24);
  const int rank = map->getComm()->getRank(), ranks = map->getComm()->getSize();
  for (const int t : {1, 2, 3, 8}) {
    const auto found = domains(parts(map, RowSplitting::ByRank, t));
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_GE(found[i], 0);
      EXPECT_LT(found[i], t);
      EXPECT_EQ(found[i] % ranks, ranks >= t ? rank % t : rank) << "t = " << t;
      EXPECT_GE(found[i], found[i == 0 ? 0 : i - 1]);  // contiguous parts of a rank
    }
    if (ranks == 1) {
      EXPECT_EQ(found.back(), t - 1);
    }
  }
}

TEST(RowDomains, AreEmptyWhereThereAreMoreThanRows) {
  const auto found = domains(parts(even(3), RowSplitting::Contiguous, 5));
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], even(3)->getGlobalElement(static_cast<int>(i)));
  domains(parts(lastRankOnly(0), RowSplitting::ByRank, 2));
}

}  // namespace
}  // namespace capstan::test
