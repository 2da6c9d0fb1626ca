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
      limit_(host.facts.maxIterations) {
  cost_.field = host.facts.label;
}

SolveCost DrivenSolve::run() {
  const double start = wallSeconds();
  prepare();
  began_ = secondsWithoutSetUp();
  std::optional<double> reduction;
  if (preconditioner_->solves) reduction = leaveToHost();
  if (!reduction) reduction = drive();
  cost_.solveSeconds = wallSeconds() - start - cost_.setupSeconds;
  const bool host = preconditioner_->solves;  // no deck has such a solver
  dump_.finish(
      agreed_.sign, cost_,
      {host ? plan_.safeSolver : way_->solver, host ? plan_.safePreconditioner : *preconditioner_, *reduction});
  return cost_;
}

// What a preconditioner takes that is kept for later solves is no matter of the way of this one.
double DrivenSolve::secondsWithoutSetUp() const { return wallSeconds() - cost_.setupSeconds; }

// The host's own solver, as it would be without a driver: it computes the residuals itself, and a solve of one sweep
// takes no longer. Returns the reduction of the residual that was asked for; nothing: it has not met the tolerance, and
// what it did is a correction to be judged like any other.
std::optional<double> DrivenSolve::leaveToHost() {
  boundWay();
  memory_.before.assign(residual_.x(), residual_.x() + host_.rows());
  const OwnEnd own = host_.solveOwn(residual_.x(), std::nullopt, limit_);
  if (!own.met) {
    begun_ = own.iterations;
    takeCorrection();
    return std::nullopt;
  }
  cost_.iterations = own.iterations;
  cost_.passes = own.iterations > 0 ? 1 : 0;
  cost_.initialResidual = own.initial;
  cost_.finalResidual = own.last;
  cost_.converged = true;
  seen_.seconds = secondsWithoutSetUp() - began_;
  seen_.iterations = own.iterations;
  const double end = std::max(own.last, own.asked);
  if (own.iterations > 0 && end > 0) seen_.digits = std::max(0.0, std::log10(own.initial / end));
  choice_->saw(seen_);
  memory_.renewal.learn(seen_.iterations, seen_.digits, seen_.seconds, true);
  return own.initial > 0 ? own.asked / own.initial : 1;
}

// x of the host's own solver, which began with `before`.
void DrivenSolve::takeCorrection() {
  double* const x = residual_.x();
  double* const d = residual_.d();
  const auto rows = static_cast<std::size_t>(host_.rows());
  for (std::size_t i = 0; i < rows; ++i) {
    d[i] = x[i] - memory_.before[i];
    x[i] = memory_.before[i];
  }
}

// By Krylov methods and judged here. Returns the reduction of the residual that was asked for.
double DrivenSolve::drive() {
  residual_.compute();
  const double first = residual_.norms().one;
  cost_.initialResidual = cost_.finalResidual = first / host_.scale();
  if (!residual_.norms().finite() || !std::isfinite(host_.scale())) {
    warn({"the matrix, the source or " + host_.facts.unknowns + " holds NaN or Inf; " + host_.facts.unknowns +
              " is left as it is",
          "left as NaN was found", ""});
  } else {
    cost_.converged = isMet();
    if (!cost_.converged || host_.facts.minIterations > 0) iterate();
  }
  if (host_.wantsResidual()) {
    residual_.refresh();
    host_.lastResidual(residual_.r());
  }
  return first > 0 ? host_.target() / first : 1;
}

// Nothing is left to be done for a residual of zero, which a host may not call met: OpenFOAM's tolerances are strict.
bool DrivenSolve::isMet() {
  const double norm = residual_.norms().one;
  return norm == 0 || host_.isMet(norm);
}

void DrivenSolve::prepare() {
  shareAndAgree();
  choice_ = &memory_.choose(plan_, host_.facts, agreed_);
  take(choice_->next());
  if (!choice_->chooses()) return;
  why_ = choice_->report(number_);
  if (const auto news = choice_->news(why_); !news.empty())
    host_.note((host_.facts.kind.empty() ? "" : host_.facts.kind + ": ") + "goes on with " + news);
}

// One message: what the host asks, whether some rank's rows have changed, and what each rank has measured.
void DrivenSolve::shareAndAgree() {
  const auto ofRenewal = memory_.renewal.secondsToShare();
  const auto ofChoice = memory_.chosen != nullptr ? memory_.chosen->measuresToShare() : RankMeasures{};
  Shares shares{memory_.fits(host_) ? 0.0 : 1.0, ofRenewal[0], ofRenewal[1]};
  std::copy(ofChoice.begin(), ofChoice.end(), shares.begin() + 3);
  agreed_ = host_.agree(shares);
  ++cost_.checks;
  const bool othersRows = shares[0] > 0;
  for (double& share : shares) share /= agreed_.ranks;
  memory_.renewal.share(shares[1], shares[2]);
  if (memory_.chosen != nullptr) {
    RankMeasures means{};
    std::copy(shares.begin() + 3, shares.end(), means.begin());
    memory_.chosen->share(means);
  }
  if (!othersRows) return;
  const double start = wallSeconds();
  memory_.adopt(host_);
  cost_.setupSeconds += wallSeconds() - start;
}

