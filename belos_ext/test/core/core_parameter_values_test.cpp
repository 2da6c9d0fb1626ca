#include <gtest/gtest.h>

#include <BelosTypes.hpp>
#include <Teuchos_Array.hpp>
#include <Teuchos_FancyOStream.hpp>
#include <cmath>
#include <cstdio>
#include <limits>
#include <stdexcept>

#include "belos_ext/parameters/parameter_table.hpp"
#include "belos_ext/parameters/parameter_value.hpp"

namespace {

using namespace capstan;
using Complex = std::complex<double>;

/// The options after one value, read through the table.
template <class T>
SolverOptions read(const std::string& key, const T& value) {
  const ParameterRow* row = findParameter(key);
  if (row == nullptr) throw std::logic_error("no row " + key);
  ParameterState state;
  parseParameter(*row, Teuchos::ParameterEntry(value), state);
  return state.options;
}

template <class T>
std::string errorOf(const std::string& key, const T& value) {
  try {
    read(key, value);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(ParameterValue, IntegersComeInAnyNumericType) {
  EXPECT_EQ(read("Maximum Iterations", 7).maxIterations, 7);
  EXPECT_EQ(read("Maximum Iterations", 7LL).maxIterations, 7);
  EXPECT_EQ(read("Maximum Iterations", std::size_t(7)).maxIterations, 7);
  EXPECT_EQ(read("Maximum Iterations", 7.0).maxIterations, 7);
  EXPECT_EQ(read("Maximum Iterations", std::string("7")).maxIterations, 7);
}

TEST(ParameterValue, WhatIsNoIntegerIsRefused) {
  EXPECT_EQ(errorOf("Maximum Iterations", 7.5),
            "parameter \"Maximum Iterations\" = 7.5 is not an integer; allowed: int, >= 0");
  EXPECT_NE(errorOf("Maximum Iterations", std::string("seven")).find("= \"seven\" is not an integer"),
            std::string::npos);
  EXPECT_NE(errorOf("Maximum Iterations", true).find("= true is not an integer"), std::string::npos);
  EXPECT_NE(errorOf("Maximum Iterations", -1).find("is out of range"), std::string::npos);
  EXPECT_NE(errorOf("Maximum Iterations", 5'000'000'000LL).find("is out of range"), std::string::npos);
  EXPECT_NE(errorOf("Maximum Iterations", std::nan("")).find("is not an integer"), std::string::npos);
  EXPECT_NE(errorOf("Maximum Iterations", Teuchos::Array<int>(2, 1)).find("is not an integer"), std::string::npos);
}

TEST(ParameterValue, RealsComeInAnyNumericType) {
  EXPECT_EQ(read("Convergence Tolerance", 1e-3).tolerance, 1e-3);
  EXPECT_EQ(read("Convergence Tolerance", 0.25f).tolerance, 0.25);
  EXPECT_EQ(read("Convergence Tolerance", 1).tolerance, 1.0);
  EXPECT_EQ(read("Convergence Tolerance", std::string("1e-3")).tolerance, 1e-3);
  EXPECT_EQ(read("Convergence Tolerance", 0.0).tolerance, 0.0);
  EXPECT_NE(errorOf("Convergence Tolerance", -1e-3).find("is out of range"), std::string::npos);
  EXPECT_NE(errorOf("Convergence Tolerance", std::numeric_limits<double>::infinity()).find("is out of range"),
            std::string::npos);
  EXPECT_NE(errorOf("Convergence Tolerance", std::nan("")).find("is not a number"), std::string::npos);
  EXPECT_NE(errorOf("Convergence Tolerance", std::string("1e-3x")).find("is not a number"), std::string::npos);
  EXPECT_NE(errorOf("User Defined Residual Scaling", 0.0).find("is out of range"), std::string::npos);
}

TEST(ParameterValue, BooleansComeAsWordsToo) {
  EXPECT_TRUE(read("Flexible Gmres", true).flexible);
  EXPECT_TRUE(read("Flexible Gmres", std::string("Yes")).flexible);
  EXPECT_FALSE(read("Flexible Gmres", std::string("false")).flexible);
  EXPECT_NE(errorOf("Flexible Gmres", 1).find("is neither true nor false"), std::string::npos);
  EXPECT_NE(errorOf("Flexible Gmres", std::string("maybe")).find("is neither true nor false"), std::string::npos);
}

TEST(ParameterValue, InitialGuessesComeWithTheirNumbers) {
  using Mode = InitialGuess::Mode;
  EXPECT_EQ(SolverOptions().initialGuess.mode, Mode::Application);
  EXPECT_EQ(read("Initial Guess", std::string("Application")).initialGuess, InitialGuess());
  EXPECT_EQ(read("Initial Guess", "extrapolation 3").initialGuess, (InitialGuess{Mode::Extrapolation, 3}));
  EXPECT_EQ(read("initial_guess", std::string("PROJECTION_20")).initialGuess, (InitialGuess{Mode::Projection, 20}));
  for (const char* wrong : {"projection 0", "projection 21", "projection -1", "extrapolation 4", "extrapolation 0"}) {
    EXPECT_NE(errorOf("Initial Guess", wrong).find(std::string("= \"") + wrong + "\" is out of range; allowed: "),
              std::string::npos)
        << errorOf("Initial Guess", wrong);
  }
  EXPECT_NE(errorOf("Initial Guess", "projection").find("lacks its number"), std::string::npos);
  EXPECT_NE(errorOf("Initial Guess", "projection many").find("is not an integer"), std::string::npos);
  const std::string misspelt = errorOf("Initial Guess", "projektion 10");
  EXPECT_NE(misspelt.find("is not one of the allowed words"), std::string::npos) << misspelt;
  EXPECT_NE(misspelt.find("did you mean \"projection 10\""), std::string::npos) << misspelt;
  EXPECT_NE(errorOf("Initial Guess", "aplication").find("did you mean \"application\""), std::string::npos);
  EXPECT_NE(errorOf("Initial Guess", 3).find("\"Initial Guess\" = 3"), std::string::npos);
}

TEST(ParameterValue, VerbosityComesAsBitsBoolWordsOrEnumerator) {
  EXPECT_EQ(read("Verbosity", 33).verbosity, 33);
  EXPECT_EQ(read("Verbosity", Belos::FinalSummary).verbosity, static_cast<int>(Belos::FinalSummary));
  EXPECT_EQ(read("Verbosity", false).verbosity, 0);
  EXPECT_EQ(read("Verbosity", true).verbosity, Belos::Warnings | Belos::FinalSummary | Belos::StatusTestDetails);
  EXPECT_EQ(read("Verbosity", std::string("Warnings + finalsummary")).verbosity, Belos::Warnings | Belos::FinalSummary);
  EXPECT_NE(errorOf("Verbosity", 128).find("is out of range"), std::string::npos);
  EXPECT_NE(errorOf("Verbosity", std::string("Loud")).find("\"Loud\", which is no kind of message"), std::string::npos);
}

TEST(ParameterValue, OutputStyleComesAsNumberWordOrEnumerator) {
  EXPECT_EQ(read("Output Style", Belos::Brief).outputStyle, 1);
  EXPECT_EQ(read("Output Style", 2).outputStyle, 2);
  EXPECT_EQ(read("Output Style", std::string("brief")).outputStyle, 1);
  EXPECT_NE(errorOf("Output Style", 3).find("is out of range"), std::string::npos);
}

TEST(ParameterValue, StreamsAreTakenButNotNullOnes) {
  const auto fancy = Teuchos::fancyOStream(Teuchos::rcpFromRef(static_cast<std::ostream&>(std::cout)));
  EXPECT_EQ(read("Output Stream", fancy).outputStream.get(), static_cast<std::ostream*>(fancy.get()));
  EXPECT_NE(errorOf("Output Stream", Teuchos::RCP<std::ostream>()).find("is a null stream"), std::string::npos);
  EXPECT_NE(errorOf("Output Stream", std::string("cout")).find("is not a stream"), std::string::npos);
}

TEST(ParameterValue, StepSizeIsANumberOrAuto) {
  EXPECT_FALSE(read("Step Size", 8).stepSizeAuto);
  EXPECT_TRUE(read("Step Size", std::string("AUTO")).stepSizeAuto);
  EXPECT_EQ(read("Step Size", 100).stepSize, 100);
  EXPECT_NE(errorOf("Step Size", 101).find("is out of range"), std::string::npos);
  EXPECT_NE(errorOf("Step Size", std::string("autp")).find("did you mean \"auto\"?"), std::string::npos);
}

TEST(ParameterValue, ShiftsComeInManyForms) {
  const std::vector<Complex> pair = {{2.0, 3.0}, {2.0, -3.0}};
  EXPECT_EQ(read("Shifts", std::string("[2+3i, 2-3i]")).shifts, pair);
  EXPECT_EQ(read("Shifts", std::string("(2,3), (2,-3)")).shifts, pair);
  EXPECT_EQ(read("Shifts", Teuchos::Array<Complex>(pair)).shifts, pair);
  EXPECT_EQ(read("Shifts", Teuchos::Array<std::string>(1, "1e-2")).shifts, std::vector<Complex>{0.01});
  EXPECT_EQ(read("Shifts", Teuchos::Array<double>(2, 1.5)).shifts, (std::vector<Complex>{1.5, 1.5}));
  EXPECT_EQ(read("Shifts", 4.0).shifts, std::vector<Complex>{4.0});
  EXPECT_EQ(read("Shifts", std::string("[-1e1i, 1e1i]")).shifts, (std::vector<Complex>{{0.0, -10.0}, {0.0, 10.0}}));
  EXPECT_FALSE(read("Shifts", 4.0).shiftsAuto);
  EXPECT_TRUE(read("Shifts", std::string("auto")).shiftsAuto);
}

TEST(ParameterValue, ListsAreShownWithAllTheirDigits) {
  const Teuchos::ParameterEntry reals(Teuchos::Array<double>(std::vector<double>{1.0000000001, 2.0, 1e-17}));
  EXPECT_EQ(showValue(reals), "[1.0000000001, 2, 1e-17]");
  const Teuchos::ParameterEntry numbers(Teuchos::Array<Complex>(std::vector<Complex>{{0.1234567890123, 2.0}}));
  EXPECT_EQ(showValue(numbers), "[0.1234567890123+2i]");
}

TEST(ParameterValue, ShiftsMustBeFiniteNumbersInConjugatePairs) {
  EXPECT_NE(errorOf("Shifts", std::string("[2+3i, 2]")).find("has 2+3i without its complex conjugate"),
            std::string::npos);
  EXPECT_NE(errorOf("Shifts", std::string("[1, two]")).find("two\", which is not a number"), std::string::npos);
  EXPECT_NE(errorOf("Shifts", std::string("[1, 2")).find("without its closing bracket"), std::string::npos);
  EXPECT_NE(errorOf("Shifts", std::string("[1,,2]")).find("which is not a number"), std::string::npos);
  EXPECT_NE(errorOf("Shifts", Teuchos::Array<double>()).find("is an empty list"), std::string::npos);
  EXPECT_NE(errorOf("Shifts", std::numeric_limits<double>::infinity()).find("is not finite"), std::string::npos);
  EXPECT_NE(errorOf("Shifts", true).find("is not a list of numbers"), std::string::npos);
}

TEST(ParameterValue, EigenvalueBoundsAreAnInterval) {
  const SolverOptions options = read("Eigenvalue Bounds", std::string("[0.5, 2]"));
  EXPECT_FALSE(options.eigenvalueBoundsAuto);
  EXPECT_EQ(options.eigenvalueBounds.min, 0.5);
  EXPECT_EQ(options.eigenvalueBounds.max, 2.0);
  EXPECT_NE(errorOf("Eigenvalue Bounds", std::string("[2, 1]")).find("is not an interval"), std::string::npos);
  EXPECT_NE(errorOf("Eigenvalue Bounds", std::string("[1, 2i]")).find("is not an interval"), std::string::npos);
  EXPECT_NE(errorOf("Eigenvalue Bounds", 3.0).find("is not a list of two numbers"), std::string::npos);
}

TEST(ParameterValue, ResidualReplacementIsAWordOrAPeriod) {
  using Mode = ResidualReplacement::Mode;
  EXPECT_EQ(read("Residual Replacement", std::string("auto")).residualReplacement.mode, Mode::Auto);
  EXPECT_EQ(read("Residual Replacement", std::string("off")).residualReplacement.mode, Mode::Off);
  EXPECT_EQ(read("Residual Replacement", false).residualReplacement.mode, Mode::Off);
  EXPECT_EQ(read("Residual Replacement", std::string("every 20")).residualReplacement.every, 20);
  EXPECT_EQ(read("Residual Replacement", 20).residualReplacement.every, 20);
  EXPECT_NE(errorOf("Residual Replacement", 0).find("is out of range"), std::string::npos);
  EXPECT_NE(errorOf("Residual Replacement", std::string("every now")).find("is not an integer"), std::string::npos);
}

TEST(ParameterValue, OutputFilesAreAnyPath) {
  EXPECT_EQ(read("Report File", std::string("/tmp/report.json")).reportFile, "/tmp/report.json");
  EXPECT_EQ(read("Report File", std::string("report.json")).reportFile, "report.json");
  EXPECT_EQ(read("Report File", std::string()).reportFile, "");
  EXPECT_EQ(read("History File", std::string("/no/such/folder/h.csv")).historyFile, "/no/such/folder/h.csv");
}

TEST(ParameterTable, HasNoKeyTwiceAndPrintsWhatItParses) {
  for (const ParameterRow& row : parameterRows()) {
    EXPECT_EQ(findParameter(row.name), &row) << row.name;
    EXPECT_FALSE(row.doc.empty()) << row.name;
    EXPECT_FALSE(row.allowed.empty()) << row.name;
    EXPECT_NO_THROW(checkParameter(row, row.show(ParameterState()))) << row.name;
  }
}

TEST(ParameterTable, RefusesAnObjectForEveryKey) {
  for (const ParameterRow& row : parameterRows()) {
    const Teuchos::ParameterEntry entry(Teuchos::rcp(new int(3)));
    EXPECT_THROW(checkParameter(row, entry), std::invalid_argument) << row.name;
  }
}

TEST(ParameterTable, TablesShowWhatSomeSolverUses) {
  const std::string markdown = parameterTableMarkdown();
  EXPECT_NE(
      markdown.find("| `Step Size` | int or string | 1 to 100 (at most \"Num Blocks\"), or auto | `\"auto\"` | GMRES "
                    "S-STEP, GMRES S-STEP PIPELINE |"),
      std::string::npos)
      << markdown;
  EXPECT_NE(markdown.find("| `Convergence Tolerance` | double | a number >= 0 | `1e-08` | all |"), std::string::npos);
  EXPECT_NE(parameterTableText().find("\"Pipeline Depth\" (int; >= 1; default 1; solvers: GMRES PIPELINE, "),
            std::string::npos);
}

TEST(ParameterTable, ShowsKeysInGroups) {
  const std::string markdown = parameterTableMarkdown(), text = parameterTableText();
  const auto at = [](const std::string& table, const std::string& part) {
    const std::size_t found = table.find(part);
    EXPECT_NE(found, std::string::npos) << part << " in\n" << table;
    return found;
  };
  const std::size_t basic = at(markdown, "## Basic\n"), method = at(markdown, "## Method\n"),
                    expert = at(markdown, "## Expert\n"), compatibility = at(markdown, "## Compatibility");
  EXPECT_EQ(basic, 0U);
  EXPECT_LT(at(markdown, "| `Convergence Tolerance` |"), method);
  EXPECT_LT(at(markdown, "| `Num Blocks` |"), method);
  EXPECT_GT(at(markdown, "| `Pipeline Depth` |"), method);
  EXPECT_LT(at(markdown, "| `Pipeline Depth` |"), expert);
  EXPECT_GT(at(markdown, "| `Strict Parameters` |"), expert);
  EXPECT_GT(at(markdown, "- `Use Single Reduction`: Each method has a fixed number of reductions an iteration.\n"),
            compatibility);
  EXPECT_EQ(markdown.find("| `Use Single Reduction`"), std::string::npos) << "a list, no table";
  EXPECT_LT(at(text, "Basic\n"), at(text, "Expert\n"));
  EXPECT_EQ(parameterRows().front().group, ParameterGroup::Basic);
}

TEST(Options, OfOtherConcernsAreLeftBehind) {
  using Own = MethodOptions<FallbackOptions>;
  static_assert(!std::is_base_of_v<RestartOptions, Own>, "a method that does not name them cannot read them");
  SolverOptions all;
  all.tolerance = 1e-3;
  all.numBlocks = 7;
  all.fallback = Fallback::None;
  const Own own(all);
  EXPECT_EQ(own.tolerance, 1e-3);
  EXPECT_EQ(own.fallback, Fallback::None);
  const SolverOptions again(own);
  EXPECT_EQ(again.fallback, Fallback::None);
  EXPECT_EQ(again.numBlocks, SolverOptions().numBlocks) << "at its default";
}

TEST(ParameterTable, SuggestsTheNearestKey) {
  EXPECT_EQ(nearestParameter("Covergence Tolerance"), "Convergence Tolerance");
  EXPECT_EQ(nearestParameter("number of equations"), "");
}

}  // namespace
