#pragma once

/// \file
/// What happened in a solve: outcome, cost and history. Plain data, filled by the solver manager on every rank.

#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "belos_ext/convergence/stop_reason.hpp"
#include "belos_ext/events/event.hpp"
#include "tpetra_ext/operators/traffic.hpp"

namespace capstan {

/// Something worth telling in the course of a solve: a changed step size, a breakdown and what was done about it.
struct ReportEvent {
  int iteration = 0;
  int rightHandSide = 0;  ///< from 0; -1: all of them
  EventKind what = EventKind::Restart;
  std::string kind;  ///< for people, as what follows: for example "step size", "restart", "classical"
  std::string detail;
};

/// What an initial guess made of earlier solves was worth ("Initial Guess").
struct GuessReport {
  int vectors = 0;      ///< it was made of; 0: the solve began with the application's own x
  double factor = 1.0;  ///< by which || b - A x || of the application's own x fell
  /// Estimated: those in which the residual would have fallen from that of the application's own x at the mean rate of
  /// the label's last solve without a guess, less those made. NaN where there was none.
  double iterationsSaved = 0.0;
};

/// One right-hand side's outcome. Residuals are scaled, as they are compared with the tolerance.
struct RightHandSideReport {
  bool converged = false;
  StopReason reason = StopReason::NotStarted;
  int iterations = 0;
  int restarts = 0;
  double recursiveResidual = 0.0;  ///< the method's own estimate at the end
  double trueResidual = 0.0;       ///< computed from b - A x; this one decides
  double scale = 1.0;              ///< what the residual norm was divided by
  double tolerance = 0.0;          ///< what was asked for, "Absolute Tolerance" over the scale included
  GuessReport guess;
  double initialResidual = 0.0;  ///< where the iteration began
};

/// Wall-clock seconds of one solve on this rank.
struct PhaseSeconds {
  double operatorSeconds = 0.0;
  double preconditioner = 0.0;
  double orthogonalization = 0.0;  ///< local kernels: inner products, orthogonalisation, vector updates
  double reductionWait = 0.0;
  double rest = 0.0;
  double total = 0.0;
};

/// How the nonblocking reductions of a solve made progress: on this rank, and with "Measure Overlap" seconds as means
/// over the ranks.
struct ProgressReport {
  std::string mode = "none";  ///< none, poll or thread: the one really in use
  long polls = 0;             ///< MPI calls made only to let reductions advance
  double waitSeconds = 0.0;   ///< spent waiting for nonblocking reductions; part of PhaseSeconds::reductionWait
  /// What they would have taken one by one, each waited for at once; NaN unless measured ("Measure Overlap").
  double aloneSeconds = std::numeric_limits<double>::quiet_NaN();
  /// The part of aloneSeconds that was hidden: 1 - waitSeconds / aloneSeconds within [0, 1]; NaN unless measured.
  double overlap = std::numeric_limits<double>::quiet_NaN();
};

/// Products whose messages travel inside reductions. Means and maxima are over the ranks.
struct EmbeddedReport {
  bool used = false;
  /// Products with M^{-1} are embedded, too: M is explicit, and what a rank needs is the halo of both.
  bool preconditioner = false;
  /// Why M^{-1} is applied apart, with any messages of its own; empty where M is embedded, a diagonal, or none.
  std::string preconditionerApart;
  std::string mapping;        ///< "Hypercube Mapping"
  int messages = 0;           ///< a reduction takes, of the rank that sends most
  int neighbours = 0;         ///< ranks that a rank would send to in a halo exchange of its own; the most
  double meanNeighbours = 0;  ///< the mean
  double halo = 0;            ///< values a rank needs for a product; the mean
  double values = 0;          ///< values a rank sends in a reduction for a product; the mean
  double setupSeconds = 0;    ///< what the plan took when it was made, on the rank where it took longest
  long reductions = 0;        ///< that carried something in this solve
  long columns = 0;           ///< vectors they carried
};

/// How the messages of products with A travelled ("Communication Strategy").
struct CommunicationReport {
  std::string strategy = "application";  ///< as asked for
  /// Which one it was: one of the four plans; "tpetra", where tuning found the matrix' own exchange fastest;
  /// "application", where the operator computed all products itself.
  std::string used = "application";
  std::string reason;               ///< why; empty where the application's way was asked for
  int nodes = 0;                    ///< as the plan has them; 0: no plan
  int ranksPerNode = 0;             ///< on the largest node
  long long messageSizeCutoff = 0;  ///< bytes, as given or found; 0: no strategy looked at it
  std::string messageMemory;        ///< where messages of the plan were while they were MPI's, and why
  bool fromEarlier = false;         ///< the plan, or choice, of an earlier solve
  double setupSeconds = 0.0;  ///< what plan and trials took when they were made, on the rank where they took longest
  /// Products that make up for it by what each is faster than the operator's own way. Infinite: never; NaN: tuning has
  /// not measured it.
  double paidBackBy = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::pair<std::string, double>> tried;  ///< names and seconds of a product, as tuning measured them
  long products = 0;                                  ///< with the plan in this solve
  long columns = 0;                                   ///< of these together
  Traffic traffic;  ///< of these: the messages of one product were counted as they were sent, on all ranks
  EmbeddedReport embedded;
};

/// What CAPSTAN expected of a way to solve when it chose. Seconds of a digit of the residual, means over the ranks.
struct ChoiceArm {
  /// All-reduces of so many microseconds stand for the networks that `at` is for.
  static constexpr std::array<double, 3> latencies{1, 20, 200};

