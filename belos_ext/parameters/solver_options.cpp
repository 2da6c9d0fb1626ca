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

std::string toString(EnlargedForm form) {
  switch (form) {
    case EnlargedForm::Auto:
      return "auto";
    case EnlargedForm::Orthodir:
      return "orthodir";
    case EnlargedForm::Orthomin:
      return "orthomin";
    case EnlargedForm::Fused:
      return "fused";
  }
  throw std::logic_error("EnlargedForm out of range");
}

std::string toString(RowSplitting splitting) {
  switch (splitting) {
    case RowSplitting::Contiguous:
      return "contiguous";
    case RowSplitting::Interleaved:
      return "interleaved";
    case RowSplitting::ByRank:
      return "by rank";
  }
  throw std::logic_error("RowSplitting out of range");
}

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

std::string toString(ResidualSmoothingMode mode) {
  switch (mode) {
    case ResidualSmoothingMode::Auto:
      return "auto";
    case ResidualSmoothingMode::On:
      return "on";
    case ResidualSmoothingMode::Off:
      return "off";
  }
  throw std::logic_error("ResidualSmoothingMode out of range");
}

std::string toString(ResidualNorm norm) { return norm == ResidualNorm::Two ? "TwoNorm" : "OneNorm"; }

std::string toString(InitialResidual residual) {
  return residual == InitialResidual::Computed ? "computed" : "zero guess";
}

std::string toString(KeepBasis keep) {
  switch (keep) {
    case KeepBasis::Auto:
      return "auto";
    case KeepBasis::On:
      return "on";
    case KeepBasis::Off:
      return "off";
  }
  throw std::logic_error("KeepBasis out of range");
}

std::string toString(CommunicationStrategy strategy) {
  switch (strategy) {
    case CommunicationStrategy::Application:
      return "application";
    case CommunicationStrategy::Standard:
      return "standard";
    case CommunicationStrategy::TwoStep:
      return "two-step";
    case CommunicationStrategy::ThreeStep:
      return "three-step";
    case CommunicationStrategy::Optimal:
      return "optimal";
    case CommunicationStrategy::Tuned:
      return "tuned";
  }
  throw std::logic_error("CommunicationStrategy out of range");
}

std::string toString(HypercubeMapping mapping) {
  switch (mapping) {
    case HypercubeMapping::None:
      return "none";
    case HypercubeMapping::Klr:
      return "klr";
    case HypercubeMapping::Klf:
      return "klf";
  }
  throw std::logic_error("HypercubeMapping out of range");
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

std::string toString(const InitialGuess& guess) {
  switch (guess.mode) {
    case InitialGuess::Mode::Application:
      return "application";
    case InitialGuess::Mode::Extrapolation:
      return "extrapolation " + std::to_string(guess.number);
    case InitialGuess::Mode::Projection:
      return "projection " + std::to_string(guess.number);
  }
  throw std::logic_error("InitialGuess out of range");
}

}  // namespace capstan
