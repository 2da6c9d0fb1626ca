#include "adapters/preconditioners/hypre_objects.hpp"

#include <fmt/format.h>

#include <Teuchos_CommHelpers.hpp>
#include <Teuchos_DefaultMpiComm.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_Import.hpp>
#include <Tpetra_Vector.hpp>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "adapters/run_end/run_end.hpp"
#include "belos_ext/support/shared_text.hpp"
#include "tpetra_ext/compat/local_views.hpp"
#include "tpetra_ext/compat/trilinos.hpp"

namespace capstan::preconditioning {
namespace {

int liveObjects = 0;

MPI_Comm rawComm(const Communicator& comm) {
  const auto* mpi = dynamic_cast<const Teuchos::MpiComm<int>*>(&comm);
  if (mpi == nullptr) return MPI_COMM_SELF;
  return *mpi->getRawMpiComm();
}

}  // namespace

void startHypre() {
  static const bool started = [] {
    HYPRE_Init();
    atMpiFinalize([] {
      if (liveObjects == 0) HYPRE_Finalize();
    });
    return true;
  }();
  static_cast<void>(started);
}

bool hypreCanFree() {
  int ended = 0;
  MPI_Finalized(&ended);
  return ended == 0;
}

std::string takeHypreError() {
  const HYPRE_Int code = HYPRE_GetError();
  if (code == 0) return "";
  char text[512] = "";
  HYPRE_DescribeError(code, text);
  HYPRE_ClearAllErrors();
  return fmt::format("hypre's error {}: {}", code, text);
}

void requireNoHypreError(const std::string& what, const Communicator& comm) {
  const std::string error = firstComplaint(takeHypreError(), comm);
  if (!error.empty()) throw std::runtime_error(fmt::format("{}: {}", what, error));
}

HypreMatrix::HypreMatrix(const Matrix& A) : comm_(rawComm(*A.getComm())) {
  startHypre();
  HYPRE_ClearAllErrors();
  number(A);
  const HYPRE_BigInt last = first_ + rows_ - 1;
  HYPRE_IJMatrixCreate(comm_, first_, last, first_, last, &ij_);
  try {
    fill(A);
    requireNoHypreError("the matrix in hypre's form", *A.getComm());
  } catch (...) {
    HYPRE_IJMatrixDestroy(ij_);
    throw;
  }
  ++liveObjects;
}

HypreMatrix::~HypreMatrix() {
  if (!hypreCanFree()) return;
  HYPRE_IJMatrixDestroy(ij_);
  --liveObjects;
}

void HypreMatrix::number(const Matrix& A) {
  const long long most = std::numeric_limits<HYPRE_BigInt>::max();
  const auto all = static_cast<long long>(A.getGlobalNumRows());
  if (all > most) {
    throw std::runtime_error(
        fmt::format("{} rows; this hypre can number {} (it has other builds, with 64 bits)", all, most));
  }
  const long long mine = static_cast<long long>(compat::localNumRows(A));
  long long upTo = 0;
  Teuchos::scan<int, long long>(*A.getComm(), Teuchos::REDUCE_SUM, 1, &mine, &upTo);
  rows_ = static_cast<HYPRE_Int>(mine);
  first_ = static_cast<HYPRE_BigInt>(upTo - mine);
}

void HypreMatrix::fill(const Matrix& A) {
  // The new numbers of the columns, by way of A's own import: whole numbers up to 2^53 are exact.
  Tpetra::Vector<double> own(A.getDomainMap()), columns(A.getColMap());
  {
    const auto numbers = compat::hostView(own, Tpetra::Access::OverwriteAll);
    for (HYPRE_Int i = 0; i < rows_; ++i) (*numbers)(static_cast<std::size_t>(i), 0) = static_cast<double>(first_ + i);
  }
  const auto importer = A.getGraph()->getImporter();
  if (importer.is_null()) {
    Tpetra::deep_copy(columns, own);
  } else {
    columns.doImport(own, *importer, Tpetra::INSERT);
  }
  const auto numbers = compat::hostView(std::as_const(columns), Tpetra::Access::ReadOnly);
  const auto matrix = compat::hostMatrix(A);
  const auto count = static_cast<std::size_t>(rows_);
  std::vector<HYPRE_Int> lengths(count), here(count, 0), elsewhere(count, 0);
  std::vector<HYPRE_BigInt> rows(count), places(compat::localNumEntries(A));
  const auto last = static_cast<double>(first_) + static_cast<double>(rows_);
  for (std::size_t i = 0; i < count; ++i) {
    rows[i] = first_ + static_cast<HYPRE_BigInt>(i);
    lengths[i] = static_cast<HYPRE_Int>(matrix->graph.row_map(i + 1) - matrix->graph.row_map(i));
    for (auto k = matrix->graph.row_map(i); k < matrix->graph.row_map(i + 1); ++k) {
      const double column = (*numbers)(static_cast<std::size_t>(matrix->graph.entries(k)), 0);
      places[k] = static_cast<HYPRE_BigInt>(column);
      ++(column >= static_cast<double>(first_) && column < last ? here : elsewhere)[i];
    }
  }
  HYPRE_IJMatrixSetObjectType(ij_, HYPRE_PARCSR);
  HYPRE_IJMatrixSetDiagOffdSizes(ij_, here.data(), elsewhere.data());
  HYPRE_IJMatrixInitialize(ij_);
  HYPRE_IJMatrixSetValues(ij_, rows_, lengths.data(), rows.data(), places.data(), matrix->values.data());
  HYPRE_IJMatrixAssemble(ij_);
  void* object = nullptr;
  HYPRE_IJMatrixGetObject(ij_, &object);
  parcsr_ = static_cast<HYPRE_ParCSRMatrix>(object);
}

HypreVector::HypreVector(const HypreMatrix& like) : rows_(like.localRows()) {
  HYPRE_IJVectorCreate(like.comm(), like.firstRow(), like.firstRow() + rows_ - 1, &ij_);
  HYPRE_IJVectorSetObjectType(ij_, HYPRE_PARCSR);
  HYPRE_IJVectorInitialize(ij_);
  HYPRE_IJVectorAssemble(ij_);
  void* object = nullptr;
  HYPRE_IJVectorGetObject(ij_, &object);
  par_ = static_cast<HYPRE_ParVector>(object);
  ++liveObjects;
  setZero();
}

HypreVector::~HypreVector() {
  if (!hypreCanFree()) return;
  HYPRE_IJVectorDestroy(ij_);
  --liveObjects;
}

// Without indices: all local rows, in order.
void HypreVector::set(const double* values) { HYPRE_IJVectorSetValues(ij_, rows_, nullptr, values); }

void HypreVector::get(double* values) const { HYPRE_IJVectorGetValues(ij_, rows_, nullptr, values); }

void HypreVector::setZero() { HYPRE_ParVectorSetConstantValues(par_, 0.0); }

}  // namespace capstan::preconditioning
