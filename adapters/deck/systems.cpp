#include "adapters/deck/systems.hpp"

#include <fmt/format.h>

#include <MatrixMarket_Tpetra.hpp>
#include <Teuchos_CommHelpers.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <algorithm>
#include <cmath>
#include <sstream>

#include "adapters/deck/matrix_files.hpp"
#include "adapters/driver/system_files.hpp"
#include "belos_ext/support/shared_text.hpp"
#include "tpetra_ext/compat/local_views.hpp"
#include "tpetra_ext/compat/trilinos.hpp"

namespace capstan::deck {
namespace {

using Reader = Tpetra::MatrixMarket::Reader<Matrix>;

constexpr double pi = 3.14159265358979323846;

/// Rank 0's failure, where there is one, as an error on every rank. Collective.
void throwShared(const std::string& failure, const Communicator& comm) {
  const std::string shared = sharedText(failure, 0, comm);
  if (!shared.empty()) throw InputError(shared);
}

/// Text of a Matrix Market file on rank 0 with its outline everywhere; an error on every rank. Collective.
std::string openFile(const std::string& path, MatrixFiles* files, const Communicator& comm, long long (&sizes)[3]) {
  std::string text;
  std::string failure;
  if (comm.getRank() == 0) {
    try {
      MatrixFile file = files != nullptr ? files->take(path) : readMatrixFile(path);
      sizes[0] = file.info.rows;
      sizes[1] = file.info.columns;
      sizes[2] = file.info.coordinate ? 1 : 0;
      text = plainMatrixMarket(std::move(file.text), file.info);
    } catch (const FileError& error) {
      failure = error.what();
    }
  }
  throwShared(failure, comm);
  Teuchos::broadcast(comm, 0, 3, sizes);
  return text;
}

}  // namespace

Teuchos::RCP<Matrix> readMatrix(const std::string& path, const Teuchos::RCP<const Communicator>& comm,
                                MatrixFiles* files) {
  long long sizes[3] = {0, 0, 0};
  std::istringstream text(openFile(path, files, *comm, sizes));
  if (sizes[2] == 0)
    throw InputError(fmt::format("{}: found a dense matrix; allowed: a sparse one (coordinate)", path));
  if (sizes[0] != sizes[1]) {
    throw InputError(
        fmt::format("{}: found {} rows and {} columns; allowed: a square matrix", path, sizes[0], sizes[1]));
  }
  try {
    return Reader::readSparse(text, comm);
  } catch (const std::exception& error) {
    throw InputError(fmt::format("{}: {}", path, error.what()));
  }
}

Teuchos::RCP<MultiVector> readVectors(const std::string& path, const Teuchos::RCP<const Map>& map, MatrixFiles* files) {
  const auto comm = map->getComm();
  long long sizes[3] = {0, 0, 0};
  std::istringstream text(openFile(path, files, *comm, sizes));
  if (sizes[2] != 0) throw InputError(fmt::format("{}: found a sparse matrix; allowed: a dense one (array)", path));
  const auto rows = static_cast<long long>(map->getGlobalNumElements());
  if (sizes[0] != rows) {
    throw InputError(fmt::format("{}: found {} rows; allowed: {}, as the matrix has", path, sizes[0], rows));
  }
  try {
    Teuchos::RCP<const Map> same = map;
    return Reader::readDense(text, comm, same);
  } catch (const std::exception& error) {
    throw InputError(fmt::format("{}: {}", path, error.what()));
  }
}

LinearSystem buildSystem(const SystemOptions& options, const Teuchos::RCP<const Communicator>& comm) {
  LinearSystem system;
  MatrixFiles* const files = options.files.get();
  system.A = options.generator ? buildMatrix(*options.generator, comm) : readMatrix(options.matrixFile, comm, files);
  system.A->setObjectLabel(options.name);  // what options given by problem label are addressed to
  const auto map = system.A->getRangeMap();
  if (options.rhs == RhsKind::File) {
    system.b = readVectors(options.rhsFile, map, files);
  } else {
    system.b = Teuchos::rcp(new MultiVector(map, 1));
    if (options.rhs == RhsKind::Random) {
      fillRandom(*system.b, options.seed);
    } else if (options.rhs == RhsKind::Ones) {
      system.b->putScalar(1.0);
    } else {
      MultiVector ones(system.A->getDomainMap(), 1);
      ones.putScalar(1.0);
      system.A->apply(ones, *system.b);
    }
  }
  if (options.guess == GuessKind::File) {
    system.guess = readVectors(options.guessFile, system.A->getDomainMap(), files);
    if (system.guess->getNumVectors() != system.b->getNumVectors()) {
      throw InputError(fmt::format("{}: found {} columns; allowed: {}, as the right-hand side has",
                                   options.guessPlace.text(), system.guess->getNumVectors(),
                                   system.b->getNumVectors()));
    }
  } else {
    system.guess = Teuchos::rcp(new MultiVector(system.A->getDomainMap(), system.b->getNumVectors()));
    if (options.guess == GuessKind::Random) fillRandom(*system.guess, options.seed + 1);
  }
  return system;
}

void writeSystem(const Matrix& A, const MultiVector& b, const MultiVector& x, const std::string& prefix) {
  const std::string failure =
      driver::writeMatrixMarket(A, prefix + "_A.mtx", {{b, prefix + "_b.mtx"}, {x, prefix + "_x.mtx"}});
  if (!failure.empty()) throw InputError(failure);
}

SystemSequence::SystemSequence(const SystemOptions& options, const Teuchos::RCP<const Communicator>& comm)
    : options_(options), system_(buildSystem(options, comm)) {
  const bool inTime = options_.sequence.timeStep > 0;
  if (!inTime && (size() == 1 || options_.sequence.change == 0.0)) return;
  if (inTime) requireDiagonal();
  A0_ = Teuchos::rcp(new Matrix(*system_.A, Teuchos::Copy));
  b0_ = Teuchos::rcp(new MultiVector(*system_.b, Teuchos::Copy));
  if (inTime) old_ = Teuchos::rcp(new MultiVector(*system_.guess, Teuchos::Copy));
}

/// Collective. \throws InputError on every rank.
void SystemSequence::requireDiagonal() const {
  const auto& A = *system_.A;
  long long missing = 0, missingAnywhere = 0;
  Matrix::nonconst_local_inds_host_view_type columns("columns", compat::localMaxNumRowEntries(A));
  Matrix::nonconst_values_host_view_type values("values", compat::localMaxNumRowEntries(A));
  for (int i = 0; i < static_cast<int>(compat::localNumRows(A)); ++i) {
    std::size_t count = 0;
    A.getLocalRowCopy(i, columns, values, count);
    const int diagonal = A.getColMap()->getLocalElement(A.getRowMap()->getGlobalElement(i));
    const int* const begin = columns.data();
    if (std::find(begin, begin + count, diagonal) == begin + count) ++missing;
  }
  Teuchos::reduceAll(*A.getComm(), Teuchos::REDUCE_SUM, missing, Teuchos::outArg(missingAnywhere));
  if (missingAnywhere == 0) return;
  throw InputError(
      fmt::format("{}: sequence.time_step: the matrix has no diagonal entry in {} rows; allowed: a matrix "
                  "with all of them",
                  options_.matrixPlace.text(), missingAnywhere));
}

double SystemSequence::scaling(long long row, int k) const {
  constexpr double period = 20.0;  // systems until a row's scaling comes back
  const auto rows = static_cast<double>(system_.A->getGlobalNumRows());
  return 1.0 + options_.sequence.change * std::sin(2.0 * pi * (static_cast<double>(row) / rows + k / period));
}

void SystemSequence::select(int k, const MultiVector& x) {
  if (A0_.is_null()) return;
  if (!old_.is_null() && k % options_.sequence.outerIterations == 0) {
    Tpetra::deep_copy(*old_, k == 0 ? *system_.guess : x);
  }
  selectMatrix(k);
  selectRightHandSide(k);
}

void SystemSequence::selectMatrix(int k) {
  auto& A = *system_.A;
  const auto& rowMap = *A.getRowMap();
  const auto& columnMap = *A.getColMap();
  const double timeStep = options_.sequence.timeStep;
  Matrix::nonconst_local_inds_host_view_type columns("columns", compat::localMaxNumRowEntries(A));
  Matrix::nonconst_values_host_view_type values("values", compat::localMaxNumRowEntries(A));
  A.resumeFill();
  for (int i = 0; i < static_cast<int>(compat::localNumRows(A)); ++i) {
    std::size_t count = 0;
    A0_->getLocalRowCopy(i, columns, values, count);
    const auto row = rowMap.getGlobalElement(i);
    const double rowScaling = scaling(row - rowMap.getIndexBase(), k);
    for (std::size_t e = 0; e < count; ++e) {
      const auto column = columnMap.getGlobalElement(columns(e));
      values(e) *= rowScaling * scaling(column - columnMap.getIndexBase(), k);
      if (timeStep > 0) values(e) = timeStep * values(e) + (column == row ? 1.0 : 0.0);
    }
    A.replaceLocalValues(i, Teuchos::ArrayView<const int>(columns.data(), static_cast<Teuchos::Ordinal>(count)),
                         Teuchos::ArrayView<const double>(values.data(), static_cast<Teuchos::Ordinal>(count)));
  }
  A.fillComplete(A.getDomainMap(), A.getRangeMap());
}

void SystemSequence::selectRightHandSide(int k) {
  const auto& map = *system_.b->getMap();
  for (std::size_t column = 0; column < b0_->getNumVectors(); ++column) {
    const auto source = b0_->getVector(column);
    const auto target = system_.b->getVectorNonConst(column);
    const auto from = compat::hostView(*source, Tpetra::Access::ReadOnly);
    const auto to = compat::hostView(*target, Tpetra::Access::OverwriteAll);
    for (std::size_t i = 0; i < from->extent(0); ++i) {
      (*to)(i, 0) = (*from)(i, 0) * scaling(map.getGlobalElement(static_cast<int>(i)) - map.getIndexBase(), k);
    }
  }
  if (!old_.is_null()) system_.b->update(1.0, *old_, options_.sequence.timeStep);
}

}  // namespace capstan::deck
