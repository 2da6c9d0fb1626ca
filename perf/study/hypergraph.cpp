#include "perf/study/hypergraph.hpp"

#include <mpi.h>

#include <Teuchos_DefaultMpiComm.hpp>
#include <Tpetra_Map.hpp>
#include <Zoltan2_MatrixAdapter.hpp>
#include <Zoltan2_PartitioningProblem.hpp>
#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace capstan::study {
namespace {

// Zoltan2 makes vectors of these: Tpetra must have been built for them.
using Types = Zoltan2::BasicUserTypes<double, int, Tpetra::Map<>::global_ordinal_type>;

/// The matrix as Zoltan2 takes it: rows are what is partitioned.
class ColumnNets : public Zoltan2::MatrixAdapter<Types> {
 public:
  explicit ColumnNets(const MatrixGraph& graph) : ids_(static_cast<std::size_t>(graph.blocks())) {
    std::iota(ids_.begin(), ids_.end(), 0);
    offsets_.push_back(0);
    for (std::size_t block = 0; block < ids_.size(); ++block) {
      const auto first = graph.columns.begin() + static_cast<std::ptrdiff_t>(graph.begin[block]);
      const auto last = graph.columns.begin() + static_cast<std::ptrdiff_t>(graph.begin[block + 1]);
      nets_.insert(nets_.end(), first, last);
      if (std::find(first, last, static_cast<int>(block)) == last) nets_.push_back(static_cast<gno_t>(block));
      offsets_.push_back(static_cast<offset_t>(nets_.size()));
      weights_.push_back(static_cast<double>(std::max<std::ptrdiff_t>(1, last - first)));
    }
  }

  size_t getLocalNumRows() const override { return ids_.size(); }
  size_t getLocalNumColumns() const override { return ids_.size(); }
  size_t getLocalNumEntries() const override { return nets_.size(); }
  bool CRSViewAvailable() const override { return true; }
  void getRowIDsView(const gno_t*& ids) const override { ids = ids_.data(); }
  void getCRSView(Teuchos::ArrayRCP<const offset_t>& offsets, Teuchos::ArrayRCP<const gno_t>& columns) const override {
    offsets = Teuchos::arcp(offsets_.data(), 0, static_cast<Teuchos::Ordinal>(offsets_.size()), false);
    columns = Teuchos::arcp(nets_.data(), 0, static_cast<Teuchos::Ordinal>(nets_.size()), false);
  }
  int getNumWeightsPerRow() const override { return 1; }
  void getRowWeightsView(const scalar_t*& weights, int& stride, int = 0) const override {
    weights = weights_.data();
    stride = 1;
  }
  bool useNumNonzerosAsRowWeight(int) const override { return false; }

 private:
  std::vector<gno_t> ids_, nets_;
  std::vector<offset_t> offsets_;
  std::vector<double> weights_;
};

}  // namespace

topology::RowPartition hypergraphPartition(const MatrixGraph& graph, int parts, double imbalance) {
  if (parts < 1) throw std::invalid_argument("study: parts: " + std::to_string(parts) + "; allowed: 1 or more");
  if (!(imbalance >= 0)) {
    throw std::invalid_argument("study: imbalance: " + std::to_string(imbalance) + "; allowed: 0 or more");
  }
  const auto blocks = static_cast<std::size_t>(graph.blocks());
  std::vector<int> owners(static_cast<std::size_t>(graph.rows()), 0);
  if (parts > 1 && blocks > 0) {
    ColumnNets nets(graph);
    Teuchos::ParameterList options;
    options.set("algorithm", "phg");
    options.set("num_global_parts", parts);
    options.set("imbalance_tolerance", 1 + imbalance);
    auto& zoltan = options.sublist("zoltan_parameters", false);
    zoltan.set("DEBUG_LEVEL", "0");
    zoltan.set("SEED", "1");                       // else it goes on where the last call ended
    zoltan.set("PHG_EDGE_SIZE_THRESHOLD", "1.0");  // else nets of more than a quarter of the rows do not count
    try {
      const auto comm = Teuchos::rcp(new Teuchos::MpiComm<int>(MPI_COMM_SELF));
      Zoltan2::PartitioningProblem<ColumnNets> problem(&nets, &options, comm);
      problem.solve();
      const auto* found = problem.getSolution().getPartListView();
      for (std::size_t row = 0; row < owners.size(); ++row) {
        owners[row] = found[row / static_cast<std::size_t>(graph.rowsOfBlock)];
      }
    } catch (const std::exception& error) {
      throw std::runtime_error("study: Zoltan could not split the hypergraph into " + std::to_string(parts) + ": " +
                               error.what());
    }
  }
  return topology::RowPartition::fromOwners(std::move(owners), parts);
}

}  // namespace capstan::study
