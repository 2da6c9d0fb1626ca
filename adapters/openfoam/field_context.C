// SPDX-License-Identifier: GPL-3.0-or-later
#include <map>

#include "IOdictionary.H"
#include "ITstream.H"
#include "Time.H"
#include "adapters/openfoam/field_context.H"
#include "adapters/openfoam/trilinos_library.hpp"

namespace capstan::foam {
namespace {

struct Registry {
  std::map<std::string, std::shared_ptr<OrderedParts>> meshes;
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

// By the schemes of the case, as OpenFOAM's time schemes are chosen.
bool isSteady(const Foam::polyMesh& mesh) {
  if (!mesh.foundObject<Foam::IOdictionary>("fvSchemes")) return false;
  const auto& schemes = mesh.lookupObject<Foam::IOdictionary>("fvSchemes");
  if (!schemes.isDict("ddtSchemes") || !schemes.subDict("ddtSchemes").found("default")) return false;
  const Foam::ITstream& scheme =
      schemes.subDict("ddtSchemes").lookup("default");  // others have numbers behind the name
  return scheme.size() == 1 && scheme[0].isWord() && scheme[0].wordToken() == "steadyState";
}

}  // namespace

const std::string& ToleranceWords::of(double tolerance, double relTol) {
  for (const Known& known : known_) {
    if (known.tolerance == tolerance && known.relTol == relTol) return known.words;
  }
  Foam::OStringStream words;
  words << "tolerance " << tolerance << ", relTol " << relTol;
  if (known_.size() == most) known_.pop_front();
  known_.push_back({tolerance, relTol, words.str()});
  return known_.back().words;
}

std::shared_ptr<FieldContext> fieldContext(const Foam::lduMatrix& matrix, const Foam::polyMesh* mesh,
                                           const Foam::word& field) {
  // The levels of OpenFOAM's multigrid have no name; whatever is kept for one serves any other with as many cells.
  const std::string name = mesh == nullptr ? "level on communicator " + std::to_string(matrix.mesh().comm())
                                           : mesh->time().globalCaseName() + "/" + mesh->name();
  auto& context = registry().fields[name + "/" + field];
  if (context == nullptr) {
    auto& ordered = registry().meshes[name];
    if (ordered == nullptr) ordered = std::make_shared<OrderedParts>();
    context = std::make_shared<FieldContext>();
    context->label = fieldLabel(mesh, field);
    context->driver = trilinos().fieldDriver(name);
    context->steady = mesh != nullptr && isSteady(*mesh);
    context->ordered = ordered;
  }
  return context;
}

}  // namespace capstan::foam
