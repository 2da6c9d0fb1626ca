#pragma once
/// \file
/// hypre's Krylov methods as contestants on the same matrix and right-hand side.

#include <Teuchos_RCP.hpp>
#include <memory>
#include <string>
#include <vector>

#include "adapters/deck/types.hpp"
#include "perf/solvers/contestant.hpp"
#include "perf/solvers/peer_options.hpp"

namespace capstan::perf {

/// One method hypre is asked for.
struct HypreMethod {
  std::string name;   ///< "pcg", "gmres", "flexgmres", "cogmres" or "bicgstab": hypre's in lower case
  std::string group;  ///< as Description::group
};

/// The methods that can take part. Local.
const std::vector<HypreMethod>& hypreMethods();

std::string hypreLibraryVersion();

/// hypre's view of a system, its preconditioners included, for all contestants of that system.
class HypreSystem;

/// Collective. \throws std::runtime_error where hypre cannot hold A. \param b may change between solves
std::shared_ptr<HypreSystem> makeHypreSystem(const Teuchos::RCP<const deck::Matrix>& a,
                                             const Teuchos::RCP<const deck::MultiVector>& b);

/// A contestant called "hypre <method>". The residual that is tested is || b - A x || over || b ||: preconditioners
/// stand on the right in hypre's GMRES and BiCGStab, and PCG is told to test the 2-norm. Its BoomerAMG has the
/// parameters of the deck's. Products with A and applications of M are counted as they are made. Local; the first
/// prepare() builds M. \param options with preconditioner "none", "jacobi" or "boomeramg"
std::unique_ptr<Contestant> makeHypreContestant(const HypreMethod& method, const std::shared_ptr<HypreSystem>& system,
                                                const PeerOptions& options);

}  // namespace capstan::perf
