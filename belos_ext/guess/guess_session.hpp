#pragma once
/// \file
/// Initial guesses of the solves of one solver manager: takes what earlier solves have left, hands it to each
/// right-hand side, and puts it back.

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "belos_ext/guess/guess_memory.hpp"
#include "belos_ext/guess/guess_order.hpp"
#include "belos_ext/guess/guess_start.hpp"
#include "belos_ext/parameters/solver_options.hpp"
#include "belos_ext/problem/finite_guess.hpp"
#include "belos_ext/report/event_text.hpp"
#include "belos_ext/report/solve_report.hpp"

namespace capstan {

template <class Types>
class GuessSession {
 public:
  using MultiVector = typename Types::MultiVector;

  /// Before a solve. Local.
  /// \param usable false: without guesses, whatever the options say   \param symmetric whether A is known to be
  ///   symmetric   \param key of what this rank keeps   \param orderKey the same on all ranks, whatever their parameters
  ///   \param series of solves (ReportingSolver::setSeries())   \param x all solutions, or zero where the options say so
  void open(const SolverOptions& options, bool usable, bool symmetric, const StateKey& key, const StateKey& orderKey,
            int series, MultiVector& x) {
    content_ = {};
    if (options.initialResidual == InitialResidual::ZeroGuess) {
      BlockKernels<Types>().fill(0, x);
    } else {
      content_ = contentOf<Types>(x);
    }
    size_ = {x.getGlobalLength(), x.getNumVectors()};
    key_ = key;
    key_.series = series;
    inStore_ = options.stateCache;
    wanted_ = usable && options.initialGuess.mode != InitialGuess::Mode::Application;
    orderKey_ = orderKey;
    orderKey_.series = series;
    orders_.open(x.getMap()->getComm());
    key_.solver = orders_.solvers().take(key_, self_);
    orderKey_.solver = orders_.solvers().take(orderKey_, self_);
    order_ = orders_.of(orderKey_).order;
    presumed_ = orders_.presumesZero(size_);
    const std::size_t count = x.getNumVectors();
    memory_.reset();
    starts_.resize(count);  // here, for right-hand sides that advance together hold theirs
    if (!wanted_) return;   // what is kept stays there, for a solver that wants it
    auto kept = std::dynamic_pointer_cast<GuessMemory<Types>>(store().take(key_));
    if (kept && kept->fits(options.initialGuess, symmetric, count, x.getMap())) {
      memory_ = kept;
    } else {
      memory_ = std::make_shared<GuessMemory<Types>>(options.initialGuess, symmetric, count, x.getMap());
    }
  }

  /// Whether the solve begins as at x = 0. The same on all ranks. Local.
  bool presumesZero() const { return presumed_; }

  /// How the solve begins. The same on all ranks. Local.
  GuessOrder order() const { return order_; }

  /// Of x. Local.
  const GuessContent& content() const { return content_; }

  /// The same on all ranks that hold the same. Local.
  std::uint64_t checksum() const { return memory_ ? memory_->checksum() : 0; }

  /// Solves for one right-hand side by `method(stop)`. Collective.
  template <class Method>
  void solve(std::size_t rightHandSide, LinearSystem<Types>& system, const MultiVector& b, MultiVector& x,
             StopTest& stop, const Method& method) {
    if (!wanted_ && !presumed_ && order_ == GuessOrder::Method) return method(stop);
    const auto presumed = !presumed_ ? Presumed::Nothing : content_.zero ? Presumed::ZeroAsItIs : Presumed::Zero;
    starts_[rightHandSide].solve(system, b, x, stop, memory_ ? &memory_->policy(rightHandSide) : nullptr, order_,
                                 presumed, method);
  }

  /// After a solve in which the ranks have found that they have the same parameters. Local; call it alike on all ranks.
  /// \param agreed whether they held the same of earlier solves   \param zero whether all x were zero
  void close(const std::vector<StopTest>& stops, bool agreed, bool zero, const SolverOptions& options,
             SolveReport& report) {
    const bool rests = wanted_ && memory_->rests();
    orders_.note(orderKey_,
                 !wanted_ || rests                                                ? GuessOrder::Method
                 : options.initialGuess.mode == InitialGuess::Mode::Extrapolation ? GuessOrder::Both
                                                                                  : GuessOrder::Residual,
                 rests);
    orders_.noteZero(size_, zero);
    if (!wanted_ && orders_.of(orderKey_).outlived()) store().take(key_);
    report.initialGuess = toString(options.initialGuess);
    guesses_.clear();
    if (!memory_) return;
    memory_->add(stops, agreed);
    for (const auto& start : starts_) guesses_.push_back(start.report());
    keep(report);
  }

  /// Puts what the guesses were worth into the report, which has its right-hand sides. Local.
  void tell(SolveReport& report) const {
    for (std::size_t c = 0; c < guesses_.size(); ++c) {
      report.rightHandSides[c].guess = guesses_[c];
      const double saved = guesses_[c].iterationsSaved;
      if (std::isnan(report.iterationsSaved)) continue;  // not known of one: not known of all
      report.iterationsSaved = std::isnan(saved) ? saved : std::max(report.iterationsSaved, saved);
    }
  }

  /// Forgets everything of the last key, and gives back the storage. Local.
  void clear() {
    GuessStore::instance().erase(key_);
    own_.clear();
    memory_.reset();
    starts_.clear();
  }

  /// Forgets what a solve of this key by this solver would find, of whatever series. Local.
  void forget(StateKey key, const GuessOrders::Comm& comm) {
    orders_.open(comm);
    key.solver = orders_.solvers().of(key, self_);
    GuessStore::instance().erase(key);
  }

 private:
  GuessStore& store() { return inStore_ ? GuessStore::instance() : own_; }

  void keep(SolveReport& report) {
    const std::size_t bytes = memory_->bytes();
    bool kept = !memory_->empty();
    if (kept) {
      kept = store().put(key_, memory_);
      if (!kept) {
        report.events.push_back(reportEvent(0, -1, EventKind::GuessesNotKept));
      }
    }
    report.guessBytes = kept ? static_cast<long>(bytes) : 0;
    memory_.reset();
  }

  SolverNumbers::Solver self_ = std::make_shared<char>();
  StateKey key_, orderKey_;
  bool inStore_ = true, wanted_ = false;
  GuessOrder order_ = GuessOrder::Method;
  GuessOrders orders_;
  SystemSize size_ = {};
  GuessContent content_;
  bool presumed_ = false;                       ///< the solve begins as at x = 0, whatever this rank's part of x is
  std::shared_ptr<GuessMemory<Types>> memory_;  ///< during a solve
  GuessStore own_{std::numeric_limits<std::size_t>::max()};  ///< of this solver, without the process' one
  std::vector<GuessStart<Types>> starts_;
  std::vector<GuessReport> guesses_;
};

}  // namespace capstan
