#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "belos_ext/parameters/solver_names.hpp"
#include "belos_ext/support/nearest_match.hpp"

namespace {

using namespace capstan;

TEST(NearestMatch, FindsOneTypoAway) {
  const std::vector<std::string> names = {"Step Size", "Num Blocks", "Basis"};
  EXPECT_EQ(nearestMatch("Setp Size", names), "Step Size");
  EXPECT_EQ(nearestMatch("stepsize", names), "Step Size");
  EXPECT_EQ(nearestMatch("num_block", names), "Num Blocks");
}

TEST(NearestMatch, IsEmptyWhenNothingIsNear) {
  EXPECT_EQ(nearestMatch("Temperature", {"Step Size", "Basis"}), "");
  EXPECT_EQ(nearestMatch("x", {}), "");
  EXPECT_EQ(didYouMean("Temperature", {"Basis"}), "");
}

TEST(NearestMatch, PrefersTheNearerThenTheEarlier) {
  EXPECT_EQ(nearestMatch("cgs3", {"mgs", "cgs", "cgs2"}), "cgs");
  EXPECT_EQ(nearestMatch("cgs2", {"mgs", "cgs", "cgs2"}), "cgs2");
}

TEST(NearestMatch, ComparesNormalizedSpelling) {
  EXPECT_EQ(normalizedName("  Step__Size- "), "step size");
  EXPECT_EQ(didYouMean("STEP_SIZE", {"Step Size"}), "; did you mean \"Step Size\"?");
}

TEST(SolverNames, AreUniqueAndOurs) {
  std::set<std::string> seen;
  ASSERT_FALSE(solverNames().empty());
  for (const SolverName& row : solverNames()) {
    EXPECT_TRUE(seen.insert(row.canonical).second) << row.canonical;
    EXPECT_TRUE(seen.insert(row.alias).second) << row.alias;
    EXPECT_TRUE(looksLikeOurs(row.canonical));
    EXPECT_TRUE(looksLikeOurs(row.alias));
    EXPECT_EQ(row.alias.find(' '), std::string::npos);
    EXPECT_EQ(&solverName(row.method), &row);
  }
}

TEST(SolverNames, AreFoundInAnyCaseAndByAlias) {
  const SolverName* row = findSolver("Capstan Gmres S-Step");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->method, Method::SStepGmres);
  EXPECT_EQ(findSolver("CAPSTAN_SSTEP_GMRES"), row);
  ASSERT_NE(findSolver("capstan gmres"), nullptr);
  EXPECT_EQ(findSolver("capstan gmres")->method, Method::Gmres);
  EXPECT_EQ(findSolver("BLOCK GMRES"), nullptr);
  EXPECT_EQ(findSolver(""), nullptr);
}

TEST(SolverNames, AMisspeltOneListsTheValidOnesAndTheNearest) {
  EXPECT_TRUE(looksLikeOurs("capstan_sstep_gmers"));
  EXPECT_FALSE(looksLikeOurs("GMRES"));
  try {
    throwUnknownSolver("capstan_sstep_gmers");
    FAIL();
  } catch (const std::invalid_argument& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("\"capstan_sstep_gmers\""), std::string::npos);
    EXPECT_NE(message.find("did you mean \"capstan_sstep_gmres\"?"), std::string::npos);
    for (const SolverName& row : solverNames()) {
      EXPECT_NE(message.find('"' + row.canonical + '"'), std::string::npos) << message;
      EXPECT_NE(message.find('(' + row.alias + ')'), std::string::npos) << message;
    }
  }
}

TEST(SolverNames, TablesHaveARowForEach) {
  for (const SolverName& row : solverNames()) {
    EXPECT_NE(solverTableMarkdown().find("| `" + row.canonical + "` | `" + row.alias + "` |"), std::string::npos);
    EXPECT_NE(solverTableText().find(row.summary), std::string::npos);
  }
}

}  // namespace
