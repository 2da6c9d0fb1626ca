#pragma once
/// \file
/// Times contestants against each other, interleaved, so that a change of the machine's mood hits all of them.

#include <mpi.h>

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "perf/solvers/contestant.hpp"

namespace capstan::perf {

struct ContestOptions {
  int repeat = 7;
  unsigned seed = 1;  ///< of the order in which the contestants take turns
  /// Above 0: one contestant after the other; solves after so many are what valgrind counts (perf/overhead/run).
  int countedAfter = 0;
  /// Called on every rank ahead of a turn; null: nothing changes from turn to turn.
  std::function<void(int)> newTurn;
  /// Called on every rank ahead of a solve with the turn (0: the warm-up, a solve that is kept apart) and a name.
  std::function<void(int, const std::string&)> before;
  /// Contestants that crashed the program in an earlier attempt: listed with that failure, and not asked.
  std::set<std::string> crashed;
};

/// One timed solve.
struct Sample {
  int turn = 0;          ///< 0: the warm-up
  int position = 0;      ///< in the order of its turn, from 0
  double seconds = 0.0;  ///< between two barriers, the slowest rank's
  int iterations = 0;
  bool claimed = false;
  double relativeResidual = 0.0;
  long blockingReductions = 0;     ///< MPI_Allreduce and its like, called by one rank
  long nonblockingReductions = 0;  ///< MPI_Iallreduce and its like
  long otherCollectives = 0;
  std::optional<Applications> applications;  ///< empty: unknown
  std::string failure;                       ///< what was thrown; empty: nothing
};

/// All solves of one contestant. One that throws is not asked again.
struct Score {
  Description description;
  Sample first;  ///< the warm-up: what the solver learns in it (shifts, bounds) may help the others
  std::vector<Sample> samples;
  nlohmann::json details;
};

/// Lets each contestant solve once, then `repeat` times in an order drawn anew for every turn. Collective; all ranks
/// get the same scores, but for the details.
std::vector<Score> runContest(const Contestants& contestants, MPI_Comm comm, const ContestOptions& options);

nlohmann::json toJson(const Score& score);

}  // namespace capstan::perf
