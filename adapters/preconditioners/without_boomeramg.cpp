// In place of boomeramg.cpp where the build has no hypre.
#include <stdexcept>

#include "adapters/preconditioners/boomeramg.hpp"

namespace capstan::preconditioning {

bool hasBoomerAmg() { return false; }

std::string whyNoBoomerAmg(const Matrix& /*A*/) { return howToGetBoomerAmg(); }

Teuchos::RCP<Operator> makeBoomerAmg(const Teuchos::RCP<const Matrix>& /*A*/, const Teuchos::ParameterList& /*own*/) {
  throw std::runtime_error(howToGetBoomerAmg());
}

}  // namespace capstan::preconditioning
