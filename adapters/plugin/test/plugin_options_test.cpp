#include <gtest/gtest.h>
#include <unistd.h>

#include <complex>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "adapters/plugin/options_file.hpp"
#include "adapters/plugin/test/solve_of.hpp"
#include "belos_ext/parameters/parameter_table.hpp"
#include "belos_ext/parameters/user_options_error.hpp"
#include "belos_ext/test/support/methods.hpp"
#include "tpetra_ext/test/support/environment_variable.hpp"

namespace {

using namespace capstan;
using capstan::testing::solveOf;

std::string errorOf(const std::string& text) {
  try {
    UserOptions::parse(text, "o.yaml");
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

using Variable = test::EnvironmentVariable;

TEST(UserOptions, ParametersForAllAndForALabel) {
  const UserOptions options = UserOptions::parse(
      "step_size: 5\n"
      "Convergence Tolerance: 1e-4\n"
      "labels:\n"
      "  pressure: {convergence_tolerance: 1e-9}\n",
      "o.yaml");
  const auto all = options.forSolve(solveOf("velocity"));
  EXPECT_EQ(all->get<int>("Step Size"), 5);
  EXPECT_EQ(all->get<double>("Convergence Tolerance"), 1e-4);
  EXPECT_EQ(all->name(), "o.yaml");
  EXPECT_EQ(options.forSolve(solveOf("pressure"))->get<double>("Convergence Tolerance"), 1e-9);
  EXPECT_EQ(options.forSolve(solveOf("pressure"))->get<int>("Step Size"), 5);
}

TEST(UserOptions, NothingIsNothing) {
  for (const char* text : {"", "\n# only a comment\n", "---\n", "{}"}) {
    const UserOptions options = UserOptions::parse(text, "o.yaml");
    EXPECT_TRUE(options.empty()) << text;
    EXPECT_TRUE(options.forSolve(solveOf("x")).is_null()) << text;
    EXPECT_EQ(options.redirected("BLOCK GMRES"), nullptr) << text;
  }
}

TEST(UserOptions, TheStrongerLayerWinsWhateverItsScope) {
  UserOptions options = UserOptions::parse("num_blocks: 10\nlabels: {p: {num_blocks: 20, step_size: 2}}", "file.yaml");
  options.add(UserOptions::parse("num_blocks: 30", "CAPSTAN_OPTIONS"));
  EXPECT_EQ(options.forSolve(solveOf("p"))->get<int>("Num Blocks"), 30);
  EXPECT_EQ(options.forSolve(solveOf("p"))->get<int>("Step Size"), 2);
  EXPECT_EQ(options.forSolve(solveOf("p"))->name(), "file.yaml and CAPSTAN_OPTIONS");
}

TEST(UserOptions, ValuesOfEveryShapeReachTheParameters) {
  const UserOptions options = UserOptions::parse(
      "step_size: auto\n"
      "shifts: [1, 2+3i, 2-3i]\n"
      "flexible_gmres: true\n"
      "solver_name: 123\n"
      "verbosity: Warnings + FinalSummary\n"
      "block_size: \"2\"\n",
      "o.yaml");
  Parameters parameters(methodOf(id::SStepGmres));
  parameters.setOverlay(options.forSolve(solveOf("")));
  const SolverOptions& result = parameters.options();
  EXPECT_TRUE(result.stepSizeAuto);
  EXPECT_EQ(result.shifts, (std::vector<std::complex<double>>{{1, 0}, {2, 3}, {2, -3}}));
  EXPECT_TRUE(result.flexible);
  EXPECT_EQ(result.solverLabel, "123");
  EXPECT_EQ(result.verbosity, 9);
  EXPECT_EQ(result.blockSize, 2);
  Parameters ofCg(methodOf(id::Cg));
  ofCg.setOverlay(UserOptions::parse("residual_replacement: off\n", "o.yaml").forSolve(solveOf("")));
  EXPECT_EQ(ofCg.options().residualReplacement.mode, ResidualReplacement::Mode::Off);
}

TEST(UserOptions, OfSeveralLabelsTheLaterWins) {
  const UserOptions options = UserOptions::parse(
      "labels:\n"
      "  system 1: {num_blocks: 10, step_size: 2}\n"
      "  Capstan GMRES S-Step: {num_blocks: 20}\n"
      "  rows < 5: {num_blocks: 30}\n",
      "o.yaml");
  EXPECT_EQ(options.forSolve(solveOf("gmres"))->get<int>("Num Blocks"), 20);
  EXPECT_EQ(options.forSolve(solveOf("gmres"))->get<int>("Step Size"), 2);
}

TEST(UserOptions, AWeakerSingleScalingYieldsToAStrongerOneForBoth) {
  const UserOptions options = UserOptions::parse(
      "implicit_residual_scaling: Norm of RHS\n"
      "labels:\n"
      "  p: {residual_scaling: none}\n"
      "  q: {residual_scaling: as the two}\n"
      "  r: {residual_scaling: none, explicit_residual_scaling: User Provided}\n",
      "o.yaml");
  const auto scalings = [&](const std::string& label) {
    Parameters parameters(methodOf(id::Gmres));
    parameters.setOverlay(options.forSolve(solveOf(label)));
    return std::pair{parameters.options().implicitScaling, parameters.options().explicitScaling};
  };
  using Scaling = ResidualScaling;
  EXPECT_EQ(scalings("p"), std::pair(Scaling::None, Scaling::None));
  EXPECT_EQ(scalings("q"), std::pair(Scaling::NormOfRHS, Scaling::NormOfInitRes));
  EXPECT_EQ(scalings("r"), std::pair(Scaling::None, Scaling::UserProvided));
  UserOptions both = UserOptions::parse("residual_scaling: none", "file.yaml");
  both.add(UserOptions::parse("implicit_residual_scaling: Norm of RHS", "CAPSTAN_OPTIONS"));
  Parameters parameters(methodOf(id::Gmres));
  parameters.setOverlay(both.forSolve(solveOf("")));
  EXPECT_EQ(parameters.options().implicitScaling, Scaling::NormOfRHS);
  EXPECT_EQ(parameters.options().explicitScaling, Scaling::None);
}

TEST(UserOptions, WrongLabelsAreErrorsOfTheirLine) {
  EXPECT_EQ(errorOf("labels:\n  row > 10: {step_size: 4}\n"),
            "Capstan options: o.yaml, line 2: labels.row > 10: only rows can be compared, found \"row\"; did you mean "
            "\"rows\"?; allowed: a name, \"name\" and a name, \"system 2\", \"rows > 10000\", \"symmetric\", "
            "\"nonsymmetric\", or several of them joined by \"and\"");
  EXPECT_NE(
      errorOf("labels: {Pressure: {}, pressure: {}}").find("labels.pressure: is given twice, before as \"Pressure\""),
      std::string::npos);
  EXPECT_NE(errorOf("labels: {p and system 1: {}, System 1 and p: {}}").find("is given twice"), std::string::npos);
}

TEST(UserOptions, MalformedYamlNamesSourceAndLine) {
  const std::string error = errorOf("step_size: 5\nlabels: {p: [\n");
  EXPECT_NE(error.find("o.yaml, line "), std::string::npos) << error;
  EXPECT_NE(error.find("is not valid YAML"), std::string::npos) << error;
}

TEST(UserOptions, AnUnknownKeyNamesLinePathAndNearest) {
  EXPECT_EQ(errorOf("step_size: 5\nnum_block: 3\n"),
            "Capstan options: o.yaml, line 2: num_block: unknown key; did you mean \"Num Blocks\"?; allowed: a "
            "parameter's name, labels, redirect");
  EXPECT_NE(errorOf("labels:\n  p:\n    stepp_size: 4\n").find("o.yaml, line 3: labels.p.stepp_size: unknown key"),
            std::string::npos);
  EXPECT_NE(errorOf("lables: {p: {step_size: 4}}").find("did you mean \"labels\"?"), std::string::npos);
}

TEST(UserOptions, AWrongValueNamesKeyValueAndWhatIsAllowed) {
  const std::string error = errorOf("\nlabels:\n  p:\n    step_size: 0\n");
  EXPECT_NE(
      error.find("o.yaml, line 4: labels.p.step_size: parameter \"Step Size\" = 0 is out of range; allowed: int or "
                 "string, 1 to 100"),
      std::string::npos)
      << error;
  EXPECT_NE(errorOf("basis: newtn").find("did you mean \"newton\"?"), std::string::npos);
  EXPECT_NE(errorOf("num_blocks: many").find("\"Num Blocks\" = \"many\" is not an integer"), std::string::npos);
  EXPECT_NE(errorOf("num_blocks:").find("has no value; allowed: int, >= 1"), std::string::npos);
  EXPECT_NE(errorOf("num_blocks: {a: 1}").find("is a map; allowed: int, >= 1"), std::string::npos);
  EXPECT_NE(errorOf("num_blocks: [1, 2]").find("is not an integer"), std::string::npos);
  EXPECT_EQ(errorOf("report_file: /no/such/folder/r.json"), "no error") << "rank 0 alone may see that folder";
}

TEST(UserOptions, RepeatedKeysAndWrongShapesAreErrors) {
  EXPECT_NE(errorOf("step_size: 3\nStep Size: 4").find("line 2: Step Size: parameter \"Step Size\" is given twice"),
            std::string::npos);
  EXPECT_NE(errorOf("- 1\n- 2").find("is not a map"), std::string::npos);
  EXPECT_NE(errorOf("labels: [p]").find("labels: is not a map"), std::string::npos);
  EXPECT_NE(errorOf("labels: {p: {}, p: {}}").find("labels.p: is given twice"), std::string::npos);
  EXPECT_NE(errorOf("labels: {p: 3}").find("labels.p: is not a map"), std::string::npos);
  EXPECT_NE(errorOf("{}\n---\n{}").find("second YAML document"), std::string::npos);
  EXPECT_NE(errorOf("[a, b]: 3").find("has a key that is not a word"), std::string::npos);
}

TEST(UserOptions, RedirectsFollowBelosAliases) {
  const UserOptions options = UserOptions::parse(
      "redirect:\n"
      "  Pseudoblock GMRES: CAPSTAN GMRES S-STEP\n"
      "  TPETRA GMRES: capstan_gmres\n"
      "  capstan_cg: CAPSTAN GMRES\n",
      "o.yaml");
  for (const char* name : {"PSEUDOBLOCK GMRES", "pseudo block gmres", "GMRES"}) {
    ASSERT_NE(options.redirected(name), nullptr) << name;
    EXPECT_EQ(options.redirected(name)->canonical, id::SStepGmres) << name;
  }
  EXPECT_EQ(options.redirected("Tpetra Gmres")->canonical, id::Gmres);
  EXPECT_EQ(options.redirected("Capstan CG")->canonical, id::Gmres);
  EXPECT_EQ(options.redirected("BLOCK GMRES"), nullptr);
}

TEST(UserOptions, RedirectsTakeNaluWindsWords) {
  const UserOptions options =
      UserOptions::parse("redirect: {gmres: capstan_gmres, sstep_gmres: capstan_sstep_gmres}", "o.yaml");
  for (const char* name : {"gmres", "PSEUDOBLOCK GMRES"}) {
    ASSERT_NE(options.redirected(name), nullptr) << name;
    EXPECT_EQ(options.redirected(name)->canonical, id::Gmres) << name;
  }
  for (const char* name : {"TPETRA GMRES S-STEP", "sstep_gmres", "Sstep GMRES"}) {
    ASSERT_NE(options.redirected(name), nullptr) << name;
    EXPECT_EQ(options.redirected(name)->canonical, id::SStepGmres) << name;
  }
  EXPECT_NE(errorOf("redirect: {sstp_gmres: CAPSTAN GMRES}").find("did you mean \"SSTEP GMRES\"?"), std::string::npos);
  EXPECT_NE(errorOf("redirect: {sstep_gmres: CAPSTAN CG, TPETRA GMRES S-STEP: CAPSTAN CG}").find("is redirected twice"),
            std::string::npos);
  EXPECT_NE(errorOf("redirect: {gmres: capstan_sstp}").find("did you mean \"capstan_sstep_gmres\"?"),
            std::string::npos);
}

TEST(UserOptions, WrongRedirectsAreErrors) {
  EXPECT_NE(errorOf("redirect: {BLOCK GMRES: CAPSTAN GMERS}").find("did you mean \"CAPSTAN GMRES\"?"),
            std::string::npos);
  EXPECT_NE(errorOf("redirect: {BLOK GMRES: CAPSTAN GMRES}").find("Belos has no solver \"BLOK GMRES\"; did you mean"),
            std::string::npos);
  EXPECT_NE(errorOf("redirect: {capstan_gmers: CAPSTAN GMRES}").find("did you mean \"CAPSTAN GMRES\"?"),
            std::string::npos);
  EXPECT_NE(errorOf("redirect: {GMRES: CAPSTAN GMRES, Pseudo Block GMRES: CAPSTAN CG}").find("is redirected twice"),
            std::string::npos);
  EXPECT_NE(errorOf("redirect: {GMRES: [CAPSTAN GMRES]}").find("redirect.GMRES: is not a solver's name"),
            std::string::npos);
  EXPECT_EQ(errorOf("redirect: {IN-HOUSE SMOOTHER: CAPSTAN GMRES}"), "no error");
}

TEST(EnvironmentOptions, InlineWinsOverTheFileAndChangesAreSeen) {
  const std::string path = std::filesystem::temp_directory_path() / ("options-" + std::to_string(::getpid()) + ".yaml");
  std::ofstream(path) << "step_size: 3\nnum_blocks: 50\n";
  const Variable file("CAPSTAN_OPTIONS_FILE", path);
  {
    const Variable text("CAPSTAN_OPTIONS", "step_size: 7");
    EXPECT_EQ(environmentOptions().forSolve(solveOf(""))->get<int>("Step Size"), 7);
    EXPECT_EQ(environmentOptions().forSolve(solveOf(""))->get<int>("Num Blocks"), 50);
  }
  EXPECT_EQ(environmentOptions().forSolve(solveOf(""))->get<int>("Step Size"), 3);
  std::filesystem::remove(path);
}

TEST(EnvironmentOptions, AWrongOneThrowsEveryTimeUntilItIsRight) {
  {
    const Variable text("CAPSTAN_OPTIONS", "step_size: [");
    EXPECT_THROW(environmentOptions(), std::invalid_argument);
    EXPECT_THROW(environmentOptions(), std::invalid_argument);
  }
  EXPECT_TRUE(environmentOptions().empty());
}

TEST(EnvironmentOptions, AFileThatCannotBeReadIsNamed) {
  const auto error = [] {
    try {
      environmentOptions();
    } catch (const std::invalid_argument& caught) {
      return std::string(caught.what());
    }
    return std::string("no error");
  };
  {
    const Variable file("CAPSTAN_OPTIONS_FILE", "/no/such/options.yaml");
    EXPECT_NE(error().find("cannot read \"/no/such/options.yaml\", named by CAPSTAN_OPTIONS_FILE: No such file"),
              std::string::npos)
        << error();
  }
  const Variable folder("CAPSTAN_OPTIONS_FILE", "/tmp");
  EXPECT_NE(error().find("it is a folder"), std::string::npos) << error();
  const Variable longest("CAPSTAN_OPTIONS_FILE", std::string(5000, 'x'));
  EXPECT_NE(error().find("x\", named by CAPSTAN_OPTIONS_FILE: File name too long"), std::string::npos) << error();
  const Variable unreadable("CAPSTAN_OPTIONS_FILE", "/proc/self/mem");
  EXPECT_NE(error().find("named by CAPSTAN_OPTIONS_FILE: Input/output error"), std::string::npos) << error();
}

TEST(EnvironmentOptions, AFileWithoutPermissionIsNamed) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read every file";
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("closed-" + std::to_string(::getpid()));
  fs::create_directory(folder);
  std::ofstream(folder / "o.yaml") << "step_size: 3\n";
  const Variable file("CAPSTAN_OPTIONS_FILE", folder / "o.yaml");
  for (const fs::path& closed : {folder / "o.yaml", folder}) {
    fs::permissions(closed, fs::perms::none);
    try {
      environmentOptions();
      ADD_FAILURE() << "no error";
    } catch (const std::exception& error) {
      EXPECT_NE(dynamic_cast<const UserOptionsError*>(&error), nullptr) << error.what();
      EXPECT_NE(std::string(error.what()).find("named by CAPSTAN_OPTIONS_FILE: Permission denied"), std::string::npos)
          << error.what();
    }
    fs::permissions(closed, fs::perms::owner_all);
  }
  fs::remove_all(folder);
}

TEST(EnvironmentOptions, AnEmptyFileIsNoOption) {
  const std::string path = std::filesystem::temp_directory_path() / ("empty-" + std::to_string(::getpid()) + ".yaml");
  std::ofstream(path).close();
  const Variable file("CAPSTAN_OPTIONS_FILE", path);
  EXPECT_TRUE(environmentOptions().empty());
  std::filesystem::remove(path);
}

}  // namespace
