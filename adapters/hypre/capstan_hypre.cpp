// libcapstanHypre.so: preloaded, it stands before the Krylov solvers of hypre's ParCSR interface,
//
//     CAPSTAN_OPTIONS='redirect: {hypre_pcg: capstan_cg}' LD_PRELOAD=libcapstanHypre.so ./application
//
// A solver that is redirected solves by Capstan's method, with the tolerance, limits, restart length and preconditioner
// that hypre's object has been told; its getters answer for it. All else is hypre's, as it was. It knows capstan.h and
// hypre alone.
#include <cstdio>  // FILE, which hypre 3 does not declare
//
#include <HYPRE_sstruct_ls.h>
#include <HYPRE_struct_ls.h>
#include <dlfcn.h>

#include "adapters/hypre/record.hpp"
#include "adapters/hypre/solve.hpp"

// Of hypre 2.31 and 3.0.
extern "C" {
HYPRE_Int HYPRE_PCGSetPreconditioner(HYPRE_Solver solver, HYPRE_Solver own);
HYPRE_Int HYPRE_ParCSRPCGSetPreconditioner(HYPRE_Solver solver, HYPRE_Solver own);
HYPRE_Int HYPRE_PCGSetPrecondMatrix(HYPRE_Solver solver, HYPRE_Matrix matrix);
HYPRE_Int HYPRE_GMRESSetPrecondMatrix(HYPRE_Solver solver, HYPRE_Matrix matrix);
HYPRE_Int HYPRE_BiCGSTABSetPrecondMatrix(HYPRE_Solver solver, HYPRE_Matrix matrix);
}

namespace {

using namespace capstan::hypre;

template <class Function>
Function* hypres(const char* name) {
  void* const found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) std::fprintf(stderr, "Capstan: this program has no function %s of hypre\n", name);
  return reinterpret_cast<Function*>(found);
}

void remember(HYPRE_Solver solver, HYPRE_PtrToSolverFcn function, HYPRE_Solver own) {
  Record* const record = recordOf(solver);
  if (record == nullptr) return;
  record->preconditioner.function = function;
  record->preconditioner.own = own;
}

/// Whether that is another function than hypre's own, which does nothing.
bool changes(HYPRE_PtrToModifyPCFcn modify) {
  return reinterpret_cast<void*>(modify) != dlsym(RTLD_DEFAULT, "hypre_FlexGMRESModifyPCDefault");
}

/// Answers a getter for a solve of Capstan's; else hypre does.
template <class Value, class Member, class Own>
HYPRE_Int answer(HYPRE_Solver solver, Value* value, Member member, const Own& own) {
  if (solver == nullptr) return wrongArgument(1);
  if (value == nullptr) return wrongArgument(2);
  const Record* const record = recordOf(solver);
  if (record == nullptr || !record->bySolve) return own();
  *value = static_cast<Value>(record->outcome.*member);
  return 0;
}

}  // namespace

// hypre's functions, which these stand before. HYPRE_ParCSRxSolve calls HYPRE_xSolve in hypre: both are met.
#define CAPSTAN_EXPORT extern "C" __attribute__((visibility("default")))
#define CAPSTAN_HYPRES(name) hypres<decltype(name)>(#name)

// NOLINTBEGIN(bugprone-macro-parentheses)
#define CAPSTAN_GETTER(name, Value, member)                                                                      \
  CAPSTAN_EXPORT HYPRE_Int name(HYPRE_Solver solver, Value* value) {                                             \
    return answer(solver, value, &capstan_outcome::member, [&] { return CAPSTAN_HYPRES(name)(solver, value); }); \
  }
