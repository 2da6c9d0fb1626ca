#pragma once
/// \file
/// Lets several right-hand sides advance together: operator applications become block applications and
/// reductions one message, while each runs its method's plain loop and stops on its own.
///
/// Every right-hand side is a column with its own fiber. A column that wants something from outside states its request
/// and pauses. When all columns wait, requests are served in this order: operator and preconditioner applications (one
/// block per kind), else all reductions (those started in one message, and those waited for in another), else, when
/// every column is at the end of a block, the status tests. A column whose residual meets the tolerance, and that the
/// application's own test is to approve, waits without iterating until all others have got there or ended: such a test
/// judges all right-hand sides at once. What columns ask depends on reduced numbers only, so all ranks serve the same
/// requests in the same order. Collective.
///
/// What the application has written, its operator, its preconditioners and its status tests, runs on the stack that
/// run() was called on: that of a fiber is small.

#include <memory>
#include <vector>

#include "belos_ext/manager/direct_system.hpp"
#include "belos_ext/manager/fiber.hpp"
#include "belos_ext/manager/monitor.hpp"
#include "tpetra_ext/operators/preconditioned_operator.hpp"
#include "tpetra_ext/operators/widest_block.hpp"

namespace capstan {

/// Copies of the vectors that act together, and the kernels of all columns. Kept by the solver manager: no allocation
/// after the first solve of a shape.
template <class Types>
struct LockstepStorage {
  BlockKernels<Types> kernels;
  WidestBlock<Types> in, out;
};

template <class Types>
class Lockstep {
 public:
  using MultiVector = typename Types::MultiVector;
  using Body = std::function<void(LinearSystem<Types>&)>;

  /// \param first number of the first of these right-hand sides among all
  /// \param opening what the first reduction finds out on the way, or null
  Lockstep(PreconditionedOperator<Types>& op, Monitor<Types>& monitor, int first, LockstepStorage<Types>& storage,
           Opening<Types>* opening = nullptr)
      : operator_(op), monitor_(monitor), first_(first), storage_(storage), opening_(opening) {}

  /// Runs one body for each right-hand side to its end. Rethrows the first exception of a column, after unwinding the
  /// others.
  /// \param measures of the right-hand sides' residuals; none: the 2-norm is all they need
  void run(const std::vector<Body>& bodies, const std::vector<ResidualMeasure*>& measures = {}) {
    columns_.clear();
    for (std::size_t c = 0; c < bodies.size(); ++c) {
      columns_.push_back(
          std::make_unique<Column>(*this, first_ + static_cast<int>(c), measures.empty() ? nullptr : measures[c]));
      Column& column = *columns_.back();
      column.fiber = std::make_unique<Fiber>([&column, body = bodies[c]] { body(column); });
    }
    monitor_.approveJointly([this] {
      Column& claims = *running_;
      claims.wait(Request::Approval);
      return claims.approved;
    });
    try {
      while (advance()) serve();
    } catch (...) {
      ends();
      throw;
    }
    ends();
  }

 private:
  enum class Request { None, Act, Start, Reduce, Boundary, Approval };

  struct Column final : MonitoredSystem<Types> {
    Column(Lockstep& o, int number, ResidualMeasure* m)
        : MonitoredSystem<Types>(o.operator_, o.monitor_, o.storage_.kernels, number, m), owner(o) {}

    void act(Action a, const MultiVector& from, MultiVector& to) override {
      // A status test that wants the current iterate calls the column's update while its fiber is paused. A block of
      // columns is no part of a larger one: preconditioners keep to the number of columns they first saw.
      if (owner.running_ != this || from.getNumVectors() != 1) {
        return onCallersStack([&] { perform(owner.operator_, a, from, to); });
      }
      action = a;
      in = &from;
      out = &to;
      wait(Request::Act);
    }
    void reduce(ReductionBatch<Types>& b) override {
      if (owner.running_ != this) return b.reduce();
      reduceWith(b, {});
    }
    void carry(ReductionBatch<Types>& b, const std::vector<CarriedVector<Types>>& vectors) override {
      if (owner.running_ != this) return owner.operator_.embedded()->reduce({&b}, vectors);
      reduceWith(b, vectors);
    }
    void multiplyCarried(const MultiVector& from, const MultiVector& others, MultiVector& to) override {
      onCallersStack([&] { owner.operator_.applyReceived(from, others, to); });
    }
    void takeMeasure(const MultiVector& r) override {
      onCallersStack([&] { MonitoredSystem<Types>::takeMeasure(r); });
    }
    // No other column has multiplied in between: neither of the two waits.
    void preconditionCarried(MultiVector& to) override {
      onCallersStack([&] { owner.operator_.preconditionReceived(to); });
    }
    PendingReduction<Types> start(ReductionBatch<Types>& b) override {
      if (owner.running_ != this) return b.start();
      batch = &b;
      wait(Request::Start);
      return std::move(pending);
    }
    bool boundary(int iterations, double recursive, const std::function<void(MultiVector&)>& u) override {
      if (!owner.monitor_.watches()) return true;
      progress = {this->rightHandSide_, iterations, recursive, u};
      wait(Request::Boundary);
      return goOn;
    }
    void reduceWith(ReductionBatch<Types>& b, const std::vector<CarriedVector<Types>>& vectors) {
      if (this->measure_ != nullptr) this->measure_->enter(b);
      batch = &b;
      carried = &vectors;
      wait(Request::Reduce);
      if (this->measure_ != nullptr) this->measure_->read(b);
    }
    void wait(Request r) {
      request = r;
      fiber->pause();
    }

