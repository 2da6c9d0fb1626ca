#include "adapters/hypre/solve.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <new>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "adapters/hypre/agreement.hpp"

#pragma weak HYPRE_ParCSRDiagScale

namespace capstan::hypre {
namespace {

HYPRE_ParVector vectorOf(HYPRE_IJVector vector) {
  void* object = nullptr;
  HYPRE_IJVectorGetObject(vector, &object);
  return static_cast<HYPRE_ParVector>(object);
}

/// The entries of a vector lie elsewhere for as long as this lives: nothing is copied.
class Lent {
 public:
  Lent(HYPRE_ParVector vector, double* entries) : at_(hypre_ParVectorLocalVector(vector)), own_(hypre_VectorData(at_)) {
    hypre_VectorData(at_) = entries;
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  ~Lent() { hypre_VectorData(at_) = own_; }

 private:
  hypre_Vector* at_;
  double* own_;
};

/// y = A x or M^-1 x. Returns 0, or hypre's error.
int act(Record& record, bool product, const double* x, double* y) {
  const HYPRE_ParVector in = vectorOf(record.in), out = vectorOf(record.out);
  const Lent lentIn(in, const_cast<double*>(x)), lentOut(out, y);  // hypre has no vectors that are const
  if (product) return static_cast<int>(HYPRE_ParCSRMatrixMatvec(1.0, record.matrix, in, 0.0, out));
  HYPRE_ParVectorSetConstantValues(out, 0.0);
  const auto& [function, own, matrix] = record.used;
  const HYPRE_Int failure = function(own, matrix != nullptr ? matrix : reinterpret_cast<HYPRE_Matrix>(record.matrix),
                                     reinterpret_cast<HYPRE_Vector>(in), reinterpret_cast<HYPRE_Vector>(out));
  // A preconditioner that stops at a limit of its own says so: that is what it is to do.
  HYPRE_ClearError(HYPRE_ERROR_CONV);
  return static_cast<int>(failure & ~HYPRE_ERROR_CONV);
}
int multiply(void* record, const double* x, double* y) { return act(*static_cast<Record*>(record), true, x, y); }
int precondition(void* record, const double* r, double* z) { return act(*static_cast<Record*>(record), false, r, z); }

/// (r, M^-1 r), this rank's part.
int energyPart(void* context, const double* r, double* part) {
  auto& record = *static_cast<Record*>(context);
  double* const z = dataOf(vectorOf(record.out));
  const int failure = act(record, false, r, z);
  *part = std::inner_product(r, r + record.rows, z, 0.0);
  return failure;
}

/// Says on one rank what happens, once for each reason.
void tell(MPI_Comm comm, const std::string& text) {
  static auto* const told = new std::set<std::string>;
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (told->insert(text).second && rank == 0) std::fprintf(stderr, "Capstan: %s\n", text.c_str());
}

/// Asked before each solve: what is found out is kept.
bool takes(const std::string& method, const std::string& parameter) {
  static auto* const known = new std::map<std::pair<std::string, std::string>, bool>;
  const auto [at, isNew] = known->emplace(std::pair(method, parameter), false);
  if (!isNew) return at->second;
  capstan_row row{};
  row.size = sizeof row;
  for (int i = 0; capstan_parameter_row(method.c_str(), i, &row) == CAPSTAN_SUCCESS; ++i) {
    if (parameter == row.name) at->second = true;
  }
  return at->second;
}

std::string textOf(const std::string& method, const Record& record, const Settings& settings) {
  std::string parameters =
      std::string("Residual Scaling: ") + (settings.energy ? "None" : "Norm of RHS") + ", Verbosity: 0";
  if (record.family == "FlexGMRES" && takes(method, "Flexible Gmres")) parameters += ", Flexible Gmres: yes";
  if (settings.restart > 0 && takes(method, "Num Blocks"))
    parameters += ", Num Blocks: " + std::to_string(settings.restart);
  return "{method: " + method + ", parameters: {" + parameters + "}}";
}

HYPRE_IJVector workVector(MPI_Comm comm, const Rows& rows) {
  HYPRE_IJVector vector = nullptr;
  HYPRE_IJVectorCreate(comm, rows.first, rows.last, &vector);
  HYPRE_IJVectorSetObjectType(vector, HYPRE_PARCSR);
  HYPRE_IJVectorInitialize(vector);
  HYPRE_IJVectorAssemble(vector);
  return vector;
}

/// Returns the status of the last call of Capstan's.
int makeSolver(Record& record, const std::string& text, bool energy, MPI_Comm comm, const Rows& rows) {
  const bool has = record.preconditioner.function != nullptr;
  // Who asks for GMRES has not said that A is symmetric: what chooses a method is not to take CG.
  const bool general = record.family != "PCG" && text.find("{method: capstan_auto,") == 0;
  forget(record);
  int status = capstan_create(comm, text.c_str(), &record.solver);
  if (status == CAPSTAN_SUCCESS) status = capstan_set_operator(record.solver, rows.count(), multiply, &record);
  if (status == CAPSTAN_SUCCESS && general) status = capstan_set_symmetric(record.solver, 0);
  if (status == CAPSTAN_SUCCESS && has) status = capstan_set_preconditioner(record.solver, precondition, &record);
  if (status == CAPSTAN_SUCCESS && energy) status = capstan_set_norm(record.solver, energyPart, 2, &record);
  if (status != CAPSTAN_SUCCESS) return status;
  record.in = workVector(comm, rows);
  record.out = workVector(comm, rows);
  record.text = text;
  record.comm = comm;
  record.rows = rows.count();
  record.hasPreconditioner = has;
  return CAPSTAN_SUCCESS;
}

/// sqrt((b, M^-1 b)), as hypre measures residuals over it; 0 where that is not positive.
double energyOf(Record& record, HYPRE_ParVector b) {
  double sum = 0;
  int failure = 1;
  try {
    failure = energyPart(&record, dataOf(b), &sum);
  } catch (...) {  // a function in C++ of the application
  }
  if (failure != 0) sum = std::numeric_limits<double>::quiet_NaN();
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, record.comm);
  return sum > 0 ? std::sqrt(sum) : 0;
}

/// || A x ||: that of the first residual where b is zero.
double productNorm(const Record& record, HYPRE_ParVector x) {
  const HYPRE_ParVector out = vectorOf(record.out);
  double sum = 0;
  HYPRE_ParCSRMatrixMatvec(1.0, record.matrix, x, 0.0, out);
  HYPRE_ParVectorInnerProd(out, out, &sum);
  return std::sqrt(sum);
}

/// What hypre returns for such an end.
HYPRE_Int errorOf(const capstan_outcome& outcome, const Settings& settings) {
  if (outcome.converged != 0) return 0;
  if (outcome.reason == CAPSTAN_NON_FINITE) return HYPRE_ERROR_GENERIC;
  // Without a tolerance, a number of iterations is all that was asked for.
  const bool asked = outcome.reason == CAPSTAN_MAX_ITERATIONS || outcome.reason == CAPSTAN_MAX_RESTARTS ||
                     outcome.reason == CAPSTAN_STAGNATION || outcome.reason == CAPSTAN_ATTAINABLE_ACCURACY;
  const bool judged = settings.tolerance > 0 || settings.absoluteTolerance > 0;
  return asked && !judged ? 0 : HYPRE_ERROR_CONV;
}

/// The getters answer for a solve that has not begun.
void noOutcome(Record& record) {
  record.bySolve = true;
  record.outcome = capstan_outcome{};
  record.outcome.size = sizeof record.outcome;
  record.outcome.residual = std::numeric_limits<double>::infinity();
}

/// Returns hypre's error. \param zero b is: hypre's PCG has a solution of zero then, and its other solvers measure
/// residuals over the first one
HYPRE_Int solveByCapstan(Record& record, const Settings& settings, bool zero, HYPRE_ParVector b, HYPRE_ParVector x) {
  double tolerance = settings.tolerance, absolute = settings.absoluteTolerance, scale = 1;
  if (zero && record.family == "PCG") {
    HYPRE_ParVectorSetConstantValues(x, 0.0);
    record.outcome.residual = 0;
    record.outcome.converged = 1;
    return 0;
  }
  if (settings.energy) scale = energyOf(record, b);
  if (settings.energy || zero) {
    tolerance = std::max(tolerance * (zero ? productNorm(record, x) : scale), absolute);
    absolute = 0;
  }
  // A rank that is refused solves, too: the others, who may not be, find that it differs.
  const int told = capstan_set_limits(record.solver, tolerance, absolute, settings.maxIterations);
  // Null in a process without hypre, as mpiexec, into which the library is preloaded as well.
  const auto diagonal = reinterpret_cast<HYPRE_PtrToSolverFcn>(&HYPRE_ParCSRDiagScale);
  if ((diagonal != nullptr && record.used.function == diagonal) != record.diagonal) {
    record.diagonal = !record.diagonal;
    capstan_set_diagonal(record.solver, record.diagonal ? 1 : 0);
  }
  int status = capstan_solve(record.solver, dataOf(b), dataOf(x), &record.outcome);
  if (status == CAPSTAN_SUCCESS) status = told;
  if (scale > 0) record.outcome.residual /= scale;
  if (status == CAPSTAN_SUCCESS) return errorOf(record.outcome, settings);
  tell(record.comm, capstan_error_text(record.solver));
  return HYPRE_ERROR_GENERIC;
}

/// The same, while the record says so, and with hypre's flags apart: one that was set before is no failure of a
/// preconditioner. Returns all flags.
HYPRE_Int workOn(Record& record, const Settings& settings, bool zero, const Call& call, HYPRE_ParVector residual) {
  const HYPRE_Int before = HYPRE_GetError();
  HYPRE_ClearAllErrors();
  struct Works {
    explicit Works(bool& flag) : flag_(flag) { flag_ = true; }
    ~Works() { flag_ = false; }
    bool& flag_;
  } const works(record.works);
  record.used = record.preconditioner;
  record.matrix = call.a;
  const HYPRE_Int error = solveByCapstan(record, settings, zero, call.b, call.x);
  HYPRE_ParVectorCopy(call.b, residual);  // HYPRE_xGetResidual() hands it out
  HYPRE_ParCSRMatrixMatvec(-1.0, call.a, call.x, 1.0, residual);
  if (before != 0) hypre_error(before);
  return error != 0 ? failed(error) : HYPRE_GetError();
}

std::string nameOf(const Record& record) {
  std::string name = "hypre_" + record.family;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

/// \param method of Capstan's
HYPRE_Int solveRedirected(HYPRE_Solver solver, Record& record, const std::string& method, const Call& call,
                          const std::function<HYPRE_Int()>& own) {
  const std::string name = nameOf(record);
  const Settings settings = settingsOf(solver, record);
  const HYPRE_ParVector residual = residualVectorOf(solver, record);
  const std::string text = textOf(method, record, settings);
  noOutcome(record);
  const MPI_Comm comm = commOf(call, residual);
  if (comm == MPI_COMM_NULL) return wrongArgument(2);
  const Agreed agreed = agree(comm, record, settings, text, call, residual);
  if (agreed.verdict == Verdict::ToHypre) {
    record.bySolve = false;
    tell(comm, name + " is left to hypre: " + agreed.reason);
    return own();
  }
  if (agreed.verdict != Verdict::Fine) {
    tell(comm, name + ": " + agreed.reason);
    return agreed.argument > 0 ? wrongArgument(agreed.argument) : failed(HYPRE_ERROR_GENERIC);
  }
  if (agreed.isNew && makeSolver(record, text, settings.energy, comm, rowsOf(call.a)) != CAPSTAN_SUCCESS) {
    record.bySolve = false;
    tell(comm, name + " is left to hypre: " + capstan_error_text(record.solver));
    return own();
  }
  return workOn(record, settings, agreed.zero, call, residual);
}

}  // namespace

HYPRE_Int solve(HYPRE_Solver solver, const char* family, HYPRE_ParCSRMatrix a, HYPRE_ParVector b, HYPRE_ParVector x,
                const std::function<HYPRE_Int()>& own) {
  if (solver == nullptr) return wrongArgument(1);
  Record* const record = recordOf(solver);
  if (record == nullptr) return isDestroyed(solver) ? wrongArgument(1) : own();  // of another interface of hypre
  if (record->family != family) return wrongArgument(1);
  if (record->works) {
    tell(record->comm, nameOf(*record) + ": a preconditioner cannot solve by the solver that it serves");
    return failed(HYPRE_ERROR_GENERIC);
  }
  record->bySolve = false;
  const char* method = nullptr;
  if (capstan_redirected(nameOf(*record).c_str(), &method) != CAPSTAN_SUCCESS) {
    MPI_Comm comm = MPI_COMM_WORLD;
    if (a != nullptr) HYPRE_ParCSRMatrixGetComm(a, &comm);
    tell(comm, nameOf(*record) + " is left to hypre: " + capstan_error_text(nullptr));
    return own();
  }
  if (method == nullptr) return own();
  try {
    return solveRedirected(solver, *record, method, {a, b, x}, own);
  } catch (const std::bad_alloc&) {
    return failed(HYPRE_ERROR_MEMORY);
  }
}

}  // namespace capstan::hypre
