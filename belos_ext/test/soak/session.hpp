#pragma once
/// \file
/// Runs a recipe: builds its systems, solves them one after the other, and has each solve judged.

#include <BelosLinearProblem.hpp>
#include <BelosSolverManager.hpp>
#include <BelosTpetraAdapter.hpp>
#include <map>
#include <optional>

#include "belos_ext/parameters/parameter_table.hpp"
#include "belos_ext/test/soak/judge.hpp"
#include "belos_ext/test/soak/status_tests.hpp"
#include "belos_ext/test/support/methods.hpp"

namespace capstan::soak {

/// How many solves ended how, and a number that depends on every result of rank 0.
struct Tally {
  long solves = 0, refused = 0;
  std::map<std::string, long> reasons;
  std::uint64_t digest = 0;
};

class Session {
 public:
  /// \param fault a fault to commit on purpose after every solve, which shows that it would be seen: "converged",
  /// "nan", "ranks", "throw", "hang", "crash"; empty: none
  /// \param reproduce the command that repeats a problem, up to its seed
  Session(RCP<const Comm> world, std::string fault, std::string reproduce)
      : world_(std::move(world)), fault_(std::move(fault)), reproduce_(std::move(reproduce)) {}

  /// The first failure that any rank has seen, the same on all ranks. Starts without state of earlier problems.
  /// Collective on the world.
  std::optional<Failure> run(const Recipe& recipe);

  const Tally& tally() const { return tally_; }

 private:
  using Solver = Belos::SolverManager<Scalar, MultiVector, Operator>;
  using Problem = Belos::LinearProblem<Scalar, MultiVector, Operator>;

  /// The solver of the steps so far, and its parameters as a second reader understands them.
  struct Subject {
    std::string method = id::Gmres;
    RCP<Solver> solver;
    std::optional<Parameters> parameters;
    SystemRecipe recipe;  ///< of the system
    std::optional<System> system;
    RCP<Problem> problem;
    HostBlock problemGuess;  ///< x when the problem was last set
    RCP<const Comm> comm;
    RCP<StatusTest> userTest;
  };

  void abandonTogether();
  std::vector<Failure> step(const StepRecipe& recipe);
  std::vector<Failure> solveAndJudge(const StepRecipe& recipe);
  std::vector<Failure> expectRefusal();
  void takeSolver(const StepRecipe& recipe);
  void takeParameters(Teuchos::ParameterList list);
  void takeProblem(const StepRecipe& recipe);
  void takeTests(const StepRecipe& recipe);
  Observation observe();
  void commitFault(Observation& seen);
  Question ask(const StepRecipe& recipe) const;
  std::vector<Failure> differences(const Observation& seen) const;
  std::optional<Failure> agreed(const std::vector<Failure>& failures) const;
  RCP<const Comm> group(const std::string& split);

  RCP<const Comm> world_;
  std::string fault_;
  std::string reproduce_;
  std::map<std::string, RCP<const Comm>> groups_;
  Subject subject_;
  bool abandoned_ = false;  ///< a solve of this rank's group has thrown as it may
  Tally tally_;
};

}  // namespace capstan::soak
