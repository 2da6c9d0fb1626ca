#include "belos_ext/parameters/solver_options.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace capstan {

std::string toString(ResidualScaling scaling) {
  switch (scaling) {
    case ResidualScaling::NormOfInitRes:
      return "Norm of Initial Residual";
    case ResidualScaling::NormOfPrecInitRes:
      return "Norm of Preconditioned Initial Residual";
    case ResidualScaling::NormOfRHS:
      return "Norm of RHS";
    case ResidualScaling::None:
      return "None";
    case ResidualScaling::UserProvided:
      return "User Provided";
  }
  throw std::logic_error("ResidualScaling out of range");
}

std::string toString(Basis basis) {
  switch (basis) {
    case Basis::Monomial:
      return "monomial";
    case Basis::Newton:
      return "newton";
    case Basis::Chebyshev:
      return "chebyshev";
  }
  throw std::logic_error("Basis out of range");
}

std::string toString(BlockOrthogonalization scheme) {
  switch (scheme) {
    case BlockOrthogonalization::Cgs:
      return "cgs";
    case BlockOrthogonalization::Cgs2:
      return "cgs2";
    case BlockOrthogonalization::Mgs:
      return "mgs";
    case BlockOrthogonalization::SingleReduceCgs:
      return "single-reduce cgs";
    case BlockOrthogonalization::SingleReduceCgs2:
      return "single-reduce cgs2";
    case BlockOrthogonalization::SingleReduceMgs:
      return "single-reduce mgs";
    case BlockOrthogonalization::Pip2:
      return "pip2";
    case BlockOrthogonalization::TwoStage:
      return "two-stage";
  }
  throw std::logic_error("BlockOrthogonalization out of range");
}

std::string toString(IntraOrthogonalization scheme) {
  switch (scheme) {
    case IntraOrthogonalization::CholQr:
      return "cholqr";
    case IntraOrthogonalization::CholQr2:
      return "cholqr2";
    case IntraOrthogonalization::Tsqr:
      return "tsqr";
  }
  throw std::logic_error("IntraOrthogonalization out of range");
}

std::string toString(const EigenvalueBounds& bounds) { return fmt::format("{:.6g} to {:.6g}", bounds.min, bounds.max); }

std::string toString(Fallback fallback) {
  switch (fallback) {
    case Fallback::Gmres:
      return "gmres";
    case Fallback::None:
      return "none";
  }
  throw std::logic_error("Fallback out of range");
}

std::string toString(NullSpace nullSpace) {
  switch (nullSpace) {
    case NullSpace::None:
      return "none";
    case NullSpace::Constant:
      return "constant";
    case NullSpace::Auto:
      return "auto";
  }
  throw std::logic_error("NullSpace out of range");
}

std::string toString(const ResidualReplacement& replacement) {
  switch (replacement.mode) {
    case ResidualReplacement::Mode::Auto:
      return "auto";
    case ResidualReplacement::Mode::Off:
      return "off";
    case ResidualReplacement::Mode::Every:
      return "every " + std::to_string(replacement.every);
  }
  throw std::logic_error("ResidualReplacement out of range");
}

