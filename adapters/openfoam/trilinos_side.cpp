// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/openfoam/trilinos_side.hpp"

#include <utility>

#include "adapters/driver/start_trilinos.hpp"
#include "adapters/preconditioners/preconditioner.hpp"

namespace capstan::foam {
namespace {

class Side final : public TrilinosSide {
 public:
  void atRunEnd(std::function<void()> action) const override { capstan::atRunEnd(std::move(action)); }
  void start() const override { driver::ensureTrilinos(); }
  std::unique_ptr<driver::FieldDriver> fieldDriver(const std::string& mesh) const override {
    return driver::makeFieldDriver(
        mesh, {"the norm is OpenFOAM's, and the limits follow from tolerance, relTol and maxIter of the field's entry; "
               "set those",
               "OpenFOAM judges by its own norm, ||b - A x||_1 / normFactor, and prints it; take the key out, and set "
               "tolerance and relTol of the field in system/fvSolution"});
  }
  driver::Plan plan(const driver::Wishes& wishes) const override { return driver::makePlan(wishes); }
  std::vector<std::string> preconditionerNames() const override {
    std::vector<std::string> names;
    for (const auto& row : preconditioning::preconditionerNames()) names.push_back(row.name);
    return names;
  }
};

}  // namespace
}  // namespace capstan::foam

extern "C" const capstan::foam::TrilinosSide* capstanFoamTrilinosSide(unsigned long stamp) {
  static const capstan::foam::Side side;
  return stamp == capstan::foam::sideStamp ? &side : nullptr;
}
