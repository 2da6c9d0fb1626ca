#include "tpetra_ext/operators/block_kernels.hpp"

#include <gtest/gtest.h>

#include <Tpetra_CrsMatrix.hpp>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "tpetra_ext/operators/matrix_sample.hpp"
#include "tpetra_ext/operators/row_sums.hpp"
#include "tpetra_ext/reductions/counters.hpp"
#include "tpetra_ext/reductions/reduction_batch.hpp"
#include "tpetra_ext/reductions/vector_work.hpp"
#include "tpetra_ext/test/support/counted_allocations.hpp"
#include "tpetra_ext/test/support/vectors.hpp"

namespace capstan::test {
namespace {

using Kernels = BlockKernels<Types>;
using Execution = Types::ExecutionSpace;
using Staging = CoefficientStaging<Execution, Scalar>;
using HostMatrix = Staging::HostMatrix;

HostMatrix numbered(int rows, int columns, int from) {
  HostMatrix matrix(rows, columns);
  for (int j = 0; j < columns; ++j) {
    for (int i = 0; i < rows; ++i) matrix(i, j) = static_cast<Scalar>(from + i + rows * j);
  }
  return matrix;
}

TEST(CoefficientStaging, CopiesInTheShapeOfTheMatrix) {
  Staging staging(nodeQueue<Types>());
  const auto first = staging.copy(numbered(2, 3, 0)), second = staging.copy(numbered(4, 1, 100));
  EXPECT_EQ((*first).extent(0), 2u);
  EXPECT_EQ((*first).extent(1), 3u);
  EXPECT_EQ((*first)(1, 2), Scalar(5));
  EXPECT_EQ((*second)(3, 0), Scalar(103));
  EXPECT_NE((*first).data(), (*second).data());
}

/// More kernels than there are buffers, each with three matrices: one of the waits for a buffer comes between two of
/// them. CAPSTAN_KERNELS=delayed shows what is written again too early.
TEST(BlockKernels, KeepCoefficientsUntilTheirKernelHasRun) {
  const MapPtr map = mapOfLocal(15);
  const MultiVector q = filled(map, 2, 1);
  HostMatrix one(1, 1), unit(1, 1);
  one(0, 0) = unit(0, 0) = 1;
  for (int before = 0; before < 3; ++before) {  // others that have been given out
    Kernels kernels;
    std::vector<MultiVector> p, v, alone;
    for (int k = 0; k < 40; ++k) {
      p.push_back(filled(map, 1, 2));
      v.push_back(filled(map, 1, 3));
      alone.push_back(filled(map, 1, 3));
    }
    const auto run = [&](int k, MultiVector& result) {
      unit(0, 0) = static_cast<Scalar>(1 + k);
      kernels.orthonormalize(&q, &p[static_cast<std::size_t>(k)], one, result, numbered(3, 1, k), unit);
    };
    for (int k = 0; k < before; ++k) kernels.update(q, numbered(2, 1, 0), p.front());
    for (int k = 0; k < 40; ++k) run(k, v[static_cast<std::size_t>(k)]);
    capstan::kernels::fence(kernels.queue());
    for (int k = 0; k < 40; ++k) {
      run(k, alone[static_cast<std::size_t>(k)]);
      capstan::kernels::fence(kernels.queue());
      auto& difference = alone[static_cast<std::size_t>(k)];
      difference.update(1, v[static_cast<std::size_t>(k)], -1);
      Teuchos::Array<Scalar> norm(1);
      difference.normInf(norm());
      EXPECT_EQ(norm[0], 0) << "kernel " << k << " after " << before << " others";
    }
  }
}

/// Whether Kokkos itself allocates for each launch of teams: since Kokkos 4.
bool teamPoliciesAllocate() {
  const long before = allocations();
  const Kokkos::TeamPolicy<Execution> policy(1, 1);
  const Kokkos::TeamPolicy<Execution> copy(policy);
  return allocations() != before;
}

TEST(BlockKernels, AllocateNothingForShapesTheyHaveSeen) {
  const MapPtr map = mapOfLocal(20);
  const MultiVector q = filled(map, 4, 1);
  MultiVector p = filled(map, 2, 2), v = filled(map, 2, 3);
  Kernels kernels;
  HostMatrix unit = numbered(2, 2, 1);
  unit(1, 0) = 0;
  const HostMatrix r = numbered(6, 2, 0), s = numbered(4, 2, 0);
  const auto use = [&] {
    capstan::kernels::fence(kernels.queue());
    kernels.update(q, s, v);
    kernels.triangularSolve(v, unit);
    kernels.orthonormalize(&q, &p, unit, v, r, unit);
    kernels.orthonormalize(&q, nullptr, HostMatrix(), v, s, unit);
  };
  use();
  const long fences = counters().fences;
  use();
  EXPECT_EQ(counters().fences, fences + 1) << "a launch must not wait for the coefficients of the one before";
  const long before = allocations();
  use();
  const long ours = allocations() - before;
  const char* forced = std::getenv("CAPSTAN_KERNELS");
  const bool teams = forced != nullptr && (forced == std::string("generic") || forced == std::string("delayed"));
  if (teams && teamPoliciesAllocate()) return;
  EXPECT_EQ(ours, 0);
}

/// Flops and entries of one row.
struct RowWork {
  long long flops, entries;
  bool operator==(const RowWork& other) const { return flops == other.flops && entries == other.entries; }
};
void PrintTo(const RowWork& work, std::ostream* out) { *out << work.flops << " flops, " << work.entries << " entries"; }

template <class Use>
RowWork countedInARow(long long rows, const Use& use) {
  vectorWork().clear();
  vectorWork().enable(true);
  use();
  vectorWork().enable(false);
  EXPECT_EQ(vectorWork().flops() % rows, 0);
  EXPECT_EQ(vectorWork().entries() % rows, 0);
  return {vectorWork().flops() / rows, vectorWork().entries() / rows};
}

TEST(BlockKernels, CountWhatTheyDoToARow) {
  const MapPtr map = mapOfLocal(20);
  const MultiVector q = filled(map, 4, 1), w = filled(map, 2, 4);
  MultiVector p = filled(map, 3, 2), v = filled(map, 2, 3), x = filled(map, 1, 5), y = filled(map, 1, 6);
  Kernels kernels;
  const HostMatrix r = numbered(4, 2, 0), all = numbered(7, 2, 0);
  HostMatrix s(3, 3), u(2, 2);
  for (int i = 0; i < 3; ++i) s(i, i) = 1;
  for (int i = 0; i < 2; ++i) u(i, i) = 2;
  const auto of = [](const auto& use) { return countedInARow(20, use); };

  EXPECT_EQ(of([&] { kernels.update(q, r, v); }), (RowWork{16, 8}));
  EXPECT_EQ(of([&] { kernels.accumulate(q, r, v); }), (RowWork{16, 8}));
  EXPECT_EQ(of([&] { kernels.updateFrom(w, q, r, v); }), (RowWork{16, 8}));
  EXPECT_EQ(of([&] { kernels.triangularSolve(v, u); }), (RowWork{4, 4}));
  EXPECT_EQ(of([&] { kernels.orthonormalize(&q, &p, s, v, all, u); }), (RowWork{9 + 28 + 4, 9 + 5}));
  EXPECT_EQ(of([&] { kernels.orthonormalize(&q, nullptr, HostMatrix(), v, r, u); }), (RowWork{16 + 4, 6 + 2}));
  EXPECT_EQ(of([&] { kernels.axpby(2, x, 3, y); }), (RowWork{3, 3}));
  EXPECT_EQ(of([&] { kernels.axpby(2, x, 1, y); }), (RowWork{2, 3}));
  EXPECT_EQ(of([&] { kernels.axpby(-1, x, 0, y); }), (RowWork{0, 2}));
  EXPECT_EQ(of([&] { kernels.recur(2, x, 3, y, 0, y); }), (RowWork{3, 3}));
}

/// The same columns in single precision.
SingleColumns<Types> singlesOf(Kernels& kernels, const MultiVector& q) {
  SingleColumns<Types> singles("singles", q.getLocalLength(), q.getNumVectors());
  kernels.round(q, singles);
  return singles;
}

/// The numbers are whole: what is stored in single precision is as good.
TEST(BlockKernels, TakeColumnsInSinglePrecision) {
  for (const std::size_t rows : {std::size_t{0}, std::size_t{20 + static_cast<std::size_t>(world()->getRank())}}) {
    const MapPtr map = mapOfLocal(rows);
    const MultiVector q = filled(map, 4, 1);
    Kernels kernels;
    const auto singles = singlesOf(kernels, q);
    const HostMatrix r = numbered(4, 2, 0), all = numbered(7, 2, 0);
    HostMatrix s(3, 3), u(2, 2);
    for (int i = 0; i < 3; ++i) s(i, i) = 2;
    for (int i = 0; i < 2; ++i) u(i, i) = 4;
    const auto expectSame = [&](const auto& use) {
      MultiVector p = filled(map, 3, 2), v = filled(map, 2, 3), twinP = filled(map, 3, 2), twin = filled(map, 2, 3);
      use(q, p, v);
      use(singles, twinP, twin);
      capstan::kernels::fence(kernels.queue());
      v.update(1, twin, -1);
      p.update(1, twinP, -1);
      Teuchos::Array<Scalar> difference(2), ofP(3);
      v.normInf(difference());
      p.normInf(ofP());
      EXPECT_EQ(difference[0] + difference[1] + ofP[0] + ofP[1] + ofP[2], 0);
    };
    expectSame([&](const auto& basis, auto&, auto& v) { kernels.update(basis, r, v); });
    expectSame([&](const auto& basis, auto&, auto& v) { kernels.accumulate(basis, r, v); });
    SingleColumns<Types> roundedP("P", rows, 3);
    expectSame([&](const auto& basis, auto& p, auto& v) {
      if constexpr (std::is_same_v<std::decay_t<decltype(basis)>, MultiVector>) {
        kernels.orthonormalize(&basis, &p, s, v, all, u);
      } else {
        kernels.orthonormalize(basis, &p, s, roundedP, v, all, u);
        capstan::kernels::fence(kernels.queue());
        const auto expected = singlesOf(kernels, p);
        capstan::kernels::fence(kernels.queue());
        const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), roundedP);
        const auto wanted = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), expected);
        for (std::size_t j = 0; j < 3; ++j) {
          for (std::size_t i = 0; i < rows; ++i) EXPECT_EQ(found(i, j), wanted(i, j));
        }
      }
    });
    expectSame([&](const auto& basis, auto&, auto& v) {
      if constexpr (std::is_same_v<std::decay_t<decltype(basis)>, MultiVector>) {
        kernels.orthonormalize(&basis, nullptr, HostMatrix(), v, r, u);
      } else {
        kernels.orthonormalize(basis, nullptr, HostMatrix(), roundedP, v, r, u);
      }
    });
  }
}

