/// \file
/// The scalars and decisions of p(l)-CG: G and T from inner products, the watch over orthonormality, the depth.

#include "belos_ext/dense/pipelined_lanczos.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "belos_ext/convergence/orthogonality_watch.hpp"
#include "belos_ext/supervision/pipeline_depth.hpp"

namespace capstan {
namespace {

using Vector = std::vector<double>;

double dot(const Vector& x, const Vector& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

/// Symmetric, tridiagonal and irreducible, so that the Lanczos vectors started with the first unit vector are the unit
/// vectors, and the Lanczos matrix is the matrix itself.
struct Tridiagonal {
  Vector diagonal, offDiagonal;

  explicit Tridiagonal(std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      diagonal.push_back(2 + 0.1 * std::sin(1.3 * static_cast<double>(i)));
      offDiagonal.push_back(1 + 0.05 * std::cos(0.7 * static_cast<double>(i)));
    }
    offDiagonal.back() = 0;
  }
  std::size_t size() const { return diagonal.size(); }

  /// (T - sigma I) v
  Vector apply(const Vector& v, double sigma) const {
    Vector w(v.size());
    for (std::size_t i = 0; i < v.size(); ++i) {
      w[i] = (diagonal[i] - sigma) * v[i];
      if (i > 0) w[i] += offDiagonal[i - 1] * v[i - 1];
      if (i + 1 < v.size()) w[i] += offDiagonal[i] * v[i + 1];
    }
    return w;
  }
};

/// z_c of the auxiliary basis: P_min(c,l)(T) e_max(0,c-l).
Vector auxiliary(const Tridiagonal& t, const Vector& shifts, int c) {
  const int l = static_cast<int>(shifts.size());
  Vector v(t.size(), 0.0);
  v[static_cast<std::size_t>(std::max(0, c - l))] = 1;
  for (int k = 0; k < std::min(c, l); ++k) v = t.apply(v, shifts[static_cast<std::size_t>(k)]);
  return v;
}

/// What the reduction of column c brings.
Vector productsOf(const std::vector<Vector>& z, int c, int l) {
  Vector products;
  if (c >= l) products.push_back(z[static_cast<std::size_t>(c)][static_cast<std::size_t>(c - l)]);
  for (int j = std::max(0, c - l + 1); j <= c; ++j) {
    products.push_back(dot(z[static_cast<std::size_t>(c)], z[static_cast<std::size_t>(j)]));
  }
  return products;
}

TEST(PipelinedLanczos, EndsWithoutTheNormOfItsLastVector) {
  const Tridiagonal t(20);
  for (const int l : {1, 2, 3}) {
    Vector shifts;
    for (int k = 0; k < l; ++k) shifts.push_back(2 + 2 * std::cos((2 * k + 1) * M_PI / (2 * l)));
    for (const int last : {1, 2, 3, 9}) {
      SCOPED_TRACE("l = " + std::to_string(l) + ", column " + std::to_string(last));
      PipelinedLanczos<double> whole, ended;
      whole.reset(shifts);
      ended.reset(shifts);
      std::vector<Vector> z{auxiliary(t, shifts, 0)};
      for (int c = 1; c <= last; ++c) {
        z.push_back(auxiliary(t, shifts, c));
        Vector products = productsOf(z, c, l);
        whole.complete(c, products);
        if (c < last) {
          ended.complete(c, products);
        } else {
          products.pop_back();
          ended.end(c, products);
        }
      }
      EXPECT_EQ(ended.gamma(last - 1), whole.gamma(last - 1));
      EXPECT_EQ(ended.delta(last - 1), 0);
    }
  }
}

TEST(PipelinedLanczos, RecoversTheLanczosMatrixFromProductsOfTheAuxiliaryBasis) {
  const Tridiagonal t(40);
  for (const int l : {1, 2, 3, 5}) {
    SCOPED_TRACE(l);
    Vector shifts;  // Chebyshev points of [0, 4]; in any other place the products lose digits
    for (int k = 0; k < l; ++k) shifts.push_back(2 + 2 * std::cos((2 * k + 1) * M_PI / (2 * l)));
    PipelinedLanczos<double> lanczos;
    lanczos.reset(shifts);
    EXPECT_EQ(lanczos.depth(), l);
    std::vector<Vector> z{auxiliary(t, shifts, 0)};
    for (int c = 1; c < 40; ++c) {
      z.push_back(auxiliary(t, shifts, c));
      const Vector products = productsOf(z, c, l);
      ASSERT_EQ(static_cast<int>(products.size()), lanczos.products(c));
      const double rest = lanczos.complete(c, products);
      const auto column = static_cast<std::size_t>(c);
      // Z = Q G with the unit vectors for Q: the column of G is z_c, all of it in the band.
      const double square = dot(z[column], z[column]);
      EXPECT_NEAR(rest, z[column][column] * z[column][column] / square, 1e-12);
      for (int j = std::max(0, c - 2 * l); j <= c; ++j) {
        EXPECT_NEAR(lanczos.g(j, c), z[column][static_cast<std::size_t>(j)], 1e-8 * std::sqrt(square))
            << j << ", " << c;
      }
      EXPECT_NEAR(lanczos.gamma(c - 1), t.diagonal[column - 1], 1e-11);
      EXPECT_NEAR(lanczos.delta(c - 1), t.offDiagonal[column - 1], 1e-11);
    }
  }
}

TEST(PipelinedLanczos, TakesLPlusOneProductsAColumn) {
  PipelinedLanczos<double> lanczos;
  lanczos.reset({1, 2, 3});
  EXPECT_EQ(lanczos.products(1), 2);
  EXPECT_EQ(lanczos.products(2), 3);
  for (int c = 3; c < 20; ++c) EXPECT_EQ(lanczos.products(c), 4);
}

TEST(PipelinedLanczos, TellsAnExhaustedSpaceFromABreakdown) {
  PipelinedLanczos<double> lanczos;
  lanczos.reset({1});
  // z_1 = (A - 1) q_0 = 2 q_0: nothing is left, and gamma_0 = 3 stands.
  EXPECT_EQ(lanczos.complete(1, {2, 4}), 0);
  EXPECT_EQ(lanczos.gamma(0), 3);
  EXPECT_EQ(lanczos.delta(0), 0);
  lanczos.reset({3});
  EXPECT_EQ(lanczos.complete(1, {0, 0}), 0) << "A q_0 = 3 q_0: z_1 = 0";
  EXPECT_EQ(lanczos.gamma(0), 3);
  lanczos.reset({1});
  EXPECT_LT(lanczos.complete(1, {2, 3}), -0.3) << "products that no vectors have";
  lanczos.reset({1});
  EXPECT_TRUE(std::isnan(lanczos.complete(1, {2, std::numeric_limits<double>::quiet_NaN()})));
}

TEST(OrthogonalityWatch, TellsWhatIsBeyondRounding) {
  OrthogonalityWatch watch;
  for (const double square : {1 + 1e-8, 1 - 1e-8, 4.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    watch.begin(std::numeric_limits<double>::epsilon(), 1);
    EXPECT_FALSE(watch.lost());
    watch.observe(1 - 6e-9);
    EXPECT_FALSE(watch.lost());
    watch.observe(square);
    EXPECT_TRUE(watch.lost()) << square;
  }
  watch.begin(std::numeric_limits<double>::epsilon(), 1);
  watch.observe(1, 6e-9);
  EXPECT_FALSE(watch.lost());
  watch.observe(1, -7e-9);
  EXPECT_TRUE(watch.lost()) << "a part of the last step is missing, of either sign";
  watch.observe(1, std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(watch.lost());
  watch.begin(std::numeric_limits<float>::epsilon(), 5);
  watch.observe(1.06);
  EXPECT_TRUE(watch.lost()) << "there is a limit in single precision, too";
}

TEST(OrthogonalityWatch, MeasuresGrowthByTheErrorsThatAPipelineBeginsWith) {
  OrthogonalityWatch watch;
  const auto fillWith = [&](double error) {
    watch.begin(std::numeric_limits<double>::epsilon(), 5);
    for (int j = 0; j < 15; ++j) watch.observe(1 + error);
    EXPECT_FALSE(watch.lost());
  };
  const auto keeps = [&](double error) {
    watch.observe(1 - error);
    return !watch.lost();
  };
  fillWith(1e-10);
  EXPECT_TRUE(keeps(1.5e-9));
  EXPECT_FALSE(keeps(1.7e-9)) << "16 times what it began with";
  fillWith(0);
  EXPECT_TRUE(keeps(2e-11));
  EXPECT_FALSE(keeps(3e-11)) << "1e5 eps, whatever it began with";
  fillWith(6e-10);
  EXPECT_TRUE(keeps(6e-9));
  EXPECT_FALSE(keeps(7e-9)) << "never beyond 3e7 eps";
}

TEST(PipelineDepth, HalvesWhereCyclesDoNotPayAndGivesUpBelowOne) {
  PipelineDepth depth;
  depth.begin(5, 20, false);
  EXPECT_EQ(depth.current(), 5);
  EXPECT_FALSE(PipelineDepth::pays(99));
  EXPECT_TRUE(PipelineDepth::pays(100));
  depth.setback(100, false);
  EXPECT_EQ(depth.current(), 5);
  EXPECT_EQ(depth.reason(), Cause::None);
  depth.setback(99, false);
  EXPECT_EQ(depth.current(), 2);
  EXPECT_EQ(depth.reason(), Cause::CyclesTooShort);
  depth.setback(500, true);
  EXPECT_EQ(depth.current(), 1) << "a breakdown, after any number of steps";
  depth.setback(500, false);
  EXPECT_EQ(depth.current(), 1);
  depth.setback(500, true);
  EXPECT_TRUE(depth.givenUp());
}

TEST(PipelineDepth, GoesDeeperOnceItHasLearntTheShifts) {
  PipelineDepth depth;
  depth.begin(5, 20, true);
  EXPECT_EQ(depth.current(), 1);
  EXPECT_EQ(depth.wanted(), 5);
  EXPECT_TRUE(depth.learns());
  depth.learnt();
  EXPECT_EQ(depth.current(), 5);
  EXPECT_FALSE(depth.learns());
  depth.begin(1, 20, true);
  EXPECT_FALSE(depth.learns()) << "one shift is all there is to learn";
  depth.begin(5, 20, true);
  depth.setback(150, false);
  EXPECT_EQ(depth.current(), 1);
  EXPECT_FALSE(depth.learns()) << "a setback ends the learning";
}

TEST(PipelineDepth, GivesUpWhereRestartsComeTooOften) {
  PipelineDepth depth;
  depth.begin(3, 20, false);
  for (const int steps : {100, 100}) depth.setback(steps, false);
  EXPECT_EQ(depth.current(), 3);
  depth.setback(299, false);
  EXPECT_TRUE(depth.givenUp()) << "the third restart within 500 steps";
  EXPECT_EQ(depth.reason(), Cause::RestartsTooOften);
  depth.begin(3, 20, false);
  for (int k = 0; k < 20; ++k) depth.setback(500, false);
  EXPECT_EQ(depth.current(), 3) << "long cycles may go on for ever";
  for (const int steps : {100, 100}) depth.setback(steps, false);
  EXPECT_EQ(depth.current(), 3);
  depth.setback(100, false);
  EXPECT_TRUE(depth.givenUp());
}

TEST(PipelineDepth, StaysWithinWhatTheProblemAllows) {
  PipelineDepth depth;
  depth.begin(50, 20, false);
  EXPECT_EQ(depth.current(), 20);
  depth.begin(3, 0, false);
  EXPECT_EQ(depth.current(), 1);
}

}  // namespace
}  // namespace capstan
