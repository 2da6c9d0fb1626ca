// SPDX-License-Identifier: GPL-3.0-or-later
#include "adapters/openfoam/rung_actions.H"

namespace capstan::foam {

RungActions::RungActions(const Foam::lduMatrix::solver& self, FieldContext& context, const LduSystem& system,
                         Foam::direction component, double sign, const PreconditionerControls& preconditioner,
                         bool verify)
    : native_(system, component, sign) {
  if (!takes(preconditioner)) return;
  const bool orders = OrderedSystem::knows(preconditioner.name);
  if (auto* const parts = orders ? context.ordered(system) : nullptr) {
    ordered_.emplace(*parts, system, component, sign, preconditioner.name);
  }
  const bool verifies = orders && verify;
  if (!ordered_ || verifies) {
    own_ = Foam::lduMatrix::preconditioner::New(self, preconditioner.controls);
    native_.use(own_.get());
  }
  if (verifies) verifyActions(actions(), native_, system.matrix.diag().size(), context.label());
}

}  // namespace capstan::foam