  std::string arm;
  double seconds = 0.0;
  double spread = 0.0;         ///< of the natural logarithm of these, as far as they are not known
  std::array<double, 3> at{};  ///< if an all-reduce took so long
  int solves = 0;              ///< that were measured
  bool leftOut = false;        ///< it has failed, or is for systems that ask for more
};

/// What CAPSTAN knew of the system when it chose the method of a solve. Seconds are means over the ranks.
struct ChoiceReport {
  std::string arm;           ///< the method, with the parameters that were chosen; empty: nobody has chosen
  bool trial = false;        ///< else the best one known
  std::string best;          ///< the best one known
  double bestSeconds = 0.0;  ///< for a digit of the residual; 0: not known yet
  std::string second;        ///< the best of the others; empty: none, or not known yet
  double secondSeconds = 0.0;
  long solves = 0;             ///< that the choice rests on
  long trials = 0;             ///< among those so far
  double regretSeconds = 0.0;  ///< what these took beyond what the best one would have taken, as estimated
  /// All of them, in trials and after 1, 2, 4 and so on solves; else, and before, none.
  std::vector<ChoiceArm> arms;
};

/// One point of the residual history: the scaled recursive residual after an iteration.
struct HistoryPoint {
  int iteration = 0;
  int rightHandSide = 0;
  double residual = 0.0;
};

struct SolveReport {
  std::string solver;  ///< canonical name
  std::string label;   ///< the solver's own label, else the problem's
  int system = 0;      ///< number among the systems of the run, from 1; 0 before the first solve
  bool converged = false;
  StopReason reason = StopReason::NotStarted;  ///< of the first right-hand side that did not converge, else Converged
  int iterations = 0;                          ///< the most any right-hand side took
  int iterationsInTurn = 0;  ///< summed over the sets of right-hand sides that are solved one after the other
  int restarts = 0;
  std::string norm;                ///< which residual is measured, for example "2-norm of b - A x"
  std::string scaling;             ///< what it is divided by, as in "Explicit Residual Scaling"
  double tolerance = 0.0;          ///< the largest over the right-hand sides
  double recursiveResidual = 0.0;  ///< the largest over the right-hand sides
  double trueResidual = 0.0;       ///< the largest over the right-hand sides
  std::vector<RightHandSideReport> rightHandSides;
  long reductionsBlocking = 0;
  long reductionsNonblocking = 0;
  long fences = 0;  ///< times this rank waited for kernels: ReductionCounters::fences
  long operatorApplications = 0;
  long preconditionerApplications = 0;
  /// Of these, before the first iteration of each set of right-hand sides: residual of the guess, initial guesses,
  /// estimates.
  long operatorsAtStart = 0;
  long preconditionersAtStart = 0;
  /// Of these, those that are neither the start nor what the method's iterations need: restarts, the update of x, the
  /// residual that proves convergence, products that no iteration used. Less by one where BiCGStab ends in the middle
  /// of an iteration.
  long operatorsBeyond = 0;
  long preconditionersBeyond = 0;
  std::string initialGuess = "application";  ///< as asked for
  double iterationsSaved = 0.0;  ///< the most that a guess saved one of the right-hand sides; NaN: not known
  long guessBytes = 0;           ///< of what this rank keeps for later guesses of this label
  int finalStepSize = 0;         ///< s at the end of an s-step solve; 0: none, or no iteration
  PhaseSeconds seconds;
  ProgressReport progress;
  CommunicationReport communication;
  ChoiceReport choice;
  std::vector<ReportEvent> events;
  std::vector<HistoryPoint> history;
  int ranks = 1;
  long long rows = 0;  ///< global number of rows
};

/// A solver that can tell how its last solve went. Tools find it by dynamic_cast from Belos::SolverManager.
class ReportingSolver {
 public:
  virtual ~ReportingSolver() = default;

  /// The report of the last solve(); before the first one, an empty report with StopReason::NotStarted. Local.
  virtual const SolveReport& report() const = 0;

  /// As setParameters() with a list of "Convergence Tolerance" and "Maximum Iterations", at less cost: for applications
  /// that set them before every solve. Throws std::invalid_argument as it does. Local.
  virtual void setLimits(double tolerance, int maxIterations) = 0;

  /// The least number of iterations of the next solves (0 at first): one that meets its tolerance sooner, with its
  /// guess for example, goes on, as long as there is a residual. The same on all ranks. Local.
  virtual void setMinimumIterations(int iterations) = 0;

  /// Whether a solve that ends at its limit leaves x as it is (false at first): for an application that looks at such
  /// an x itself. Else x is never left worse than the application's. The same on all ranks. Local.
  virtual void setKeepsLast(bool keeps) = 0;

  /// Which series of solves the next ones belong to (0 at first): "Initial Guess" takes what those of the same series
  /// have left, for example of the same corrector in each time step. Below 0: the application's x, and nothing is kept.
  /// The same on all ranks. Local.
  virtual void setSeries(int series) = 0;

  /// Parameters that the application has set and relies on: user options (CAPSTAN_OPTIONS) that name one of them end
  /// the next solve in an error, `why` at its end. The same on all ranks. Local.
  virtual void reserve(const std::vector<std::string>& names, const std::string& why) = 0;

 protected:
  ReportingSolver() = default;
  ReportingSolver(const ReportingSolver&) = default;
  ReportingSolver& operator=(const ReportingSolver&) = default;
};

}  // namespace capstan
