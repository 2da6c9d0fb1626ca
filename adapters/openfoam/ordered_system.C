// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
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

// Calls visit(cell) for each face of every coupled patch; for a cell more than once where it has several.
template <class Visit>
void forCellsBesidePatches(const LduSystem& system, const Visit& visit) {
  forAll(system.interfaces, patch) {
    if (!system.interfaces.set(patch)) continue;
    for (const Foam::label cell : system.matrix.lduAddr().patchAddr(patch)) visit(cell);
  }
}

}  // namespace

bool OrderedParts::take(const LduSystem& system, bool comesAgain) {
  comesAgain_ = comesAgain;
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
    beside_.clear();
    cells_.clear();
    rows_.clear();
    firstRun_ = order_->runs().size();
  }
  if (!order_->usable()) return false;
  findCells(system);
  return true;
}

void OrderedParts::findCells(const LduSystem& system) {
  std::size_t face = 0;
  bool same = true;
  forCellsBesidePatches(system,
                        [&](Foam::label cell) { same = same && face < beside_.size() && beside_[face++] == cell; });
  if (same && face == beside_.size()) return;
  beside_.clear();
  forCellsBesidePatches(system, [&](Foam::label cell) { beside_.push_back(cell); });
  cells_ = beside_;
  std::sort(cells_.begin(), cells_.end());
  cells_.erase(std::unique(cells_.begin(), cells_.end()), cells_.end());
  rows_.clear();
  for (const Foam::label cell : cells_) {
    rows_.push_back(static_cast<std::size_t>(order_->places()[static_cast<std::size_t>(cell)]));
  }
  const auto first = std::min_element(rows_.begin(), rows_.end());
  firstRun_ = first == rows_.end() ? order_->runs().size() : order_->runOf(*first);
  across_.setSize(static_cast<Foam::label>(order_->cells()));
  image_.setSize(across_.size());
  across_ = 0;
  image_ = 0;
  added_.assign(order_->cells(), 0);
}

bool OrderedSystem::knows(const std::string& preconditioner) {
  return preconditioner == "DIC" || preconditioner == "FDIC" || preconditioner == "DILU";
}

OrderedSystem::OrderedSystem(OrderedParts& parts, const LduSystem& system, Foam::direction component, double sign,
                             std::string preconditioner, bool splits)
    : parts_(parts),
      system_(system),
      component_(component),
      sign_(sign),
      preconditioner_(std::move(preconditioner)),
      splits_(splits) {
  const auto& matrix = system.matrix;
  parts.matrix_.take(parts.order_, matrix.diag().cdata(), matrix.lower().cdata(), matrix.upper().cdata(), sign,
                     parts.comesAgain_);
}

template <class Read, class Add, class Work>
void OrderedSystem::couple(const Read& read, const Add& add, const Work& work) {
  const auto& cells = parts_.cells_;
  const auto& rows = parts_.rows_;
  auto& across = parts_.across_;
  auto& image = parts_.image_;
  for (std::size_t k = 0; k < cells.size(); ++k) across[cells[k]] = read(rows[k]);
  const auto request =
      startCouplings(system_.matrix, system_.interfaceBouCoeffs, system_.interfaces, across, image, component_);
  work();
  finishCouplings(system_.matrix, system_.interfaceBouCoeffs, system_.interfaces, across, image, component_, request);
  for (std::size_t k = 0; k < cells.size(); ++k) {
    add(rows[k], sign_ * image[cells[k]]);
    image[cells[k]] = 0;
  }
}

void OrderedSystem::apply(const double* x, double* y) {
  const auto multiply = [&] { parts_.matrix_.multiply(x, y); };
  if (parts_.cells_.empty()) return multiply();
  couple([&](std::size_t row) { return x[row]; }, [&](std::size_t row, double value) { y[row] += value; }, multiply);
}

void OrderedSystem::applySplit(const double* v, double* w) {
  auto& matrix = parts_.matrix_;
  const std::size_t run = parts_.firstRun_;
  const double* const u = matrix.beginSplit(v, run);
  const auto goOn = [&] { matrix.goOnSplit(v, w, run); };
  if (parts_.cells_.empty()) {
    goOn();
    return matrix.endSplit(v, nullptr, w, run);
  }
  const double* const right = matrix.right();
  const double* const left = matrix.left();
  double* const added = parts_.added_.data();
  couple([&](std::size_t row) { return right[row] * u[row]; },
         [&](std::size_t row, double value) { added[row] = left[row] * value; }, goOn);
  matrix.endSplit(v, added, w, run);
}

}  // namespace capstan::foam
