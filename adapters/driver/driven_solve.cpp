// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/driver/driven_solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tpetra_ext/wall_clock.hpp"

namespace capstan::driver {

DrivenSolve::DrivenSolve(FieldMemory& memory, HostSystem& host, const Plan& plan, const DumpControls& dump, double* x)
    : memory_(memory),
      host_(host),
      plan_(plan),
      dump_(dump, memory, host, x),
      residual_(host, x, memory.residual, memory.correction, cost_),
      preconditioner_(&plan.preconditioner),
      limit_(host.facts.maxIterations) {
  cost_.field = host.facts.label;
}

SolveCost DrivenSolve::run() {
  const double start = wallSeconds();
  prepare();
  residual_.compute();
  const double first = residual_.norms().one;
  cost_.initialResidual = cost_.finalResidual = first / host_.scale();
  if (!residual_.norms().finite() || !std::isfinite(host_.scale())) {
    warn({"the matrix, the source or " + host_.facts.unknowns + " holds NaN or Inf; " + host_.facts.unknowns +
              " is left as it is",
          "left as NaN was found", ""});
  } else {
    cost_.converged = host_.isMet(first);
    if (!cost_.converged || host_.facts.minIterations > 0) iterate();
  }
  if (host_.wantsResidual()) {
    residual_.refresh();
    host_.lastResidual(residual_.r());
  }
  cost_.solveSeconds = wallSeconds() - start - cost_.setupSeconds;
  dump_.finish(agreed_.sign, cost_,
               {solverFor(*preconditioner_), *preconditioner_, first > 0 ? host_.target() / first : 1});
  return cost_;
}

// One message: what the host asks, whether some rank's rows have changed, and seconds.
void DrivenSolve::prepare() {
  const auto seconds = memory_.renewal.secondsToShare();
  std::array<double, 3> shares{memory_.fits(host_) ? 0.0 : 1.0, seconds[0], seconds[1]};
  agreed_ = host_.agree(shares);
  ++cost_.checks;
  memory_.renewal.share(shares[1] / agreed_.ranks, shares[2] / agreed_.ranks);
  choosePreconditioner(agreed_.multigrid);
  if (shares[0] > 0) {
    const double start = wallSeconds();
    memory_.adopt(host_);
    cost_.setupSeconds += wallSeconds() - start;
  }
}

void DrivenSolve::choosePreconditioner(bool multigrid) {
  if (plan_.multigrid && multigrid) {
    using Choice = PreconditionerTrial::Choice;
    if (memory_.trial == nullptr) {
      memory_.trial = std::make_unique<PreconditionerTrial>(plan_.multigridFirst ? Choice::Multigrid : Choice::Plain);
    }
    learns_ = true;
    if (memory_.trial->choice() == Choice::Multigrid) preconditioner_ = &*plan_.multigrid;
  }
  cost_.preconditioner = preconditioner_->name;
  cost_.method = solverFor(*preconditioner_).method;
}

// Where the user names none: GMRES atop multigrid as long as its solves are short, else what is right for the matrix.
const SolverChoice& DrivenSolve::solverFor(const PreconditionerChoice& preconditioner) const {
  return plan_.ofCycles && preconditioner.cycle && !memory_.takesManyCycles ? *plan_.ofCycles : plan_.solver;
}

// A limit made for multigrid counts cycles.
int DrivenSolve::limitOf(const PreconditionerChoice& preconditioner) const {
  const bool cycles = learns_ && plan_.multigridFirst && &preconditioner == &plan_.preconditioner;
  const int limit = host_.facts.maxIterations;
  constexpr int most = std::numeric_limits<int>::max() / (2 * PreconditionerTrial::work);
  return cycles && limit < most ? PreconditionerTrial::work * limit : limit;
}

void DrivenSolve::iterate() {
  const double start = wallSeconds();
  const double setUp = cost_.setupSeconds;
  const double first = residual_.norms().one;
  limit_ = limitOf(*preconditioner_);
  const SolverChoice& solver = solverFor(*preconditioner_);
  Ending ending = attempt({solver, *preconditioner_});
  const bool failed = ending == Ending::Failed;
  if (plan_.ofCycles && &solver == &*plan_.ofCycles && host_.facts.symmetric && cost_.iterations > cyclesKept) {
    memory_.takesManyCycles = true;
  }
  if (learns_) memory_.trial->learn(cost_.iterations, digitsFrom(first), ending != Ending::Done);
  if (learns_ && ending == Ending::Limit) ending = goOnWithOther();
  if (ending == Ending::Failed && kept_) {
    warn({"the solve failed with a preconditioner of an earlier one; it is renewed", "with the preconditioner renewed",
          "a renewed " + preconditioner_->name});
    ending = attempt({solverFor(*preconditioner_), *preconditioner_, true});
  }
  if (ending == Ending::Failed) ending = goOnSafely();
  if (ending == Ending::Limit) tellEnd();
  cost_.finalResidual = residual_.norms().one / host_.scale();
  cost_.converged = host_.isMet(residual_.norms().one);
  const double seconds = wallSeconds() - start - (cost_.setupSeconds - setUp);
  memory_.renewal.learn(cost_.iterations, digitsFrom(first), seconds, !failed);
  if (!cost_.converged && !cost_.atRounding && ending == Ending::Failed) {
    warn({"the residual does not fall any further; the solve is left unconverged", "", ""});
  }
}

// The limit was made for another solver, and the user has not asked for this preconditioner.
DrivenSolve::Ending DrivenSolve::goOnWithOther() {
  const bool plain = preconditioner_ == &plan_.preconditioner;
  const auto& other = plain ? *plan_.multigrid : plan_.preconditioner;
  warn({preconditioner_->name + " does not meet the tolerance within " + host_.facts.limit + "; " + other.name +
            " goes on, with a limit of its own",
        "by " + other.name + " after " + host_.facts.limit, other.name});
  constexpr int most = std::numeric_limits<int>::max();
  limit_ = cost_.iterations + std::min(limitOf(other), most - cost_.iterations);
  return attempt({solverFor(other), other});
}

DrivenSolve::Ending DrivenSolve::goOnSafely() {
  const auto& plain = plan_.safePreconditioner;
  const auto& safe = plan_.safeSolver;
  if (preconditioner_->name == plain.name && cost_.method == safe.method) return Ending::Failed;
  const auto next = safe.method + " and " + plain.name;
  warn({cost_.method + " with " + preconditioner_->name + " fails; going on with " + next, "by " + next, next});
  return attempt({safe, plain});
}

DrivenSolve::Ending DrivenSolve::attempt(const Attempt& attempt) {
  residual_.refresh();
  leftAsItWas_ = wentPartOfTheWay_ = false;
  Ending ending = Ending::Done;
  if (!host_.isMet(residual_.norms().one)) ending = pass(attempt, host_.target(), limit_);
  const int least = host_.facts.minIterations;
  if (ending == Ending::Done && cost_.iterations < least && residual_.norms().one > 0) {
    residual_.refresh();
    pass(attempt, 0, least);  // a tolerance that no solver reaches: runs to the limit
  }
  return ending;
}

void DrivenSolve::tellEnd() {
  const std::string& x = host_.facts.unknowns;
  const std::string end =
      host_.facts.limit + " ends the solve where its residual is larger than at the start; " + x + " ";
  if (leftAsItWas_) {
    warn({end + "is left as it was", "left as it was at " + host_.facts.limit, ""});
  } else if (wentPartOfTheWay_) {
    warn({end + "goes part of the way, to the least 2-norm of the residual", "part of the way at " + host_.facts.limit,
          ""});
  }
}

// Those of an initial guess are not the method's.
double DrivenSolve::digitsFrom(double first) const {
  const double now = residual_.norms().one;
  return now > 0 ? std::max(0.0, std::log10(first / now) - guessed_) : 0;
}

void DrivenSolve::remark(const std::string& message) {
  if (++memory_.told[message] == 1) host_.warn(message + " (told once a field)");
}

// Once in full, then in a line; a field may fail in every step.
void DrivenSolve::warn(const Remedy& remedy) {
  if (!remedy.counted.empty()) cost_.steps.push_back(remedy.counted);
  if (!remedy.fallsBackTo.empty()) cost_.fellBackTo = remedy.fallsBackTo;
  const long times = ++memory_.told[remedy.counted];
  if (times == 1) {
    host_.warn(remedy.message + " (next time in one line, and counted at the end of the run)");
  } else {
    host_.note(fmt::format("{} ({} times so far)", remedy.message, times));
  }
}

}  // namespace capstan::driver