TEST(BlockKernels, CountWhatIsInSinglePrecisionApart) {
  const MapPtr map = mapOfLocal(20);
  const MultiVector q = filled(map, 4, 1), w = filled(map, 3, 4);
  MultiVector p = filled(map, 3, 2), v = filled(map, 2, 3);
  Kernels kernels;
  const auto singles = singlesOf(kernels, q);
  const SingleColumns<Types> roundedP("P", 20, 3);
  HostMatrix s(3, 3), u(2, 2);
  for (int i = 0; i < 3; ++i) s(i, i) = 1;
  for (int i = 0; i < 2; ++i) u(i, i) = 2;
  const auto expect = [](RowWork work, long long ofSingles, const auto& use) {
    EXPECT_EQ(countedInARow(20, use), work);
    EXPECT_EQ(vectorWork().singles(), 20 * ofSingles);
    EXPECT_EQ(vectorWork().bytes(), 20.0 * static_cast<double>(8 * work.entries + 4 * ofSingles));
  };
  expect({16, 4}, 4, [&] { kernels.update(singles, numbered(4, 2, 0), v); });
  expect({16, 4}, 4, [&] { kernels.accumulate(singles, numbered(4, 2, 0), v); });
  expect({9 + 28 + 4, 5 + 5}, 4 + 3,
         [&] { kernels.orthonormalize(singles, &p, s, roundedP, v, numbered(7, 2, 0), u); });
  expect({16 + 4, 4}, 4,
         [&] { kernels.orthonormalize(singles, nullptr, HostMatrix(), roundedP, v, numbered(4, 2, 0), u); });
  expect({0, 3}, 3, [&] { kernels.round(p, roundedP); });
  ReductionBatch<Types> batch(map->getComm());
  expect({2 * (14 - 1), 3}, 4, [&] {
    batch.trailingGram(singles, w, 1);
    batch.reduce();
  });
}

