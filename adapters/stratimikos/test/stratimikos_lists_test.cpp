// Lists with the meaning of those that Stratimikos tests its Belos with, for each of our methods, and lists for Belos.

#include <gtest/gtest.h>

#include <Thyra_LinearOpWithSolveTester.hpp>

#include "adapters/stratimikos/test/thyra_problems.hpp"
#include "belos_ext/parameters/method_traits.hpp"

namespace {

using namespace capstan;
using namespace capstan::test;
using Teuchos::ParameterList;

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
