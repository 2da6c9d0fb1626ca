#include "adapters/hypre/record.hpp"

#include <cmath>
#include <map>
#include <set>

// Exported, but declared by newer headers alone.
extern "C" {
HYPRE_Int HYPRE_PCGGetAbsoluteTol(HYPRE_Solver solver, HYPRE_Real* tolerance);
HYPRE_Int HYPRE_GMRESGetAbsoluteTol(HYPRE_Solver solver, HYPRE_Real* tolerance);
HYPRE_Int HYPRE_FlexGMRESGetAbsoluteTol(HYPRE_Solver solver, HYPRE_Real* tolerance);
HYPRE_Int HYPRE_LGMRESGetAbsoluteTol(HYPRE_Solver solver, HYPRE_Real* tolerance);
HYPRE_Int HYPRE_COGMRESGetAbsoluteTol(HYPRE_Solver solver, HYPRE_Real* tolerance);
HYPRE_Int HYPRE_PCGGetStopCrit(HYPRE_Solver solver, HYPRE_Int* criterion);
HYPRE_Int HYPRE_GMRESGetStopCrit(HYPRE_Solver solver, HYPRE_Int* criterion);
HYPRE_Int HYPRE_GMRESGetRelChange(HYPRE_Solver solver, HYPRE_Int* change);
}

namespace capstan::hypre {
namespace {

std::map<HYPRE_Solver, Record>& records() {
  static auto* const all = new std::map<HYPRE_Solver, Record>;
  return *all;
}
std::set<const void*>& destroyed() {
  static auto* const all = new std::set<const void*>;
  return *all;
}

/// What hypre could not solve by either, or would not end by.
std::string wrongOf(const Settings& s, bool restarts) {
  const auto number = [](const char* name, double value) {
    return std::string(name) + ": found " + std::to_string(value) + "; allowed: a number, at least 0";
  };
  if (!(s.tolerance >= 0) || std::isinf(s.tolerance)) return number("tolerance", s.tolerance);
  if (!(s.absoluteTolerance >= 0) || std::isinf(s.absoluteTolerance))
    return number("absolute tolerance", s.absoluteTolerance);
  if (s.maxIterations < 0) return number("limit of iterations", s.maxIterations);
  if (restarts && s.restart < 1)
    return "dimension of the Krylov space: found " + std::to_string(s.restart) + "; allowed: at least 1";
  return "";
}

}  // namespace

Record* recordOf(HYPRE_Solver solver) {
  const auto found = records().find(solver);
  return found == records().end() ? nullptr : &found->second;
}

void keepRecord(HYPRE_Solver solver, const char* family) {
  notDestroyed(solver);
  auto& record = records()[solver];
  forget(record);
  record = Record();
  record.family = family;
}

bool dropRecord(HYPRE_Solver solver) {
  Record* const record = recordOf(solver);
  if (record == nullptr) return true;
  if (record->works) return false;
  forget(*record);
  records().erase(solver);
  destroyed().insert(solver);
  return true;
}

bool isDestroyed(HYPRE_Solver solver) { return destroyed().count(solver) > 0; }
void notDestroyed(const void* solver) { destroyed().erase(solver); }

void forget(Record& record) {
  capstan_destroy(&record.solver);
  for (auto* vector : {&record.in, &record.out}) {
    if (*vector != nullptr) HYPRE_IJVectorDestroy(*vector);
    *vector = nullptr;
  }
  record.text.clear();
  record.diagonal = false;
}

HYPRE_Int failed(HYPRE_Int error) {
  hypre_error(error);
  return HYPRE_GetError();
}
HYPRE_Int wrongArgument(int number) {
  hypre_error_in_arg(number);
  return HYPRE_GetError();
}

/// The limits that each family but BiCGSTAB tells.
#define CAPSTAN_READ(x)                                    \
  HYPRE_##x##GetTol(solver, &s.tolerance);                 \
  HYPRE_##x##GetAbsoluteTol(solver, &s.absoluteTolerance); \
  HYPRE_##x##GetMaxIter(solver, &s.maxIterations);         \
  HYPRE_##x##GetConvergenceFactorTol(solver, &factor)
#define CAPSTAN_READ_GMRES(x)             \
  CAPSTAN_READ(x);                        \
  HYPRE_##x##GetKDim(solver, &s.restart); \
  HYPRE_##x##GetMinIter(solver, &least);  \
  restarts = true

Settings settingsOf(HYPRE_Solver solver, const Record& record) {
  Settings s;
  HYPRE_Int least = 0, relativeChange = 0, criterion = 0, twoNorm = 1;
  HYPRE_Real factor = 0, change = 0, absoluteFactor = 0;
  bool restarts = false;
  if (record.family == "PCG") {
    CAPSTAN_READ(PCG);
    HYPRE_PCGGetTwoNorm(solver, &twoNorm);
    HYPRE_PCGGetRelChange(solver, &relativeChange);
    HYPRE_PCGGetStopCrit(solver, &criterion);
    HYPRE_PCGGetResidualTol(solver, &change);
    HYPRE_PCGGetAbsoluteTolFactor(solver, &absoluteFactor);
  } else if (record.family == "GMRES") {
    CAPSTAN_READ_GMRES(GMRES);
    HYPRE_GMRESGetRelChange(solver, &relativeChange);
    HYPRE_GMRESGetStopCrit(solver, &criterion);
  } else if (record.family == "FlexGMRES") {
    CAPSTAN_READ_GMRES(FlexGMRES);
  } else if (record.family == "LGMRES") {
    CAPSTAN_READ_GMRES(LGMRES);
  } else if (record.family == "COGMRES") {
    CAPSTAN_READ_GMRES(COGMRES);
  } else {
    s.tolerance = record.tolerance;
    s.absoluteTolerance = record.absoluteTolerance;
    s.maxIterations = record.maxIterations;
    factor = record.factor;
    least = record.minIterations;
    criterion = record.criterion;
  }
  s.energy = twoNorm == 0 && record.preconditioner.function != nullptr;
  if (least > 0) s.unlike = "a least number of iterations is asked for";
  if (relativeChange != 0) s.unlike = "the relative change decides, too";
  if (criterion != 0) s.unlike = "the stop criterion is another one";
  if (factor > 0) s.unlike = "the convergence factor decides, too";
  if (change > 0) s.unlike = "the change of the residual decides, too";
  if (absoluteFactor > 0) s.unlike = "the absolute tolerance is a factor";
  if (record.modifies) s.unlike = "a function changes the preconditioner";
  s.wrong = wrongOf(s, restarts);
  return s;
}

HYPRE_ParVector residualVectorOf(HYPRE_Solver solver, const Record& record) {
  void* found = nullptr;
  if (record.family == "PCG") HYPRE_PCGGetResidual(solver, &found);
  if (record.family == "GMRES") HYPRE_GMRESGetResidual(solver, &found);
  if (record.family == "FlexGMRES") HYPRE_FlexGMRESGetResidual(solver, &found);
  if (record.family == "LGMRES") HYPRE_LGMRESGetResidual(solver, &found);
  if (record.family == "COGMRES") HYPRE_COGMRESGetResidual(solver, &found);
  if (record.family == "BiCGSTAB") HYPRE_BiCGSTABGetResidual(solver, &found);
  return static_cast<HYPRE_ParVector>(found);
}

}  // namespace capstan::hypre
