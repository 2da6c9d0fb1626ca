// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <stdexcept>

#include "adapters/driver/choices.hpp"
#include "belos_ext/parameters/method_traits.hpp"

namespace capstan::driver {
namespace {

// Later ones count.
Settings together(Settings settings, const Settings& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

// A correction of the pressure resembles that of the step before. Measured on five tutorials of OpenFOAM: two vectors
// save as much with multigrid, more than three save more with DIC only.
Settings ofEarlierSolves() { return {{"Initial_Guess", std::string("projection 3")}}; }

}  // namespace

Plan makePlan(const Wishes& wishes) {
  Plan plan;
  const bool named = !wishes.method.empty();
  // BiCGStab rather than GMRES: at the loose tolerances of transport equations GMRES, which makes the residual least,
  // leaves larger errors where values are small (squareBend: nut off by 1.3, 0.07 with BiCGStab, by fewer iterations).
  plan.solver.method = named ? wishes.method : wishes.symmetric ? "capstan_cg" : "capstan_bicgstab";
  const MethodTraits* const known = findMethod(plan.solver.method);
  const bool needsSymmetric = known != nullptr && known->needsSymmetric;
  if (needsSymmetric && !wishes.symmetric) {
    throw std::invalid_argument(
        fmt::format("method: found '{}', but the matrix is asymmetric; take a method for any matrix, such as "
                    "capstan_sstep_gmres",
                    plan.solver.method));
  }
  plan.preconditioner = wishes.preconditioner.value_or(wishes.plain);
  const Settings guessing =
      wishes.symmetric && wishes.recurs ? together(ofEarlierSolves(), wishes.settings) : wishes.settings;
  // With a guess the same residual hides four times the error under GMRES (damBreak's p), but where M is close to A.
  const bool guesses = needsSymmetric || (plan.preconditioner.cycle && known != nullptr);
  plan.solver.settings = guesses ? guessing : wishes.settings;
  if (!named) {
    // Applications test residuals, and GMRES makes them least: with multigrid it takes fewer cycles than conjugate
    // gradients (perf/results, openfoam). The user's own settings come later and count.
    plan.ofCycles =
        SolverChoice{"capstan_gmres", together({{"Flexible_Gmres", true}, {"Num_Blocks", cyclesKept}}, guessing)};
  }
  if (!wishes.preconditioner) {
    plan.multigrid = wishes.multigrid;
    plan.multigridFirst = wishes.multigridFirst;
  }
  plan.safeSolver = {wishes.symmetric ? "capstan_cg" : "capstan_sstep_gmres", {}};
  plan.safePreconditioner = wishes.plain;
  plan.matrixUpdate = wishes.matrixUpdate;
  plan.preconditionerUpdate = wishes.preconditionerUpdate;
  plan.verify = wishes.verify;
  return plan;
}

}  // namespace capstan::driver
