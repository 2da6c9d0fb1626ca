#pragma once
/// \file
/// A system whose preconditioner acts on the right as a whole, M^{-1} = M_R^{-1} M_L^{-1}: for a method that follows
/// b - A x itself and takes over from one that does. Rows that hold a diagonal alone are rows like others here: x may
/// be the guess again, which does not solve them.

#include "belos_ext/problem/forwarding_system.hpp"

namespace capstan {

template <class Types>
class RightPreconditionedSystem final : public ForwardingSystem<Types> {
 public:
  using MultiVector = typename Types::MultiVector;

  /// \param scratch n x 1 vectors of its own, the second one used only with two preconditioners; may be null without
  RightPreconditionedSystem(LinearSystem<Types>& system, MultiVector* scratch, MultiVector* between)
      : ForwardingSystem<Types>(system, false, system.preconditioned(), system.facts().diagonal, false),
        scratch_(scratch),
        between_(between) {}

  void act(Action action, const MultiVector& in, MultiVector& out) override {
    switch (action) {
      case Action::Operator:
        return system_.act(action, in, out);
      case Action::Preconditioned:
        if (!system_.preconditioned()) return system_.act(Action::Operator, in, out);
        precondition(in, *scratch_);
        return system_.act(Action::Operator, *scratch_, out);
      case Action::LeftPreconditioner:
        return this->kernels().scale(typename Types::Scalar(1), in, out);
      case Action::RightPreconditioner:
        if (!system_.preconditioned()) return this->kernels().scale(typename Types::Scalar(1), in, out);
        return precondition(in, out);
    }
  }

 private:
  void precondition(const MultiVector& in, MultiVector& out) {
    const bool both = system_.hasLeft() && system_.hasRight();
    if (both) system_.act(Action::LeftPreconditioner, in, *between_);
    system_.act(system_.hasRight() ? Action::RightPreconditioner : Action::LeftPreconditioner, both ? *between_ : in,
                out);
  }

  using ForwardingSystem<Types>::system_;
  MultiVector *scratch_, *between_;
};

}  // namespace capstan
