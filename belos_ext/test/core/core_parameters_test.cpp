#include <gtest/gtest.h>

#include <BelosTypes.hpp>
#include <Teuchos_GlobalMPISession.hpp>
#include <sstream>
#include <stdexcept>

#include "belos_ext/parameters/parameter_table.hpp"
#include "belos_ext/parameters/user_options_error.hpp"
#include "belos_ext/test/support/methods.hpp"

namespace {

using namespace capstan;
using Teuchos::ParameterList;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Parameters of each solver that print into a string.
class ParametersTest : public testing::Test {
 protected:
  ParametersTest() {
    forgetParameterWarnings();
    ParameterList list;
    list.set("Output Stream", Teuchos::rcp_implicit_cast<std::ostream>(printed_));
    for (Parameters* parameters : {&gmres_, &sStep_, &cg_}) parameters->merge(list);
  }

  template <class T>
  static ParameterList listOf(const std::string& key, const T& value) {
    ParameterList list;
    list.set(key, value);
    return list;
  }

  static std::string errorOf(Parameters& parameters, const ParameterList& list) {
    try {
      parameters.merge(list);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "no error";
  }

  std::string printed() {
    const std::string text = printed_->str();
    printed_->str("");
    return text;
  }

  static bool onRank0() { return Teuchos::GlobalMPISession::getRank() == 0; }

  Teuchos::RCP<std::ostringstream> printed_ = Teuchos::rcp(new std::ostringstream);
  Parameters gmres_{methodOf(id::Gmres)};
  Parameters sStep_{methodOf(id::SStepGmres)};
  Parameters cg_{methodOf(id::Cg)};
};

// They are copied from the first ones of the method.
TEST_F(ParametersTest, ASolverMadeLaterKnowsNothingOfEarlierOnes) {
  const Parameters before(methodOf(id::Gmres));
  Parameters told(methodOf(id::Gmres), "GMRES");
  ParameterList list = listOf("Num Blocks", 17);
  list.set("Convergence Tolerance", 1e-3);
  told.merge(list);
  EXPECT_NE(told.checksum(), before.checksum());
  const Parameters after(methodOf(id::Gmres));
  EXPECT_EQ(after.checksum(), before.checksum());
  EXPECT_EQ(after.alike(), before.alike());
  EXPECT_EQ(after.options().numBlocks, SolverOptions().numBlocks);
  EXPECT_EQ(after.options().tolerance, SolverOptions().tolerance);
  EXPECT_NE(Parameters(methodOf(id::Cg)).checksum(), before.checksum());
}

TEST_F(ParametersTest, MergingATinyListKeepsTheRest) {
  ParameterList first;
  first.set("Maximum Iterations", 37);
  first.set("Num Blocks", 11);
  gmres_.merge(first);
  gmres_.merge(listOf("Convergence Tolerance", 1e-3));
  EXPECT_EQ(gmres_.options().maxIterations, 37);
  EXPECT_EQ(gmres_.options().numBlocks, 11);
  EXPECT_EQ(gmres_.options().tolerance, 1e-3);
}

TEST_F(ParametersTest, AWrongValueChangesNothingAtAll) {
  ParameterList list;
  list.set("Convergence Tolerance", 0.5);
  list.set("Basis", "monomial");
  list.set("Step Size", 0);
  const std::string error = errorOf(sStep_, list);
  EXPECT_TRUE(contains(error,
                       "CAPSTAN GMRES S-STEP: parameter \"Step Size\" = 0 is out of range; allowed: int or string, "
                       "1 to 100"))
      << error;
  EXPECT_EQ(sStep_.options().tolerance, 1e-8);
  EXPECT_EQ(sStep_.options().basis, Basis::Newton);
  EXPECT_TRUE(sStep_.options().stepSizeAuto);
  EXPECT_EQ(sStep_.current()->get<double>("Convergence Tolerance"), 1e-8);
}

TEST_F(ParametersTest, AConflictChangesNothingEither) {
  ParameterList list;
  list.set("Maximum Iterations", 3);
  list.set("Intra Orthogonalization", "tsqr");
  list.set("Block Orthogonalization", "single-reduce mgs");
  const std::string error = errorOf(sStep_, list);
  EXPECT_TRUE(contains(error, "\"Intra Orthogonalization\" = \"tsqr\"")) << error;
  EXPECT_TRUE(contains(error, "\"Block Orthogonalization\" = \"single-reduce mgs\"")) << error;
  EXPECT_EQ(sStep_.options().maxIterations, 1000);
  EXPECT_EQ(sStep_.options().intraOrthogonalization, IntraOrthogonalization::CholQr);
  EXPECT_TRUE(contains(errorOf(gmres_, list), "\"Intra Orthogonalization\" = \"tsqr\"")) << "GMRES has both keys too";
}

TEST_F(ParametersTest, PipelinedMethodsSayWhatTheyCannotCombine) {
  ParameterList list = listOf("Shifts", "[1, 2]");
  list.set("Output Stream", Teuchos::rcp_implicit_cast<std::ostream>(printed_));
  list.set("Eigenvalue Bounds", "[1, 8]");
  Parameters blocks(methodOf(id::PipelinedSStepGmres));
  EXPECT_TRUE(contains(errorOf(blocks, list), "\"Shifts\" and \"Eigenvalue Bounds\" are both given"));
  list.set("Change of Basis Drop Tolerance", 1e-3);
  EXPECT_EQ(errorOf(blocks, list), "no error") << "the bounds serve the drop tolerance";
  EXPECT_EQ(printed(), "");
  blocks.merge(listOf("Block Size", 4));
  EXPECT_EQ(printed(), "");
}

TEST_F(ParametersTest, PipelinedGmresRefusesOrthogonalizationsItDoesNotHave) {
  Parameters pipelined(methodOf(id::PipelinedGmres));
  for (const char* word : {"pip2", "two-stage", "sketched"}) {
    const std::string error = errorOf(pipelined, listOf("Block Orthogonalization", word));
    EXPECT_TRUE(contains(error, word)) << error;
    EXPECT_TRUE(contains(error, "single-reduce mgs")) << error;
  }
  for (const char* word : {"cgs2", "mgs", "single-reduce cgs2", "single-reduce mgs"}) {
    ParameterList list = listOf("Block Orthogonalization", word);
    EXPECT_EQ(errorOf(pipelined, list), "no error") << word;
    list.set("Pipeline Depth", 2);
    const std::string error = errorOf(pipelined, list);
    EXPECT_TRUE(contains(error, "needs \"Pipeline Depth\" = 1, and it is 2")) << error;
  }
  Parameters deep(methodOf(id::PipelinedGmres));
  ParameterList list = listOf("Pipeline Depth", 3);
  list.set("Orthogonalization", "IMGS");
  EXPECT_EQ(errorOf(deep, list), "no error") << "Belos' names are no more than a wish";
  list.set("Block Orthogonalization", "single-reduce cgs");
  EXPECT_EQ(errorOf(deep, list), "no error");
}

TEST_F(ParametersTest, HugeStepSizeAndStepSizeBeyondTheCycleAreRefused) {
  EXPECT_TRUE(contains(errorOf(sStep_, listOf("Step Size", 1000000)), "\"Step Size\" = 1000000 is out of range"));
  ParameterList list;
  list.set("Step Size", 12);
  list.set("Num Blocks", 10);
  EXPECT_TRUE(contains(errorOf(sStep_, list), "\"Step Size\" = 12 exceeds \"Num Blocks\" = 10"));
  list.set("Step Size", 10);
  sStep_.merge(list);
  EXPECT_EQ(sStep_.options().stepSize, 10);
  EXPECT_FALSE(sStep_.options().stepSizeAuto);
  EXPECT_TRUE(contains(errorOf(sStep_, listOf("Num Blocks", 9)), "exceeds \"Num Blocks\" = 9"));
}

TEST_F(ParametersTest, AMisspeltWordGetsTheNearestOne) {
  const std::string error = errorOf(sStep_, listOf("Basis", std::string("newtn")));
  EXPECT_TRUE(contains(error, "\"Basis\" = \"newtn\"")) << error;
  EXPECT_TRUE(contains(error, "monomial, newton, chebyshev")) << error;
  EXPECT_TRUE(contains(error, "did you mean \"newton\"?")) << error;
}

TEST_F(ParametersTest, AnUnknownKeyIsToldOnceByRank0) {
  gmres_.merge(listOf("Convergance Tolerance", 1.0));
  const std::string warning = printed();
  if (onRank0()) {
    EXPECT_TRUE(contains(warning, "CAPSTAN GMRES")) << warning;
    EXPECT_TRUE(contains(warning, "unknown parameter \"Convergance Tolerance\"")) << warning;
    EXPECT_TRUE(contains(warning, "did you mean \"Convergence Tolerance\"?")) << warning;
  } else {
    EXPECT_EQ(warning, "");
  }
  gmres_.merge(listOf("Convergance Tolerance", 2.0));
  EXPECT_EQ(printed(), "");
  cg_.merge(listOf("Convergance Tolerance", 1.0));
  EXPECT_EQ(!printed().empty(), onRank0());
}

TEST_F(ParametersTest, AFileThatCannotBeWrittenIsToldOnceByRank0AndIsNoError) {
  ParameterList list = listOf("Report File", std::string("/no/such/folder/r.json"));
  list.set("Strict Parameters", true);  // rank 0 alone knows: an error would meet one rank
  EXPECT_EQ(errorOf(gmres_, list), "no error");
  const std::string warning = printed();
  EXPECT_EQ(contains(warning, "\"Report File\" = \"/no/such/folder/r.json\" cannot be written"), onRank0()) << warning;
  EXPECT_EQ(contains(warning, "there is no folder \"/no/such/folder\""), onRank0()) << warning;
  EXPECT_EQ(errorOf(gmres_, list), "no error");
  EXPECT_EQ(printed(), "");
}

TEST_F(ParametersTest, AKeyOfAnotherMethodIsToldOnce) {
  cg_.merge(listOf("Step Size", 5));
  EXPECT_EQ(contains(printed(), "parameter \"Step Size\" = 5 has no effect on this solver"), onRank0());
  sStep_.merge(listOf("Pipeline Depth", 2));
  EXPECT_EQ(contains(printed(), "\"Pipeline Depth\" = 2 has no effect"), onRank0());
  EXPECT_TRUE(contains(errorOf(sStep_, listOf("Pipeline Depth", 0)), ">= 1"));
  sStep_.merge(listOf("Step Size", 5));
  EXPECT_EQ(printed(), "");
}

TEST_F(ParametersTest, StrictMakesErrorsOfUnknownAndIneffectiveKeys) {
  ParameterList list;
  list.set("Strict Parameters", true);
  list.set("Maximum Iteration", 5);
  list.set("Maximum Restarts", 7);
  const std::string error = errorOf(cg_, list);
  EXPECT_TRUE(contains(error, "did you mean \"Maximum Iterations\"?")) << error;
  EXPECT_TRUE(contains(error, "\"Maximum Restarts\" = 7 has no effect on this solver")) << error;
  EXPECT_TRUE(contains(error, "\"Strict Parameters\" is true")) << error;
  EXPECT_FALSE(cg_.options().strictParameters);
  cg_.merge(listOf("Strict Parameters", true));
  EXPECT_NE(errorOf(cg_, listOf("Maximum Restarts", 7)), "no error");
}

TEST_F(ParametersTest, KeysForWhatIsAlwaysDoneAreQuietUnlessAskedOtherwise) {
  ParameterList list;
  list.set("Explicit Residual Test", true);
  list.set("Adaptive Block Size", true);
  list.set("Deflation Quorum", 1);
  list.set("Orthogonalization Constant", -1.0);
  list.set("Fold Convergence Detection Into Allreduce", true);
  gmres_.merge(list);
  EXPECT_EQ(printed(), "");
  gmres_.merge(listOf("Explicit Residual Test", false));
  EXPECT_EQ(contains(printed(), "the computed residual always decides"), onRank0());
  gmres_.merge(listOf("Orthogonalization", "IMGS"));
  EXPECT_EQ(printed(), "");
  EXPECT_EQ(gmres_.options().blockOrthogonalization, BlockOrthogonalization::SingleReduceMgs);
}

TEST_F(ParametersTest, FriendlySpellingIsAcceptedButNotTwice) {
  sStep_.merge(listOf("step_size", 7));
  EXPECT_EQ(sStep_.options().stepSize, 7);
  EXPECT_EQ(sStep_.current()->get<int>("Step Size"), 7);
  ParameterList list;
  list.set("step_size", 3);
  list.set("Step Size", 4);
  EXPECT_TRUE(contains(errorOf(sStep_, list), "\"Step Size\" is given twice"));
}

TEST_F(ParametersTest, TheNameOfTheListIsInItsErrors) {
  ParameterList list("CAPSTAN_OPTIONS");
  list.set("Num Blocks", -3);
  EXPECT_TRUE(
      contains(errorOf(gmres_, list), "CAPSTAN GMRES, list \"CAPSTAN_OPTIONS\": parameter \"Num Blocks\" = -3"));
}

TEST_F(ParametersTest, ASublistIsNoValue) {
  ParameterList list;
  list.sublist("Step Size");
  EXPECT_TRUE(contains(errorOf(sStep_, list), "\"Step Size\" = a sublist is not a value"));
}

TEST_F(ParametersTest, TheOverlayWinsOverEarlierAndLaterValues) {
  gmres_.merge(listOf("Convergence Tolerance", 1e-2));
  auto overlay = Teuchos::rcp(new ParameterList("options.yaml"));
  overlay->set("Convergence Tolerance", 1e-5);
  gmres_.setOverlay(overlay);
  EXPECT_EQ(gmres_.options().tolerance, 1e-5);
  gmres_.merge(listOf("Convergence Tolerance", 1e-3));
  EXPECT_EQ(gmres_.options().tolerance, 1e-5);
  gmres_.setOverlay(Teuchos::null);
  EXPECT_EQ(gmres_.options().tolerance, 1e-3);
}

TEST_F(ParametersTest, LimitsAreSetAsByAList) {
  Parameters merged = gmres_;
  ParameterList list;
  list.set("Convergence Tolerance", 1e-4);
  list.set("Maximum Iterations", 12);
  EXPECT_FALSE(merged.merge(list)) << "limits are all that it had";
  gmres_.current();  // what was printed before is not kept
  gmres_.setLimits(1e-4, 12);
  EXPECT_EQ(gmres_.options().tolerance, 1e-4);
  EXPECT_EQ(gmres_.options().maxIterations, 12);
  EXPECT_EQ(gmres_.checksum(), merged.checksum());
  EXPECT_TRUE(Teuchos::haveSameValues(*gmres_.current(), *merged.current()));
  EXPECT_FALSE(gmres_.current()->getEntry("Maximum Iterations").isDefault());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double wrong : {-1.0, nan}) EXPECT_THROW(gmres_.setLimits(wrong, 5), std::invalid_argument) << wrong;
  EXPECT_THROW(gmres_.setLimits(1e-3, -1), std::invalid_argument);
  EXPECT_EQ(gmres_.checksum(), merged.checksum());
  list.set("Num Blocks", 7);
  EXPECT_TRUE(merged.merge(list));
}

TEST_F(ParametersTest, TheOverlayWinsOverLimits) {
  const auto overlay = Teuchos::rcp(new ParameterList("options.yaml"));
  overlay->set("Convergence Tolerance", 1e-5);
  gmres_.setOverlay(overlay);
  gmres_.setLimits(1e-3, 12);
  EXPECT_EQ(gmres_.options().tolerance, 1e-5);
  EXPECT_EQ(gmres_.options().maxIterations, 12);
  gmres_.setOverlay(Teuchos::null);
  EXPECT_EQ(gmres_.options().tolerance, 1e-3);
}

TEST_F(ParametersTest, AWrongOverlayLeavesTheOldOne) {
  auto good = Teuchos::rcp(new ParameterList("good"));
  good->set("Num Blocks", 17);
  auto bad = Teuchos::rcp(new ParameterList("bad"));
  bad->set("Num Blocks", 18);
  bad->set("Maximum Iterations", "many");
  gmres_.setOverlay(good);
  EXPECT_THROW(gmres_.setOverlay(bad), std::invalid_argument);
  EXPECT_EQ(gmres_.options().numBlocks, 17);
}

TEST_F(ParametersTest, CgRefusesAFlexiblePreconditioner) {
  EXPECT_TRUE(contains(errorOf(cg_, listOf("Flexible Gmres", true)), "CG has no flexible variant"));
  gmres_.merge(listOf("Flexible Gmres", true));
  EXPECT_TRUE(gmres_.options().flexible);
}

TEST_F(ParametersTest, BasisShiftsAndBoundsMustGoTogether) {
  ParameterList shifts;
  shifts.set("Basis", "chebyshev");
  shifts.set("Shifts", "[1, 2]");
  EXPECT_TRUE(contains(errorOf(sStep_, shifts), "\"Basis\" = \"chebyshev\" uses none"));
  EXPECT_TRUE(contains(errorOf(sStep_, listOf("Eigenvalue Bounds", "[1, 2]")), "\"Basis\" = \"newton\" uses none"));
  ParameterList ritz;
  ritz.set("Basis", "newton");
  ritz.set("Compute Ritz Values", false);
  EXPECT_TRUE(contains(errorOf(sStep_, ritz), "needs Ritz values"));
  sStep_.merge(listOf("Compute Ritz Values", false));
  EXPECT_EQ(sStep_.options().basis, Basis::Monomial);
}

TEST_F(ParametersTest, BelosAndUpstreamKeysChooseTheSchemes) {
  const auto schemes = [](const ParameterList& list) {
    Parameters parameters(methodOf(id::SStepGmres));
    parameters.merge(list);
    const SolverOptions& options = parameters.options();
    return toString(options.blockOrthogonalization) + " / " + toString(options.intraOrthogonalization);
  };
  EXPECT_EQ(schemes(ParameterList()), "single-reduce cgs2 / cholqr");
  EXPECT_EQ(schemes(listOf("Orthogonalization", "ICGS")), "single-reduce cgs2 / cholqr");
  EXPECT_EQ(schemes(listOf("Orthogonalization", "DGKS")), "single-reduce cgs2 / cholqr");
  EXPECT_EQ(schemes(listOf("Orthogonalization", "imgs")), "single-reduce mgs / cholqr");
  EXPECT_EQ(schemes(listOf("Orthogonalization", "CGS")), "single-reduce cgs / cholqr");
  EXPECT_EQ(schemes(listOf("Orthogonalization", "TSQR")), "cgs2 / tsqr");
  EXPECT_EQ(schemes(listOf("CholeskyQR", false)), "cgs2 / tsqr");
  EXPECT_EQ(schemes(listOf("CholeskyQR2", true)), "cgs2 / cholqr2");

  ParameterList list;
  list.set("Orthogonalization", "CGS");
  list.set("Reorthogonalize Blocks", true);
  EXPECT_EQ(schemes(list), "single-reduce cgs2 / cholqr");
  list.set("Block Orthogonalization", "mgs");
  EXPECT_EQ(schemes(list), "cgs2 / cholqr");
  list.set("Reorthogonalize Blocks", false);
  EXPECT_EQ(schemes(list), "mgs / cholqr");
  list.set("Intra Orthogonalization", "tsqr");
  EXPECT_EQ(schemes(list), "mgs / tsqr");
}

TEST_F(ParametersTest, ResidualScalingSetsBothAndTheSingleOnesWin) {
  ParameterList list;
  list.set("Residual Scaling", "Norm of RHS");
  list.set("Explicit Residual Scaling", "none");
  gmres_.merge(list);
  EXPECT_EQ(gmres_.options().implicitScaling, ResidualScaling::NormOfRHS);
  EXPECT_EQ(gmres_.options().explicitScaling, ResidualScaling::None);
  gmres_.merge(listOf("Residual Scaling", "Norm of Initial Residual"));
  EXPECT_EQ(gmres_.options().explicitScaling, ResidualScaling::NormOfInitRes);
  EXPECT_TRUE(contains(errorOf(gmres_, listOf("Residual Scaling", "Norm of LHS")), "did you mean \"Norm of RHS\"?"));
}

TEST_F(ParametersTest, ResidualScalingAsTheTwoChangesNothing) {
  Parameters told(methodOf(id::Gmres));
  const auto untold = told.checksum();
  told.merge(listOf("Residual Scaling", "as the two"));
  EXPECT_FALSE(told.options().implicitScalingGiven);
  EXPECT_FALSE(told.options().explicitScalingGiven);
  EXPECT_EQ(told.checksum(), untold);
  EXPECT_EQ(told.alike(), Parameters(methodOf(id::Gmres)).alike());
}

// What was given stays given, whichever key is changed later.
TEST_F(ParametersTest, ScalingsCanBeGivenBack) {
  Parameters both(methodOf(id::Gmres)), later(methodOf(id::Gmres));
  both.merge(listOf("Residual Scaling", "Norm of RHS"));
  later.merge(listOf("Residual Scaling", "Norm of RHS"));
  later.merge(listOf("Implicit Residual Scaling", "None"));
  for (const Parameters* given : {&both, &later}) {
    Parameters other(methodOf(id::Gmres));
    other.merge(*given->current());
    EXPECT_TRUE(other.options().implicitScalingGiven);
    EXPECT_TRUE(other.options().explicitScalingGiven);
    EXPECT_EQ(other.checksum(), given->checksum());
  }
}

TEST_F(ParametersTest, AUserScaleNeedsTheScalingThatUsesIt) {
  gmres_.merge(listOf("User Defined Residual Scaling", 2.5));
  EXPECT_EQ(contains(printed(), "no residual scaling is \"User Provided\""), onRank0());
  forgetParameterWarnings();
  gmres_.merge(listOf("Residual Scaling", "User Provided"));
  EXPECT_EQ(gmres_.options().userScale, 2.5);
  EXPECT_EQ(printed(), "");
}

TEST_F(ParametersTest, AnErrorOfTheOverlayNamesItAndIsOneOfItsOwn) {
  gmres_.merge(listOf("Num Blocks", 20));
  const auto overlay = [](const std::string& key, const auto& value) {
    const auto list = Teuchos::rcp(new ParameterList(listOf(key, value)));
    list->setName("CAPSTAN_OPTIONS");
    return list;
  };
  const auto messageOf = [](Parameters& parameters, const Teuchos::RCP<ParameterList>& list) -> std::string {
    try {
      parameters.setOverlay(list);
    } catch (const UserOptionsError& error) {
      return error.what();
    }
    return "no error of the user's options";
  };
  sStep_.merge(listOf("Num Blocks", 20));
  const std::string conflict = messageOf(sStep_, overlay("Step Size", 30));
  EXPECT_EQ(conflict.rfind("Capstan options: CAPSTAN_OPTIONS", 0), 0u) << conflict;
  EXPECT_TRUE(contains(conflict, "Num Blocks")) << conflict;

  gmres_.reserve({"Residual Norm", "residual_scaling"}, "the application prints it");
  for (const char* key : {"Residual Norm", "residual_norm"}) {
    const std::string message = messageOf(gmres_, overlay(key, std::string("OneNorm")));
    EXPECT_TRUE(contains(message, "Capstan options: ")) << message;
    EXPECT_TRUE(contains(message, "CAPSTAN_OPTIONS")) << message;
    EXPECT_TRUE(contains(message, "\"Residual Norm\" = ")) << message;
    EXPECT_TRUE(contains(message, "cannot be set here: the application prints it")) << message;
  }
  gmres_.merge(listOf("Residual Norm", "OneNorm"));  // the application itself may
  gmres_.setOverlay(overlay("Convergence Tolerance", 1e-3));
  EXPECT_EQ(gmres_.options().tolerance, 1e-3);
  EXPECT_THROW(gmres_.reserve({"No Such Parameter"}, ""), std::invalid_argument);
}

// The manager asks for the overlay again before it solves, and that is where a conflict is the user's.
TEST_F(ParametersTest, TheOverlayOfTheLastSolveKeepsNoListOut) {
  const auto overlay = Teuchos::rcp(new ParameterList(listOf("Step Size", 60)));
  overlay->setName("CAPSTAN_OPTIONS");
  sStep_.merge(listOf("Num Blocks", 100));
  sStep_.setOverlay(overlay);
  EXPECT_EQ(errorOf(sStep_, listOf("Num Blocks", 30)), "no error");
  EXPECT_EQ(sStep_.options().numBlocks, 30);
  EXPECT_THROW(sStep_.setOverlay(overlay), UserOptionsError);
  sStep_.merge(listOf("Num Blocks", 80));
  sStep_.setOverlay(overlay);
  EXPECT_EQ(sStep_.options().stepSize, 60);
  EXPECT_TRUE(contains(errorOf(sStep_, listOf("Num Blocks", 0)), "is out of range"));
  EXPECT_EQ(sStep_.options().stepSize, 60) << "a list that is wrong itself changes nothing";
  overlay->set("Strict Parameters", true);
  sStep_.setOverlay(overlay);
  ParameterList list = listOf("Num Blocks", 30);
  EXPECT_EQ(errorOf(sStep_, list), "no error");
  sStep_.merge(listOf("Num Blocks", 80));
  sStep_.setOverlay(overlay);
  list.set("Num Block", 30);
  EXPECT_TRUE(contains(errorOf(sStep_, list), "\"Strict Parameters\" is true"));
}

TEST_F(ParametersTest, WhatNaluWindSetsIsUnderstood) {
  ParameterList list;
  list.set("Convergence Tolerance", 1e-5);
  list.set("Maximum Iterations", 75);
  list.set("Verbosity", Belos::Errors + Belos::Warnings + Belos::StatusTestDetails);
  list.set("Output Style", Belos::Brief);
  list.set("Output Frequency", 0);
  list.set("Num Blocks", 50);
  list.set("Maximum Restarts", 1);
  list.set("Orthogonalization", std::string("ICGS"));
  list.set("Implicit Residual Scaling", "Norm of Preconditioned Initial Residual");
  list.set("Step Size", 5);
  sStep_.merge(list);
  EXPECT_EQ(printed(), "");
  EXPECT_EQ(sStep_.options().outputStyle, static_cast<int>(Belos::Brief));
  EXPECT_EQ(sStep_.options().verbosity, Belos::Warnings | Belos::StatusTestDetails);
  EXPECT_EQ(sStep_.options().blockOrthogonalization, BlockOrthogonalization::SingleReduceCgs2);
}

TEST_F(ParametersTest, WhatCostsReductionsIsLeftOutOfAListForAnotherSolver) {
  ParameterList list = listOf("CholeskyQR2", true);
  list.set("Compute Ritz Values on Fly", false);
  list.set("Orthogonalization", "TSQR");
  list.set("Num Blocks", 40);
  list.set("Output Stream", Teuchos::rcp_implicit_cast<std::ostream>(printed_));
  Parameters redirected(methodOf(id::SStepGmres), "TPETRA GMRES S-STEP");
  for (int i = 0; i < 2; ++i) redirected.merge(list);
  const SolverOptions& options = redirected.options();
  EXPECT_EQ(options.numBlocks, 40);
  EXPECT_EQ(options.intraOrthogonalization, IntraOrthogonalization::CholQr);
  EXPECT_EQ(options.blockOrthogonalization, BlockOrthogonalization::SingleReduceCgs2);
  EXPECT_TRUE(options.computeRitzValuesOnFly);
  const std::string text = printed();
  for (const char* said : {"\"CholeskyQR2\" = true is left out", "on Fly\" = false is left out",
                           "\"Orthogonalization\" = \"TSQR\" is left out", "asked for as \"TPETRA GMRES S-STEP\""}) {
    EXPECT_EQ(contains(text, said), onRank0()) << said << '\n' << text;
  }
  EXPECT_EQ(text.find("CholeskyQR2"), text.rfind("CholeskyQR2")) << "once\n" << text;

  list.set("CholeskyQR2", "perhaps");
  EXPECT_THROW(redirected.merge(list), std::invalid_argument) << "checked all the same";
  redirected.setOverlay(Teuchos::rcp(new ParameterList(listOf("CholeskyQR2", true))));
  EXPECT_EQ(options.intraOrthogonalization, IntraOrthogonalization::CholQr2) << "the user has written that one";
  sStep_.merge(listOf("CholeskyQR2", true));
  EXPECT_EQ(sStep_.options().intraOrthogonalization, IntraOrthogonalization::CholQr2) << "written for Capstan";
}

TEST_F(ParametersTest, TheValidListIsCompleteAndValidates) {
  for (Parameters* parameters : {&gmres_, &sStep_, &cg_}) {
    const auto valid = parameters->valid();
    for (const ParameterRow& row : parameterRows()) {
      ASSERT_TRUE(valid->isParameter(row.name)) << row.name;
      EXPECT_FALSE(valid->getEntry(row.name).docString().empty()) << row.name;
      EXPECT_FALSE(valid->getEntry(row.name).validator().is_null()) << row.name;
    }
  }
  listOf("Step Size", 5).validateParameters(*sStep_.valid());
  listOf("Step Size", "auto").validateParameters(*sStep_.valid());
  ParameterList wrong = listOf("Step Size", 0);
  EXPECT_THROW(wrong.validateParameters(*sStep_.valid()), Teuchos::Exceptions::InvalidParameterValue);
  ParameterList unknown = listOf("Stepp Size", 1);
  EXPECT_THROW(unknown.validateParameters(*sStep_.valid()), Teuchos::Exceptions::InvalidParameterName);
}

TEST_F(ParametersTest, DefaultsThatTeuchosFillsInChangeNothingAndAreQuiet) {
  for (Parameters* parameters : {&gmres_, &sStep_, &cg_}) {
    ParameterList list = listOf("Maximum Iterations", 9);
    list.validateParametersAndSetDefaults(*parameters->valid());
    list.set("Output Stream", Teuchos::rcp_implicit_cast<std::ostream>(printed_));
    const std::string before = toString(parameters->options().blockOrthogonalization);
    parameters->merge(list);
    EXPECT_EQ(printed(), "");
    EXPECT_EQ(parameters->options().maxIterations, 9);
    EXPECT_EQ(toString(parameters->options().blockOrthogonalization), before);
  }
  ParameterList filled = listOf("CholeskyQR", false);
  filled.validateParametersAndSetDefaults(*sStep_.valid());
  sStep_.merge(filled);
  EXPECT_EQ(sStep_.options().intraOrthogonalization, IntraOrthogonalization::Tsqr);
}

TEST_F(ParametersTest, CurrentParametersCanBeGivenBack) {
  ParameterList list;
  list.set("Basis", "monomial");
  list.set("Step Size", 4);
  list.set("CholeskyQR", false);
  list.set("Residual Scaling", "Norm of RHS");
  sStep_.merge(list);
  const ParameterList given = *sStep_.current();
  Parameters other(methodOf(id::SStepGmres));
  other.merge(given);
  EXPECT_EQ(printed(), "");
  ParameterList again = *other.current();
  EXPECT_TRUE(Teuchos::haveSameValues(given, again));
}

}  // namespace
