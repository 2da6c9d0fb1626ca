#include "belos_ext/parameters/solver_options.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace capstan {

std::string toString(const EigenvalueBounds& bounds) { return fmt::format("{:.6g} to {:.6g}", bounds.min, bounds.max); }

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
