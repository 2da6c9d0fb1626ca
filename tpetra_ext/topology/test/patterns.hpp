#pragma once

/// \file
/// Patterns of matrices on which communication is tested: what is regular, and what is not.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tpetra_ext/topology/exchange_pattern.hpp"

namespace capstan::topology::test {

/// Rows of a matrix, each a list of columns.
using Rows = std::vector<std::vector<long long>>;

/// A matrix and who owns its rows, for a number of ranks.
struct Case {
  std::string name;
  Rows rows;
  RowPartition partition;

  ExchangePattern pattern() const {
    return patternOfMatrix(partition, [this](long long row, const auto& take) {
      for (const long long column : rows[static_cast<std::size_t>(row)]) take(column);
    });
  }
};

/// The same numbers everywhere, whatever the standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  long long below(long long n) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<long long>((state_ >> 33) % static_cast<std::uint64_t>(n));
  }

 private:
  std::uint64_t state_;
};

/// Five-point stencil on a square of side n.
inline Rows stencil(long long n) {
  Rows rows;
  for (long long i = 0; i < n * n; ++i) {
    rows.push_back({i});
    if (i % n > 0) rows.back().push_back(i - 1);
    if (i % n < n - 1) rows.back().push_back(i + 1);
    if (i >= n) rows.back().push_back(i - n);
    if (i + n < n * n) rows.back().push_back(i + n);
  }
  return rows;
}

inline Rows randomRows(long long n, int perRow, std::uint64_t seed) {
  Random random(seed);
  Rows rows(static_cast<std::size_t>(n));
  for (long long i = 0; i < n; ++i) {
    rows[static_cast<std::size_t>(i)].push_back(i);
    for (int k = 0; k < perRow; ++k) rows[static_cast<std::size_t>(i)].push_back(random.below(n));
  }
  return rows;
}

inline std::vector<int> randomOwners(long long n, int ranks, std::uint64_t seed) {
  Random random(seed);
  std::vector<int> owners(static_cast<std::size_t>(n));
  for (int& owner : owners) owner = static_cast<int>(random.below(ranks));
  return owners;
}

/// Regular and irregular ones for a number of ranks; among them dense rows, dense columns, ranks without rows,
/// one-sided coupling, random numbering, no coupling at all.
inline std::vector<Case> casesFor(int ranks) {
  const long long side = ranks > 8 ? 24 : 9, n = side * side;
  std::vector<Case> cases;
  cases.push_back({"stencil", stencil(side), RowPartition::contiguous(n, ranks)});
  cases.push_back({"random numbering", stencil(side), RowPartition::fromOwners(randomOwners(n, ranks, 5), ranks)});
  cases.push_back({"random", randomRows(n, 5, 7), RowPartition::contiguous(n, ranks)});

  Case dense{"dense rows", stencil(side), RowPartition::contiguous(n, ranks)};
  for (const long long row : {1LL, n / 2, n - 1}) {
    for (long long j = 0; j < n; ++j) dense.rows[static_cast<std::size_t>(row)].push_back(j);
  }
  cases.push_back(dense);
  dense = {"dense columns", stencil(side), RowPartition::contiguous(n, ranks)};
  for (auto& row : dense.rows) row.insert(row.end(), {0, n / 3, n - 2});
  cases.push_back(dense);

  // Every rank needs of the rank after it, round the circle, but gives it nothing.
  Case oneSided{"one-sided", Rows(static_cast<std::size_t>(n)), RowPartition::contiguous(n, ranks)};
  for (long long i = 0; i < n; ++i) oneSided.rows[static_cast<std::size_t>(i)] = {i, (i + n / ranks) % n};
  cases.push_back(oneSided);

  // Only every third rank has rows, beginning with the second.
  std::vector<int> owners = randomOwners(n, (ranks + 1) / 3 + 1, 11);
  for (int& owner : owners) owner = std::min(ranks - 1, 3 * owner + 1);
  cases.push_back({"empty ranks", randomRows(n, 4, 3), RowPartition::fromOwners(owners, ranks)});

  Case none{"no coupling", Rows(static_cast<std::size_t>(n)), RowPartition::contiguous(n, ranks)};
  for (long long i = 0; i < n; ++i) none.rows[static_cast<std::size_t>(i)] = {i};
  cases.push_back(none);
  cases.push_back({"fewer rows than ranks", stencil(1), RowPartition::contiguous(1, ranks)});
  cases.push_back({"no rows", {}, RowPartition::contiguous(0, ranks)});
  return cases;
}

}  // namespace capstan::topology::test
