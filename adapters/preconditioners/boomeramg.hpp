#pragma once
/// \file
/// hypre's BoomerAMG as a preconditioner: algebraic multigrid with classical (Ruge-Stueben) coarsening. An application
/// is one V-cycle from a zero guess.
///
/// Sources: [Henson and Yang 2002]; smoothers with l1 scaling [Baker, Falgout, Kolev and Yang 2011]. hypre is an option
/// of the build (CAPSTAN_HYPRE); without it makeBoomerAmg() throws.

#include <Teuchos_ParameterList.hpp>
#include <Teuchos_RCP.hpp>
#include <optional>
#include <string>

#include "adapters/preconditioners/parameter_messages.hpp"
#include "adapters/preconditioners/types.hpp"

namespace capstan::preconditioning {

/// Whether this build has hypre. Local.
bool hasBoomerAmg();

/// What a user reads who asks for it in a build without hypre: how to get it. Local.
std::string howToGetBoomerAmg();

/// Parameters, as hypre's calls take them.
struct BoomerAmgSettings {
  /// What solves on the coarsest level. Automatic: Direct, but Relaxation where all rows of A sum to zero, up to
  /// rounding: its coarsest matrix is singular then.
  enum class Coarse { Automatic, Direct, Relaxation };

  double strongThreshold = 0.25;
  int coarsening = 10;           ///< HYPRE_BoomerAMGSetCoarsenType
  int interpolation = 6;         ///< HYPRE_BoomerAMGSetInterpType
  int interpolationEntries = 4;  ///< of a row; 0: no limit
  double truncation = 0;
  int relaxDown = 13;   ///< HYPRE_BoomerAMGSetCycleRelaxType on the way to the coarsest level
  int relaxUp = 14;     ///< and back: the transpose of the former
  int relaxCoarse = 8;  ///< of the same kind, and symmetric by itself
  int sweeps = 1;       ///< on the way down, and as many on the way up
  Coarse coarse = Coarse::Automatic;
  int coarseSweeps = 8;  ///< Coarse::Relaxation only
  int coarseRows = 9;    ///< no coarsening of a level with as few
  int levels = 25;
  int aggressiveLevels = 0;
};

/// What is wrong with the parameters, or nothing: unknown names, values that are not allowed. Names and words count as
/// equal up to case, with '_' and '-' for blanks. Local.
std::optional<ParameterProblem> boomerAmgProblem(const Teuchos::ParameterList& own);

/// The parameters over the defaults, with Coarse::Automatic decided for A. Collective.
/// \throws std::invalid_argument with the text of boomerAmgProblem()
BoomerAmgSettings boomerAmgSettings(const Teuchos::ParameterList& own, const Matrix& A);

/// Why BoomerAMG cannot be built for A, or empty: a number that is not finite, a row without a diagonal entry, rows
/// that are not those of domain and range. hypre itself would crash, or not say so. Collective; alike on all ranks.
std::string whyNoBoomerAmg(const Matrix& A);

/// Builds the hierarchy; A's values are copied. It is as definite as A, and symmetric where A is. apply() takes any
/// number of columns, one after another, keeps its own vectors, and has no transpose. Where the coarsest level is
/// solved directly, each application has one MPI_Allgather; otherwise no collective call at all. Collective.
/// \throws std::invalid_argument for parameters, std::runtime_error where A has no such preconditioner or hypre tells
/// an error; on all ranks alike
Teuchos::RCP<Operator> makeBoomerAmg(const Teuchos::RCP<const Matrix>& A, const Teuchos::ParameterList& own);

}  // namespace capstan::preconditioning
