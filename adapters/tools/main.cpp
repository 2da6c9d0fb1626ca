/// \file
/// capstan-solve: solves the systems of a deck through Belos::SolverFactory, as an application would.
///
/// Exit status: 0 when everything converged, 1 when something did not, 2 for wrong input, 3 for another failure.

#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <Tpetra_Core.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "adapters/deck/deck.hpp"
#include "adapters/deck/solve.hpp"
#include "adapters/tools/counted_mpi.hpp"
#include "adapters/tools/output.hpp"
#include "adapters/tools/output_files.hpp"
#include "adapters/tools/program.hpp"
#include "belos_ext/parameters/method_traits.hpp"
#include "belos_ext/parameters/parameter_table.hpp"
#include "belos_ext/support/output_file.hpp"

namespace {

namespace deck = capstan::deck;
namespace tools = capstan::tools;

constexpr int exitConverged = 0;
constexpr int exitNotConverged = 1;
using tools::exitMisuse;

struct Arguments {
  deck::DeckSource source;
  std::string report;
  std::string history;
  bool quiet = false;
  bool list = false;
  bool markdown = false;
  bool costs = false;
};

/// Reads the command line. True when the program should go on; else `status` is the exit status.
bool parse(int argc, char** argv, bool talks, Arguments& arguments, int& status) {
  CLI::App app{"Solves the linear systems of a deck through Belos::SolverFactory and prints a table of results.",
               "capstan-solve"};
  app.footer(
      "Exit status: 0 everything converged, 1 something did not, 2 wrong input, 3 another failure.\n"
      "Progress is shown on a terminal; CAPSTAN_PROGRESS=1 shows it under mpirun, which hides the terminal.");
  app.set_version_flag("--version", "capstan-solve " CAPSTAN_VERSION, "show the version and exit");
  app.add_option("deck", arguments.source.file, "the deck, a YAML file with linear_solvers and systems");
  app.add_option("--solver", arguments.source.solver, "use this entry of linear_solvers, or 'all', for every system");
  app.add_option("--set", arguments.source.overrides,
                 "change the deck: key=value with a full key (systems[0].rhs=ones) or one of the linear solvers "
                 "(tolerance=1e-8, 'parameters.Step Size=10'); may be repeated")
      ->take_all()
      ->allow_extra_args(false)
      ->expected(1);
  app.add_option("--report", arguments.report, "write a JSON report to this file");
  app.add_option("--history", arguments.history, "write the residual histories to this CSV file");
  app.add_flag("--quiet", arguments.quiet, "print no table and no progress; errors still show");
  app.add_flag("--mpi-threads", "start MPI for several threads, as the parameter Progress: thread needs it");
  auto* list = app.add_subcommand("list", "show the solvers and the parameters, with ranges and defaults");
  list->add_flag("--markdown", arguments.markdown, "as Markdown tables");
  list->add_flag("--costs", arguments.costs, "only what an iteration of each solver costs, with default parameters");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    status = error.get_exit_code() == 0 ? exitConverged : exitMisuse;
    if (talks) app.exit(error);
    return false;
  }
  arguments.list = list->parsed();
  if (arguments.list || !arguments.source.file.empty()) return true;
  status = exitMisuse;
  if (talks) fmt::print(stderr, "capstan-solve: no deck given\n{}", app.help());
  return false;
}

void printCosts(bool markdown) { fmt::print("{}", markdown ? capstan::costTableMarkdown() : capstan::costTableText()); }

void printTables(bool markdown) {
  if (markdown) {
    fmt::print("{}\n{}\n{}", capstan::solverTableMarkdown(), capstan::parameterTableMarkdown(),
               capstan::costTableMarkdown());
  } else {
    fmt::print("Solvers\n\n{}\nParameters\n\n{}", capstan::solverTableText(), capstan::parameterTableText());
  }
}

/// Prints what rank 0 has found wrong; false on all ranks where it is anything. Collective.
bool noneFound(const std::vector<std::string>& found) {
  for (const auto& line : found) fmt::print(stderr, "{}\n", line);
  int failed = found.empty() ? 0 : 1;
  MPI_Bcast(&failed, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return failed == 0;
}

deck::RunOptions runOptions(const Arguments& arguments, bool progress, long long total, long long& done) {
  deck::RunOptions options;
  options.history = !arguments.history.empty();
  options.reductions = [] {
    const tools::MpiCounts counts = tools::mpiCounts();
    return counts.blockingReductions + counts.nonblockingReductions;
  };
  if (!progress) return options;
  options.before = [total, &done](const deck::SolveRecord& record) {
    fmt::print(stderr, "[{}/{}] {} ({} rows), step {}, {} ... ", ++done, total, record.system, record.rows,
               record.step + 1, record.solver);
    std::fflush(stderr);
  };
  options.after = [](const deck::SolveRecord& record) {
    fmt::print(stderr, "{} in {} iterations, {:.3f} s\n", record.converged ? "converged" : "NOT converged",
               record.iterations, record.setupSeconds + record.solveSeconds);
  };
  return options;
}

int solveDeck(const Arguments& arguments, bool talks) {
  const std::vector<tools::NamedFile> outputs = {{"--report", arguments.report}, {"--history", arguments.history}};
  const std::vector<std::string> nothing;
  if (!noneFound(talks ? tools::whyNotWritable(outputs) : nothing)) return exitMisuse;
  const auto comm = Tpetra::getDefaultComm();
  const deck::Deck input = deck::loadDeck(arguments.source, comm);
  if (!noneFound(talks ? tools::whatIsOverwritten(outputs, input) : nothing)) return exitMisuse;
  if (talks) {
    for (const auto& warning : input.warnings) fmt::print(stderr, "warning: {}\n", warning);
  }
  long long total = 0;
  for (const auto& system : input.systems) {
    total += static_cast<long long>(system.solvers.size()) * system.sequence.steps * system.sequence.outerIterations;
  }
  long long done = 0;
  const bool progress = talks && !arguments.quiet && tools::progressWanted();
  tools::countMpi(true);
  const auto records = deck::runDeck(input, comm, runOptions(arguments, progress, total, done));
  if (talks) {
    if (!arguments.quiet) fmt::print("{}", tools::resultTable(records));
    if (!arguments.report.empty()) {
      capstan::writeOutput(arguments.report, tools::reportJson(input, comm->getSize(), records));
    }
    if (!arguments.history.empty()) capstan::writeOutput(arguments.history, tools::historyCsv(records));
  }
  const bool converged = !records.empty() && std::all_of(records.begin(), records.end(),
                                                         [](const deck::SolveRecord& r) { return r.converged; });
  return converged ? exitConverged : exitNotConverged;
}

int run(int argc, char** argv, bool talks) {
  Arguments arguments;
  int status = exitConverged;
  if (!parse(argc, argv, talks, arguments, status)) return status;
  if (!arguments.list) return solveDeck(arguments, talks);
  if (talks && arguments.costs) printCosts(arguments.markdown);
  if (talks && !arguments.costs) printTables(arguments.markdown);
  return exitConverged;
}

}  // namespace

int main(int argc, char** argv) { return capstan::tools::runProgram("capstan-solve", argc, argv, run); }
