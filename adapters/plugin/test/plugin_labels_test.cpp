/// \file
/// Which solves a label of the user's options means, and what is told of options that nothing has used.

#include <gtest/gtest.h>

#include <stdexcept>

#include "adapters/plugin/label_pattern.hpp"
#include "adapters/plugin/options_file.hpp"
#include "adapters/plugin/test/solve_of.hpp"

namespace {

using namespace capstan;
using capstan::testing::solveOf;

bool matches(const std::string& key, const SolveFacts& facts) { return LabelPattern::parse(key).matches(facts); }

/// Whether a solve is meant by "rows" compared so.
bool rowsMatch(const std::string& comparison, long long rows) {
  SolveFacts facts = solveOf("p");
  facts.rows = rows;
  return matches("rows " + comparison, facts);
}

std::string errorOf(const std::string& key) {
  try {
    LabelPattern::parse(key);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

void expectError(const std::string& key, const std::string& part) {
  const std::string error = errorOf(key);
  EXPECT_NE(error.find(part), std::string::npos) << key << ": " << error;
  EXPECT_NE(error.find("; allowed: a name, "), std::string::npos) << key << ": " << error;
}

TEST(Labels, NamesMatchWithoutRegardToCase) {
  const SolveFacts facts = solveOf("Pressure_Poisson");
  for (const char* key : {"Pressure_Poisson", "pressure poisson", "PRESSURE-POISSON", "capstan_sstep_gmres",
                          "CAPSTAN GMRES S-STEP", "name pressure poisson"}) {
    EXPECT_TRUE(matches(key, facts)) << key;
  }
  for (const char* key : {"pressure", "velocity", "capstan_gmres", "name name pressure poisson"}) {
    EXPECT_FALSE(matches(key, facts)) << key;
  }
}

TEST(Labels, ANameNeedNotBeAPattern) {
  for (const char* label : {"rock and water", "rows", "system 2", "symmetric", "a > b"}) {
    EXPECT_TRUE(matches(std::string("name ") + label, solveOf(label))) << label;
  }
  EXPECT_TRUE(matches("name", solveOf("name")));
  EXPECT_TRUE(matches("system matrix", solveOf("system matrix")));
  EXPECT_TRUE(matches("level 2", solveOf("level 2")));
  for (const char* label : {"geometric", "symm", "asym", "symmetry plane"}) {
    EXPECT_TRUE(matches(label, solveOf(label))) << label;
  }
  EXPECT_FALSE(matches("rock and water", solveOf("rock and water"))) << "two names";
}

TEST(Labels, SystemsMatchByTheirNumber) {
  SolveFacts facts = solveOf("gmres");
  facts.system = 12;
  EXPECT_TRUE(matches("system 12", facts));
  EXPECT_TRUE(matches("System  12", facts));
  EXPECT_FALSE(matches("system 1", facts));
}

TEST(Labels, RowsAreCompared) {
  EXPECT_TRUE(rowsMatch("> 10", 11) && !rowsMatch("> 10", 10));
  EXPECT_TRUE(rowsMatch(">= 10", 10) && !rowsMatch(">= 10", 9));
  EXPECT_TRUE(rowsMatch("< 10", 9) && !rowsMatch("< 10", 10));
  EXPECT_TRUE(rowsMatch("<= 10", 10) && !rowsMatch("<= 10", 11));
  EXPECT_TRUE(rowsMatch("= 10", 10) && !rowsMatch("= 10", 11));
  EXPECT_TRUE(rowsMatch(">1e3", 1001) && !rowsMatch(">1e3", 1000));
  EXPECT_TRUE(rowsMatch("> 5000000000", 5'000'000'001)) << "beyond an int";
}

TEST(Labels, SymmetryIsAskedForLastAndOnlyWhereItDecides) {
  int asked = 0;
  SolveFacts facts = solveOf("p");
  std::optional<bool> answer;
  facts.symmetric = [&] {
    ++asked;
    return answer;
  };
  EXPECT_FALSE(matches("symmetric", facts)) << "not known";
  EXPECT_FALSE(matches("nonsymmetric", facts)) << "not known";
  answer = true;
  EXPECT_TRUE(matches("Symmetric", facts));
  EXPECT_FALSE(matches("non-symmetric", facts));
  answer = false;
  EXPECT_FALSE(matches("symmetric", facts));
  EXPECT_TRUE(matches("nonsymmetric", facts));
  asked = 0;
  EXPECT_FALSE(matches("nonsymmetric and system 2", facts));
  EXPECT_EQ(asked, 0) << "no message for nothing";
  EXPECT_TRUE(matches("nonsymmetric and system 1 and rows > 10 and p", facts));
  EXPECT_EQ(asked, 1);
}

TEST(Labels, WhatBeginsAsAPatternAndIsNoneIsAnError) {
  expectError("", "is empty");
  expectError("_", "found \"_\", which is no name");
  expectError("p and -", "found \"-\", which is no name");
  expectError("name _", "found \"_\", which is no name");
  expectError("> 5", "only rows can be compared, found \"\"");
  expectError("p and", "nothing on one side of \"and\"");
  expectError("and p", "nothing on one side of \"and\"");
  expectError("rows", "did you mean \"rows > 10000\"?");
  expectError("rows 1000", "found \"rows 1000\"; did you mean \"rows > 10000\"?");
  expectError("row > 1000", "only rows can be compared, found \"row\"; did you mean \"rows\"?");
  expectError("p and columns > 3", "only rows can be compared, found \"columns\"");
  expectError("rows > many", "a whole number such as 10000 or 1e6, found \"many\"");
  expectError("rows > -5", "found \"-5\"");
  expectError("rows > 1.5", "found \"1.5\"");
  expectError("rows > 1e40", "found \"1e40\"");
  expectError("rows >", "found \"\"");
  expectError("rows => 5", "compared by >, >=, <, <= or =, found \"=>\"");
  expectError("system", "\"system\" needs a number; did you mean \"system 1\"?");
  expectError("system 0", "numbered 1, 2, ..., found \"0\"");
  expectError("system -1", "found \"-1\"");
  expectError("system 3.5", "found \"3.5\"");
  expectError("system = 2", "did you mean \"system 1\"?");
  expectError("sytem 2", "did you mean \"system 2\"?");
  expectError("symetric", "did you mean \"symmetric\"?");
  expectError("unsymmetric", "did you mean \"nonsymmetric\"?");
  expectError("p and asymmetric", "found \"asymmetric\"; did you mean \"nonsymmetric\"?");
}

TEST(NeverUsed, IsToldWithItsPlaceAndWhatItCouldHaveMeant) {
  const UserOptions options = UserOptions::parse(
      "step_size: 4\n"
      "num_blocks: 20\n"
      "labels:\n"
      "  presure: {num_blocks: 10}\n"
      "  pressure: {pipeline_depth: 2, num_blocks: 30}\n"
      "redirect: {BLOCK GMRES: CAPSTAN GMRES, GMRES: CAPSTAN GMRES}\n",
      "never.yaml");
  options.redirected("Pseudoblock GMRES");
  SolveFacts facts = solveOf("pressure", id::Gmres);
  facts.askedAs = "Pseudoblock GMRES";
  options.forSolve(facts);
  const std::string text = options.neverUsed();
  const auto says = [&text](const std::string& part) { return text.find(part) != std::string::npos; };
  EXPECT_TRUE(says("never.yaml, line 1: step_size: no solver that takes it has solved\n")) << text;
  EXPECT_TRUE(says("never.yaml, line 4: labels.presure: no solve fits it; did you mean \"pressure\"?\n")) << text;
  EXPECT_TRUE(says("never.yaml, line 5: labels.pressure.pipeline_depth: no solver that takes it has solved")) << text;
  EXPECT_TRUE(says("redirect.BLOCK GMRES: no solve was asked for by that name; asked for: \"PSEUDOBLOCK GMRES\""))
      << text;
  EXPECT_TRUE(says("system 1: \"pressure\", CAPSTAN GMRES, 1000 rows\n")) << text;
  EXPECT_FALSE(says("num_blocks") || says("redirect.GMRES")) << text;
}

TEST(NeverUsed, ARedirectIsUsedByASolveAndNotByARequest) {
  const UserOptions options = UserOptions::parse("redirect: {capstan_cg: CAPSTAN GMRES}", "o.yaml");
  EXPECT_EQ(options.redirected("Capstan CG")->canonical, id::Gmres);
  EXPECT_NE(options.neverUsed().find("redirect.capstan_cg: no solve was asked for by that name"), std::string::npos);
  SolveFacts facts = solveOf("x", id::Gmres);
  options.forSolve(facts);
  EXPECT_NE(options.neverUsed(), "");
  facts.askedAs = "Capstan CG";
  options.forSolve(facts);
  EXPECT_EQ(options.neverUsed(), "");
}

TEST(NeverUsed, IsEmptyWhereAllWasUsedByAnyCopy) {
  EXPECT_EQ(UserOptions().neverUsed(), "");
  const UserOptions options = UserOptions::parse("{step_size: 4, labels: {system 2: {basis: monomial}}}", "o.yaml");
  UserOptions copy;
  copy.add(options);
  copy.forSolve(solveOf("x"));
  EXPECT_NE(options.neverUsed().find("labels.system 2: no solve fits it\n"), std::string::npos) << options.neverUsed();
  SolveFacts second = solveOf("x");
  second.system = 2;
  copy.forSolve(second);
  EXPECT_EQ(options.neverUsed(), "");
}

}  // namespace
