/// \file
/// Rows of the parameter table: how the messages of products with A travel, and those of reductions.

#include <limits>
#include <stdexcept>

#include "belos_ext/parameters/parameter_groups.hpp"
#include "belos_ext/parameters/parameter_row_makers.hpp"

namespace capstan::rows {
namespace {

ParameterRow messageSizeCutoff() {
  ParameterRow row = described(
      "Message Size Cutoff", "int or string", ">= 1, or auto",
      "For the strategies optimal and tuned, in bytes: what a node sends to another one is gathered into one message "
      "up "
      "to this size, and split over the ranks of the nodes above it. auto: the size up to which the MPI sends without "
      "asking the receiver (eager limit) where it tells, else 8192; the report has it.");
  row.words = {"auto"};
  row.parse = [](const Teuchos::ParameterEntry& entry, ParameterState& state) {
    const int value = isWord(entry, "auto") ? 0 : toInt(entry);
    if (value < 1 && !isWord(entry, "auto")) throw std::invalid_argument("is out of range");
    state.options.messageSizeCutoff = value;
  };
  row.print = [](const ParameterState& state, Teuchos::ParameterList& list) {
    if (state.options.messageSizeCutoff == 0) {
      list.set("Message Size Cutoff", std::string("auto"));
    } else {
      list.set("Message Size Cutoff", state.options.messageSizeCutoff);
    }
  };
  return row;
}

}  // namespace

std::vector<ParameterRow> communication() {
  using Sums = topology::ReductionStrategy;
  return {
      choice(
          "Communication Strategy", &SolverOptions::communicationStrategy,
          "How a product with A brings the ranks what they need of each other, where A is a Tpetra::CrsMatrix; another "
          "operator computes its products itself, and the report says so. application: as the operator does; on CPUs "
          "Capstan multiplies by a Tpetra::CrsMatrix itself, with the matrix' own messages. "
          "standard: each rank sends to each. two-step: a value goes to another node once. three-step: one message "
          "from node to node. optimal: three-step for few bytes, split over the node's ranks for many. tuned: what a "
          "few products show to be fastest, the operator's own way among them. The plan is kept for later solves "
          "(\"State Cache\"). Products of a solve before the ranks have agreed are the operator's own."),
      integer(
          "Ranks Per Node", &SolverOptions::ranksPerNode, 0, std::numeric_limits<int>::max(), ">= 0",
          "For \"Communication Strategy\" and \"Reduction Strategy\": which ranks are taken for a node. N: ranks 0 to "
          "N - 1, N to 2 N - 1, and "
          "so on; where N does not divide the number of ranks, the last node has fewer. 0: those that share memory."),
      messageSizeCutoff(),
      choice(
          "Hypercube Mapping", &SolverOptions::hypercubeMapping,
          "Which rank stands where in the hypercube through which an embedded exchange goes: ranks that exchange "
          "much are to be near each other, so that few values are passed on. Nothing is moved. none: rank by rank. "
          "klr: swaps of neighbours (Kernighan and Lin), fast. klf: all swaps; for some hundred ranks. With \"Ranks "
          "Per Node\" a power of two, or ranks that share memory, the ranks of a node stand together, and values cross "
          "the network before they are spread."),
      choice(
          "Reduction Strategy", &SolverOptions::reductionStrategy, {Sums::Mpi, Sums::NodeAware, Sums::Tuned},
          "How all-reduces of a solve are done. mpi: by MPI's own. node-aware: summed on each node, then between one "
          "rank of each, then handed out on the nodes; where there is one node, or one rank on each, by MPI's own. "
          "tuned: each size as some all-reduces show to be fastest when the first solve on the communicator begins; "
          "the report has the times. The first all-reduce of a solve, before the ranks have agreed, is MPI's own."),
  };
}

}  // namespace capstan::rows
