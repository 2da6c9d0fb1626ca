#pragma once
/// \file
/// A method that has two forms of its iteration on the same vectors: a flexible one, for a preconditioner that is not
/// linear, or that is so costly that the first steps should do with one M^{-1} less; and a lasting one. A form ends its
/// cycle with Ending::OtherForm where the other one is to go on; 1 reduction and 1 M^{-1} more.

#include "belos_ext/supervision/progress.hpp"

namespace capstan {

/// \tparam Vectors what the forms share: prepare(), r(), p(), s()
/// \tparam Lasting, Flexible made of the vectors: prepare(), enter(), take(), cycle() as Method has them
template <class Types, class Vectors, class Lasting, class Flexible>
class TwoForms final : public Method<Types> {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;

  static constexpr Treatment treatment = [] {
    Treatment how;
    how.symmetric = how.replaces = how.judges = true;
    return how;
  }();
  static Cost cost(const SolverOptions& options, bool preconditioned) { return Lasting::cost(options, preconditioned); }

  using Options = typename Lasting::Options;
  void configure(const Options& options) { flexible_.configure(options); }
  void recall(const SolverState& state) override { flexible_.expectVariation(state.preconditionerVaries); }
  void remember(SolverState& state) const override { state.preconditionerVaries = flexible_.expectsVariation(); }
  void forget(const Options&) { flexible_.expectVariation(false); }

  void prepare(LinearSystem<Types>& system, const MultiVector& b, JudgedResidual<Types>& judged) override {
    const bool costly = system.sparesProducts();
    vectors_.prepare(system, b, judged);
    flexible_.prepare(costly);
    lasting_.prepare(costly);
    isFlexible_ = costly && !Lasting::isFirst;
  }
  Teuchos::RCP<MultiVector>& residual() override { return flexible_.judged(); }

  void enter(LinearSystem<Types>& system, ReductionBatch<Types>&) override {
    isFlexible_ ? flexible_.enter(system) : lasting_.enter(system);
  }
  void take(LinearSystem<Types>&) override { isFlexible_ ? flexible_.take() : lasting_.take(); }

  Ending cycle(Progress<Types>& progress, Start start) override {
    if (start == Start::Anew || start == Start::Direction) flexible_.adoptJudged(progress.system());
    for (;;) {
      const auto ending = isFlexible_ ? flexible_.cycle(progress, start) : lasting_.cycle(progress, start);
      if (ending != Ending::OtherForm) return ending;
      isFlexible_ = !isFlexible_;
      start = Start::Made;
      if (isFlexible_) flexible_.seeVariation();
      if (isFlexible_ && Lasting::isFirst) {
        progress.system().tell(progress.stop().iterations(), EventKind::EmbeddingStopped);
      }
    }
  }

  bool keepsDirection() const override { return true; }

  /// The flexible form makes the next direction conjugate to this one.
  bool startAlong(Progress<Types>& progress, const MultiVector& p) override {
    auto& system = progress.system();
    auto& v = vectors_;
    system.kernels().scale(Scalar(1), p, v.p());
    system.act(Action::Operator, v.p(), v.s());
    isFlexible_ = true;
    flexible_.goOnFrom();
    progress.residual().resumeAlong(system, progress.b(), progress.x(), progress.stop(), v.r(), v.p(), v.s());
    return true;
  }

 private:
  Vectors vectors_;
  Flexible flexible_{vectors_};
  Lasting lasting_{vectors_};
  bool isFlexible_ = false;
};

}  // namespace capstan
