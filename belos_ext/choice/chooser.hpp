#pragma once

/// \file
/// Which way of solving the next system of a sequence is solved by. Decisions alone: no MPI, no vectors, no clock.
///
/// Each arm is a method with values of its parameters. What is estimated of an arm is the time of a digit, that is, of
/// a tenth of the residual:
///
///     time of a digit = model(cost line, times of the machine) * correction * iterations of a digit * ratio
///
/// model       cost_model.hpp. The times are measured in every solve, whatever its arm
/// correction  measured over modelled seconds of the arm's iterations; before its first solve the mean of the others of
///             its group, or 1. That solve, in which vectors are allocated and bounds estimated, counts only until
///             there is another
/// iterations  of a digit, of the system, as those of CG or GMRES; from the solves of the best arm
/// ratio       of the arm's iterations to these; an expectation before its first solve
///
/// An application may have several preconditioners to choose among. Arms that share M are a group: the iterations of a
/// digit and the time of M are those of the group, expectations before its first solve.
///
/// A solve may be so short that its time is that of its start, and tells nothing of a longer one: what such solves have
/// taken for their digits is all that is known. As long as the best arm ends so soon none but the application's own
/// solver is tried.
///
/// So what changes in the course of a run, the load, the latency, the system, is carried to all arms without a trial
/// of them. An arm is tried if its time may be less than that of the best, within what is not known of it, never twice
/// in a row, and as long as trials have not cost more than a small part of the run; or if the best does not solve. As
/// in the upper confidence bound of bandits [Auer, Cesa-Bianchi and Fischer 2002], with the model in place of blind
/// trials.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "belos_ext/choice/cost_model.hpp"

namespace capstan {

/// What arms share, as it is known beforehand: M.
///
/// A system that is harder for one M is harder for another one: the iterations of a digit of an arm whose ratio is 1
/// are expected to be factor d^power, with a number d that groups have in common.
struct GroupModel {
  double factor = 1.0, power = 1.0;
  double paceSpread = 0.0;  ///< of the natural logarithm of that
  double work = 0.0;        ///< an application of M, expected, in products with A; 0: as it was measured last
  int fewest = 1;           ///< a solve of fewer iterations tells nothing: its time is that of its start
  double worthFrom = 0.0;   ///< iterations of a solve by the best arm: where they are fewer, it is not tried
};

/// A way of solving, as it is known beforehand.
struct ArmModel {
  std::string name;  ///< for people
  /// The cost of an iteration, on the average of a solve of so many: where a method restarts, a cycle may be longer.
  std::function<IterationCost(int iterations)> iteration;
  std::string family;         ///< of methods: where one does not solve a system, one of another may
  bool symmetric = false;     ///< for symmetric A and M alone
  double ratio = 1.0;         ///< expected iterations to those of CG or GMRES
  double ratioSpread = 0.03;  ///< of the natural logarithm of that
  std::size_t group = 0;
  int first = 0;           ///< applications of A and of M^{-1} that its first solve makes, and later ones do not
  bool reference = false;  ///< the application's own solver, which has to be beaten: the first trial
};

/// What a solve has shown. The same on all ranks.
struct Observation {
  double seconds = 0.0;
  double productSeconds = 0.0, preconditionerSeconds = 0.0, kernelSeconds = 0.0;  ///< parts of these
  double waitSeconds = 0.0, hiddenWaitSeconds = 0.0;  ///< for reductions that are waited for at once; for others
  long products = 0, preconditioners = 0, reductions = 0, hiddenReductions = 0;
  int iterations = 0;
  double digits = 0.0;      ///< by which the residual fell
  bool solved = true;       ///< the residual meets its tolerance
  bool failed = false;      ///< the arm's method could not end the solve: it gave up, or another one went on
  bool slow = false;        ///< a trial that was handed over, as the best arm would have been faster
  bool asymmetric = false;  ///< the matrix was found not to be symmetric
};

/// What is known of the arms of a system, for another run to begin with.
struct ChoiceKnowledge {
  struct Arm {
    std::string name;
    int solves = 0;  ///< that were measured
    double correction = 1.0, ratio = 1.0, ratioVariance = 0.0, modelled = 0.0;
    bool unsolved = false, failed = false;
    int failures = 0;
  };
  MachineTimes times;
  double pace = 0.0, expected = 0.0;
  std::string best;  ///< the name of an arm
  std::vector<Arm> arms;
};

class Chooser {
 public:
  /// \param arms those that can be chosen, the first of which begins; not empty
  /// \param counted times are replaced by what the model makes of fixed ones: decisions depend on counts alone
  /// \param groups not empty
  explicit Chooser(std::vector<ArmModel> arms, const std::optional<MachineTimes>& counted = std::nullopt,
                   const std::vector<GroupModel>& groups = {GroupModel{}});

