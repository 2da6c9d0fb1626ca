// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <Teuchos_ParameterList.hpp>
#include <algorithm>
#include <stdexcept>

#include "adapters/driver/choices.hpp"
#include "belos_ext/choice/arm.hpp"

namespace capstan::driver {
namespace {

// Iterations whose vectors GMRES atop multigrid keeps, two an iteration. It restarts after so many.
constexpr int cyclesKept = 30;

// Later ones count.
Settings together(Settings settings, const Settings& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

// A correction of the pressure resembles that of the step before. Measured on five tutorials of OpenFOAM: two vectors
// save as much with multigrid, more than three save more with DIC only.
Settings ofEarlierSolves() { return {{"Initial_Guess", std::string("projection 3")}}; }

// Of CAPSTAN alone: no method that it chooses takes it.
bool isOfChoice(const ParameterRow* row) {
  return row != nullptr && std::none_of(methods().begin(), methods().end(),
                                        [row](const MethodTraits& method) { return row->appliesTo(method); });
}

// What CAPSTAN is told, of which each method gets what it takes.
class Given {
 public:
  explicit Given(const Settings& settings)
      : parameters_(parametersOf(choosingMethod(), settings)), valid_(parameters_.valid()) {}

  const Parameters& parameters() const { return parameters_; }
  const ParameterRow* row(const Setting& setting) const { return findParameter(canonicalName(setting.name, &*valid_)); }

  Settings of(const MethodTraits& method, const Settings& settings) const {
    Settings taken;
    for (const Setting& setting : settings) {
      const ParameterRow* const known = row(setting);
      if (known != nullptr && known->appliesTo(method)) taken.push_back(setting);
    }
    return taken;
  }
  Settings ofChoice(const Settings& settings) const {
    Settings taken;
    for (const Setting& setting : settings) {
      if (isOfChoice(row(setting))) taken.push_back(setting);
    }
    return taken;
  }

 private:
  Parameters parameters_;
  Teuchos::RCP<const Teuchos::ParameterList> valid_;
};

// The methods that are tried where none was named. Applications test residuals at loose tolerances: what makes them
// least ends sooner, with larger errors where values are small. So BiCGStab and not GMRES (squareBend: nut off by 1.3,
// 0.07 with BiCGStab, by fewer iterations), and CG but not conjugate residuals.
bool isTried(const MethodTraits& method, bool symmetric) {
  if (method.is(Trait::LeastResidual)) return false;
  return symmetric ? method.family == Family::ConjugateGradients : method.family == Family::BiCgStab;
}

Way makeWay(std::string method, Settings settings, std::size_t preconditioner) {
  return {{std::move(method), std::move(settings)}, preconditioner, {}};
}

// With the host's multigrid, which is not linear: flexible GMRES makes the residual least, and takes fewer cycles than
// conjugate gradients (perf/results, openfoam), which keep less and never restart.
void addWaysOfCycles(const Wishes& wishes, const Settings& guessing, std::size_t preconditioner, Plan& plan) {
  const Given given(guessing);
  const auto add = [&](const char* name, const Settings& own) {
    plan.ways.push_back(makeWay(name, together(own, given.of(methodOf(name), guessing)), preconditioner));
  };
  add("capstan_gmres", {{"Flexible_Gmres", true}, {"Num_Blocks", cyclesKept}});
  if (wishes.symmetric) add("capstan_cg", {});
}

void addWays(const Wishes& wishes, const Settings& guessing, std::size_t preconditioner, Plan& plan) {
  const Given given(wishes.settings);
  for (const Arm& arm : armsFor(given.parameters(), wishes.symmetric ? Symmetry::Likely : Symmetry::None)) {
    const MethodTraits& method = *arm.method;
    if (!isTried(method, wishes.symmetric)) continue;
    Settings settings = given.of(method, method.needsSymmetric ? guessing : wishes.settings);
    for (const auto& [key, value] : arm.parameters) settings.push_back({key, value});
    plan.ways.push_back({{method.alias, settings}, preconditioner, arm.parameters});
  }
}

void addNamedWay(const Wishes& wishes, const Settings& guessing, std::size_t preconditioner, Plan& plan) {
  const MethodTraits* const known = findMethod(wishes.method);
  const bool needsSymmetric = known != nullptr && known->needsSymmetric;
  if (needsSymmetric && !wishes.symmetric) {
    throw std::invalid_argument(
        fmt::format("method: found '{}', but the matrix is asymmetric; take a method for any matrix, such as "
                    "capstan_sstep_gmres",
                    wishes.method));
  }
  // With a guess the same residual hides four times the error under GMRES (damBreak's p), but where M is close to A.
  const bool guesses = needsSymmetric || (plan.preconditioners[preconditioner].cycle && known != nullptr);
  plan.ways.push_back(makeWay(wishes.method, guesses ? guessing : wishes.settings, preconditioner));
}

}  // namespace

Plan makePlan(const Wishes& wishes) {
  Plan plan;
  const bool chooses = wishes.method.empty() || findMethod(wishes.method) == &choosingMethod();
  if (wishes.preconditioner) {
    plan.preconditioners = {*wishes.preconditioner};
  } else if (wishes.multigridFirst) {
    plan.preconditioners = {wishes.multigrid, wishes.plain};
  } else {
    plan.preconditioners = {wishes.plain, wishes.multigrid};
  }
  if (chooses && wishes.solver.solves) plan.preconditioners.push_back(wishes.solver);
  plan.named = wishes.preconditioner.has_value();
  plan.limitsCycles = !wishes.preconditioner && wishes.multigridFirst;
  const Settings guessing =
      wishes.symmetric && wishes.recurs ? together(ofEarlierSolves(), wishes.settings) : wishes.settings;
  if (chooses) plan.choice = Given(wishes.settings).ofChoice(wishes.settings);
  for (std::size_t p = 0; p < plan.preconditioners.size(); ++p) {
    if (plan.preconditioners[p].solves) {
      // It begins: what is solved in a sweep or two stays with it.
      plan.ways.insert(plan.ways.begin(), makeWay(plan.preconditioners[p].name, {}, p));
    } else if (!chooses) {
      addNamedWay(wishes, guessing, p, plan);
    } else if (plan.preconditioners[p].cycle) {
      addWaysOfCycles(wishes, guessing, p, plan);
    } else {
      addWays(wishes, guessing, p, plan);
    }
  }
  plan.safeSolver = {wishes.symmetric ? "capstan_cg" : "capstan_sstep_gmres", {}};
  plan.safePreconditioner = wishes.plain;
  plan.matrixUpdate = wishes.matrixUpdate;
  plan.preconditionerUpdate = wishes.preconditionerUpdate;
  plan.verify = wishes.verify;
  return plan;
}

}  // namespace capstan::driver
