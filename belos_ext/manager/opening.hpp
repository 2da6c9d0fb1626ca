#pragma once
/// \file
/// What a solve sends before its ranks have agreed.
///
/// A rank may have been told other parameters than the others, and knows of it only once they have compared them, in
/// the first reduction of the solve (Agreement). So what comes before that, and how long that message is, follows from
/// things that no parameter changes: the method, the problem, and what the ranks have agreed on in earlier solves. It
/// is the solve's opening: a list of applications of A and M, and then one blocking all-reduce of a length that depends
/// on nothing else, with the question in front.
///
/// The list is that of the last solve of this solver, where that was of a problem like this one; else what the method
/// does with its default parameters (FirstProducts). Most solves keep to it by themselves, and the question takes no
/// message. Where a method wants something else,
///
/// - one application more, another one, another message than a reduction, or more numbers than the all-reduce has room
///   for: the question is asked at once, in an all-reduce of that length on its own. A reduction more;
/// - a reduction before the list is at its end: what is left of the list is applied to zeros.
///
/// Either happens in the first solve of a solver at most, as the next one knows better. So every rank sends the same
/// messages, whatever it has been told, and a rank that differs is found out by all.
///
/// What the monitor sends along goes with the question: ranks that hold different things of earlier solves enter
/// different numbers of numbers after it.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "belos_ext/guess/guess_order.hpp"
#include "belos_ext/guess/guess_policy.hpp"
#include "belos_ext/manager/agreement.hpp"
#include "belos_ext/manager/monitor.hpp"
#include "belos_ext/parameters/method_traits.hpp"
#include "tpetra_ext/operators/preconditioned_operator.hpp"

namespace capstan {

/// What an opening depends on: the same on all ranks, whatever their parameters are.
struct OpeningFacts {
  bool left = false, right = false;  ///< preconditioners there are
  bool diagonal = false;             ///< PreconditionedOperator::hasDiagonalPreconditioner()
  bool splits = false;               ///< PreconditionedOperator::splits()
  bool presumesZero = false;         ///< GuessSession::presumesZero()
  GuessOrder order = GuessOrder::Method;
  std::size_t rightHandSides = 1;

  bool operator==(const OpeningFacts& o) const {
    return left == o.left && right == o.right && diagonal == o.diagonal && splits == o.splits &&
           presumesZero == o.presumesZero && order == o.order && rightHandSides == o.rightHandSides;
  }
};

/// The applications before the first reduction of a solve with default parameters. With several right-hand sides there
/// are none that are sure: "Block Size" says how many go together. A preconditioner that splits is taken to be split.
inline std::vector<Application> usualOpening(FirstProducts products, const OpeningFacts& facts) {
  using Kind = Application::Kind;
  std::vector<Application> list;
  if (facts.rightHandSides > 1) return list;
  const auto add = [&list](Kind kind) { list.push_back({kind, 1}); };
  const bool residual = !facts.presumesZero;
  if (facts.order != GuessOrder::Method) {
    if (residual) add(Kind::Operator);
    if (facts.order == GuessOrder::Both) add(Kind::Operator);
    return list;
  }
  if (facts.splits) {
    add(Kind::LeftPart);
    if (residual) {
      for (const Kind kind : {Kind::TimesRightPart, Kind::Operator, Kind::LeftPart}) add(kind);
    }
    const bool multiplies = products == FirstProducts::Direction || products == FirstProducts::Image;
    if (multiplies) add(Kind::Split);
    return list;
  }
  const auto precondition = [&] {
    if (facts.left) add(Kind::Left);
    if (facts.right) add(Kind::Right);
  };
  if (residual) add(Kind::Operator);
  switch (products) {
    case FirstProducts::None:
      break;
    case FirstProducts::Native:
      if (facts.left) add(Kind::Left);
      break;
    case FirstProducts::Preconditioned:
      precondition();
      break;
    case FirstProducts::Direction:
    case FirstProducts::Image:
      precondition();
      add(Kind::Operator);
      if (products == FirstProducts::Image) precondition();
      break;
  }
  return list;
}

/// What is kept of openings from solve to solve of one solver.
template <class Types>
struct KnownOpening {
  std::unique_ptr<ReductionBatch<Types>> question, rest;
  Teuchos::RCP<const Teuchos::Comm<int>> comm;  ///< of these batches, and of the last solve
  bool known = false;                           ///< what the last solve began with, and that all ranks know it
  OpeningFacts facts;
  std::vector<Application> list, made;
};

/// The opening of one solve, or of one set of right-hand sides that advance together.
template <class Types>
class Opening final : ApplicationWatch {
 public:
  using Batch = ReductionBatch<Types>;

