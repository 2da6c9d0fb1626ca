#pragma once
/// \file
/// A Krylov method of HPDDM as a contestant on a matrix of Tpetra's.

#include <mpi.h>

#include <Teuchos_RCP.hpp>
#include <memory>
#include <string>

#include "adapters/deck/types.hpp"
#include "perf/solvers/contestant.hpp"

namespace capstan::perf {

struct HpddmOptions {
  int factor = 2;  ///< parts of the residual, "enlarge_krylov_subspace"
  double tolerance = 1e-8;
  int maxIterations = 1000;
};

std::string hpddmLibraryVersion();

/// A contestant called "HPDDM bfbcg t=<factor>": breakdown-free block CG, without a preconditioner. The right-hand
/// side is split by contiguous rows, and the columns of x added up, within what is timed, as HPDDM does itself: it
/// gives each rank to one part, so that its own splitting has no more parts than there are ranks. \param b may change
/// between solves \throws std::runtime_error for a limit of iterations that HPDDM cannot count to. Local.
std::unique_ptr<Contestant> makeHpddmContestant(const Teuchos::RCP<const deck::Matrix>& a,
                                                const Teuchos::RCP<const deck::MultiVector>& b,
                                                const HpddmOptions& options, MPI_Comm comm);

}  // namespace capstan::perf
