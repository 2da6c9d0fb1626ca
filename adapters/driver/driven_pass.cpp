// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "adapters/driver/driven_solve.hpp"
#include "tpetra_ext/wall_clock.hpp"

namespace capstan::driver {

// One call of the Krylov solver, for a correction d.
DrivenSolve::Ending DrivenSolve::pass(const Attempt& attempt, double target, int limit) {
  const auto& choice = attempt.preconditioner;
  if (choice.solves) return passOfHost(attempt, target, limit, target);
  const auto* assembledOne = choice.assembles() ? assembled(attempt) : nullptr;
  if (choice.assembles() && assembledOne == nullptr) return Ending::Failed;
  KrylovSolver& solver = memory_.solver();
  // The host's preconditioner may have the sign of A, and most methods take both as they are.
  HostActions& actions = host_.actions(choice, choice.own != 0 && solver.takesNegativeDefinite(attempt.solver));
  const bool one = solver.judgesByOneNorm(attempt.solver);
  const Norms& norms = residual_.norms();
  // ||r||_1 <= sqrt(n) ||r||_2 always; what the last solve ended with is less.
  const double bound = std::sqrt(agreed_.rows);
  const double spread = memory_.spread > 0 && cost_.passes == 0 ? std::min(bound, 1.1 * memory_.spread) : bound;
  const double tolerance = one ? target / norms.one : std::min(0.9, 0.99 * target / (spread * norms.two));
  // A guess is no solution yet: its residual may be small where its error is smooth.
  const int least = std::max(host_.facts.minIterations, 1) - cost_.iterations;
  const int series = cost_.passes > 0 ? -1 : host_.facts.series;
  if (actions.sign() < 0) residual_.negate();
  const auto outcome = solver.solve(attempt.solver, tolerance, limit - cost_.iterations,
                                    {actions, host_.facts.symmetric, choice.own != 0, assembledOne, residual_.r(),
                                     residual_.d(), series, least, host_.facts.timed, why_},
                                    cost_);
  if (actions.sign() < 0) residual_.negate();
  guessed_ += outcome.guessDigits;
  if (outcome.seen && cost_.passes == 1) seen_ = *outcome.seen;
  const bool tried = why_.trial && cost_.passes == 1;  // nobody asked for this method: what it did is no matter
  for (const auto& remedy : outcome.remedies) {
    if (!tried) warn(remedy);
  }
  if (one) return takeJudged(outcome, limit);
  const Ending ending = takeComputed(target, limit);
  return ending == Ending::Again ? pass(attempt, target, limit) : ending;
}

// The host's own solver, whose x is a correction like any other. It may judge by another scale than the first
// residual's, as OpenFOAM's do where x is not what the solve began with: then it is asked for less.
DrivenSolve::Ending DrivenSolve::passOfHost(const Attempt& attempt, double target, int limit, double asked) {
  int made = 0;
  if (begun_) {
    made = *begun_;
    begun_.reset();
  } else {
    memory_.before.assign(residual_.x(), residual_.x() + host_.rows());
    made = host_.solveOwn(residual_.x(), asked, limit - cost_.iterations).iterations;
    takeCorrection();
  }
  cost_.iterations += made;
  ++cost_.passes;
  constexpr double least = 0.01;  // of the target
  if (made == 0 && cost_.iterations < limit && asked > least * target)
    return passOfHost(attempt, target, limit, asked / 4);
  const Ending ending = takeComputed(target, limit);
  if (ending != Ending::Again) return ending;
  return passOfHost(attempt, target, limit, asked * target / residual_.norms().one);
}

const AssembledPreconditioner* DrivenSolve::assembled(const Attempt& attempt) {
  const double start = wallSeconds();
  const bool built = memory_.prepare(host_, attempt.preconditioner, plan_, agreed_.sign, attempt.renew);
  cost_.builds += built ? 1 : 0;
  kept_ = !built;
  cost_.setupSeconds += wallSeconds() - start;
  const auto& findings = memory_.findings();
  const std::string name = "preconditioner " + attempt.preconditioner.name;
  if (built && !findings.remark.empty()) remark(name + ": " + findings.remark);
  if (findings.unusable.empty()) return &memory_.assembled();
  warn({name + " is of no use here: " + findings.unusable, "with a preconditioner of no use", ""});
  return nullptr;
}

// Of a method that has judged by the norm that counts.
DrivenSolve::Ending DrivenSolve::takeJudged(const KrylovOutcome& outcome, int limit) {
  if (!std::isfinite(outcome.attained) || !(outcome.attained <= 1)) {
    return cost_.iterations < limit ? Ending::Failed : endAtLimit();
  }
  residual_.take(outcome.attained);
  cost_.atRounding = outcome.atRounding;
  if (outcome.converged || outcome.atRounding) return Ending::Done;
  return cost_.iterations >= limit ? Ending::Limit : Ending::Failed;
}

// Of any other: where the residual, computed here, is smaller.
DrivenSolve::Ending DrivenSolve::takeComputed(double target, int limit) {
  const double before = residual_.norms().one;
  if (!residual_.takeWhereSmaller()) return cost_.iterations < limit ? Ending::Failed : endAtLimit();
  const Norms& now = residual_.norms();
  if (now.two > 0) memory_.spread = now.one / now.two;
  if (now.one <= target) return Ending::Done;
  if (cost_.iterations >= limit) return Ending::Limit;
  // Less than a tenth gained: another pass would gain no more.
  return now.one > 0.9 * before ? Ending::Failed : Ending::Again;
}

// Iterations are used up and the correction has a larger residual: a part of it is taken.
DrivenSolve::Ending DrivenSolve::endAtLimit() {
  wentPartOfTheWay_ = residual_.takePart();
  leftAsItWas_ = !wentPartOfTheWay_;
  return Ending::Limit;
}

}  // namespace capstan::driver
