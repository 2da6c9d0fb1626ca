#pragma once
/// \file
/// What must hold after every solve. Residuals are computed anew in long double, whose range holds the square of any
/// double, from the replicated matrix.

#include <string>
#include <vector>

#include "belos_ext/parameters/solver_options.hpp"
#include "belos_ext/test/soak/system.hpp"
#include "belos_ext/test/support/methods.hpp"
#include "belos_ext/test/support/rank_agreement.hpp"

namespace capstan::soak {

using Observation = testing::Outcome;

/// What was asked.
struct Question {
  std::string method = id::Gmres;
  SolverOptions options;
  /// A user test passes where ||b - A x|| <= this ||b - A x_0||; 0: no such test.
  double userTestTolerance = 0;
  HostBlock problemGuess;  ///< that x_0: x when setProblem() was last called, which a repeated solve leaves behind
  bool testsCountApplications = true;  ///< no status test applies A
  bool operatorFails = false;          ///< from some application on: then no residual can be computed
  bool mustConverge = false;           ///< the system is benign and the parameters are sound
};

struct Failure {
  std::string kind;  ///< a few words; a simpler problem with the same kind is the same failure
  std::string text;
};

/// All that is wrong. `guess` and `x` are those before and after the solve. Local; the same on every rank where the
/// ranks agree.
std::vector<Failure> judge(const System& system, const HostBlock& guess, const HostBlock& x, const Question& question,
                           const Observation& seen);

/// The part of it that needs no residual: what the report says of itself and of the solve. Local.
void judgeReport(const System& system, const Question& question, const Observation& seen,
                 std::vector<Failure>& failures);

}  // namespace capstan::soak
