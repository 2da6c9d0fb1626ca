// SPDX-License-Identifier: GPL-3.0-or-later
#include "adapters/openfoam/field_actions.H"

namespace capstan::foam {

FieldActions::FieldActions(const Foam::lduMatrix::solver& self, const LduSystem& system, Foam::direction component,
                           double sign, const std::string& name, const Foam::dictionary* preconditioner,
                           OrderedParts* ordered, bool splits, const std::string* verifiedAs)
    : native_(system, component, sign) {
  if (preconditioner == nullptr) return;
  const bool orders = OrderedSystem::knows(name);
  if (ordered != nullptr && orders && (splits || ordered->suits())) {
    ordered_.emplace(*ordered, system, component, sign, name, splits);
  }
  const bool verifies = orders && verifiedAs != nullptr;
  if (!ordered_ || verifies) {
    own_ = Foam::lduMatrix::preconditioner::New(self, *preconditioner);
    native_.use(own_.get());
  }
  if (verifies) verifyActions(get(), native_, system.matrix.diag().size(), *verifiedAs);
}

}  // namespace capstan::foam
