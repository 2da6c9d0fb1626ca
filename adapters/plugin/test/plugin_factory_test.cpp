#include <gtest/gtest.h>

#include <BelosLinearProblem.hpp>
#include <BelosSolverFactory.hpp>
#include <BelosTpetraAdapter.hpp>
#include <Tpetra_Core.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <algorithm>
#include <complex>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <stdexcept>

#include "adapters/plugin/register.hpp"
#include "adapters/plugin/solver_factory.hpp"
#include "belos_ext/report/solve_report.hpp"
#include "belos_ext/support/said_once.hpp"
#include "tpetra_ext/test/support/environment_variable.hpp"
#include "tpetra_ext/types.hpp"

namespace {

using namespace capstan;
using MV = Tpetra::MultiVector<>;
using OP = Tpetra::Operator<>;
using Factory = Belos::SolverFactory<double, MV, OP>;

/// CAPSTAN_OPTIONS for the length of a test.
struct Options : test::EnvironmentVariable {
  explicit Options(const char* text) : EnvironmentVariable("CAPSTAN_OPTIONS", text) {}
};

template <class Function>
std::string errorOf(const Function& function) {
  try {
    function();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

/// Solves diag(1, ..., n) x = 1 and returns the report.
SolveReport solveDiagonal(Belos::SolverManager<double, MV, OP>& solver) {
  const auto comm = Tpetra::getDefaultComm();
  const auto map = Teuchos::rcp(new Tpetra::Map<>(20, 0, comm));
  auto A = Teuchos::rcp(new Tpetra::CrsMatrix<>(map, 1));
  for (auto row = map->getMinGlobalIndex(); row <= map->getMaxGlobalIndex(); ++row) {
    A->insertGlobalValues(row, Teuchos::tuple(row), Teuchos::tuple(1.0 + static_cast<double>(row)));
  }
  A->fillComplete();
  auto x = Teuchos::rcp(new MV(map, 1)), b = Teuchos::rcp(new MV(map, 1));
  b->putScalar(1.0);
  auto problem = Teuchos::rcp(new Belos::LinearProblem<double, MV, OP>(A, x, b));
  problem->setProblem();
  solver.setProblem(problem);
  EXPECT_EQ(solver.solve(), Belos::Converged);
  const auto* reporting = dynamic_cast<const ReportingSolver*>(&solver);
  return reporting != nullptr ? reporting->report() : SolveReport();
}

TEST(SolverFactory, MakesEverySolverByBothNamesInAnyCase) {
  Factory factory;
  for (const MethodTraits& row : methods()) {
    std::string lower = row.canonical;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
    for (const std::string& name : {row.canonical, row.alias, lower}) {
      EXPECT_TRUE(factory.isSupported(name)) << name;
      EXPECT_EQ(solveDiagonal(*factory.create(name, Teuchos::parameterList())).solver, row.canonical) << name;
    }
  }
}

TEST(SolverFactory, TakesNoParametersAtAll) { EXPECT_FALSE(Factory().create("CAPSTAN CG", Teuchos::null).is_null()); }

TEST(SolverFactory, GivesTheParametersToTheSolver) {
  auto list = Teuchos::parameterList();
  list->set("Step Size", 3);
  const auto solver = Factory().create("capstan_sstep_gmres", list);
  EXPECT_EQ(solver->getCurrentParameters()->get<int>("Step Size"), 3);
  list->set("Step Size", 0);
  EXPECT_NE(errorOf([&] { Factory().create("capstan_sstep_gmres", list); }).find("\"Step Size\" = 0"),
            std::string::npos);
}

TEST(SolverFactory, AMisspeltNameOfOursListsTheValidOnes) {
  EXPECT_FALSE(Factory().isSupported("CAPSTAN GMRES SSTEP"));
  const std::string error = errorOf([] { Factory().create("CAPSTAN GMRES SSTEP", Teuchos::null); });
  EXPECT_NE(error.find("did you mean \"CAPSTAN GMRES S-STEP\"?"), std::string::npos) << error;
  EXPECT_NE(error.find("\"CAPSTAN CG\" (capstan_cg)"), std::string::npos) << error;
}

TEST(SolverFactory, LeavesTheNamesOfOthersToThem) {
  const auto solver = Factory().create("BLOCK GMRES", Teuchos::parameterList());
  EXPECT_EQ(dynamic_cast<const ReportingSolver*>(solver.get()), nullptr);
  EXPECT_THROW(Factory().create("NO SUCH SOLVER", Teuchos::parameterList()), std::exception);
}

TEST(SolverFactory, IsRegisteredOnce) {
  registerSolvers();
  capstan_register_solvers();
  const auto names = Factory().supportedSolverNames();
  EXPECT_EQ(std::count(names.begin(), names.end(), "CAPSTAN GMRES"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "capstan_gmres"), 1);
}

TEST(SolverFactory, TheEnvironmentRedirectsAndOverlays) {
  const Options options("{redirect: {BLOCK GMRES: CAPSTAN GMRES S-STEP}, step_size: 4}");
  auto list = Teuchos::parameterList();
  list->set("Num Blocks", 20);
  const auto solver = Factory().create("Block GMRES", list);
  EXPECT_EQ(solveDiagonal(*solver).solver, "CAPSTAN GMRES S-STEP");
  EXPECT_EQ(solver->getCurrentParameters()->get<int>("Step Size"), 4);
  EXPECT_EQ(solver->getCurrentParameters()->get<int>("Num Blocks"), 20);
}

TEST(SolverFactory, ARedirectKeepsWhatTheAliasStandsFor) {
  const Options options("redirect: {BLOCK GMRES: CAPSTAN GMRES}");
  const auto list = Teuchos::parameterList();
  const auto solver = Factory().create("Flexible GMRES", list);
  EXPECT_TRUE(solver->getCurrentParameters()->get<bool>("Flexible Gmres"));
  EXPECT_EQ(list->numParams(), 0) << "the application's list was changed";
}

TEST(SolverFactory, WrongOptionsAreAnErrorForEveryName) {
  const Options options("step_size: 1000");
  for (const char* name : {"CAPSTAN GMRES", "BLOCK GMRES"}) {
    const std::string error = errorOf([&] { Factory().create(name, Teuchos::parameterList()); });
    EXPECT_NE(error.find("CAPSTAN_OPTIONS, line 1: step_size: parameter \"Step Size\" = 1000"), std::string::npos)
        << error;
  }
}

/// What goes to the standard error stream while it lives.
class Stderr {
 public:
  Stderr() : before_(std::cerr.rdbuf(text_.rdbuf())) { forgetWhatWasSaid(); }
  ~Stderr() { std::cerr.rdbuf(before_); }
  Stderr(const Stderr&) = delete;
  Stderr& operator=(const Stderr&) = delete;
  int count(const std::string& part) const {
    const std::string text = text_.str();
    int found = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  }
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::streambuf* before_;
};

int onRankZero(int expected) { return Tpetra::getDefaultComm()->getRank() == 0 ? expected : 0; }

/// An application that falls back on Belos when Capstan throws, as MueLu's driver does, and says nothing.
void createOrFallBack(const std::string& name) {
  try {
    Factory().create(name, Teuchos::parameterList());
  } catch (const std::invalid_argument&) {
  }
}

TEST(SolverFactory, AMisspeltNameIsSaidOnceAlsoWhereTheApplicationCatchesTheError) {
  const Stderr captured;
  for (int i = 0; i < 3; ++i) createOrFallBack("CAPSTAN GMRES SSTEP");
  EXPECT_EQ(captured.count("there is no solver \"CAPSTAN GMRES SSTEP\""), onRankZero(1)) << captured.text();
  EXPECT_EQ(captured.count("did you mean \"CAPSTAN GMRES S-STEP\"?"), onRankZero(1)) << captured.text();
  createOrFallBack("capstan_gc");
  EXPECT_EQ(captured.count("there is no solver"), onRankZero(2)) << captured.text();
}

TEST(SolverFactory, WrongOptionsAreSaidOnceAlsoWhereTheApplicationCatchesTheError) {
  const Options options("step_sise: 5");
  const Stderr captured;
  for (const char* name : {"CAPSTAN GMRES", "BLOCK GMRES", "BLOCK GMRES"}) createOrFallBack(name);
  EXPECT_EQ(captured.count("CAPSTAN_OPTIONS, line 1: step_sise: unknown key"), onRankZero(1)) << captured.text();
}

TEST(SolverFactory, OptionsThatConflictAreSaidWhenASolveFindsThem) {
  const Stderr captured;
  const auto solver = Factory().create("CAPSTAN GMRES S-STEP", Teuchos::parameterList());
  const Options options("{step_size: 20, num_blocks: 10}");
  for (int i = 0; i < 2; ++i) EXPECT_THROW(solveDiagonal(*solver), std::invalid_argument);
  EXPECT_EQ(captured.count("\"Step Size\" = 20 exceeds \"Num Blocks\" = 10"), onRankZero(1)) << captured.text();
}

TEST(SolverFactory, AWildStepSizeOfARedirectedSolverBecomesAuto) {
  const Options options("redirect: {TPETRA GMRES S-STEP: CAPSTAN GMRES S-STEP, BLOCK CG: CAPSTAN CG}");
  for (const int wild : {0, -7, 101, 21925, 51}) {
    const Stderr captured;
    auto list = Teuchos::parameterList();
    list->set("Num Blocks", 50);
    list->set("Step Size", wild);
    for (int i = 0; i < 2; ++i) {
      const auto solver = Factory().create("TPETRA GMRES S-STEP", list);
      EXPECT_EQ(solver->getCurrentParameters()->get<std::string>("Step Size"), "auto");
      EXPECT_EQ(solveDiagonal(*solver).solver, "CAPSTAN GMRES S-STEP");
    }
    EXPECT_EQ(captured.count("parameter \"Step Size\" = " + std::to_string(wild) + " is no step size"), onRankZero(1))
        << captured.text();
    EXPECT_EQ(list->get<int>("Step Size"), wild) << "the application's list was changed";
    EXPECT_NO_THROW(Factory().create("BLOCK CG", list));
  }
  auto list = Teuchos::parameterList();
  list->set("Step Size", 7);
  const Stderr captured;
  EXPECT_EQ(Factory().create("TPETRA GMRES S-STEP", list)->getCurrentParameters()->get<int>("Step Size"), 7);
  EXPECT_EQ(captured.text(), "");
  list->set("Step Size", 101);
  EXPECT_THROW(Factory().create("CAPSTAN GMRES S-STEP", list), std::invalid_argument) << "written for Capstan";
}

/// A list with one step size, as an application gives it before a solve.
Teuchos::RCP<Teuchos::ParameterList> laterList(int stepSize) {
  auto list = Teuchos::parameterList();
  list->set("Convergence Tolerance", 1e-9);
  list->set("Step Size", stepSize);
  return list;
}

bool isAuto(const Belos::SolverManager<double, MV, OP>& solver) {
  const auto current = solver.getCurrentParameters();
  return current->isType<std::string>("Step Size") && current->get<std::string>("Step Size") == "auto";
}

TEST(SolverFactory, AWildStepSizeOfARedirectedSolverBecomesAutoInLaterListsToo) {
  const Options options("redirect: {TPETRA GMRES S-STEP: CAPSTAN GMRES S-STEP, BLOCK CG: CAPSTAN CG}");
  for (const int wild : {0, -7, 101, 21925, 51}) {
    const Stderr captured;
    auto first = laterList(7);
    first->set("Num Blocks", 50);
    const auto solver = Factory().create("TPETRA GMRES S-STEP", first);
    EXPECT_FALSE(isAuto(*solver));
    for (const auto& later : {solver, solver->clone()}) {
      ASSERT_NO_THROW(later->setParameters(laterList(wild))) << wild;
      EXPECT_TRUE(isAuto(*later)) << wild;
      EXPECT_EQ(later->getCurrentParameters()->get<double>("Convergence Tolerance"), 1e-9);
      EXPECT_EQ(solveDiagonal(*later).solver, "CAPSTAN GMRES S-STEP");
      later->setParameters(laterList(9));
      EXPECT_EQ(later->getCurrentParameters()->get<int>("Step Size"), 9);
    }
    EXPECT_EQ(captured.count("parameter \"Step Size\" = " + std::to_string(wild) + " is no step size"), onRankZero(1))
        << captured.text();
    const auto cg = Factory().create("BLOCK CG", Teuchos::parameterList());
    EXPECT_NO_THROW(cg->setParameters(laterList(wild)));
  }
}

TEST(SolverFactory, AStepSizeOfARedirectedSolverYieldsToTheCycle) {
  const char* const redirect = "{redirect: {TPETRA GMRES S-STEP: CAPSTAN GMRES S-STEP}, num_blocks: 30}";
  const auto solver = [&] {
    const Options options("redirect: {TPETRA GMRES S-STEP: CAPSTAN GMRES S-STEP}");
    return Factory().create("TPETRA GMRES S-STEP", laterList(40));
  }();
  EXPECT_FALSE(isAuto(*solver));
  const Stderr captured;
  {
    const Options options(redirect);
    EXPECT_EQ(solveDiagonal(*solver).solver, "CAPSTAN GMRES S-STEP") << "the user's cycle is shorter";
    EXPECT_TRUE(isAuto(*solver));
  }
  auto shorter = Teuchos::parameterList();
  shorter->set("Num Blocks", 20);
  EXPECT_NO_THROW(solver->setParameters(shorter));
  EXPECT_TRUE(isAuto(*solver));
  shorter->set("Num Blocks", 60);
  solver->setParameters(shorter);
  const Options options("step_size: 61");
  EXPECT_THROW(solveDiagonal(*solver), std::invalid_argument) << "the user has written that one";
}

TEST(SolverFactory, AWildStepSizeUnderANameOfOursStaysAnError) {
  const Options options("redirect: {CAPSTAN CG: CAPSTAN GMRES S-STEP}");
  for (const char* name : {"CAPSTAN GMRES S-STEP", "CAPSTAN CG"}) {
    EXPECT_THROW(Factory().create(name, laterList(101)), std::invalid_argument) << name;
    const auto solver = Factory().create(name, laterList(5));
    EXPECT_THROW(solver->setParameters(laterList(101)), std::invalid_argument) << name;
    EXPECT_EQ(solver->getCurrentParameters()->get<int>("Step Size"), 5) << name;
  }
}

TEST(RefusingFactory, SaysWhyThereIsNoComplexSolver) {
  struct Vectors;
  struct Map;
  RefusingFactory<std::complex<double>, Vectors, Map> factory;
  EXPECT_NE(errorOf([&] { factory.getSolver("capstan_cg", Teuchos::null); }).find("not available for the scalar type"),
            std::string::npos);
  EXPECT_NE(errorOf([&] { factory.getSolver("capstan_gc", Teuchos::null); }).find("did you mean \"CAPSTAN CG\"?"),
            std::string::npos);
  EXPECT_TRUE(factory.getSolver("BLOCK CG", Teuchos::null).is_null());
  EXPECT_FALSE(factory.isSupported("capstan_cg"));
}

}  // namespace
