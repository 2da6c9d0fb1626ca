#include "adapters/preconditioners/negative_definite.hpp"

#include <Teuchos_CommHelpers.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_Vector.hpp>
#include <cmath>
#include <string>

#include "tpetra_ext/compat/local_views.hpp"

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

/// Of this rank.
double sumOf(const Tpetra::Vector<double>& v) {
  const auto values = compat::hostView(v, Tpetra::Access::ReadOnly);
  double sum = 0.0;
  for (std::size_t i = 0; i < values->extent(0); ++i) sum += (*values)(i, 0);
  return sum;
}

}  // namespace

bool negativeTrace(const Matrix& A) {
  Tpetra::Vector<double> diagonal(A.getRowMap());
  A.getLocalDiagCopy(diagonal);
  const double local = sumOf(diagonal);
  double sum = 0.0;
  Teuchos::reduceAll(*A.getComm(), Teuchos::REDUCE_SUM, local, Teuchos::outArg(sum));
  return sum < 0.0;
}

Teuchos::ParameterList forNegativeDefinite(Teuchos::ParameterList list) {
  adapt(list);
  return list;
}

}  // namespace capstan::preconditioning
