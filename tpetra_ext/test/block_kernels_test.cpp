#include "tpetra_ext/operators/block_kernels.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tpetra_ext/reductions/counters.hpp"
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

TEST(CoefficientStaging, KeepsACopyUntilTheHostHasWaited) {
  Staging staging;
  const Execution exec;
  kernels::fence(exec);
  const auto first = staging.copy(exec, numbered(2, 3, 0)), second = staging.copy(exec, numbered(4, 1, 100));
  EXPECT_EQ(first.extent(0), 2u);
  EXPECT_EQ(first.extent(1), 3u);
  EXPECT_EQ(first(1, 2), Scalar(5));
  EXPECT_EQ(second(3, 0), Scalar(103));
  EXPECT_NE(first.data(), second.data());
  kernels::fence(exec);
  EXPECT_EQ(staging.copy(exec, numbered(1, 1, 7)).data(), first.data());
}

TEST(CoefficientStaging, WaitsForOneMoreThanItsBuffersOnly) {
  Staging staging;
  const Execution exec;
  kernels::fence(exec);
  std::set<const Scalar*> where;
  const long before = counters().fences;
  for (std::size_t k = 0; k < Staging::most; ++k) where.insert(staging.copy(exec, numbered(3, 3, 0)).data());
  EXPECT_EQ(where.size(), Staging::most);
  EXPECT_EQ(counters().fences, before);
  EXPECT_EQ(where.count(staging.copy(exec, numbered(3, 3, 0)).data()), 1u);
  EXPECT_EQ(counters().fences, before + 1);
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
    capstan::kernels::fence(kernels.execution());
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
  EXPECT_EQ(allocations(), before);
}

}  // namespace
}  // namespace capstan::test
