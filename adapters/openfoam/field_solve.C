// SPDX-License-Identifier: GPL-3.0-or-later
#include <array>
#include <cfenv>
#include <cmath>
#include <map>
#include <set>

#include "PrecisionAdaptor.H"
#include "Time.H"
#include "adapters/openfoam/cell_sums.hpp"
#include "adapters/openfoam/field_solve.H"
#include "adapters/openfoam/foam_compat.H"
#include "adapters/openfoam/rung_actions.H"
#include "adapters/openfoam/solve_origin.H"
#include "adapters/openfoam/solve_recorder.hpp"
#include "objectRegistry.H"
#include "polyMesh.H"
#include "scalarIOField.H"
#include "tpetra_ext/wall_clock.hpp"

namespace capstan::foam {
namespace {

// Trilinos divides by zero where it knows what it does; NaN and Inf are looked for in reduced norms instead.
// Without OpenFOAM's sigFpe::ignore, which asks the system for handlers and variables each time.
class QuietFloatingPoint {
 public:
  QuietFloatingPoint() { std::feholdexcept(&before_); }
  QuietFloatingPoint(const QuietFloatingPoint&) = delete;
  QuietFloatingPoint& operator=(const QuietFloatingPoint&) = delete;
  ~QuietFloatingPoint() { std::fesetenv(&before_); }

