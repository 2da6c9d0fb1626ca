#pragma once
/// \file
/// A system whose preconditioner acts on the right as a whole, M^{-1} = M_R^{-1} M_L^{-1}: for a method that follows
/// b - A x itself and takes over from one that does.

#include "belos_ext/problem/linear_system.hpp"

namespace capstan {

template <class Types>
class RightPreconditionedSystem final : public LinearSystem<Types> {
 public:
  using MultiVector = typename Types::MultiVector;

  /// \param scratch n x 1 vectors of its own, the second one used only with two preconditioners; may be null without
  RightPreconditionedSystem(LinearSystem<Types>& system, MultiVector* scratch, MultiVector* between)
      : LinearSystem<Types>(system.kernels()), system_(system), scratch_(scratch), between_(between) {}

  void act(Action action, const MultiVector& in, MultiVector& out) override {
    switch (action) {
      case Action::Operator:
        return system_.act(action, in, out);
      case Action::Preconditioned:
        if (!system_.preconditioned()) return system_.act(Action::Operator, in, out);
        system_.precondition(in, between_, *scratch_);
        return system_.act(Action::Operator, *scratch_, out);
      case Action::LeftPreconditioner:
        return this->kernels().scale(typename Types::Scalar(1), in, out);
      case Action::RightPreconditioner:
        if (!system_.preconditioned()) return this->kernels().scale(typename Types::Scalar(1), in, out);
        return system_.precondition(in, between_, out);
    }
  }
  void reduce(ReductionBatch<Types>& batch) override { system_.reduce(batch); }
  PendingReduction<Types> start(ReductionBatch<Types>& batch) override { return system_.start(batch); }
  void applyAndReduce(const MultiVector& in, MultiVector& out, ReductionBatch<Types>& batch) override {
    system_.applyAndReduce(in, out, batch);
  }
  bool boundary(int iterations, double recursive, const std::function<void(MultiVector&)>& update) override {
    return system_.boundary(iterations, recursive, update);
  }
  void record(int iteration, double recursive) override { system_.record(iteration, recursive); }
  void tell(int iteration, Event event) override { system_.tell(iteration, std::move(event)); }
  long products() const override { return system_.products(); }
  void startUpEnds(int operators, int preconditioners) override { system_.startUpEnds(operators, preconditioners); }
  void residual(const MultiVector& b, const MultiVector& x, MultiVector& r) override { system_.residual(b, x, r); }
  void takeMeasure(const MultiVector& r) override { system_.takeMeasure(r); }
  ResidualMeasure* measure() override { return system_.measure(); }
  bool hasLeft() const override { return false; }
  bool hasRight() const override { return system_.preconditioned(); }
  bool hasDiagonalPreconditioner() const override { return system_.hasDiagonalPreconditioner(); }

 private:
  LinearSystem<Types>& system_;
  MultiVector *scratch_, *between_;
};

}  // namespace capstan
