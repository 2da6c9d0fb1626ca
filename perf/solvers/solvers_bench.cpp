/// \file
/// solvers_bench: times the solvers of a deck against each other and against PETSc's, interleaved, and writes JSON.
///
/// perf/bench starts it under mpirun. Exit status: 0 measured (also when some solver failed: the results say so),
/// 2 wrong input, 3 internal error.

#include <dlfcn.h>
#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <Tpetra_Core.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "adapters/tools/program.hpp"
#include "belos_ext/support/output_file.hpp"
#include "perf/solvers/belos_contestants.hpp"
#include "perf/solvers/contest.hpp"
#include "perf/solvers/drifting_matrix.hpp"
#include "perf/solvers/peers.hpp"
#include "perf/solvers/reference.hpp"

namespace {

namespace deck = capstan::deck;
namespace perf = capstan::perf;
namespace tools = capstan::tools;

constexpr int exitMeasured = 0;

struct Arguments {
  deck::DeckSource source;
  perf::ContestOptions contest;
  int repeat = 0;  ///< 0: as the deck says
  std::vector<std::string> petsc;
  std::vector<std::string> hypre;
  std::string output;
  std::string marker;
  std::string system;  ///< empty: all
  std::vector<std::string> crashed;
  int laterTurn = 0;        ///< the first turn with another emulated latency; 0: none
  double laterLatency = 0;  ///< microseconds
  double drift = 0;         ///< part of an entry of the matrix by which it grows over the turns
  bool checkOnly = false;
  bool reference = false;
  bool anew = false;
};

/// Of --latency-later. \throws CLI::ValidationError
void readLater(const std::string& text, Arguments& arguments) {
  char end = 0;
  const int found = std::sscanf(text.c_str(), "%d:%lf%c", &arguments.laterTurn, &arguments.laterLatency, &end);
  if (found == 2 && arguments.laterTurn >= 1 && arguments.laterLatency >= 0 && arguments.laterLatency <= 1e7) return;
  throw CLI::ValidationError(
      "--latency-later", fmt::format("found '{}'; allowed: TURN:US, a turn from 1 on and 0 to 1e7 microseconds", text));
}

/// Reads the command line. True when the program should go on; else `status` is the exit status.
bool parse(int argc, char** argv, bool talks, Arguments& arguments, int& status) {
  CLI::App app{"Times the solvers of a deck against each other on every system that names them.", "solvers_bench"};
  app.add_option("deck", arguments.source.file, "the deck, a YAML file with linear_solvers and systems")->required();
  auto* output = app.add_option("--output", arguments.output,
                                "the JSON file to write; with --check, what the deck asks of a benchmark");
  auto* check = app.add_flag("--check", arguments.checkOnly, "only look whether deck and options are right");
  app.add_option("--set", arguments.source.overrides, "change the deck: key=value; may be repeated")
      ->take_all()
      ->allow_extra_args(false)
      ->expected(1);
  app.add_option("--system", arguments.system, "only this one of the deck's systems");
  app.add_option("--repeat", arguments.repeat,
                 "timed solves of each solver (default: the deck's campaign.repeat, or 7)")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--seed", arguments.contest.seed,
                 "of the order in which the solvers take turns, and of right-hand sides");
  app.add_option("--marker", arguments.marker, "keep the SYSTEM/SOLVER at work in this file, should it crash");
  app.add_option("--crashed", arguments.crashed, "leave SYSTEM/SOLVER out and list it as crashed; may be repeated")
      ->take_all()
      ->allow_extra_args(false)
      ->expected(1);
  app.add_flag("--reference", arguments.reference,
               "measure memory bandwidth and all-reduces ahead of every turn, which limits and the noise check need");
  std::string later;
  app.add_option("--latency-later", later,
                 "TURN:US: from that turn on an all-reduce takes so many microseconds (under the latency layer)");
  app.add_option("--drift", arguments.drift, "entries of the matrix grow by up to that part of them over the turns")
      ->check(CLI::Range(0.0, 1.0));
  app.add_flag("--anew", arguments.anew, "make Capstan's and Belos' solvers anew for each solve, as part of it");
  app.add_option("--counted-after", arguments.contest.countedAfter,
                 "one solver after the other; solves after so many are what valgrind counts (perf/overhead/run)")
      ->check(CLI::Range(1, 1000000));
  app.add_flag("--mpi-threads", "start MPI for several threads, as the parameter Progress: thread needs it");
  app.add_option("--hypre", arguments.hypre, "hypre's methods, by name, or 'off' (default: all)")->delimiter(',');
  app.add_option("--petsc", arguments.petsc, "PETSc's methods, by name, or 'off' (default: all)")->delimiter(',');
  try {
    app.parse(argc, argv);
    if (check->count() == 0 && output->count() == 0) throw CLI::RequiredError("--output");
    if (!later.empty()) readLater(later, arguments);
  } catch (const CLI::ParseError& error) {
    status = error.get_exit_code() == 0 ? exitMeasured : tools::exitMisuse;
    if (talks) app.exit(error);
    return false;
  }
  return true;
}

