// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// One solve of one field: a Krylov method on the application's own product, and what is done where it fails.
///
/// Cost in all-reduces, apart from the Krylov method's own: 2 before it, 1 more for a preconditioner of Trilinos.
/// Methods of Capstan judge by the 1-norm themselves; one of Belos takes 1 more after each pass. 1 before the host's
/// own solver, and none after it where it meets the tolerance.

#include <optional>
#include <string>

#include "adapters/driver/corrected_residual.hpp"
#include "adapters/driver/field_memory.hpp"
#include "adapters/driver/system_dump.hpp"

namespace capstan::driver {

/// What follows a failure, with a warning each: the method's own remedies -> where the limit is reached and no
/// preconditioner was named: the other one goes on -> a preconditioner of Trilinos that was kept is renewed -> the
/// plan's safe method and preconditioner. An x whose residual is larger than before is never kept.
class DrivenSolve {
 public:
  /// \param x the guess, and the solution: this rank's rows
  DrivenSolve(FieldMemory& memory, HostSystem& host, const Plan& plan, const DumpControls& dump, double* x);

  /// Collective over the application's communicator. Throws std::exception as KrylovSolver does.
  SolveCost run();

 private:
  /// How one pass of the solve goes.
  struct Attempt {
    const SolverChoice& solver;
    const PreconditionerChoice& preconditioner;
    bool renew = false;
  };
  enum class Ending { Done, Limit, Failed, Again };

  bool isMet();
  double drive();
  std::optional<double> leaveToHost();
  double secondsWithoutSetUp() const;
  void takeCorrection();
  void prepare();
  void shareAndAgree();
  void take(std::size_t way);
  void iterate();
  bool boundWay();
  int limitOf(const PreconditionerChoice& preconditioner) const;
  Ending tryWay();
  Ending attemptAndLearn(bool endsAtLimit);
  Ending goOn();
  Ending goOnWithOther(Ending ending);
  Ending goOnSafely();
  Ending attempt(const Attempt& attempt);
  Ending pass(const Attempt& attempt, double target, int limit);
  Ending passOfHost(const Attempt& attempt, double target, int limit, double asked);
  Ending takeJudged(const KrylovOutcome& outcome, int limit);
  Ending takeComputed(double target, int limit);
  Ending endAtLimit();
  const AssembledPreconditioner* assembled(const Attempt& attempt);
  double digitsFrom(double first) const;
  double usefulDigits(double first) const;
  void tellEnd();
  void remark(const std::string& message);
  void warn(const Remedy& remedy);

  FieldMemory& memory_;
  HostSystem& host_;
  const Plan& plan_;
  SystemDump dump_;
  SolveCost cost_;
  CorrectedResidual residual_;
  Agreement agreed_;
  FieldChoice* choice_ = nullptr;
  std::size_t number_ = 0;  // of the way that goes on
  const Way* way_ = nullptr;
  const PreconditionerChoice* preconditioner_ = nullptr;
  ChoiceReport why_;                                     // of the way that began
  Observation seen_;                                     // by the first pass of that way
  int limit_;                                            // of iterations, of this solve
  bool kept_ = false;                                    // the preconditioner of Trilinos is from an earlier solve
  bool leftAsItWas_ = false, wentPartOfTheWay_ = false;  // the last pass had a larger residual at its end
  double began_ = 0;                                     // as secondsWithoutSetUp()
  std::optional<int> begun_;  // iterations of the host's own solver, whose correction is yet to be judged
  double guessed_ = 0;        // decimal digits of the residual that initial guesses have brought
};

}  // namespace capstan::driver
