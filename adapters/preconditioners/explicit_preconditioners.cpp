#include "adapters/preconditioners/explicit_preconditioners.hpp"

#include <Teuchos_StandardParameterEntryValidators.hpp>
#include <stdexcept>

namespace capstan::preconditioning {
namespace {

constexpr const char* polynomialName = "polynomial";
constexpr const char* inverseName = "approximate_inverse";
constexpr const char* degreeKey = "polynomial: degree";
constexpr const char* ratioKey = "polynomial: ratio eigenvalue";
constexpr const char* entriesKey = "approximate inverse: row entries";

}  // namespace

bool isExplicit(const std::string& name) { return name == polynomialName || name == inverseName; }

Teuchos::RCP<const Teuchos::ParameterList> explicitParameters(const std::string& name) {
  using Teuchos::rcp;
  using Whole = Teuchos::EnhancedNumberValidator<int>;
  const auto list = rcp(new Teuchos::ParameterList);
  if (name == polynomialName) {
    list->set(degreeKey, 3, "products with A in an application", rcp(new Whole(1, 32)));
    list->set(ratioKey, 30.0, "largest eigenvalue over the smallest one that is damped",
              rcp(new Teuchos::EnhancedNumberValidator<double>(1.1, 1e6)));
  } else if (name == inverseName) {
    list->set(entriesKey, 50, "entries of a row of A below the diagonal that are used, the largest ones",
              rcp(new Whole(0, 1000)));
  } else {
    throw std::invalid_argument("'" + name + "' is no explicit preconditioner");
  }
  return list;
}

Teuchos::RCP<Operator> makeExplicit(const std::string& name, const Teuchos::RCP<const Matrix>& A,
                                    const Teuchos::ParameterList& own) {
  Teuchos::ParameterList list = own;
  list.validateParametersAndSetDefaults(*explicitParameters(name));
  if (name == polynomialName) return polynomial(A, list.get<int>(degreeKey), list.get<double>(ratioKey));
  return approximateInverse(A, list.get<int>(entriesKey));
}

}  // namespace capstan::preconditioning
