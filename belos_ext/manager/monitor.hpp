#pragma once
/// \file
/// What watches a solve: history, events, Belos' output styles, and the application's status tests.
///
/// Status tests see a Belos::Iteration whose native residuals are the recursion's, at the end of every iteration of a
/// classical method and every block of an s-step or pipelined one. As with Belos' own solvers they see the right-hand
/// sides that advance together, by LinearProblem::getLSIndex(), and begin anew with the next ones.

#include <BelosIteration.hpp>
#include <BelosLinearProblem.hpp>
#include <BelosStatusTest.hpp>
#include <BelosStatusTestCombo.hpp>
#include <BelosStatusTestGenResNorm.hpp>
#include <BelosStatusTestMaxIters.hpp>
#include <BelosStatusTestOutputFactory.hpp>
#include <BelosTpetraAdapter.hpp>
#include <Tpetra_Vector.hpp>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "belos_ext/convergence/stop_test.hpp"
#include "belos_ext/manager/fiber.hpp"
#include "belos_ext/parameters/solver_options.hpp"
#include "belos_ext/problem/linear_system.hpp"
#include "belos_ext/report/event_text.hpp"
#include "tpetra_ext/compat/local_views.hpp"
#include "tpetra_ext/operators/preconditioned_operator.hpp"
#include "tpetra_ext/reductions/reduction_batch.hpp"