void DrivenSolve::take(std::size_t way) {
  number_ = way;
  way_ = &choice_->way(way);
  preconditioner_ = &choice_->preconditioner(*way_);
  if (cost_.passes > 0) return;
  cost_.preconditioner = preconditioner_->name;
  cost_.method = way_->solver.method;
}

// A limit made for multigrid counts cycles.
int DrivenSolve::limitOf(const PreconditionerChoice& preconditioner) const {
  const int limit = host_.facts.maxIterations;
  constexpr int most = std::numeric_limits<int>::max() / (2 * iterationsOfCycle);
  const bool cycles = plan_.limitsCycles && agreed_.multigrid && !preconditioner.cycle;
  return cycles && limit < most ? iterationsOfCycle * limit : limit;
}

void DrivenSolve::iterate() {
  const double start = wallSeconds();
  const double setUp = cost_.setupSeconds;
  const double first = residual_.norms().one;
  Ending ending = choice_->chooses() ? tryWay() : attempt({way_->solver, *preconditioner_});
  const bool failed = ending == Ending::Failed;
  if (ending == Ending::Limit && choice_->chooses() && !plan_.named) ending = goOnWithOther(ending);
  if (ending == Ending::Failed && kept_) {
    warn({"the solve failed with a preconditioner of an earlier one; it is renewed", "with the preconditioner renewed",
          "a renewed " + preconditioner_->name});
    ending = attempt({way_->solver, *preconditioner_, true});
    if (ending == Ending::Failed && choice_->chooses() && !why_.trial) {
      seen_.failed = true;
      choice_->saw(seen_);
    }
  }
  if (ending == Ending::Failed) ending = goOnSafely();
  if (ending == Ending::Limit) tellEnd();
  cost_.finalResidual = residual_.norms().one / host_.scale();
  cost_.converged = isMet();
  const double seconds = wallSeconds() - start - (cost_.setupSeconds - setUp);
  memory_.renewal.learn(cost_.iterations, digitsFrom(first), seconds, !failed);
  if (!cost_.converged && !cost_.atRounding && ending == Ending::Failed) {
    warn({"the residual does not fall any further; the solve is left unconverged", "", ""});
  }
}

// The iterations of the way that begins. Returns whether it is a trial that ends there, though the best way would not.
bool DrivenSolve::boundWay() {
  limit_ = limitOf(*preconditioner_);
  if (!why_.trial) return false;
  const int most = choice_->mostIterations(number_);
  const bool bounded = most > 0 && most < limit_;
  if (bounded) limit_ = most;
  return bounded || choice_->bestSolves();
}

// The way that was chosen; where it is a trial that fails or takes too long, then the best one known.
DrivenSolve::Ending DrivenSolve::tryWay() {
  const bool trial = why_.trial, ends = boundWay();
  Ending ending = attemptAndLearn(ends);
  const bool givenUp = ending == Ending::Failed || (ending == Ending::Limit && ends);
  if (!trial || !givenUp) return ending;
  take(choice_->best());
  return goOn();
}

// By the way that was taken last, with a limit of its own.
DrivenSolve::Ending DrivenSolve::goOn() {
  constexpr int most = std::numeric_limits<int>::max();
  limit_ = cost_.iterations + std::min(limitOf(*preconditioner_), most - cost_.iterations);
  return attempt({way_->solver, *preconditioner_});
}

DrivenSolve::Ending DrivenSolve::attemptAndLearn(bool endsAtLimit) {
  const double first = residual_.norms().one;
  seen_ = Observation{};
  const Ending ending = attempt({way_->solver, *preconditioner_});
  // By a preconditioner that may be of another matrix: the best way is tried again with a new one.
  const bool doubted = ending == Ending::Failed && kept_;
  if (doubted && !why_.trial) return ending;
  seen_.seconds = secondsWithoutSetUp() - began_;
  seen_.iterations = cost_.iterations;
  seen_.digits = usefulDigits(first);
  seen_.solved = ending == Ending::Done;
  seen_.failed = seen_.failed || (ending == Ending::Failed && !doubted);
  seen_.slow = seen_.slow || doubted || (endsAtLimit && ending == Ending::Limit);
  choice_->saw(seen_);
  return ending;
}

// The limit was made for another solver, and the user has not asked for this preconditioner.
DrivenSolve::Ending DrivenSolve::goOnWithOther(Ending ending) {
  const auto other = choice_->bestWithOther(*way_);
  if (!other) return ending;
  const std::string before = preconditioner_->name;
  take(*other);
  const std::string& now = preconditioner_->name;
  warn({before + " does not meet the tolerance within " + host_.facts.limit + "; " + now +
            " goes on, with a limit of its own",
        "by " + now + " after " + host_.facts.limit, now});
  return goOn();
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
  if (!isMet()) ending = pass(attempt, host_.target(), limit_);
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

// What falls below the tolerance is of no use.
double DrivenSolve::usefulDigits(double first) const {
  const double now = std::max(residual_.norms().one, host_.target());
  return now > 0 ? std::max(0.0, std::log10(first / now) - guessed_) : 0;
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
