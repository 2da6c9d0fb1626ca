/// \file
/// Rows of the parameter table: how the messages of products with A travel, and those of reductions; what hides them,
/// and who computes meanwhile.

#include <limits>
#include <stdexcept>
#include <utility>

#include "belos_ext/parameters/parameter_row_makers.hpp"

namespace capstan {

using namespace rows;

namespace {

ParameterRow messageSizeCutoffRow() {
  ParameterRow row = described(
      "Message Size Cutoff", "int or string", ">= 1, or auto",
      "For the strategies optimal and tuned, in bytes: what a node sends to another one is gathered into one message "
      "up to this size, and split over the ranks of the nodes above it. auto: the size up to which the MPI sends "
      "without asking the receiver (eager limit) where it tells, else 8192; the report has it.");
  row.words = {"auto"};
  return bound(
      std::move(row), &CommunicationOptions::messageSizeCutoff,
      [](const Teuchos::ParameterEntry& entry) {
        return isWord(entry, "auto") ? 0 : toInt(entry, 1, std::numeric_limits<int>::max());
      },
      [](int value) {
        Teuchos::ParameterEntry entry(std::string("auto"));
        if (value != 0) entry.setValue(value);
        return entry;
      });
}

}  // namespace

std::vector<ParameterRow> CommunicationOptions::rows() {
  using Sums = topology::ReductionStrategy;
  using Aware = topology::DeviceAwareMpi;
  return {
      choice("Communication Strategy", &CommunicationOptions::communicationStrategy,
             "How a product with A brings the ranks what they need of each other, where A is a Tpetra::CrsMatrix; "
             "another operator computes its products itself, and the report says so. application: as the operator "
             "does; on CPUs Capstan multiplies by a Tpetra::CrsMatrix itself, with the matrix' own messages. standard: "
             "each rank sends to each. two-step: a value goes to another node once. three-step: one message from node "
             "to node. optimal: three-step for few bytes, split over the node's ranks for many. tuned: what a few "
             "products show to be fastest, the operator's own way among them. The plan is kept for later solves "
             "(\"State Cache\"). Products of a solve before the ranks have agreed are the operator's own."),
      integer("Ranks Per Node", &CommunicationOptions::ranksPerNode, 0,
              "For \"Communication Strategy\" and \"Reduction Strategy\": which ranks are taken for a node. N: ranks 0 "
              "to N - 1, N to 2 N - 1, and so on; where N does not divide the number of ranks, the last node has "
              "fewer. 0: those that share memory."),
      messageSizeCutoffRow(),
      choice(
          "Reduction Strategy", &CommunicationOptions::reductionStrategy, {Sums::Mpi, Sums::NodeAware, Sums::Tuned},
          "How all-reduces of a solve are done. mpi: by MPI's own. node-aware: summed on each node, then between one "
          "rank of each, then handed out on the nodes; where there is one node, or one rank on each, by MPI's own. "
          "tuned: each size as some all-reduces show to be fastest when the first solve on the communicator begins; "
          "the report has the times. The first all-reduce of a solve, before the ranks have agreed, is MPI's own."),
      choice(
          "Device Aware MPI", &CommunicationOptions::deviceAwareMpi, {Aware::Auto, Aware::On, Aware::Off},
          "For the messages of a \"Communication Strategy\", where a device has memory that the host does not share: "
          "on: MPI is given addresses of the device. off: copies in page-locked memory of the host. auto: what "
          "CAPSTAN_DEVICE_AWARE_MPI says, else what MPI says of itself. The report has which, and why."),
  };
}

std::vector<ParameterRow> EmbeddingOptions::rows() {
  return {
      choice("Hypercube Mapping", &EmbeddingOptions::hypercubeMapping,
             "Which rank stands where in the hypercube through which an embedded exchange goes: ranks that exchange "
             "much are to be near each other, so that few values are passed on. Nothing is moved. none: rank by rank. "
             "klr: swaps of neighbours (Kernighan and Lin), fast. klf: all swaps; for some hundred ranks. With \"Ranks "
             "Per Node\" a power of two, or ranks that share memory, the ranks of a node stand together, and values "
             "cross the network before they are spread."),
  };
}

std::vector<ParameterRow> HiddenOptions::rows() {
  ParameterRow progress = choice<ProgressMode>(
      "Progress", &HiddenOptions::progress, {ProgressMode::None, ProgressMode::Poll, ProgressMode::Thread},
      "Who lets MPI advance hidden reductions during local work. none: nobody. poll: the solver, between and within "
      "its kernels. thread: a thread, which needs a core of its own and MPI_THREAD_MULTIPLE; without that the solver "
      "polls, with a warning.");
  progress.mayDiffer = true;
  return {
      in(ParameterGroup::Expert, std::move(progress)),
      in(ParameterGroup::Expert,
         boolean("Measure Overlap", &HiddenOptions::measureOverlap,
                 "Whether the report tells how much of the hidden reductions' time was hidden, on the average of the "
                 "ranks. It takes two all-reduces at the end of a solve, and 7 once for each communicator and message "
                 "size. The value must be the same on all ranks.")),
  };
}

std::vector<ParameterRow> ExecutionOptions::rows() {
  ParameterRow execution = choice<Execution>(
      "Execution", &ExecutionOptions::execution,
      "When kernels run, on CPUs. ordered: where they are launched. tasks: on the threads of a rank that has several "
      "cores, in the order in which they are launched, while the rank's own thread goes on: products, inner products "
      "and updates run beside reductions and small dense work. The iterates have the same bits. auto: what "
      "CAPSTAN_EXECUTION says (ordered, tasks, or tasks:N with N threads), else ordered.");
  ParameterRow threads = integer(
      "Threads", &ExecutionOptions::threads, 0, 1024,
      "Threads of a rank that share its kernels, its own included. 0: with \"Execution\" tasks OMP_NUM_THREADS, "
      "else one for each core that the rank may use; else one. Preconditioners that are not Capstan's run on "
      "one.");
  execution.mayDiffer = threads.mayDiffer = true;
  return {in(ParameterGroup::Expert, std::move(execution)), in(ParameterGroup::Expert, std::move(threads))};
}

}  // namespace capstan
