#include "tpetra_ext/kernels/block_product.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "tpetra_ext/kernels/test/support.hpp"

namespace capstan::kernels::test {
namespace {

template <class Type>
class BlockProductTest : public KernelTest<Type> {};
TYPED_TEST_SUITE(BlockProductTest, Cases, CaseNames);

template <class T>
Kokkos::View<T*, Exec> onDevice(const std::vector<T>& values) {
  Kokkos::View<T*, Exec> view("values", values.size());
  const auto host = Kokkos::create_mirror_view(view);
  std::copy(values.begin(), values.end(), host.data());
  Kokkos::deep_copy(view, host);
  return view;
}

/// rows x columns by rows: rows of 0 to 12 entries, some of 40.
template <class T>
struct SparseCase {
  int rows, columns;
  std::vector<std::size_t> begin{0};
  std::vector<int> column;
  std::vector<T> value;
  Kokkos::View<std::size_t*, Exec> deviceBegin;
  Kokkos::View<int*, Exec> deviceColumn;
  Kokkos::View<T*, Exec> deviceValue;

  SparseCase(int r, int c, unsigned seed) : rows(r), columns(c) {
    std::mt19937 engine(seed);
    for (int i = 0; i < rows; ++i) {
      const int entries = i % 17 == 3 ? 40 : static_cast<int>(engine() % 13);
      std::vector<int> row;
      for (int k = 0; k < entries; ++k) row.push_back(static_cast<int>(engine() % static_cast<unsigned>(columns)));
      add(row, engine);
    }
    copyToDevice();
  }

  /// Square, with the columns of row i as columnsOf(i) says.
  template <class Columns>
  SparseCase(int n, const Columns& columnsOf, unsigned seed) : rows(n), columns(n) {
    std::mt19937 engine(seed);
    for (int i = 0; i < n; ++i) add(columnsOf(i), engine);
    copyToDevice();
  }

  void add(const std::vector<int>& row, std::mt19937& engine) {
    for (const int c : row) {
      column.push_back(c);
      value.push_back(T(int(engine() % 2001) - 1000) / T(1000));
    }
    begin.push_back(column.size());
  }

  void copyToDevice() {
    deviceBegin = onDevice(begin);
    deviceColumn = onDevice(column);
    deviceValue = onDevice(value);
  }

  SparseRows<T, std::size_t, int> matrix() const {
    SparseRows<T, std::size_t, int> a;
    a.begin = deviceBegin.data();
    a.columns = deviceColumn.data();
    a.values = deviceValue.data();
    a.own = columns;
    return a;
  }

