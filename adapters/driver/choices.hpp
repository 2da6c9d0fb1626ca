// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What a user of an application wishes of its solves, and the plan that the driver makes of it.
///
/// No Trilinos type appears here, so that an application's own headers and Trilinos' never meet in one file.

#include <optional>
#include <set>
#include <string>
#include <utility>
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
  bool solves = false;               ///< it is a solver of the host's own, in place of a method with M
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
  std::string method;                                  ///< empty, or CAPSTAN: the driver chooses
  Settings settings;                                   ///< of the method
  std::optional<PreconditionerChoice> preconditioner;  ///< nothing: none was named
  PreconditionerChoice plain;      ///< the host's own of little work, which any matrix of this kind has
  PreconditionerChoice multigrid;  ///< the host's own; a choice where no preconditioner was named
  PreconditionerChoice solver;  ///< the host's own solver, a choice where no method was named; else it does not solve
  bool multigridFirst = false;  ///< it begins, and limits of iterations are meant for its cycles
  bool symmetric = false;
  bool recurs = false;  ///< solves resemble earlier ones: steps in time, or of an iteration
  UpdatePolicy matrixUpdate, preconditionerUpdate;
  bool verify = false;
};

/// One way to solve: a method, and M.
struct Way {
  SolverChoice solver;
  std::size_t preconditioner = 0;                ///< its number in Plan::preconditioners
  std::vector<std::pair<std::string, int>> arm;  ///< those of the settings that the driver has chosen

  bool operator==(const Way& other) const {
    return solver == other.solver && preconditioner == other.preconditioner && arm == other.arm;
  }
};

/// How the solves of one field go.
struct Plan {
  std::vector<PreconditionerChoice> preconditioners;  ///< not empty
  std::vector<Way> ways;      ///< not empty; the first begins, FieldChoice decides where there are more
  Settings choice;            ///< of CAPSTAN, by which it decides: "Choice" and "Choice File"
  bool named = false;         ///< the user has named the preconditioner: no other one goes on
  bool limitsCycles = false;  ///< limits of iterations are meant for cycles of multigrid
  SolverChoice safeSolver;    ///< the method and the preconditioner that fail least
  PreconditionerChoice safePreconditioner;
  UpdatePolicy matrixUpdate, preconditionerUpdate;
  bool verify = false;  ///< compare the assembled matrix with the host's own product

  /// The same ways.
  bool isAlike(const Plan& other) const {
    return preconditioners == other.preconditioners && ways == other.ways && choice == other.choice;
  }
};

/// Which systems of a field are written as files.
struct DumpControls {
  std::set<long> solves;  ///< by their number among the field's solves in this run, from 1
  long unconverged = 0;   ///< so many more of those that do not converge
  std::string folder;     ///< full path
  long maxEntries = 0;    ///< of a matrix, on all ranks

  bool any() const { return !solves.empty() || unconverged > 0; }
};

/// So many iterations with the host's own preconditioner of little work are taken for one cycle of its multigrid, where
/// a limit is meant for cycles.
constexpr int iterationsOfCycle = 6;

/// The plan for these wishes. Local. \throws std::invalid_argument where the method does not fit the matrix, or
/// settings are no method's or out of range
Plan makePlan(const Wishes& wishes);

}  // namespace capstan::driver
