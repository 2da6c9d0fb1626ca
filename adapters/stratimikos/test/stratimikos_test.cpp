// Lists with the meaning of those that Stratimikos tests its Belos with, for each of our methods; solve criteria,
// several right-hand sides, preconditioners and their re-use, refusals.

#include <gtest/gtest.h>

#include <Thyra_DefaultAddedLinearOp.hpp>
#include <Thyra_DefaultColumnwiseMultiVector.hpp>
#include <Thyra_DefaultDiagonalLinearOp.hpp>
#include <Thyra_DefaultIdentityLinearOp.hpp>
#include <Thyra_DefaultPreconditioner.hpp>
#include <Thyra_DefaultProductVectorSpace.hpp>
#include <Thyra_DefaultScaledAdjointLinearOp.hpp>
#include <Thyra_LinearOpWithSolveTester.hpp>
#include <limits>

#include "adapters/stratimikos/test/thyra_problems.hpp"
#include "adapters/stratimikos/thyra_operators.hpp"
#include "belos_ext/parameters/method_traits.hpp"

namespace {

using namespace capstan;
using namespace capstan::test;
using Teuchos::ParameterList;
using Status = Thyra::SolveStatus<double>;

Status solve(const SolveOp& op, const Columns& b, const Teuchos::RCP<Columns>& x, const Criteria* criteria = nullptr) {
  return Thyra::solve<double>(op, Thyra::NOTRANS, b, x.ptr(), Teuchos::ptr(criteria));
}

void expectIn(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" is not in: " << text;
}

int iterations(const Status& status) { return status.extraParameters->get<int>("Iteration Count"); }

/// What a solve from zero gives.
struct Solved {
  Status status;
  Teuchos::RCP<Columns> x;
};

Solved solveFromZero(const SolveOp& op, const Columns& b, const Criteria* criteria = nullptr) {
  Solved solved;
  solved.x = Thyra::createMembers(op.domain(), b.domain());
  Thyra::assign(solved.x.ptr(), 0.0);
  solved.status = solve(op, b, solved.x, criteria);
  return solved;
}

Teuchos::RCP<Teuchos::ParameterList> withIlut(const Teuchos::RCP<ParameterList>& list) {
  list->set("Preconditioner Type", "Ifpack2");
  list->sublist("Preconditioner Types").sublist("Ifpack2").set("Prec Type", "ILUT");
  return list;
}

ParameterList one(const std::string& key, double value) {
  ParameterList list;
  list.set(key, value);
  return list;
}

/// A list of Stratimikos' tests: its matrix and what it sets.
struct List {
  std::string name;
  Teuchos::RCP<Matrix> matrix;
  int rightHandSides;
  bool preconditioned;
  double tolerance;
  ParameterList parameters;
  Teuchos::RCP<Matrix> symmetric = Teuchos::null;  ///< in its place where a method needs it; or null
};

std::vector<List> stratimikosLists() {
  const auto list = [](const char* name, const Teuchos::RCP<Matrix>& matrix, int count, bool preconditioned, int limit,
                       int cycle, double tolerance) {
    ParameterList parameters;
    parameters.set("Maximum Iterations", limit);
    parameters.set("Convergence Tolerance", tolerance);
    parameters.set("Maximum Restarts", 25);
    parameters.set("Block Size", count);
    parameters.set("Num Blocks", cycle);
    parameters.set("Output Frequency", 10);
    parameters.set("Show Maximum Residual Norm Only", true);
    return List{name, matrix, count, preconditioned, tolerance, parameters};
  };
  std::vector<List> lists = {list("four rows", fourRows(), 1, false, 4, 25, 1e-6),
                             list("long cycles", plate(20), 1, true, 400, 190, 1e-6),
                             list("beam", beam(40), 1, false, 1000, 300, 1e-8),
                             list("beam, preconditioned", beam(120), 1, true, 1000, 300, 1e-9),
                             list("eight right-hand sides", beam(40), 8, false, 1000, 300, 1e-8),
                             list("eight, preconditioned", beam(120), 8, true, 1000, 300, 1e-9)};
  lists.front().symmetric = plate(2);
  lists.push_back({"all defaults", fourRows(), 1, false, 1e-8, ParameterList()});
  lists.push_back({"all defaults, preconditioned", fourRows(), 1, true, 1e-8, ParameterList()});
  return lists;
}

/// Thyra's own opinion of an operator with solves: products, solves by default and with criteria, all with random
/// vectors.
void expectGoodByThyra(const SolveOp& op, const List& list) {
  std::ostringstream text;
  const auto out = Teuchos::getFancyOStream(Teuchos::rcpFromRef(static_cast<std::ostream&>(text)));
  Thyra::LinearOpWithSolveTester<double> solves;
  solves.num_rhs(list.rightHandSides);
  solves.turn_off_all_tests();
  solves.check_forward_default(true);
  solves.check_forward_residual(true);
  solves.set_all_solve_tol(list.tolerance);
  solves.set_all_slack_error_tol(list.tolerance);
  solves.forward_default_residual_error_tol(2 * list.tolerance);
  solves.forward_default_solution_error_error_tol(1e-1);  // a beam multiplies a residual by 1e6
  solves.show_all_tests(true);
  EXPECT_TRUE(solves.check(op, out.get())) << text.str();
}

TEST(StratimikosLists, AreSolvedByEachMethod) {
  for (const List& list : stratimikosLists()) {
    for (const MethodTraits& method : methods()) {
      SCOPED_TRACE(list.name + ", " + method.canonical);
      const auto op = thyraOf(method.needsSymmetric && !list.symmetric.is_null() ? list.symmetric : list.matrix);
      const auto b = rightHandSides(*op, list.rightHandSides);
      const auto all = listOf(method.canonical, list.parameters);
      if (list.preconditioned) withIlut(all);
      const auto solver = Thyra::linearOpWithSolve<double>(*factoryOf(all), op);
      const Solved solved = solveFromZero(*solver, *b);
      EXPECT_EQ(solved.status.solveStatus, Thyra::SOLVE_STATUS_CONVERGED) << solved.status.message;
      expectGoodByThyra(*solver, list);
      const double residual = largestResidual(*op, *b, *solved.x, norms(*b));
      EXPECT_LE(residual, list.tolerance * 1.0001);
      EXPECT_NEAR(solved.status.achievedTol, residual, 1e-3 * list.tolerance) << solved.status.message;
      expectIn(solved.status.message, method.canonical + ": converged after ");
      EXPECT_GT(iterations(solved.status), 0);
    }
  }
}

TEST(StratimikosLists, AreValidatedBeforeWorkStarts) {
  const auto refused = [](const std::function<void(ParameterList&)>& spoil, const std::string& why) {
    const auto list = listOf("CAPSTAN GMRES");
    spoil(list->sublist("Linear Solver Types").sublist("Capstan"));
    expectIn(errorOf([&] { factoryOf(list); }), why);
  };
  const auto types = [](ParameterList& list, const char* name) -> ParameterList& {
    return list.sublist("Solver Types").sublist(name);
  };
  refused([](ParameterList& list) { list.set("Solver Type", "capstan_gmers"); }, "did you mean \"CAPSTAN GMRES\"?");
  refused([](ParameterList& list) { list.set("Solver Type", "Block GMRES"); }, "there is no solver \"Block GMRES\"");
  refused([](ParameterList& list) { list.set("Solver Typ", "capstan_cg"); }, "did you mean \"Solver Type\"?");
  refused([](ParameterList& list) { list.set("Solver Type", 3); }, "\"Solver Type\" is of the wrong type");
  refused([&](ParameterList& list) { types(list, "CAPSTAN CG").set("Maximum Iteration", 3); },
          "did you mean \"Maximum Iterations\"?");
  refused([&](ParameterList& list) { types(list, "CAPSTAN CG").set("Maximum Iterations", "many"); },
          "builder->Linear Solver Types->Capstan->Solver Types->CAPSTAN CG");
  refused([&](ParameterList& list) { types(list, "CAPSTAN IDRS"); }, "did you mean \"CAPSTAN IDR\"?");
  refused([&](ParameterList& list) { types(list, "capstan_gmres"); }, "two lists for CAPSTAN GMRES");
}

TEST(StratimikosLists, ShowEveryParameterOfEveryMethod) {
  const auto valid = capstan::stratimikosStrategy()->create()->getValidParameters();
  for (const MethodTraits& method : methods()) {
    EXPECT_TRUE(valid->sublist("Solver Types").sublist(method.canonical).isParameter("Convergence Tolerance"));
  }
  EXPECT_TRUE(valid->isSublist("VerboseObject"));
}

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

#ifdef CAPSTAN_SERVES_BELOS_LISTS
TEST(BelosLists, AreServedWhereTheSolverIsOurs) {
  const auto op = thyraOf(plate(6));
  const auto b = rightHandSides(*op, 2);
  const auto solverOf = [&](const std::string& name) {
    const auto list = withIlut(listOf(name, one("Convergence Tolerance", 1e-7), "Belos"));
    ParameterList& belos = list->sublist("Linear Solver Types").sublist("Belos");
    belos.set("Convergence Test Frequency", 5);
    belos.sublist("Solver Types").sublist("Block CG").set("Block Size", 2);
    return Thyra::linearOpWithSolve<double>(*factoryOf(list), op);
  };
  for (const char* name : {"Capstan CG", "capstan_sstep_gmres"}) {
    const Solved solved = solveFromZero(*solverOf(name), *b);
    EXPECT_EQ(solved.status.solveStatus, Thyra::SOLVE_STATUS_CONVERGED);
    EXPECT_LE(largestResidual(*op, *b, *solved.x, norms(*b)), 1e-7);
    expectIn(solved.status.message, findMethod(name)->canonical + ": converged");
  }
  const Solved belos = solveFromZero(*solverOf("Pseudo Block GMRES"), *b);
  EXPECT_EQ(belos.status.solveStatus, Thyra::SOLVE_STATUS_CONVERGED);
  expectIn(belos.status.message, "The Belos solver");
  expectIn(errorOf([&] { solverOf("capstan_gmers"); }), "did you mean");
  ::setenv("CAPSTAN_OPTIONS", "redirect: {Pseudo Block GMRES: capstan_bicgstab}", 1);
  const Solved redirected = solveFromZero(*solverOf("Pseudo Block GMRES"), *b);
  ::unsetenv("CAPSTAN_OPTIONS");
  EXPECT_LE(largestResidual(*op, *b, *redirected.x, norms(*b)), 1e-7);
  expectIn(redirected.status.message, "CAPSTAN BICGSTAB: converged");
}
#endif

}  // namespace