namespace {

[[noreturn]] void conflict(Method method, const std::string& why) {
  throw std::invalid_argument(solverName(method).canonical + ": conflicting parameters: " + why);
}

bool needsCholQr(BlockOrthogonalization scheme) {
  return scheme != BlockOrthogonalization::Cgs && scheme != BlockOrthogonalization::Cgs2 &&
         scheme != BlockOrthogonalization::Mgs;
}

void checkBasis(const SolverOptions& options, Method method) {
  const std::string basis = toString(options.basis);
  if (!options.shiftsAuto && options.basis != Basis::Newton) {
    conflict(method,
             fmt::format("\"Shifts\" is given, but \"Basis\" = \"{}\" uses none; set \"Basis\" to \"newton\" or "
                         "\"Shifts\" to \"auto\"",
                         basis));
  }
  if (!options.eigenvalueBoundsAuto && options.basis != Basis::Chebyshev) {
    conflict(method, fmt::format("\"Eigenvalue Bounds\" is given, but \"Basis\" = \"{}\" uses none; set \"Basis\" to "
                                 "\"chebyshev\" or \"Eigenvalue Bounds\" to \"auto\"",
                                 basis));
  }
  const bool needsRitz = (options.basis == Basis::Newton && options.shiftsAuto) ||
                         (options.basis == Basis::Chebyshev && options.eigenvalueBoundsAuto);
  if (needsRitz && !options.computeRitzValues) {
    conflict(method,
             fmt::format("\"Basis\" = \"{}\" needs Ritz values, but \"Compute Ritz Values\" = false; give {}, or "
                         "set \"Basis\" to \"monomial\"",
                         basis, options.basis == Basis::Newton ? "\"Shifts\"" : "\"Eigenvalue Bounds\""));
  }
}

/// The correction by V^T V is for a method that is one product ahead of its basis.
void checkPipelinedOrthogonalization(const SolverOptions& options, Method method) {
  const BlockOrthogonalization scheme = options.blockOrthogonalization;
  if (scheme == BlockOrthogonalization::Pip2 || scheme == BlockOrthogonalization::TwoStage) {
    conflict(method, fmt::format("\"Block Orthogonalization\" = \"{}\" is for blocks; use \"single-reduce cgs2\", "
                                 "\"single-reduce mgs\" or \"single-reduce cgs\"",
                                 toString(scheme)));
  }
  const bool plain = scheme == BlockOrthogonalization::Cgs || scheme == BlockOrthogonalization::SingleReduceCgs;
  if (options.pipelineDepth > 1 && !plain) {
    conflict(method, fmt::format("\"Block Orthogonalization\" = \"{}\" needs \"Pipeline Depth\" = 1, and it is {}; "
                                 "use \"single-reduce cgs\", or depth 1",
                                 toString(scheme), options.pipelineDepth));
  }
}

}  // namespace

void checkConflicts(const SolverOptions& options, Method method) {
  if (isConjugateGradient(method) && options.flexible) {
    conflict(method,
             "\"Flexible Gmres\" = true, but CG has no flexible variant here; use \"CAPSTAN GMRES\" for a "
             "preconditioner that changes from one application to the next");
  }
  const bool isPipelinedGmres = isPipelined(method) && !isConjugateGradient(method);
  if (isPipelinedGmres && options.flexible) {
    conflict(method,
             "\"Flexible Gmres\" = true, but pipelined methods have no flexible variant; use \"CAPSTAN GMRES\" or "
             "\"CAPSTAN GMRES S-STEP\" for a preconditioner that changes from one application to the next");
  }
  if (isPipelinedGmres && !options.shiftsAuto && !options.eigenvalueBoundsAuto &&
      options.changeOfBasisDropTolerance == 0.0) {
    conflict(
        method,
        "\"Shifts\" and \"Eigenvalue Bounds\" are both given, and the bounds serve to choose shifts; set one of them "
        "to \"auto\"");
  }
  const bool hasSteps = method == Method::SStepGmres || method == Method::PipelinedSStepGmres;
  if (hasSteps && !options.stepSizeAuto && options.stepSize > options.numBlocks) {
    conflict(method, fmt::format("\"Step Size\" = {} exceeds \"Num Blocks\" = {}, the length of a restart cycle",
                                 options.stepSize, options.numBlocks));
  }
  if ((hasSteps || method == Method::Gmres) && needsCholQr(options.blockOrthogonalization) &&
      options.intraOrthogonalization != IntraOrthogonalization::CholQr) {
    conflict(method,
             fmt::format("\"Intra Orthogonalization\" = \"{}\" needs reductions of its own, and \"Block "
                         "Orthogonalization\" = \"{}\" counts on having none; use \"cholqr\" with it, or \"cgs\", "
                         "\"cgs2\" or \"mgs\" for the blocks",
                         toString(options.intraOrthogonalization), toString(options.blockOrthogonalization)));
  }
  if (method == Method::SStepGmres) checkBasis(options, method);
  if (method == Method::PipelinedGmres && options.blockOrthogonalizationGiven) {
    checkPipelinedOrthogonalization(options, method);
  }
}

std::size_t columnsTogether(const SolverOptions& options, Method method, std::size_t columns) {
  if (isPipelined(method)) return 1;
  return options.blockSize > 0 ? static_cast<std::size_t>(options.blockSize) : columns;
}

}  // namespace capstan