namespace capstan {

/// Where one right-hand side stands at the end of a block.
template <class Types>
struct RightHandSideProgress {
  int rightHandSide = 0;
  int iterations = 0;
  double recursive = 0;                                      ///< unscaled norm
  std::function<void(typename Types::MultiVector&)> update;  ///< as in LinearSystem::boundary()
};

template <class Types>
class Monitor final
    : public Belos::Iteration<typename Types::Scalar, typename Types::MultiVector, typename Types::Operator> {
 public:
  using Scalar = typename Types::Scalar;
  using Magnitude = typename Types::Magnitude;
  using MultiVector = typename Types::MultiVector;
  using Operator = typename Types::Operator;
  using Problem = Belos::LinearProblem<Scalar, MultiVector, Operator>;
  using Test = Belos::StatusTest<Scalar, MultiVector, Operator>;
  using Combo = Belos::StatusTestCombo<Scalar, MultiVector, Operator>;

  Monitor(const Teuchos::RCP<Problem>& problem, const SolverOptions& options, SolveReport& report,
          const Teuchos::RCP<Test>& userTest, typename Combo::ComboType comboType, const Teuchos::RCP<Test>& debugTest)
      : problem_(problem),
        report_(report),
        userTest_(userTest),
        comboType_(comboType),
        debugTest_(debugTest),
        count_(problem->getLHS()->getNumVectors()),
        keepsHistory_(!options.historyFile.empty()) {
    residuals_.assign(count_, Magnitude(0));
    scales_.assign(count_, Magnitude(1));
    prepareOutput(options);
    for (const auto& test : {userTest_, debugTest_}) {
      if (!test.is_null()) test->reset();
    }
  }

  /// Sums these numbers over the ranks in the first reduction of the solve, which is made anyway, and tells the sums.
  /// Nothing is told where a solve makes none. Local; call it alike on all ranks.
  void sendAlong(const std::vector<Scalar>& mine, std::function<void(const std::vector<Scalar>&)> tell) {
    piggybacked_.push_back({mine, {}, std::move(tell)});
  }

  /// Enters what sendAlong() was given into a batch before it is reduced, and reads it afterwards. Local.
  void enterPiggybacked(ReductionBatch<Types>& batch) {
    for (Piggybacked& one : piggybacked_) {
      for (const Scalar number : one.numbers) one.slots.push_back(batch.value(number));
    }
  }
  void readPiggybacked(const ReductionBatch<Types>& batch) {
    if (piggybacked_.empty()) return;
    for (Piggybacked& one : std::exchange(piggybacked_, {})) {
      for (std::size_t i = 0; i < one.slots.size(); ++i) one.numbers[i] = batch[one.slots[i]];
      one.tell(one.numbers);
    }
  }

  /// What the first reduction finds out: of the rows of A (row_sum_watch.hpp, symmetry_watch.hpp), and of what the
  /// ranks bring (agreement.hpp).
  AgreedFacts agreed;

  /// So many right-hand sides, from that one on, are solved from now on: tests see these. Local.
  void choose(std::size_t first, std::size_t count) {
    first_ = first;
    count_ = count;
    if (!asksProblem()) return;
    std::vector<int> those(count);
    std::iota(those.begin(), those.end(), static_cast<int>(first));
    problem_->setLSIndex(those);  // makes views of all vectors
    if (problem_->getRightPrec().is_null()) return;
    shown_ = Teuchos::rcp(new Problem(*problem_));
    shown_->setRightPrec(Teuchos::null);
  }

  /// The divisor of a right-hand side's residual in history and output.
  void setScale(int rightHandSide, double scale) {
    scales_[static_cast<std::size_t>(rightHandSide)] = static_cast<Magnitude>(scale);
  }

  /// Whether boundaries have to be announced at all.
  bool watches() const { return !userTest_.is_null() || !debugTest_.is_null(); }

  /// Whether a test looks at the problem's current vectors: the application's, or Belos' that prints residuals.
  bool asksProblem() const { return watches() || !output_.is_null(); }

  /// One iteration for one right-hand side: history and residual lines. Local.
  void record(int rightHandSide, int iteration, double recursive) {
    const auto c = static_cast<std::size_t>(rightHandSide);
    residuals_[c] = static_cast<Magnitude>(recursive);
    if (keepsHistory_)
      report_.history.push_back({iteration, rightHandSide, recursive / static_cast<double>(scales_[c])});
    if (!output_.is_null() && (count_ == 1 || iteration > iterations_)) {
      iterations_ = iteration;
      scaled_ = true;
      // Once passed, Belos' test keeps its numbers; here a recursion that claims convergence may have to go on.
      if (residualTest_->getStatus() == Belos::Passed) residualTest_->reset();
      onCallersStack([this] { output_->checkStatus(this); });
      scaled_ = false;
    }
    iterations_ = std::max(iterations_, iteration);
  }

  /// A set of right-hand sides has been solved at this cost, all before it included; another one begins. Local.
  void nextSet(const OperatorCost& cost) {
    iterations_ = 0;
    startsBefore_ = {report_.operatorsAtStart - cost.operatorApplications,
                     report_.preconditionersAtStart - cost.preconditionerApplications};
  }

  /// \see LinearSystem::startUpEnds(); the starts of all sets of right-hand sides add up. Local.
  void startUpEnds(const OperatorCost& cost, int operators, int preconditioners) {
    if (iterations_ > 0) return;
    report_.operatorsAtStart = startsBefore_.operators + cost.operatorApplications - operators;
    const long applied = cost.preconditionerApplications;
    report_.preconditionersAtStart = applied == 0 ? 0 : startsBefore_.preconditioners + applied - preconditioners;
  }

  void tell(int rightHandSide, int iteration, const Event& event) {
    report_.events.push_back(reportEvent(iteration, rightHandSide, event));
  }

  /// Runs the application's tests. Returns false when they stop the solve: a user test that passes, combined by OR.
  /// Collective where a test asks for the current iterate.
  bool check(const std::vector<RightHandSideProgress<Types>>& those) {
    for (const auto& one : those) {
      residuals_[static_cast<std::size_t>(one.rightHandSide)] = static_cast<Magnitude>(one.recursive);
      iterations_ = std::max(iterations_, one.iterations);
    }
    current_ = &those;
    compat::handOver<typename Types::ExecutionSpace>("a status test");
    if (!debugTest_.is_null()) debugTest_->checkStatus(this);
    bool goOn = true;
    if (!userTest_.is_null() && comboType_ == Combo::OR) goOn = userTest_->checkStatus(this) != Belos::Passed;
    current_ = nullptr;
    if (!goOn) {
      for (const auto& one : those)
        tell(one.rightHandSide, one.iterations, Event(EventKind::UserTest).by(nameOf(*userTest_)));
    }
    return goOn;
  }

  /// Whether the application's test lets a verified residual count as convergence (combined by AND or SEQ). A test
  /// judges all right-hand sides that advance together: where there are several the answer is that to
  /// `jointApproval`, which may come when the others have got as far.
  /// \param native the norm of that residual, unscaled
  bool approves(int rightHandSide, double native) {
    if (userTest_.is_null() || comboType_ == Combo::OR) return true;
    residuals_[static_cast<std::size_t>(rightHandSide)] = static_cast<Magnitude>(native);
    return jointApproval_ ? jointApproval_() : testPasses();
  }
  void approveJointly(std::function<bool()> jointApproval) { jointApproval_ = std::move(jointApproval); }

  /// What that test says now.
  bool testPasses() {
    compat::handOver<typename Types::ExecutionSpace>("a status test");
    bool passes = false;
    onCallersStack([&] { passes = userTest_->checkStatus(this) == Belos::Passed; });
    return passes;
  }

  // Belos::Iteration
  void iterate() override {}
  void initialize() override {}
  int getNumIters() const override { return iterations_; }
  void resetNumIters(int iterations = 0) override { iterations_ = iterations; }
  Teuchos::RCP<const MultiVector> getNativeResiduals(std::vector<Magnitude>* norms) const override {
    if (norms != nullptr) {
      norms->clear();
      for (std::size_t c = first_; c < first_ + count_; ++c) {
        norms->push_back(scaled_ ? residuals_[c] / scales_[c] : residuals_[c]);
      }
    }
    return Teuchos::null;
  }
  /// The change of x, with the right preconditioner applied: getProblem().updateSolution() makes the current iterate of
  /// it.
  Teuchos::RCP<MultiVector> getCurrentUpdate() const override {
    if (current_ == nullptr || current_->empty() || !current_->front().update) return Teuchos::null;
    auto update = Teuchos::rcp(new MultiVector(problem_->getLHS()->getMap(), count_));
    for (const auto& c : *current_) {
      if (c.update) c.update(*update->getVectorNonConst(static_cast<std::size_t>(c.rightHandSide) - first_));
    }
    compat::handOver<typename Types::ExecutionSpace>("who asked for the iterate");
    return update;
  }
  /// The application's own without its right preconditioner, which updateSolution() would apply once more: one that
  /// varies would make another x than the one that is returned.
  const Problem& getProblem() const override { return shown_.is_null() ? *problem_ : *shown_; }
  int getBlockSize() const override { return static_cast<int>(count_); }
  void setBlockSize(int) override {}
  bool isInitialized() override { return true; }

 private:
  /// Without the arguments of templates.
  static std::string nameOf(const Test& test) {
    const std::string name = test.description();
    return name.substr(0, name.find('<'));
  }

  /// What the starts of earlier sets took, less all that these sets took.
  struct Starts {
    long operators = 0, preconditioners = 0;
  };
  struct Piggybacked {
    std::vector<Scalar> numbers;
    std::vector<typename ReductionBatch<Types>::Slot> slots;
    std::function<void(const std::vector<Scalar>&)> tell;
  };

  void prepareOutput(const SolverOptions& options) {
    if (options.outputFrequency <= 0 ||
        (options.verbosity & (Belos::StatusTestDetails | Belos::IterationDetails)) == 0) {
      return;
    }
    const auto printer = Teuchos::rcp(
        new Belos::OutputManager<Scalar>(options.verbosity | Belos::StatusTestDetails, options.outputStream));
    const auto iterations =
        Teuchos::rcp(new Belos::StatusTestMaxIters<Scalar, MultiVector, Operator>(options.maxIterations));
    using ResNorm = Belos::StatusTestGenResNorm<Scalar, MultiVector, Operator>;
    const auto residual =
        Teuchos::rcp(new ResNorm(static_cast<Magnitude>(options.tolerance), -1, options.showMaximumResidualNormOnly));
    residual->defineResForm(ResNorm::Implicit, Belos::TwoNorm);
    residual->defineScaleForm(Belos::None, Belos::TwoNorm);
    residualTest_ = residual;
    const auto both = Teuchos::rcp(new Combo(Combo::OR, iterations, residual));
    Belos::StatusTestOutputFactory<Scalar, MultiVector, Operator> factory(options.outputStyle);
    output_ = factory.create(printer, both, options.outputFrequency, Belos::Passed + Belos::Failed + Belos::Undefined);
    output_->setSolverDesc(" " + report_.solver + " ");
  }

  Teuchos::RCP<Problem> problem_;
  Teuchos::RCP<Problem> shown_;  ///< to tests, where it is another one
  SolveReport& report_;
  Starts startsBefore_;
  Teuchos::RCP<Test> userTest_;
  typename Combo::ComboType comboType_;
  Teuchos::RCP<Test> debugTest_;
  Teuchos::RCP<Test> residualTest_;  ///< the one that output_ prints
  Teuchos::RCP<Belos::StatusTestOutput<Scalar, MultiVector, Operator>> output_;
  std::vector<Magnitude> residuals_, scales_;
  std::size_t first_ = 0, count_;  ///< the right-hand sides that advance together
  std::function<bool()> jointApproval_;
  const std::vector<RightHandSideProgress<Types>>* current_ = nullptr;
  std::vector<Piggybacked> piggybacked_;
  bool keepsHistory_;
  bool scaled_ = false;
  int iterations_ = 0;
};

}  // namespace capstan
