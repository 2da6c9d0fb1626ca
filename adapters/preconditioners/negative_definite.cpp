#include "adapters/preconditioners/negative_definite.hpp"

#include <Teuchos_CommHelpers.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_Vector.hpp>
#include <cmath>
#include <string>

namespace capstan::preconditioning {
namespace {

void adapt(Teuchos::ParameterList& list) {
  for (const std::string user : {"chebyshev", "sa"}) {
    const std::string scaling = user + ": use rowsumabs diagonal scaling", bound = user + ": max eigenvalue";
    if (list.isType<bool>(scaling) && list.get<bool>(scaling) && list.isType<double>(bound)) {
      list.set(bound, -std::abs(list.get<double>(bound)));
    }
  }
  if (list.isParameter("relaxation: use l1")) list.set("relaxation: use l1", false);
  for (const auto& entry : list) {
    if (entry.second.isList()) adapt(list.sublist(entry.first));
  }
}

}  // namespace

bool negativeTrace(const Matrix& A) {
  Tpetra::Vector<double> diagonal(A.getRowMap());
  A.getLocalDiagCopy(diagonal);
  double local = 0.0;
  for (const double entry : diagonal.getData(0)) local += entry;
  double sum = 0.0;
  Teuchos::reduceAll(*A.getComm(), Teuchos::REDUCE_SUM, local, Teuchos::outArg(sum));
  return sum < 0.0;
}

Teuchos::ParameterList forNegativeDefinite(Teuchos::ParameterList list) {
  adapt(list);
  return list;
}

}  // namespace capstan::preconditioning
