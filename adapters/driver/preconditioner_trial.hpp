// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Which of two preconditioners a field takes whose user names none: one of little work, or multigrid.
///
/// By iterations alone, not by time, so that a run can be repeated: the same numbers on all ranks, every time. One that
/// takes over is on trial for a few solves, because two solves are seldom alike; the narrower it wins or loses, the
/// sooner the other one has another trial.

#include <algorithm>

namespace capstan::driver {

class PreconditionerTrial {
 public:
  enum class Choice { Plain, Multigrid };

  /// A cycle of OpenFOAM's multigrid counts as so many iterations with DIC. It takes the time of 17 to 33 (CAPSTAN CG,
  /// 1 and 2 ranks, set-up included); but a whole cycle more often overshoots the tolerance, for which it is given
  /// digits. Tried in pitzDaily when it took 13 to 23: 16 takes 0.89 to 1.03 of the time of the tutorial's own solver,
  /// 6 takes 0.78 to 0.88.
  static constexpr int work = 6;

  explicit PreconditionerTrial(Choice first = Choice::Plain) : choice_(first) {}

  /// For the next solve.
  Choice choice() const { return choice_; }

  /// What that one took: iterations, and decimal digits by which the residual fell. \param failed it did not meet its
  /// tolerance.
  void learn(int iterations, double digits, bool failed) {
    if (!failed && (iterations == 0 || !(digits > 0))) return;
    Record& now = recordOf(choice_);
    const Record& other = recordOf(otherChoice());
    now.add(iterations, digits, failed);
    ++stint_;
    const double mine = workOf(choice_), theirs = workOf(otherChoice());
    if (other.solves == 0) {
      const bool worth = choice_ == Choice::Multigrid ? mine > fewDigits : iterations >= many;
      if (failed || worth) tryOther();
    } else if (onTrial_ && !failed && stint_ < trialSolves && mine < hopeless * theirs) {
      return;
    } else if (theirs < mine) {
      turn();
      judged(mine / theirs);
    } else if (onTrial_) {
      judged(other.solves < trialSolves ? 1 : theirs / mine);
    } else if (stint_ >= wait_ && !other.failed) {
      tryOther();
    }
  }

 private:
  /// Of the last solves with one of them.
  struct Record {
    double iterations = 0, digits = 0;
    int solves = 0;
    bool failed = false;

    void add(int newIterations, double newDigits, bool failedNow) {
      ++solves;
      failed = failedNow;
      iterations = keeps * iterations + newIterations;
      digits = keeps * digits + newDigits;
    }
  };

  /// Iterations of a solve that make multigrid worth a try.
  static constexpr int many = 24;
  /// So little work for a digit needs no other preconditioner.
  static constexpr double fewDigits = 24;
  /// Solves that a trial lasts: time steps of OpenFOAM have 2 to 3, to different tolerances.
  static constexpr int trialSolves = 3;
  /// So much more work ends a trial at once.
  static constexpr double hopeless = 2;
  /// Solves until the other one may be tried again: as many where they are equal, and where one takes twice the work.
  static constexpr double soon = 16, late = 200;
  /// Share of a record that is left after another solve.
  static constexpr double keeps = 0.8;
  static constexpr double never = 1e30;

  Choice otherChoice() const { return choice_ == Choice::Plain ? Choice::Multigrid : Choice::Plain; }
  Record& recordOf(Choice choice) { return choice == Choice::Plain ? plain_ : multigrid_; }

  /// For a digit, in iterations with DIC.
  double workOf(Choice choice) {
    const Record& record = recordOf(choice);
    if (record.failed || !(record.digits > 0)) return never;
    return record.iterations / record.digits * (choice == Choice::Plain ? 1 : work);
  }

  void turn() {
    choice_ = otherChoice();
    stint_ = 0;
  }
  void tryOther() {
    turn();
    recordOf(choice_) = {};
    onTrial_ = true;
  }
  /// \param ratio of their work, at least 1
  void judged(double ratio) {
    onTrial_ = false;
    stint_ = 0;
    wait_ = soon + (late - soon) * std::min(ratio - 1, 1.0);
  }

  Choice choice_;
  Record plain_, multigrid_;
  int stint_ = 0;         ///< solves since it took over, or was judged
  bool onTrial_ = false;  ///< it is not known yet which one is better
  double wait_ = late;
};

}  // namespace capstan::driver