TEST(BlockKernels, CountAVectorOnceInAPass) {
  const MapPtr map = mapOfLocal(20);
  MultiVector x = filled(map, 1, 1), y = filled(map, 1, 2), z = filled(map, 1, 3);
  Kernels kernels;
  const auto of = [](const auto& use) { return countedInARow(20, use); };

  // y is written before it is read: not from memory. x is read twice, once from there.
  EXPECT_EQ(of([&] { kernels.sweep(axpby(2, x, 0, y), axpby(2, x, 3, y), axpy(1, y, y)); }), (RowWork{1 + 3 + 1, 2}));
  EXPECT_EQ(of([&] { kernels.sweep(axpby(2, x, 0, y), axpby(2, x, 3, z)); }), (RowWork{1 + 3, 4}));
  SweepList<Types> list(20);
  list.axpby(2, x, 3, y);
  list.recur(2, z, 3, y, 4, x);
  EXPECT_EQ(of([&] { kernels.sweep(list); }), (RowWork{3 + 5, 5}));
}

TEST(BlockKernels, RecurrencesReadNoTermWithAFactorOfZero) {
  const MapPtr map = mapOfLocal(20);
  MultiVector w = filled(map, 1, 1), nan(map, 1);
  const MultiVector u = filled(map, 1, 2);
  nan.putScalar(std::numeric_limits<Scalar>::quiet_NaN());
  Kernels kernels;
  for (const Scalar a : {2, 0}) {
    for (const Scalar c : {3, 0}) {
      if (a == 0 && c == 0) continue;
      MultiVector wanted(map, 1);
      wanted.update(a, w, c, u, 0);
      // What counts for nothing may be no number.
      MultiVector result(a == 0 ? nan : w, Teuchos::Copy);
      kernels.recur(a, result, Scalar(-0.0), nan, c, c == 0 ? nan : u);
      capstan::kernels::fence(kernels.queue());
      wanted.update(-1, result, 1);
      Teuchos::Array<Scalar> apart(1);
      wanted.normInf(apart());
      EXPECT_EQ(apart[0], 0) << a << ", " << c;
    }
  }
}

