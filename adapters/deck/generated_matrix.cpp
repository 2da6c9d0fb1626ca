#include "adapters/deck/generated_matrix.hpp"

#include <Tpetra_CrsMatrix.hpp>
#include <vector>

#include "tpetra_ext/compat/trilinos.hpp"

namespace capstan::deck {

Teuchos::RCP<Matrix> buildMatrix(const GeneratorOptions& options, const Teuchos::RCP<const Communicator>& comm) {
  const GeneratedMatrix problem = generate(withDefaults(options));
  const auto map = Teuchos::rcp(new const Map(static_cast<Tpetra::global_size_t>(problem.rows), 0, comm));
  auto matrix = Teuchos::rcp(new Matrix(map, static_cast<std::size_t>(problem.entriesInRow)));
  MatrixRow row;
  std::vector<Matrix::global_ordinal_type> columns;
  for (const Matrix::global_ordinal_type i : compat::localElementList(*map)) {
    row.columns.clear();
    row.values.clear();
    problem.row(i, row);
    columns.assign(row.columns.begin(), row.columns.end());
    matrix->insertGlobalValues(i, Teuchos::arrayViewFromVector(columns), Teuchos::arrayViewFromVector(row.values));
  }
  matrix->fillComplete();
  return matrix;
}

}  // namespace capstan::deck
