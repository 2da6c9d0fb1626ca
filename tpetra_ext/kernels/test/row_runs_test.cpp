#include "tpetra_ext/kernels/row_runs.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "tpetra_ext/kernels/test/sparse_case.hpp"

namespace capstan::kernels::test {
namespace {

template <class Type>
class RowRunsTest : public KernelTest<Type> {};
TYPED_TEST_SUITE(RowRunsTest, Cases, CaseNames);

/// The columns of row i of a grid nx x ny x nz with neighbours along the axes; those of some rows are others.
std::vector<int> gridRow(int i, int nx, int ny, int nz, bool disturbed) {
  std::vector<int> row;
  const int x = i % nx, y = i / nx % ny, z = i / nx / ny;
  if (disturbed && i % 37 == 5) return {};
  if (disturbed && i % 101 == 40) row.push_back((i * 7 + 3) % (nx * ny * nz));
  if (z > 0) row.push_back(i - nx * ny);
  if (y > 0) row.push_back(i - nx);
  if (x > 0) row.push_back(i - 1);
  row.push_back(i);
  if (x + 1 < nx) row.push_back(i + 1);
  if (y + 1 < ny) row.push_back(i + nx);
  if (z + 1 < nz) row.push_back(i + nx * ny);
  return row;
}

template <class T>
RowRuns runsOf(const SparseCase<T>& sparse, const std::vector<int>* list, const std::vector<int>* sources, int own) {
  return {sparse.begin.data(),
          sparse.column.data(),
          list == nullptr ? nullptr : list->data(),
          static_cast<std::ptrdiff_t>(list == nullptr ? sparse.rows : static_cast<int>(list->size())),
          sources == nullptr ? nullptr : sources->data(),
          own};
}

/// Products of one column, with runs and without. Whether there were any of one pattern or of the same columns.
template <class Type>
bool expectRunsToChangeNothing(const SparseCase<typename Type::Scalar>& sparse) {
  using T = typename Type::Scalar;
  using Path = typename Type::Path;
  const int n = sparse.rows, own = n - n / 5;
  const auto x = TestMatrix<T>::random(n, 1, 5, 0);
  const Line<T> all("x", static_cast<std::size_t>(n));
  packRows<Path>(testQueue(), x.view(), all);
  const auto part = [&](int from, int to) {
    Line<T> copy("part", static_cast<std::size_t>(to - from));
    Kokkos::deep_copy(copy, Kokkos::subview(all, std::make_pair(from, to)));
    return copy;
  };
  const Line<T> here = part(0, own), received = part(own, n);
  std::vector<int> some, sources(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    if (i / 30 % 3 != 1) some.push_back(i);
    sources[static_cast<std::size_t>(i)] = (i + 11) % n;
  }
  const auto deviceSome = onDevice(some);
  const auto deviceSources = onDevice(sources);
  bool found = false;
  for (const bool listed : {false, true}) {
    for (const bool mapped : {false, true}) {
      for (const bool receives : {false, true}) {
        for (const T beta : {T(0), T(2)}) {
          for (const bool large : {false, true}) {
            const RowRuns runs =
                runsOf(sparse, listed ? &some : nullptr, mapped ? &sources : nullptr, receives ? own : n);
            for (std::ptrdiff_t k = 0; k < runs.count(); ++k) found = found || runs.runs()[k].length != 0;
            auto a = sparse.matrix();
            a.own = receives ? own : n;
            if (listed) a.rows = deviceSome.data();
            if (mapped) a.sources = deviceSources.data();
            auto plain = TestMatrix<T>::random(n, 1, 9), inRuns = TestMatrix<T>::random(n, 1, 9);
            const auto multiply = [&](std::ptrdiff_t from, std::ptrdiff_t to, TestMatrix<T>& y) {
              multiplyRows<Path>(testQueue(), a, from, to, T(-3), receives ? here : all,
                                 receives ? received : Line<T>(), beta, y.view());
            };
            const auto count = static_cast<std::ptrdiff_t>(listed ? some.size() : sparse.begin.size() - 1);
            multiply(0, count, plain);
            a.runs = &runs;
            a.large = large;
            for (std::ptrdiff_t from = 0; from < count; from += 1201)
              multiply(from, std::min(count, from + 1201), inRuns);
            plain.pull();
            inRuns.pull();
            for (int i = 0; i < n; ++i) EXPECT_EQ(inRuns(i, 0), plain(i, 0)) << i;
            EXPECT_TRUE(inRuns.paddingIntact());
          }
        }
      }
    }
  }
  return found;
}

TYPED_TEST(RowRunsTest, HasTheSameBitsWhereRowsOfOnePatternAreTakenTogether) {
  using T = typename TypeParam::Scalar;
  for (const bool disturbed : {false, true}) {
    for (const int nx : {9, 12, 25, 31}) {
      const auto row = [&](int i) { return gridRow(i, nx, 11, 10, disturbed); };
      // Seven rows within a line of nine are too few.
      EXPECT_EQ(expectRunsToChangeNothing<TypeParam>(SparseCase<T>(nx * 11 * 10, row, 3)), nx > 9);
    }
  }
  // Rows of every length, those that are too long for a pattern among them.
  for (int length = 1; length <= detail::longestPattern + 2; ++length) {
    const auto row = [&](int i) {
      std::vector<int> columns;
      for (int k = 0; k < length; ++k) columns.push_back((i + k * k) % 150);
      return columns;
    };
    const bool found = expectRunsToChangeNothing<TypeParam>(SparseCase<T>(150, row, 3));
    if (length == 1 || length > detail::longestPattern) {
      EXPECT_FALSE(found) << length;
    } else if (length <= 40) {  // the longer they are the more often one column is beyond the last and begins anew
      EXPECT_TRUE(found) << length;
    }
  }
  EXPECT_FALSE(expectRunsToChangeNothing<TypeParam>(SparseCase<T>(300, 300, 3)));
}

TYPED_TEST(RowRunsTest, HasTheSameBitsWhereRowsOfTheSameColumnsAreTakenTogether) {
  using T = typename TypeParam::Scalar;
  std::vector<int> numbers(19);
  std::iota(numbers.begin(), numbers.end(), 1);
  numbers.push_back(40);  // so many rows of one entry are as long together as others that are taken
  for (const int unknowns : numbers) {
    for (const int length : {1, 2, 7, 27, 80}) {
      const auto row = [&](int i) {
        std::vector<int> columns;
        for (int k = 0; k < length; ++k) columns.push_back((i / unknowns * 53 + k * k) % 400);
        return columns;
      };
      const bool found = expectRunsToChangeNothing<TypeParam>(SparseCase<T>(400, row, 3));
      EXPECT_EQ(found, unknowns > 1 && length > 1 && unknowns * length >= 24) << unknowns << " " << length;
    }
  }
}

TYPED_TEST(RowRunsTest, HasTheSameBitsInBlocksWhereRowsOfTheSameColumnsAreTakenTogether) {
  using T = typename TypeParam::Scalar;
  using Path = typename TypeParam::Path;
  constexpr int n = 300, own = 240;
  std::vector<int> some, sources(n);
  for (int i = 0; i < n; ++i) {
    if (i / 30 % 3 != 1) some.push_back(i);
    sources[static_cast<std::size_t>(i)] = (i + 11) % n;
  }
  const auto deviceSome = onDevice(some), deviceSources = onDevice(sources);
  for (const int unknowns : {3, 16, 19}) {
    // The rows of every fifth node have columns of their own.
    const auto row = [&](int i) {
      std::vector<int> columns;
      for (int k = 0; k < 27; ++k) {
        columns.push_back((i / unknowns * 53 + k * k + (i / unknowns % 5 == 4 ? i % unknowns : 0)) % n);
      }
      return columns;
    };
    const SparseCase<T> sparse(n, row, 3);
    for (const int t : {2, 3, 4, 7, 8, 16, 31, 33}) {
      const auto X = TestMatrix<T>::random(n, t, 5, 0);
      const Line<T> all("x", static_cast<std::size_t>(n * t));
      packRows<Path>(testQueue(), X.view(), all);
      Line<T> received("received", static_cast<std::size_t>((n - own) * t));
      Kokkos::deep_copy(received, Kokkos::subview(all, std::make_pair(own * t, n * t)));
      for (const bool elsewhere : {false, true}) {
        for (const T beta : {T(0), T(2)}) {
          const RowRuns runs = runsOf(sparse, elsewhere ? &some : nullptr, elsewhere ? &sources : nullptr, own);
          ASSERT_TRUE(runs.repeatColumns());
          auto a = sparse.matrix();
          if (elsewhere) {
            a.own = own;
            a.rows = deviceSome.data();
            a.sources = deviceSources.data();
          }
          auto plain = TestMatrix<T>::random(n, t, 9), inRuns = TestMatrix<T>::random(n, t, 9);
          const auto count = static_cast<std::ptrdiff_t>(elsewhere ? some.size() : std::size_t(n));
          const auto multiply = [&](std::ptrdiff_t from, std::ptrdiff_t to, TestMatrix<T>& y) {
            multiplyRows<Path>(testQueue(), a, from, to, T(-3), all, elsewhere ? received : Line<T>(), beta, y.view());
          };
          multiply(0, count, plain);
          a.runs = &runs;
          for (std::ptrdiff_t from = 0; from < count; from += 101) multiply(from, std::min(count, from + 101), inRuns);
          plain.pull();
          inRuns.pull();
          for (int i = 0; i < n; ++i) {
            for (int j = 0; j < t; ++j) ASSERT_EQ(inRuns(i, j), plain(i, j)) << i << " " << j << " of " << t;
          }
          EXPECT_TRUE(inRuns.paddingIntact());
        }
      }
    }
  }
}

TEST(RowRuns, OfTheSameColumnsAreTheUnknownsOfOneNode) {
  const SparseCase<double> sparse(
      90,
      [](int i) {
        return gridRow(i / 5, 6, 3, 1, false).size() > 3 ? std::vector<int>{1, 8, i / 5, 30, 31} : std::vector<int>{i};
      },
      3);
  const RowRuns runs = runsOf(sparse, nullptr, nullptr, 90);
  ASSERT_GT(runs.count(), 0);
  int alike = 0;
  for (std::ptrdiff_t k = 0; k < runs.count(); ++k) {
    const RowRun &run = runs.runs()[k], &next = runs.runs()[k + 1];
    if (run.length != sameColumns) continue;
    ++alike;
    EXPECT_EQ(run.first % 5, 0);
    EXPECT_EQ(next.first - run.first, 5);
  }
  EXPECT_EQ(alike, 14);
  EXPECT_TRUE(runs.repeatColumns());
}

TEST(RowRuns, TellTheNumbersOfTheirRows) {
  const SparseCase<double> sparse(
      600, [](int i) { return gridRow(i, 20, 6, 5, true); }, 3);
  std::vector<int> rows;
  for (int i = 7; i < 590; ++i) {
    if (i % 45 != 0) rows.push_back(i);
  }
  const RowRuns runs = runsOf(sparse, &rows, nullptr, 600);
  ASSERT_GT(runs.count(), 0);
  for (std::ptrdiff_t k = 0; k < runs.count(); ++k) {
    const RowRun &run = runs.runs()[k], &next = runs.runs()[k + 1];
    for (int place = run.first; place < next.first; ++place) {
      EXPECT_EQ(rows[static_cast<std::size_t>(place)], run.row + (place - run.first));
    }
  }
  EXPECT_EQ(runs.runs()[runs.count()].row, 590) << "behind the last one";
}

TEST(RowRuns, FollowOneAnotherAndEndWithTheList) {
  const SparseCase<double> sparse(
      600, [](int i) { return gridRow(i, 20, 6, 5, true); }, 3);
  const RowRuns runs = runsOf(sparse, nullptr, nullptr, 600);
  ASSERT_GT(runs.count(), 0);
  EXPECT_EQ(runs.runs()[0].first, 0);
  EXPECT_EQ(runs.runs()[runs.count()].first, 600);
  for (std::ptrdiff_t k = 0; k < runs.count(); ++k) {
    const RowRun &run = runs.runs()[k], &next = runs.runs()[k + 1];
    ASSERT_LT(run.first, next.first);
    EXPECT_FALSE(run.length == 0 && next.length == 0 && k + 1 < runs.count()) << "two that could be one";
    for (int i = run.first; run.length > 0 && i < next.first; ++i) {
      const auto row = static_cast<std::size_t>(i);
      ASSERT_EQ(sparse.begin[row + 1] - sparse.begin[row], static_cast<std::size_t>(run.length));
      for (int j = 0; j < run.length; ++j) {
        EXPECT_EQ(sparse.column[sparse.begin[row] + static_cast<std::size_t>(j)], i + runs.offsets()[run.offsets + j]);
      }
    }
  }
  EXPECT_FALSE(runs.repeatColumns());
  EXPECT_EQ(RowRuns().count(), 0);
}

}  // namespace
}  // namespace capstan::kernels::test
