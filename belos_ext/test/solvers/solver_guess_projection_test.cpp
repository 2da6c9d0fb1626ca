/// \file
/// "Initial Guess" = projection against what is computed here densely, and over many steps of time.

#include <Teuchos_LAPACK.hpp>
#include <Teuchos_SerialDenseMatrix.hpp>
#include <Teuchos_SerialDenseSolver.hpp>

#include "belos_ext/test/solvers/guess_suite.hpp"

namespace capstan::testing {
namespace {

using Entries = std::function<Scalar(GO)>;
using Dense = Teuchos::SerialDenseMatrix<int, Scalar>;

class GuessProjection : public Guess {};

Scalar dot(const MultiVector& x, const MultiVector& y) {
  Scalar result = 0;
  x.dot(y, Teuchos::ArrayView<Scalar>(&result, 1));
  return result;
}

/// The best d = sum c_i s_i for A d = r, in the A-norm or by the residual.
RCP<MultiVector> best(const CrsMatrix& a, const std::vector<RCP<MultiVector>>& s, const MultiVector& r, bool energy) {
  const int n = static_cast<int>(s.size());
  Dense gram(n, n), right(n, 1), c(n, 1);
  std::vector<RCP<MultiVector>> images;
  for (const auto& v : s) {
    images.push_back(rcp(new MultiVector(v->getMap(), 1)));
    a.apply(*v, *images.back());
  }
  for (int i = 0; i < n; ++i) {
    const MultiVector& with = energy ? *s[i] : *images[i];
    for (int j = 0; j < n; ++j) gram(i, j) = dot(with, *images[j]);
    right(i, 0) = dot(with, r);
  }
  Teuchos::SerialDenseSolver<int, Scalar> solver;
  solver.setMatrix(Teuchos::rcpFromRef(gram));
  solver.setVectors(Teuchos::rcpFromRef(c), Teuchos::rcpFromRef(right));
  solver.factorWithEquilibration(true);
  EXPECT_EQ(solver.solve(), 0);
  auto d = rcp(new MultiVector(r.getMap(), 1));
  for (int i = 0; i < n; ++i) d->update(c(i, 0), *s[i], 1);
  return d;
}

/// || x - y || / || y ||.
double difference(const MultiVector& x, const MultiVector& y) {
  MultiVector d(x, Teuchos::Copy);
  d.update(-1, y, 1);
  return norms(d)[0] / norms(y)[0];
}

/// The x that a solve begins with.
RCP<MultiVector> guessFor(const MethodTraits& name, System system, const std::string& guess) {
  Params p = guessing(guess, 1e-12);
  p.set("Maximum Iterations", 0);
  const Outcome outcome = solve(name, p, system);
  EXPECT_EQ(outcome.report.rightHandSides[0].guess.vectors > 0, true);
  return system.x;
}

/// Solutions that have much in common, as those of neighbouring times.
Entries atStep(int k) {
  return [=](GO g) {
    const auto s = static_cast<double>(g);
    return std::cos(0.03 * s) + 0.1 * std::sin(0.05 * s + 0.3 * k) + 0.01 * std::cos(0.11 * s * (k + 1));
  };
}

TEST_P(GuessProjection, IsWhatADenseComputationFinds) {
  const auto a = matrix();
  for (const bool zero : {true, false}) {
    forgetAll();
    std::vector<RCP<MultiVector>> solutions;
    for (int k = 0; k < 3; ++k) {
      solutions.push_back(vectorFrom(a->getRowMap(), atStep(k)));
      anew(systemWithSolution(a, atStep(k)), guessing("projection 5", 1e-13));
    }
    System system = systemWithSolution(a, atStep(3));
    if (!zero) system.x->update(0.2, *vectorFrom(a->getRowMap(), second), 0);
    const auto own = copyOf(*system.x);
    MultiVector r(*system.b, Teuchos::Copy), image(r.getMap(), 1);
    a->apply(*own, image);
    r.update(-1, image, 1);
    const auto wanted = best(*a, solutions, r, isCg(GetParam()));
    wanted->update(1, *own, 1);
    EXPECT_LE(difference(*guessFor(GetParam(), system, "projection 5"), *wanted), 1e-7);
  }
}

// The oldest direction gives way, and the last solution is always among what is projected on.
TEST_P(GuessProjection, KnowsTheLastSolutionAfterAnyNumberOfSolves) {
  const auto a = matrix();
  for (int k = 0; k < 7; ++k) {
    anew(systemWithSolution(a, atStep(k)), guessing("projection 2", 1e-12));
    const Outcome again = anew(systemWithSolution(a, atStep(k)), guessing("projection 2", 1e-8));
    EXPECT_TRUE(again.converged);
    EXPECT_EQ(again.iterations, 0) << k;
    EXPECT_LE(guess(again).vectors, 2);
  }
}

/// One step of implicit Euler for u_t = Laplace u + a source that moves in a circle, on an n x n grid of the unit
/// square.
struct Heat {
  static constexpr GO n = 24;
  static constexpr double dt = 0.002;
  RCP<CrsMatrix> a;
  RCP<MultiVector> u;

