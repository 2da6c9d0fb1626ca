// Solve criteria, operators and vectors of other classes, preconditioners and their re-use, refusals.

#include <gtest/gtest.h>

#include <Thyra_DefaultAddedLinearOp.hpp>
#include <Thyra_DefaultColumnwiseMultiVector.hpp>
#include <Thyra_DefaultDiagonalLinearOp.hpp>
#include <Thyra_DefaultIdentityLinearOp.hpp>
#include <Thyra_DefaultPreconditioner.hpp>
#include <Thyra_DefaultProductVectorSpace.hpp>
#include <Thyra_DefaultScaledAdjointLinearOp.hpp>
#include <cstdlib>
#include <limits>

#include "adapters/stratimikos/test/thyra_problems.hpp"
#include "adapters/stratimikos/thyra_operators.hpp"
#include "belos_ext/parameters/method_traits.hpp"

namespace {

using namespace capstan;
using namespace capstan::test;
using Teuchos::ParameterList;

TEST(SolveCriteria, SayTheDenominatorAndTheTolerance) {
  const auto op = thyraOf(plate(12));
  const auto b = rightHandSides(*op, 2);
  const auto solver =
      Thyra::linearOpWithSolve<double>(*factoryOf(listOf("capstan_cg", one("convergence_tolerance", 1e-9))), op);
  const auto guess = Thyra::createMembers(op->domain(), 2);
  Thyra::assign(guess.ptr(), 10.0);
  const auto first = Thyra::createMembers(op->range(), 2);
  Thyra::assign(first.ptr(), *b);
  Thyra::apply<double>(*op, Thyra::NOTRANS, *guess, first.ptr(), -1.0, 1.0);
  const std::vector<std::pair<Thyra::ESolveMeasureNormType, std::vector<double>>> measures = {
      {Thyra::SOLVE_MEASURE_NORM_RHS, norms(*b)},
      {Thyra::SOLVE_MEASURE_NORM_INIT_RESIDUAL, norms(*first)},
      {Thyra::SOLVE_MEASURE_ONE, {1.0, 1.0}}};
  for (const auto& [denominator, values] : measures) {
    const Criteria criteria({Thyra::SOLVE_MEASURE_NORM_RESIDUAL, denominator}, 1e-4);
    const auto x = guess->clone_mv();
    const Status status = solve(*solver, *b, x, &criteria);
    EXPECT_EQ(status.solveStatus, Thyra::SOLVE_STATUS_CONVERGED) << status.message;
    EXPECT_LE(status.achievedTol, 1e-4);
    EXPECT_GT(status.achievedTol, 1e-7) << "more than was asked for: " << status.message;
    EXPECT_NEAR(status.achievedTol, largestResidual(*op, *b, *x, values), 1e-12) << status.message;
    EXPECT_TRUE(solver->solveSupports(Thyra::NOTRANS, Teuchos::constOptInArg(criteria)));
  }
  // None of this stays: without criteria the list's tolerance holds.
  EXPECT_LE(solveFromZero(*solver, *b).status.achievedTol, 1e-9);
  // No tolerance in the criteria: the list's one.
  const Criteria measureAlone({Thyra::SOLVE_MEASURE_NORM_RESIDUAL, Thyra::SOLVE_MEASURE_NORM_RHS}, -1.0);
  EXPECT_LE(solveFromZero(*solver, *b, &measureAlone).status.achievedTol, 1e-9);
}

TEST(SolveCriteria, LimitIterationsForOneSolve) {
  const auto op = thyraOf(plate(12));
  const auto b = rightHandSides(*op, 1);
  const auto solver = Thyra::linearOpWithSolve<double>(*factoryOf(listOf("CAPSTAN GMRES")), op);
  Criteria criteria;
  criteria.extraParameters = Teuchos::parameterList();
  criteria.extraParameters->set("Maximum Iterations", 2);
  const Solved limited = solveFromZero(*solver, *b, &criteria);
  EXPECT_EQ(limited.status.solveStatus, Thyra::SOLVE_STATUS_UNCONVERGED);
  EXPECT_EQ(iterations(limited.status), 2);
  EXPECT_EQ(limited.status.extraParameters->get<std::string>("Capstan/Reason"), "max iterations");
  EXPECT_NEAR(limited.status.achievedTol, largestResidual(*op, *b, *limited.x, norms(*b)), 1e-12);
  EXPECT_EQ(solveFromZero(*solver, *b).status.solveStatus, Thyra::SOLVE_STATUS_CONVERGED);
}

class InfinityNorm final : public Thyra::ReductionFunctional<double> {
  double reduceImpl(const Thyra::VectorBase<double>& v) const override { return Thyra::norm_inf(v); }
  bool isCompatibleImpl(const Thyra::VectorBase<double>&) const override { return true; }
};

TEST(SolveCriteria, AreRefusedWhereTheyCannotBeMapped) {
  const auto op = thyraOf(plate(4));
  const auto b = rightHandSides(*op, 1);
  const auto solver = Thyra::linearOpWithSolve<double>(*factoryOf(listOf("CAPSTAN GMRES")), op);
  const auto refused = [&](const Criteria& criteria, const std::string& why) {
    EXPECT_FALSE(solver->solveSupports(Thyra::NOTRANS, Teuchos::constOptInArg(criteria)));
    expectIn(errorOf([&] { solveFromZero(*solver, *b, &criteria); }), why);
  };
  refused(Criteria({Thyra::SOLVE_MEASURE_NORM_RESIDUAL, Thyra::SOLVE_MEASURE_NORM_SOLUTION}, 1e-6),
          "SOLVE_MEASURE_NORM_RESIDUAL/SOLVE_MEASURE_NORM_SOLUTION");
  refused(Criteria({Thyra::SOLVE_MEASURE_NORM_SOLUTION, Thyra::SOLVE_MEASURE_ONE}, 1e-6), "SOLVE_MEASURE_NORM_RHS");
  refused(Criteria({Thyra::SOLVE_MEASURE_NORM_RESIDUAL, Thyra::SOLVE_MEASURE_ONE}, 1e-6, Teuchos::null,
                   Teuchos::rcp(new InfinityNorm)),
          "with a norm of the application's");
  EXPECT_FALSE(solver->solveSupports(Thyra::TRANS));
  const auto x = Thyra::createMembers(op->domain(), 1);
  expectIn(errorOf([&] { Thyra::solve<double>(*solver, Thyra::TRANS, *b, x.ptr()); }), "transpose");
}

TEST(SolveCriteria, CannotBeOverruledByTheUsersOptions) {
  const auto op = thyraOf(plate(4));
  const auto b = rightHandSides(*op, 1);
  const auto solver = Thyra::linearOpWithSolve<double>(*factoryOf(listOf("CAPSTAN GMRES")), op);
  const Criteria criteria({Thyra::SOLVE_MEASURE_NORM_RESIDUAL, Thyra::SOLVE_MEASURE_NORM_RHS}, 1e-6);
  ::setenv("CAPSTAN_OPTIONS", "convergence_tolerance: 0.1", 1);
  const std::string error = errorOf([&] { solveFromZero(*solver, *b, &criteria); });
  const double achieved = solveFromZero(*solver, *b).status.achievedTol;
  ::unsetenv("CAPSTAN_OPTIONS");
  expectIn(error, "the application's solve criteria say it");
  EXPECT_GT(achieved, 1e-8) << "the option has had no effect";
}

TEST(SolveOperator, TellsOfFailureAsAStatus) {
  const auto matrix = matrixOf(20, [](Global i) {
    return Row{{i, i == 7 ? std::numeric_limits<double>::quiet_NaN() : 2.0}};
  });
  const auto op = thyraOf(matrix);
  for (const MethodTraits& method : methods()) {
    const auto solver = Thyra::linearOpWithSolve<double>(*factoryOf(listOf(method.alias)), op);
    const auto ones = Thyra::createMembers(op->range(), 1);
    Thyra::assign(ones.ptr(), 1.0);
    const Solved solved = solveFromZero(*solver, *ones);
    EXPECT_EQ(solved.status.solveStatus, Thyra::SOLVE_STATUS_UNCONVERGED);
    EXPECT_FALSE(solved.status.achievedTol >= 0.0 && solved.status.achievedTol < 1e-2) << solved.status.achievedTol;
    EXPECT_EQ(solved.status.extraParameters->get<std::string>("Capstan/Reason"), "not finite") << method.canonical;
  }
}

TEST(SolveOperator, ShowsTheMatrixToTheMethod) {
  const auto matrix = fourRows();
  const auto op = thyraOf(matrix);
  EXPECT_EQ(stratimikos::tpetraOperator(op, "A").get(), matrix.get());
  EXPECT_EQ(stratimikos::tpetraOperator(Thyra::scale(1.0, op), "A").get(), matrix.get());
  EXPECT_NE(stratimikos::tpetraOperator(Thyra::transpose(op), "A").get(), matrix.get());
}

TEST(SolveOperator, SolvesWithOperatorsThatAreNoMatrix) {
  const auto matrix = thyraOf(fourRows());
  for (const Teuchos::RCP<const LinearOp>& op :
       {Thyra::scale(3.0, matrix), Thyra::transpose(matrix), Thyra::add(matrix, matrix)}) {
    const auto b = rightHandSides(*op, 2);
    const auto solver = Thyra::linearOpWithSolve<double>(*factoryOf(listOf("CAPSTAN GMRES")), op);
    const Solved solved = solveFromZero(*solver, *b);
    EXPECT_EQ(solved.status.solveStatus, Thyra::SOLVE_STATUS_CONVERGED) << solved.status.message;
    EXPECT_LE(largestResidual(*op, *b, *solved.x, norms(*b)), 1e-8);
    const auto product = Thyra::createMembers(op->range(), 2);
    Thyra::apply<double>(*solver, Thyra::NOTRANS, *solved.x, product.ptr());
    Thyra::update(-1.0, *b, product.ptr());
    EXPECT_LE(norms(*product)[1], 1e-8 * norms(*b)[1]) << "the operator itself is there, too";
  }
}

TEST(SolveOperator, TakesColumnsOfAnotherClass) {
  const auto op = thyraOf(plate(6));
  const auto b = rightHandSides(*op, 3);
  const auto solver = Thyra::linearOpWithSolve<double>(*factoryOf(listOf("capstan_cg")), op);
  std::vector<Teuchos::RCP<Thyra::VectorBase<double>>> left, right;
  for (int j = 0; j < 3; ++j) {
    left.push_back(Thyra::createMember(op->domain()));
    Thyra::assign(left.back().ptr(), 0.0);
    right.push_back(b->col(j));
  }
  const auto x = Teuchos::rcp(new Thyra::DefaultColumnwiseMultiVector<double>(op->domain(), b->domain(), left));
  const Thyra::DefaultColumnwiseMultiVector<double> columns(op->range(), b->domain(), right);
  EXPECT_EQ(solve(*solver, columns, x).solveStatus, Thyra::SOLVE_STATUS_CONVERGED);
  const auto copy = Thyra::createMembers(op->domain(), 3);
  Thyra::assign(copy.ptr(), *x);
  EXPECT_LE(largestResidual(*op, *b, *copy, norms(*b)), 1e-8);
  // Some columns of a larger block, and one alone.
  const auto block = Thyra::createMembers(op->domain(), 3);
  Thyra::assign(block.ptr(), 0.0);
  const int some[] = {0, 2};
  EXPECT_EQ(
      solve(*solver, *b->subView(Teuchos::arrayView(some, 2)), block->subView(Teuchos::arrayView(some, 2))).solveStatus,
      Thyra::SOLVE_STATUS_CONVERGED);
  EXPECT_EQ(norms(*block)[1], 0.0);
  EXPECT_EQ(solve(*solver, *b->col(1), block->col(1)).solveStatus, Thyra::SOLVE_STATUS_CONVERGED);
  EXPECT_LE(largestResidual(*op, *b, *block, norms(*b)), 1e-8);
}

TEST(SolveOperator, RefusesOtherVectors) {
  const auto op = thyraOf(plate(4));
  const auto factory = factoryOf(listOf("CAPSTAN GMRES"));
  const auto product = Thyra::productVectorSpace<double>(op->range(), 2);
  const Teuchos::RCP<const LinearOp> blocks = Thyra::identity<double>(product);
  expectIn(errorOf([&] { Thyra::linearOpWithSolve<double>(*factory, blocks); }), "spaces of Tpetra's vectors");
  EXPECT_FALSE(factory->isCompatible(*Thyra::defaultLinearOpSource<double>(blocks)));
  EXPECT_TRUE(factory->isCompatible(*Thyra::defaultLinearOpSource<double>(op)));
  const auto x = Thyra::createMembers(op->domain(), 1);
  expectIn(errorOf([&] { solve(*factory->createOp(), *x, x); }), "not initialised");
}

TEST(SolveOperator, PrintsWhereTheVerboseObjectSays) {
  const auto op = thyraOf(plate(4));
  const auto b = rightHandSides(*op, 1);
  for (const char* level : {"none", "medium"}) {
    ParameterList parameters;
    parameters.set("Verbosity", 127);
    const auto list = listOf("CAPSTAN CG", parameters);
    list->sublist("Linear Solver Types").sublist("Capstan").sublist("VerboseObject").set("Verbosity Level", level);
    const auto factory = factoryOf(list);
    std::ostringstream text;
    factory->setOStream(Teuchos::getFancyOStream(Teuchos::rcpFromRef(static_cast<std::ostream&>(text))));
    testing::internal::CaptureStdout();
    solveFromZero(*Thyra::linearOpWithSolve<double>(*factory, op), *b);
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
    if (Tpetra::getDefaultComm()->getRank() != 0) continue;
    EXPECT_EQ(text.str().find("CAPSTAN CG: converged") != std::string::npos, std::string(level) == "medium")
        << text.str();
  }
}

/// The plate with its rows and columns scaled by powers of ten, which a diagonal takes away.
Teuchos::RCP<Matrix> scaledPlate() {
  const auto matrix = plate(12);
  const Tpetra::Vector<> scale = diagonalScale(matrix->getRowMap(), 1.0);
  matrix->leftScale(scale);
  matrix->rightScale(scale);
  return matrix;
}

/// Makes diagonals for scaledPlate(), on one side or half on each, and counts how often.
class CountingFactory final : public Thyra::PreconditionerFactoryBase<double> {
 public:
  explicit CountingFactory(char side) : side_(side) {}
  bool isCompatible(const Thyra::LinearOpSourceBase<double>&) const override { return true; }
  Teuchos::RCP<Thyra::PreconditionerBase<double>> createPrec() const override {
    return Teuchos::rcp(new Thyra::DefaultPreconditioner<double>);
  }
  void initializePrec(const Teuchos::RCP<const Thyra::LinearOpSourceBase<double>>& source,
                      Thyra::PreconditionerBase<double>* made, const Thyra::ESupportSolveUse) const override {
    ++count;
    last = source->getOp();
    const auto map = Thyra::TpetraOperatorVectorExtraction<double>::getTpetraMap(last->domain());
    const auto diagonal = Teuchos::rcp(new Tpetra::Vector<>(diagonalScale(map, side_ == 'b' ? -1.0 : -2.0)));
    const Teuchos::RCP<const LinearOp> inverse =
        Thyra::diagonal<double>(Thyra::createVector<double>(diagonal, last->domain()));
    auto& prec = dynamic_cast<Thyra::DefaultPreconditioner<double>&>(*made);
    if (side_ == 'l') return prec.initializeLeft(inverse);
    if (side_ == 'r') return prec.initializeRight(inverse);
    if (side_ == 'b') return prec.initializeLeftRight(inverse, inverse);
    prec.initializeUnspecified(inverse);
  }
  void uninitializePrec(Thyra::PreconditionerBase<double>*, Teuchos::RCP<const Thyra::LinearOpSourceBase<double>>*,
                        Thyra::ESupportSolveUse*) const override {}
  void setParameterList(const Teuchos::RCP<ParameterList>&) override {}
  Teuchos::RCP<ParameterList> getNonconstParameterList() override { return Teuchos::null; }
  Teuchos::RCP<ParameterList> unsetParameterList() override { return Teuchos::null; }

