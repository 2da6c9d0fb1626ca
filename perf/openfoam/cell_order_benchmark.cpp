/// \file
/// The product with a mesh's matrix and its incomplete factors: loops over faces, as OpenFOAM has them, against rows in
/// an order by levels (adapters/openfoam/level_order.hpp).
///
///   cell_order_benchmark [Google Benchmark's options]
///
/// Arguments of a case: a block of nx x ny x nz cells, numbered row by row; items_per_second are cells. One core alone
/// works. Exit status 1 where the two differ in what they compute.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <vector>

#include "adapters/openfoam/level_order.hpp"
#include "adapters/openfoam/ordered_matrix.hpp"

namespace {

using Vector = std::vector<double>;

/// A symmetric matrix by faces, its product and DIC by loops over faces.
struct FaceMatrix {
  std::vector<int> lower, upper;
  Vector diagonal, offDiagonal, reciprocal;

  FaceMatrix(int nx, int ny, int nz) {
    const int cells = nx * ny * nz;
    diagonal.assign(static_cast<std::size_t>(cells), 1e-3);
    for (int cell = 0; cell < cells; ++cell) {
      if (cell % nx + 1 < nx) add(cell, cell + 1, 1.0);
      if (cell / nx % ny + 1 < ny) add(cell, cell + nx, 2.0);
      if (cell / (nx * ny) + 1 < nz) add(cell, cell + nx * ny, 0.5);
    }
    factorize();
  }

  std::size_t cells() const { return diagonal.size(); }
  std::shared_ptr<const capstan::foam::LevelOrder> order() const {
    return std::make_shared<const capstan::foam::LevelOrder>(cells(), lower.size(), lower.data(), upper.data());
  }

  void factorize() {
    reciprocal = diagonal;
    for (std::size_t f = 0; f < lower.size(); ++f) {
      reciprocal[up(f)] -= offDiagonal[f] * offDiagonal[f] / reciprocal[low(f)];
    }
    for (double& value : reciprocal) value = 1 / value;
  }

  void multiply(const Vector& in, Vector& out) const {
    const double* const __restrict__ x = in.data();
    double* const __restrict__ y = out.data();
    for (std::size_t cell = 0; cell < cells(); ++cell) y[cell] = diagonal[cell] * x[cell];
    for (std::size_t f = 0; f < lower.size(); ++f) {
      y[up(f)] += offDiagonal[f] * x[low(f)];
      y[low(f)] += offDiagonal[f] * x[up(f)];
    }
  }

  void solve(const Vector& in, Vector& out) const {
    const double* const __restrict__ r = in.data();
    double* const __restrict__ z = out.data();
    for (std::size_t cell = 0; cell < cells(); ++cell) z[cell] = reciprocal[cell] * r[cell];
    for (std::size_t f = 0; f < lower.size(); ++f) z[up(f)] -= reciprocal[up(f)] * offDiagonal[f] * z[low(f)];
    for (std::size_t f = lower.size(); f-- > 0;) z[low(f)] -= reciprocal[low(f)] * offDiagonal[f] * z[up(f)];
  }

 private:
  std::size_t low(std::size_t face) const { return static_cast<std::size_t>(lower[face]); }
  std::size_t up(std::size_t face) const { return static_cast<std::size_t>(upper[face]); }
  void add(int a, int b, double coefficient) {
    lower.push_back(a);
    upper.push_back(b);
    offDiagonal.push_back(-coefficient);
    diagonal[static_cast<std::size_t>(a)] += coefficient;
    diagonal[static_cast<std::size_t>(b)] += coefficient;
  }
};

FaceMatrix matrixOf(const benchmark::State& state) {
  return {static_cast<int>(state.range(0)), static_cast<int>(state.range(1)), static_cast<int>(state.range(2))};
}

Vector wave(std::size_t cells) {
  Vector x(cells);
  for (std::size_t i = 0; i < cells; ++i) x[i] = std::sin(1.0 + 2.3 * static_cast<double>(i));
  return x;
}

void report(benchmark::State& state, std::size_t cells) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(cells));
}