  Heat() {
    const double c = dt * (n + 1) * (n + 1);
    a = matrixFrom(evenMap(n * n), [=](GO g) {
      std::vector<Entry> row{{g, 1 + 4 * c}};
      if (g % n > 0) row.push_back({g - 1, -c});
      if (g % n + 1 < n) row.push_back({g + 1, -c});
      if (g >= n) row.push_back({g - n, -c});
      if (g + n < n * n) row.push_back({g + n, -c});
      return row;
    });
    u = rcp(new MultiVector(a->getRowMap(), 1));
  }

  System step(int k) const {
    System system;
    system.a = a;
    system.b = vectorFrom(a->getRowMap(), [k](GO g) {
      const double x = double(g % n + 1) / (n + 1) - 0.5 - 0.25 * std::cos(0.05 * k);
      const double y = double(g / n + 1) / (n + 1) - 0.5 - 0.25 * std::sin(0.05 * k);
      return dt * 100 * std::exp(-40 * (x * x + y * y));
    });
    system.b->update(1, *u, 1);
    system.x = copyOf(*u);  // as applications begin
    system.preconditioner = jacobi(*a);
    return system;
  }
};

struct Sum {
  long iterations = 0, m = 0;
  std::vector<long> mUpTo;  ///< applications of M up to each step
  double saved = 0;
};

Sum heatSteps(const MethodTraits& name, const std::string& guess) {
  forgetAll();
  Heat heat;
  Sum sum;
  for (int k = 0; k < 50; ++k) {
    const System system = heat.step(k);
    const auto own = copyOf(*system.x);
    const Outcome outcome = solve(name, guessing(guess, 1e-6), system, Side::Right);
    EXPECT_TRUE(outcome.converged);
    EXPECT_LE(relativeResidual(system, *own), 1.001e-6);
    heat.u = system.x;
    sum.iterations += outcome.iterations;
    sum.m += outcome.report.preconditionerApplications;
    sum.mUpTo.push_back(sum.m);
    sum.saved += outcome.report.iterationsSaved;
  }
  return sum;
}

TEST_P(GuessProjection, SavesIterationsOfAHeatEquation) {
  const Sum plain = heatSteps(GetParam(), "application"), projection = heatSteps(GetParam(), "projection 8");
  const Sum extrapolation = heatSteps(GetParam(), "extrapolation 2");
  if (rank() == 0) {
    std::cout << GetParam().canonical << ": iterations " << plain.iterations << ", projection " << projection.iterations
              << " (" << projection.saved << " said to be saved), extrapolation " << extrapolation.iterations << "; M "
              << plain.m << ", " << projection.m << ", " << extrapolation.m << '\n';
  }
  EXPECT_LE(projection.iterations, 0.8 * plain.iterations);
  EXPECT_LE(extrapolation.iterations, 0.9 * plain.iterations);
  // Where a solve ends sooner than the one before it. IDR's residual rises and falls, so that a better guess may take
  // up to s + 1 products more.
  const long ahead = isPipelined(GetParam()) ? 1 : GetParam().family == Family::Idr ? 5 : 0;
  for (size_t k = 0; k < plain.mUpTo.size(); ++k) {
    EXPECT_LE(projection.mUpTo[k], plain.mUpTo[k] + ahead) << k;
    EXPECT_LE(extrapolation.mUpTo[k], plain.mUpTo[k] + ahead) << k;
  }
  const double really = static_cast<double>(plain.iterations - projection.iterations);
  EXPECT_NEAR(projection.saved, really, 0.5 * really) << "the estimate is of the right size";
}

TEST_P(GuessProjection, EachRightHandSideHasASpaceOfItsOwn) {
  const auto a = matrix();
  const auto system = [&](double factor, size_t columns) {
    System all = systemWithRightHandSide(a, wave, columns);
    all.b->scale(factor);
    return all;
  };
  for (const int together : {0, 1}) {
    forgetAll();
    const auto with = [&](double accuracy) {
      Params p = guessing("projection 3", accuracy);
      p.set("Block Size", together);
      return p;
    };
    anew(system(1, 3), with(1e-12));
    const Outcome next = anew(system(2, 3), with(1e-8));
    EXPECT_TRUE(next.converged);
    EXPECT_EQ(next.iterations, 0);
    for (size_t c = 0; c < 3; ++c) {
      EXPECT_EQ(guess(next, c).vectors, 1);
      EXPECT_GE(guess(next, c).factor, 1e8);
    }
    const Outcome fewer = anew(system(2, 2), with(1e-8));
    EXPECT_TRUE(fewer.converged);
    EXPECT_EQ(guess(fewer, 1).vectors, 0) << "they may be other ones";
    EXPECT_EQ(guess(anew(system(3, 2), with(1e-6)), 1).vectors, 1);
  }
}

CAPSTAN_FOR_EVERY_SOLVER(GuessProjection);

}  // namespace
}  // namespace capstan::testing
