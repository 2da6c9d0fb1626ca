#pragma once
/// \file
/// PETSc's Krylov methods as contestants on the same matrix and right-hand side.

#include <mpi.h>

#include <string>
#include <utility>
#include <vector>

#include "perf/solvers/contestant.hpp"
#include "perf/solvers/local_system.hpp"

namespace capstan::perf {

/// What the PETSc peers of one group are given.
struct PetscOptions {
  std::string preconditioner = "none";  ///< "none", "jacobi" or, where hasHypre(), "boomeramg"
  /// For "boomeramg": what follows "-pc_hypre_boomeramg_" in PETSc's options, and the value.
  std::vector<std::pair<std::string, std::string>> boomerAmg;
  double tolerance = 1e-8;
  int maxIterations = 1000;
  int restart = 30;
  /// The interval of a Chebyshev preconditioner, in largest eigenvalues.
  double chebyshevLower = 0.01, chebyshevUpper = 1;
};

/// One method PETSc is asked for.
struct PetscMethod {
  std::string name;       ///< KSPType
  std::string group;      ///< as Description::group
  int pipelineDepth = 0;  ///< l of pipelcg; 0: the method has none to choose
  /// Steps of a Chebyshev iteration as its preconditioner, each with a product but the first; 0: none.
  int chebyshevSteps = 0;

  /// What --petsc calls it: the type, and "+chebyshev" with such a preconditioner.
  std::string word() const { return chebyshevSteps > 0 ? name + "+chebyshev" : name; }
};

/// The methods that can take part. Local.
const std::vector<PetscMethod>& petscMethods();

/// PETSc as long as this object lives. Collective; MPI must outlive it.
class PetscLibrary {
 public:
  PetscLibrary();
  ~PetscLibrary();
  PetscLibrary(const PetscLibrary&) = delete;
  PetscLibrary& operator=(const PetscLibrary&) = delete;
  static std::string version();
  static bool hasHypre();
};

/// A contestant called "PETSc <method>", with " l=<depth>" where the method has a depth. The residual that is tested is
/// the true one: preconditioners stand on the right in GMRES and BiCGStab, and CG tests the unpreconditioned norm, but
/// for pipelcg, which knows its recursive residual in the norm of M^-1 alone, and pipecr, which knows M^-1 r alone (the
/// same without a preconditioner). pipelcg wants bounds of the spectrum: they come from a CG solve of its own, which
/// is not timed. So does the largest eigenvalue that a Chebyshev preconditioner wants. `system` must outlive it.
/// Collective.
std::unique_ptr<Contestant> makePetscContestant(const PetscMethod& method, const LocalSystem& system,
                                                const PetscOptions& options, MPI_Comm comm);

}  // namespace capstan::perf
