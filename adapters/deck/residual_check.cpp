#include "adapters/deck/residual_check.hpp"

#include <Tpetra_CrsMatrix.hpp>
#include <cmath>
#include <vector>

#include "belos_ext/support/nearest_match.hpp"

namespace capstan::deck {
namespace {

/// How far the residual computed here may exceed the tolerance of a solver that tests another norm.
constexpr double agreement = 10.0;

/// Of each column, the 2-norm or the 1-norm.
std::vector<double> norms(const MultiVector& x, bool one) {
  std::vector<double> result(x.getNumVectors());
  const auto view = Teuchos::arrayViewFromVector(result);
  if (one) {
    x.norm1(view);
  } else {
    x.norm2(view);
  }
  return result;
}

/// The word of SolveRecord::scaledBy for one of Belos' names of a scaling.
std::string scaledBy(const std::string& scaling, bool left) {
  const std::string word = normalizedName(scaling);
  if (word == "none") return "nothing";
  if (word == "norm of rhs") return "right-hand side";
  if (word == "user provided") return "a number of the user";
  // A preconditioner on the right makes no other residual.
  return left && word == "norm of preconditioned initial residual" ? "preconditioned initial residual"
                                                                   : "initial residual";
}

/// What the residual norm of each column is divided by.
std::vector<double> scales(const MultiVector& b, const MultiVector& initial, const Teuchos::RCP<const Operator>& left,
                           const SolveRecord& record, bool one) {
  if (record.scaledBy == "initial residual") return norms(initial, one);
  if (record.scaledBy == "right-hand side") return norms(b, one);
  std::vector<double> scales(b.getNumVectors(), 1.0);
  if (record.scaledBy == "preconditioned initial residual") {
    MultiVector preconditioned(initial, Teuchos::Copy);
    if (!left.is_null()) left->apply(initial, preconditioned);
    return norms(preconditioned, one);
  }
  if (record.scaledBy == "a number of the user" && record.report) {
    for (std::size_t column = 0; column < scales.size(); ++column) {
      scales[column] = record.report->rightHandSides[column].scale;
    }
  }
  return scales;
}

}  // namespace

MultiVector residual(const Matrix& A, const MultiVector& x, const MultiVector& b) {
  MultiVector r(b, Teuchos::Copy);
  A.apply(x, r, Teuchos::NO_TRANS, -1.0, 1.0);
  return r;
}

std::string scalingOf(const Teuchos::ParameterList& parameters, bool left) {
  std::string both, implicit, explicitly;
  for (const auto& entry : parameters) {
    if (!entry.second.isType<std::string>()) continue;
    const std::string key = normalizedName(entry.first);
    const std::string& word = Teuchos::getValue<std::string>(entry.second);
    if (key == "residual scaling") both = word;
    if (key == "implicit residual scaling") implicit = word;
    if (key == "explicit residual scaling") explicitly = word;
  }
  return scaledBy(!explicitly.empty() ? explicitly : !both.empty() ? both : left ? "" : implicit, left);
}

void judge(const Matrix& A, const MultiVector& x, const MultiVector& b, const MultiVector& initial,
           const Teuchos::RCP<const Operator>& left, SolveRecord& record) {
  if (record.report) record.scaledBy = scaledBy(record.report->scaling, !left.is_null());
  const bool one = record.report && record.report->norm.rfind("1-norm", 0) == 0;
  const auto residuals = norms(residual(A, x, b), one);
  const auto scale = scales(b, initial, left, record, one);
  for (std::size_t column = 0; column < residuals.size(); ++column) {
    // Nothing to reduce: only a residual of nothing will do.
    const double divisor = scale[column] > 0.0 ? scale[column] : 1.0;
    const double relative = residuals[column] == 0.0 ? 0.0 : residuals[column] / divisor;
    record.relativeResidual =
        std::isnan(relative) || relative > record.relativeResidual ? relative : record.relativeResidual;
    if (std::isnan(relative)) break;
  }
  const double asked = record.report ? record.report->tolerance : record.tolerance;
  record.converged = record.claimed && record.relativeResidual <= agreement * asked;
}

}  // namespace capstan::deck
