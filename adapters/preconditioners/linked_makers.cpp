// In place of opened_makers.cpp where Trilinos is static: a library of its own would hold another one.
#include "adapters/preconditioners/makers.hpp"

namespace capstan::preconditioning {

const Makers& makers() { return linkedMakers(); }

}  // namespace capstan::preconditioning
