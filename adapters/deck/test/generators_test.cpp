#include "adapters/deck/generators.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace capstan::deck {
namespace {

using Entries = std::map<std::pair<long long, long long>, double>;

GeneratorOptions small(const std::string& problem) {
  GeneratorOptions options;
  options.problem = problem;
  const int dimensions = findGenerator(problem)->dimensions;
  if (dimensions == 2) options.cells = {5, 4};
  if (dimensions == 3) options.cells = {4, 3, 5};
  options.values = {0.001, 1, 2, 3};
  return withDefaults(options);
}

Entries entries(const GeneratorOptions& options) {
  const auto matrix = generate(options);
  Entries all;
  for (long long i = 0; i < matrix.rows; ++i) {
    MatrixRow row;
    matrix.row(i, row);
    EXPECT_LE(row.columns.size(), static_cast<std::size_t>(matrix.entriesInRow));
    for (std::size_t e = 0; e < row.columns.size(); ++e) {
      EXPECT_GE(row.columns[e], 0);
      EXPECT_LT(row.columns[e], matrix.rows);
      EXPECT_TRUE(all.emplace(std::pair{i, row.columns[e]}, row.values[e]).second) << "an entry given twice";
    }
  }
  return all;
}

bool symmetric(const Entries& all) {
  for (const auto& [at, value] : all) {
    const auto other = all.find({at.second, at.first});
    if (other == all.end() || std::abs(other->second - value) > 1e-14 * std::abs(value)) return false;
  }
  return true;
}

/// Sum of a row: zero away from Dirichlet walls.
double rowSum(const Entries& all, long long row) {
  double sum = 0.0;
  for (const auto& [at, value] : all) sum += at.first == row ? value : 0.0;
  return sum;
}

TEST(Generators, EveryProblemHasASoundMatrix) {
  for (const auto& name : generatorNames()) {
    SCOPED_TRACE(name.name);
    const auto options = small(name.name);
    const auto all = entries(options);
    const auto rows = generate(options).rows;
    const int cell = name.name == "dg_laplace2d" ? 16 : 1;  // unknowns
    EXPECT_EQ(rows, name.dimensions == 2 ? 20 * cell : name.dimensions == 3 ? 60 : 4);
    EXPECT_EQ(static_cast<double>(rows), generatedRows(options));
    for (long long i = 0; i < rows; ++i) EXPECT_GT(all.at({i, i}), 0.0);
  }
}

TEST(Generators, AreSymmetricUnlessConvected) {
  for (const auto& name : generatorNames()) {
    EXPECT_EQ(symmetric(entries(small(name.name))), name.name.rfind("convection", 0) != 0) << name.name;
  }
}

TEST(Generators, LaplaceHasTheTextbookStencil) {
  const auto all = entries(small("laplace2d"));
  EXPECT_EQ(all.at({6, 6}), 4.0);
  for (const long long neighbour : {5, 7, 1, 11}) EXPECT_EQ(all.at({6, neighbour}), -1.0);
  EXPECT_EQ(all.count({4, 5}), 0u) << "the end of one line of cells is no neighbour of the start of the next";
}

TEST(Generators, TurnedAnisotropyActsOnQuadraticsAsTheDifferentialOperator) {
  auto options = small("anisotropic2d");
  options.cells = {5, 5};
  options.epsilon = 0.1;
  options.angle = 30.0;
  const auto all = entries(options);
  const double c = std::cos(std::acos(-1.0) / 6), s = std::sin(std::acos(-1.0) / 6);
  const double kxy = 0.9 * c * s;
  double applied = 0.0;  // to u = x y at the centre: -2 kxy
  for (const auto& [at, value] : all) {
    if (at.first == 12) applied += value * static_cast<double>(at.second % 5) * static_cast<double>(at.second / 5);
  }
  EXPECT_NEAR(applied, -2.0 * kxy, 1e-14);
  EXPECT_NEAR(rowSum(all, 12), 0.0, 1e-14);
}

TEST(Generators, UpwindAndCentralConvectionAreConsistent) {
  for (const bool upwind : {true, false}) {
    auto options = small("convection_diffusion2d");
    options.cells = {5, 5};
    options.velocity = {3.0, -2.0};
    options.diffusion = 0.5;
    options.upwind = upwind;
    const auto all = entries(options);
    const double h = 1.0 / 6;
    double applied = 0.0;  // to u = x: velocity[0], times h^2
    for (const auto& [at, value] : all) {
      if (at.first == 12) applied += value * h * static_cast<double>(at.second % 5);
    }
    EXPECT_NEAR(applied, 3.0 * h * h, 1e-14);
    EXPECT_NEAR(rowSum(all, 12), 0.0, 1e-14);
  }
}

TEST(Generators, StretchedPoissonIsSingularUnlessPinned) {
  auto options = small("stretched_poisson3d");
  options.stretching = {1.3, 1.0, 0.8};
  options.pinned = false;
  const auto all = entries(options);
  for (long long i = 0; i < 60; ++i) EXPECT_NEAR(rowSum(all, i), 0.0, 1e-12) << i;
  options.pinned = true;
  const auto pinned = entries(options);
  EXPECT_NEAR(rowSum(pinned, 0), all.at({0, 0}), 1e-12);
  for (long long i = 1; i < 60; ++i) EXPECT_NEAR(rowSum(pinned, i), 0.0, 1e-12) << i;
}

TEST(Generators, DiscontinuousGalerkinTakesItsOptions) {
  auto options = small("dg_laplace2d");
  options.cells = {4, 4};
  options.mesh = "star";
  options.numbering = "nested";
  options.degree = 1;
  EXPECT_EQ(generatedRows(options), 5.0 * 16 * 4);
  EXPECT_EQ(generate(options).rows, 5 * 16 * 4);
  EXPECT_EQ(mostEntriesInRow(options), 20);
  const double weak = entries(options).at({0, 0});
  options.penalty = 40.0;
  EXPECT_GT(entries(options).at({0, 0}), weak);
  options.cells = {4, 2};
  EXPECT_NE(generatorProblem(options), "");
  EXPECT_THROW(generate(options), std::invalid_argument);
}

TEST(Generators, DiagonalHoldsItsValues) {
  const auto all = entries(small("diagonal"));
  EXPECT_EQ(all.size(), 4u);
  EXPECT_EQ(all.at({0, 0}), 0.001);
  EXPECT_EQ(all.at({3, 3}), 3.0);
}

}  // namespace
}  // namespace capstan::deck
