#include "adapters/preconditioners/boomeramg.hpp"

#include <_hypre_parcsr_ls.h>  // HYPRE_BoomerAMGGetCycleRelaxType, which the public header lacks
#include <fmt/format.h>

#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_MultiVector.hpp>
#include <Tpetra_Vector.hpp>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "adapters/preconditioners/hypre_objects.hpp"
#include "belos_ext/support/shared_text.hpp"
#include "tpetra_ext/compat/local_views.hpp"
#include "tpetra_ext/compat/trilinos.hpp"

namespace capstan::preconditioning {
namespace {

constexpr HYPRE_Int directSolution = 9;  // Gaussian elimination, as a "relaxation" of the coarsest level

/// What is wrong with this rank's rows; empty: nothing.
std::string complaintOf(const Matrix& A) {
  const auto matrix = compat::hostMatrix(A);
  const auto& rowMap = *A.getRowMap();
  const auto& columnMap = *A.getColMap();
  for (std::size_t i = 0; i < compat::localNumRows(A); ++i) {
    const auto row = rowMap.getGlobalElement(static_cast<int>(i));
    bool diagonal = false;
    for (auto k = matrix->graph.row_map(i); k < matrix->graph.row_map(i + 1); ++k) {
      const double value = matrix->values(k);
      if (!std::isfinite(value)) return fmt::format("row {} of the matrix has a number that is not finite", row);
      diagonal = diagonal || (value != 0 && columnMap.getGlobalElement(matrix->graph.entries(k)) == row);
    }
    if (!diagonal) return fmt::format("row {} of the matrix has no diagonal entry, or zero there", row);
  }
  return "";
}

class BoomerAmg final : public Operator {
 public:
  BoomerAmg(const Matrix& A, const BoomerAmgSettings& settings)
      : map_(A.getDomainMap()),
        matrix_(A),
        b_(matrix_),
        x_(matrix_),
        buffer_(static_cast<std::size_t>(matrix_.localRows())),
        solver_(newBoomerAmg(settings)) {
    HYPRE_BoomerAMGSetup(solver_, matrix_.get(), b_.get(), x_.get());
    mendCoarsestLevel(solver_, settings);
    try {
      requireNoHypreError("BoomerAMG", *A.getComm());
    } catch (...) {
      HYPRE_BoomerAMGDestroy(solver_);
      throw;
    }
  }

  ~BoomerAmg() override {
    if (hypreCanFree()) HYPRE_BoomerAMGDestroy(solver_);
  }
  BoomerAmg(const BoomerAmg&) = delete;
  BoomerAmg& operator=(const BoomerAmg&) = delete;

  Teuchos::RCP<const Map> getDomainMap() const override { return map_; }
  Teuchos::RCP<const Map> getRangeMap() const override { return map_; }
  bool hasTransposeApply() const override { return false; }
  std::string description() const override { return "BoomerAMG of hypre"; }

  void apply(const MultiVector& x, MultiVector& y, Teuchos::ETransp mode, double alpha, double beta) const override {
    if (mode != Teuchos::NO_TRANS) throw std::invalid_argument("BoomerAMG has no transpose");
    if (x.getNumVectors() != y.getNumVectors()) throw std::invalid_argument("BoomerAMG: x and y differ in columns");
    for (std::size_t j = 0; j < x.getNumVectors(); ++j) {
      if (x.isConstantStride() && y.isConstantStride()) {
        applyTo(x, y, j, alpha, beta);
      } else {
        const auto from = x.getVector(j);
        const auto to = y.getVectorNonConst(j);
        applyTo(*from, *to, 0, alpha, beta);
      }
    }
  }

 private:
  /// One column. x and y may be the same vector.
  void applyTo(const MultiVector& x, MultiVector& y, std::size_t column, double alpha, double beta) const {
    if (!buffer_.empty()) {
      const auto from = compat::hostView(x, Tpetra::Access::ReadOnly);
      b_.set(&(*from)(0, column));
    }
    x_.setZero();
    HYPRE_BoomerAMGSolve(solver_, matrix_.get(), b_.get(), x_.get());
    const std::string error = takeHypreError();
    if (!error.empty()) throw std::runtime_error("BoomerAMG: " + error);
    if (buffer_.empty()) return;
    x_.get(buffer_.data());
    const auto held = compat::hostView(y, Tpetra::Access::ReadWrite);
    const auto& to = *held;
    for (std::size_t i = 0; i < buffer_.size(); ++i) {
      to(i, column) = beta == 0 ? alpha * buffer_[i] : beta * to(i, column) + alpha * buffer_[i];
    }
  }

