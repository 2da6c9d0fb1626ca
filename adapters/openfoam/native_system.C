// SPDX-License-Identifier: GPL-3.0-or-later
#include "adapters/openfoam/native_system.H"

namespace capstan::foam {
namespace {

// A field over memory that belongs to somebody else.
class Borrowed {
 public:
  Borrowed(const double* values, Foam::label size) {
    memory().shallowCopy(Foam::UList<Foam::solveScalar>(const_cast<double*>(values), size));
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  ~Borrowed() { memory().shallowCopy(Foam::UList<Foam::solveScalar>()); }  // the field frees what it holds

  Foam::solveScalarField& field() { return field_; }

 private:
  Foam::UList<Foam::solveScalar>& memory() { return field_; }

  Foam::solveScalarField field_;
};

}  // namespace

void NativeSystem::turn(double* values) const {
  if (sign_ > 0) return;
  const Foam::label size = cells();
  for (Foam::label i = 0; i < size; ++i) values[i] = -values[i];
}

void NativeSystem::apply(const double* x, double* y) {
  Borrowed in(x, cells());
  Borrowed out(y, cells());
  system_.matrix.Amul(out.field(), in.field(), system_.interfaceBouCoeffs, system_.interfaces, component_);
  turn(y);
}

void NativeSystem::precondition(const double* r, double* z) {
  Borrowed in(r, cells());
  Borrowed out(z, cells());
  preconditioner_->precondition(out.field(), in.field(), component_);
  turn(z);
}

}  // namespace capstan::foam
