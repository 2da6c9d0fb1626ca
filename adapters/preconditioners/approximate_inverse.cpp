#include <Teuchos_LAPACK.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_Import.hpp>
#include <Tpetra_RowMatrixTransposer.hpp>
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "adapters/preconditioners/explicit_preconditioners.hpp"
#include "adapters/preconditioners/negative_definite.hpp"
#include "tpetra_ext/compat/local_views.hpp"
#include "tpetra_ext/compat/trilinos.hpp"
#include "tpetra_ext/operators/explicit_preconditioner.hpp"

namespace capstan::preconditioning {
namespace {

using Types = DefaultTypes;
using GlobalOrdinal = Types::GlobalOrdinal;

/// One row of G: its columns, the diagonal last, and values.
struct Row {
  std::vector<GlobalOrdinal> columns;
  std::vector<double> values;
};

/// The rows of A that this rank's rows of G are made of: those of its column map.
class Neighbourhood {
 public:
  /// Collective: an import of rows. \param sign of A, by which its values are multiplied
  Neighbourhood(const Teuchos::RCP<const Matrix>& A, double sign) : a_(A), sign_(sign) {
    const auto importer = A->getGraph()->getImporter();
    if (importer.is_null()) {
      rows_ = A;
    } else {
      Teuchos::RCP<Matrix> rows;
      A->importAndFillComplete(rows, *importer, A->getDomainMap(), A->getColMap());
      rows_ = rows;
    }
  }

  /// The row of G for local row i of A, on the `most` largest entries of its lower part.
  Row rowOfG(std::size_t i, int most) {
    const auto matrix = compat::hostMatrix(*a_);
    const auto global = compat::localElementList(*a_->getColMap());
    const GlobalOrdinal row = a_->getRowMap()->getGlobalElement(static_cast<int>(i));
    std::vector<std::pair<double, GlobalOrdinal>> lower;
    double diagonal = 0;
    for (auto k = matrix->graph.row_map(i); k < matrix->graph.row_map(i + 1); ++k) {
      const GlobalOrdinal column = global[matrix->graph.entries(k)];
      if (column < row) lower.emplace_back(std::abs(matrix->values(k)), column);
      if (column == row) diagonal += sign_ * matrix->values(k);
    }
    std::sort(lower.begin(), lower.end(), [](const auto& x, const auto& y) { return x.first > y.first; });
    if (lower.size() > static_cast<std::size_t>(most)) lower.resize(static_cast<std::size_t>(most));
    Row g;
    for (const auto& entry : lower) g.columns.push_back(entry.second);
    std::sort(g.columns.begin(), g.columns.end());
    g.columns.push_back(row);
    if (solve(g)) return g;
    const double jacobi = std::sqrt(std::abs(diagonal));
    return {{row}, {std::isfinite(jacobi) && jacobi > 0 ? 1 / jacobi : 1.0}};
  }

 private:
  /// A(P, P) y = e_last, g = y / sqrt(y_last) on the columns P of g. False where A(P, P) is not positive definite.
  bool solve(Row& g) {
    const std::size_t n = g.columns.size();
    block_.assign(n * n, 0);
    const auto matrix = compat::hostMatrix(*rows_);
    const auto global = compat::localElementList(*rows_->getColMap());
    for (std::size_t j = 0; j < n; ++j) {
      const auto local = static_cast<std::size_t>(rows_->getRowMap()->getLocalElement(g.columns[j]));
      for (auto k = matrix->graph.row_map(local); k < matrix->graph.row_map(local + 1); ++k) {
        const GlobalOrdinal column = global[matrix->graph.entries(k)];
        const auto at = std::lower_bound(g.columns.begin(), g.columns.end(), column);
        if (at == g.columns.end() || *at != column) continue;
        block_[static_cast<std::size_t>(at - g.columns.begin()) * n + j] += sign_ * matrix->values(k);
      }
    }
    g.values.assign(n, 0);
    g.values.back() = 1;
    int info = 0;
    lapack_.POSV('L', static_cast<int>(n), 1, block_.data(), static_cast<int>(n), g.values.data(), static_cast<int>(n),
                 &info);
    const double last = g.values.back();
    if (info != 0 || !(last > 0)) return false;
    for (double& value : g.values) value /= std::sqrt(last);
    return std::all_of(g.values.begin(), g.values.end(), [](double value) { return std::isfinite(value); });
  }

  Teuchos::RCP<const Matrix> a_, rows_;
  double sign_;
  Teuchos::LAPACK<int, double> lapack_;
  std::vector<double> block_;
};

}  // namespace

Teuchos::RCP<Operator> approximateInverse(const Teuchos::RCP<const Matrix>& A, int rowEntries) {
  const double sign = negativeTrace(*A) ? -1 : 1;
  Neighbourhood neighbourhood(A, sign);
  const auto widest =
      std::min<std::size_t>(compat::localMaxNumRowEntries(*A), static_cast<std::size_t>(rowEntries)) + 1;
  const auto g = Teuchos::rcp(new Matrix(A->getRowMap(), widest));
  for (std::size_t i = 0; i < compat::localNumRows(*A); ++i) {
    const Row row = neighbourhood.rowOfG(i, rowEntries);
    using Count = Teuchos::ArrayView<const double>::size_type;
    const auto count = static_cast<Count>(row.columns.size());
    g->insertGlobalValues(A->getRowMap()->getGlobalElement(static_cast<int>(i)),
                          Teuchos::ArrayView<const GlobalOrdinal>(row.columns.data(), count),
                          Teuchos::ArrayView<const double>(row.values.data(), count));
  }
  g->fillComplete(A->getDomainMap(), A->getRangeMap());
  Tpetra::RowMatrixTransposer<double, Types::LocalOrdinal, GlobalOrdinal, Types::Node> transposer(g);
  const Teuchos::RCP<const Matrix> transposed = transposer.createTranspose();
  return Teuchos::rcp(new ExplicitPreconditioner<Types>("approximate inverse", A->getRowMap(), Teuchos::null, 1,
                                                        {{g}, {transposed, sign, 0, 0}}));
}

}  // namespace capstan::preconditioning