TEST(BlockKernels, CountNoTermOfARecurrenceWithAFactorOfZero) {
  const MapPtr map = mapOfLocal(20);
  MultiVector w = filled(map, 1, 1);
  const MultiVector v = filled(map, 1, 2), u = filled(map, 1, 3), x = filled(map, 1, 4);
  Kernels kernels;
  const auto of = [](const auto& use) { return countedInARow(20, use); };
  EXPECT_EQ(of([&] { kernels.recur(2, w, 0, v, 4, u); }), (RowWork{3, 3}));
  EXPECT_EQ(of([&] { kernels.recur(2, w, Scalar(-0.0), v, 0, u); }), (RowWork{1, 2}));
  EXPECT_EQ(of([&] { kernels.recur(0, w, 0, v, 4, u); }), (RowWork{1, 2}));
  // In the pass of a product with x, which has x and w at hand.
  using Recurrence = VectorRecurrence<Types>;
  const auto ofProduct = [&](const Recurrence& then) { return of([&] { detail::countRecurrence(then, x); }); };
  EXPECT_EQ(ofProduct({2, 3, &v, 4, &u}), (RowWork{5, 2}));
  EXPECT_EQ(ofProduct({2, 0, &v, 4, &u}), (RowWork{3, 1}));
  EXPECT_EQ(ofProduct({2, 3, &v, 4, &x}), (RowWork{5, 1}));
  EXPECT_EQ(ofProduct({2, 3, &x, 4, &u}), (RowWork{5, 1}));
}

