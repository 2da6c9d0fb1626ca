// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What the OpenFOAM side, libcapstanFoam.so, asks of the Trilinos side, libcapstanFoamTrilinos.so.
///
/// The two are not linked. OpenFOAM loads libcapstanFoam.so into every program of a case, and shows its symbols, and
/// those of all that it needs, to all that is loaded later: Trilinos' Scotch, METIS, HYPRE and MUMPS would stand in for
/// those of decomposePar. So the Trilinos side is opened at the first solve, and shows its symbols to nobody.
///
/// Objects that the OpenFOAM side gets from here have virtual functions, since it can call no others.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "adapters/driver/field_driver.hpp"

namespace capstan::foam {

/// Makes the objects of the Trilinos side. The functions throw std::exception as those do that they are named after.
class TrilinosSide {
 public:
  /// As capstan::atRunEnd() (adapters/run_end).
  virtual void atRunEnd(std::function<void()> action) const = 0;
  /// Initialises Kokkos, and Tpetra where MPI runs, unless they are. Local.
  virtual void start() const = 0;
  /// As driver::makeFieldDriver().
  virtual std::unique_ptr<driver::FieldDriver> fieldDriver(const std::string& mesh) const = 0;
  /// As driver::makePlan().
  virtual driver::Plan plan(const driver::Wishes& wishes) const = 0;
  /// Names of all preconditioners on an assembled matrix, for messages. Local.
  virtual std::vector<std::string> preconditionerNames() const = 0;

 protected:
  TrilinosSide() = default;
  ~TrilinosSide() = default;
  TrilinosSide(const TrilinosSide&) = default;
  TrilinosSide& operator=(const TrilinosSide&) = default;
};

/// Tells two releases of what is passed between the sides apart. Raise the first number where a function changes and no
/// size does.
constexpr unsigned long sideStamp = [] {
  unsigned long stamp = 2;
  for (const unsigned long size :
       {sizeof(driver::HostFacts), sizeof(driver::Agreement), sizeof(driver::CsrPattern), sizeof(driver::Setting),
        sizeof(driver::PreconditionerChoice), sizeof(driver::Wishes), sizeof(driver::Plan),
        sizeof(driver::DumpControls), sizeof(driver::SolveCost), sizeof(driver::Shares)}) {
    stamp = 1009 * stamp + size;
  }
  return stamp;
}();

/// The one function of libcapstanFoamTrilinos.so that is found by its name: gives the side, or null where the two
/// libraries are not of one release. Local.
constexpr const char* trilinosSideFunction = "capstanFoamTrilinosSide";

}  // namespace capstan::foam