  /// A X, and |A| |X| in `magnitude`.
  template <class X>
  Reference times(const X& x, int cols, Reference& magnitude) const {
    Reference product(rows, cols);
    for (int i = 0; i < rows; ++i) {
      for (std::size_t k = begin[i]; k < begin[i + 1]; ++k) {
        for (int j = 0; j < cols; ++j) {
          product(i, j) += static_cast<long double>(value[k]) * x(column[k], j);
          magnitude(i, j) += std::abs(static_cast<long double>(value[k]) * x(column[k], j));
        }
      }
    }
    return product;
  }
};

template <class T>
using Line = Kokkos::View<T*, Exec>;

TYPED_TEST(BlockProductTest, MatchesReferenceForAnyNumberOfColumns) {
  using T = typename TypeParam::Scalar;
  using Path = typename TypeParam::Path;
  for (const int rows : {0, 1, 3, 5, 255, 257, 1031}) {
    const int columns = rows + 2;
    const SparseCase<T> sparse(rows, columns, 7);
    for (int t = 1; t <= 33; ++t) {
      const auto X = TestMatrix<T>::random(columns, t, 11);
      auto Y = TestMatrix<T>::random(rows, t, 13);
      const Line<T> packed("packed", static_cast<std::size_t>(columns * t));
      packRows<Path>(Exec(), X.view(), packed);
      multiplyRows<Path>(Exec(), sparse.matrix(), 0, rows, T(1), packed, Line<T>(), T(0), Y.view());
      Y.pull();
      Reference magnitude(rows, t);
      const Reference expected = sparse.times(X, t, magnitude);
      ASSERT_TRUE(near<T>(Y, expected, magnitude, 40)) << rows << " rows, " << t << " columns";
      ASSERT_TRUE(Y.paddingIntact());
    }
  }
}

TYPED_TEST(BlockProductTest, HasTheSameBitsForAnyNumberOfColumnsAndAnyRows) {
  using T = typename TypeParam::Scalar;
  using Path = typename TypeParam::Path;
  const int rows = 515, columns = 400, most = 34;
  const SparseCase<T> sparse(rows, columns, 3);
  const auto X = TestMatrix<T>::random(columns, most, 5);
  TestMatrix<T> pairs(rows, most);
  const Line<T> two("two", static_cast<std::size_t>(2 * columns));
  for (int j = 0; j < most; j += 2) {
    packRows<Path>(Exec(), X.view(j, 2), two);
    multiplyRows<Path>(Exec(), sparse.matrix(), 0, rows, T(1), two, Line<T>(), T(0), pairs.view(j, 2));
  }
  pairs.pull();
  // Every third row, in descending order: other rows stand beside it, or none.
  std::vector<int> some;
  for (int i = rows - 1; i >= 0; i -= 3) some.push_back(i);
  const auto list = onDevice(some);
  for (const int t : {1, 2, 3, 4, 7, 8, 16, 31, 33, 34}) {
    const Line<T> packed("packed", static_cast<std::size_t>(columns * t));
    packRows<Path>(Exec(), X.view(0, t), packed);
    TestMatrix<T> all(rows, t), chosen(rows, t);
    multiplyRows<Path>(Exec(), sparse.matrix(), 0, rows, T(1), packed, Line<T>(), T(0), all.view());
    auto listed = sparse.matrix();
    listed.rows = list.data();
    const auto middle = static_cast<std::ptrdiff_t>(some.size() / 2);
    multiplyRows<Path>(Exec(), listed, 0, middle, T(1), packed, Line<T>(), T(0), chosen.view());
    multiplyRows<Path>(Exec(), listed, middle, static_cast<std::ptrdiff_t>(some.size()), T(1), packed, Line<T>(), T(0),
                       chosen.view());
    all.pull();
    chosen.pull();
    const TestMatrix<T> untouched(rows, t);
    for (int i = 0; i < rows; ++i) {
      const bool inList = (rows - 1 - i) % 3 == 0;
      for (int j = 0; j < t; ++j) {
        ASSERT_EQ(all(i, j), pairs(i, j)) << t << " columns";
        ASSERT_EQ(chosen(i, j), inList ? pairs(i, j) : untouched(i, j)) << t << " columns";
      }
    }
  }
}

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
  packRows<Path>(Exec(), x.view(), all);
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
              multiplyRows<Path>(Exec(), a, from, to, T(-3), receives ? here : all, receives ? received : Line<T>(),
                                 beta, y.view());
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

TYPED_TEST(BlockProductTest, HasTheSameBitsWhereRowsOfOnePatternAreTakenTogether) {
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

TYPED_TEST(BlockProductTest, HasTheSameBitsWhereRowsOfTheSameColumnsAreTakenTogether) {
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
  EXPECT_EQ(RowRuns().count(), 0);
}

TYPED_TEST(BlockProductTest, FindsRowsElsewhereAndAmongWhatIsReceived) {
  using T = typename TypeParam::Scalar;
  using Path = typename TypeParam::Path;
  const int rows = 300, columns = 200, own = 140;
  const SparseCase<T> sparse(rows, columns, 17);
  std::vector<int> sources(columns);
  for (int c = 0; c < columns; ++c) sources[c] = (c * 77 + 5) % columns;  // 77 and 200 have no common factor
  const auto onDeviceSources = onDevice(sources);
  for (const int t : {1, 2, 5, 8, 19}) {
    const auto all = TestMatrix<T>::random(columns, t, 19, 0);
    const Line<T> packed("packed", static_cast<std::size_t>(columns * t));
    packRows<Path>(Exec(), all.view(), packed);
    const auto part = [&](int from, int to) {
      Line<T> copy("part", static_cast<std::size_t>((to - from) * t));
      Kokkos::deep_copy(copy, Kokkos::subview(packed, std::make_pair(from * t, to * t)));
      return copy;
    };
    const Line<T> here = part(0, own), received = part(own, columns);
    for (const bool mapped : {false, true}) {
      auto a = sparse.matrix();
      a.own = own;
      if (mapped) a.sources = onDeviceSources.data();
      TestMatrix<T> Y(rows, t);
      multiplyRows<Path>(Exec(), a, 0, rows, T(1), here, received, T(0), Y.view());
      Y.pull();
      Reference magnitude(rows, t);
      const auto x = [&](int c, int j) { return all(mapped ? sources[static_cast<std::size_t>(c)] : c, j); };
      ASSERT_TRUE(near<T>(Y, sparse.times(x, t, magnitude), magnitude, 40)) << t << " columns";
    }
  }
}

TYPED_TEST(BlockProductTest, ScalesAndAdds) {
  using T = typename TypeParam::Scalar;
  using Path = typename TypeParam::Path;
  const int rows = 90, t = 6;
  const SparseCase<T> sparse(rows, rows, 23);
  const auto X = TestMatrix<T>::random(rows, t, 29);
  const Line<T> packed("packed", static_cast<std::size_t>(rows * t));
  packRows<Path>(Exec(), X.view(), packed);
  for (const T beta : {T(0), T(1), T(-3)}) {
    auto Y = TestMatrix<T>::random(rows, t, 31);
    const auto before = Reference::of(Y, rows, t);
    if (beta == T(0)) {  // counts for nothing
      for (int i = 0; i < rows; ++i) Y(i, 2) = std::numeric_limits<T>::quiet_NaN();
      Y.push();
    }
    multiplyRows<Path>(Exec(), sparse.matrix(), 0, rows, T(-2), packed, Line<T>(), beta, Y.view());
    Y.pull();
    Reference magnitude(rows, t);
    Reference expected = sparse.times(X, t, magnitude);
    for (int j = 0; j < t; ++j) {
      for (int i = 0; i < rows; ++i) {
        expected(i, j) = -2 * expected(i, j) + beta * before(i, j);
        magnitude(i, j) = 2 * magnitude(i, j) + std::abs(beta * before(i, j));
      }
    }
    EXPECT_TRUE(near<T>(Y, expected, magnitude, 40)) << double(beta);
  }
}

TYPED_TEST(BlockProductTest, LetsNaNThroughToTheRowsThatNeedIt) {
  using T = typename TypeParam::Scalar;
  using Path = typename TypeParam::Path;
  const int rows = 64, t = 9;
  const SparseCase<T> sparse(rows, rows, 37);
  auto X = TestMatrix<T>::random(rows, t, 41);
  X(5, 3) = std::numeric_limits<T>::quiet_NaN();
  X.push();
  const Line<T> packed("packed", static_cast<std::size_t>(rows * t));
  packRows<Path>(Exec(), X.view(), packed);
  TestMatrix<T> Y(rows, t);
  multiplyRows<Path>(Exec(), sparse.matrix(), 0, rows, T(1), packed, Line<T>(), T(0), Y.view());
  Y.pull();
  for (int i = 0; i < rows; ++i) {
    const auto first = sparse.column.begin() + static_cast<std::ptrdiff_t>(sparse.begin[i]);
    const auto last = sparse.column.begin() + static_cast<std::ptrdiff_t>(sparse.begin[i + 1]);
    const bool needs = std::find(first, last, 5) != last;
    for (int j = 0; j < t; ++j) EXPECT_EQ(std::isnan(Y(i, j)), needs && j == 3) << i << ", " << j;
  }
}

TEST(BlockProduct, RefusesWhatDoesNotFit) {
  const auto X = TestMatrix<double>::random(10, 4, 1);
  const Line<double> packed("packed", 39);
  EXPECT_THROW(packRows(Exec(), X.view(), packed), std::invalid_argument);
}

}  // namespace
}  // namespace capstan::kernels::test