TEST(BlockKernels, BatchesCountTheirProducts) {
  const MapPtr map = mapOfLocal(20);
  const MultiVector q = filled(map, 4, 1), w = filled(map, 6, 4), x = filled(map, 1, 5), y = filled(map, 1, 6);
  ReductionBatch<Types> batch(map->getComm());
  const auto of = [&batch](const auto& use) {
    batch.clear();
    return countedInARow(20, [&] {
      use();
      batch.reduce();
    });
  };

  const auto dots = [&] { batch.dot(x, y), batch.norm2(x), batch.norm2(y); };
  EXPECT_EQ(of(dots), (RowWork{6, 2})) << "dots share a pass";
  EXPECT_EQ(of([&] { batch.sum(x); }), (RowWork{1, 1}));
  EXPECT_EQ(of([&] { batch.innerProducts(q, w); }), (RowWork{2 * 24, 10}));
  EXPECT_EQ(of([&] { batch.symmetricProducts(q, w); }), (RowWork{2 * (24 - 6), 10}));
  EXPECT_EQ(of([&] { batch.trailingGram(w, 4); }), (RowWork{2 * (12 - 1), 6}));
  EXPECT_EQ(of([&] { batch.value(1); }), (RowWork{0, 0}));
}

TEST(BlockKernels, CountNothingUnlessTold) {
  const MapPtr map = mapOfLocal(20);
  const MultiVector x = filled(map, 1, 1);
  MultiVector y = filled(map, 1, 2);
  Kernels kernels;
  vectorWork().clear();
  kernels.axpby(2, x, 3, y);
  EXPECT_EQ(vectorWork().flops(), 0);
  EXPECT_EQ(vectorWork().entries(), 0);
}

TEST(BlockKernels, PseudoRandomEntriesDependOnTheGlobalRowAlone) {
  const MapPtr map = mapOfLocal(50);
  const MultiVector x = filled(map, 1, 1);
  MultiVector entries(map, 1), signs(map, 1);
  Kernels kernels;
  kernels.scatter(entries);
  kernels.changeSigns(x, signs);
  capstan::kernels::fence(kernels.queue());
  const auto entry = entries.getLocalViewHost(Tpetra::Access::ReadOnly);
  const auto sign = signs.getLocalViewHost(Tpetra::Access::ReadOnly),
             from = x.getLocalViewHost(Tpetra::Access::ReadOnly);
  int negative = 0;
  for (std::size_t i = 0; i < entry.extent(0); ++i) {
    const auto row = static_cast<std::uint64_t>(map->getGlobalElement(static_cast<Map::local_ordinal_type>(i)));
    std::uint64_t bits = (row + 1) * 0x9E3779B97F4A7C15ULL;
    const bool changes = (bits >> 40 & 1U) != 0;
    bits ^= bits >> 29;
    bits *= 0xBF58476D1CE4E5B9ULL;
    EXPECT_EQ(entry(i, 0), static_cast<Scalar>(static_cast<double>(bits >> 11) * 0x1.0p-52 - 1.0));
    EXPECT_EQ(sign(i, 0), changes ? -from(i, 0) : from(i, 0));
    negative += changes ? 1 : 0;
  }
  EXPECT_GT(negative, 10);
  EXPECT_LT(negative, 40);
}

