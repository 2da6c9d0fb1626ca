#pragma once
/// \file
/// What is kept of a solver of hypre's that an application has made.
#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <HYPRE_parcsr_mv.h>
#include <_hypre_parcsr_mv.h>

#include <string>
#include <type_traits>

#include "adapters/c/capstan.h"

static_assert(sizeof(HYPRE_Int) == sizeof(int) && std::is_same_v<HYPRE_Complex, double>,
              "libcapstanHypre serves hypre with 32 bit integers, real numbers and double precision");

namespace capstan::hypre {

struct Preconditioner {
  HYPRE_PtrToSolverFcn function = nullptr;
  HYPRE_Solver own = nullptr;
  HYPRE_Matrix matrix = nullptr;  ///< which it is given in the place of A; null: none
};

/// What hypre has been told of a solver that it does not tell in turn, and how its last solve went, if by Capstan.
struct Record {
  std::string family;  ///< in hypre's spelling
  Preconditioner preconditioner;
  double tolerance = 1e-6, absoluteTolerance = 0,
         factor = 0;  ///< of BiCGSTAB alone, as is what follows: others are asked
  int maxIterations = 1000, minIterations = 0, criterion = 0;
  bool modifies = false;  ///< a function of the application's changes the preconditioner from iteration to iteration

  capstan_solver* solver = nullptr;
  std::string text;  ///< of that solver
  MPI_Comm comm = MPI_COMM_NULL;
  long long rows = -1;
  bool hasPreconditioner = false;
  bool diagonal = false;  ///< that solver has been told that M is

  bool works = false;                   ///< a solve of Capstan's is under way
  Preconditioner used;                  ///< by it: as hypre, it takes no notice of a later one
  HYPRE_ParCSRMatrix matrix = nullptr;  ///< of it
  HYPRE_IJVector in = nullptr, out = nullptr;

  bool bySolve = false;  ///< the getters speak of a solve of Capstan's
  capstan_outcome outcome{};
};

/// Those of the solvers of the ParCSR interface that live. \{
Record* recordOf(HYPRE_Solver solver);
void keepRecord(HYPRE_Solver solver, const char* family);
/// Returns false, and does nothing, while the solver is at work.
bool dropRecord(HYPRE_Solver solver);
/// \}

/// Whether the ParCSR interface has destroyed a solver there, and nobody has made one since.
bool isDestroyed(HYPRE_Solver solver);
/// Another interface has made a solver there.
void notDestroyed(const void* solver);

/// Lets go of what Capstan solves by.
void forget(Record& record);

/// Enters an error in hypre's flags and returns those. \{
HYPRE_Int failed(HYPRE_Int error);
HYPRE_Int wrongArgument(int number);
/// \}

/// What hypre's object says of itself.
struct Settings {
  double tolerance = 0, absoluteTolerance = 0;
  int maxIterations = 0, restart = 0;
  bool energy = false;  ///< the norm is that of M^-1, as PCG has it by default
  std::string unlike;   ///< what Capstan does not do as asked; empty: all is well
  std::string wrong;    ///< what nobody can do
};
Settings settingsOf(HYPRE_Solver solver, const Record& record);
/// The residual vector of hypre's object: null before Setup.
HYPRE_ParVector residualVectorOf(HYPRE_Solver solver, const Record& record);

inline double* dataOf(HYPRE_ParVector vector) { return hypre_VectorData(hypre_ParVectorLocalVector(vector)); }

}  // namespace capstan::hypre
