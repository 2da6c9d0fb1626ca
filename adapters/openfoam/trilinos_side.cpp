// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/openfoam/trilinos_side.hpp"

#include <Teuchos_DefaultMpiComm.hpp>
#include <utility>

#include "adapters/driver/run_summary.hpp"
#include "adapters/driver/start_trilinos.hpp"
#include "adapters/driver/trilinos_types.hpp"
#include "adapters/preconditioners/preconditioner.hpp"
#include "belos_ext/parameters/method_traits.hpp"
#include "tpetra_ext/compat/trilinos.hpp"

namespace capstan::foam {
namespace {

class Side final : public TrilinosSide {
 public:
  bool mpiRuns() const override { return capstan::mpiRuns(); }
  void atRunEnd(std::function<void()> action) const override { capstan::atRunEnd(std::move(action)); }
  void start() const override { ensureTrilinos(); }

  std::shared_ptr<const RowMap> rowMap(MPI_Comm comm, std::int64_t cells) const override {
    return makeRowMap(comm, cells);
  }
  bool isOverMpi(const RowMap& map) const override {
    return dynamic_cast<const Teuchos::MpiComm<int>*>(map.map->getComm().get()) != nullptr;
  }
  std::int64_t localRows(const RowMap& map) const override {
    return static_cast<std::int64_t>(compat::localNumElements(*map.map));
  }

  std::shared_ptr<const CsrGraph> graph(const CsrPattern& pattern, const RowMap& cells) const override {
    return makeGraph(pattern, cells);
  }
  std::unique_ptr<AssembledPreconditioner> assembledPreconditioner(std::shared_ptr<const CsrGraph> graph,
                                                                   const std::string& label) const override {
    return std::make_unique<AssembledPreconditioner>(std::move(graph), label);
  }
  std::unique_ptr<KrylovSolver> krylovSolver(std::shared_ptr<const RowMap> cells, std::string label) const override {
    return std::make_unique<KrylovSolver>(
        std::move(cells), std::move(label),
        WhyReserved{"the norm is OpenFOAM's, and the limits follow from tolerance, relTol and maxIter of the field's "
                    "entry; set those",
                    "OpenFOAM judges by its own norm, ||b - A x||_1 / normFactor, and prints it; take the key out, and "
                    "set tolerance and relTol of the field in system/fvSolution"});
  }

  std::string writeSystem(const WholeSystem& system, const ReplayChoice& choice,
                          const std::string& prefix) const override {
    return driver::writeSystem(system, choice, prefix);
  }

  void recordSolve(const SolveCost& cost, bool print) const override { driver::recordSolve(cost, print); }

  std::vector<std::string> preconditionerNames() const override {
    std::vector<std::string> names;
    for (const auto& row : preconditioning::preconditionerNames()) names.push_back(row.name);
    return names;
  }
  bool isOurs(const std::string& method) const override { return findMethod(method) != nullptr; }
  bool needsSymmetric(const std::string& method) const override {
    const MethodTraits* const found = findMethod(method);
    return found != nullptr && found->needsSymmetric;
  }
};

}  // namespace
}  // namespace capstan::foam

extern "C" const capstan::foam::TrilinosSide* capstanFoamTrilinosSide(unsigned long stamp) {
  static const capstan::foam::Side side;
  return stamp == capstan::foam::sideStamp ? &side : nullptr;
}