  /// Begins with what another run has found out; call it before the first choice. Arms are known by their names: of one
  /// that is not there nothing is taken. There is no trial before a solve has been learnt from.
  /// \param same on this machine, of this system; else its best arm begins, what it has found out of iterations is
  ///             expected, and all else is measured anew
  void resume(const ChoiceKnowledge& known, bool same, std::size_t group = 0);
  /// Of a group, for resume(); nothing before its first solve that tells.
  std::optional<ChoiceKnowledge> knowledge(std::size_t group = 0) const;

  /// The arm of the next solve.
  std::size_t choose();
  /// What the solve with that arm has shown; in the order of the solves, though others may have begun since.
  void learn(std::size_t arm, const Observation& seen);

  /// The matrix is known not to be symmetric: methods for symmetric ones are left out.
  void leaveSymmetricArms();

  /// The iterations after which a trial of that arm has taken half as long again as the best arm would have, estimated;
  /// 0: not known.
  int mostIterations(std::size_t arm) const;

  const ArmModel& arm(std::size_t index) const { return arms_[index].model; }
  /// The best one known.
  std::size_t best() const { return best_; }
  /// Of a group.
  std::size_t best(std::size_t group) const { return groups_[group].best; }
  /// The best of the others, estimated; nothing where none is left or the best has not been measured.
  std::optional<std::size_t> second() const;
  /// Estimated seconds of a digit, or what the arm's short solves have taken; nothing before a solve that tells.
  /// \param reduction seconds of an all-reduce, in place of those that were measured
  std::optional<double> estimate(std::size_t arm, std::optional<double> reduction = std::nullopt) const;
  /// What is not known of the natural logarithm of that.
  double uncertainty(std::size_t arm) const { return spread(arms_[arm]); }
  std::size_t arms() const { return arms_.size(); }
  /// Whether it is never chosen in place of the best one, as things are: it has failed, or is for matrices that ask for
  /// more.
  bool leavesOut(std::size_t arm) const { return arm != best_ && !isRival(arm); }
  bool failed(std::size_t arm) const { return arms_[arm].failed; }
  /// Whether its last solve met the tolerance, or there was none.
  bool solves(std::size_t arm) const { return !arms_[arm].unsolved; }
  int measured(std::size_t arm) const { return arms_[arm].solves; }

  long solves() const { return solves_; }  ///< that have been learnt from
  long trials() const { return trials_; }  ///< of the solves chosen
  /// What trials took beyond what the best arm was estimated to take for them.
  double regretSeconds() const { return regret_; }

 private:
  // Spreads of logarithms: from solve to solve of an arm, and of iterations for a digit.
  static constexpr double spreadOfSolve = 0.1, spreadOfPace = 0.06;
  static constexpr double leastSeconds = 1e-9;  // of an iteration: a clock may show none

  struct Arm {
    ArmModel model;
    IterationCost iteration;  ///< of the solves expected now
    int iterations = 0;       ///< of these, as the cost was worked out last
    int solves = 0;           ///< that were measured
    double correction = 1.0;
    double ratioVariance = 0.0;  ///< of the logarithm of the ratio, as far as it is known
    double modelled = 0.0;       ///< seconds of an iteration by the model when it was measured last
    bool unsolved = false;       ///< its last solve ended at a limit
    bool failed = false;
    int failures = 0;                       ///< so far; 0 where it has failed for all systems: A or M is not symmetric
    bool presumed = false;                  ///< it has failed with another one: M is presumed not to be symmetric
    double failedPace = 0.0;                ///< the pace of the system that it failed for; 0: not known yet
    double brief = 0.0, briefDigits = 0.0;  ///< of solves that were too short to tell; 0: the last one was not
    bool resumed = false;                   ///< known from another run, and not solved by in this one
    bool cold = false;   ///< measured once, in the first solve of the run, which makes and learns what others find
    long notBefore = 0;  ///< the solves after which a trial may follow one that was in vain
    int vain = 0;        ///< such trials in a row: they told nothing, or did not solve what the best arm solves
  };