  Teuchos::RCP<const Map> map_;
  HypreMatrix matrix_;
  mutable HypreVector b_, x_;
  mutable std::vector<double> buffer_;
  HYPRE_Solver solver_;
};

}  // namespace

bool hasBoomerAmg() { return true; }

std::string whyNoBoomerAmg(const Matrix& A) {
  if (!A.getRowMap()->isSameAs(*A.getDomainMap()) || !A.getRowMap()->isSameAs(*A.getRangeMap())) {
    return "the maps of rows, domain and range differ";
  }
  if (A.getGlobalNumRows() == 0) return "the matrix has no rows";
  return firstComplaint(complaintOf(A), *A.getComm());
}

HYPRE_Solver newBoomerAmg(const BoomerAmgSettings& settings) {
  const bool direct = settings.coarse == BoomerAmgSettings::Coarse::Direct;
  startHypre();
  HYPRE_Solver solver = nullptr;
  HYPRE_BoomerAMGCreate(&solver);
  HYPRE_BoomerAMGSetPrintLevel(solver, 0);
  HYPRE_BoomerAMGSetLogging(solver, 0);
  HYPRE_BoomerAMGSetMaxIter(solver, 1);
  HYPRE_BoomerAMGSetTol(solver, 0.0);  // no residual norm
  HYPRE_BoomerAMGSetStrongThreshold(solver, settings.strongThreshold);
  HYPRE_BoomerAMGSetCoarsenType(solver, settings.coarsening);
  HYPRE_BoomerAMGSetInterpType(solver, settings.interpolation);
  HYPRE_BoomerAMGSetPMaxElmts(solver, settings.interpolationEntries);
  HYPRE_BoomerAMGSetTruncFactor(solver, settings.truncation);
  HYPRE_BoomerAMGSetAggNumLevels(solver, settings.aggressiveLevels);
  HYPRE_BoomerAMGSetMaxLevels(solver, settings.levels);
  HYPRE_BoomerAMGSetMaxCoarseSize(solver, settings.coarseRows);
  HYPRE_BoomerAMGSetRelaxOrder(solver, 0);  // by rows, not by coarse and fine points: symmetric
  HYPRE_BoomerAMGSetNumSweeps(solver, settings.sweeps);
  HYPRE_BoomerAMGSetRelaxType(solver, settings.relaxCoarse);  // where there is one level only, too
  HYPRE_BoomerAMGSetCycleRelaxType(solver, settings.relaxDown, 1);
  HYPRE_BoomerAMGSetCycleRelaxType(solver, settings.relaxUp, 2);
  HYPRE_BoomerAMGSetCycleRelaxType(solver, direct ? directSolution : settings.relaxCoarse, 3);
  HYPRE_BoomerAMGSetCycleNumSweeps(solver, direct ? 1 : settings.coarseSweeps, 3);
  return solver;
}

void mendCoarsestLevel(HYPRE_Solver solver, const BoomerAmgSettings& settings) {
  HYPRE_Int type = 0;
  HYPRE_BoomerAMGGetCycleRelaxType(solver, &type, 3);
  if (type == directSolution || type == settings.relaxCoarse) return;
  HYPRE_BoomerAMGSetCycleRelaxType(solver, settings.relaxCoarse, 3);
}

Teuchos::RCP<Operator> makeBoomerAmg(const Teuchos::RCP<const Matrix>& A, const Teuchos::ParameterList& own) {
  const std::string refusal = whyNoBoomerAmg(*A);
  if (!refusal.empty()) throw std::runtime_error(refusal);
  const BoomerAmgSettings settings = boomerAmgSettings(own, *A);
  return Teuchos::rcp(new BoomerAmg(*A, settings));
}

}  // namespace capstan::preconditioning
