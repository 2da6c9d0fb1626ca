#include "belos_ext/parameters/conflicts.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace capstan {

namespace {

/// \param why for fmt
template <class... Values>
[[noreturn]] void conflict(const MethodTraits& method, const char* why, const Values&... values) {
  throw std::invalid_argument(method.canonical +
                              ": conflicting parameters: " + fmt::format(fmt::runtime(why), values...));
}

bool needsCholQr(BlockOrthogonalization scheme) {
  return scheme != BlockOrthogonalization::Cgs && scheme != BlockOrthogonalization::Cgs2 &&
         scheme != BlockOrthogonalization::Mgs;
}

void checkBasis(const SolverOptions& options, const MethodTraits& method) {
  const std::string basis = toString(options.basis);
  if (!options.shiftsAuto && options.basis != Basis::Newton) {
    conflict(method,
             "\"Shifts\" is given, but \"Basis\" = \"{}\" uses none; set \"Basis\" to \"newton\" "
             "or \"Shifts\" to \"auto\"",
             basis);
  }
  if (!options.eigenvalueBoundsAuto && options.basis != Basis::Chebyshev) {
    conflict(method,
             "\"Eigenvalue Bounds\" is given, but \"Basis\" = \"{}\" uses none; set \"Basis\" to "
             "\"chebyshev\" or \"Eigenvalue Bounds\" to \"auto\"",
             basis);
  }
  const bool needsRitz = (options.basis == Basis::Newton && options.shiftsAuto) ||
                         (options.basis == Basis::Chebyshev && options.eigenvalueBoundsAuto);
  if (needsRitz && !options.computeRitzValues) {
    conflict(method,
             "\"Basis\" = \"{}\" needs Ritz values, but \"Compute Ritz Values\" = false; give {}, "
             "or set \"Basis\" to \"monomial\"",
             basis, options.basis == Basis::Newton ? "\"Shifts\"" : "\"Eigenvalue Bounds\"");
  }
}

/// Keys that say how a strategy is to work, which does not look at them.
void checkCommunication(const SolverOptions& options, const MethodTraits& method) {
  using Strategy = CommunicationStrategy;
  const Strategy strategy = options.communicationStrategy;
  if (options.ranksPerNode != 0 && strategy == Strategy::Application &&
      options.reductionStrategy == topology::ReductionStrategy::Mpi) {
    conflict(method,
             "\"Ranks Per Node\" = {} is given, but \"Communication Strategy\" = \"application\" has no nodes, nor has "
             "\"Reduction Strategy\" = \"mpi\"; name a strategy, or set \"Ranks Per Node\" to 0",
             options.ranksPerNode);
  }
  if (options.messageSizeCutoff != 0 && strategy != Strategy::Optimal && strategy != Strategy::Tuned) {
    conflict(method,
             "\"Message Size Cutoff\" = {} is given, but \"Communication Strategy\" = \"{}\" uses "
             "none; set the strategy to \"optimal\" or \"tuned\", or the cutoff to \"auto\"",
             options.messageSizeCutoff, toString(strategy));
  }
}

void checkResidualNorm(const SolverOptions& options, const MethodTraits& method) {
  if (options.residualNorm == ResidualNorm::Two) return;
  const bool given = options.explicitScalingGiven || options.implicitScalingGiven;
  const auto scaling = options.explicitScalingGiven ? options.explicitScaling : options.implicitScaling;
  if (!given || scaling == ResidualScaling::NormOfInitRes || scaling == ResidualScaling::None ||
      scaling == ResidualScaling::UserProvided) {
    return;
  }
  conflict(method,
           "\"Residual Norm\" = \"{}\" goes with the scalings \"Norm of Initial Residual\", "
           "\"None\" and \"User Provided\", not with \"{}\"",
           toString(options.residualNorm), toString(scaling));
}

/// The correction by V^T V is for a method that is one product ahead of its basis.
void checkPipelinedOrthogonalization(const SolverOptions& options, const MethodTraits& method) {
  const BlockOrthogonalization scheme = options.blockOrthogonalization;
  if (scheme == BlockOrthogonalization::Pip2 || scheme == BlockOrthogonalization::TwoStage) {
    conflict(method,
             "\"Block Orthogonalization\" = \"{}\" is for blocks; use \"single-reduce cgs2\", "
             "\"single-reduce mgs\" or \"single-reduce cgs\"",
             toString(scheme));
  }
  const bool plain = scheme == BlockOrthogonalization::Cgs || scheme == BlockOrthogonalization::SingleReduceCgs;
  if (options.pipelineDepth > 1 && !plain) {
    conflict(method,
             "\"Block Orthogonalization\" = \"{}\" needs \"Pipeline Depth\" = 1, and it is {}; use "
             "\"single-reduce cgs\", or depth 1",
             toString(scheme), options.pipelineDepth);
  }
}

}  // namespace

void checkConflicts(const SolverOptions& options, const MethodTraits& method) {
  if (method.family != Family::Gmres && options.flexible) {
    conflict(method,
             "\"Flexible Gmres\" = true, but {} has no flexible variant here; use \"CAPSTAN "
             "GMRES\" for a preconditioner that changes from one application to the next",
             toString(method.family));
  }
  checkResidualNorm(options, method);
  checkCommunication(options, method);
  const bool isPipelinedGmres = method.pipelined && method.family == Family::Gmres;
  if (isPipelinedGmres && options.flexible) {
    conflict(method,
             "\"Flexible Gmres\" = true, but pipelined methods have no flexible variant; use \"CAPSTAN GMRES\" or "
             "\"CAPSTAN GMRES S-STEP\" for a preconditioner that changes from one application to the next");
  }
  if (isPipelinedGmres && !options.shiftsAuto && !options.eigenvalueBoundsAuto &&
      options.changeOfBasisDropTolerance == 0.0) {
    conflict(method,
             "\"Shifts\" and \"Eigenvalue Bounds\" are both given, and the bounds serve to choose shifts; set one of "
             "them to \"auto\"");
  }
  // What a method does not take is at its default, which conflicts with nothing.
  if (!options.stepSizeAuto && options.stepSize > options.numBlocks) {
    conflict(method, "\"Step Size\" = {} exceeds \"Num Blocks\" = {}, the length of a restart cycle", options.stepSize,
             options.numBlocks);
  }
  if (needsCholQr(options.blockOrthogonalization) && options.intraOrthogonalization != IntraOrthogonalization::CholQr) {
    conflict(method,
             "\"Intra Orthogonalization\" = \"{}\" needs reductions of its own, and \"Block Orthogonalization\" = "
             "\"{}\" counts on having none; use \"cholqr\" with it, or \"cgs\", \"cgs2\" or \"mgs\" for the blocks",
             toString(options.intraOrthogonalization), toString(options.blockOrthogonalization));
  }
  if (!method.pipelined) checkBasis(options, method);  // a pipeline has a basis of its own
  if (method.pipelined && options.blockOrthogonalizationGiven) {
    checkPipelinedOrthogonalization(options, method);
  }
}

std::size_t rightHandSidesTogether(const SolverOptions& options, std::size_t count) {
  return options.blockSize > 0 ? static_cast<std::size_t>(options.blockSize) : count;
}

}  // namespace capstan
