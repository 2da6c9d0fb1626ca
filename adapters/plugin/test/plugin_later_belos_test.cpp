// What Belos of 2026 and later adds, tested with stand-ins on any release: causes of failure in its ReturnType, and a
// dense matrix type as fourth argument of its classes.
#include <gtest/gtest.h>

#include <BelosLinearProblem.hpp>
#include <BelosSolverFactory.hpp>
#include <BelosTpetraAdapter.hpp>
#include <Tpetra_Core.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <string>
#include <vector>

#include "adapters/plugin/dense_matrix_manager.hpp"
#include "adapters/plugin/solver_factory.hpp"
#include "belos_ext/manager/solve_end.hpp"
#include "tpetra_ext/compat/belos_return.hpp"
#include "tpetra_ext/types.hpp"

namespace later {

/// The values of the later release; every cause equals Unconverged.
enum ReturnType {
  Converged,
  Unconverged,
  MaxItersReached,
  MaxRestartsReached,
  OrthonormFailure,
  NaNDetected,
  BreakdownDetected,
  LossOfAccuracyDetected,
  NonspecificException,
  InconsistentState,
  Undetermined
};
constexpr bool operator==(ReturnType a, ReturnType b) {
  return int(a) == int(b) || (int(a) * int(b) != 0 && (int(a) == 1 || int(b) == 1));
}

template <class S, class MV, class OP, class DM>
struct Iteration {
  virtual ~Iteration() = default;
  virtual void iterate() = 0;
  virtual void initialize() = 0;
  virtual int getNumIters() const = 0;
  virtual void resetNumIters(int iterations = 0) = 0;
  virtual Teuchos::RCP<const MV> getNativeResiduals(std::vector<S>* norms) const = 0;
  virtual Teuchos::RCP<MV> getCurrentUpdate() const = 0;
  virtual const Belos::LinearProblem<S, MV, OP>& getProblem() const = 0;
  virtual int getBlockSize() const = 0;
  virtual void setBlockSize(int size) = 0;
  virtual bool isInitialized() = 0;
};

template <class S, class MV, class OP, class DM>
struct StatusTest {
  virtual ~StatusTest() = default;
  virtual Belos::StatusType checkStatus(Iteration<S, MV, OP, DM>* iteration) = 0;
  virtual Belos::StatusType getStatus() const = 0;
  virtual void reset() = 0;
  virtual void print(std::ostream& os, int indent = 0) const = 0;
};

template <class S, class MV, class OP, class DM>
struct StatusTestCombo {
  enum ComboType { AND, OR, SEQ };
};

template <class S, class MV, class OP, class DM>
struct SolverManager : virtual Teuchos::Describable {
  virtual Teuchos::RCP<SolverManager> clone() const = 0;
  virtual const Belos::LinearProblem<S, MV, OP>& getProblem() const = 0;
  virtual Teuchos::RCP<const Teuchos::ParameterList> getValidParameters() const = 0;
  virtual Teuchos::RCP<const Teuchos::ParameterList> getCurrentParameters() const = 0;
  virtual S achievedTol() const = 0;
  virtual int getNumIters() const = 0;
  virtual bool isLOADetected() const = 0;
  virtual void setProblem(const Teuchos::RCP<Belos::LinearProblem<S, MV, OP>>& problem) = 0;
  virtual void setParameters(const Teuchos::RCP<Teuchos::ParameterList>& parameters) = 0;
  virtual void setUserConvStatusTest(const Teuchos::RCP<StatusTest<S, MV, OP, DM>>& test,
                                     const typename StatusTestCombo<S, MV, OP, DM>::ComboType& type) = 0;
  virtual void setDebugStatusTest(const Teuchos::RCP<StatusTest<S, MV, OP, DM>>& test) = 0;
  virtual void reset(Belos::ResetType type) = 0;
  virtual Belos::ReturnType solve() = 0;
};

template <class S, class MV, class OP, class DM>
struct CustomSolverFactory {
  virtual ~CustomSolverFactory() = default;
  virtual Teuchos::RCP<SolverManager<S, MV, OP, DM>> getSolver(const std::string& name,
                                                               const Teuchos::RCP<Teuchos::ParameterList>& list) = 0;
  virtual int numSupportedSolvers() const = 0;
  virtual std::vector<std::string> supportedSolverNames() const = 0;
  virtual bool isSupported(const std::string& name) const = 0;
};

/// Belos' list of factories.
template <class S, class MV, class OP, class DM>
struct SolverFactoryParent {
  void addFactory(const Teuchos::RCP<CustomSolverFactory<S, MV, OP, DM>>& factory) { factories.push_back(factory); }
  static inline std::vector<Teuchos::RCP<CustomSolverFactory<S, MV, OP, DM>>> factories;
};

/// Of a release that asks for one function more.
template <class S, class MV, class OP, class DM>
struct StillLaterIteration : Iteration<S, MV, OP, DM> {
  virtual void unheardOf() = 0;
};

}  // namespace later