  /// Watches the operator until the first reduction. All are to outlive it.
  Opening(PreconditionedOperator<Types>& op, Monitor<Types>& monitor, Agreement<Types>& agreement,
          KnownOpening<Types>& kept, FirstProducts products, const OpeningFacts& facts,
          const Teuchos::RCP<const Teuchos::Comm<int>>& comm)
      : operator_(op), monitor_(monitor), agreement_(agreement), kept_(kept), facts_(facts) {
    if (kept_.comm.get() != comm.get()) {
      kept_.question = std::make_unique<Batch>(comm);
      kept_.rest = std::make_unique<Batch>(comm);
      kept_.comm = comm;
      kept_.known = false;
    }
    if (!kept_.known || !(kept_.facts == facts)) kept_.list = usualOpening(products, facts);
    kept_.known = false;
    kept_.made.clear();
    operator_.watch(this);
  }
  ~Opening() override { operator_.watch(nullptr); }
  Opening(const Opening&) = delete;
  Opening& operator=(const Opening&) = delete;

  /// Whether the first reduction is done.
  bool over() const { return over_; }

  /// These batches are to be reduced now, together. Where it is the first time, and the ranks are still to agree, that
  /// is done here, with their question; false: the caller is to do it. Throws ParametersDiffer. Collective.
  bool reduces(const std::vector<Batch*>& batches) {
    if (over_) return false;
    const bool asks = !agreed_;
    if (asks) goOnAsExpected();
    int numbers = 0;
    for (const Batch* batch : batches) numbers += batch->numbers();
    const bool together = asks && numbers <= room();
    if (together) {
      ask(batches, room() - numbers);
    } else if (asks) {
      ask({}, room());
    }
    end();
    return together;
  }

  /// Something else than a blocking reduction is about to be sent, or one that carries vectors. As reduces().
  void beforeAnotherMessage() {
    if (over_) return;
    if (!agreed_) {
      goOnAsExpected();
      ask({}, room());
    }
    end();
  }

 private:
  /// Numbers for each right-hand side that any method enters into its first reduction, a measure of the residual with
  /// them; where a guess comes first, for its products.
  static constexpr int numbersOfAMethod = 40;
  /// What Monitor::sendAlong() may add, as its parameters are: what a chooser is to learn, and two watches of the
  /// matrix.
  static constexpr int piggybackedNumbers = 12;

  int room() const {
    const bool method = facts_.order == GuessOrder::Method;
    const int each = method ? numbersOfAMethod : numbersOfAMethod + GuessPolicy<Types>::mostNumbers();
    return each * static_cast<int>(facts_.rightHandSides);
  }

  void beforeApplication(const Application& next) override {
    kept_.made.push_back(next);
    if (agreed_) return;
    if (at_ < kept_.list.size() && kept_.list[at_] == next) {
      ++at_;
      return;
    }
    goOnAsExpected();
    ask({}, room());
  }

  /// What the other ranks may be about to apply: nobody knows whether they are. Collective.
  void goOnAsExpected() {
    operator_.watch(nullptr);
    for (; at_ < kept_.list.size() && kept_.comm->getSize() > 1; ++at_) operator_.applyToZeros(kept_.list[at_]);
    operator_.watch(this);
  }

  void ask(const std::vector<Batch*>& batches, int spare) {
    agreed_ = true;
    kept_.question->clear();
    agreement_.enter(*kept_.question);
    const int own = kept_.question->numbers();
    monitor_.enterPiggybacked(*kept_.question);
    kept_.question->room(std::max(own + piggybackedNumbers - kept_.question->numbers(), 0));
    kept_.rest->clear();
    kept_.rest->room(spare);
    std::vector<Batch*> all{kept_.question.get()};
    all.insert(all.end(), batches.begin(), batches.end());
    all.push_back(kept_.rest.get());
    Batch::reduceTogether(all);
    agreement_.settle(*kept_.question);
    monitor_.readPiggybacked(*kept_.question);
  }

  /// What was applied is what the next solve begins with: the same on all ranks, whose parameters and state are.
  void end() {
    over_ = true;
    operator_.watch(nullptr);
    kept_.known = agreement_.onState();
    kept_.facts = facts_;
    kept_.list.swap(kept_.made);
  }

  PreconditionedOperator<Types>& operator_;
  Monitor<Types>& monitor_;
  Agreement<Types>& agreement_;
  KnownOpening<Types>& kept_;
  OpeningFacts facts_;
  std::size_t at_ = 0;   ///< in the list
  bool agreed_ = false;  ///< the question has been asked
  bool over_ = false;
};

}  // namespace capstan
