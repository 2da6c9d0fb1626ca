#pragma once
/// \file
/// Lets several right-hand sides advance together: operator applications become block applications and
/// reductions one message, while each runs its method's plain loop and stops on its own.
///
/// Every right-hand side is a lane with its own fiber. A lane that wants something from outside states its request and
/// pauses. When all lanes wait, requests are served in this order: operator and preconditioner applications (one block
/// per kind), else all reductions (those started in one message, and those waited for in another), else, when every
/// lane is at the end of a block, the status tests. A lane whose residual meets the tolerance, and that the
/// application's own test is to approve, waits without iterating until all others have got there or ended: such a test
/// judges all right-hand sides at once. What lanes ask depends on reduced numbers only, so all ranks serve
/// the same requests in the same order. Collective.
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

/// Copies of the vectors that act together, and the kernels of all lanes. Kept by the solver manager: no allocation
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

  /// Runs one body for each right-hand side to its end. Rethrows the first exception of a lane, after unwinding the
  /// others.
  /// \param measures of the right-hand sides' residuals; none: the 2-norm is all they need
  void run(const std::vector<Body>& bodies, const std::vector<ResidualMeasure*>& measures = {}) {
    lanes_.clear();
    for (std::size_t c = 0; c < bodies.size(); ++c) {
      lanes_.push_back(
          std::make_unique<Lane>(*this, first_ + static_cast<int>(c), measures.empty() ? nullptr : measures[c]));
      Lane& lane = *lanes_.back();
      lane.fiber = std::make_unique<Fiber>([&lane, body = bodies[c]] { body(lane); });
    }
    monitor_.approveJointly([this] {
      Lane& claims = *running_;
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

  struct Lane final : MonitoredSystem<Types> {
    Lane(Lockstep& o, int number, ResidualMeasure* m)
        : MonitoredSystem<Types>(o.operator_, o.monitor_, o.storage_.kernels, number, m), owner(o) {}

    void act(Action a, const MultiVector& from, MultiVector& to) override {
      // A status test that wants the current iterate calls the lane's update while its fiber is paused. A block of
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
    // No other lane has multiplied in between: neither of the two waits.
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
      travellers = &vectors;
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
    const std::vector<CarriedVector<Types>>* travellers = nullptr;  ///< what travels inside the reduction
    PendingReduction<Types> pending;
    RightHandSideProgress<Types> progress;
    bool goOn = true, approved = false;
  };

  void ends() {
    monitor_.approveJointly({});
    lanes_.clear();
  }

  /// Runs every lane up to its next request. False when all have ended.
  bool advance() {
    bool active = false;
    for (auto& lane : lanes_) {
      if (lane->fiber->done()) continue;
      if (lane->request == Request::None) {
        running_ = lane.get();
        lane->fiber->resume();
        running_ = nullptr;
        lane->fiber->rethrow();
      }
      active = active || !lane->fiber->done();
    }
    return active;
  }

  std::vector<Lane*> waiting(Request request) {
    std::vector<Lane*> found;
    for (auto& lane : lanes_) {
      if (!lane->fiber->done() && lane->request == request) found.push_back(lane.get());
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
      for (Lane* lane : ended) progress.push_back(lane->progress);
      const bool goOn = monitor_.check(progress);
      for (Lane* lane : ended) {
        lane->goOn = goOn;
        lane->request = Request::None;
      }
    } else {
      const auto claiming = waiting(Request::Approval);
      if (opening_ != nullptr) opening_->beforeAnotherMessage();
      const bool approved = monitor_.testPasses();
      for (Lane* lane : claiming) {
        lane->approved = approved;
        lane->request = Request::None;
      }
    }
  }

  static std::vector<ReductionBatch<Types>*> batchesOf(const std::vector<Lane*>& lanes) {
    std::vector<ReductionBatch<Types>*> batches;
    for (Lane* lane : lanes) batches.push_back(lane->batch);
    return batches;
  }

  void startFor(const std::vector<Lane*>& lanes) {
    if (opening_ != nullptr && !lanes.empty()) opening_->beforeAnotherMessage();
    auto handles = ReductionBatch<Types>::startTogether(batchesOf(lanes));
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      lanes[i]->pending = std::move(handles[i]);
      lanes[i]->request = Request::None;
    }
  }

  void reduceFor(const std::vector<Lane*>& lanes) {
    if (lanes.empty()) return;
    const auto batches = batchesOf(lanes);
    monitor_.board(*batches.front());
    carried_.clear();
    for (const Lane* lane : lanes) carried_.insert(carried_.end(), lane->travellers->begin(), lane->travellers->end());
    if (!carried_.empty()) {
      if (opening_ != nullptr) opening_->beforeAnotherMessage();
      operator_.embedded()->reduce(batches, carried_);
    } else if (opening_ == nullptr || !opening_->reduces(batches)) {
      ReductionBatch<Types>::reduceTogether(batches);
    }
    monitor_.alight(*batches.front());
    for (Lane* lane : lanes) lane->request = Request::None;
  }

  /// Without the fence of Tpetra::deep_copy.
  void copy(const MultiVector& from, MultiVector& to) { storage_.kernels.scale(typename Types::Scalar(1), from, to); }

  void serveActions(Action action, const std::vector<Lane*>& acting) {
    std::vector<Lane*> group;
    for (Lane* lane : acting) {
      if (lane->action == action) group.push_back(lane);
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
    for (Lane* lane : group) lane->request = Request::None;
  }

  PreconditionedOperator<Types>& operator_;
  Monitor<Types>& monitor_;
  int first_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<CarriedVector<Types>> carried_;
  Lane* running_ = nullptr;  ///< the lane whose fiber runs, if one does
  LockstepStorage<Types>& storage_;
  Opening<Types>* opening_;
};

}  // namespace capstan
