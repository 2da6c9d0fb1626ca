#pragma once
/// \file
/// Preconditioned conjugate gradients with one reduction an iteration.
///
/// | form                     | when it is at work                                                             |
/// |--------------------------|--------------------------------------------------------------------------------|
/// | predict_recompute_cg.hpp | M is cheap, or has been seen to be linear; constants are projected out         |
/// | flexible_cg.hpp          | the first steps where M is costly, which take one M^{-1} less; M is not linear |
///
/// Both are Hestenes and Stiefel's CG in exact arithmetic, and in rounding. Other forms with one reduction
/// ([Chronopoulos and Gear 1989]) derive (p, A p) from symmetry.
///
/// Cost of a solve of n iterations: n + 1 reductions, n + 2 A (the first and the last residual among them), n + 1
/// M^{-1}, or n in the flexible form; 1 reduction, 1 A and 1 M^{-1} more where one form follows the other. Storage: 5
/// vectors (3 without a preconditioner), 2 more where residuals are smoothed, 1 more with a left and a right one, 1
/// more with a guess that is not zero.
///
/// Rows that hold a diagonal alone are solved first, and every vector is kept at zero there. What is done about
/// constants that A annihilates, and what it takes: constant_null_space.hpp. A may be negative definite, and so may M:
/// the steps are those with -A and -b, or with -M. (p, A p) < 0 or (r, M^{-1} r) < 0 alone: go on, as Hestenes and
/// Stiefel's does.

#include "belos_ext/solvers/cg/flexible_cg.hpp"
#include "belos_ext/solvers/cg/plain_product.hpp"
#include "belos_ext/solvers/cg/predict_recompute_cg.hpp"

namespace capstan {

/// \tparam Product how s = A p comes by what it needs of other ranks; embedded_cg.hpp has another one
template <class Types, class Product = PlainProduct<Types>>
class Cg final : public Method<Types> {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;

  static constexpr Treatment treatment = [] {
    Treatment how;
    how.symmetric = how.replaces = true;
    how.restart = "; restarted from the computed residual";
    return how;
  }();

  static Cost cost(const SolverOptions&, bool preconditioned) {
    if (preconditioned) return {1, 1, 1, 5, 26, 8 * (6 + 4 + 5)};
    return {1, 1, 1, 3, 16, 8 * (4 + 3 + 3)};
  }

  void configure(const SolverOptions& options) override { flexible_.configure(options); }
  void recall(const SolverState& state) override { flexible_.expectVariation(state.preconditionerVaries); }
  void remember(SolverState& state) const override { state.preconditionerVaries = flexible_.expectsVariation(); }
  void forget() override { flexible_.expectVariation(false); }

  void prepare(LinearSystem<Types>& system, const MultiVector& b, JudgedResidual<Types>& judged) override {
    const bool costly = system.sparesProducts();
    v_.prepare(system, b, judged);
    flexible_.prepare(costly ? tuning::cg::measuredSteps : 0);
    recomputed_.prepare(costly ? tuning::cg::firstSteps : 0);
    isFlexible_ = costly && !Product::recurs;
  }
  Teuchos::RCP<MultiVector>& residual() override { return flexible_.judged(); }

  void enter(LinearSystem<Types>& system, ReductionBatch<Types>&) override {
    isFlexible_ ? flexible_.enter(system) : recomputed_.enter(system);
  }
  void take(LinearSystem<Types>&) override { isFlexible_ ? flexible_.take() : recomputed_.take(); }

  Ending cycle(Progress<Types>& progress, Start start) override {
    if (start == Start::Anew || start == Start::Direction) flexible_.adoptJudged(progress.system());
    for (;;) {
      const auto ending = isFlexible_ ? flexible_.cycle(progress, start) : recomputed_.cycle(progress, start);
      if (ending != Ending::OtherForm) return ending;
      isFlexible_ = !isFlexible_;
      start = isFlexible_ ? Start::Direction : Start::Made;
      if (isFlexible_) flexible_.seeVariation();
      if (isFlexible_ && Product::recurs) {
        progress.system().tell(progress.stop().iterations(), "embedding", "M is not linear: A sends its own messages");
      }
    }
  }

  bool keepsDirection() const override { return isFlexible_ || recomputed_.keepsDirection(); }

  /// The flexible form makes the next direction conjugate to this one.
  bool startAlong(Progress<Types>& progress, const MultiVector& p) override {
    auto& system = progress.system();
    system.kernels().scale(Scalar(1), p, v_.p());
    system.act(Action::Operator, v_.p(), v_.s());
    isFlexible_ = true;
    flexible_.goOnFrom();
    progress.residual().resumeAlong(system, progress.b(), progress.x(), progress.stop(), v_.r(), v_.p(), v_.s());
    return true;
  }

 private:
  CgVectors<Types> v_;
  FlexibleCg<Types> flexible_{v_};
  PredictRecomputeCg<Types, Product> recomputed_{v_};
  bool isFlexible_ = false;
};

}  // namespace capstan
