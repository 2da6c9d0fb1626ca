// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What a user of an application wishes of its solves, and the plan that the driver makes of it.
///
/// No Trilinos type appears here, so that an application's own headers and Trilinos' never meet in one file.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "adapters/driver/renewal.hpp"
#include "adapters/driver/settings.hpp"

namespace capstan::driver {

/// A method, and how it is set.
struct SolverChoice {
  std::string method;  ///< any name Belos::SolverFactory knows, Capstan's included
  Settings settings;   ///< the solver's own parameters

  bool operator==(const SolverChoice& other) const { return method == other.method && settings == other.settings; }
};

/// A preconditioner: one of the host's own, which it applies itself, or one of adapters/preconditioners on the
/// assembled matrix.
struct PreconditionerChoice {
  std::string name = "none";         ///< as it is printed
  int own = 0;                       ///< the host's own: the number by which the host knows it; 0: it is none of these
  bool cycle = false;                ///< the host's own: an application is a cycle of multigrid, which is not linear
  std::string file;                  ///< MueLu only: a preset or an XML file
  std::vector<std::string> folders;  ///< where the file is looked for first
  Settings settings;                 ///< on top of the file or preset

  bool operator==(const PreconditionerChoice& other) const {
    return name == other.name && own == other.own && file == other.file && settings == other.settings;
  }
  /// Whether the matrix has to be assembled for it.
  bool assembles() const { return own == 0 && name != "none"; }
};

/// What muelu takes where no file is named: a preset whose cycle needs no global reduction.
constexpr const char* defaultMueLuFile = "no_reductions";

/// What the user has said, what the host has to offer, and what is known of the matrix.
struct Wishes {
  std::string method;                                  ///< empty: none was named
  Settings settings;                                   ///< of the method
  std::optional<PreconditionerChoice> preconditioner;  ///< nothing: none was named
  PreconditionerChoice plain;      ///< the host's own of little work, which any matrix of this kind has
  PreconditionerChoice multigrid;  ///< the host's own; tried where no preconditioner was named
  bool multigridFirst = false;     ///< it is tried first, and limits of iterations are meant for its cycles
  bool symmetric = false;
  bool recurs = false;  ///< solves resemble earlier ones: steps in time, or of an iteration
  UpdatePolicy matrixUpdate, preconditionerUpdate;
  bool verify = false;
};

/// How the solves of one field go.
struct Plan {
  SolverChoice solver;
  std::optional<SolverChoice> ofCycles;  ///< the method for multigrid as long as its solves are short
  PreconditionerChoice preconditioner;
  std::optional<PreconditionerChoice> multigrid;  ///< the other one, PreconditionerTrial decides; nothing: no trial
  bool multigridFirst = false;
  SolverChoice safeSolver;  ///< the method and the preconditioner that fail least
  PreconditionerChoice safePreconditioner;
  UpdatePolicy matrixUpdate, preconditionerUpdate;
  bool verify = false;  ///< compare the assembled matrix with the host's own product
};

/// Which systems of a field are written as files.
struct DumpControls {
  std::set<long> solves;  ///< by their number among the field's solves in this run, from 1
  long unconverged = 0;   ///< so many more of those that do not converge
  std::string folder;     ///< full path
  long maxEntries = 0;    ///< of a matrix, on all ranks

  bool any() const { return !solves.empty() || unconverged > 0; }
};

/// Iterations whose vectors Plan::ofCycles keeps: two an iteration. It restarts after so many.
constexpr int cyclesKept = 30;

/// The plan for these wishes. Local. \throws std::invalid_argument where the method does not fit the matrix
Plan makePlan(const Wishes& wishes);

}  // namespace capstan::driver
