#pragma once
/// \file
/// The `linear_solvers:` block of a deck, in the shape of Nalu-wind's: method, preconditioner, tolerances.
///
/// Keys, defaults and meanings are Nalu-wind's (its LinearSolverConfig), except that a mistake is an error. Capstan
/// adds preconditioner_side, preconditioner_parameters and parameters.

#include <yaml-cpp/yaml.h>

#include <Teuchos_ParameterList.hpp>
#include <map>
#include <string>
#include <vector>

#include "adapters/deck/diagnostics.hpp"
#include "adapters/deck/types.hpp"
#include "adapters/preconditioners/preconditioner.hpp"

namespace capstan::deck {

/// One entry of `linear_solvers:`.
struct LinearSolver {
  std::string name;
  std::string method;                 ///< for Belos::SolverFactory::create
  Teuchos::ParameterList parameters;  ///< for the same
  double tolerance = 1e-4;            ///< of all solves of a step but the last
  double finalTolerance = 1e-4;       ///< of the last solve of a step
  PreconditionerOptions preconditioner;
  std::string mueluFile;                            ///< as written: a file or a preset; empty: MueLu's own defaults
  Teuchos::ParameterList preconditionerParameters;  ///< preconditioner_parameters
  bool writeMatrixFiles = false;
  bool summarizeMueluTimer = false;
  Place place;
  Place mueluPlace;
  Place preconditionerPlace;
  std::map<std::string, Place> preconditionerParameterPlaces;
};

/// Reads the block. What is wrong goes into the diagnostics, and the entry is still returned with what could be read.
/// Local, the same on all ranks for the same text.
std::vector<LinearSolver> readLinearSolvers(const YAML::Node& block, const Place& place, Diagnostics& diagnostics);

/// Reads one entry that stands for itself: it needs no name. Otherwise as readLinearSolvers().
LinearSolver readLinearSolver(const YAML::Node& entry, const Place& place, Diagnostics& diagnostics);

/// Reads a map of scalars, lists and maps into a parameter list: whole numbers become int, other numbers double, yes
/// and no (true and false) bool, the rest and all that is quoted std::string; lists of numbers Teuchos::Array<double>,
/// other lists Teuchos::Array<std::string>; maps sublists. Local.
Teuchos::ParameterList readParameters(const YAML::Node& map, const Place& place, Diagnostics& diagnostics);

}  // namespace capstan::deck
