#pragma once
/// \file
/// A system A x = b whose preconditioner M = M_L M_R takes A in between (SplitPreconditioner): a method is shown
///
///   M_L^{-1} A M_R^{-1} u = M_L^{-1} b,   x = M_R^{-1} u,
///
/// without a preconditioner. Each product is one of A and one of M^{-1} in one, and where A is symmetric so is what the
/// method sees. All it computes is of that system, but for what the tolerance is meant in: whatever residual is
/// computed from u is computed as b - A x for the x of that u, and measured as such; the residual that the method
/// follows is measured as M_L of it.
///
/// Cost of a solve of n products beyond those: 1 A for each residual that is computed, 1/2 M^{-1} for it and its x, and
/// 1 M^{-1}; a product with M_R where x is not known to be zero. Storage: 3 vectors.
///
/// | symbol        | here       | shape              | meaning                                    |
/// |---------------|------------|--------------------|--------------------------------------------|
/// | u             | unknown    | n x 1, distributed | what the method solves for                 |
/// | M_L^{-1} b    | rhs        | n x 1, distributed | its right-hand side                        |
/// | b - A x       | residual   | n x 1, distributed | of the application's system, last computed |

#include <utility>

#include "belos_ext/problem/forwarding_system.hpp"
#include "belos_ext/problem/vector_like.hpp"
#include "belos_ext/supervision/krylov_solver.hpp"

namespace capstan {

/// Vectors of a SplitSystem, kept from solve to solve.
template <class Types>
struct SplitVectors {
  Teuchos::RCP<typename Types::MultiVector> unknown, rhs, residual;
};

template <class Types>
class SplitSystem final : public ForwardingSystem<Types> {
 public:
  using MultiVector = typename Types::MultiVector;

  /// \param system of the application, which has a measure   \param op its operator, which splits()
  SplitSystem(LinearSystem<Types>& system, PreconditionedOperator<Types>& op, SplitVectors<Types>& vectors)
      : ForwardingSystem<Types>(system, false, false, false, false), operator_(op), vectors_(vectors) {}

  /// Solves A x = b by the method. Collective.
  void solve(KrylovSolver<Types>& method, const MultiVector& b, MultiVector& x, StopTest& stop) {
    b_ = &b;
    x_ = &x;
    MultiVector &rhs = vectorLike(x, vectors_.rhs), &unknown = vectorLike(x, vectors_.unknown);
    operator_.applyLeftPart(b, rhs);
    // Whether this rank's part of x is zero says nothing of the others'.
    if (system_.knownResidual(x) == &b) {
      this->kernels().fill(0, unknown);
    } else {
      operator_.multiplyRightPart(x, unknown);
    }
    begins_ = &unknown;
    stop_ = &stop;
    computedAt_ = -1;
    method.solve(*this, rhs, unknown, stop);
    // The x of the residual that has met the tolerance is there already.
    const bool judged = stop.converged() && computedAt_ == stop.iterations();
    if (!judged && (changed_ || stop.iterations() > 0)) operator_.applyRightPart(unknown, x);
  }

  void act(Action action, const MultiVector& in, MultiVector& out) override {
    switch (action) {
      case Action::Operator:
      case Action::Preconditioned:
        return operator_.applySplit(in, out);
      case Action::LeftPreconditioner:
      case Action::RightPreconditioner:
        return this->kernels().scale(typename Types::Scalar(1), in, out);
    }
  }

  /// The first one is that of the application's x; another one leaves its own x there.
  void residual(const MultiVector& b, const MultiVector& u, MultiVector& r) override {
    const bool first = std::exchange(begins_, nullptr) == &u;
    MultiVector& own = vectorLike(*x_, vectors_.residual);
    const bool isRightHandSide = first && system_.knownResidual(*x_) == b_;
    if (!first) {
      operator_.applyRightPart(u, *x_);
      changed_ = true;
    }
    computedAt_ = stop_->iterations();
    system_.residual(*b_, *x_, own);
    this->facts().measure->takeSquare(
        static_cast<double>(this->kernels().scaledSquares(own, typename Types::Scalar(1))));
    if (isRightHandSide) {
      this->kernels().scale(typename Types::Scalar(1), b, r);
    } else {
      operator_.applyLeftPart(own, r);
    }
  }
  void takeMeasure(const MultiVector& r) override { this->facts().measure->take(operator_.split().absoluteSum(r)); }

  void startUpEnds(int operators, int) override { system_.startUpEnds(operators, operators); }

 private:
  using ForwardingSystem<Types>::system_;
  PreconditionedOperator<Types>& operator_;
  SplitVectors<Types>& vectors_;
  const MultiVector* b_ = nullptr;
  MultiVector* x_ = nullptr;
  const MultiVector* begins_ = nullptr;  ///< the unknown, as long as nothing has been computed of it
  bool changed_ = false;                 ///< x is not the application's any more
  StopTest* stop_ = nullptr;
  int computedAt_ = -1;  ///< the iteration of the last residual
};

}  // namespace capstan
