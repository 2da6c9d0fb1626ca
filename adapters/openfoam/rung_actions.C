// SPDX-License-Identifier: GPL-3.0-or-later
#include "adapters/openfoam/rung_actions.H"

namespace capstan::foam {

RungActions::RungActions(const Foam::lduMatrix::solver& self, const LduSystem& system, Foam::direction component,
                         double sign, const PreconditionerControls& preconditioner, OrderedParts* ordered, bool splits,
                         const std::string* verifiedAs)
    : native_(system, component, sign) {
  if (!takes(preconditioner)) return;
  if (ordered != nullptr && orders(preconditioner) && (splits || ordered->suits())) {
    ordered_.emplace(*ordered, system, component, sign, preconditioner.name, splits);
  }
  const bool verifies = orders(preconditioner) && verifiedAs != nullptr;
  if (!ordered_ || verifies) {
    own_ = Foam::lduMatrix::preconditioner::New(self, preconditioner.controls);
    native_.use(own_.get());
  }
  if (verifies) verifyActions(actions(), native_, system.matrix.diag().size(), *verifiedAs);
}

}  // namespace capstan::foam