namespace capstan {
namespace {

using MV = Tpetra::MultiVector<>;
using OP = Tpetra::Operator<>;
struct DenseMatrix {};
using Outer =
    BelosClasses<later::SolverManager<double, MV, OP, DenseMatrix>,
                 later::CustomSolverFactory<double, MV, OP, DenseMatrix>,
                 later::StatusTest<double, MV, OP, DenseMatrix>, later::StatusTestCombo<double, MV, OP, DenseMatrix>,
                 later::Iteration<double, MV, OP, DenseMatrix>>;
using Types = TpetraTypes<double, MV::local_ordinal_type, MV::global_ordinal_type, MV::node_type>;

TEST(LaterReturnType, NamesTheCauseWhereThereIsAName) {
  using compat::SolveEnd;
  const std::vector<std::pair<SolveEnd, later::ReturnType>> expected = {
      {SolveEnd::Converged, later::Converged},
      {SolveEnd::MaxItersReached, later::MaxItersReached},
      {SolveEnd::MaxRestartsReached, later::MaxRestartsReached},
      {SolveEnd::NaNDetected, later::NaNDetected},
      {SolveEnd::BreakdownDetected, later::BreakdownDetected},
      {SolveEnd::LossOfAccuracyDetected, later::LossOfAccuracyDetected},
      {SolveEnd::InconsistentState, later::InconsistentState},
      {SolveEnd::Undetermined, later::Undetermined}};
  for (const auto& [end, value] : expected) {
    EXPECT_EQ(int(compat::returnType<later::ReturnType>(end)), int(value));
    const bool converged = end == SolveEnd::Converged;
    EXPECT_EQ(compat::returnType<later::ReturnType>(end) == later::Unconverged, !converged);
    EXPECT_EQ(compat::returnType<Belos::ReturnType>(end) == Belos::Unconverged, !converged);
    EXPECT_EQ(compat::returnType<Belos::ReturnType>(end) == Belos::Converged, converged);
  }
}

TEST(LaterReturnType, FollowsFromTheReport) {
  using compat::SolveEnd;
  SolveReport report;
  report.converged = true;
  report.reason = StopReason::Converged;
  EXPECT_EQ(solveEnd(report, false), SolveEnd::Converged);
  report.converged = false;
  report.rightHandSides.resize(1);
  for (const StopReason reason : allStopReasons()) {
    report.reason = report.rightHandSides[0].reason = reason;
    const bool passed = reason == StopReason::UserTest;  // a test of convergence, as Belos has it
    EXPECT_EQ(solveEnd(report, false) == SolveEnd::Converged, passed) << toString(reason);
  }
  report.reason = StopReason::UserTest;
  report.rightHandSides[0].reason = StopReason::Stagnation;
  EXPECT_NE(solveEnd(report, false), SolveEnd::Converged) << "not for the one right-hand side";
  const auto endOf = [&report](StopReason reason, bool lossOfAccuracy) {
    report.reason = reason;
    return solveEnd(report, lossOfAccuracy);
  };
  EXPECT_EQ(endOf(StopReason::MaxIterations, false), SolveEnd::MaxItersReached);
  EXPECT_EQ(endOf(StopReason::MaxIterations, true), SolveEnd::LossOfAccuracyDetected);
  EXPECT_EQ(endOf(StopReason::MaxRestarts, false), SolveEnd::MaxRestartsReached);
  EXPECT_EQ(endOf(StopReason::Stagnation, true), SolveEnd::LossOfAccuracyDetected);
  EXPECT_EQ(endOf(StopReason::Stagnation, false), SolveEnd::Undetermined);
  EXPECT_EQ(endOf(StopReason::Breakdown, false), SolveEnd::BreakdownDetected);
  EXPECT_EQ(endOf(StopReason::NonFinite, false), SolveEnd::NaNDetected);
  EXPECT_EQ(endOf(StopReason::NotStarted, false), SolveEnd::InconsistentState);
}

/// Looks at the current solution and stops the solve at the third check.
struct ThirdCheck : Outer::Test {
  Belos::StatusType checkStatus(Outer::Iteration* iteration) override {
    EXPECT_EQ(iteration->getBlockSize(), 1);
    EXPECT_GE(iteration->getNumIters(), 0);
    return status = ++checks >= 3 ? Belos::Passed : Belos::Failed;
  }
  Belos::StatusType getStatus() const override { return status; }
  void reset() override { checks = 0; }
  void print(std::ostream& os, int) const override { os << "third check\n"; }
  int checks = 0;
  Belos::StatusType status = Belos::Undefined;
};

/// diag(1, ..., 40) x = 1.
Teuchos::RCP<Belos::LinearProblem<double, MV, OP>> diagonalProblem() {
  const auto map = Teuchos::rcp(new Tpetra::Map<>(40, 0, Tpetra::getDefaultComm()));
  auto A = Teuchos::rcp(new Tpetra::CrsMatrix<>(map, 1));
  for (auto row = map->getMinGlobalIndex(); row <= map->getMaxGlobalIndex(); ++row) {
    A->insertGlobalValues(row, Teuchos::tuple(row), Teuchos::tuple(1.0 + static_cast<double>(row)));
  }
  A->fillComplete();
  const auto x = Teuchos::rcp(new MV(map, 1)), b = Teuchos::rcp(new MV(map, 1));
  b->putScalar(1.0);
  auto problem = Teuchos::rcp(new Belos::LinearProblem<double, MV, OP>(A, x, b));
  problem->setProblem();
  return problem;
}

TEST(LaterFactory, MakesManagersForAnotherDenseMatrixType) {
  static_assert(completeAdapters<double, MV, OP, Outer, SolverFactory<Types>>);
  FactoryFor<double, MV, OP, Outer, SolverFactory<Types>> factory;
  EXPECT_TRUE(factory.isSupported("capstan_cg"));
  EXPECT_EQ(factory.numSupportedSolvers(), static_cast<int>(namedMethods().size()));
  EXPECT_TRUE(factory.getSolver("BLOCK GMRES", Teuchos::parameterList()).is_null());
  const auto list = Teuchos::parameterList();
  list->set("Convergence Tolerance", 1e-10);
  const auto made = factory.getSolver("CAPSTAN GMRES", list);
  ASSERT_FALSE(made.is_null());
  for (const auto& solver : {made, made->clone()}) {
    const auto problem = diagonalProblem();
    solver->setProblem(problem);
    EXPECT_EQ(&solver->getProblem(), problem.get());
    EXPECT_EQ(solver->solve(), Belos::Converged);
    EXPECT_LE(solver->achievedTol(), 1e-10);
    EXPECT_GT(solver->getNumIters(), 1);
    EXPECT_FALSE(solver->isLOADetected());
    EXPECT_EQ(solver->getCurrentParameters()->get<double>("Convergence Tolerance"), 1e-10);
  }
}

TEST(LaterFactory, HandsStatusTestsOn) {
  FactoryFor<double, MV, OP, Outer, SolverFactory<Types>> factory;
  const auto solver = factory.getSolver("CAPSTAN GMRES", Teuchos::parameterList());
  const auto stop = Teuchos::rcp(new ThirdCheck);
  const auto watch = Teuchos::rcp(new ThirdCheck);
  solver->setUserConvStatusTest(stop, Outer::Combo::OR);
  solver->setDebugStatusTest(watch);
  solver->setProblem(diagonalProblem());
  EXPECT_EQ(solver->solve(), Belos::Converged) << "by the test that passed";
  EXPECT_EQ(stop->getStatus(), Belos::Passed);
  EXPECT_GE(watch->checks, 3);
  solver->setUserConvStatusTest(Teuchos::null, Outer::Combo::SEQ);
  solver->reset(Belos::Problem);
  EXPECT_EQ(solver->solve(), Belos::Converged);
}

TEST(LaterFactory, IsRegisteredWhereThereIsAFourthArgument) {
  const auto& factories = later::SolverFactoryParent<double, MV, OP, DenseMatrix>::factories;
  EXPECT_TRUE((registerForDenseMatrix<double, MV, OP, DenseMatrix, SolverFactory<Types>, later::SolverFactoryParent,
                                      later::SolverManager, later::CustomSolverFactory, later::StatusTest,
                                      later::StatusTestCombo, later::Iteration>(0)));
  ASSERT_EQ(factories.size(), 1U);
  EXPECT_FALSE(factories[0]->getSolver("capstan_cg", Teuchos::parameterList()).is_null());
  // No such type; a release that asks for more than the adapters have.
  EXPECT_FALSE((registerForDenseMatrix<double, MV, OP, void, SolverFactory<Types>, later::SolverFactoryParent,
                                       later::SolverManager, later::CustomSolverFactory, later::StatusTest,
                                       later::StatusTestCombo, later::Iteration>(0)));
  EXPECT_FALSE((registerForDenseMatrix<double, MV, OP, DenseMatrix, SolverFactory<Types>, later::SolverFactoryParent,
                                       later::SolverManager, later::CustomSolverFactory, later::StatusTest,
                                       later::StatusTestCombo, later::StillLaterIteration>(0)));
  EXPECT_EQ(factories.size(), 1U);
}

/// What does not fit is told at compile time instead of breaking the build.
TEST(LaterFactory, IncompleteAdaptersAreNotRegistered) {
  using StillLater = BelosClasses<Outer::Manager, Outer::Factory, Outer::Test, Outer::Combo,
                                  later::StillLaterIteration<double, MV, OP, DenseMatrix>>;
  static_assert(SameResults<double, MV, OP, StillLater>::value);
  static_assert(!completeAdapters<double, MV, OP, StillLater, SolverFactory<Types>>);
  using OtherClones =
      BelosClasses<Belos::SolverManager<double, MV, OP>, Outer::Factory, Outer::Test, Outer::Combo, Outer::Iteration>;
  static_assert(!completeAdapters<double, MV, OP, OtherClones, SolverFactory<Types>>);
  SUCCEED();
}

}  // namespace
}  // namespace capstan
