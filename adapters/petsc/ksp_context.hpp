#pragma once
/// \file
/// What a KSP of Capstan's holds, and how it solves. It knows capstan.h and PETSc alone.

#include <petsc/private/kspimpl.h>

#include <cstdint>
#include <string>
#include <vector>

#include "adapters/c/capstan.h"

namespace capstan::petsc {

/// A key of Capstan's, and its value as YAML has it; empty: not given.
struct Setting {
  std::string key, option, summary, value;
};

/// What PETSc counts of a matrix.
struct EntriesState {
  PetscObjectId matrix = 0;
  PetscObjectState pattern = -1, values = -1;
  bool isOfMatrix(const EntriesState& other) const { return matrix == other.matrix && pattern == other.pattern; }
};

/// Rows of this rank, as capstan_csr has them.
struct Entries {
  std::vector<std::int64_t> begin, columns;
  std::vector<double> values;
};

/// The data of a KSP.
struct Context {
  std::string method;
  std::vector<Setting> settings;
  bool relativeToGuess = false;  ///< residuals are measured over the first one, not over b
  bool zeroRhs = false;          ///< b is zero, and the guess may be another
  capstan_solver* solver = nullptr;
  std::string text;                  ///< of that solver
  int symmetric = -1, diagonal = 0;  ///< as it has been told
  bool hasPreconditioner = false, zeroGuess = false;
  bool hasEntries = false;  ///< that solver multiplies by these
  Entries entries;
  EntriesState given, solved;       ///< of the entries it has; in the last solve
  long products = 0;                ///< of that one
  bool copies = true;               ///< "-ksp_capstan_copy_entries"
  PetscLayout rows = nullptr;       ///< of that solver
  Vec in = nullptr, out = nullptr;  ///< A and M are applied to these,
  bool inPlace = false;             ///< over arrays of Capstan's, or else over copies
  bool solves = false;              ///< now
  PetscErrorCode failure{};
  PetscInt told = -1;     ///< the iteration that monitors have seen
  PetscReal norm0 = -1;   ///< divtol is a factor of it; negative: not known
  bool toldLate = false;  ///< it is the first norm that was told, but not that of the guess
};

inline Context& contextOf(KSP ksp) { return *static_cast<Context*>(ksp->data); }
inline MPI_Comm commOf(KSP ksp) { return PetscObjectComm(reinterpret_cast<PetscObject>(ksp)); }

inline bool testsByDefault(KSP ksp) { return ksp->converged == KSPConvergedDefault; }
inline const KSPConvergedDefaultCtx& defaultTest(KSP ksp) {
  return *static_cast<const KSPConvergedDefaultCtx*>(ksp->cnvP);
}

/// Whether it is tested, with PETSc's own tolerances.
inline bool tests(KSP ksp) { return testsByDefault(ksp) && ksp->normtype != KSP_NORM_NONE; }

/// The text that a solver is made from.
std::string textOf(const Context& context);

/// An error of Capstan's as one of PETSc's, with its text.
PetscErrorCode check(KSP ksp, int status, const capstan_solver* solver);

/// Whether a vector is distributed as this layout says; the same on all ranks, of whom none is asked.
PetscErrorCode hasLayout(Vec v, PetscLayout layout, bool* has);
/// An error where this solve cannot be: sizes, a test without what it needs, a call from within. The same on all ranks.
PetscErrorCode checkUse(KSP ksp);

/// Whether Capstan is to multiply by a copy of the entries of A: it does already, or a solve of products enough has
/// been before. A solver with those of another matrix goes. The same on all ranks. Local.
PetscErrorCode wantsEntries(KSP ksp, Mat a, bool* wants);
/// What it asks for. Local.
PetscErrorCode noteSolved(KSP ksp, Mat a, long products);
/// They are the A of the solver.
PetscErrorCode giveEntries(KSP ksp, Mat a);
/// Values that have changed are read again.
PetscErrorCode renewEntries(KSP ksp, Mat a);

/// What rtol and divtol refer to, as PETSc has it: || b ||, but the residual of the guess where that is zero, or with
/// initialrtol. A reduction, where the guess is not said to be zero.
PetscErrorCode measureRhs(KSP ksp);
/// Monitors, the residual history, and what ends a solve that Capstan knows nothing of: divtol, and a test of the
/// application's own.
PetscErrorCode watch(KSP ksp, PetscInt iteration, PetscReal norm);
/// The same for the residual of the guess, where somebody looks at it: some methods ask for the test after the first
/// iteration only.
PetscErrorCode watchGuess(KSP ksp);

/// What a KSP does, for its table of functions. \{
PetscErrorCode setUp(KSP ksp);
PetscErrorCode solve(KSP ksp);
PetscErrorCode buildSolution(KSP ksp, Vec v, Vec* x);
/// The solver and its vectors go.
PetscErrorCode forget(KSP ksp);
/// \}

}  // namespace capstan::petsc
