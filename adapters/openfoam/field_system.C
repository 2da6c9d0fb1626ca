// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "Time.H"
#include "adapters/driver/row_sums.hpp"
#include "adapters/openfoam/borrowed_field.H"
#include "adapters/openfoam/field_system.H"
#include "adapters/openfoam/foam_compat.H"
#include "adapters/openfoam/solve_origin.H"
#include "adapters/openfoam/solve_recorder.hpp"
#include "polyMesh.H"

namespace capstan::foam {
namespace {

driver::HostFacts factsOf(const LduSystem& system, const Limits& limits, bool ofCase, FieldContext& context) {
  driver::HostFacts facts;
  facts.label = context.label;
  facts.symmetric = system.matrix.symmetric();
  facts.minIterations = asInt(limits.minIter);
  facts.maxIterations = asInt(limits.maxIter);
  facts.kind = context.kinds.of(limits.tolerance, limits.relTol);
  facts.series = ofCase ? context.solves.series() : -1;
  facts.timed = SolveRecorder::wanted();
  facts.application = "OpenFOAM";
  facts.limit = "maxIter";
  facts.unknowns = "the field";
  return facts;
}

// OpenFOAM prints one word: the method as a deck would write it.
Foam::word printedName(std::string method) {
  std::replace(method.begin(), method.end(), ' ', '_');
  return Foam::word(method);
}

}  // namespace

FieldSystem::FieldSystem(const Foam::lduMatrix::solver& self, const LduSystem& system, Foam::direction component,
                         const Limits& limits, const Foam::polyMesh* mesh, FieldContext& context,
                         const SolverControls& controls, const Foam::scalarField& psi, const Foam::scalarField& source)
    : HostSystem(factsOf(system, limits, mesh != nullptr, context)),
      self_(self),
      system_(system),
      component_(component),
      limits_(limits),
      comm_(runningCommunicator(system.matrix)),
      mesh_(mesh),
      context_(context),
      controls_(controls),
      psi_(psi),
      source_(source) {}

// OpenFOAM builds multigrid on the mesh of a case alone: not on a level of multigrid, on a finite area, or where
// overset meshes have added to the addressing.
bool FieldSystem::hasMultigrid() const {
  return mesh_ != nullptr && system_.matrix.lduAddr().upperAddr().size() == mesh_->nInternalFaces();
}

bool FieldSystem::takeOrder() {
  if (!takesOrder_) takesOrder_ = context_.ordered->take(system_, context_.solves.isSolvedAgain());
  return *takesOrder_;
}

// What the residual norm needs, which sign the matrix has, whether there can be multigrid, and whether all ranks may
// put their cells in another order.
driver::Agreement FieldSystem::agree(driver::Shares& shares) {
  const auto& diagonal = system_.matrix.diag();
  const auto ofCells = driver::sumsOverRows<2>(psi_.size(), [&](Foam::label cell, auto& sum) {
    sum[0] += diagonal[cell];
    sum[1] += psi_[cell];
  });
  const auto& preconditioners = controls_.plan.preconditioners;
  const bool knows = std::any_of(preconditioners.begin(), preconditioners.end(), [](const auto& preconditioner) {
    return preconditioner.own != 0 && OrderedSystem::knows(preconditioner.name);
  });
  constexpr std::size_t ours = 5;
  std::array<double, ours + std::tuple_size_v<driver::Shares>> sums{
      ofCells[0], ofCells[1], static_cast<double>(psi_.size()), hasMultigrid() ? 0.0 : 1.0,
      knows && takeOrder() ? 0.0 : 1.0};
  std::copy(shares.begin(), shares.end(), sums.begin() + ours);
  driver::sumOverRanks(sums, comm_);
  std::copy(sums.begin() + ours, sums.end(), shares.begin());
  sign_ = sums[0] < 0 ? -1 : 1;
  mean_ = sums[2] > 0 ? sums[1] / sums[2] : 0;
  splits_ = sums[4] == 0;
  driver::Agreement agreed{sign_, sums[2], 1, sums[3] == 0};
  if (comm_ != MPI_COMM_NULL) MPI_Comm_size(comm_, &agreed.ranks);
  // GAMG ends the run where it finds no coarse level.
  constexpr int fewestCells = 40;  // of a rank, on the average
  agreed.multigrid = agreed.multigrid && agreed.rows >= fewestCells * agreed.ranks;
  return agreed;
}

// OpenFOAM's normFactor and both norms of the residual, in one message.
driver::Norms FieldSystem::firstResidual(double* r) {
  auto& rowSums = context_.rowSums;
  rowSums.setSize(psi_.size());
  {
    // Of the application's own field, and no other: a patch with a jump, as a fan has, adds it where it sees that one.
    BorrowedField product(r, psi_.size());
    system_.matrix.Amul(product.field(), psi_, system_.interfaceBouCoeffs, system_.interfaces, component_);
  }
  system_.matrix.sumA(rowSums, system_.interfaceBouCoeffs, system_.interfaces);
  auto sums = driver::sumsOverRows<3>(psi_.size(), [&](Foam::label cell, auto& sum) {
    const double reference = mean_ * rowSums[cell];
    const double product = r[cell], rest = source_[cell] - product;
    sum[0] += std::abs(product - reference) + std::abs(source_[cell] - reference);
    r[cell] = rest;
    sum[1] += std::abs(rest);
    sum[2] += rest * rest;
  });
  driver::sumOverRanks(sums, comm_);
  normFactor_ = limits_.scaled ? sums[0] + Foam::solverPerformance::small_ : 1;
  performance_.initialResidual() = sums[1] / normFactor_;
  showResidual(r, true);
  return {sums[1], std::sqrt(sums[2])};
}

bool FieldSystem::isMet(double norm) {
  performance_.finalResidual() = norm / normFactor_;
  return performance_.checkConvergence(limits_.tolerance, limits_.relTol);
}

// OpenFOAM asks for less than its tolerance, a Krylov method for no more.
double FieldSystem::target() const {
  constexpr double below = 1 - 1e-9;
  return below * normFactor_ *
         std::max(limits_.tolerance, limits_.relTol * static_cast<double>(performance_.initialResidual()));
}

// The field that the function object solverInfo of OpenFOAM writes; the same on all ranks.
bool FieldSystem::wantsResidual() const { return foam::wantsResidual(system_.matrix.mesh(), self_.fieldName()); }

void FieldSystem::lastResidual(const double* r) { showResidual(r, false); }

void FieldSystem::showResidual(const double* r, bool initial) const {
  const BorrowedField residual(r, psi_.size());
  giveResidual(system_.matrix, residual.field(), self_.fieldName(), initial);
}

void FieldSystem::multiply(const double* x, double* y) { NativeSystem(system_, component_, 1).apply(x, y); }

driver::HostActions& FieldSystem::actions(const driver::PreconditionerChoice& preconditioner, bool eitherSign) {
  const bool orders = preconditioner.own != 0 && OrderedSystem::knows(preconditioner.name);
  // OpenFOAM's loops have the sign of A; in another order A takes any.
  const double sign = eitherSign && !orders ? 1 : sign_;
  ordered_.reset();
  own_.reset();
  native_.emplace(system_, component_, sign);
  if (preconditioner.own == 0) return *native_;
  // Where all ranks put their cells in another order, this one does, too; alone where its own loops gain by it.
  if (orders && takeOrder() && (splits_ || context_.ordered->suits())) {
    ordered_.emplace(*context_.ordered, system_, component_, sign, preconditioner.name, splits_);
  }
  const bool verifies = orders && controls_.plan.verify;
  if (!ordered_ || verifies) {
    own_ = Foam::lduMatrix::preconditioner::New(self_, *controls_.own(preconditioner.own));
    native_->use(&*own_);
  }
  driver::HostActions& chosen = ordered_ ? static_cast<driver::HostActions&>(*ordered_) : *native_;
  if (verifies) verifyActions(chosen, *native_, psi_.size(), context_.label);
  return chosen;
}

// Multigrid and smoothers judge by residuals that they compute. Those of a recurrence leave the true ones by about
// iterations * entries of a row * epsilon, of what |A x| has been [van der Vorst and Ye 2000]: in a short solve by much
// less than tolerances ask for.
bool FieldSystem::tellsTruly(const Foam::solverPerformance& end, double asked) const {
  constexpr Foam::label few = 20;
  constexpr double loose = 1e-10;
  return !controls_.ownRecurs || (end.nIterations() <= few && asked >= loose);
}

driver::OwnEnd FieldSystem::solveOwn(double* x, std::optional<double> target, int maxIterations) {
  // Multigrid that keeps no levels deletes those of the mesh, and a preconditioner that it shares them with would
  // again.
  ordered_.reset();
  native_.reset();
  own_.reset();
  const Foam::dictionary& own = *controls_.own(SolverControls::Solver);
  Foam::dictionary bounded;
  if (target || maxIterations < asInt(limits_.maxIter)) {
    bounded = own;
    bounded.set("maxIter", Foam::label(maxIterations));
  }
  if (target) {
    bounded.set("tolerance", *target / normFactor_);
    bounded.set("relTol", 0.0);
  }
  const auto solver =
      Foam::lduMatrix::solver::New(self_.fieldName(), system_.matrix, system_.interfaceBouCoeffs,
                                   self_.interfaceIntCoeffs(), system_.interfaces, bounded.empty() ? own : bounded);
  if (x != psi_.cdata()) throw std::logic_error("OpenFOAM's own solver is given another field than the application's");
  auto& psi = const_cast<Foam::scalarField&>(psi_);  // as in firstResidual()
  const Foam::solverPerformance end = solver->solve(psi, source_, component_);
  const double initial = end.initialResidual(), last = end.finalResidual();
  const double asked = std::max(limits_.tolerance, limits_.relTol * initial);
  return {asInt(end.nIterations()), end.converged() && tellsTruly(end, asked), initial, last, asked};
}

std::string FieldSystem::whyNoRows() const {
  return LduCsr::unsupportedPatch(system_) < 0 ? "" : "a patch couples cells in a way that rows cannot hold";
}

std::int64_t FieldSystem::entries() const {
  std::int64_t sum = system_.matrix.diag().size() + system_.matrix.lower().size() + system_.matrix.upper().size();
  forAll(system_.interfaces, patch) {
    if (system_.interfaces.set(patch)) sum += system_.interfaceBouCoeffs[patch].size();
  }
  return sum;
}

void FieldSystem::values(const driver::HostRows& rows, double sign, std::vector<double>& out) const {
  static_cast<const LduCsr&>(rows).values(system_, component_, sign, out);
}

driver::PreconditionerChoice FieldSystem::nearestInDeck(const driver::PreconditionerChoice& own) const {
  driver::PreconditionerChoice choice;
  if (own.name == "diagonal") {
    choice.name = "jacobi";
  } else if (own.cycle) {
    choice.name = "muelu";
    choice.file = facts.symmetric ? "pressure_poisson" : "momentum";
  } else {
    choice.name = "riluk";
  }
  return choice;
}

void FieldSystem::warn(const std::string& message) const {
  WarningInFunction << "solver capstan, field " << facts.label.c_str() << ": " << message.c_str() << Foam::endl;
}

void FieldSystem::note(const std::string& message) const {
  Foam::Info << "Capstan: " << facts.label.c_str() << ": " << message.c_str() << Foam::endl;
}

Foam::solverPerformance solveField(const Foam::lduMatrix::solver& self, const LduSystem& system,
                                   Foam::direction component, const Foam::dictionary& dict, const Limits& limits,
                                   Foam::scalarField& psi, const Foam::scalarField& source) {
  const auto* const mesh = dynamic_cast<const Foam::polyMesh*>(&system.matrix.mesh());
  const auto context = fieldContext(system.matrix, mesh, self.fieldName());
  const auto controls = context->knownControls.of(dict, {system.matrix.symmetric(), mesh != nullptr, context->steady});
  if (mesh != nullptr) context->solves.count(mesh->time().timeIndex());
  FieldSystem field(self, system, component, limits, mesh, *context, *controls, psi, source);
  const auto cost = context->driver->solve(field, controls->plan, controls->dump, psi.data(), controls->summary);
  if (SolveRecorder::wanted()) SolveRecorder::record(solveOrigin(system.matrix, self.fieldName()), cost);
  return Foam::solverPerformance(printedName(cost.method), self.fieldName(), cost.initialResidual, cost.finalResidual,
                                 cost.iterations, cost.converged);
}

}  // namespace capstan::foam
