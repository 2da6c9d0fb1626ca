// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <vector>

#include "adapters/driver/test_vector.hpp"
#include "adapters/openfoam/borrowed_field.H"
#include "adapters/openfoam/native_system.H"

namespace capstan::foam {
void NativeSystem::turn(double* values) const {
  if (sign_ > 0) return;
  const Foam::label size = cells();
  for (Foam::label i = 0; i < size; ++i) values[i] = -values[i];
}

void NativeSystem::apply(const double* x, double* y) {
  BorrowedField in(x, cells());
  BorrowedField out(y, cells());
  system_.matrix.Amul(out.field(), in.field(), system_.interfaceBouCoeffs, system_.interfaces, component_);
  turn(y);
}

void NativeSystem::precondition(const double* r, double* z) {
  BorrowedField in(r, cells());
  BorrowedField out(z, cells());
  preconditioner_->precondition(out.field(), in.field(), component_);
  turn(z);
}

void verifyActions(driver::HostActions& actions, NativeSystem& own, Foam::label cells, const std::string& field) {
  const auto size = static_cast<std::size_t>(cells);
  const int* const places = actions.places();
  const auto placeOf = [&](std::size_t cell) {
    return places == nullptr ? cell : static_cast<std::size_t>(places[cell]);
  };
  const auto x = driver::testVector(0, size);
  std::vector<double> ordered(size), ours(size), theirs(size);
  for (std::size_t cell = 0; cell < size; ++cell) ordered[placeOf(cell)] = x[cell];
  const auto compare = [&](const std::string& what) {
    double largest = 0;
    for (const double value : theirs) largest = std::max(largest, std::abs(value));
    for (std::size_t cell = 0; cell < size; ++cell) {
      const double found = ours[placeOf(cell)];
      if (!(std::abs(found - theirs[cell]) <= 1e-10 * largest)) {
        FatalErrorInFunction << "field " << field.c_str() << ": " << what.c_str()
                             << " with the cells in another order differs "
                             << "from OpenFOAM's in cell " << cell << " of this rank: it makes " << found
                             << " of a test vector, OpenFOAM's " << theirs[cell] << Foam::exit(Foam::FatalError);
      }
    }
  };
  actions.apply(ordered.data(), ours.data());
  own.apply(x.data(), theirs.data());
  compare("the product");
  actions.precondition(ordered.data(), ours.data());
  own.precondition(x.data(), theirs.data());
  compare("the preconditioner " + own.preconditionerName());
  if (driver::SplitActions* const split = actions.split()) {
    std::vector<double> half(size), image(size);
    split->solveRight(ordered.data(), half.data());
    actions.apply(half.data(), image.data());
    split->solveLeft(image.data(), half.data());
    for (std::size_t cell = 0; cell < size; ++cell) theirs[cell] = half[placeOf(cell)];
    split->applySplit(ordered.data(), ours.data());
    compare("the product between the halves of " + own.preconditionerName());
    split->solveLeft(ordered.data(), half.data());
    split->solveRight(half.data(), ours.data());
    own.precondition(x.data(), theirs.data());
    compare("the halves of " + own.preconditionerName());
  }
  Foam::Info << "Capstan: " << field.c_str() << ": product and " << own.preconditionerName().c_str()
             << (places == nullptr ? " are OpenFOAM's" : " in another order of the cells equal OpenFOAM's")
             << Foam::endl;
}

}  // namespace capstan::foam
