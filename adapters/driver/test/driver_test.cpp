/// \file
/// The driver with a host of arrays: what an application may rely on.

#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>

#include "adapters/driver/field_driver.hpp"
#include "adapters/driver/test/array_host.hpp"

namespace capstan::driver {
namespace {

constexpr int rowsOfRank = 20;
constexpr double tolerance = 1e-8;

PreconditionerChoice own(const char* name, int number) {
  PreconditionerChoice choice;
  choice.name = name;
  choice.own = number;
  return choice;
}

Wishes wishes(std::optional<PreconditionerChoice> preconditioner, const std::string& method = "") {
  Wishes wishes;
  wishes.method = method;
  wishes.preconditioner = std::move(preconditioner);
  wishes.plain = own("diagonal", Diagonal);
  wishes.multigrid = own("exact", Exact);
  wishes.multigrid.cycle = true;
  wishes.symmetric = true;
  return wishes;
}

std::unique_ptr<FieldDriver> makeDriver() {
  static int meshes = 0;
  return makeFieldDriver("mesh " + std::to_string(++meshes), {"say tolerance", "say tolerance"});
}

/// A solve with a host of its own, from x = 0.
struct Solved {
  explicit Solved(ArrayHost& system) : host(system) {}

  SolveCost with(FieldDriver& driver, const Plan& plan, const DumpControls& dump = {}) {
    x.assign(static_cast<std::size_t>(host.rows()), 0);
    return again(driver, plan, dump);
  }
  SolveCost again(FieldDriver& driver, const Plan& plan, const DumpControls& dump = {}) {
    host.guess = x;
    return driver.solve(host, plan, dump, x.data(), false);
  }
  double residual() {
    host.guess = x;
    std::vector<double> r(x.size());
    return host.firstResidual(r.data()).one;
  }

