#include "perf/solvers/contest.hpp"

#include <Teuchos_DefaultMpiComm.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "adapters/tools/counted_mpi.hpp"
#include "belos_ext/parameters/method_traits.hpp"
#include "belos_ext/support/shared_text.hpp"

// perf/overhead/run knows both by name.
extern "C" __attribute__((noinline, used)) void capstan_counted_solve(capstan::perf::Contestant* contestant,
                                                                      capstan::perf::Outcome* outcome) {
  *outcome = contestant->solve();
}
extern "C" __attribute__((noinline, used)) void capstan_end_of_counted() { asm volatile(""); }

namespace capstan::perf {
namespace {

/// The failure of the lowest rank that has one, on every rank.
std::string sharedFailure(const std::string& failure, MPI_Comm comm) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  int from = failure.empty() ? ranks : rank;
  MPI_Allreduce(MPI_IN_PLACE, &from, 1, MPI_INT, MPI_MIN, comm);
  return from == ranks ? "" : sharedText(failure, from, Teuchos::MpiComm<int>(comm));
}

Sample timedSolve(Contestant& contestant, MPI_Comm comm, bool counted) {
  Sample sample;
  std::string failure;
  try {
    contestant.prepare();
  } catch (const std::exception& error) {
    failure = error.what();
  }
  sample.failure = sharedFailure(failure, comm);
  if (!sample.failure.empty()) return sample;
  Outcome outcome;
  MPI_Barrier(comm);
  tools::countMpi(true);
  const auto start = std::chrono::steady_clock::now();
  try {
    if (counted) {
      capstan_counted_solve(&contestant, &outcome);
    } else {
      outcome = contestant.solve();
    }
  } catch (const std::exception& error) {
    failure = error.what();
  }
  tools::countMpi(false);
  const tools::MpiCounts counts = tools::mpiCounts();
  MPI_Barrier(comm);
  sample.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  MPI_Allreduce(MPI_IN_PLACE, &sample.seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
  sample.blockingReductions = counts.blockingReductions;
  sample.nonblockingReductions = counts.nonblockingReductions;
  sample.otherCollectives = counts.otherCollectives;
  sample.iterations = outcome.iterations;
  sample.claimed = outcome.claimed;
  sample.failure = sharedFailure(failure, comm);
  sample.relativeResidual =
      sample.failure.empty() ? contestant.relativeResidual() : std::numeric_limits<double>::quiet_NaN();
  if (!sample.failure.empty()) return sample;
  try {
    sample.applications = contestant.applications();
  } catch (const std::exception& error) {
    failure = error.what();
  }
  sample.failure = sharedFailure(failure, comm);
  return sample;
}

nlohmann::json toJson(const Sample& sample) {
  const auto& counted = sample.applications;
  return {{"turn", sample.turn},
          {"position", sample.position},
          {"seconds", sample.seconds},
          {"iterations", sample.iterations},
          {"claimed_converged", sample.claimed},
          {"relative_residual",
           std::isfinite(sample.relativeResidual) ? nlohmann::json(sample.relativeResidual) : nlohmann::json(nullptr)},
          {"reductions_blocking", sample.blockingReductions},
          {"reductions_nonblocking", sample.nonblockingReductions},
          {"other_collectives", sample.otherCollectives},
          {"operator_applications", counted ? nlohmann::json(counted->matrix) : nlohmann::json(nullptr)},
          {"preconditioner_applications", counted ? nlohmann::json(counted->preconditioner) : nlohmann::json(nullptr)},
          {"failure", sample.failure.empty() ? nlohmann::json(nullptr) : nlohmann::json(sample.failure)}};
}

}  // namespace

std::string groupOf(const std::string& method) {
  if (const MethodTraits* ours = findMethod(method)) return toString(ours->family);
  std::string words = " ";
  for (const char c : method) words += std::isalnum(static_cast<unsigned char>(c)) != 0 ? std::toupper(c) : ' ';
  words += ' ';
  // Of other libraries: "FGMRES" and "PGMRES" are GMRES, "BICGSTAB" is no CG.
  if (words.find("GMRES ") != std::string::npos) return toString(Family::Gmres);
  for (const char* word : {" CG ", " PIPECG ", " GROPPCG ", " ECG "}) {
    if (words.find(word) != std::string::npos) return toString(Family::ConjugateGradients);
  }
  if (words.find(" BICGSTAB ") != std::string::npos) return toString(Family::BiCgStab);
  return "other";
}

std::vector<Score> runContest(const Contestants& contestants, MPI_Comm comm, const ContestOptions& options) {
  std::vector<Score> scores(contestants.size());
  const auto solve = [&](int turn, std::size_t position, std::size_t which) {
    Contestant& contestant = *contestants[which];
    Score& score = scores[which];
    score.description = contestant.description();
    if (options.crashed.count(score.description.name) > 0) score.first.failure = "crashed the program";
    if (!score.first.failure.empty() || (!score.samples.empty() && !score.samples.back().failure.empty())) return;
    if (options.before) options.before(turn, score.description.name);
    Sample sample = timedSolve(contestant, comm, options.countedAfter > 0 && turn > options.countedAfter);
    sample.turn = turn;
    sample.position = static_cast<int>(position);
    score.details = contestant.details();
    if (turn == 0) {
      score.first = sample;
    } else {
      score.samples.push_back(sample);
    }
  };
  std::vector<std::size_t> order(contestants.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (options.countedAfter > 0) {
    for (const std::size_t which : order) {
      for (int turn = 0; turn <= options.repeat; ++turn) {
        if (options.newTurn) options.newTurn(turn);
        solve(turn, 0, which);
      }
      capstan_end_of_counted();
    }
    return scores;
  }
  std::mt19937 random(options.seed);
  for (int turn = 0; turn <= options.repeat; ++turn) {
    if (turn > 0) std::shuffle(order.begin(), order.end(), random);
    if (options.newTurn) options.newTurn(turn);
    for (std::size_t position = 0; position < order.size(); ++position) solve(turn, position, order[position]);
  }
  return scores;
}

nlohmann::json toJson(const Score& score) {
  const Description& who = score.description;
  nlohmann::json samples = nlohmann::json::array();
  for (const Sample& sample : score.samples) samples.push_back(toJson(sample));
  return {{"name", who.name},
          {"method", who.method},
          {"library", who.library},
          {"group", who.group},
          {"preconditioner", who.preconditioner},
          {"tolerance", who.tolerance},
          {"parameters", who.parameters},
          {"first", toJson(score.first)},
          {"samples", samples},
          {"details", score.details}};
}

}  // namespace capstan::perf