  mutable int count = 0;
  mutable Teuchos::RCP<const LinearOp> last;

 private:
  char side_;
};

TEST(Preconditioners, AreTakenOnTheirSide) {
  const auto op = thyraOf(scaledPlate());
  const auto b = rightHandSides(*op, 2);
  const Criteria criteria({Thyra::SOLVE_MEASURE_NORM_RESIDUAL, Thyra::SOLVE_MEASURE_NORM_RHS}, 1e-6);
  const auto solvedWith = [&](char side, bool leftIfUnspecified) {
    const auto list = listOf("CAPSTAN GMRES");
    list->sublist("Linear Solver Types")
        .sublist("Capstan")
        .set("Left Preconditioner If Unspecified", leftIfUnspecified);
    const auto factory = factoryOf(list);
    if (side != ' ') factory->setPreconditionerFactory(Teuchos::rcp(new CountingFactory(side)), "counting");
    const Solved solved = solveFromZero(*Thyra::linearOpWithSolve<double>(*factory, op), *b, &criteria);
    EXPECT_EQ(solved.status.solveStatus, Thyra::SOLVE_STATUS_CONVERGED) << side << solved.status.message;
    // With a preconditioner on the left it is the larger one of two residuals.
    const double residual = largestResidual(*op, *b, *solved.x, norms(*b));
    EXPECT_LE(residual, solved.status.achievedTol + 1e-11) << side;
    if (side == ' ' || side == 'r') {
      EXPECT_NEAR(residual, solved.status.achievedTol, 1e-11) << side;
    }
    return solved.status;
  };
  const Status none = solvedWith(' ', false), left = solvedWith('l', false), right = solvedWith('r', true);
  EXPECT_LT(iterations(left), 0.8 * iterations(none));
  EXPECT_LT(iterations(right), 0.8 * iterations(none));
  EXPECT_LT(iterations(solvedWith('b', false)), 0.8 * iterations(none));
  EXPECT_NEAR(solvedWith('u', false).achievedTol, right.achievedTol, 1e-11);
  EXPECT_NEAR(solvedWith('u', true).achievedTol, left.achievedTol, 1e-11);
  EXPECT_GT(std::abs(left.achievedTol - right.achievedTol), 1e-10) << "the sides cannot be told apart";
}

TEST(Preconditioners, AreMadeAgainOrReused) {
  const auto op = thyraOf(scaledPlate()), other = thyraOf(scaledPlate());
  const auto b = rightHandSides(*op, 1);
  const auto factory = factoryOf(listOf("CAPSTAN CG"));
  const auto counting = Teuchos::rcp(new CountingFactory('u'));
  factory->setPreconditionerFactory(counting, "counting");
  const auto solver = factory->createOp();
  Thyra::initializeOp<double>(*factory, op, solver.ptr());
  EXPECT_EQ(counting->count, 1);
  Thyra::initializeOp<double>(*factory, op, solver.ptr());
  EXPECT_EQ(counting->count, 2);
  Thyra::initializeAndReuseOp<double>(*factory, other, solver.ptr());
  EXPECT_EQ(counting->count, 2);
  EXPECT_EQ(solveFromZero(*solver, *b).status.solveStatus, Thyra::SOLVE_STATUS_CONVERGED);
  Thyra::initializeApproxPreconditionedOp<double>(*factory, op, other, solver.ptr());
  EXPECT_EQ(counting->count, 3);
  EXPECT_EQ(counting->last, other);
  // One of the application's own: nothing is made.
  const auto given = counting->createPrec();
  Thyra::initializePrec<double>(*counting, op, given.ptr());
  Thyra::initializePreconditionedOp<double>(*factory, op, given, solver.ptr());
  EXPECT_EQ(counting->count, 4);
  EXPECT_EQ(solveFromZero(*solver, *b).status.solveStatus, Thyra::SOLVE_STATUS_CONVERGED);
  Teuchos::RCP<const Thyra::LinearOpSourceBase<double>> forward;
  Teuchos::RCP<const Thyra::PreconditionerBase<double>> prec;
  factory->uninitializeOp(solver.get(), &forward, &prec);
  EXPECT_EQ(forward->getOp(), op);
  EXPECT_EQ(prec, given);
  factory->unsetPreconditionerFactory();
  expectIn(errorOf([&] { Thyra::initializeApproxPreconditionedOp<double>(*factory, op, other, solver.ptr()); }),
           "no factory of preconditioners");
}

TEST(Preconditioners, CanWaitForTheFirstSolve) {
  const auto op = thyraOf(plate(6));
  const auto list = withIlut(listOf("CAPSTAN CG"));
  list->set("Enable Delayed Solver Construction", true);
  const auto solver = Thyra::linearOpWithSolve<double>(*factoryOf(list), op);
  EXPECT_EQ(solveFromZero(*solver, *rightHandSides(*op, 1)).status.solveStatus, Thyra::SOLVE_STATUS_CONVERGED);
}

}  // namespace
