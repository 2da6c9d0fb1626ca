// SPDX-License-Identifier: GPL-3.0-or-later
#include "adapters/openfoam/foam_compat.H"
#include "adapters/openfoam/solve_origin.H"
#include "polyMesh.H"

namespace capstan::foam {
namespace {

bool isField(const Foam::objectRegistry& objects, const Foam::word& name) {
  return objects.foundObject<Foam::regIOobject>(name);
}

}  // namespace

SolveOrigin solveOrigin(const Foam::lduMatrix& matrix, const Foam::word& name) {
  SolveOrigin origin{"-", name, "-"};
  const auto& mesh = matrix.mesh();
  if (const auto* region = dynamic_cast<const Foam::polyMesh*>(&mesh)) origin.region = region->name();
  const auto* const objects = objectsOf(mesh);
  if (objects == nullptr || isField(*objects, name)) return origin;
  // Longest first: xx of a tensor before x of a vector.
  for (const std::string::size_type letters : {2U, 1U}) {
    if (name.size() <= letters) continue;
    const auto cut = name.size() - letters;
    const std::string component = name.substr(cut);
    const Foam::word field(name.substr(0, cut));
    if (component.find_first_not_of("xyzi") == std::string::npos && isField(*objects, field)) {
      origin.field = field;
      origin.component = component;
      break;
    }
  }
  return origin;
}

}  // namespace capstan::foam
