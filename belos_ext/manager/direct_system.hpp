#pragma once
/// \file
/// The outside world of a single right-hand side: everything happens at once.

#include "belos_ext/manager/monitor.hpp"
#include "belos_ext/manager/opening.hpp"
#include "belos_ext/problem/linear_system.hpp"
#include "tpetra_ext/operators/preconditioned_operator.hpp"

namespace capstan {

/// out = action(in), any number of columns. Collective.
template <class Types>
void perform(PreconditionedOperator<Types>& op, Action action, const typename Types::MultiVector& in,
             typename Types::MultiVector& out) {
  switch (action) {
    case Action::Preconditioned:
      return op.apply(in, out);
    case Action::Operator:
      return op.applyA(in, out);
    case Action::LeftPreconditioner:
      return op.applyLeft(in, out);
    case Action::RightPreconditioner:
      return op.applyRight(in, out);
  }
}

template <class Types>
class DirectSystem final : public LinearSystem<Types> {
 public:
  using MultiVector = typename Types::MultiVector;

  /// \param kernels outlive the system
  /// \param opening what the first reduction finds out on the way, or null   \param measure likewise of each residual
  DirectSystem(PreconditionedOperator<Types>& op, Monitor<Types>& monitor, BlockKernels<Types>& kernels,
               int rightHandSide, Opening<Types>* opening = nullptr, ResidualMeasure* measure = nullptr)
      : LinearSystem<Types>(kernels),
        operator_(op),
        monitor_(monitor),
        rightHandSide_(rightHandSide),
        opening_(opening),
        measure_(measure) {}

  void act(Action action, const MultiVector& in, MultiVector& out) override { perform(operator_, action, in, out); }
  void reduce(ReductionBatch<Types>& batch) override {
    reduceBy(batch, [&] {
      if (opening_ == nullptr || opening_->over() || !opening_->reduces({&batch})) batch.reduce();
    });
  }
  PendingReduction<Types> start(ReductionBatch<Types>& batch) override {
    if (opening_ != nullptr) opening_->beforeAnotherMessage();
    return batch.start();
  }
  bool carries() const override { return operator_.embedded() != nullptr; }
  Teuchos::RCP<const typename Types::Map> ghostMap() const override { return operator_.embedded()->ghostMap(); }
  void carry(ReductionBatch<Types>& batch, const std::vector<CarriedVector<Types>>& vectors) override {
    reduceBy(batch, [&] {
      if (opening_ != nullptr) opening_->beforeAnotherMessage();
      operator_.embedded()->reduce({&batch}, vectors);
    });
  }
  void multiplyCarried(const MultiVector& in, const MultiVector& ghosts, MultiVector& out) override {
    operator_.applyReceived(in, ghosts, out);
  }
  bool carriesPreconditioner() const override { return operator_.embedsPreconditioner(); }
  void preconditionCarried(MultiVector& out) override { operator_.preconditionReceived(out); }
  bool agreesOnState() const override { return opening_ == nullptr || opening_->agreement().onState(); }
  bool agreesOnZeroGuess() const override { return opening_ != nullptr && opening_->agreement().onZeroGuess(); }
  long products() const override { return operator_.cost().operatorApplications; }
  bool boundary(int iterations, double recursive, const std::function<void(MultiVector&)>& update) override {
    if (!monitor_.watches()) return true;
    if (opening_ != nullptr) opening_->beforeAnotherMessage();
    return monitor_.check({{rightHandSide_, iterations, recursive, update}});
  }
  void record(int iteration, double recursive) override { monitor_.record(rightHandSide_, iteration, recursive); }
  void tell(int iteration, Event event) override { monitor_.tell(rightHandSide_, iteration, event); }
  void startUpEnds(int operators, int preconditioners) override {
    monitor_.startUpEnds(operator_.cost(), operators, preconditioners);
  }
  ResidualMeasure* measure() override { return measure_; }
  bool hasLeft() const override { return operator_.hasLeft(); }
  bool hasRight() const override { return operator_.hasRight(); }
  bool hasDiagonalPreconditioner() const override { return operator_.hasDiagonalPreconditioner(); }
  const DiagonalRows<Types>* diagonalRows() const override { return operator_.diagonalRows(); }
  bool annihilatesConstants() const override { return monitor_.annihilatesConstants(); }
  bool isNonsymmetric() const override { return monitor_.isNonsymmetric(); }

 private:
  template <class Reduce>
  void reduceBy(ReductionBatch<Types>& batch, const Reduce& reduce) {
    monitor_.board(batch);
    if (measure_ != nullptr) measure_->enter(batch);
    reduce();
    if (measure_ != nullptr) measure_->read(batch);
    monitor_.alight(batch);
  }

  PreconditionedOperator<Types>& operator_;
  Monitor<Types>& monitor_;
  int rightHandSide_;
  Opening<Types>* opening_;
  ResidualMeasure* measure_;
};

}  // namespace capstan
