/// \file
/// The soak: random problems against what must hold after every solve, for as long as one likes.
///
/// Problem k of a run has the seed "first + k", and nothing else decides what it is. A failure prints its problem, a
/// simpler one that fails likewise, and the command that repeats it. Exit status: 0 all held, 1 something failed, 2
/// wrong use.

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <Tpetra_Core.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <limits>

#include "belos_ext/test/soak/session.hpp"
#include "belos_ext/test/support/watchdog.hpp"

namespace capstan::soak {
namespace {

using Clock = std::chrono::steady_clock;

struct Choices {
  double minutes = 0;
  long problems = 0;
  std::uint64_t first = 1;
  std::optional<std::uint64_t> seed;
  std::vector<std::string> without;
  double stall = 300;
  int failures = 10;
  std::string fault;
  bool verbose = false, survey = false;
};

const std::vector<std::string>& faults() {
  static const std::vector<std::string> names = {"converged", "nan", "ranks", "throw", "hang", "crash"};
  return names;
}

/// \return an exit status where the program is over
std::optional<int> read(int argc, char** argv, bool speaks, Choices& choices) {
  CLI::App app("Random linear systems against what must hold after every solve.", "soak");
  auto* minutes = app.add_option("--minutes", choices.minutes, "how long to go on")->check(CLI::PositiveNumber);
  auto* problems =
      app.add_option("--problems", choices.problems, "how many problems to run")->check(CLI::PositiveNumber);
  app.add_option("--first", choices.first, "seed of the first problem (default: 1)");
  app.add_option("--seed", choices.seed, "run the one problem of this seed, and show it")->excludes(minutes, problems);
  app.add_option("--without", choices.without, "difficulties or parameters to leave out, see below")->delimiter(',');
  app.add_option("--stall", choices.stall, "seconds without progress that mean a hang (default: 300)")
      ->check(CLI::PositiveNumber);
  app.add_option("--failures", choices.failures, "failures that end the run (default: 10)")->check(CLI::PositiveNumber);
  app.add_option("--fault", choices.fault, "a fault to commit on purpose after every solve, which must be seen")
      ->check(CLI::IsMember(faults()));
  app.add_flag("--verbose", choices.verbose, "show every problem before it runs");
  app.add_flag("--survey", choices.survey, "run nothing, and count what the problems are made of")->excludes(minutes);
  std::string words = "Difficulties for --without (anything else is the name of a parameter):\n";
  for (const Simplification& s : simplifications()) words += fmt::format("  {:<16} {}\n", s.name, s.meaning);
  app.footer(words);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream nowhere;
    const int status = speaks ? app.exit(error) : app.exit(error, nowhere, nowhere);
    return status == 0 ? 0 : 2;
  }
  for (const std::string& word : choices.without) {
    const auto& table = simplifications();
    const bool known = findParameter(word) != nullptr ||
                       std::any_of(table.begin(), table.end(), [&](const auto& s) { return s.name == word; });
    if (known) continue;
    if (speaks) fmt::print(stderr, "soak: --without: '{}' is neither a difficulty nor a parameter; see --help\n", word);
    return 2;
  }
  if (choices.seed) {
    choices.first = *choices.seed;
    choices.problems = 1;
    choices.verbose = true;
  } else if (choices.minutes <= 0 && choices.problems <= 0) {
    choices.problems = 100;
  }
  return std::nullopt;
}

/// A folder for report files, made by rank 0 and removed with this.
class Folder {
 public:
  explicit Folder(const Comm& comm) : owner_(comm.getRank() == 0) {
    std::string name = (std::filesystem::temp_directory_path() / "capstan-soak-XXXXXX").string();
    int length = static_cast<int>(name.size());
    if (owner_ && ::mkdtemp(name.data()) == nullptr) throw std::runtime_error("soak: cannot make the folder " + name);
    Teuchos::broadcast(comm, 0, Teuchos::outArg(length));
    name.resize(static_cast<std::size_t>(length));
    Teuchos::broadcast(comm, 0, length, name.data());
    name_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    if (owner_) std::filesystem::remove_all(name_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& name() const { return name_; }

 private:
  bool owner_;
  std::string name_;
};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

class Run {
 public:
  Run(const RCP<const Comm>& comm, const Choices& choices, const std::string& reproduce)
      : comm_(comm),
        choices_(choices),
        reproduce_(reproduce),
        speaks_(comm->getRank() == 0),
        folder_(*comm),
        session_(comm, choices.fault, reproduce) {
    const char* asked = std::getenv("CAPSTAN_PROGRESS");
    watched_ = speaks_ && (asked != nullptr ? std::string(asked) == "1" : ::isatty(STDERR_FILENO) == 1);
  }

  int go() {
    if (choices_.survey) {
      const auto counts = survey(choices_.first, choices_.problems, folder_.name());
      for (const auto& [name, count] : counts) {
        if (speaks_) fmt::print("{:7} {}\n", count, name);
      }
      return 0;
    }
    long done = 0;
    for (; goesOn(done); ++done) {
      const std::uint64_t seed = choices_.first + static_cast<std::uint64_t>(done);
      Recipe recipe = draw(seed, folder_.name());
      simplify(recipe, choices_.without);
      if (choices_.verbose && speaks_) fmt::print(stderr, "seed {}\n{}", seed, describe(recipe));
      if (const auto failure = session_.run(recipe)) {
        ++failures_;
        tell(recipe, *failure);
      }
      showProgress(done + 1);
    }
    if (watched_) fmt::print(stderr, "\r{:<100}\r", "");
    if (speaks_) fmt::print("{}\n", summary(done));
    return failures_ == 0 ? 0 : 1;
  }

 private:
  /// Rank 0's clock decides for all.
  bool goesOn(long done) {
    int on = failures_ < choices_.failures ? 1 : 0;
    if (choices_.problems > 0 && done >= choices_.problems) on = 0;
    if (choices_.minutes > 0 && seconds() >= 60 * choices_.minutes) on = 0;
    Teuchos::broadcast(*comm_, 0, Teuchos::outArg(on));
    return on == 1;
  }

  double seconds() const { return std::chrono::duration<double>(Clock::now() - started_).count(); }

  void tell(const Recipe& recipe, const Failure& failure) {
    if (speaks_) {
      fmt::print(stderr, "\nsoak: FAILED: seed {}: {}\n  {}\n{}", recipe.seed, failure.kind, failure.text,
                 describe(recipe));
    }
    const std::vector<std::string> without = shrink(recipe, failure);
    Recipe small = recipe;
    simplify(small, without);
    std::string command = fmt::format("{} --seed {}", reproduce_, recipe.seed);
    if (!without.empty()) command += fmt::format(" --without \"{}\"", joined(without));
    if (speaks_) fmt::print(stderr, "  fails likewise:\n{}  reproduce: {}\n", describe(small), command);
  }

  /// Leaves out one difficulty after the other as long as the same kind of failure remains.
  std::vector<std::string> shrink(const Recipe& recipe, const Failure& failure) {
    std::vector<std::string> without = choices_.without, candidates;
    for (const Simplification& s : simplifications()) candidates.push_back(s.name);
    for (const std::string& key : parameterNames(recipe)) candidates.push_back(key);
    std::string before = describe(recipe);
    for (const std::string& candidate : candidates) {
      std::vector<std::string> more = without;
      more.push_back(candidate);
      Recipe smaller = recipe;
      simplify(smaller, more);
      std::string text = describe(smaller);
      if (text == before) continue;
      const auto again = session_.run(smaller);
      if (!again || again->kind != failure.kind) continue;
      without = more;
      before = std::move(text);
    }
    return without;
  }

  void showProgress(long done) {
    if (!watched_ || seconds() < shown_ + 1) return;
    shown_ = seconds();
    fmt::print(stderr, "\rsoak: {} ranks, {} problems, {} solves, {} failures, {:.0f} s{}", comm_->getSize(), done,
               session_.tally().solves, failures_, shown_,
               choices_.minutes > 0 ? fmt::format(" of {:.0f}", 60 * choices_.minutes) : "");
    std::fflush(stderr);
  }

  std::string summary(long done) const {
    const Tally& tally = session_.tally();
    std::string reasons;
    for (const auto& [reason, count] : tally.reasons) {
      reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ", count, reason);
    }
    return fmt::format(
        "soak: {} rank{}, seeds {} to {}, {} solves ({}), {} lists of parameters refused, digest {:016x}: {}",
        comm_->getSize(), comm_->getSize() == 1 ? "" : "s", choices_.first,
        choices_.first + static_cast<std::uint64_t>(std::max(done, 1L)) - 1, tally.solves, reasons, tally.refused,
        tally.digest, failures_ == 0 ? std::string("all held") : fmt::format("{} FAILED", failures_));
  }

  RCP<const Comm> comm_;
  Choices choices_;
  std::string reproduce_;
  bool speaks_, watched_ = false;
  Folder folder_;
  Session session_;
  int failures_ = 0;
  double shown_ = 0;
  Clock::time_point started_ = Clock::now();
};

/// The launcher says how it started this program.
std::string reproduceCommand(const char* program, int ranks) {
  const char* given = std::getenv("CAPSTAN_SOAK_COMMAND");
  if (given != nullptr) return fmt::format("{} --ranks {}", given, ranks);
  return fmt::format("mpirun --oversubscribe -n {} {}", ranks, program);
}

int soak(int argc, char** argv) {
  const auto comm = Tpetra::getDefaultComm();
  Choices choices;
  if (const auto status = read(argc, argv, comm->getRank() == 0, choices)) return *status;
  const std::string reproduce = reproduceCommand(argv[0], comm->getSize());
  const testing::Watchdog watchdog(comm->getRank(), choices.stall, "soak");
  return Run(comm, choices, reproduce).go();
}

}  // namespace
}  // namespace capstan::soak

int main(int argc, char** argv) {
  // So that "Progress" = "thread" is what it says.
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  int status = 0;
  {
    const Tpetra::ScopeGuard guard(&argc, &argv);
    status = capstan::soak::soak(argc, argv);
  }
  MPI_Finalize();
  return status;
}
