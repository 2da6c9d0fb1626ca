#pragma once
/// \file
/// The outside world of a right-hand side. DirectSystem is that of a single one: everything happens at once.

#include "belos_ext/manager/monitor.hpp"
#include "belos_ext/manager/opening.hpp"
#include "belos_ext/problem/linear_system.hpp"
#include "tpetra_ext/operators/preconditioned_operator.hpp"

namespace capstan {

/// out = action(in), any number of columns. Collective.
/// \param then what is to become of out, a single vector; null: nothing
/// \return whether it has
template <class Types>
bool perform(PreconditionedOperator<Types>& op, Action action, const typename Types::MultiVector& in,
             typename Types::MultiVector& out, const VectorRecurrence<Types>* then = nullptr) {
  switch (action) {
    case Action::Preconditioned:
      return op.apply(in, out, then);
    case Action::Operator:
      return op.applyA(in, out, then);
    case Action::LeftPreconditioner:
      op.applyLeft(in, out);
      break;
    case Action::RightPreconditioner:
      op.applyRight(in, out);
      break;
  }
  return false;
}

/// What the systems of one or of several right-hand sides have in common.
template <class Types>
class MonitoredSystem : public LinearSystem<Types>, protected CarriedExchange<Types> {
 public:
  using MultiVector = typename Types::MultiVector;

  CarriedExchange<Types>* carried() final { return operator_.embedded() != nullptr ? this : nullptr; }
  void record(int iteration, double recursive) final { monitor_.record(rightHandSide_, iteration, recursive); }
  void tell(int iteration, Event event) final { monitor_.tell(rightHandSide_, iteration, event); }
  long products() const final { return operator_.cost().operatorApplications; }
  void startUpEnds(int operators, int preconditioners) final {
    monitor_.startUpEnds(operator_.cost(), operators, preconditioners);
  }

 protected:
  MonitoredSystem(PreconditionedOperator<Types>& op, Monitor<Types>& monitor, BlockKernels<Types>& kernels,
                  int rightHandSide, ResidualMeasure* measure)
      : LinearSystem<Types>(kernels, {op.hasLeft(), op.hasRight(), op.hasDiagonalPreconditioner(), true,
                                      op.diagonalRows(), measure, &monitor.agreed}),
        operator_(op),
        monitor_(monitor),
        rightHandSide_(rightHandSide),
        measure_(measure) {}

  Teuchos::RCP<const typename Types::Map> ghostMap() const final { return operator_.embedded()->ghostMap(); }
  bool carriesPreconditioner() const final { return operator_.embedsPreconditioner(); }

  PreconditionedOperator<Types>& operator_;
  Monitor<Types>& monitor_;
  const int rightHandSide_;
  ResidualMeasure* const measure_;
};

template <class Types>
class DirectSystem final : public MonitoredSystem<Types> {
 public:
  using MultiVector = typename Types::MultiVector;

  /// \param kernels outlive the system
  /// \param opening what the first reduction finds out on the way, or null   \param measure likewise of each residual
  DirectSystem(PreconditionedOperator<Types>& op, Monitor<Types>& monitor, BlockKernels<Types>& kernels,
               int rightHandSide, Opening<Types>* opening = nullptr, ResidualMeasure* measure = nullptr)
      : MonitoredSystem<Types>(op, monitor, kernels, rightHandSide, measure), opening_(opening) {}

  void act(Action action, const MultiVector& in, MultiVector& out) override { perform(operator_, action, in, out); }
  void actThen(Action action, const MultiVector& in, MultiVector& out, const VectorRecurrence<Types>& then) override {
    if (!perform(operator_, action, in, out, &then)) this->kernels().recur(then, out);
  }
  void reduce(ReductionBatch<Types>& batch) override {
    reduceBy(batch, [&] {
      if (opening_ == nullptr || opening_->over() || !opening_->reduces({&batch})) batch.reduce();
    });
  }
  PendingReduction<Types> start(ReductionBatch<Types>& batch) override {
    beforeAnotherMessage();
    return batch.start();
  }
  bool boundary(int iterations, double recursive, const std::function<void(MultiVector&)>& update) override {
    if (!monitor_.watches()) return true;
    beforeAnotherMessage();
    return monitor_.check({{this->rightHandSide_, iterations, recursive, update}});
  }

 private:
  void carry(ReductionBatch<Types>& batch, const std::vector<CarriedVector<Types>>& vectors) override {
    reduceBy(batch, [&] {
      beforeAnotherMessage();
      operator_.embedded()->reduce({&batch}, vectors);
    });
  }
  void multiplyCarried(const MultiVector& in, const MultiVector& ghosts, MultiVector& out) override {
    operator_.applyReceived(in, ghosts, out);
  }
  void preconditionCarried(MultiVector& out) override { operator_.preconditionReceived(out); }

  void beforeAnotherMessage() {
    if (opening_ != nullptr) opening_->beforeAnotherMessage();
  }
  template <class Reduce>
  void reduceBy(ReductionBatch<Types>& batch, const Reduce& reduce) {
    if (opening_ == nullptr) monitor_.enterPiggybacked(batch);
    if (measure_ != nullptr) measure_->enter(batch);
    reduce();
    if (measure_ != nullptr) measure_->read(batch);
    if (opening_ == nullptr) monitor_.readPiggybacked(batch);
  }

  using MonitoredSystem<Types>::operator_;
  using MonitoredSystem<Types>::monitor_;
  using MonitoredSystem<Types>::measure_;
  Opening<Types>* opening_;
};

}  // namespace capstan
