#include "adapters/preconditioners/preconditioner.hpp"

#include <gtest/gtest.h>

#include <Teuchos_XMLParameterListCoreHelpers.hpp>
#include <Tpetra_Core.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_MultiVector.hpp>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "adapters/deck/systems.hpp"
#include "adapters/libraries/open_mate.hpp"
#include "adapters/preconditioners/boomeramg.hpp"
#include "adapters/preconditioners/makers.hpp"
#include "adapters/preconditioners/preconditioner_check.hpp"
#include "tpetra_ext/compat/trilinos.hpp"
#include "tpetra_ext/operators/explicit_preconditioner.hpp"
#include "tpetra_ext/operators/preconditioned_operator.hpp"
#include "tpetra_ext/test/support/counted_mpi.hpp"

namespace capstan::deck {
namespace {

Teuchos::RCP<Matrix> laplace(std::vector<int> cells) {
  GeneratorOptions options;
  options.problem = cells.size() == 2 ? "laplace2d" : "laplace3d";
  options.cells = std::move(cells);
  return buildMatrix(options, Tpetra::getDefaultComm());
}

PreconditionerOptions preset(const std::string& name) {
  PreconditionerOptions options;
  options.name = "muelu";
  options.origin = name;
  options.parameters = *Teuchos::getParametersFromXmlFile(CAPSTAN_PRESETS "/" + name + ".xml");
  return options;
}

double norm(const MultiVector& x) {
  Teuchos::Array<double> result(1);
  x.norm2(result());
  return result[0];
}

/// |b - A x| / |b| after so many steps x <- x + omega M^-1 (b - A x), b random.
double residualAfter(const Matrix& A, const Operator& M, int steps, double omega = 1.0) {
  MultiVector b(A.getRangeMap(), 1), r(A.getRangeMap(), 1), x(A.getDomainMap(), 1), z(A.getDomainMap(), 1);
  fillRandom(b, 1);
  for (int k = 0; k < steps; ++k) {
    Tpetra::deep_copy(r, b);
    A.apply(x, r, Teuchos::NO_TRANS, -1.0, 1.0);
    M.apply(r, z);
    x.update(omega, z, 1.0);
  }
  Tpetra::deep_copy(r, b);
  A.apply(x, r, Teuchos::NO_TRANS, -1.0, 1.0);
  return norm(r) / norm(b);
}

TEST(OpenMate, SaysWhatItTried) {
  const Mate mate = openMate("libcapstan_of_nobody.so", {reinterpret_cast<const void*>(&openMate)});
  EXPECT_EQ(mate.handle, nullptr);
  const std::filesystem::path beside =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libcapstan_of_nobody.so";
  EXPECT_NE(mate.tried.find("\n    " + beside.string() + ": "), std::string::npos) << mate.tried;
  EXPECT_NE(mate.tried.find("\n    libcapstan_of_nobody.so: "), std::string::npos) << mate.tried;
}

TEST(Preconditioner, EveryNameMakesAConvergentIteration) {
  const auto A = laplace({12, 12});
  for (const auto& name : preconditionerNames()) {
    if (name.name == "none" || (name.name == "boomeramg" && !preconditioning::makers().hasBoomerAmg())) continue;
    SCOPED_TRACE(name.name);
    PreconditionerOptions options = name.name == "muelu" ? preset("pressure_poisson") : PreconditionerOptions{};
    options.name = name.name;
    Preconditioner preconditioner(options);
    preconditioner.update(A);
    ASSERT_FALSE(preconditioner.op().is_null());
    // An M of the right scale: some steps with damping must get nearer, and not by scaling alone.
    const double residual = residualAfter(*A, *preconditioner.op(), 30, 0.7);
    EXPECT_LT(residual, 0.2);
  }
}

TEST(Preconditioner, BoomerAmgSaysHowToGetIt) {
  if (preconditioning::makers().hasBoomerAmg()) GTEST_SKIP() << "it is there";
  PreconditionerOptions options;
  options.name = "boomeramg";
  const auto problem = validatePreconditioner(options, Tpetra::getDefaultComm());
  ASSERT_TRUE(problem.has_value());
  EXPECT_NE(problem->message.find("apt-get install libhypre-dev"), std::string::npos) << problem->message;
  EXPECT_THROW(Preconditioner{options}, PreconditionerError);
}

TEST(Preconditioner, NoneIsNoOperator) {
  Preconditioner preconditioner(PreconditionerOptions{});
  preconditioner.update(laplace({4, 4}));
  EXPECT_TRUE(preconditioner.op().is_null());
  EXPECT_THROW(Preconditioner(PreconditionerOptions{"sgz", {}, "", Side::Right, true, false}), PreconditionerError);
}

TEST(Preconditioner, PresetsContractOnAnyNumberOfRanks) {
  for (const char* name : {"pressure_poisson", "no_reductions", "momentum", "momentum_pg"}) {
    for (const auto& cells : {std::vector<int>{60, 60}, std::vector<int>{16, 16, 16}, std::vector<int>{5, 5}}) {
      SCOPED_TRACE(std::string(name) + " in " + std::to_string(cells.size()) + "D");
      const auto A = laplace(cells);
      Preconditioner preconditioner(preset(name));
      preconditioner.update(A);
      EXPECT_EQ(preconditioner.warning(), "");
      // Chebyshev smoothers leave the smoothest error to the coarse levels: twelve cycles gain a digit or more.
      EXPECT_LT(residualAfter(*A, *preconditioner.op(), 12, 0.8), std::string(name) == "momentum" ? 0.5 : 0.1);
    }
  }
}

TEST(Preconditioner, NoReductionsMeansNoReductions) {
  const auto A = laplace({20, 20, 20});
  Preconditioner preconditioner(preset("no_reductions"));
  preconditioner.update(A);
  MultiVector x(A->getDomainMap(), 1), y(A->getRangeMap(), 1);
  fillRandom(x, 1);
  preconditioner.op()->apply(x, y);
  capstan::test::resetMpiCalls();
  for (int k = 0; k < 5; ++k) preconditioner.op()->apply(x, y);
  EXPECT_EQ(capstan::test::mpiCalls().allreduce, 0);
  EXPECT_EQ(capstan::test::mpiCalls().iallreduce, 0);
  EXPECT_EQ(capstan::test::mpiCalls().otherCollectives, 0);
  norm(y);
  EXPECT_EQ(capstan::test::mpiCalls().allreduce, A->getComm()->getSize() > 1 ? 1 : capstan::test::mpiCalls().allreduce)
      << "the counter counts nothing";
}

TEST(Preconditioner, ChecksTheCoarseSolve) {
  const auto A = laplace({60, 60});
  Preconditioner sound(preset("no_reductions"));
  sound.update(A);
  const auto check = checkCoarseSolve(*sound.op());
  ASSERT_TRUE(check.has_value());
  EXPECT_FALSE(check->direct);
  EXPECT_TRUE(check->passed());
  EXPECT_GT(check->rows, 0);
  EXPECT_LT(check->rows, 3600);

  // MueLu's default, a direct solver: it either solves or is refused, whatever this Trilinos makes of it.
  PreconditionerOptions options;
  options.name = "muelu";
  options.origin = "klu.xml";
  options.parameters.set("verbosity", "none");
  options.parameters.set("coarse: type", "KLU2");
  Preconditioner direct(options);
  try {
    direct.update(A);
    const auto solved = checkCoarseSolve(*direct.op());
    ASSERT_TRUE(solved.has_value());
    EXPECT_TRUE(solved->direct);
    EXPECT_LT(solved->relativeResidual, 1e-6);
    EXPECT_LT(residualAfter(*A, *direct.op(), 10), 1e-2);
  } catch (const PreconditionerError& error) {
    EXPECT_GT(A->getComm()->getSize(), 1);
    const std::string what = error.what();
    EXPECT_NE(what.find("klu.xml: MueLu's coarse solver (KLU2"), std::string::npos) << what;
    EXPECT_NE(what.find("Set 'coarse: type' to CHEBYSHEV"), std::string::npos) << what;
    EXPECT_TRUE(direct.op().is_null());
  }
}

TEST(Preconditioner, ACoarseSolverThatDoesNotSolveDoesNotPass) {
  CoarseCheck check;
  check.direct = true;
  check.relativeResidual = 1.09;
  EXPECT_FALSE(check.passed());
  check.direct = false;
  EXPECT_TRUE(check.passed());
  check.relativeResidual = std::nan("");
  EXPECT_FALSE(check.passed());
}

// MueLu makes it where it makes direct solvers.
TEST(Preconditioner, ACoarseSolverOfBelosNeedNotBeExact) {
  const auto A = laplace({60, 60});
  for (const char* name : {"BLOCK CG", "CAPSTAN CG"}) {
    SCOPED_TRACE(name);
    Teuchos::ParameterList own;
    own.set("coarse: type", name);
    own.sublist("coarse: params").set("Convergence Tolerance", 0.1);
    auto options = preset("no_reductions");
    overrideParameters(options.parameters, own);
    Preconditioner preconditioner(options);
    ASSERT_NO_THROW(preconditioner.update(A));
    EXPECT_EQ(preconditioner.warning(), "");
    const auto check = checkCoarseSolve(*preconditioner.op());
    ASSERT_TRUE(check.has_value());
    EXPECT_FALSE(check->direct);
    EXPECT_LE(check->relativeResidual, 0.1);
    EXPECT_GT(check->relativeResidual, 1e-6);
  }
}

TEST(Preconditioner, ParametersOfAnotherTypeGo) {
  Teuchos::ParameterList file;
  file.set("coarse: type", "CHEBYSHEV");
  file.sublist("coarse: params").set("chebyshev: degree", 8);
  file.set("smoother: type", "CHEBYSHEV");
  file.sublist("smoother: params").set("chebyshev: degree", 2).set("chebyshev: ratio eigenvalue", 10.0);
  Teuchos::ParameterList own;
  own.set("coarse: type", "CAPSTAN CG");
  own.set("smoother: type", "chebyshev");
  own.sublist("smoother: params").set("chebyshev: degree", 3);
  overrideParameters(file, own);
  EXPECT_EQ(file.get<std::string>("coarse: type"), "CAPSTAN CG");
  EXPECT_FALSE(file.isSublist("coarse: params"));
  EXPECT_EQ(file.sublist("smoother: params").get<int>("chebyshev: degree"), 3);
  EXPECT_EQ(file.sublist("smoother: params").get<double>("chebyshev: ratio eigenvalue"), 10.0);
}

TEST(Preconditioner, RefusesTachoWhereItCrashes) {
  auto options = preset("no_reductions");
  options.parameters.set("coarse: type", "Tacho");
  options.parameters.remove("coarse: params");
  const auto comm = Tpetra::getDefaultComm();
  const auto problem = validatePreconditioner(options, comm);
  EXPECT_EQ(problem.has_value(), comm->getSize() > 1);
  if (problem) {
    EXPECT_NE(problem->message.find("found 'Tacho'"), std::string::npos) << problem->message;
  }
}

/// scale * M, or with columns swapped: what no preconditioner should be.
class Spoilt final : public Operator {
 public:
  enum class Kind { Negative, Shifted, NotANumber };
  Spoilt(const Teuchos::RCP<const Map>& map, Kind kind) : map_(map), kind_(kind) {}
  Teuchos::RCP<const Map> getDomainMap() const override { return map_; }
  Teuchos::RCP<const Map> getRangeMap() const override { return map_; }
  void apply(const MultiVector& X, MultiVector& Y, Teuchos::ETransp, double, double) const override {
    Tpetra::deep_copy(Y, X);
    if (kind_ == Kind::Negative) Y.scale(-1);
    for (std::size_t j = 0; j < Y.getNumVectors(); ++j) {
      const auto y = Y.getDataNonConst(j);
      if (y.size() == 0) continue;
      if (kind_ == Kind::NotANumber && map_->isNodeGlobalElement(0)) y[0] = std::nan("");
      // Row i takes half of row i + 1: positive, not symmetric.
      for (int i = 0; kind_ == Kind::Shifted && i + 1 < y.size(); ++i) y[i] += y[i + 1] / 2;
    }
  }

