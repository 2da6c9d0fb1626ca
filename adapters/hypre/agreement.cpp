#include "adapters/hypre/agreement.hpp"

#include <algorithm>
#include <array>
#include <functional>

namespace capstan::hypre {
namespace {

bool fits(HYPRE_ParVector vector, long long rows) {
  if (vector == nullptr || hypre_ParVectorLocalVector(vector) == nullptr) return false;
  const auto* const local = hypre_ParVectorLocalVector(vector);
  return hypre_VectorSize(local) == rows && (rows == 0 || hypre_VectorData(local) != nullptr);
}
bool isZero(HYPRE_ParVector vector) {
  const auto* const local = hypre_ParVectorLocalVector(vector);
  const double* const entries = hypre_VectorData(local);
  return std::all_of(entries, entries + hypre_VectorSize(local), [](double entry) { return entry == 0; });
}
bool hasColumns(HYPRE_ParVector vector) { return hypre_VectorNumVectors(hypre_ParVectorLocalVector(vector)) != 1; }

/// What this rank finds.
Verdict verdictOf(const Settings& settings, const Call& call, HYPRE_ParVector residual) {
  if (call.a == nullptr || !rowsOf(call.a).square) return Verdict::Matrix;
  const auto rows = rowsOf(call.a).count();
  if (!fits(call.b, rows)) return Verdict::RightHandSide;
  if (!fits(call.x, rows)) return Verdict::Solution;
  if (!fits(residual, rows)) return Verdict::Order;
  if (!settings.wrong.empty()) return Verdict::Settings;
  if (!settings.unlike.empty() || hasColumns(call.b) || hasColumns(call.x)) return Verdict::ToHypre;
  return Verdict::Fine;
}

/// The same number for what is to be the same on all ranks.
int numberOf(const Settings& settings, const std::string& text) {
  std::string all = text + '|' + settings.wrong + '|' + settings.unlike;
  for (const double value : {settings.tolerance, settings.absoluteTolerance, double(settings.maxIterations)})
    all += '|' + std::to_string(std::hash<double>()(value));
  return static_cast<int>(std::hash<std::string>()(all));
}

std::string reasonOf(Verdict verdict, const Settings& settings) {
  switch (verdict) {
    case Verdict::Fine:
      return "";
    case Verdict::ToHypre:
      return settings.unlike.empty() ? "the vectors have several columns" : settings.unlike;
    case Verdict::Settings:
      return settings.wrong;
    case Verdict::Order:
      return "Setup comes first, for a matrix of this size";
    case Verdict::Matrix:
      return "the matrix is NULL or not square";
    case Verdict::RightHandSide:
      return "the right-hand side is NULL, not initialized or of another size than the matrix";
    case Verdict::Solution:
      return "the solution is NULL, not initialized or of another size than the matrix";
    case Verdict::Differ:
      break;
  }
  return "tolerances, limits or the preconditioner differ between the ranks";
}

}  // namespace

Rows rowsOf(HYPRE_ParCSRMatrix a) {
  Rows rows;
  HYPRE_BigInt firstColumn = 0, lastColumn = 0;
  HYPRE_ParCSRMatrixGetLocalRange(a, &rows.first, &rows.last, &firstColumn, &lastColumn);
  rows.square = rows.first == firstColumn && rows.last == lastColumn;
  return rows;
}

MPI_Comm commOf(const Call& call, HYPRE_ParVector residual) {
  MPI_Comm comm = MPI_COMM_NULL;
  if (call.a != nullptr) {
    HYPRE_ParCSRMatrixGetComm(call.a, &comm);
  } else if (residual != nullptr) {
    comm = hypre_ParVectorComm(residual);
  }
  return comm;
}

Agreed agree(MPI_Comm comm, const Record& record, const Settings& settings, const std::string& text, const Call& call,
             HYPRE_ParVector residual) {
  const auto mine = verdictOf(settings, call, residual);
  const bool has = record.preconditioner.function != nullptr;
  const bool same = record.solver != nullptr && record.text == text && record.comm == comm && call.a != nullptr &&
                    record.rows == rowsOf(call.a).count() && record.hasPreconditioner == has;
  const int number = numberOf(settings, text + (has ? "|M" : ""));
  const bool zero = mine == Verdict::Fine && isZero(call.b);
  std::array<int, 5> most{static_cast<int>(mine), same ? 0 : 1, number, -1 - number, zero ? 0 : 1};
  MPI_Allreduce(MPI_IN_PLACE, most.data(), 5, MPI_INT, MPI_MAX, comm);
  const auto verdict = most[2] == -1 - most[3] ? static_cast<Verdict>(most[0]) : Verdict::Differ;
  const bool isArgument = verdict >= Verdict::Matrix && verdict <= Verdict::Solution;
  return {verdict, most[1] != 0, most[4] == 0,
          isArgument ? static_cast<int>(verdict) - static_cast<int>(Verdict::Matrix) + 2 : 0,
          reasonOf(verdict, settings)};
}

}  // namespace capstan::hypre
