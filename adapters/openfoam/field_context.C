// SPDX-License-Identifier: GPL-3.0-or-later
#include <cmath>
#include <iostream>
#include <map>

#include "Time.H"
#include "adapters/openfoam/field_context.H"
#include "adapters/openfoam/start_trilinos.hpp"
#include "polyMesh.H"

namespace capstan::foam {
namespace {

struct Registry {
  std::map<std::string, std::shared_ptr<const MeshGraph>> meshes;
  std::map<std::string, std::shared_ptr<FieldContext>> fields;
  RunSummary summary;
  bool printSummary = false;
};

void endRun(Registry*& registry) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (registry->printSummary && rank == 0) {
    registry->summary.print(std::cout, ranks);
  }
  delete registry;
  registry = nullptr;
}

// On the heap, and gone before MPI ends: a static would outlive MPI.
Registry& registry() {
  static Registry* instance = nullptr;
  if (instance == nullptr) {
    ensureTrilinos();
    instance = new Registry;
    atMpiFinalize([] { endRun(instance); });
  }
  return *instance;
}

// A reproducible vector with entries in [-1, 1] that no symmetry of the mesh annihilates.
std::vector<double> testVector(std::int64_t first, std::size_t size) {
  std::vector<double> x(size);
  for (std::size_t i = 0; i < size; ++i) {
    x[i] = std::sin(0.7 + 1.3 * static_cast<double>((first + static_cast<std::int64_t>(i)) % 9973));
  }
  return x;
}

}  // namespace

void FieldContext::adopt(const LduSystem& system) {
  solver_.reset();
  graph_.reset();
  matrixAge_ = 0;
  preconditionerAge_ = 0;
  spread = 0;
  std::shared_ptr<const MeshGraph> candidate;
  if (!mesh_.empty()) {
    candidate = registry().meshes[mesh_];
  }
  int shared = candidate != nullptr && candidate->fingerprint == LduCsr::fingerprint(system) ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &shared, 1, MPI_INT, MPI_MIN, meshCommunicator(system.matrix));
  if (shared == 0) {
    candidate = std::make_shared<const MeshGraph>(system);
    if (!mesh_.empty()) {
      registry().meshes[mesh_] = candidate;
    }
  }
  graph_ = candidate;
  solver_ = std::make_unique<CsrSolver>(graph_->graph, field_);
}

bool FieldContext::isDue(const UpdatePolicy& policy, int age) const {
  switch (policy.kind) {
    case UpdatePolicy::Kind::Always:
      return true;
    case UpdatePolicy::Kind::Periodic:
      return age == 0 || age >= policy.frequency;
    case UpdatePolicy::Kind::Adaptive:
      return age == 0 || (freshCost_ > 0 && lastCost_ > policy.growth * freshCost_);
    case UpdatePolicy::Kind::Never:
      return age == 0;
  }
  return true;
}

bool FieldContext::update(const LduSystem& system, Foam::direction component, double sign,
                          const SolverControls& controls) {
  // A kept matrix of the other sign would turn every correction round.
  if (isDue(controls.matrixUpdate, matrixAge_) || sign != sign_) {
    sign_ = sign;
    graph_->csr.values(system, component, sign, values_);
    solver_->setMatrix(values_);
    matrixAge_ = 0;
    preconditionerStale_ = true;
    if (controls.verify) {
      verify(system, component);
    }
  }
  ++matrixAge_;
  const bool renew = preconditionerStale_ && isDue(controls.preconditionerUpdate, preconditionerAge_);
  const bool build = renew || !solver_->hasPreconditioner(controls.preconditioner);
  if (build) {
    const auto warning = solver_->updatePreconditioner(controls.preconditioner);
    if (!warning.empty()) {
      WarningInFunction << "field " << field_.c_str() << ": " << warning.c_str() << Foam::endl;
    }
    preconditionerStale_ = false;
    preconditionerAge_ = 0;
    freshCost_ = 0;
  }
  ++preconditionerAge_;
  return build;
}

void FieldContext::learn(int iterations, double digits) {
  if (iterations == 0 || !(digits > 0)) {
    return;
  }
  lastCost_ = iterations / digits;
  if (freshCost_ == 0) {
    freshCost_ = lastCost_;
  }
}

void FieldContext::verify(const LduSystem& system, Foam::direction component) const {
  const auto& pattern = graph_->csr.pattern();
  const std::size_t rows = pattern.rowStart.size() - 1;
  const auto x = testVector(pattern.firstRow, rows);
  std::vector<double> ours(rows);
  solver_->apply(x.data(), ours.data());

  Foam::solveScalarField field(static_cast<Foam::label>(rows));
  std::copy(x.begin(), x.end(), field.begin());
  Foam::solveScalarField theirs(field.size());
  system.matrix.Amul(theirs, field, system.interfaceBouCoeffs, system.interfaces, component);
  for (std::size_t i = 0; i < rows; ++i) {
    double scale = 0;
    for (auto k = pattern.rowStart[i]; k < pattern.rowStart[i + 1]; ++k) {
      scale += std::abs(values_[static_cast<std::size_t>(k)]);
    }
    const double expected = sign_ * theirs[static_cast<Foam::label>(i)];
    if (!(std::abs(ours[i] - expected) <= 1e-13 * scale)) {
      FatalErrorInFunction << "field " << field_.c_str()
                           << ": the assembled matrix differs from OpenFOAM's own in cell " << i
                           << " of this rank: its product with a test vector is " << ours[i] << ", OpenFOAM's "
                           << expected << Foam::exit(Foam::FatalError);
    }
  }
}

std::shared_ptr<FieldContext> fieldContext(const Foam::lduMatrix& matrix, const Foam::word& field) {
  const auto* mesh = dynamic_cast<const Foam::polyMesh*>(&matrix.mesh());
  if (mesh == nullptr) {
    registry();
    return std::make_shared<FieldContext>("", field);
  }
  const std::string name = mesh->time().globalCaseName() + "/" + mesh->name();
  auto& context = registry().fields[name + "/" + field];
  if (context == nullptr) {
    context = std::make_shared<FieldContext>(name, field);
  }
  return context;
}

void recordSolve(const SolveCost& cost, bool print) {
  registry().summary.add(cost);
  registry().printSummary = registry().printSummary || print;
}

}  // namespace capstan::foam