  struct Group {
    GroupModel model;
    bool known = false;           ///< pace and the time of M
    double preconditioner = 0.0;  ///< seconds of an application of M
    double pace = 0.0;            ///< iterations of a digit of an arm whose ratio is 1
    double spread = 0.0;          ///< of the logarithm of that, from solve to solve
    double expected = 0.0;        ///< iterations of a solve by such an arm
    double bestPace = 0.0;        ///< that of the best arm's group when this one was measured last
    std::size_t best = 0;         ///< the best of its arms
  };

  /// Of a digit by that arm, on the machine where this was found out.
  static double secondsElsewhere(const ChoiceKnowledge& known, const Arm& arm);
  /// What is expected of groups that are not known, from the one that is.
  void expectPaces(const Group& known);
  const Group& groupOf(const Arm& arm) const { return groups_[arm.model.group]; }
  MachineTimes timesWith(const Group& group) const;
  double modelSeconds(const Arm& arm, std::optional<double> reduction = std::nullopt) const;
  /// Measured over modelled seconds: what the model leaves out is alike for all arms that share M.
  double correctionOf(const Arm& arm) const;
  /// Whether others that share its M have been measured.
  bool hasKin(const Arm& arm) const;
  /// What its first solve takes beyond what later ones do, as long as it has not been made.
  double firstSeconds(const Arm& arm) const;
  /// Whether another arm may take the place of the best one: where a symmetric method solves, one that is not needs
  /// more products.
  bool isRival(std::size_t arm) const;
  /// What is not known of the logarithm of an estimate.
  double spread(const Arm& arm) const;
  /// Of an iteration, in products with A.
  double workOf(const Arm& arm) const;
  void takeTimes(const Arm& arm, const Observation& seen);
  /// Times are measured for the first time: what arms took that count nothing stays, though the model was a guess.
  /// \param before seconds of an iteration of each arm, by that guess
  void keepMeasured(const std::vector<double>& before);
  /// \param iterations of a solve, by an arm whose ratio is 1
  void expectIterations(std::size_t group, double iterations);
  void fail(Arm& arm, const Observation& seen);
  /// \param group nothing: of all
  void failSymmetricArms(std::optional<std::size_t> group);
  /// An arm that has failed has solved: where all have, one is chosen all the same.
  void pardon(Arm& arm);
  /// The iterations of a digit that tell one system from another: of the arm's group where it is known.
  double paceOfSystem(const Arm& arm) const;
  /// An arm that failed for a system may be tried again once its pace is another one.
  void forgive();
  void chooseBest();
  static bool isMeasured(const Arm& arm) { return arm.solves > 0 || arm.brief > 0.0; }
  /// Of those that were measured; before one was, and where the best has failed, the first that is left.
  std::size_t bestOf(std::optional<std::size_t> group) const;
  /// Of the iterations of a digit: those of the group where the arm is its best one, else its own.
  void learnPace(std::size_t arm, const Observation& seen);
  std::optional<std::size_t> worthATrial() const;
  /// Where the best arm does not solve: the first arm of another family that has not been tried.
  std::optional<std::size_t> mightSolve() const;
  /// That has not been measured.
  std::optional<std::size_t> reference() const;

  std::vector<Arm> arms_;
  std::vector<Group> groups_;
  std::optional<MachineTimes> counted_;
  MachineTimes times_;    ///< but for that of M
  bool resumed_ = false;  ///< what is known is of another run
  double digits_ = 0.0;   ///< of a solve
  double solveSpread_;    ///< of the logarithm of seconds an iteration, from solve to solve of an arm
  std::size_t best_ = 0;
  /// Seconds of a digit by best_ on the machine that it was resumed from.
  std::optional<double> elsewhere_;
  bool triedLast_ = false;
  bool timed_ = false;  ///< times, by a method that counts what it does
  bool known_ = false;  ///< times, and the pace of a group
  long solves_ = 0, trials_ = 0;
  double regret_ = 0.0, seconds_ = 0.0;
};

}  // namespace capstan