/// The library that serves BLAS calls; empty when that cannot be told.
std::string blasLibrary() {
  void* const symbol = dlsym(RTLD_DEFAULT, "dgemm_");
  Dl_info info;
  if (symbol == nullptr || dladdr(symbol, &info) == 0) return "";
  std::error_code failed;
  const auto path = std::filesystem::canonical(info.dli_fname, failed);
  return failed ? info.dli_fname : path.string();
}

nlohmann::json build() {
  return {{"compiler", CAPSTAN_BENCH_COMPILER},
          {"flags", CAPSTAN_BENCH_FLAGS},
          {"trilinos", CAPSTAN_BENCH_TRILINOS},
          {"capstan", CAPSTAN_VERSION},
          {"blas", blasLibrary()}};
}

std::string mpiLibrary() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string whole(text, static_cast<std::size_t>(length));
  return whole.substr(0, whole.find_first_of(",\n"));
}

nlohmann::json orNull(const std::string& text) { return text.empty() ? nlohmann::json(nullptr) : nlohmann::json(text); }

/// What the latency layer (perf/latency) is asked for where it is loaded under this program and delays something; null
/// where all times are the machine's own.
nlohmann::json emulation() {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  bool loaded = false;
  while (std::getline(maps, line)) loaded = loaded || line.find("/libcapstan_latency.so") != std::string::npos;
  const char* latency = std::getenv("CAPSTAN_LATENCY_US");
  if (!loaded || latency == nullptr) return nullptr;
  return {{"CAPSTAN_LATENCY_US", latency}};
}

/// Changes the latency layer's latency. \throws InputError where it is not loaded, or delays nothing
void setLatency(double microseconds) {
  const auto set = reinterpret_cast<int (*)(double)>(dlsym(RTLD_DEFAULT, "capstan_latency_set"));
  if (set == nullptr || set(microseconds) == 0) {
    throw deck::InputError(
        "--latency-later: the latency layer is not loaded, or has no CAPSTAN_LATENCY_US (perf/latency)");
  }
}

void writeFile(const std::string& path, const std::string& text) {
  try {
    capstan::writeOutput(path, text);
  } catch (const std::runtime_error& error) {
    throw deck::InputError(fmt::format("--output: {}", error.what()));
  }
}

/// One line that is overwritten, on a terminal.
void showTurn(const std::string& system, int turn, int repeat, const std::string& name) {
  const std::string what = turn == 0 ? "warm-up" : fmt::format("turn {}/{}", turn, repeat);
  fmt::print(stderr, "\r\033[K{}: {}: {}", system, what, name);
  std::fflush(stderr);
}

