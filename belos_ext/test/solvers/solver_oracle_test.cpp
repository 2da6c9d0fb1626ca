/// \file
/// Capstan's methods beside Belos' own, BLOCK GMRES and PSEUDOBLOCK CG, on the smaller ones of the real matrices beside
/// the repository: where those converge, ours do, in about as many iterations. perf/oracle makes the table of all.

#include <BelosBiCGStabSolMgr.hpp>
#include <BelosBlockGmresSolMgr.hpp>
#include <BelosPseudoBlockCGSolMgr.hpp>
#include <algorithm>
#include <iostream>

#include "belos_ext/test/solvers/ifpack2_preconditioner.hpp"
#include "belos_ext/test/solvers/real_matrices.hpp"
#include "belos_ext/test/solvers/textbook_cr.hpp"
#include "belos_ext/test/solvers/textbook_idr.hpp"
#include "belos_ext/test/support/methods.hpp"

namespace capstan::testing {
namespace {

/// Bytes of a matrix's file.
constexpr std::uintmax_t small = 40000;
constexpr double tolerance = 1e-8;
constexpr int restartLength = 300;

Params parameters() {
  Params p;
  p.set("Convergence Tolerance", tolerance);
  p.set("Maximum Iterations", 3000);
  p.set("Maximum Restarts", 100);
  p.set("Num Blocks", restartLength);
  return p;
}

/// Iterations of Belos' solver; 0 where it does not converge.
template <class Oracle>
int oracle(const System& system, Side side, const Params& p) {
  system.x->putScalar(0);
  Oracle solver(problemOf(system, side), rcp(new Params(p)));
  try {
    const bool converged = solver.solve() == Belos::Converged;
    const bool honest = residualNorms(system, *system.x)[0] <= tolerance * (1 + 1e-3) * norms(*system.b)[0];
    return converged && honest ? solver.getNumIters() : 0;
  } catch (const std::exception&) {
    return 0;  // Belos throws, on all ranks, where a preconditioner makes a NaN
  }
}

/// Over several restart cycles S-STEP may still be luckless: where its steps change decides what the next cycle starts
/// from (1138_bus without a preconditioner: 1045 for 836 on 4 ranks); 1.08 is aimed at there, too.
int bound(const MethodTraits& name, int iterations) {
  double factor = name.canonical == id::Gmres ? 1.02 : 1.08;
  if (name.canonical == id::SStepGmres && iterations > restartLength) factor = 1.35;
  return static_cast<int>(factor * iterations) + (getsStepSize(name) ? 10 : 1);
}

/// b = A v for a v without a pattern, or v itself: its solution has more of what is hard for a Krylov method.
enum class RightHandSide { Image, Random };

/// Calls `judge` for every system with every preconditioner.
void forEverySystem(const std::function<void(System&, Side, const std::string&)>& judge,
                    RightHandSide b = RightHandSide::Image) {
  for (const std::string& name : matrixNames()) {
    if (fileSize(name) > small) continue;
    System system = systemFrom(name);
    const auto a = Teuchos::rcp_dynamic_cast<const CrsMatrix>(system.a);
    // Numbers without a pattern, the same on any number of ranks.
    const auto v =
        vectorFrom(a->getDomainMap(), [](GO g) { return std::sin(1e4 * static_cast<double>(g * g % 7919 + g)); });
    b == RightHandSide::Image ? a->apply(*v, *system.b) : Tpetra::deep_copy(*system.b, *v);
    for (const std::string preconditioner : {"none", "jacobi", "riluk"}) {
      SCOPED_TRACE(name + ", " + preconditioner);
      system.preconditioner = ifpack2Preconditioner(a, preconditioner);
      judge(system, preconditioner == "none" ? Side::None : Side::Right, name + ", " + preconditioner);
    }
  }
}

/// A v = A^T v for a vector without a pattern.
bool isSymmetric(const System& system) {
  const auto v = copyOf(*system.b), transposed = copyOf(*system.b), difference = copyOf(*system.b);
  system.a->apply(*v, *transposed, Teuchos::TRANS);
  system.a->apply(*v, *difference);
  const double size = norms(*difference)[0];
  difference->update(-1, *transposed, 1);
  return norms(*difference)[0] <= 1e-12 * size;
}

/// What two ways of computing b - A x may differ by, of the tolerance, where a random b makes x large.
constexpr double rounding = 1e-2;

/// Returns the iterations.
int keepsUp(const MethodTraits& method, Params p, const System& system, Side side, int bound, int expected,
            double slack = 1e-6) {
  SCOPED_TRACE(method.canonical);
  p.set("State Cache", false);
  system.x->putScalar(0);
  const auto guess = copyOf(*system.x);
  const Outcome outcome = solve(method, p, system, side);
  std::string told;
  for (const ReportEvent& event : outcome.report.events) {
    told += "\n  " + std::to_string(event.iteration) + ' ' + event.kind + ": " + event.detail;
  }
  EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason) << told;
  EXPECT_LE(relativeResidual(system, *guess), tolerance * (1 + slack));
  EXPECT_LE(outcome.iterations, bound) << "the oracle " << expected;
  expectSameOnAllRanks(outcome);
  return outcome.iterations;
}

TEST(Oracle, GmresMethodsKeepUpWithBlockGmres) {
  CAPSTAN_NEEDS_REAL_MATRICES();
  int solved = 0;
  forEverySystem([&](System& system, Side side, const std::string&) {
    using BlockGmres = Belos::BlockGmresSolMgr<Scalar, MultiVector, Operator>;
    const int expected = oracle<BlockGmres>(system, side, parameters());
    if (expected == 0) return;
    ++solved;
    for (const MethodTraits& method : methods()) {
      if (isGmres(method)) keepsUp(method, parameters(), system, side, bound(method, expected), expected);
    }
    // Panels of 20 steps of the monomial basis. Each cycle ends up to 1.15 times the least residual.
    Params sketched = parameters();
    sketched.set("Block Orthogonalization", "sketched");
    sketched.set("Basis", "monomial");
    sketched.set("Step Size", 20);
    const double factor = expected > restartLength ? 1.15 : 1.03;
    keepsUp(methodOf(id::SStepGmres), sketched, system, side, static_cast<int>(factor * expected) + 5, expected);
  });
  if (rank() == 0) std::cout << solved << " systems that BLOCK GMRES solves\n";
  EXPECT_GT(solved, 10);
}

TEST(Oracle, CgMethodsKeepUpWithBelosCg) {
  CAPSTAN_NEEDS_REAL_MATRICES();
  int solved = 0;
  Params p;
  p.set("Convergence Tolerance", tolerance);
  p.set("Maximum Iterations", 3000);
  forEverySystem([&](System& system, Side side, const std::string&) {
    using BelosCg = Belos::PseudoBlockCGSolMgr<Scalar, MultiVector, Operator>;
    const int expected = oracle<BelosCg>(system, side, p);
    if (expected == 0) return;
    ++solved;
    for (const std::string& method : {id::Cg, id::EmbeddedCg}) {
      keepsUp(methodOf(method), p, system, side, static_cast<int>(1.05 * expected) + 5, expected);
    }
    keepsUp(methodOf(id::Cr), p, system, side, static_cast<int>(1.05 * expected) + 5, expected);
    keepsUp(methodOf(id::PipelinedCr), p, system, side, static_cast<int>(1.1 * expected) + 5, expected);
    for (const int t : {4, 8}) {
      if (!isSymmetric(system)) continue;
      SCOPED_TRACE("t " + std::to_string(t));
      Params own = p;
      own.set("Enlarging Factor", t);
      keepsUp(methodOf(id::EnlargedCg), own, system, side, expected + 2, expected);
    }
    for (const int depth : {1, 2, 3}) {
      SCOPED_TRACE("depth " + std::to_string(depth));
      Params own = p;
      own.set("Pipeline Depth", depth);
      keepsUp(methodOf(id::PipelinedCg), own, system, side, static_cast<int>(1.1 * expected) + 5 * depth, expected);
    }
  });
  if (rank() == 0) std::cout << solved << " systems that PSEUDOBLOCK CG solves\n";
  EXPECT_GT(solved, 5);
}

/// Prints one row of a table on rank 0.
void printRow(const std::string& name, int expected, const std::vector<std::pair<std::string, int>>& found) {
  if (rank() != 0) return;
  std::cout << name << ": Belos " << expected;
  for (const auto& [title, iterations] : found) std::cout << ", " << title << ' ' << iterations;
  std::cout << '\n';
}

/// Right-hand sides of a system that takes several cycles.
constexpr int manyRightHandSides = 3;

/// 1.05, and the block of an s-step method. Over several cycles this holds for the median of the right-hand sides
/// alone: what a cycle begins with decides how far the next one comes. BLOCK GMRES with its own DGKS, ICGS and IMGS
/// differs by up to 5 % on nos7 without a preconditioner, and by 0.05 % on 1138_bus (9 right-hand sides each, 1 and 2
/// ranks). None may be beyond 1.1.
int boundOfRandom(const MethodTraits& method, int iterations) {
  const double factor = iterations > restartLength ? 1.1 : 1.05;
  return static_cast<int>(factor * iterations) + (getsStepSize(method) ? 10 : 1);
}

TEST(Oracle, GmresMethodsKeepUpWithRandomRightHandSides) {
  CAPSTAN_NEEDS_REAL_MATRICES();
  int solved = 0;
  forEverySystem(
      [&](System& system, Side side, const std::string& name) {
        using BlockGmres = Belos::BlockGmresSolMgr<Scalar, MultiVector, Operator>;
        const auto first = copyOf(*system.b);
        std::map<std::string, std::vector<double>> ratios;
        for (int k = 0, count = 1; k < count; ++k) {
          SCOPED_TRACE("right-hand side " + std::to_string(k));
          const auto other = vectorFrom(
              first->getMap(), [&](GO g) { return std::sin(1e4 * static_cast<double>(g * g % 7919 + g) + k); });
          if (k > 0) Tpetra::deep_copy(*system.b, *other);
          const int expected = oracle<BlockGmres>(system, side, parameters());
          if (expected == 0) continue;
          if (expected > restartLength) count = manyRightHandSides;
          ++solved;
          std::vector<std::pair<std::string, int>> row;
          for (const MethodTraits& method : methods()) {
            if (!isGmres(method)) continue;
            const int bound = boundOfRandom(method, expected);
            const int found = keepsUp(method, parameters(), system, side, bound, expected, rounding);
            row.emplace_back(method.canonical, found);
            ratios[method.canonical].push_back(static_cast<double>(found) / expected);
          }
          printRow(name, expected, row);
        }
        Tpetra::deep_copy(*system.b, *first);
        for (auto& [method, found] : ratios) {
          if (found.size() < manyRightHandSides) continue;
          std::nth_element(found.begin(), found.begin() + manyRightHandSides / 2, found.end());
          EXPECT_LE(found[manyRightHandSides / 2], 1.05) << method;
        }
      },
      RightHandSide::Random);
  EXPECT_GT(solved, 10);
}

// 1138_bus without a preconditioner takes 3010 iterations.
TEST(Oracle, CgMethodsKeepUpWithRandomRightHandSides) {
  CAPSTAN_NEEDS_REAL_MATRICES();
  int solved = 0;
  Params p;
  p.set("Convergence Tolerance", tolerance);
  p.set("Maximum Iterations", 6000);
  forEverySystem(
      [&](System& system, Side side, const std::string& name) {
        if (!isSymmetric(system)) return;
        using BelosCg = Belos::PseudoBlockCGSolMgr<Scalar, MultiVector, Operator>;
        const int expected = oracle<BelosCg>(system, side, p), bound = static_cast<int>(1.1 * expected) + 1;
        if (expected == 0) return;
        ++solved;
        std::vector<std::pair<std::string, int>> row;
        const auto judge = [&](const std::string& title, const std::string& method, const char* key, int value) {
          SCOPED_TRACE(title);
          Params own = p;
          if (value > 0) own.set(key, value);
          row.emplace_back(title, keepsUp(methodOf(method), own, system, side, bound, expected, rounding));
        };
        judge("CG", id::Cg, "", 0);
        judge("embedded CG", id::EmbeddedCg, "", 0);
        for (const int t : {4, 8}) judge("ECG(" + std::to_string(t) + ")", id::EnlargedCg, "Enlarging Factor", t);
        for (const int l : {1, 2, 3}) judge("p(" + std::to_string(l) + ")-CG", id::PipelinedCg, "Pipeline Depth", l);
        printRow(name, expected, row);
      },
      RightHandSide::Random);
  EXPECT_GT(solved, 5);
}

// BiCGStab is sensitive to the last digit: on one more rank Belos' own count differs by half. So each system has to be
// solved, and the geometric mean of the ratios counts, over several right-hand sides.
TEST(Oracle, BiCgStabMethodsKeepUpWithBelosBiCgStab) {
  CAPSTAN_NEEDS_REAL_MATRICES();
  Params p;
  p.set("Convergence Tolerance", tolerance);
  p.set("Maximum Iterations", 3000);
  std::map<std::string, double> logs;
  int solved = 0;
  forEverySystem([&](System& system, Side side, const std::string&) {
    if (isSymmetric(system)) return;
    for (int k = 0; k < 5; ++k) {
      SCOPED_TRACE("right-hand side " + std::to_string(k));
      const auto v = vectorFrom(system.a->getDomainMap(),
                                [&](GO g) { return std::sin(1e4 * static_cast<double>(g * g % 7919 + g) + k); });
      system.a->apply(*v, *system.b);
      using BelosBiCgStab = Belos::BiCGStabSolMgr<Scalar, MultiVector, Operator>;
      const int expected = oracle<BelosBiCgStab>(system, side, p);
      if (expected == 0) continue;
      ++solved;
      for (const std::string& method : {id::BiCgStab, id::PipelinedBiCgStab}) {
        const int iterations = keepsUp(methodOf(method), p, system, side, 2 * expected + 10, expected);
        logs[method] += std::log(static_cast<double>(iterations) / expected);
      }
    }
  });
  EXPECT_GT(solved, 20);
  for (const auto& [method, sum] : logs) {
    const double mean = std::exp(sum / solved);
    if (rank() == 0) std::cout << method << ": " << mean << " of the iterations of Belos, " << solved << " solves\n";
    EXPECT_LE(mean, 1.1) << method;
  }
}

// Random right-hand sides have as much of what is hard as of what is easy.
TEST(Oracle, CrMethodsKeepUpWithTheTextbook) {
  CAPSTAN_NEEDS_REAL_MATRICES();
  constexpr int most = 3000;
  Params p;
  p.set("Convergence Tolerance", tolerance);
  p.set("Maximum Iterations", 2 * most);
  int solved = 0;
  forEverySystem([&](System& system, Side side, const std::string&) {
    if (!isSymmetric(system)) return;
    system.b = vectorFrom(system.a->getDomainMap(),
                          [](GO g) { return std::sin(1e4 * static_cast<double>(g * g % 6151 + g)); });
    const double goal = tolerance * norms(*system.b)[0];
    const Operator* m = side == Side::None ? nullptr : system.preconditioner.get();
    const auto residuals = textbookCr(*system.a, m, *system.b, goal, most);
    if (!(residuals.back() <= goal)) return;
    ++solved;
    const int expected = static_cast<int>(residuals.size());
    keepsUp(methodOf(id::Cr), p, system, side, static_cast<int>(1.05 * expected) + 1, expected);
    keepsUp(methodOf(id::PipelinedCr), p, system, side, static_cast<int>(1.1 * expected) + 5, expected);
  });
  EXPECT_GE(solved, ranks() == 1 ? 10 : 9);
}

// So is IDR, and it depends on its random vectors: the textbook's are others here.
TEST(Oracle, IdrKeepsUpWithTheTextbook) {
  CAPSTAN_NEEDS_REAL_MATRICES();
  constexpr int s = 4, most = 3000;
  Params p;
  p.set("Convergence Tolerance", tolerance);
  p.set("Maximum Iterations", 2 * most);
  double logs = 0;
  int solved = 0;
  forEverySystem([&](System& system, Side side, const std::string&) {
    if (isSymmetric(system)) return;
    for (int k = 0; k < 5; ++k) {
      SCOPED_TRACE("right-hand side " + std::to_string(k));
      const auto v = vectorFrom(system.a->getDomainMap(),
                                [&](GO g) { return std::sin(1e4 * static_cast<double>(g * g % 7919 + g) + k); });
      system.a->apply(*v, *system.b);
      const double goal = tolerance * norms(*system.b)[0];
      const Operator* m = side == Side::None ? nullptr : system.preconditioner.get();
      const auto shadow = shadowSpace(system.a->getDomainMap(), s, 1000 + 10 * k);
      const auto residuals = textbookIdr(*system.a, m, *system.b, shadow, goal, most);
      if (!(residuals.back() <= goal)) continue;
      ++solved;
      const int expected = static_cast<int>(residuals.size());
      const int iterations = keepsUp(methodOf(id::Idr), p, system, side, 2 * expected + 20, expected);
      logs += std::log(static_cast<double>(iterations) / expected);
    }
  });
  EXPECT_GT(solved, 20);
  const double mean = std::exp(logs / solved);
  if (rank() == 0) std::cout << "CAPSTAN IDR: " << mean << " of the textbook's products, " << solved << " solves\n";
  EXPECT_LE(mean, 1.1);
}

}  // namespace
}  // namespace capstan::testing
