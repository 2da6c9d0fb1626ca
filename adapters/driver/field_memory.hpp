// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What is kept between the solves of one field, and when it is renewed.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "adapters/driver/assembled_preconditioner.hpp"
#include "adapters/driver/field_choice.hpp"
#include "adapters/driver/host.hpp"
#include "adapters/driver/krylov_solver.hpp"
#include "adapters/driver/trilinos_types.hpp"

namespace capstan::driver {

/// What the fields of one mesh share: their rows, and the pattern of their matrices.
struct SharedRows {
  Teuchos::RCP<const Map> map;
  std::uint64_t fingerprint = 0;
  std::shared_ptr<const HostRows> rows;   ///< null until a preconditioner of Trilinos needs it
  std::shared_ptr<const CsrGraph> graph;  ///< of these rows
  std::intptr_t communicator = 0;         ///< numberOf() the application's
};

/// Solvers of one field, and the preconditioner of Trilinos if it has one. Functions are collective unless said
/// otherwise.
class FieldMemory {
 public:
  FieldMemory(std::shared_ptr<SharedRows> shared, WhyReserved why) : shared_(std::move(shared)), why_(std::move(why)) {}

  /// Whether what is kept is for this communicator, and for as many rows on this rank. An application may free one and
  /// make another of other ranks, as multigrid that gathers levels on fewer of them. Local.
  bool fits(const HostSystem& system) const {
    return !map_.is_null() && localRows(*map_) == system.rows() && communicator_ == numberOf(system.communicator());
  }
  /// Takes the rows of the system: those that another field of the mesh has, where they are equal.
  void adopt(const HostSystem& system);

  /// Trilinos' preconditioner as the plan asks for it.
  /// \param renew whatever its age   Returns whether it was built or renewed.
  bool prepare(HostSystem& system, const PreconditionerChoice& choice, const Plan& plan, double sign, bool renew);
  const AssembledPreconditioner& assembled() const { return *assembled_; }
  /// What was found of it when it was built last. Local.
  const AssembledPreconditioner::Updated& findings() const { return findings_; }

  KrylovSolver& solver() { return *solver_; }

  /// What decides which way of a plan the field takes, as of now `chosen`.
  FieldChoice& choose(const Plan& plan, const HostFacts& facts, const Agreement& agreed);

  /// When the preconditioner of Trilinos is due again; it is to learn of every solve.
  Renewal renewal;
  /// That of the last solve, which has seconds to share; null: there is none.
  FieldChoice* chosen = nullptr;
  /// How often a message was told.
  std::map<std::string, long> told;
  /// Vectors of a solve, kept so that the next one allocates nothing.
  std::vector<double> residual, correction, before;
  /// Largest ||r||_1 / ||r||_2 to expect of a residual at the end of a solve; 0 while nothing is known.
  double spread = 0;
  /// Solves of this field in the run, and those that were written since they did not converge.
  long solves = 0, unconvergedWritten = 0;

 private:
  void takeGraph(const HostSystem& system);
  void verify(HostSystem& system, double sign) const;

  std::shared_ptr<SharedRows> shared_;
  WhyReserved why_;
  Teuchos::RCP<const Map> map_;
  std::intptr_t communicator_ = 0;  // numberOf() the application's
  std::unique_ptr<KrylovSolver> solver_;
  std::vector<std::unique_ptr<FieldChoice>> choices_;  // of plans that differ: of a step's last solve, for example
  std::uint64_t fingerprint_ = 0;
  std::shared_ptr<const HostRows> rows_;
  std::unique_ptr<AssembledPreconditioner> assembled_;
  AssembledPreconditioner::Updated findings_;
  std::vector<double> values_;
  bool taken_ = false;  // values_ are of these rows; they are empty on a rank without entries, too
  double sign_ = 1;
  int matrixAge_ = 0;          // solves since coefficients were taken; 0: never
  int preconditionerAge_ = 0;  // likewise
};

}  // namespace capstan::driver