nlohmann::json measureSystem(const Arguments& arguments, const deck::Deck& input, const deck::SystemOptions& system,
                             const perf::Peers& petsc, const perf::Peers& hypre, bool talks, nlohmann::json& notes) {
  const auto comm = Tpetra::getDefaultComm();
  if (talks && tools::progressWanted()) fmt::print(stderr, "\r\033[K{}: building", system.name);
  perf::Field field = perf::buildField(input, system, comm, petsc.any(), arguments.contest.seed, arguments.anew);
  for (const auto* peers : {&petsc, &hypre}) {
    for (const auto& note : peers->join(input, system, field)) notes.push_back(note);
  }
  perf::ContestOptions options = arguments.contest;
  for (const auto& name : arguments.crashed) {
    if (name.rfind(system.name + "/", 0) == 0) options.crashed.insert(name.substr(system.name.size() + 1));
  }
  const bool progress = talks && tools::progressWanted();
  const bool marks = talks && !arguments.marker.empty();
  std::optional<perf::Reference> reference;
  if (arguments.reference) reference.emplace(MPI_COMM_WORLD, perf::workingSetBytes(field.rows, field.entries));
  std::optional<perf::DriftingMatrix> drifting;
  if (arguments.drift > 0 && (petsc.any() || hypre.any())) {
    throw deck::InputError("--drift: found peers, which have matrices of their own; allowed: --petsc off --hypre off");
  }
  if (arguments.drift > 0) drifting.emplace(field.A, arguments.drift, options.repeat);
  options.newTurn = [&](int turn) {
    if (drifting) drifting->select(turn);
    if (turn == arguments.laterTurn && turn > 0) setLatency(arguments.laterLatency);
    if (field.rightHandSides) field.rightHandSides->select(turn, field.local);
    if (reference) reference->measure(turn);
  };
  options.before = [&](int turn, const std::string& name) {
    if (progress) showTurn(system.name, turn, options.repeat, name);
    if (marks) std::ofstream(arguments.marker) << system.name << '/' << name;
  };
  const auto scores = perf::runContest(field.contestants, MPI_COMM_WORLD, options);
  nlohmann::json out = {{"name", field.name}, {"rows", field.rows}, {"entries", field.entries}};
  if (reference) {
    reference->measure(options.repeat + 1);  // and after the last turn
    out["reference"] = reference->toJson();
  }
  out["solvers"] = nlohmann::json::array();
  for (const auto& score : scores) out["solvers"].push_back(perf::toJson(score));
  return out;
}

/// The deck's systems, and what its block `campaign` asks for, as perf/bench reads it.
nlohmann::json plan(const deck::Deck& input) {
  const auto& campaign = input.campaign;
  auto systems = nlohmann::json::array();
  for (const auto& system : input.systems) systems.push_back(system.name);
  return {{"repeat", campaign.repeat > 0 ? nlohmann::json(campaign.repeat) : nlohmann::json(nullptr)},
          {"latency", campaign.latencies.empty() ? nlohmann::json(nullptr) : nlohmann::json(campaign.latencies)},
          {"systems", systems}};
}

void measure(Arguments arguments, bool talks) {
  const auto comm = Tpetra::getDefaultComm();
  const deck::Deck input = deck::loadDeck(arguments.source, comm);
  for (const int wanted : {input.campaign.repeat, arguments.repeat}) {
    if (wanted > 0) arguments.contest.repeat = wanted;
  }
  const perf::Peers petsc("--petsc", arguments.petsc, perf::petscLibrary);
  const perf::Peers hypre("--hypre", arguments.hypre, perf::hypreLibrary);
  if (arguments.checkOnly) {
    if (talks && !arguments.output.empty()) writeFile(arguments.output, plan(input).dump() + "\n");
    return;
  }
  auto notes = nlohmann::json::array();
  for (const auto& warning : input.warnings) notes.push_back(warning);
  nlohmann::json out = {{"deck", input.file},
                        {"overrides", arguments.source.overrides},
                        {"ranks", comm->getSize()},
                        {"repeat", arguments.contest.repeat},
                        {"seed", arguments.contest.seed},
                        {"right_hand_side", input.campaign.changingRightHandSide ? "changing" : "fixed"},
                        {"build", build()},
                        {"mpi", mpiLibrary()},
                        {"emulation", emulation()},
                        {"petsc", orNull(petsc.version())},
                        {"hypre", orNull(hypre.version())}};
  out["systems"] = nlohmann::json::array();
  for (const auto& system : input.systems) {
    if (!arguments.system.empty() && system.name != arguments.system) continue;
    out["systems"].push_back(measureSystem(arguments, input, system, petsc, hypre, talks, notes));
    out["notes"] = notes;
    if (!talks) continue;
    // After every system: a run that is interrupted keeps those that are done.
    writeFile(arguments.output, out.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  }
  if (talks && tools::progressWanted()) fmt::print(stderr, "\r\033[K");
  if (out["systems"].empty())
    throw deck::InputError(fmt::format("--system: found '{}'; no such system", arguments.system));
}

int run(int argc, char** argv, bool talks) {
  Arguments arguments;
  int status = exitMeasured;
  if (parse(argc, argv, talks, arguments, status)) measure(arguments, talks);
  return status;
}

}  // namespace

int main(int argc, char** argv) { return capstan::tools::runProgram("solvers_bench", argc, argv, run); }