void faceLoops(benchmark::State& state) {
  const auto matrix = matrixOf(state);
  Vector x = wave(matrix.cells()), y(x.size()), z(x.size());
  for (auto _ : state) {
    matrix.multiply(x, y);
    matrix.solve(y, z);
    benchmark::DoNotOptimize(z.data());
    benchmark::ClobberMemory();
  }
  report(state, x.size());
}

void rowsByLevel(benchmark::State& state) {
  const auto matrix = matrixOf(state);
  capstan::foam::OrderedMatrix ordered;
  ordered.take(matrix.order(), matrix.diagonal.data(), matrix.offDiagonal.data(), matrix.offDiagonal.data(), 1);
  Vector x = wave(matrix.cells()), y(x.size()), z(x.size());
  for (auto _ : state) {
    ordered.multiply(x.data(), y.data());
    ordered.solve(y.data(), z.data());
    benchmark::DoNotOptimize(z.data());
    benchmark::ClobberMemory();
  }
  report(state, x.size());
}

/// A between the halves of its factors: what an iteration takes in place of both.
void splitByLevel(benchmark::State& state) {
  const auto matrix = matrixOf(state);
  capstan::foam::OrderedMatrix ordered;
  ordered.take(matrix.order(), matrix.diagonal.data(), matrix.offDiagonal.data(), matrix.offDiagonal.data(), 1);
  Vector x = wave(matrix.cells()), y(x.size());
  for (auto _ : state) {
    ordered.beginSplit(x.data(), 0);
    ordered.endSplit(x.data(), nullptr, y.data(), 0);
    benchmark::DoNotOptimize(y.data());
    benchmark::ClobberMemory();
  }
  report(state, x.size());
}

/// What a solve takes beside: the matrix in its new order, and its factors.
void newValues(benchmark::State& state) {
  const auto matrix = matrixOf(state);
  const auto order = matrix.order();
  capstan::foam::OrderedMatrix ordered;
  const auto take = [&] {
    ordered.take(order, matrix.diagonal.data(), matrix.offDiagonal.data(), matrix.offDiagonal.data(), 1);
  };
  take();  // takes its memory
  for (auto _ : state) {
    take();
    benchmark::ClobberMemory();
  }
  report(state, matrix.cells());
}

/// Whether both compute the same.
bool agree() {
  const FaceMatrix matrix(13, 11, 9);
  const auto order = matrix.order();
  capstan::foam::OrderedMatrix ordered;
  ordered.take(order, matrix.diagonal.data(), matrix.offDiagonal.data(), matrix.offDiagonal.data(), 1);
  const auto x = wave(matrix.cells());
  Vector y(x.size()), z(x.size()), xo(x.size()), yo(x.size()), zo(x.size());
  matrix.multiply(x, y);
  matrix.solve(y, z);
  for (std::size_t i = 0; i < x.size(); ++i) xo[static_cast<std::size_t>(order->places()[i])] = x[i];
  ordered.multiply(xo.data(), yo.data());
  ordered.solve(yo.data(), zo.data());
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(std::abs(zo[static_cast<std::size_t>(order->places()[i])] - z[i]) <= 1e-12)) return false;
  }
  return true;
}

// Second-level cache; last-level cache; narrow levels; memory.
BENCHMARK(faceLoops)->Args({20, 20, 15})->Args({40, 50, 30})->Args({4000, 5, 1})->Args({100, 100, 100});
BENCHMARK(rowsByLevel)->Args({20, 20, 15})->Args({40, 50, 30})->Args({4000, 5, 1})->Args({100, 100, 100});
BENCHMARK(splitByLevel)->Args({20, 20, 15})->Args({40, 50, 30})->Args({4000, 5, 1})->Args({100, 100, 100});
BENCHMARK(newValues)->Args({20, 20, 15})->Args({40, 50, 30})->Args({4000, 5, 1})->Args({100, 100, 100});

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  if (!agree()) {
    std::cerr << "cell_order_benchmark: the loops over faces and the rows by level differ\n";
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
