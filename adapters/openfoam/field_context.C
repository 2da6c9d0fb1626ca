// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <map>

#include "Time.H"
#include "adapters/driver/test_vector.hpp"
#include "adapters/openfoam/field_context.H"
#include "tpetra_ext/wall_clock.hpp"

namespace capstan::foam {
namespace {

struct Registry {
  std::map<std::string, MeshParts> meshes;
  std::map<std::string, std::shared_ptr<FieldContext>> fields;
};

// On the heap, and gone before MPI ends, or Kokkos: a static would outlive both.
Registry& registry() {
  static Registry* instance = nullptr;
  if (instance == nullptr) {
    trilinos().start();
    instance = new Registry;
    trilinos().atRunEnd([] {
      delete instance;
      instance = nullptr;
    });
  }
  return *instance;
}

std::string fieldLabel(const Foam::polyMesh* mesh, const Foam::word& field) {
  if (mesh == nullptr || mesh->name() == Foam::polyMesh::defaultRegion) return field;
  return mesh->name() + "/" + field;
}

}  // namespace

bool FieldContext::fits(const LduSystem& system) const {
  return cells_ != nullptr && trilinos().localRows(*cells_) == system.matrix.diag().size();
}

void FieldContext::adopt(const LduSystem& system) {
  solver_.reset();
  graph_.reset();
  assembled_.reset();
  matrixAge_ = 0;
  preconditionerAge_ = 0;
  spread = 0;
  const auto comm = runningCommunicator(system.matrix);
  const std::int64_t cells = system.matrix.diag().size();
  MeshParts& parts = registry().meshes[mesh_];
  int shared = parts.cells != nullptr && trilinos().localRows(*parts.cells) == cells ? 1 : 0;
  if (comm != MPI_COMM_NULL) MPI_Allreduce(MPI_IN_PLACE, &shared, 1, MPI_INT, MPI_MIN, comm);
  if (shared == 0) parts = {trilinos().rowMap(comm, cells), nullptr, nullptr};
  cells_ = parts.cells;
  solver_ = trilinos().krylovSolver(cells_, label_);
}

// The addressing of a mesh may change while its number of cells stays: it is looked at whenever it is used.
void FieldContext::takeGraph(const LduSystem& system) {
  MeshParts& parts = registry().meshes[mesh_];
  const auto comm = meshCommunicator(system.matrix);
  if (!trilinos().isOverMpi(*cells_)) {
    // A serial run has been without MPI so far.
    const auto cells = trilinos().localRows(*cells_);
    if (!trilinos().isOverMpi(*parts.cells) || trilinos().localRows(*parts.cells) != cells) {
      parts = {trilinos().rowMap(comm, cells), nullptr, nullptr};
    }
    cells_ = parts.cells;
    solver_ = trilinos().krylovSolver(cells_, label_);
  }
  const auto fingerprint = LduCsr::fingerprint(system);
  int known[2] = {graph_ != nullptr && graph_->fingerprint == fingerprint ? 1 : 0,
                  parts.graph != nullptr && parts.graph->fingerprint == fingerprint ? 1 : 0};
  MPI_Allreduce(MPI_IN_PLACE, known, 2, MPI_INT, MPI_MIN, comm);
  if (known[0] != 0) return;
  if (known[1] == 0) parts.graph = std::make_shared<const MeshGraph>(system, *cells_);
  graph_ = parts.graph;
  assembled_ = trilinos().assembledPreconditioner(graph_->graph, label_);
  matrixAge_ = preconditionerAge_ = 0;
}

std::shared_ptr<OrderedParts> FieldContext::ordered(const LduSystem& system) {
  auto& parts = registry().meshes[mesh_].ordered;
  if (parts == nullptr) parts = std::make_shared<OrderedParts>();
  return parts->take(system, isSolvedAgain()) ? parts : nullptr;
}

const AssembledPreconditioner* FieldContext::assembled(const LduSystem& system, Foam::direction component, double sign,
                                                       const SolverControls& controls, bool renew, bool& built) {
  takeGraph(system);
  const auto& choice = controls.preconditioner.assembled;
  const bool otherSign = sign != sign_;  // a preconditioner of the other sign would turn every correction round
  const bool takes = renewal.isDue(controls.matrixUpdate, matrixAge_);
  built = renew || otherSign || !assembled_->has(choice) ||
          (takes && renewal.isDue(controls.preconditionerUpdate, preconditionerAge_));
  ++matrixAge_;
  ++preconditionerAge_;
  if (!built) return assembled_.get();
  const double start = wallSeconds();
  sign_ = sign;
  if (takes || renew || otherSign || values_.empty()) {
    graph_->csr.values(system, component, sign, values_);
    matrixAge_ = 1;
  }
  findings_ = assembled_->update(choice, values_, forConjugateGradients(controls.solver.method));
  if (controls.verify) verify(system, component, sign);
  preconditionerAge_ = 1;
  renewal.built(wallSeconds() - start);
  return assembled_.get();
}

void FieldContext::verify(const LduSystem& system, Foam::direction component, double sign) const {
  const auto& pattern = graph_->csr.pattern();
  const std::size_t rows = pattern.rowStart.size() - 1;
  const auto x = testVector(pattern.firstRow, rows);
  std::vector<double> ours(rows);
  assembled_->apply(x.data(), ours.data());

  Foam::solveScalarField field(static_cast<Foam::label>(rows));
  std::copy(x.begin(), x.end(), field.begin());
  Foam::solveScalarField theirs(field.size());
  system.matrix.Amul(theirs, field, system.interfaceBouCoeffs, system.interfaces, component);
  for (std::size_t i = 0; i < rows; ++i) {
    double scale = 0;
    for (auto k = pattern.rowStart[i]; k < pattern.rowStart[i + 1]; ++k) {
      scale += std::abs(values_[static_cast<std::size_t>(k)]);
    }
    const double expected = sign * theirs[static_cast<Foam::label>(i)];
    if (!(std::abs(ours[i] - expected) <= 1e-13 * scale)) {
      FatalErrorInFunction << "field " << label_.c_str()
                           << ": the assembled matrix differs from OpenFOAM's own in cell " << i
                           << " of this rank: its product with a test vector is " << ours[i] << ", OpenFOAM's "
                           << expected << Foam::exit(Foam::FatalError);
    }
  }
}

std::shared_ptr<FieldContext> fieldContext(const Foam::lduMatrix& matrix, const Foam::polyMesh* mesh,
                                           const Foam::word& field) {
  // The levels of OpenFOAM's multigrid have no name; whatever is kept for one serves any other with as many cells.
  const std::string name = mesh == nullptr ? "level on communicator " + std::to_string(matrix.mesh().comm())
                                           : mesh->time().globalCaseName() + "/" + mesh->name();
  auto& context = registry().fields[name + "/" + field];
  if (context == nullptr) {
    context = std::make_shared<FieldContext>(name, fieldLabel(mesh, field));
  }
  return context;
}

}  // namespace capstan::foam
