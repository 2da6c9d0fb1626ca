/// \file
/// The driver with a host of arrays: what an application may rely on.

#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
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

TEST(Driver, TriesMultigridWhereNoPreconditionerIsNamed) {
  const auto driver = makeDriver();
  const auto plan = makePlan(wishes(std::nullopt));
  ASSERT_TRUE(plan.multigrid);
  std::string taken;
  for (int solve = 0; solve < 3; ++solve) {
    ArrayHost host(ArrayHost::facts(5000), 100, 1, tolerance);
    host.hasMultigrid = true;
    Solved solved(host);
    const auto cost = solved.with(*driver, plan);
    EXPECT_TRUE(cost.converged);
    taken += cost.preconditioner + " ";
    EXPECT_EQ(cost.method, cost.preconditioner == "exact" ? "capstan_gmres" : "capstan_cg");
  }
  EXPECT_EQ(taken, "diagonal exact exact ");
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
  for (int solve = 0; solve < 3; ++solve) solved.with(*driver, makePlan(wishes(own("diagonal", Diagonal))), dump);
  EXPECT_EQ(host.notes, std::vector<std::string>{"solve 2 is written to " + (folder / "p_2.yaml").string()});
  dump.maxEntries = 3;
  dump.solves = {4};
  solved.with(*driver, makePlan(wishes(own("diagonal", Diagonal))), dump);
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
  EXPECT_EQ(plan.solver.method, "capstan_bicgstab");
  EXPECT_EQ(plan.safeSolver.method, "capstan_sstep_gmres");
}

TEST(Plan, UsesEarlierSolvesWhereTheyResemble) {
  auto asked = wishes(std::nullopt);
  EXPECT_TRUE(makePlan(asked).solver.settings.empty());
  asked.recurs = true;
  EXPECT_EQ(makePlan(asked).solver.settings.front().name, "Initial_Guess");
  asked.symmetric = false;
  EXPECT_TRUE(makePlan(asked).solver.settings.empty());
}

}  // namespace
}  // namespace capstan::driver