 private:
  std::fenv_t before_;
};

// OpenFOAM prints one word: the method as a deck would write it.
Foam::word printedName(const std::string& method) {
  std::string name = method;
  std::replace(name.begin(), name.end(), ' ', '_');
  return Foam::word(name);
}

}  // namespace

bool FieldSolve::Norms::finite() const { return std::isfinite(one) && std::isfinite(two); }

FieldSolve::FieldSolve(const Foam::lduMatrix::solver& self, LduSystem system, Foam::direction component,
                       const Foam::dictionary& controls, const Limits& limits)
    : self_(self),
      system_(system),
      component_(component),
      limits_(limits),
      comm_(runningCommunicator(system.matrix)),
      mesh_(dynamic_cast<const Foam::polyMesh*>(&system.matrix.mesh())),
      context_(fieldContext(system.matrix, mesh_, self.fieldName())),
      keptControls_(context_->knownControls.of(controls, {system.matrix.symmetric(), mesh_ != nullptr})),
      controls_(*keptControls_),
      residual_(context_->residual),
      correction_(context_->correction) {
  cost_.field = context_->label();
}

// OpenFOAM builds multigrid on the mesh of a case alone: not on a level of multigrid, on a finite area, or where
// overset meshes have added to the addressing.
bool FieldSolve::hasMultigrid() const {
  return mesh_ != nullptr && system_.matrix.lduAddr().upperAddr().size() == mesh_->nInternalFaces();
}

void FieldSolve::choosePreconditioner(bool multigrid) {
  preconditioner_ = &controls_.preconditioner;
  if (!controls_.named && multigrid) {
    using Choice = PreconditionerTrial::Choice;
    if (context_->trial == nullptr) {
      context_->trial =
          std::make_unique<PreconditionerTrial>(controls_.multigridFirst ? Choice::Multigrid : Choice::Plain);
    }
    learns_ = true;
    if (context_->trial->choice() == Choice::Multigrid) preconditioner_ = &controls_.multigrid;
  }
  cost_.preconditioner = preconditioner_->name;
  cost_.method = solverFor(*preconditioner_).method;
}

// The n-th solve of a time step, or of an iteration, resembles the n-th one of the step before.
int FieldSolve::series() const {
  if (mesh_ == nullptr || cost_.passes > 0) return -1;
  constexpr int most = 8;  // each keeps vectors
  return std::min(context_->solvesOfStep, most - 1);
}

// Where the user names none: GMRES atop multigrid as long as its solves are short, else what is right for the matrix.
const SolverChoice& FieldSolve::solverFor(const PreconditionerControls& preconditioner) const {
  return controls_.methodNamed || !preconditioner.isMultigrid() || context_->takesManyCycles ? controls_.solver
                                                                                             : controls_.ofCycles;
}

Foam::solverPerformance FieldSolve::run(Foam::scalarField& psi, const Foam::scalarField& source) {
  const QuietFloatingPoint quiet;
  const double start = wallSeconds();
  if (mesh_ != nullptr) context_->countSolve(mesh_->time().timeIndex());
  prepare(psi);
  Foam::solverPerformance performance(printedName(cost_.method), self_.fieldName());
  norms_ = firstResidual(psi, source);
  const double first = norms_.one;
  const auto maxIter = limits_.maxIter;
  SystemDump dump(controls_.dump, context_->dump, psi);
  performance.initialResidual() = norms_.one / normFactor_;
  performance.finalResidual() = performance.initialResidual();
  system_.matrix.setResidualField(Foam::ConstPrecisionAdaptor<Foam::scalar, Foam::solveScalar>(residual_)(),
                                  self_.fieldName(), true);
  if (!norms_.finite() || !std::isfinite(normFactor_)) {
    warn({"the matrix, the source or the field holds NaN or Inf; the field is left as it is", "left as NaN was found",
          ""});
  } else if (!performance.checkConvergence(limits_.tolerance, limits_.relTol) || limits_.minIter > 0) {
    iterate(psi, performance);
  }
  if (wantsResidualField()) {
    refresh();
    system_.matrix.setResidualField(Foam::ConstPrecisionAdaptor<Foam::scalar, Foam::solveScalar>(residual_)(),
                                    self_.fieldName(), false);
  }
  cost_.solveSeconds = wallSeconds() - start - cost_.setupSeconds;
  cost_.converged = performance.converged();
  cost_.initialResidual = performance.initialResidual();
  cost_.finalResidual = performance.finalResidual();
  trilinos().recordSolve(cost_, controls_.summary);
  if (SolveRecorder::wanted()) SolveRecorder::record(solveOrigin(system_.matrix, self_.fieldName()), cost_);
  dump.finish(system_, component_, sign_, source, cost_,
              {solverFor(*preconditioner_), *preconditioner_, first > 0 ? target(performance) / first : 1, maxIter});
  return performance;
}

// The field that the function object solverInfo of OpenFOAM writes; the same on all ranks.
bool FieldSolve::wantsResidualField() const {
  const auto& mesh = system_.matrix.mesh();
  return mesh.hasDb() && mesh.thisDb().foundObject<Foam::scalarIOField>(residualFieldName(self_.fieldName()));
}

// One message: what the residual norm needs, which sign the matrix has, whether some rank's mesh has changed, whether
// there can be multigrid, and whether all ranks may put their cells in another order.
void FieldSolve::prepare(const Foam::scalarField& psi) {
  const auto& diagonal = system_.matrix.diag();
  const auto ofCells = sumsOverCells<2>(psi.size(), [&](Foam::label cell, auto& sum) {
    sum[0] += diagonal[cell];
    sum[1] += psi[cell];
  });
  const bool orders = RungActions::orders(controls_.preconditioner);
  if (orders) ordered_ = context_->ordered(system_);
  std::array<double, 8> sums{ofCells[0], ofCells[1]};
  sums[2] = static_cast<double>(psi.size());
  sums[3] = context_->fits(system_) ? 0 : 1;
  const auto seconds = context_->renewal.secondsToShare();
  sums[4] = seconds[0];
  sums[5] = seconds[1];
  sums[6] = hasMultigrid() ? 0 : 1;
  sums[7] = ordered_ != nullptr ? 0 : 1;
  sumOverRanks(sums, comm_);
  ++cost_.checks;
  sign_ = sums[0] < 0 ? -1 : 1;
  cells_ = sums[2];
  mean_ = cells_ > 0 ? sums[1] / cells_ : 0;
  int ranks = 1;
  if (comm_ != MPI_COMM_NULL) MPI_Comm_size(comm_, &ranks);
  context_->renewal.share(sums[4] / ranks, sums[5] / ranks);
  splits_ = sums[7] == 0;
  choosePreconditioner(sums[6] == 0);
  if (sums[3] > 0) {
    const double start = wallSeconds();
    context_->adopt(system_);
    cost_.setupSeconds += wallSeconds() - start;
  }
}

// OpenFOAM's normFactor and both norms of the residual, in one message.
FieldSolve::Norms FieldSolve::firstResidual(const Foam::scalarField& psi, const Foam::scalarField& source) {
  residual_.setSize(psi.size());
  auto& rowSums = context_->rowSums;
  rowSums.setSize(psi.size());
  system_.matrix.Amul(residual_, psi, system_.interfaceBouCoeffs, system_.interfaces, component_);
  system_.matrix.sumA(rowSums, system_.interfaceBouCoeffs, system_.interfaces);
  auto sums = sumsOverCells<3>(residual_.size(), [&](Foam::label cell, auto& sum) {
    const double reference = mean_ * rowSums[cell];
    const double product = residual_[cell], rest = source[cell] - product;
    sum[0] += std::abs(product - reference) + std::abs(source[cell] - reference);
    residual_[cell] = rest;
    sum[1] += std::abs(rest);
    sum[2] += rest * rest;
  });
  sumOverRanks(sums, comm_);
  ++cost_.checks;
  ++cost_.products;
  normFactor_ = limits_.scaled ? sums[0] + Foam::solverPerformance::small_ : 1;
  return {sums[1], std::sqrt(sums[2])};
}

// r - A d for the last correction d, where that is not in r yet.
void FieldSolve::refresh() {
  if (!stale_) return;
  stale_ = false;
  Foam::solveScalarField image(residual_.size());
  system_.matrix.Amul(image, correction_, system_.interfaceBouCoeffs, system_.interfaces, component_);
  auto sums = sumsOverCells<2>(residual_.size(), [&](Foam::label cell, auto& sum) {
    const double rest = residual_[cell] - image[cell];
    residual_[cell] = rest;
    sum[0] += std::abs(rest);
    sum[1] += rest * rest;
  });
  sumOverRanks(sums, comm_);
  ++cost_.checks;
  ++cost_.products;
  norms_ = {sums[0], std::sqrt(sums[1])};
}

// What ||b - A x||_1 has to be. OpenFOAM asks for less than its tolerance, a Krylov method for no more.
double FieldSolve::target(const Foam::solverPerformance& performance) const {
  constexpr double below = 1 - 1e-9;
  return below * normFactor_ *
         std::max(limits_.tolerance, limits_.relTol * static_cast<double>(performance.initialResidual()));
}

const AssembledPreconditioner* FieldSolve::assembled(const Rung& rung) {
  const double start = wallSeconds();
  bool built = false;
  const auto* preconditioner = context_->assembled(system_, component_, sign_, controls_, rung.renew, built);
  cost_.builds += built ? 1 : 0;
  kept_ = !built;
  cost_.setupSeconds += wallSeconds() - start;
  const auto& findings = context_->findings();
  if (built && !findings.remark.empty()) {
    remark("preconditioner " + rung.preconditioner.name + ": " + findings.remark);
  }
  if (findings.unusable.empty()) return preconditioner;
  warn({"preconditioner " + rung.preconditioner.name + " is of no use here: " + findings.unusable,
        "with a preconditioner of no use", ""});
  return nullptr;
}

FieldSolve::Ending FieldSolve::climb(const Rung& rung, Foam::scalarField& psi, Foam::solverPerformance& performance) {
  refresh();
  leftAsItWas_ = wentPartOfTheWay_ = false;
  const bool met = performance.checkConvergence(limits_.tolerance, limits_.relTol);
  Ending ending = Ending::Done;
  if (!met) {
    ending = pass(rung, target(performance), limits_.maxIter, psi);
  }
  if (ending == Ending::Done && cost_.iterations < limits_.minIter && norms_.one > 0) {
    refresh();
    pass(rung, 0, limits_.minIter, psi);  // a tolerance that no solver reaches: runs to the limit
  }
  return ending;
}

FieldSolve::Ending FieldSolve::goOnSafely(Foam::scalarField& psi, Foam::solverPerformance& performance) {
  const bool symmetric = system_.matrix.symmetric();
  const auto plain = plainPreconditioner(symmetric);
  const SolverChoice safe{symmetric ? "capstan_cg" : "capstan_sstep_gmres", {}};
  if (preconditioner_->name == plain.name && cost_.method == safe.method) return Ending::Failed;
  const auto next = safe.method + " and " + plain.name;
  warn({cost_.method + " with " + preconditioner_->name + " fails; going on with " + next, "by " + next, next});
  return climb({safe, plain, false}, psi, performance);
}

void FieldSolve::iterate(Foam::scalarField& psi, Foam::solverPerformance& performance) {
  const double start = wallSeconds();
  const double setUp = cost_.setupSeconds;
  const double first = norms_.one;
  // A limit made for multigrid counts cycles.
  const Foam::label cycles = limits_.maxIter;
  const auto limitOf = [&](const PreconditionerControls& preconditioner) {
    const bool counted = learns_ && controls_.multigridFirst && &preconditioner != &controls_.multigrid;
    return counted ? PreconditionerTrial::work * cycles : cycles;
  };
  limits_.maxIter = limitOf(*preconditioner_);
  const SolverChoice& solver = solverFor(*preconditioner_);
  Ending ending = climb({solver, *preconditioner_, false}, psi, performance);
  const bool failed = ending == Ending::Failed;
  if (&solver == &controls_.ofCycles && system_.matrix.symmetric() && cost_.iterations > cyclesKept) {
    context_->takesManyCycles = true;
  }
  if (learns_) context_->trial->learn(cost_.iterations, digitsFrom(first), ending != Ending::Done);
  if (learns_ && ending == Ending::Limit) {
    // The limit was made for another solver, and the user has not asked for this preconditioner.
    const bool plain = preconditioner_ == &controls_.preconditioner;
    const auto& other = plain ? controls_.multigrid : controls_.preconditioner;
    warn({preconditioner_->name + " does not meet the tolerance within maxIter; " + other.name +
              " goes on, with a limit of its own",
          "by " + other.name + " after maxIter", other.name});
    limits_.maxIter = cost_.iterations + limitOf(other);
    ending = climb({solverFor(other), other, false}, psi, performance);
  }
  if (ending == Ending::Failed && kept_) {
    warn({"the solve failed with a preconditioner of an earlier one; it is renewed", "with the preconditioner renewed",
          "a renewed " + preconditioner_->name});
    ending = climb({solverFor(*preconditioner_), *preconditioner_, true}, psi, performance);
  }
  if (ending == Ending::Failed) ending = goOnSafely(psi, performance);
  if (ending == Ending::Limit) tellEnd();
  performance.nIterations() = cost_.iterations;
  performance.finalResidual() = norms_.one / normFactor_;
  const bool converged = performance.checkConvergence(limits_.tolerance, limits_.relTol);
  const double seconds = wallSeconds() - start - (cost_.setupSeconds - setUp);
  context_->renewal.learn(cost_.iterations, digitsFrom(first), seconds, !failed);
  if (!converged && !cost_.atRounding && ending == Ending::Failed) {
    warn({"the residual does not fall any further; the solve is left unconverged", "", ""});
  }
}

void FieldSolve::tellEnd() {
  const std::string end = "maxIter ends the solve where its residual is larger than at the start; ";
  if (leftAsItWas_) {
    warn({end + "the field is left as it was", "left as it was at maxIter", ""});
  } else if (wentPartOfTheWay_) {
    warn({end + "the field goes part of the way, to the least 2-norm of the residual", "part of the way at maxIter",
          ""});
  }
}

// Those of an initial guess are not the method's.
double FieldSolve::digitsFrom(double first) const {
  return norms_.one > 0 ? std::max(0.0, std::log10(first / norms_.one) - guessed_) : 0;
}

void FieldSolve::remark(const std::string& message) const {
  static std::set<std::string> told;
  if (told.insert(context_->label() + message).second) {
    WarningInFunction << "solver capstan, field " << context_->label().c_str() << ": " << message.c_str()
                      << " (told once a field)" << Foam::endl;
  }
}

// Once in full, then in a line; a field may fail in every step.
void FieldSolve::warn(const LadderStep& step) {
  static std::map<std::string, long> told;
  if (!step.counted.empty()) cost_.steps.push_back(step.counted);
  if (!step.fallsBackTo.empty()) cost_.fellBackTo = step.fallsBackTo;
  const long times = ++told[context_->label() + "\n" + step.counted];
  if (times == 1) {
    WarningInFunction << "solver capstan, field " << context_->label().c_str() << ": " << step.message.c_str()
                      << " (next time in one line, and counted at the end of the run)" << Foam::endl;
  } else {
    Foam::Info << "Capstan: " << context_->label().c_str() << ": " << step.message.c_str() << " (" << times
               << " times so far)" << Foam::endl;
  }
}

}  // namespace capstan::foam
