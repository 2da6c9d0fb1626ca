#include <Teuchos_CommHelpers.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_Vector.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "adapters/preconditioners/explicit_preconditioners.hpp"
#include "tpetra_ext/compat/local_views.hpp"
#include "tpetra_ext/compat/trilinos.hpp"
#include "tpetra_ext/operators/explicit_preconditioner.hpp"

namespace capstan::preconditioning {
namespace {

using Types = DefaultTypes;

/// max_i sum_j |a_ij / d_i| over this rank's rows; infinite where that is no number.
double boundHere(const Matrix& A, const Types::Vector& inverse) {
  const auto matrix = compat::hostMatrix(A);
  const auto scale = compat::hostView(inverse, Tpetra::Access::ReadOnly);
  double here = 0;
  for (std::size_t i = 0; i < compat::localNumRows(A); ++i) {
    double sum = 0;
    for (auto k = matrix->graph.row_map(i); k < matrix->graph.row_map(i + 1); ++k) {
      sum += std::abs(matrix->values(k) * (*scale)(i, 0));
    }
    here = std::isfinite(sum) ? std::max(here, sum) : std::numeric_limits<double>::infinity();
  }
  return here;
}

/// The same over all ranks. Collective.
double boundOf(const Matrix& A, const Types::Vector& inverse) {
  const double here = boundHere(A, inverse);
  double all = 0;
  Teuchos::reduceAll<int, double>(*A.getComm(), Teuchos::REDUCE_MAX, 1, &here, &all);
  return all;
}

/// The roots of Chebyshev's polynomial on [low, high], each one as far from those before it as can be: products of
/// (1 - lambda / theta) then neither grow nor cancel on the way.
std::vector<double> rootsInLejasOrder(int count, double low, double high) {
  const double pi = std::acos(-1.0);
  std::vector<double> left, ordered;
  for (int k = 0; k < count; ++k) {
    left.push_back((high + low) / 2 + (high - low) / 2 * std::cos(pi * (2 * k + 1) / (2.0 * count)));
  }
  while (!left.empty()) {
    const auto distance = [&ordered](double theta) {
      double logarithm = ordered.empty() ? theta : 0;
      for (const double other : ordered) logarithm += std::log(std::abs(theta - other));
      return logarithm;
    };
    const auto next = std::max_element(left.begin(), left.end(),
                                       [&distance](double a, double b) { return distance(a) < distance(b); });
    ordered.push_back(*next);
    left.erase(next);
  }
  return ordered;
}

}  // namespace

Teuchos::RCP<Operator> polynomial(const Teuchos::RCP<const Matrix>& A, int degree, double ratio) {
  const auto inverse = Teuchos::rcp(new Types::Vector(A->getRowMap()));
  A->getLocalDiagCopy(*inverse);
  inverse->reciprocal(*inverse);
  const double bound = boundOf(*A, *inverse);
  if (!std::isfinite(bound)) {
    throw std::runtime_error("a zero on the diagonal, or a number that is not finite in the matrix");
  }
  // All rows may be empty, on a map of no rows: any interval does.
  const double high = bound > 0 ? bound : 1;
  const auto roots = rootsInLejasOrder(degree + 1, high / ratio, high);
  const auto scaled = Teuchos::rcp(new Matrix(*A, Teuchos::Copy));
  scaled->leftScale(*inverse);
  std::vector<ExplicitStage<Types>> stages;
  for (std::size_t k = 1; k < roots.size(); ++k) stages.push_back({scaled, -1 / roots[k], 1, 1 / roots[k]});
  return Teuchos::rcp(
      new ExplicitPreconditioner<Types>("polynomial", A->getRowMap(), inverse, 1 / roots.front(), std::move(stages)));
}

}  // namespace capstan::preconditioning
