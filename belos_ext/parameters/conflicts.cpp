#include "belos_ext/parameters/conflicts.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <string>

#include "belos_ext/parameters/parameter_table.hpp"

namespace capstan {

bool scalesOtherNorms(const SolverOptions& options) {
  const bool given = options.explicitScalingGiven || options.implicitScalingGiven;
  const auto scaling = options.explicitScalingGiven ? options.explicitScaling : options.implicitScaling;
  return !given || scaling == ResidualScaling::NormOfInitRes || scaling == ResidualScaling::None ||
         scaling == ResidualScaling::UserProvided;
}

namespace {

using Scheme = BlockOrthogonalization;

/// Of Belos' name for it.
Scheme schemeOf(const std::string& belosName, bool oneReduction) {
  if (belosName == "IMGS" || belosName == "MGS") return oneReduction ? Scheme::SingleReduceMgs : Scheme::Mgs;
  if (belosName == "CGS") return oneReduction ? Scheme::SingleReduceCgs : Scheme::Cgs;
  return oneReduction ? Scheme::SingleReduceCgs2 : Scheme::Cgs2;
}

Scheme withSecondPass(Scheme scheme) {
  if (scheme == Scheme::Cgs || scheme == Scheme::Mgs) return Scheme::Cgs2;
  const bool single = scheme == Scheme::SingleReduceCgs || scheme == Scheme::SingleReduceMgs;
  return single ? Scheme::SingleReduceCgs2 : scheme;
}

/// Throws where there is a conflict. \param why for fmt
template <class... Values>
void refuse(bool conflict, const MethodTraits& method, const char* why, const Values&... values) {
  if (!conflict) return;
  throw std::invalid_argument(method.canonical +
                              ": conflicting parameters: " + fmt::format(fmt::runtime(why), values...));
}

void checkBasis(const SolverOptions& options, const MethodTraits& method) {
  const std::string basis = toString(options.basis);
  const bool newton = options.basis == Basis::Newton, chebyshev = options.basis == Basis::Chebyshev;
  refuse(!options.shiftsAuto && !newton, method,
         "\"Shifts\" is given, but \"Basis\" = \"{}\" uses none; set \"Basis\" to \"newton\" or \"Shifts\" to \"auto\"",
         basis);
  refuse(!options.eigenvalueBoundsAuto && !chebyshev, method,
         "\"Eigenvalue Bounds\" is given, but \"Basis\" = \"{}\" uses none; set \"Basis\" to \"chebyshev\" or "
         "\"Eigenvalue Bounds\" to \"auto\"",
         basis);
  const bool needsRitz = (newton && options.shiftsAuto) || (chebyshev && options.eigenvalueBoundsAuto);
  refuse(needsRitz && !options.computeRitzValues, method,
         "\"Basis\" = \"{}\" needs Ritz values, but \"Compute Ritz Values\" = false; give {}, or set \"Basis\" to "
         "\"monomial\"",
         basis, newton ? "\"Shifts\"" : "\"Eigenvalue Bounds\"");
}

/// Keys that say how a strategy is to work, which does not look at them.
void checkCommunication(const SolverOptions& options, const MethodTraits& method) {
  using Strategy = CommunicationStrategy;
  const Strategy strategy = options.communicationStrategy;
  const bool nodes = strategy != Strategy::Application || options.reductionStrategy != topology::ReductionStrategy::Mpi;
  refuse(options.ranksPerNode != 0 && !nodes, method,
         "\"Ranks Per Node\" = {} is given, but \"Communication Strategy\" = \"application\" has no nodes, nor has "
         "\"Reduction Strategy\" = \"mpi\"; name a strategy, or set \"Ranks Per Node\" to 0",
         options.ranksPerNode);
  refuse(
      options.messageSizeCutoff != 0 && strategy != Strategy::Optimal && strategy != Strategy::Tuned, method,
      "\"Message Size Cutoff\" = {} is given, but \"Communication Strategy\" = \"{}\" uses none; set the strategy to "
      "\"optimal\" or \"tuned\", or the cutoff to \"auto\"",
      options.messageSizeCutoff, toString(strategy));
  refuse(
      options.deviceAwareMpi != topology::DeviceAwareMpi::Auto && strategy == Strategy::Application, method,
      "\"Device Aware MPI\" = \"{}\" is given, but with \"Communication Strategy\" = \"application\" the messages are "
      "the operator's own; name a strategy, or set \"Device Aware MPI\" to \"auto\"",
      toString(options.deviceAwareMpi));
}

void checkResidualNorm(const SolverOptions& options, const MethodTraits& method) {
  const auto scaling = options.explicitScalingGiven ? options.explicitScaling : options.implicitScaling;
  refuse(options.residualNorm != ResidualNorm::Two && !scalesOtherNorms(options), method,
         "\"Residual Norm\" = \"{}\" goes with the scalings \"Norm of Initial Residual\", \"None\" and "
         "\"User Provided\", not with \"{}\"",
         toString(options.residualNorm), toString(scaling));
}

/// A pipeline has a basis of its own; the correction by V^T V is for one that is one product ahead.
void checkPipeline(const SolverOptions& options, const MethodTraits& method) {
  const Scheme scheme = options.blockOrthogonalization;
  const bool given = options.blockOrthogonalizationGiven;
  refuse(!options.shiftsAuto && !options.eigenvalueBoundsAuto && options.changeOfBasisDropTolerance == 0.0, method,
         "\"Shifts\" and \"Eigenvalue Bounds\" are both given, and the bounds serve to choose shifts; set one of them "
         "to \"auto\"");
  refuse(given && (scheme == Scheme::Pip2 || scheme == Scheme::TwoStage || scheme == Scheme::Sketched), method,
         "\"Block Orthogonalization\" = \"{}\" is for blocks; use \"single-reduce cgs2\", \"single-reduce mgs\" or "
         "\"single-reduce cgs\"",
         toString(scheme));
  const bool plain = scheme == Scheme::Cgs || scheme == Scheme::SingleReduceCgs;
  refuse(given && options.pipelineDepth > 1 && !plain, method,
         "\"Block Orthogonalization\" = \"{}\" needs \"Pipeline Depth\" = 1, and it is {}; use \"single-reduce cgs\", "
         "or depth 1",
         toString(scheme), options.pipelineDepth);
}

}  // namespace

void resolve(ParameterState& state) {
  SolverOptions& options = state.options;
  const auto given = [&state](const char* key) { return state.given.count(key) != 0; };
  options.implicitScalingGiven = given("Implicit Residual Scaling");
  options.explicitScalingGiven = given("Explicit Residual Scaling");
  options.numBlocksGiven = given("Num Blocks");
  options.blockOrthogonalizationGiven = given("Block Orthogonalization");
  if (!given("Intra Orthogonalization")) {
    const bool tsqr = options.orthogonalization == "TSQR" || (!options.choleskyQr && !options.choleskyQr2);
    options.intraOrthogonalization = tsqr                  ? IntraOrthogonalization::Tsqr
                                     : options.choleskyQr2 ? IntraOrthogonalization::CholQr2
                                                           : IntraOrthogonalization::CholQr;
  }
  if (!options.blockOrthogonalizationGiven) {
    const bool oneReduction = options.intraOrthogonalization == IntraOrthogonalization::CholQr;
    options.blockOrthogonalization = schemeOf(options.orthogonalization, oneReduction);
  }
  if (options.reorthogonalizeBlocks) options.blockOrthogonalization = withSecondPass(options.blockOrthogonalization);
  const bool needsNone = !given("Basis") && options.shiftsAuto && options.eigenvalueBoundsAuto;
  if (needsNone && !options.computeRitzValues) options.basis = Basis::Monomial;
}

void checkConflicts(const SolverOptions& options, const MethodTraits& method) {
  refuse(options.flexible && (method.family != Family::Gmres || method.pipelined), method,
         "\"Flexible Gmres\" = true, but {} has no flexible variant here; use \"CAPSTAN GMRES\" or \"CAPSTAN GMRES "
         "S-STEP\" for a preconditioner that changes from one application to the next",
         method.family == Family::Gmres ? "a pipelined method" : toString(method.family));
  checkResidualNorm(options, method);
  checkCommunication(options, method);
  refuse(options.choiceMode == ChoiceMode::Fixed && options.choiceFile.empty(), method,
         "\"Choice\" = \"fixed\" takes what \"Choice File\" says, and none is given; name the file that a run with "
         "\"Choice\" = \"measured\" has written");
  // What a method does not take is at its default, which conflicts with nothing.
  refuse(!options.stepSizeAuto && options.stepSize > options.numBlocks, method,
         "\"Step Size\" = {} exceeds \"Num Blocks\" = {}, the length of a restart cycle", options.stepSize,
         options.numBlocks);
  const Scheme scheme = options.blockOrthogonalization;
  const bool ownReductions = scheme == Scheme::Cgs || scheme == Scheme::Cgs2 || scheme == Scheme::Mgs;
  refuse(!ownReductions && options.intraOrthogonalization != IntraOrthogonalization::CholQr, method,
         "\"Intra Orthogonalization\" = \"{}\" needs reductions of its own, and \"Block Orthogonalization\" = \"{}\" "
         "counts on having none; use \"cholqr\" with it, or \"cgs\", \"cgs2\" or \"mgs\" for the blocks",
         toString(options.intraOrthogonalization), toString(scheme));
  refuse(options.basisPrecision != BasisPrecision::Double && scheme != Scheme::SingleReduceCgs2 &&
             scheme != Scheme::SingleReduceMgs,
         method,
         "\"Basis Precision\" = \"{}\" goes with \"Block Orthogonalization\" = \"single-reduce cgs2\" and "
         "\"single-reduce mgs\", and it is \"{}\"; use one of them, or \"double\"",
         toString(options.basisPrecision), toString(scheme));
  if (method.pipelined) {
    checkPipeline(options, method);
  } else {
    checkBasis(options, method);
  }
}

std::size_t rightHandSidesTogether(const SolverOptions& options, std::size_t count) {
  return options.blockSize > 0 ? static_cast<std::size_t>(options.blockSize) : count;
}

}  // namespace capstan