  ArrayHost& host;
  std::vector<double> x;
};

TEST(Driver, MeetsTheHostsNormWithEverythingTheUserMayName) {
  const auto driver = makeDriver();
  for (const double sign : {1.0, -1.0}) {
    for (const std::string method : {"", "capstan_cg", "capstan_gmres", "PSEUDOBLOCK CG", "BLOCK GMRES"}) {
      PreconditionerChoice assembled;
      assembled.name = "jacobi";
      for (const auto& choice : {own("diagonal", Diagonal), own("exact", Exact), assembled, PreconditionerChoice()}) {
        ArrayHost host(ArrayHost::facts(500), rowsOfRank, sign, tolerance);
        Solved solved(host);
        const auto cost = solved.with(*driver, makePlan(wishes(choice, method)));
        EXPECT_TRUE(cost.converged) << method << " with " << choice.name;
        EXPECT_LE(solved.residual(), tolerance) << method << " with " << choice.name;
        EXPECT_LE(cost.finalResidual, tolerance);
        EXPECT_TRUE(host.warnings.empty()) << host.warnings.front();
        EXPECT_EQ(cost.preconditioner, choice.name);
      }
    }
  }
}

TEST(Driver, TakesTwoMessagesBesideThoseOfTheMethod) {
  const auto driver = makeDriver();
  ArrayHost host(ArrayHost::facts(500), rowsOfRank, 1, tolerance);
  Solved solved(host);
  const auto cost = solved.with(*driver, makePlan(wishes(own("diagonal", Diagonal))));
  EXPECT_EQ(cost.checks, 3) << "the host wants the last residual";
  EXPECT_EQ(cost.passes, 1);
  double last = 0;
  for (const double value : host.shown) last += std::abs(value);
  MPI_Allreduce(MPI_IN_PLACE, &last, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_LE(last, tolerance);
  const auto nothing = solved.again(*driver, makePlan(wishes(own("diagonal", Diagonal))));
  EXPECT_EQ(nothing.iterations, 0);
  EXPECT_TRUE(nothing.converged);
}

TEST(Driver, LeavesXAsItIsWhereTheSystemHoldsNaN) {
  const auto driver = makeDriver();
  ArrayHost host(ArrayHost::facts(500), rowsOfRank, 1, tolerance);
  host.shift = std::numeric_limits<double>::quiet_NaN();
  Solved solved(host);
  const auto cost = solved.with(*driver, makePlan(wishes(std::nullopt)));
  EXPECT_FALSE(cost.converged);
  EXPECT_EQ(cost.steps, std::vector<std::string>{"left as NaN was found"});
  EXPECT_EQ(host.warnings.size(), 1U);
  for (const double value : solved.x) EXPECT_EQ(value, 0);
}

TEST(Driver, GoesOnSafelyWhereAPreconditionerFails) {
  const auto driver = makeDriver();
  const auto plan = makePlan(wishes(own("broken", NotANumber), "capstan_gmres"));
  ArrayHost host(ArrayHost::facts(500), rowsOfRank, 1, tolerance);
  Solved solved(host);
  for (int solve = 1; solve <= 3; ++solve) {
    const auto cost = solved.with(*driver, plan);
    EXPECT_TRUE(cost.converged);
    EXPECT_LE(solved.residual(), tolerance);
    EXPECT_EQ(cost.fellBackTo, "capstan_cg and diagonal");
    EXPECT_EQ(cost.method, "capstan_gmres") << "what was asked for";
    EXPECT_EQ(cost.steps.back(), "by capstan_cg and diagonal");
    EXPECT_EQ(host.warnings.size(), 1U) << "told in full once";
  }
  ASSERT_EQ(host.notes.size(), 2U);
  EXPECT_EQ(host.notes.back(),
            "capstan_gmres with broken fails; going on with capstan_cg and diagonal (3 times so far)");
}

TEST(Driver, CountsWhatTheMethodDidAboutABreakdown) {
  const auto driver = makeDriver();
  ArrayHost host(ArrayHost::facts(500), rowsOfRank, 1, tolerance);
  host.skew = 0.9;  // not what the host says
  Solved solved(host);
  const auto cost = solved.with(*driver, makePlan(wishes(PreconditionerChoice(), "capstan_cg")));
  EXPECT_TRUE(cost.converged);
  EXPECT_EQ(cost.steps, std::vector<std::string>{"by CAPSTAN GMRES after a breakdown"});
  EXPECT_EQ(cost.fellBackTo, "CAPSTAN GMRES");
}

TEST(Driver, NeverReturnsAWorseXAtALimit) {
  for (const std::string method : {"capstan_cg", "PSEUDOBLOCK CG", "capstan_bicgstab"}) {
    const auto driver = makeDriver();
    const auto plan = makePlan(wishes(own("diagonal", Diagonal), method));
    for (const int limit : {1, 2, 3, 5, 9}) {
      ArrayHost host(ArrayHost::facts(limit), rowsOfRank, 1, tolerance);
      Solved solved(host);
      for (auto& value : host.b) value = 0;
      if (host.rows() > 0) host.b[0] = 1;
      const double before = [&] {
        solved.x.assign(static_cast<std::size_t>(host.rows()), 0);
        double sum = 0;
        for (const double value : host.b) sum += value * value;
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        return std::sqrt(sum);
      }();
      const auto cost = solved.again(*driver, plan);
      EXPECT_FALSE(cost.converged);
      EXPECT_LE(cost.iterations, limit);
      host.guess = solved.x;
      std::vector<double> r(solved.x.size());
      const Norms after = host.firstResidual(r.data());
      EXPECT_LE(std::min(after.two, after.one), before * (1 + 1e-12)) << method << ", limit " << limit;
      EXPECT_NEAR(cost.finalResidual, after.one, 1e-12 * after.one) << method << ", limit " << limit;
    }
  }
}

// Else the field of an application that always ends at its limit would stay as it is for the whole run.
TEST(Driver, KeepsWhatFewIterationsBringWhereTheOneNormGrows) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (const std::string method : {"capstan_cg", "PSEUDOBLOCK CG"}) {
    const auto driver = makeDriver();
    ArrayHost host(ArrayHost::facts(3), rowsOfRank, 1, tolerance);
    host.shift = -0.003;  // every step spreads the residual
    for (auto& value : host.b) value = 0;
    if (rank == 0) host.b[10] = 1;
    Solved solved(host);
    const auto cost = solved.with(*driver, makePlan(wishes(PreconditionerChoice(), method)));
    EXPECT_EQ(cost.iterations, 3);
    EXPECT_NE(cost.finalResidual, cost.initialResidual) << method;
    EXPECT_EQ(cost.steps, std::vector<std::string>{"part of the way at the limit"}) << method;
  }
}

TEST(Driver, MakesTheLeastIterations) {
  const auto driver = makeDriver();
  ArrayHost host(ArrayHost::facts(500, 7), rowsOfRank, 1, 1e3);  // the guess meets it
  Solved solved(host);
  EXPECT_GE(solved.with(*driver, makePlan(wishes(own("diagonal", Diagonal)))).iterations, 7);
}

TEST(Driver, KeepsAnAssembledPreconditionerAsLongAsItIsTold) {
  PreconditionerChoice assembled;
  assembled.name = "riluk";
  for (const auto kind : {UpdatePolicy::Kind::Always, UpdatePolicy::Kind::Never}) {
    const auto driver = makeDriver();
    auto asked = wishes(assembled);
    asked.preconditionerUpdate.kind = kind;
    asked.verify = true;
    const auto plan = makePlan(asked);
    int builds = 0;
    for (int solve = 0; solve < 4; ++solve) {
      ArrayHost host(ArrayHost::facts(500), rowsOfRank, -1, tolerance);
      host.shift = 0.1 * solve;
      Solved solved(host);
      const auto cost = solved.with(*driver, plan);
      EXPECT_TRUE(cost.converged);
      builds += cost.builds;
    }
    EXPECT_EQ(builds, kind == UpdatePolicy::Kind::Always ? 4 : 1);
  }
}

/// The preconditioners and methods of solves in turn, each of a host of its own.
struct Taken {
  std::vector<std::string> preconditioners, methods;
  std::vector<std::string> warnings, notes;
};
Taken solveInTurn(const Wishes& asked, int solves, FieldDriver& driver, MPI_Comm comm = MPI_COMM_WORLD) {
  const auto plan = makePlan(asked);
  Taken taken;
  for (int solve = 0; solve < solves; ++solve) {
    constexpr double loose = 1e-5;  // several hundred rows in one dimension allow no less than 1e-7
    ArrayHost host(ArrayHost::facts(5000), 400, 1, loose, comm);
    host.hasMultigrid = true;
    if (!host.b.empty()) host.b.front() += 0.1 * solve;
    Solved solved(host);
    const auto cost = solved.with(driver, plan);
    EXPECT_TRUE(cost.converged);
    EXPECT_LE(solved.residual(), loose);
    taken.preconditioners.push_back(cost.preconditioner);
    taken.methods.push_back(cost.method);
    taken.warnings.insert(taken.warnings.end(), host.warnings.begin(), host.warnings.end());
    taken.notes.insert(taken.notes.end(), host.notes.begin(), host.notes.end());
  }
  return taken;
}

Wishes openWishes(const char* mode) {
  auto asked = wishes(std::nullopt);
  asked.settings = {{"Choice", std::string(mode)}};
  return asked;
}

TEST(Driver, ChoosesMultigridWhereItTakesLess) {
  const auto driver = makeDriver();
  const auto taken = solveInTurn(openWishes("counted"), 24, *driver);
  EXPECT_EQ(taken.preconditioners.front(), "diagonal");
  EXPECT_EQ(taken.methods.front(), "capstan_cg");
  EXPECT_EQ(taken.preconditioners.back(), "exact");
  EXPECT_TRUE(taken.warnings.empty()) << taken.warnings.front();
  ASSERT_FALSE(taken.notes.empty());
  EXPECT_NE(taken.notes.front().find(" with exact, "), std::string::npos) << taken.notes.front();
}

// On one rank: sums over several may differ in their last bits from run to run, and iterations with them.
TEST(Driver, DecidesAlikeInEveryRunWhereIterationsAreCounted) {
  const auto asked = openWishes("counted");
  const auto first = makeDriver(), second = makeDriver();
  EXPECT_EQ(solveInTurn(asked, 20, *first, MPI_COMM_SELF).methods,
            solveInTurn(asked, 20, *second, MPI_COMM_SELF).methods);
}

TEST(Driver, DecidesAlikeOnAllRanksBySeconds) {
  const auto driver = makeDriver();
  const auto taken = solveInTurn(openWishes("measured"), 30, *driver);
  for (std::size_t solve = 0; solve < taken.methods.size(); ++solve) {
    const std::string name = taken.methods[solve] + taken.preconditioners[solve];
    unsigned long sums[2] = {std::hash<std::string>()(name) % 1000003, 0};
    MPI_Allreduce(&sums[0], &sums[1], 1, MPI_UNSIGNED_LONG, MPI_MAX, MPI_COMM_WORLD);
    EXPECT_EQ(sums[0], sums[1]) << "solve " << solve << ": " << name;
  }
}

TEST(Driver, SolvesByTheBestOneWhereATrialFails) {
  const auto driver = makeDriver();
  auto asked = openWishes("counted");
  asked.multigrid = own("broken", NotANumber);
  asked.multigrid.cycle = true;
  const auto taken = solveInTurn(asked, 20, *driver);
  const auto broken = std::count(taken.preconditioners.begin(), taken.preconditioners.end(), "broken");
  EXPECT_GE(broken, 1) << "none was tried";
  EXPECT_LE(broken, 4) << "what fails is left alone";
  EXPECT_EQ(taken.preconditioners.back(), "diagonal");
}

// Fields of transport are often solved in a sweep: what a driver does around it would take longer.
TEST(Driver, LeavesWhatTakesASweepToTheHostsOwnSolver) {
  for (const bool named : {false, true}) {
    const auto driver = makeDriver();
    auto asked = wishes(named ? std::optional(own("diagonal", Diagonal)) : std::nullopt);
    asked.solver = own("sweeps", 4);
    asked.solver.solves = true;
    const auto plan = makePlan(asked);
    for (int solve = 0; solve < 20; ++solve) {
      ArrayHost host(ArrayHost::facts(500), rowsOfRank, 1, tolerance);
      host.shift = 1e10;
      Solved solved(host);
      const auto cost = solved.with(*driver, plan);
      EXPECT_EQ(cost.method, "sweeps");
      EXPECT_EQ(cost.iterations, 1);
      EXPECT_TRUE(cost.converged);
      EXPECT_GT(cost.initialResidual, tolerance);
      EXPECT_LE(cost.finalResidual, tolerance);
      EXPECT_EQ(host.ownSolves, 1);
      EXPECT_EQ(host.firstResiduals, 0) << "the solver has computed it";
      EXPECT_EQ(cost.checks, 1) << "what the ranks agree on";
      EXPECT_LE(solved.residual(), tolerance);
    }
  }
}

// Where the user has named a preconditioner nothing else goes on beyond the limit.
TEST(Driver, EndsAtTheLimitWhereThePreconditionerIsNamed) {
  constexpr int limit = 3;
  const auto driver = makeDriver();
  auto asked = wishes(own("diagonal", Diagonal));
  asked.solver = own("sweeps", 4);
  asked.solver.solves = true;
  const auto plan = makePlan(asked);
  for (int solve = 0; solve < 6; ++solve) {
    ArrayHost host(ArrayHost::facts(limit), rowsOfRank, 1, tolerance);
    Solved solved(host);
    const auto cost = solved.with(*driver, plan);
    EXPECT_FALSE(cost.converged);
    EXPECT_EQ(cost.iterations, limit);
    EXPECT_LE(cost.finalResidual, cost.initialResidual);
    EXPECT_LE(solved.residual(), cost.initialResidual);
  }
}

TEST(Driver, TriesTheHostsOwnSolverAndTrustsNoneOfItsWords) {
  constexpr double good = 1, diverging = 3;
  for (const double factor : {good, diverging}) {
    const auto driver = makeDriver();
    auto asked = openWishes("counted");
    asked.solver = own("sweeps", 4);
    asked.solver.solves = true;
    const auto plan = makePlan(asked);
    int own = 0;
    std::string last;
    for (int solve = 0; solve < 40; ++solve) {
      ArrayHost host(ArrayHost::facts(500), rowsOfRank, 1, tolerance, MPI_COMM_SELF);
      host.shift = 20;  // the diagonal is all that counts
      host.ownSolverFactor = factor;
      Solved solved(host);
      const auto cost = solved.with(*driver, plan);
      EXPECT_TRUE(cost.converged);
      EXPECT_LE(solved.residual(), tolerance);
      own += host.ownSolves;
      last = cost.method;
    }
    EXPECT_GE(own, 1) << "never tried";
    if (factor == diverging) {
      EXPECT_LE(own, 6);
      EXPECT_NE(last, "sweeps");
    }
  }
}

// OpenFOAM's judges by the scale of the x that it is given.
TEST(Driver, AsksTheHostsOwnSolverForLessWhereItStopsTooEarly) {
  const auto driver = makeDriver();
  auto asked = wishes(std::nullopt);
  asked.solver = own("sweeps", 4);
  asked.solver.solves = true;
  int own = 0;
  for (int solve = 0; solve < 20; ++solve) {
    ArrayHost host(ArrayHost::facts(500), rowsOfRank, 1, tolerance, MPI_COMM_SELF);
    host.shift = 20;
    host.ownSolverStopsAt = 1.5;
    Solved solved(host);
    const auto cost = solved.with(*driver, makePlan(asked));
    EXPECT_TRUE(cost.converged);
    EXPECT_EQ(cost.fellBackTo, "");
    EXPECT_TRUE(host.warnings.empty()) << host.warnings.front();
    own += host.ownSolves;
  }
  EXPECT_GT(own, 0);
}

TEST(Driver, HasNothingToDoForAResidualOfZero) {
  for (const bool named : {false, true}) {
    const auto driver = makeDriver();
    ArrayHost host(ArrayHost::facts(500), rowsOfRank, 1, 0);
    host.strict = true;  // 0 < 0 is not true
    std::fill(host.b.begin(), host.b.end(), 0.0);
    Solved solved(host);
    const auto plan = makePlan(named ? wishes(std::nullopt, "capstan_cg") : wishes(std::nullopt));
    const auto cost = solved.with(*driver, plan);
    EXPECT_TRUE(cost.converged);
    EXPECT_EQ(cost.iterations, 0);
  }
}

TEST(Driver, ChoosesThePreconditionerOfANamedMethod) {
  for (const std::string method : {"capstan_gmres", "BLOCK GMRES"}) {
    const auto driver = makeDriver();
    auto asked = wishes(std::nullopt, method);
    const auto taken = solveInTurn(asked, 8, *driver);
    for (const auto& name : taken.methods) EXPECT_EQ(name, method);
    EXPECT_EQ(taken.preconditioners.front(), "diagonal");
    EXPECT_NE(std::count(taken.preconditioners.begin(), taken.preconditioners.end(), "exact"), 0) << method;
  }
}

TEST(Driver, BeginsWithWhatTheLastRunFoundOut) {
  namespace fs = std::filesystem;
  int rank = 0, process = getpid();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Bcast(&process, 1, MPI_INT, 0, MPI_COMM_WORLD);
  const fs::path file = fs::temp_directory_path() / ("capstan_driver_choice_" + std::to_string(process) + ".json");
  auto asked = openWishes("counted");
  asked.settings.push_back({"Choice_File", file.string()});
  const auto first = makeDriver();
  const auto before = solveInTurn(asked, 10, *first);
  MPI_Barrier(MPI_COMM_WORLD);
  const auto second = makeDriver();
  const auto after = solveInTurn(asked, 1, *second);
  EXPECT_EQ(after.preconditioners.front(), before.preconditioners.back());
  asked.settings.front().value = std::string("fixed");
  const auto third = makeDriver();
  const auto fixed = solveInTurn(asked, 5, *third);
  EXPECT_EQ(fixed.preconditioners, std::vector<std::string>(5, "exact"));
  EXPECT_EQ(fixed.methods, std::vector<std::string>(5, fixed.methods.front())) << "no trials";
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) fs::remove(file);
  MPI_Barrier(MPI_COMM_WORLD);
  const auto fourth = makeDriver();
  EXPECT_THROW(solveInTurn(asked, 1, *fourth), std::invalid_argument);
}

// OpenFOAM has a preconditioner GAMG and a solver GAMG.
TEST(Driver, KeepsTheHostsSolverAndItsPreconditionerOfOneNameApart) {
  namespace fs = std::filesystem;
  const fs::path file = fs::temp_directory_path() / ("capstan_driver_names_" + std::to_string(getpid()) + ".json");
  auto asked = openWishes("counted");
  asked.settings.push_back({"Choice_File", file.string()});
  asked.solver = own("diagonal", 4);
  asked.solver.solves = true;
  const auto driver = makeDriver();
  int own = 0;
  for (int solve = 0; solve < 40; ++solve) {
    ArrayHost host(ArrayHost::facts(500), rowsOfRank, 1, tolerance, MPI_COMM_SELF);
    host.shift = 20;  // the diagonal is all that counts
    Solved solved(host);
    solved.with(*driver, makePlan(asked));
    own += host.ownSolves;
  }
  EXPECT_GT(own, 0);
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  fs::remove(file);
  for (const char* name : {"\"diagonal\"", "\"diagonal of the application\""}) {
    EXPECT_NE(text.str().find(name), std::string::npos) << name << " in " << text.str();
  }
}

TEST(Driver, GoesOnWithTheOtherPreconditionerAtALimitMadeForMultigrid) {
  const auto driver = makeDriver();
  auto asked = wishes(std::nullopt);
  ArrayHost host(ArrayHost::facts(9), 100, 1, tolerance);
  host.hasMultigrid = true;
  Solved solved(host);
  const auto cost = solved.with(*driver, makePlan(asked));
  EXPECT_TRUE(cost.converged);
  EXPECT_EQ(cost.fellBackTo, "exact");
  EXPECT_EQ(cost.steps.back(), "by exact after the limit");
}

TEST(Driver, TakesOtherRowsWhenTheyChange) {
  const auto driver = makeDriver();
  PreconditionerChoice assembled;
  assembled.name = "jacobi";
  for (const int rows : {10, 20, 5}) {
    ArrayHost host(ArrayHost::facts(500), rows, 1, tolerance);
    Solved solved(host);
    EXPECT_TRUE(solved.with(*driver, makePlan(wishes(assembled))).converged);
    EXPECT_LE(solved.residual(), tolerance);
  }
}

TEST(Driver, TakesCoefficientsInTheSameSolvesOnAllRanks) {
  const auto driver = makeDriver();
  std::vector<Plan> plans;
  for (const char* name : {"jacobi", "riluk"}) {
    PreconditionerChoice choice;
    choice.name = name;
    plans.push_back(makePlan(wishes(choice)));
    plans.back().matrixUpdate.kind = UpdatePolicy::Kind::Periodic;
    plans.back().matrixUpdate.frequency = 3;
  }
  ArrayHost host(ArrayHost::facts(500), rowsOfRank, 1, tolerance);  // the last of several ranks has no rows
  Solved solved(host);
  for (int solve = 1; solve <= 7; ++solve) {
    EXPECT_TRUE(solved.with(*driver, plans[static_cast<std::size_t>(solve % 2)]).converged);
    int taken[2] = {host.valuesTaken, -host.valuesTaken};
    MPI_Allreduce(MPI_IN_PLACE, taken, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    ASSERT_EQ(taken[0], -taken[1]) << "in solve " << solve;  // else some ranks would update, and wait for others
  }
  EXPECT_EQ(host.valuesTaken, 3);
}

// Multigrid that gathers its levels on fewer ranks frees its communicators, and makes others.
TEST(Driver, KnowsACommunicatorOfOtherRanksWithAsManyRowsHere) {
  PreconditionerChoice jacobi;
  jacobi.name = "jacobi";
  for (const auto& choice : {own("diagonal", Diagonal), jacobi}) {
    const auto driver = makeDriver();
    const auto plan = makePlan(wishes(choice));
    for (const MPI_Comm parent : {MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_WORLD}) {
      MPI_Comm comm = MPI_COMM_NULL;
      MPI_Comm_dup(parent, &comm);
      ArrayHost host(ArrayHost::facts(500), rowsOfRank, 1, tolerance, comm);
      Solved solved(host);
      EXPECT_TRUE(solved.with(*driver, plan).converged);
      EXPECT_TRUE(solved.again(*driver, plan).converged);
      EXPECT_LE(solved.residual(), tolerance);
      MPI_Comm_free(&comm);
    }
  }
}

TEST(Driver, WritesTheSystemsThatAreAskedFor) {
  namespace fs = std::filesystem;
  int rank = 0, process = getpid();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Bcast(&process, 1, MPI_INT, 0, MPI_COMM_WORLD);
  const fs::path folder = fs::temp_directory_path() / ("capstan_driver_test_" + std::to_string(process));
  if (rank == 0) fs::remove_all(folder);
  MPI_Barrier(MPI_COMM_WORLD);
  const auto driver = makeDriver();
  DumpControls dump;
  dump.solves = {2};
  dump.folder = folder.string();
  dump.maxEntries = 1000;
  ArrayHost host(ArrayHost::facts(500), rowsOfRank, -1, tolerance);
  Solved solved(host);
  for (int solve = 0; solve < 3; ++solve)
    solved.with(*driver, makePlan(wishes(own("diagonal", Diagonal), "capstan_cg")), dump);
  EXPECT_EQ(host.notes, std::vector<std::string>{"solve 2 is written to " + (folder / "p_2.yaml").string()});
  dump.maxEntries = 3;
  dump.solves = {4};
  solved.with(*driver, makePlan(wishes(own("diagonal", Diagonal), "capstan_cg")), dump);
  ASSERT_EQ(host.warnings.size(), 1U);
  EXPECT_NE(host.warnings[0].find("more than maxEntries"), std::string::npos) << host.warnings[0];
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    int files = 0;
    for (const auto& file : fs::directory_iterator(folder)) files += file.is_regular_file() ? 1 : 0;
    EXPECT_EQ(files, 4);
    fs::remove_all(folder);
  }
}

TEST(Driver, RefusesParametersThatTheHostSets) {
  const auto driver = makeDriver();
  auto asked = wishes(own("diagonal", Diagonal));
  asked.settings = {{"Residual_Norm", std::string("TwoNorm")}};
  ArrayHost host(ArrayHost::facts(500), rowsOfRank, 1, tolerance);
  Solved solved(host);
  EXPECT_THROW(solved.with(*driver, makePlan(asked)), std::invalid_argument);
}

TEST(Plan, RefusesAMethodThatDoesNotFit) {
  auto asked = wishes(std::nullopt, "capstan_cg");
  asked.symmetric = false;
  EXPECT_THROW(makePlan(asked), std::invalid_argument);
  asked.method.clear();
  const auto plan = makePlan(asked);
  EXPECT_EQ(plan.ways.front().solver.method, "capstan_bicgstab");
  EXPECT_EQ(plan.safeSolver.method, "capstan_sstep_gmres");
}

TEST(Plan, ChoosesAmongWhatWasLeftOpen) {
  auto asked = wishes(std::nullopt);
  for (const std::string method : {"", "capstan_auto", "CAPSTAN"}) {
    asked.method = method;
    asked.settings = {{"Pipeline_Depth", 2}, {"Step_Size", 4}};
    const auto plan = makePlan(asked);
    ASSERT_EQ(plan.preconditioners.size(), 2U);
    EXPECT_EQ(plan.ways.front().solver.method, "capstan_cg");
    bool pipelined = false;
    for (const Way& way : plan.ways) {
      const std::string& name = way.solver.method;
      EXPECT_EQ(name.find("_cr"), std::string::npos) << "conjugate residuals are for those who ask for them";
      const Settings& settings = way.solver.settings;
      const auto given = [&](const char* key) {
        return std::any_of(settings.begin(), settings.end(), [&](const Setting& one) { return one.name == key; });
      };
      EXPECT_EQ(given("Pipeline_Depth"), name == "capstan_pipelined_cg") << name;
      EXPECT_FALSE(given("Step_Size")) << name;
      pipelined = pipelined || name == "capstan_pipelined_cg";
    }
    EXPECT_TRUE(pipelined);
  }
  asked.settings = {{"Pipeline_Depth", std::string("deep")}};
  EXPECT_THROW(makePlan(asked), std::invalid_argument);
}

TEST(Plan, UsesEarlierSolvesWhereTheyResemble) {
  auto asked = wishes(std::nullopt);
  EXPECT_TRUE(makePlan(asked).ways.front().solver.settings.empty());
  asked.recurs = true;
  EXPECT_EQ(makePlan(asked).ways.front().solver.settings.front().name, "Initial_Guess");
  asked.symmetric = false;
  EXPECT_TRUE(makePlan(asked).ways.front().solver.settings.empty());
}

}  // namespace
}  // namespace capstan::driver
