#pragma once
/// \file
/// A system that shows a method another one than the one it stands before: what is applied differs, all else is passed
/// on. Products whose messages travel inside reductions are not: they are those of the other operator.

#include <utility>

#include "belos_ext/problem/linear_system.hpp"

namespace capstan {

template <class Types>
class ForwardingSystem : public LinearSystem<Types> {
 public:
  using MultiVector = typename Types::MultiVector;

  void residual(const MultiVector& b, const MultiVector& x, MultiVector& r) override { system_.residual(b, x, r); }
  void takeMeasure(const MultiVector& r) override { system_.takeMeasure(r); }
  long products() const override { return system_.products(); }
  void reduce(ReductionBatch<Types>& batch) override { system_.reduce(batch); }
  PendingReduction<Types> start(ReductionBatch<Types>& batch) override { return system_.start(batch); }
  bool boundary(int iterations, double recursive, const std::function<void(MultiVector&)>& update) override {
    return system_.boundary(iterations, recursive, update);
  }
  void record(int iteration, double recursive) override { system_.record(iteration, recursive); }
  void tell(int iteration, Event event) override { system_.tell(iteration, std::move(event)); }
  void observe(double pivot, double coupling) override { system_.observe(pivot, coupling); }
  void startUpEnds(int operators, int preconditioners) override { system_.startUpEnds(operators, preconditioners); }

 protected:
  /// \param left, right what the method is shown of preconditioners   \param diagonal likewise
  /// \param own whether what is known of the rows of A is to be shown: what is applied is A, and for a symmetric method
  ForwardingSystem(LinearSystem<Types>& system, bool left, bool right, bool diagonal, bool own = true)
      : LinearSystem<Types>(system.kernels(), shown(system.facts(), left, right, diagonal, own)), system_(system) {}

  LinearSystem<Types>& system_;

 private:
  static SystemFacts<Types> shown(SystemFacts<Types> facts, bool left, bool right, bool diagonal, bool own) {
    facts.left = left;
    facts.right = right;
    facts.diagonal = diagonal;
    facts.own = facts.own && own;
    if (!own) facts.rows = nullptr;
    return facts;
  }
};

}  // namespace capstan
