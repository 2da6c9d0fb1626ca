#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "belos_ext/parameters/method_traits.hpp"
#include "belos_ext/parameters/parameter_table.hpp"
#include "belos_ext/support/nearest_match.hpp"
#include "belos_ext/test/support/methods.hpp"

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

TEST(NearestMatch, FindsWhatWasNotWrittenToItsEnd) {
  EXPECT_EQ(nearestMatch("step", {"Basis", "Step Size"}), "Step Size");
  EXPECT_EQ(nearestMatch("num_blcks", {"Num", "Num Blocks Kept"}), "Num Blocks Kept");
  EXPECT_EQ(nearestMatch("step size", {"Step Size Kept", "Step Size"}), "Step Size") << "the whole name is nearer";
  EXPECT_EQ(nearestMatch("", {"Step Size"}), "");
}

TEST(NearestMatch, ComparesNormalizedSpelling) {
  EXPECT_EQ(normalizedName("  Step__Size- "), "step size");
  EXPECT_EQ(didYouMean("STEP_SIZE", {"Step Size"}), "; did you mean \"Step Size\"?");
}

TEST(SolverNames, AreUniqueAndOurs) {
  std::set<std::string> seen;
  ASSERT_FALSE(methods().empty());
  for (const MethodTraits& row : methods()) {
    EXPECT_TRUE(seen.insert(row.canonical).second) << row.canonical;
    EXPECT_TRUE(seen.insert(row.alias).second) << row.alias;
    EXPECT_TRUE(looksLikeOurs(row.canonical));
    EXPECT_TRUE(looksLikeOurs(row.alias));
    EXPECT_EQ(row.alias.find(' '), std::string::npos);
    EXPECT_EQ(&methodOf(row.canonical), &row);
  }
}

TEST(SolverNames, AreFoundInAnyCaseAndByAlias) {
  const MethodTraits* row = findMethod("Capstan Gmres S-Step");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->canonical, id::SStepGmres);
  EXPECT_EQ(findMethod("CAPSTAN_SSTEP_GMRES"), row);
  ASSERT_NE(findMethod("capstan gmres"), nullptr);
  EXPECT_EQ(findMethod("capstan gmres")->canonical, id::Gmres);
  EXPECT_EQ(findMethod("BLOCK GMRES"), nullptr);
  EXPECT_EQ(findMethod(""), nullptr);
}

TEST(MethodTraits, NameParametersThatNotEveryMethodTakes) {
  for (const MethodTraits& method : methods()) {
    for (const std::string& name : method.parameters) {
      const ParameterRow* row = findParameter(name);
      ASSERT_NE(row, nullptr) << method.canonical << ": " << name;
      EXPECT_EQ(row->name, name);
      EXPECT_FALSE(row->general) << method.canonical << ": " << name;
    }
  }
}

TEST(MethodTraits, LeaveNoParameterWithoutAMethod) {
  for (const ParameterRow& row : parameterRows()) {
    const bool taken = std::any_of(methods().begin(), methods().end(),
                                   [&row](const MethodTraits& method) { return row.appliesTo(method); });
    EXPECT_NE(taken, row.name == "Choice" || row.name == "Choice File") << row.name;
    EXPECT_TRUE(row.appliesTo(choosingMethod())) << row.name;
  }
}

TEST(MethodTraits, CostsAreThoseOfOneIteration) {
  SolverOptions options;
  options.numBlocks = 30;
  for (const MethodTraits& method : methods()) {
    for (const bool preconditioned : {false, true}) {
      const Cost cost = method.cost(options, preconditioned);
      EXPECT_GT(cost.reductions, 0) << method.canonical;
      EXPECT_LE(cost.reductions, method.family == Family::Gmres ? 1 : 2) << method.canonical;
      EXPECT_GE(cost.operators, 1) << method.canonical;
      EXPECT_EQ(cost.preconditioners, cost.operators) << method.canonical;
      EXPECT_GE(cost.bytes, 8 * 2 * cost.operators) << method.canonical;
      EXPECT_GE(cost.vectors, method.family == Family::Gmres ? 30 : 3) << method.canonical;
    }
    EXPECT_NE(costTableText().find(method.canonical), std::string::npos);
    EXPECT_NE(costTableMarkdown().find("| `" + method.canonical + "` |"), std::string::npos);
  }
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
    for (const MethodTraits& row : methods()) {
      EXPECT_NE(message.find('"' + row.canonical + '"'), std::string::npos) << message;
      EXPECT_NE(message.find('(' + row.alias + ')'), std::string::npos) << message;
    }
  }
}

TEST(SolverNames, ANameBegunIsToldTheNameThatBeginsSo) {
  const auto nearest = [](const std::string& name) {
    const std::string message = unknownSolverMessage(name);
    const auto at = message.find("did you mean");
    return at == std::string::npos ? std::string() : message.substr(at);
  };
  EXPECT_EQ(nearest("capstan_sstp"), "did you mean \"capstan_sstep_gmres\"?");
  EXPECT_EQ(nearest("capstan_sstep"), "did you mean \"capstan_sstep_gmres\"?");
  EXPECT_EQ(nearest("capstan_pipelined"), "did you mean \"capstan_pipelined_gmres\"?");
  EXPECT_EQ(nearest("capstan_gc"), "did you mean \"CAPSTAN CG\"?");
}

TEST(SolverNames, TablesHaveARowForEach) {
  for (const MethodTraits& row : methods()) {
    EXPECT_NE(solverTableMarkdown().find("| `" + row.canonical + "` | `" + row.alias + "` |"), std::string::npos);
    EXPECT_NE(solverTableText().find(row.summary), std::string::npos);
  }
}

}  // namespace
