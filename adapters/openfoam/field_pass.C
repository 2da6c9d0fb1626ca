// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <array>
#include <cmath>

#include "adapters/openfoam/cell_sums.hpp"
#include "adapters/openfoam/field_solve.H"
#include "adapters/openfoam/foam_compat.H"
#include "adapters/openfoam/rung_actions.H"
#include "adapters/openfoam/solve_recorder.hpp"

namespace capstan::foam {

// One call of the Krylov solver, for a correction d of psi: A d = r, so that the rounding of psi itself, which no
// method can undo, is no part of what is judged; OpenFOAM's own solvers leave it out too. psi and the norms change only
// where the residual gets smaller, in the 2-norm where iterations are used up.
FieldSolve::Ending FieldSolve::pass(const Rung& rung, double target, Foam::label limit, Foam::scalarField& psi) {
  const bool assembles = !rung.preconditioner.native && rung.preconditioner.assembled.name != "none";
  const auto* assembledOne = assembles ? assembled(rung) : nullptr;
  if (assembles && assembledOne == nullptr) return Ending::Failed;
  const bool hasOwn = RungActions::takes(rung.preconditioner);
  const bool orders = RungActions::orders(rung.preconditioner);
  if (orders && ordered_ == nullptr) ordered_ = context_->ordered(system_);
  // OpenFOAM's preconditioner has the sign of A, and most methods take them as they are.
  const double sign = hasOwn && !orders && context_->solver().takesNegativeDefinite(rung.solver) ? 1 : sign_;
  RungActions acting(self_, system_, component_, sign, rung.preconditioner, ordered_.get(), splits_,
                     controls_.verify ? &context_->label() : nullptr);
  const bool one = context_->solver().judgesByOneNorm(rung.solver);
  // ||r||_1 <= sqrt(n) ||r||_2 always; what the last solve ended with is less.
  const double bound = std::sqrt(cells_);
  const double spread = context_->spread > 0 && cost_.passes == 0 ? std::min(bound, 1.1 * context_->spread) : bound;
  const double tolerance = one ? target / norms_.one : std::min(0.9, 0.99 * target / (spread * norms_.two));
  correction_.setSize(psi.size());
  // A guess is no solution yet: its residual may be small where its error is smooth.
  const int least = asInt(std::max<Foam::label>(limits_.minIter, 1) - cost_.iterations);
  if (sign < 0) residual_.negate();
  const auto result =
      context_->solver().solve(rung.solver, tolerance, asInt(limit - cost_.iterations),
                               {acting.actions(), system_.matrix.symmetric(), hasOwn, assembledOne, residual_.cdata(),
                                correction_.data(), series(), least, SolveRecorder::wanted()});
  if (sign < 0) residual_.negate();
  count(result);
  if (one) return takeJudged(result, limit, psi);
  const Ending ending = takeComputed(target, limit, psi);
  return ending == Ending::Again ? pass(rung, target, limit, psi) : ending;
}

void FieldSolve::count(const SolveResult& result) {
  cost_.iterations += result.iterations;
  cost_.hasReductions = result.counted && (cost_.passes == 0 || cost_.hasReductions);
  cost_.reductions += result.reductions;
  cost_.applications += result.applications;
  cost_.products += result.products;
  cost_.times += result.times;
  ++cost_.passes;
  guessed_ += result.guessDigits;
  for (const auto& step : result.steps) warn(step);
}

FieldSolve::Ending FieldSolve::takeJudged(const SolveResult& result, Foam::label limit, Foam::scalarField& psi) {
  if (!std::isfinite(result.attained) || !(result.attained <= 1)) {
    return cost_.iterations < limit ? Ending::Failed : endAtLimit(imageOfCorrection(), psi);
  }
  psi += correction_;
  stale_ = true;
  norms_.one *= result.attained;
  cost_.atRounding = result.atRounding;
  if (result.converged || result.atRounding) return Ending::Done;
  return cost_.iterations >= limit ? Ending::Limit : Ending::Failed;
}

FieldSolve::Ending FieldSolve::takeComputed(double target, Foam::label limit, Foam::scalarField& psi) {
  const Norms before = norms_;
  const auto image = imageOfCorrection();
  auto sums = sumsOverCells<2>(residual_.size(), [&](Foam::label cell, auto& sum) {
    const double rest = residual_[cell] - image[cell];
    sum[0] += std::abs(rest);
    sum[1] += rest * rest;
  });
  sumOverRanks(sums, comm_);
  ++cost_.checks;
  const Norms after{sums[0], std::sqrt(sums[1])};
  if (!after.finite() || !(after.one <= before.one)) {
    return cost_.iterations < limit ? Ending::Failed : endAtLimit(image, psi);
  }
  residual_ -= image;
  psi += correction_;
  norms_ = after;
  if (norms_.two > 0) context_->spread = norms_.one / norms_.two;
  if (norms_.one <= target) return Ending::Done;
  if (cost_.iterations >= limit) return Ending::Limit;
  // Less than a tenth gained: another pass would gain no more.
  return norms_.one > 0.9 * before.one ? Ending::Failed : Ending::Again;
}

Foam::solveScalarField FieldSolve::imageOfCorrection() {
  Foam::solveScalarField image(residual_.size());
  system_.matrix.Amul(image, correction_, system_.interfaceBouCoeffs, system_.interfaces, component_);
  ++cost_.products;
  return image;
}

FieldSolve::Ending FieldSolve::endAtLimit(const Foam::solveScalarField& image, Foam::scalarField& psi) {
  wentPartOfTheWay_ = goPartOfTheWay(image, psi);
  leftAsItWas_ = !wentPartOfTheWay_;
  return Ending::Limit;
}

// The residual of conjugate gradients may grow for many iterations while the error falls, and where maxIter is low,
// each solve may end there: to go back would leave the field as it is for the whole run. The least 2-norm of r - t A d
// is at t = (r, A d) / (A d, A d), as residual smoothing has it [Zhou and Walker 1994]. That norm cannot grow by it;
// OpenFOAM's may, where the residual spreads over the cells.
bool FieldSolve::goPartOfTheWay(const Foam::solveScalarField& image, Foam::scalarField& psi) {
  auto dots = sumsOverCells<2>(residual_.size(), [&](Foam::label cell, auto& sum) {
    sum[0] += residual_[cell] * image[cell];
    sum[1] += image[cell] * image[cell];
  });
  sumOverRanks(dots, comm_);
  ++cost_.checks;
  const double step = dots[0] / dots[1];
  if (!std::isfinite(step) || !(step > 0)) return false;
  auto sums = sumsOverCells<2>(residual_.size(), [&](Foam::label cell, auto& sum) {
    const double rest = residual_[cell] - step * image[cell];
    residual_[cell] = rest;
    sum[0] += std::abs(rest);
    sum[1] += rest * rest;
  });
  sumOverRanks(sums, comm_);
  ++cost_.checks;
  psi += step * correction_;
  norms_ = {sums[0], std::sqrt(sums[1])};
  return true;
}

}  // namespace capstan::foam
