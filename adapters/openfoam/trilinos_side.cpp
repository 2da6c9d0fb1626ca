// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/openfoam/trilinos_side.hpp"

#include <Teuchos_DefaultMpiComm.hpp>
#include <utility>

#include "adapters/openfoam/start_trilinos.hpp"
#include "adapters/openfoam/trilinos_types.hpp"
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

  std::shared_ptr<const CellMap> cellMap(MPI_Comm comm, std::int64_t cells) const override {
    return makeCellMap(comm, cells);
  }
  bool isOverMpi(const CellMap& map) const override {
    return dynamic_cast<const Teuchos::MpiComm<int>*>(map.map->getComm().get()) != nullptr;
  }
  std::int64_t localCells(const CellMap& map) const override {
    return static_cast<std::int64_t>(compat::localNumElements(*map.map));
  }

  std::shared_ptr<const CsrGraph> graph(const CsrPattern& pattern, const CellMap& cells) const override {
    return makeGraph(pattern, cells);
  }
  std::unique_ptr<AssembledPreconditioner> assembledPreconditioner(std::shared_ptr<const CsrGraph> graph,
                                                                   const std::string& label) const override {
    return std::make_unique<AssembledPreconditioner>(std::move(graph), label);
  }
  std::unique_ptr<FieldSolver> fieldSolver(std::shared_ptr<const CellMap> cells, std::string label) const override {
    return std::make_unique<FieldSolver>(std::move(cells), std::move(label));
  }

  std::string writeSystem(const WholeSystem& system, const ReplayChoice& choice,
                          const std::string& prefix) const override {
    return capstan::foam::writeSystem(system, choice, prefix);
  }

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
