#pragma once
/// \file
/// The `systems:` block of a deck: which linear systems to solve, and with which of the solvers.

#include <yaml-cpp/yaml.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/deck/diagnostics.hpp"
#include "adapters/deck/generators.hpp"

namespace capstan::deck {

/// Slowly changing systems, as the time steps of a simulation make them. System k of a sequence has the matrix
/// D A D and the right-hand side D b, with D = diag(1 + change * sin(2 pi (i/n + k/20))), i the row: symmetry and
/// definiteness of A are kept, and after 20 systems the first one comes back. With a time step they are steps of
/// implicit Euler for dx/dt = D b - D A D x: the matrix is I + timeStep D A D, the right-hand side x_old + timeStep D
/// b, x_old the solution of the step before, at first the guess.
struct SequenceOptions {
  int steps = 1;
  int outerIterations = 1;  ///< solves a step; the last one of a step uses final_tolerance
  double change = 0.0;
  double timeStep = 0.0;      ///< 0: no time in it
  bool previousGuess = true;  ///< start from the solution before; else from `guess` each time
};

enum class RhsKind { Ones, Random, MatrixTimesOnes, File };
enum class GuessKind { Zero, Random, File };

class MatrixFiles;

/// One entry of `systems:`.
struct SystemOptions {
  std::string name;
  std::string matrixFile;  ///< full path; empty when generated
  std::optional<GeneratorOptions> generator;
  RhsKind rhs = RhsKind::MatrixTimesOnes;
  std::string rhsFile;
  GuessKind guess = GuessKind::Zero;
  std::string guessFile;
  int seed = 1;  ///< of random vectors; the same numbers on any number of ranks
  SequenceOptions sequence;
  std::vector<std::size_t> solvers;  ///< indices into the deck's linear solvers
  Place place;
  Place matrixPlace;  ///< of `matrix` or `generate`
  Place rhsPlace, guessPlace;
  std::shared_ptr<MatrixFiles> files;  ///< what has been read of the files named here; null: nothing
};

/// Reads the block. Relative paths are taken from `folder`. `solverNames` are the names in the deck's linear_solvers; a
/// system that names none gets the first. What is wrong goes into the diagnostics. Local.
std::vector<SystemOptions> readSystems(const YAML::Node& block, const Place& place, const std::string& folder,
                                       const std::vector<std::string>& solverNames, Diagnostics& diagnostics);

}  // namespace capstan::deck