 private:
  Teuchos::RCP<const Map> map_;
  Kind kind_;
};

TEST(PreconditionerCheck, FindsWhatIsOfNoUse) {
  const auto A = laplace({12, 12});
  const Spoilt negative(A->getDomainMap(), Spoilt::Kind::Negative), shifted(A->getDomainMap(), Spoilt::Kind::Shifted),
      poisoned(A->getDomainMap(), Spoilt::Kind::NotANumber);
  const auto minus = checkPreconditioner(*A, negative, false);
  EXPECT_NE(minus.whyUnusable(true).find("positive definite"), std::string::npos);
  EXPECT_EQ(minus.whyUnusable(false), "") << "GMRES needs no sign";
  const auto oblique = checkPreconditioner(*A, shifted, false);
  EXPECT_EQ(oblique.whyUnusable(true), "");
  EXPECT_NE(oblique.remark(true).find("not symmetric"), std::string::npos);
  EXPECT_EQ(oblique.remark(false), "");
  const auto nan = checkPreconditioner(*A, poisoned, false);
  EXPECT_NE(nan.whyUnusable(true), "");
  EXPECT_NE(nan.whyUnusable(false), "");
}

TEST(PreconditionerCheck, FindsACycleThatDoesNotContract) {
  const auto A = laplace({12, 12});
  A->resumeFill();
  A->scale(3);  // with M = 1 the largest factor is near 23
  A->fillComplete();
  class One final : public Operator {
   public:
    explicit One(const Teuchos::RCP<const Map>& map) : map_(map) {}
    Teuchos::RCP<const Map> getDomainMap() const override { return map_; }
    Teuchos::RCP<const Map> getRangeMap() const override { return map_; }
    void apply(const MultiVector& X, MultiVector& Y, Teuchos::ETransp, double, double) const override {
      Tpetra::deep_copy(Y, X);
    }

   private:
    Teuchos::RCP<const Map> map_;
  };
  const One one(A->getDomainMap());
  EXPECT_NE(checkPreconditioner(*A, one, true).remark(true).find("does not contract"), std::string::npos);
  EXPECT_EQ(checkPreconditioner(*A, one, false).remark(true), "") << "it was not asked for";
}

TEST(PreconditionerCheck, PassesWhatIsSound) {
  const auto A = laplace({16, 16});
  std::vector<std::pair<PreconditionerOptions, bool>> sound{{preset("no_reductions"), true},
                                                            {preset("pressure_poisson"), true}};
  for (const char* name : {"jacobi", "sgs", "chebyshev"}) {
    PreconditionerOptions options;
    options.name = name;
    sound.emplace_back(options, false);
  }
  for (const auto& [options, cycle] : sound) {
    Preconditioner M(options);
    M.update(A);
    const auto check = checkPreconditioner(*A, *M.op(), cycle);
    EXPECT_EQ(check.whyUnusable(true), "") << options.name << options.origin;
    EXPECT_EQ(check.remark(true), "") << options.name << options.origin;
  }
}

TEST(PreconditionerCheck, CountsAsItSays) {
  const auto A = laplace({16, 16});
  PreconditionerOptions options;
  options.name = "jacobi";
  Preconditioner M(options);
  M.update(A);
  capstan::test::resetMpiCalls();
  checkPreconditioner(*A, *M.op(), false);
  EXPECT_LE(capstan::test::mpiCalls().allreduce, 1);  // none on one rank
  EXPECT_EQ(capstan::test::mpiCalls().otherCollectives, 0);
}

TEST(Preconditioner, NamesWrongParameters) {
  const auto comm = Tpetra::getDefaultComm();
  auto options = preset("no_reductions");
  EXPECT_FALSE(validatePreconditioner(options, comm).has_value());
  options.parameters.set("smother: type", "RELAXATION");
  const auto problem = validatePreconditioner(options, comm);
  ASSERT_TRUE(problem.has_value());
  EXPECT_EQ(problem->message, "unknown MueLu parameter 'smother: type'; did you mean \"smoother: type\"?");
  PreconditionerOptions sgs;
  sgs.name = "sgs";
  sgs.parameters.set("relaxation: sweeps", "many");
  ASSERT_TRUE(validatePreconditioner(sgs, comm).has_value());
  EXPECT_EQ(validatePreconditioner(sgs, comm)->parameter, "relaxation: sweeps");
}

// S-step and pipelined methods spare no products then.
TEST(Preconditioner, OneSweepOfJacobiIsKnownAsADiagonal) {
  const auto A = laplace({12, 12});
  const auto isDiagonal = [&A](const PreconditionerOptions& options) {
    Preconditioner preconditioner(options);
    preconditioner.update(A);
    const PreconditionedOperator<DefaultTypes> op(A, Teuchos::null, preconditioner.op());
    return op.hasDiagonalPreconditioner();
  };
  for (const auto& name : preconditionerNames()) {
    if (isMultigrid(name.name) || name.name == "none") continue;
    PreconditionerOptions options;
    options.name = name.name;
    EXPECT_EQ(isDiagonal(options), name.name == "jacobi" || name.name == "default") << name.name;
  }
  EXPECT_FALSE(isDiagonal(preset("no_reductions")));
  PreconditionerOptions sweeps;
  sweeps.name = "jacobi";
  sweeps.parameters.set("relaxation: sweeps", 2);
  EXPECT_FALSE(isDiagonal(sweeps));
  EXPECT_FALSE(PreconditionedOperator<DefaultTypes>(A, Teuchos::null, Teuchos::null).hasDiagonalPreconditioner());
}

/// Rows {-1, 2, -1}.
Teuchos::RCP<Matrix> tridiagonal(int n) {
  const auto map = Teuchos::rcp(new const Map(static_cast<Tpetra::global_size_t>(n), 0, Tpetra::getDefaultComm()));
  const auto A = Teuchos::rcp(new Matrix(map, 3));
  using Global = Map::global_ordinal_type;
  for (const Global row : compat::localElementList(*map)) {
    A->insertGlobalValues(row, Teuchos::tuple<Global>(row)(), Teuchos::tuple(2.0)());
    if (row > 0) A->insertGlobalValues(row, Teuchos::tuple<Global>(row - 1)(), Teuchos::tuple(-1.0)());
    if (row + 1 < n) A->insertGlobalValues(row, Teuchos::tuple<Global>(row + 1)(), Teuchos::tuple(-1.0)());
  }
  A->fillComplete();
  return A;
}

/// A preconditioner of ours by its parts.
Teuchos::RCP<const ExplicitPreconditioner<DefaultTypes>> explicitOf(const PreconditionerOptions& options,
                                                                    const Teuchos::RCP<Matrix>& A) {
  Preconditioner preconditioner(options);
  preconditioner.update(A);
  return Teuchos::rcp_dynamic_cast<const ExplicitPreconditioner<DefaultTypes>>(preconditioner.op(), true);
}

PreconditionerOptions named(const std::string& name) {
  PreconditionerOptions options;
  options.name = name;
  return options;
}

TEST(ExplicitPreconditioners, AreKnownByTheirKind) {
  const auto A = laplace({12, 12});
  for (const auto& name : preconditionerNames()) {
    if (isMultigrid(name.name) || name.name == "none") continue;
    Preconditioner preconditioner(named(name.name));
    preconditioner.update(A);
    const PreconditionedOperator<DefaultTypes> op(A, Teuchos::null, preconditioner.op());
    EXPECT_EQ(op.hasExplicitPreconditioner(), name.name == "polynomial" || name.name == "approximate_inverse")
        << name.name;
  }
}

// Rows {-1, 2, -1}: A(P, P) = [2 -1; -1 2], y = (1/3, 2/3), g = y / sqrt(2/3).
TEST(ExplicitPreconditioners, InverseOfATridiagonalMatrixByHand) {
  const auto A = tridiagonal(16);
  const auto m = explicitOf(named("approximate_inverse"), A);
  ASSERT_EQ(m->stages().size(), 2U);
  MultiVector one(A->getRowMap(), 1), sums(A->getRowMap(), 1), image(A->getRowMap(), 1);
  one.putScalar(1);
  m->stages()[0].matrix->apply(one, sums);
  const auto values = sums.getData(0);
  for (int i = 0; i < static_cast<int>(sums.getLocalLength()); ++i) {
    const bool first = A->getRowMap()->getGlobalElement(i) == 0;
    EXPECT_NEAR(values[i], first ? 1 / std::sqrt(2.0) : 1 / std::sqrt(2.0 / 3.0), 1e-14);
  }
  // (G^T v, w) = (v, G w)
  MultiVector v(A->getRowMap(), 1), w(A->getRowMap(), 1), gw(A->getRowMap(), 1), gv(A->getRowMap(), 1);
  fillRandom(v, 1);
  fillRandom(w, 2);
  m->stages()[0].matrix->apply(w, gw);
  m->stages()[1].matrix->apply(v, gv);
  double left = 0, right = 0;
  gv.dot(w, Teuchos::ArrayView<double>(&left, 1));
  v.dot(gw, Teuchos::ArrayView<double>(&right, 1));
  EXPECT_NEAR(left, right, 1e-13);
}

// v_k = sin(k pi x) is an eigenvector of D^{-1} A with 1 - cos(k pi h); the bound is 2.
TEST(ExplicitPreconditioners, PolynomialIsChebyshevs) {
  const int n = 40;
  const auto A = tridiagonal(n);
  const double pi = std::acos(-1.0);
  for (const int degree : {1, 2, 3, 6}) {
    auto options = named("polynomial");
    options.parameters.set("polynomial: degree", degree);
    const auto m = explicitOf(options, A);
    EXPECT_EQ(m->stages().size(), static_cast<std::size_t>(degree));
    const double high = 2, low = high / 30, center = (high + low) / 2, half = (high - low) / 2;
    const auto chebyshev = [degree](double x) {
      return std::abs(x) <= 1 ? std::cos((degree + 1) * std::acos(x))
                              : std::copysign(std::cosh((degree + 1) * std::acosh(std::abs(x))),
                                              x > 0 || degree % 2 == 1 ? 1.0 : -1.0);
    };
    for (const int k : {1, 7, 20, 40}) {
      const double lambda = 1 - std::cos(k * pi / (n + 1));
      MultiVector v(A->getRowMap(), 1), av(A->getRowMap(), 1), mav(A->getRowMap(), 1);
      for (const auto row : compat::localElementList(*A->getRowMap())) {
        v.replaceGlobalValue(row, 0, std::sin(k * pi * static_cast<double>(row + 1) / (n + 1)));
      }
      A->apply(v, av);
      m->apply(av, mav);
      const double left = chebyshev((center - lambda) / half) / chebyshev(center / half);
      mav.update(-(1 - left), v, 1);
      EXPECT_LT(norm(mav), 1e-12 * norm(v)) << degree << ' ' << k;
      EXPECT_GT(1 - left, 0);
    }
  }
}

TEST(ExplicitPreconditioners, AreAsDefiniteAsTheMatrix) {
  for (const char* name : {"polynomial", "approximate_inverse"}) {
    const auto A = laplace({12, 12});
    A->resumeFill();
    A->scale(-3);
    A->fillComplete();
    const auto m = explicitOf(named(name), A);
    MultiVector u(A->getRowMap(), 1), z(A->getRowMap(), 1);
    fillRandom(u, 3);
    m->apply(u, z);
    double product = 0;
    u.dot(z, Teuchos::ArrayView<double>(&product, 1));
    EXPECT_LT(product, 0) << name;
  }
}

TEST(ExplicitPreconditioners, SayWhatIsWrong) {
  const auto comm = Tpetra::getDefaultComm();
  auto options = named("polynomial");
  EXPECT_FALSE(validatePreconditioner(options, comm).has_value());
  options.parameters.set("polynomial: degre", 3);
  auto problem = validatePreconditioner(options, comm);
  ASSERT_TRUE(problem.has_value());
  EXPECT_NE(problem->message.find("did you mean \"polynomial: degree\""), std::string::npos) << problem->message;
  options = named("polynomial");
  options.parameters.set("polynomial: degree", 0);
  problem = validatePreconditioner(options, comm);
  ASSERT_TRUE(problem.has_value());
  EXPECT_EQ(problem->parameter, "polynomial: degree");
  EXPECT_EQ(problem->message, "found 0; allowed: 1 to 32");
  const auto A = laplace({12, 12});
  A->resumeFill();
  for (const auto row : compat::localElementList(*A->getRowMap())) {
    if (row == 7) A->replaceGlobalValues(row, Teuchos::tuple<Map::global_ordinal_type>(row)(), Teuchos::tuple(0.0)());
  }
  A->fillComplete();
  Preconditioner zero(named("polynomial"));
  EXPECT_THROW(zero.update(A), PreconditionerError);
}

/// A with its values doubled, in place.
void doubleValues(Matrix& A) {
  A.resumeFill();
  A.scale(2.0);
  A.fillComplete();
}

TEST(Preconditioner, RecomputesReusesOrKeepsAsTold) {
  for (const char* name : {"jacobi", "riluk", "muelu", "boomeramg"}) {
    if (std::string(name) == "boomeramg" && !preconditioning::makers().hasBoomerAmg()) continue;
    for (const auto& [recompute, reuse] : {std::pair{true, false}, {false, true}, {false, false}}) {
      SCOPED_TRACE(std::string(name) + (recompute ? " recompute" : reuse ? " reuse" : " keep"));
      const auto A = laplace({30, 30});
      PreconditionerOptions options = std::string(name) == "muelu" ? preset("no_reductions") : PreconditionerOptions{};
      options.name = name;
      options.recompute = recompute;
      options.reuse = reuse;
      Preconditioner preconditioner(options);
      preconditioner.update(A);
      MultiVector x(A->getDomainMap(), 1), before(A->getRangeMap(), 1), after(A->getRangeMap(), 1);
      fillRandom(x, 1);
      preconditioner.op()->apply(x, before);
      doubleValues(*A);
      preconditioner.update(A);
      preconditioner.op()->apply(x, after);
      EXPECT_EQ(preconditioner.builds(), recompute ? 2 : 1);
      EXPECT_EQ(preconditioner.renewals(), reuse ? 1 : 0);
      // M^-1 of 2 A is half of that of A. A multigrid hierarchy that is kept holds on to the new fine matrix.
      if (recompute || reuse || std::string(name) != "muelu") {
        after.update(recompute || reuse ? -0.5 : -1.0, before, 1.0);
        EXPECT_LT(norm(after), 1e-2 * norm(before));
      }
    }
  }
}

}  // namespace
}  // namespace capstan::deck