#define CAPSTAN_GETTERS(x)                                   \
  CAPSTAN_GETTER(x##GetNumIterations, HYPRE_Int, iterations) \
  CAPSTAN_GETTER(x##GetFinalRelativeResidualNorm, HYPRE_Real, residual)
#define CAPSTAN_FAMILY(x)                                                                                          \
  CAPSTAN_EXPORT HYPRE_Int HYPRE_ParCSR##x##Create(MPI_Comm comm, HYPRE_Solver* solver) {                          \
    const HYPRE_Int status = CAPSTAN_HYPRES(HYPRE_ParCSR##x##Create)(comm, solver);                                \
    if (solver != nullptr && *solver != nullptr) keepRecord(*solver, #x);                                          \
    return status;                                                                                                 \
  }                                                                                                                \
  CAPSTAN_EXPORT HYPRE_Int HYPRE_ParCSR##x##Destroy(HYPRE_Solver solver) {                                         \
    if (isDestroyed(solver)) return wrongArgument(1);                                                              \
    if (!dropRecord(solver)) return failed(HYPRE_ERROR_GENERIC);                                                   \
    return CAPSTAN_HYPRES(HYPRE_ParCSR##x##Destroy)(solver);                                                       \
  }                                                                                                                \
  CAPSTAN_EXPORT HYPRE_Int HYPRE_##x##SetPrecond(HYPRE_Solver solver, HYPRE_PtrToSolverFcn function,               \
                                                 HYPRE_PtrToSolverFcn setup, HYPRE_Solver own) {                   \
    if (solver == nullptr) return wrongArgument(1);                                                                \
    remember(solver, function, own);                                                                               \
    return CAPSTAN_HYPRES(HYPRE_##x##SetPrecond)(solver, function, setup, own);                                    \
  }                                                                                                                \
  CAPSTAN_EXPORT HYPRE_Int HYPRE_ParCSR##x##SetPrecond(HYPRE_Solver solver, HYPRE_PtrToParSolverFcn function,      \
                                                       HYPRE_PtrToParSolverFcn setup, HYPRE_Solver own) {          \
    if (solver == nullptr) return wrongArgument(1);                                                                \
    remember(solver, reinterpret_cast<HYPRE_PtrToSolverFcn>(function), own);                                       \
    return CAPSTAN_HYPRES(HYPRE_ParCSR##x##SetPrecond)(solver, function, setup, own);                              \
  }                                                                                                                \
  CAPSTAN_EXPORT HYPRE_Int HYPRE_##x##Solve(HYPRE_Solver solver, HYPRE_Matrix a, HYPRE_Vector b, HYPRE_Vector s) { \
    return solve(solver, #x, reinterpret_cast<HYPRE_ParCSRMatrix>(a), reinterpret_cast<HYPRE_ParVector>(b),        \
                 reinterpret_cast<HYPRE_ParVector>(s),                                                             \
                 [&] { return CAPSTAN_HYPRES(HYPRE_##x##Solve)(solver, a, b, s); });                               \
  }                                                                                                                \
  CAPSTAN_EXPORT HYPRE_Int HYPRE_ParCSR##x##Solve(HYPRE_Solver solver, HYPRE_ParCSRMatrix a, HYPRE_ParVector b,    \
                                                  HYPRE_ParVector s) {                                             \
    return solve(solver, #x, a, b, s, [&] { return CAPSTAN_HYPRES(HYPRE_ParCSR##x##Solve)(solver, a, b, s); });    \
  }                                                                                                                \
  CAPSTAN_GETTERS(HYPRE_##x)                                                                                       \
  CAPSTAN_GETTERS(HYPRE_ParCSR##x)
#define CAPSTAN_CONVERGED(x) CAPSTAN_GETTER(HYPRE_##x##GetConverged, HYPRE_Int, converged)
// What has no getter.
#define CAPSTAN_SETTER(x, Value, member)                                 \
  CAPSTAN_EXPORT HYPRE_Int x(HYPRE_Solver solver, Value value) {         \
    if (solver == nullptr) return wrongArgument(1);                      \
    if (Record* const record = recordOf(solver)) record->member = value; \
    return CAPSTAN_HYPRES(x)(solver, value);                             \
  }
#define CAPSTAN_MODIFY(x)                                                            \
  CAPSTAN_EXPORT HYPRE_Int x(HYPRE_Solver solver, HYPRE_PtrToModifyPCFcn modify) {   \
    if (solver == nullptr) return wrongArgument(1);                                  \
    if (Record* const record = recordOf(solver)) record->modifies = changes(modify); \
    return CAPSTAN_HYPRES(x)(solver, modify);                                        \
  }
// An object of hypre that can be given alone begins with its functions: setup, solve, destroy.
#define CAPSTAN_PRECONDITIONER(x)                                                 \
  CAPSTAN_EXPORT HYPRE_Int x(HYPRE_Solver solver, HYPRE_Solver own) {             \
    if (solver == nullptr) return wrongArgument(1);                               \
    if (own == nullptr) return wrongArgument(2);                                  \
    remember(solver, reinterpret_cast<const HYPRE_PtrToSolverFcn*>(own)[1], own); \
    return CAPSTAN_HYPRES(x)(solver, own);                                        \
  }
#define CAPSTAN_MATRIX(x)                                                                \
  CAPSTAN_EXPORT HYPRE_Int x(HYPRE_Solver solver, HYPRE_Matrix matrix) {                 \
    if (solver == nullptr) return wrongArgument(1);                                      \
    if (Record* const record = recordOf(solver)) record->preconditioner.matrix = matrix; \
    return CAPSTAN_HYPRES(x)(solver, matrix);                                            \
  }
// Solvers of other interfaces, whose generic functions are the same: one may lie where another one was destroyed.
#define CAPSTAN_OTHER(name, Solver)                              \
  CAPSTAN_EXPORT HYPRE_Int name(MPI_Comm comm, Solver* solver) { \
    const HYPRE_Int status = CAPSTAN_HYPRES(name)(comm, solver); \
    if (solver != nullptr) notDestroyed(*solver);                \
    return status;                                               \
  }
#define CAPSTAN_OTHERS(x)                                    \
  CAPSTAN_OTHER(HYPRE_Struct##x##Create, HYPRE_StructSolver) \
  CAPSTAN_OTHER(HYPRE_SStruct##x##Create, HYPRE_SStructSolver)
#define CAPSTAN_PLAIN(x)                                             \
  extern "C" void* hypre_##x##Create(void* functions);               \
  CAPSTAN_EXPORT void* hypre_##x##Create(void* functions) {          \
    void* const made = CAPSTAN_HYPRES(hypre_##x##Create)(functions); \
    notDestroyed(made);                                              \
    return made;                                                     \
  }

CAPSTAN_FAMILY(PCG)
CAPSTAN_FAMILY(GMRES)
CAPSTAN_FAMILY(FlexGMRES)
CAPSTAN_FAMILY(LGMRES)
CAPSTAN_FAMILY(COGMRES)
CAPSTAN_FAMILY(BiCGSTAB)
CAPSTAN_CONVERGED(PCG)
CAPSTAN_CONVERGED(GMRES)
CAPSTAN_CONVERGED(FlexGMRES)
CAPSTAN_CONVERGED(LGMRES)
CAPSTAN_CONVERGED(COGMRES)
CAPSTAN_SETTER(HYPRE_BiCGSTABSetTol, HYPRE_Real, tolerance)
CAPSTAN_SETTER(HYPRE_BiCGSTABSetAbsoluteTol, HYPRE_Real, absoluteTolerance)
CAPSTAN_SETTER(HYPRE_BiCGSTABSetMaxIter, HYPRE_Int, maxIterations)
CAPSTAN_SETTER(HYPRE_ParCSRBiCGSTABSetTol, HYPRE_Real, tolerance)
CAPSTAN_SETTER(HYPRE_ParCSRBiCGSTABSetAbsoluteTol, HYPRE_Real, absoluteTolerance)
CAPSTAN_SETTER(HYPRE_ParCSRBiCGSTABSetMaxIter, HYPRE_Int, maxIterations)
CAPSTAN_SETTER(HYPRE_BiCGSTABSetMinIter, HYPRE_Int, minIterations)
CAPSTAN_SETTER(HYPRE_ParCSRBiCGSTABSetMinIter, HYPRE_Int, minIterations)
CAPSTAN_SETTER(HYPRE_BiCGSTABSetStopCrit, HYPRE_Int, criterion)
CAPSTAN_SETTER(HYPRE_ParCSRBiCGSTABSetStopCrit, HYPRE_Int, criterion)
CAPSTAN_SETTER(HYPRE_BiCGSTABSetConvergenceFactorTol, HYPRE_Real, factor)
CAPSTAN_MODIFY(HYPRE_FlexGMRESSetModifyPC)
CAPSTAN_MODIFY(HYPRE_ParCSRFlexGMRESSetModifyPC)
CAPSTAN_MODIFY(HYPRE_COGMRESSetModifyPC)
CAPSTAN_PRECONDITIONER(HYPRE_PCGSetPreconditioner)
CAPSTAN_PRECONDITIONER(HYPRE_ParCSRPCGSetPreconditioner)
CAPSTAN_MATRIX(HYPRE_PCGSetPrecondMatrix)
CAPSTAN_MATRIX(HYPRE_GMRESSetPrecondMatrix)
CAPSTAN_MATRIX(HYPRE_BiCGSTABSetPrecondMatrix)
CAPSTAN_OTHERS(PCG)
CAPSTAN_OTHERS(GMRES)
CAPSTAN_OTHERS(FlexGMRES)
CAPSTAN_OTHERS(LGMRES)
CAPSTAN_OTHERS(BiCGSTAB)
CAPSTAN_PLAIN(PCG)
CAPSTAN_PLAIN(GMRES)
CAPSTAN_PLAIN(FlexGMRES)
CAPSTAN_PLAIN(LGMRES)
CAPSTAN_PLAIN(COGMRES)
CAPSTAN_PLAIN(BiCGSTAB)
// NOLINTEND(bugprone-macro-parentheses)
