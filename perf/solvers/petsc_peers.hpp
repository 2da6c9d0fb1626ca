#pragma once
/// \file
/// Which PETSc methods join a system's contest, or why none does.

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "adapters/deck/deck.hpp"
#include "perf/solvers/belos_contestants.hpp"

namespace capstan::perf {

/// PETSc's side of a benchmark run. Built without PETSc, it has no methods.
class PetscPeers {
 public:
  /// \param wanted names of methods; "off" alone: none; empty: all. \throws deck::InputError with what is allowed
  explicit PetscPeers(const std::vector<std::string>& wanted);
  ~PetscPeers();
  PetscPeers(const PetscPeers&) = delete;
  PetscPeers& operator=(const PetscPeers&) = delete;

  bool any() const;
  std::string version() const;  ///< empty: no PETSc

  /// Adds the methods whose group the deck's solvers for this system contain, with restart length, tolerance and limit
  /// of iterations of the group's first solver that has no preconditioner, Jacobi, or BoomerAMG where this PETSc has
  /// hypre; and that preconditioner. Collective. `field`, whose `local` must be filled, must outlive the contestants.
  /// Returns one sentence for each group left out.
  std::vector<std::string> join(const deck::Deck& deck, const deck::SystemOptions& system, Field& field,
                                MPI_Comm comm) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace capstan::perf