    Lockstep& owner;
    std::unique_ptr<Fiber> fiber;
    Request request = Request::None;
    Action action = Action::Operator;
    const MultiVector* in = nullptr;
    MultiVector* out = nullptr;
    ReductionBatch<Types>* batch = nullptr;
    const std::vector<CarriedVector<Types>>* carried = nullptr;  ///< vectors inside the reduction
    PendingReduction<Types> pending;
    RightHandSideProgress<Types> progress;
    bool goOn = true, approved = false;
  };

  void ends() {
    monitor_.approveJointly({});
    columns_.clear();
  }

  /// Runs every column up to its next request. False when all have ended.
  bool advance() {
    bool active = false;
    for (auto& column : columns_) {
      if (column->fiber->done()) continue;
      if (column->request == Request::None) {
        running_ = column.get();
        column->fiber->resume();
        running_ = nullptr;
        column->fiber->rethrow();
      }
      active = active || !column->fiber->done();
    }
    return active;
  }

  std::vector<Column*> waiting(Request request) {
    std::vector<Column*> found;
    for (auto& column : columns_) {
      if (!column->fiber->done() && column->request == request) found.push_back(column.get());
    }
    return found;
  }

  void serve() {
    if (const auto acting = waiting(Request::Act); !acting.empty()) {
      for (Action action :
           {Action::Preconditioned, Action::Operator, Action::LeftPreconditioner, Action::RightPreconditioner}) {
        serveActions(action, acting);
      }
    } else if (const auto starting = waiting(Request::Start), reducing = waiting(Request::Reduce);
               !starting.empty() || !reducing.empty()) {
      startFor(starting);  // first, so that it overlaps the other
      reduceFor(reducing);
    } else if (const auto ended = waiting(Request::Boundary); !ended.empty()) {
      if (opening_ != nullptr) opening_->beforeAnotherMessage();
      std::vector<RightHandSideProgress<Types>> progress;
      for (Column* column : ended) progress.push_back(column->progress);
      const bool goOn = monitor_.check(progress);
      for (Column* column : ended) {
        column->goOn = goOn;
        column->request = Request::None;
      }
    } else {
      const auto claiming = waiting(Request::Approval);
      if (opening_ != nullptr) opening_->beforeAnotherMessage();
      const bool approved = monitor_.testPasses();
      for (Column* column : claiming) {
        column->approved = approved;
        column->request = Request::None;
      }
    }
  }

  static std::vector<ReductionBatch<Types>*> batchesOf(const std::vector<Column*>& columns) {
    std::vector<ReductionBatch<Types>*> batches;
    for (Column* column : columns) batches.push_back(column->batch);
    return batches;
  }

  void startFor(const std::vector<Column*>& columns) {
    if (opening_ != nullptr && !columns.empty()) opening_->beforeAnotherMessage();
    auto handles = ReductionBatch<Types>::startTogether(batchesOf(columns));
    for (std::size_t i = 0; i < columns.size(); ++i) {
      columns[i]->pending = std::move(handles[i]);
      columns[i]->request = Request::None;
    }
  }

  void reduceFor(const std::vector<Column*>& columns) {
    if (columns.empty()) return;
    const auto batches = batchesOf(columns);
    if (opening_ == nullptr) monitor_.enterPiggybacked(*batches.front());
    carried_.clear();
    for (const Column* column : columns)
      carried_.insert(carried_.end(), column->carried->begin(), column->carried->end());
    if (!carried_.empty()) {
      if (opening_ != nullptr) opening_->beforeAnotherMessage();
      operator_.embedded()->reduce(batches, carried_);
    } else if (opening_ == nullptr || !opening_->reduces(batches)) {
      ReductionBatch<Types>::reduceTogether(batches);
    }
    if (opening_ == nullptr) monitor_.readPiggybacked(*batches.front());
    for (Column* column : columns) column->request = Request::None;
  }

  /// Without the fence of Tpetra::deep_copy.
  void copy(const MultiVector& from, MultiVector& to) { storage_.kernels.scale(typename Types::Scalar(1), from, to); }

  void serveActions(Action action, const std::vector<Column*>& acting) {
    std::vector<Column*> group;
    for (Column* column : acting) {
      if (column->action == action) group.push_back(column);
    }
    if (group.empty()) return;
    const std::size_t width = group.size();
    if (width == 1) {
      perform(operator_, action, *group[0]->in, *group[0]->out);
    } else {
      MultiVector& in = storage_.in.columns(group[0]->in->getMap(), width);
      MultiVector& out = storage_.out.columns(group[0]->in->getMap(), width);
      for (std::size_t i = 0; i < width; ++i) copy(*group[i]->in, *in.getVectorNonConst(i));
      perform(operator_, action, in, out);
      for (std::size_t i = 0; i < width; ++i) copy(*out.getVector(i), *group[i]->out);
    }
    for (Column* column : group) column->request = Request::None;
  }

  PreconditionedOperator<Types>& operator_;
  Monitor<Types>& monitor_;
  int first_;
  std::vector<std::unique_ptr<Column>> columns_;
  std::vector<CarriedVector<Types>> carried_;
  Column* running_ = nullptr;  ///< the column whose fiber runs, if one does
  LockstepStorage<Types>& storage_;
  Opening<Types>* opening_;
};

}  // namespace capstan
