#include "adapters/stratimikos/solve_criteria.hpp"

#include <sstream>

namespace capstan::stratimikos {

namespace {

/// The word of "Residual Scaling" for a denominator, or nullptr.
const char* scalingOf(Thyra::ESolveMeasureNormType denominator) {
  switch (denominator) {
    case Thyra::SOLVE_MEASURE_ONE:
      return "None";
    case Thyra::SOLVE_MEASURE_NORM_RHS:
      return "Norm of RHS";
    case Thyra::SOLVE_MEASURE_NORM_INIT_RESIDUAL:
      return "Norm of Initial Residual";
    default:
      return nullptr;
  }
}

}  // namespace

std::string whyRefused(Thyra::EOpTransp transposed, const Thyra::SolveCriteria<double>* criteria) {
  if (Thyra::real_trans(transposed) != Thyra::NOTRANS) {
    return "Capstan does not solve with the transpose, as Stratimikos' Belos does not; give it the transposed operator "
           "(Thyra::transpose) instead";
  }
  if (criteria == nullptr || criteria->solveMeasureType.useDefault()) return "";
  const Thyra::SolveMeasureType& type = criteria->solveMeasureType;
  const bool ownNorm = !criteria->numeratorReductionFunc.is_null() || !criteria->denominatorReductionFunc.is_null();
  if (type.numerator == Thyra::SOLVE_MEASURE_NORM_RESIDUAL && scalingOf(type.denominator) != nullptr && !ownNorm) {
    return "";
  }
  std::ostringstream text;
  text << "Capstan does not take the solve measure " << type << (ownNorm ? " with a norm of the application's" : "")
       << "; it takes the 2-norm of the residual over that of the right-hand side (SOLVE_MEASURE_NORM_RHS), over that "
          "of the initial residual (SOLVE_MEASURE_NORM_INIT_RESIDUAL), and by itself (SOLVE_MEASURE_ONE)";
  return text.str();
}

Teuchos::ParameterList parametersOf(const Thyra::SolveCriteria<double>* criteria, bool changedByLeft) {
  Teuchos::ParameterList list;
  if (criteria == nullptr) return list;
  if (!criteria->extraParameters.is_null()) list.setParameters(*criteria->extraParameters);
  if (criteria->solveMeasureType.useDefault()) return list;
  if (criteria->requestedTol != Thyra::SolveCriteria<double>::unspecifiedTolerance()) {
    list.set("Convergence Tolerance", criteria->requestedTol);
  }
  const std::string scaling = scalingOf(criteria->solveMeasureType.denominator);
  list.set("Explicit Residual Scaling", scaling);
  // The residual of a left preconditioner is of another scale. It is measured against its own first one, as
  // Stratimikos' Belos does, and must meet the tolerance, too.
  list.set("Implicit Residual Scaling", changedByLeft ? "Norm of Preconditioned Initial Residual" : scaling);
  list.set("Residual Norm", "TwoNorm");
  return list;
}

}  // namespace capstan::stratimikos
