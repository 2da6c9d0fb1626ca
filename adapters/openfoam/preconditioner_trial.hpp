// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Which of two preconditioners a field takes whose user names none: one of little work, or multigrid.
///
/// By iterations alone, not by time, so that a run can be repeated: the same numbers on all ranks, every time.

namespace capstan::foam {

class PreconditionerTrial {
 public:
  enum class Choice { Plain, Multigrid };

  explicit PreconditionerTrial(Choice first = Choice::Plain) : choice_(first) {}

  /// For the next solve.
  Choice choice() const { return choice_; }

  /// What that one took: iterations, and decimal digits by which the residual fell. \param failed it did not meet its
  /// tolerance.
  void learn(int iterations, double digits, bool failed) {
    if (!failed && (iterations == 0 || !(digits > 0))) return;
    double& now = choice_ == Choice::Plain ? plain_ : multigrid_;
    now = failed ? never : iterations / digits * (choice_ == Choice::Plain ? 1 : work);
    const double other = choice_ == Choice::Plain ? multigrid_ : plain_;
    const bool untried =
        other == 0 && (failed || (choice_ == Choice::Multigrid ? now > fewDigits : iterations >= many));
    if (untried || (other > 0 && other < now)) {
      choice_ = choice_ == Choice::Plain ? Choice::Multigrid : Choice::Plain;
      solves_ = 0;
    } else if (++solves_ == memory) {  // the flow has changed since the other one was tried
      solves_ = 0;
      if (other < never) (choice_ == Choice::Plain ? multigrid_ : plain_) = 0;
    }
  }

 private:
  /// A cycle of OpenFOAM's multigrid takes the time of so many iterations with DIC. Measured: pitzDaily 5, hotRoom 8.
  static constexpr double work = 8;
  /// Iterations of a solve that make multigrid worth a try.
  static constexpr double many = 3 * work;
  /// So little work for a digit needs no other preconditioner.
  static constexpr double fewDigits = 3 * work;
  /// Solves after which the other one may be tried again.
  static constexpr int memory = 200;
  static constexpr double never = 1e30;

  Choice choice_;
  double plain_ = 0, multigrid_ = 0;  ///< work for a digit; 0: not tried
  int solves_ = 0;
};

}  // namespace capstan::foam