/// 1D Laplace without boundary conditions, whose rows sum to zero; the last row of this rank more by `excess`.
Teuchos::RCP<Types::CrsMatrix> neumann(const MapPtr& map, Scalar excess) {
  const auto matrix = Teuchos::rcp(new Types::CrsMatrix(map, 3));
  const auto rows = static_cast<Types::GlobalOrdinal>(map->getGlobalNumElements());
  const auto last = map->getMaxGlobalIndex();
  for (Types::GlobalOrdinal row = map->getMinGlobalIndex(); row <= last; ++row) {
    Scalar diagonal = row == last ? excess : Scalar(0);
    for (const Types::GlobalOrdinal other : {row - 1, row + 1}) {
      if (other < 0 || other >= rows) continue;
      matrix->insertGlobalValues(row, Teuchos::tuple(other), Teuchos::tuple(Scalar(-1)));
      diagonal += 1;
    }
    matrix->insertGlobalValues(row, Teuchos::tuple(row), Teuchos::tuple(diagonal));
  }
  matrix->fillComplete();
  return matrix;
}

TEST(RowSums, SeeRowsThatDoNotSumToZero) {
  const MapPtr map = mapOfLocal(30);
  const RowSums all = rowSums<Types>(*neumann(map, 0));
  EXPECT_EQ(all.zero, 30);
  EXPECT_EQ(all.others, 0);
  const RowSums one = rowSums<Types>(*neumann(map, Scalar(0.5)));
  EXPECT_EQ(one.zero, 29);
  EXPECT_EQ(one.others, 1);
  const RowSums nan = rowSums<Types>(*neumann(map, std::numeric_limits<Scalar>::quiet_NaN()));
  EXPECT_EQ(nan.others, 1);
  const RowSums infinite = rowSums<Types>(*neumann(map, std::numeric_limits<Scalar>::infinity()));
  EXPECT_EQ(infinite.zero, 29);
  EXPECT_EQ(infinite.others, 1);
}

TEST(MatrixSample, TellsOtherValues) {
  const MapPtr map = mapOfLocal(30);
  const auto sample = [&](Scalar excess) { return matrixSample<Types>(*neumann(map, excess)); };
  ASSERT_TRUE(sample(0));
  EXPECT_EQ(*sample(0), *sample(0));
  EXPECT_NE(*sample(0), *sample(4 * std::numeric_limits<Scalar>::epsilon())) << "the last digits of one entry";
  const auto scaled = neumann(mapOfLocal(2500), 0), more = neumann(mapOfLocal(2500), 0);
  EXPECT_EQ(*matrixSample<Types>(*scaled), *matrixSample<Types>(*more));
  scaled->resumeFill();
  scaled->scale(2);
  scaled->fillComplete();
  EXPECT_NE(*matrixSample<Types>(*scaled), *matrixSample<Types>(*more)) << "each third row is read";
}

TEST(RowSums, ReadAllRowsWhereAFewSumToZero) {
  const auto matrix = neumann(mapOfLocal(2500), 0);
  const RowSums all = rowSums<Types>(*matrix);
  EXPECT_EQ(all.zero, 2500);
  EXPECT_EQ(all.others, 0);
  matrix->resumeFill();
  const Types::LocalOrdinal row = 1, column = 1;  // not among each third
  const Scalar excess = 1;
  matrix->sumIntoLocalValues(row, Teuchos::arrayView(&column, 1), Teuchos::arrayView(&excess, 1));
  matrix->fillComplete();
  EXPECT_EQ(rowSums<Types>(*matrix).others, 1);
}

}  // namespace
}  // namespace capstan::test
