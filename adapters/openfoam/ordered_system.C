// SPDX-License-Identifier: GPL-3.0-or-later
#include <utility>

#include "HashSet.H"
#include "adapters/openfoam/foam_compat.H"
#include "adapters/openfoam/ordered_system.H"

namespace capstan::foam {
namespace {

// Of others it is not known which cells they read.
bool readsCellsBesideIt(const Foam::lduInterface& interface) {
  static const Foam::wordHashSet known{"processor", "processorCyclic", "cyclic", "cyclicAMI", "cyclicACMI"};
  return known.found(interface.type());
}

bool hasCouplings(const LduSystem& system) {
  forAll(system.interfaces, patch) {
    if (system.interfaces.set(patch)) return true;
  }
  return false;
}

// Calls visit(cell) for each face of every coupled patch; for a cell more than once where it has several.
template <class Visit>
void forCellsBesidePatches(const LduSystem& system, const Visit& visit) {
  forAll(system.interfaces, patch) {
    if (!system.interfaces.set(patch)) continue;
    for (const Foam::label cell : system.matrix.lduAddr().patchAddr(patch)) visit(cell);
  }
}

}  // namespace

bool OrderedParts::take(const LduSystem& system) {
  const auto ofMesh = system.matrix.mesh().interfaces();
  forAll(system.interfaces, patch) {
    const bool couples = system.interfaces.set(patch);
    if (couples && !readsCellsBesideIt(system.interfaces[patch].interface())) return false;
    // A patch may read the cells beside another one, its neighbour.
    if (couples != (patch < ofMesh.size() && ofMesh.set(patch))) return false;
  }
  const auto& addressing = system.matrix.lduAddr();
  const auto& lower = addressing.lowerAddr();
  const auto& upper = addressing.upperAddr();
  const auto cells = static_cast<std::size_t>(addressing.size()), faces = static_cast<std::size_t>(lower.size());
  if (order_ == nullptr || !order_->isOf(cells, faces, lower.cdata(), upper.cdata())) {
    order_ = std::make_shared<const LevelOrder>(cells, faces, lower.cdata(), upper.cdata());
  }
  return order_->suits();
}

bool OrderedSystem::knows(const std::string& preconditioner) {
  return preconditioner == "DIC" || preconditioner == "FDIC" || preconditioner == "DILU";
}

OrderedSystem::OrderedSystem(OrderedParts& parts, const LduSystem& system, Foam::direction component, double sign,
                             std::string preconditioner)
    : parts_(parts),
      system_(system),
      component_(component),
      sign_(sign),
      preconditioner_(std::move(preconditioner)),
      coupled_(hasCouplings(system)) {
  const auto& matrix = system.matrix;
  parts.matrix_.take(parts.order_, matrix.diag().cdata(), matrix.lower().cdata(), matrix.upper().cdata(), sign);
  if (!coupled_) return;
  // Couplings read and add to the cells beside them alone.
  for (auto* field : {&parts.across_, &parts.image_}) {
    if (field->size() == matrix.diag().size()) continue;
    field->resize(matrix.diag().size());
    *field = 0;
  }
}

void OrderedSystem::apply(const double* x, double* y) {
  if (!coupled_) return parts_.matrix_.multiply(x, y);
  const int* const place = places();
  auto& across = parts_.across_;
  auto& image = parts_.image_;
  forCellsBesidePatches(system_, [&](Foam::label cell) { across[cell] = x[place[cell]]; });
  const auto request =
      startCouplings(system_.matrix, system_.interfaceBouCoeffs, system_.interfaces, across, image, component_);
  parts_.matrix_.multiply(x, y);
  finishCouplings(system_.matrix, system_.interfaceBouCoeffs, system_.interfaces, across, image, component_, request);
  forCellsBesidePatches(system_, [&](Foam::label cell) {
    y[place[cell]] += sign_ * image[cell];
    image[cell] = 0;
  });
}

}  // namespace capstan::foam
