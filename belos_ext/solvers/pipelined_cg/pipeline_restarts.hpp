#pragma once
/// \file
/// Where the pipelines of a solve by p(l)-CG begin, and what follows one that ended before it (pipelined_cg.hpp).
///
/// Ladder, each step in the report: bounds of an earlier solve that do not fit are estimated anew -> restart along the
/// last direction, from the computed residual after a breakdown -> half the depth -> the next method, which goes on
/// along the same direction. Later solves with the same A begin with the depth that it has come down to, or are the
/// next method's, and cost what those do: pipeline_memory.hpp.

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "belos_ext/convergence/expected_end.hpp"
#include "belos_ext/convergence/orthogonality_watch.hpp"
#include "belos_ext/problem/vector_like.hpp"
#include "belos_ext/solvers/pipelined_cg/kept_direction.hpp"
#include "belos_ext/solvers/pipelined_cg/pipelined_products.hpp"
#include "belos_ext/spectrum/spectral_interval.hpp"
#include "belos_ext/supervision/pipeline_depth.hpp"
#include "belos_ext/supervision/progress.hpp"
#include "belos_ext/support/bounded_quotients.hpp"

namespace capstan::tuning::pipelined_cg {
/// Iterations since the last beginning that a new one throws away rather than go on with what a deep pipeline, whose
/// errors are known l steps late, has spoilt. Measured: 1138_bus, p(3), lost after 13: 3407 iterations with it, 3184
/// without. For so long what is left to do tells how much error the basis may have. A direction from the first l + 1
/// iterations of a cycle is not kept either. Measured: PipelinedCgLadder, 4 ranks: 540 iterations with it, 226 without.
inline constexpr int fewIterations = 20;
}  // namespace capstan::tuning::pipelined_cg

namespace capstan {

template <class Types>
class PipelineRestarts : public Method<Types> {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using Vector = Teuchos::RCP<MultiVector>;

  static constexpr Treatment treatment = [] {
    Treatment how;
    how.restart = EventKind::PipelineCold;
    how.symmetric = how.replaces = how.examines = how.lends = how.mayOverflow = true;
    return how;
  }();

  using Options = MethodOptions<SymmetricOptions, SmoothingOptions, FallbackOptions, DepthOptions, HiddenOptions,
                                SpectrumOptions, PolynomialOptions>;
  void configure(const Options& options) {
    bounds_.configure(options);
    expected_.forget();
    depth_.configure(options);
  }
  void recall(const SolverState& state) override {
    bounds_.recall(state);
    expected_.recall(state.iterations);
    depth_.recall(state);
  }
  void remember(SolverState& state) const override {
    bounds_.remember(state);
    depth_.remember(state);
  }
  void forget(const Options& options) {
    configure(options);
    forgotten_ = true;
  }

  bool defers(LinearSystem<Types>& system) override { return depth_.defers(system.products()); }
  void learn(LinearSystem<Types>& system, StopTest& stop, int own) override {
    depth_.learn(stop, system.products(), own);
  }

  void prepare(LinearSystem<Types>& system, const MultiVector& b, JudgedResidual<Types>& judged) override {
    restart_ = &judged.batch();
    preconditioned_ = system.preconditioned();
    for (Vector* vector : {&r_, &p_}) vectorLike(b, *vector);
    if (system.hasLeft() && system.hasRight()) vectorLike(b, scratch_);
    depth_.choose(static_cast<double>(b.getGlobalLength()), learnsShifts(system));
    resize();
    begun_ = onward_ = claims_ = pending_ = forgotten_ = learnt_ = along_ = false;
    freshAt_ = begunAt_ = 0;
  }
  Vector& residual() override { return r_; }

  /// z_0 = M^{-1} u_0, (u_0, z_0).
  void enter(LinearSystem<Types>& system, ReductionBatch<Types>& batch) override {
    precondition(system);
    uz_ = batch.dot(u(0), top(0));
    uu_ = batch.norm2(u(0));
  }
  void take(LinearSystem<Types>& system) override {
    // What is known not to be symmetric has no sign.
    ofM_ = (*restart_)[uz_] < 0 && !system.isNonsymmetric() ? -1 : 1;
    square_ = ofM_ * (*restart_)[uz_];
    size_ = (*restart_)[uu_];
  }

  Ending cycle(Progress<Types>& progress, Start start) override {
    if (const auto ending = begin(progress, start)) return *ending;
    pending_ = false;
    const Halt halt = iterate(progress);
    products_.drain();  // completes what is still in flight
    return follows(progress, halt);
  }

  bool keepsDirection() const override { return claims_ || replaces(); }
  Cause why() const override { return why_; }
  int depth() const override { return l(); }
  const MultiVector* direction() const override { return along_ ? p_.get() : nullptr; }

 protected:
  /// How a cycle ends. Told: by Progress. Skew: Q is no longer orthonormal. Exhausted: as is the Krylov space. Drained:
  /// no further product was made, as the solve was expected to be over. Learnt: there are Ritz values enough for the
  /// shifts of a deeper pipeline.
  enum class Halt { None, Told, Skew, Breakdown, Exhausted, Drained, Learnt };

  virtual Halt iterate(Progress<Types>& progress) = 0;

  /// Tells the iteration that led to a residual of this norm. Whether the cycle is to end.
  bool over(Progress<Types>& progress, double norm) {
    expected_.observe(norm);
    if (isTold(progress.follow({norm, false}))) return true;
    return progress.isHopeless() && isTold(Ending::Unfit);
  }
  /// The same with the norm of b - A x, which is computed. 1 A, 1 reduction.
  bool overByComputed(Progress<Types>& progress) { return isTold(progress.followComputed()); }
  /// Whether it ends since the residual is to be replaced, as the user wants it.
  bool replaces() const { return told_ == Ending::Replacement; }

  EigenvalueBounds bounds(LinearSystem<Types>& system, int iteration) {
    return bounds_.get(system, p_->getMap(), iteration, [&](const MultiVector& in, MultiVector& out) {
      system.act(Action::Operator, in, preconditioned_ ? *r_ : out);
      if (preconditioned_) system.precondition(*r_, scratch_.get(), out);
    });
  }

  int l() const { return depth_.current(); }
  MultiVector& z(int k, int j) { return bases_.z(k, j); }
  MultiVector& top(int j) { return bases_.top(j); }
  MultiVector& u(int j) { return bases_.u(j); }

  RememberedDepth depth_;
  int a_ = 0;  ///< of the last iterate x_a
  bool preconditioned_ = false;
  bool pending_ = false;             ///< the step along p_, as the cycle ends
  bool bare_ = false;                ///< the last product is foreseen, and M^{-1} of it is not made
  Scalar ofM_ = 1, ofSpectrum_ = 1;  ///< the signs of M and of M^{-1} A
  Scalar nu_ = 0, zeta_ = 0;
  ExpectedEnd expected_;
  SpectralInterval<Types> bounds_;
  double perNorm_ = 1;  ///< || b - A x || over its M^{-1}-norm
  PipelinedLanczos<Scalar> lanczos_;
  PipelinedBases<Types> bases_;
  PipelinedProducts<Types> products_;
  KeptDirection<Types> kept_;
  Vector p_, scratch_;
  ReductionBatch<Types>* restart_ = nullptr;  ///< of the solve, for what is not in flight

 private:
  /// u_0 and z_0 = M^{-1} u_0, nu^2 = (u_0, z_0), s = A p, and shifts. The ending where the cycle has none.
  std::optional<Ending> begin(Progress<Types>& progress, Start start) {
    auto& system = progress.system();
    const bool first = !std::exchange(begun_, true), warm = std::exchange(onward_, false) && start == Start::GoOn;
    why_ = Cause::None;
    if (first) {
      if (forgotten_) depth_.defers(system.products());  // some ranks knew shifts, and others did not
      if (forgotten_) depth_.choose(static_cast<double>(p_->getGlobalLength()), learnsShifts(system));
      if (const auto told = depth_.told()) progress.tell(*told);
    } else if (std::exchange(claims_, false) && start == Start::Anew) {
      setback(progress, false);
      if (depth_.givenUp()) return Ending::HandsOver;
      why_ = Cause::None;
    }
    resize();
    const bool along = start == Start::Direction, steps = std::exchange(pending_, false) && along;
    const bool lost = warm && along_, mends = along || lost;  // p is another direction than the one kept, or doubtful
    along_ = false;
    if (lost) system.kernels().scale(Scalar(1), u(0), *r_);
    if (mends || learnt_) kept_.keep(system, *p_, ofM_ * ofSpectrum_);
    if (mends) kept_.minimizeAlong(system, *restart_, *p_, progress.x(), *r_);
    if (!along && !warm) kept_.forget(), freshAt_ = progress.stop().iterations();
    if (start != Start::First || forgotten_) multiply(system, progress.residual(), start, warm && !mends);
    learnt_ = false;
    begunAt_ = progress.stop().iterations();
    products_.setSign(ofM_);
    nu_ = std::sqrt(std::max(square_, Scalar(0)));
    kept_.take(*restart_, nu_);
    const double norm = system.norm(u(0), size_, *restart_);
    perNorm_ = ratioOr(norm, static_cast<double>(nu_), 0.0);
    if (steps && isTold(progress.follow({norm, false}))) return *told_;
    if (!std::isfinite(square_)) return Ending::NotFinite;
    // A square that may have underflowed says nothing about (u_0, M^{-1} u_0).
    const Scalar least = static_cast<Scalar>(p_->getGlobalLength()) * std::numeric_limits<Scalar>::min();
    if (!(square_ > least)) return Ending::Breakdown;
    findShifts(system, progress.stop().iterations());
    return std::nullopt;
  }

  /// z_0 where it is not there yet, (u_0, z_0), and the products of a direction that is kept. 1 reduction, but where b
  /// - A x has just been computed and is all there is.
  void multiply(LinearSystem<Types>& system, JudgedResidual<Types>& computed, Start start, bool warm) {
    if (!warm) precondition(system);
    square_ = size_ = computed.square();
    if (start == Start::Anew && !preconditioned_ && !computed.constants().ofResidual()) return;
    restart_->clear();
    uz_ = restart_->dot(u(0), top(0));
    uu_ = restart_->norm2(u(0));
    kept_.enter(*restart_, *p_, top(0));
    system.reduce(*restart_);
    square_ = ofM_ * (*restart_)[uz_];
    size_ = (*restart_)[uu_];
  }

  /// A short pipeline finds its shifts with its first product.
  void findShifts(LinearSystem<Types>& system, int iteration) {
    roughly_ = learnsShifts(system) && l() == 1;
    const long before = system.products();
    used_ = roughly_ ? EigenvalueBounds{} : bounds(system, iteration);
    depth_.leaveOut(system.products() - before);
    lanczos_.reset(roughly_ ? std::vector<Scalar>() : chebyshevPoints<Scalar>(used_, l()));
    expected_.begin(iteration, perNorm_ * static_cast<double>(nu_));
    system.startUpEnds(0, 1);
  }

  /// What the supervisor is to do after a cycle.
  Ending follows(Progress<Types>& progress, Halt halt) {
    auto& system = progress.system();
    const int iteration = progress.stop().iterations();
    const bool broke = halt == Halt::Breakdown || halt == Halt::Exhausted;
    const bool fitted = bounds_.learn(lanczos_, system, halt != Halt::Skew && halt != Halt::Breakdown, iteration);
    if (halt == Halt::Told || (halt == Halt::Exhausted && told_ == Ending::UserTest)) {
      claims_ = told_ == Ending::Claimed;
      return *told_;
    }
    told_.reset();
    if (halt == Halt::Learnt) return goDeeper(system, iteration);
    if (!fitted && (halt == Halt::Breakdown || halt == Halt::Skew)) return Ending::Skew;  // bounds are estimated anew
    if (halt == Halt::Skew) bases_.restartFrom(system, a_, zeta_);                        // the residual u_a zeta_a
    const bool early =
        iteration - begunAt_ <= l() + 1 || (l() > 1 && iteration - freshAt_ <= tuning::pipelined_cg::fewIterations);
    along_ = (halt == Halt::Skew && !early) || halt == Halt::Drained;
    halt == Halt::Drained ? depth_.giveUp(Cause::Drained) : setback(progress, broke);
    if (depth_.givenUp()) {
      why_ = depth_.reason() == Cause::None ? Cause::PipelineBreakdown : depth_.reason();
      return Ending::HandsOver;
    }
    const bool moved = halt != Halt::Breakdown || a_ > 0 || kept_.image() != nullptr;
    if (!moved) bases_.restartFrom(system, 0, nu_);  // u_0 is still the residual of x
    onward_ = along_ || !moved;
    why_ = halt == Halt::Skew        ? Cause::LostOrthogonality
           : halt == Halt::Breakdown ? Cause::SquareRoot
                                     : Cause::Exhausted;
    return onward_ ? Ending::Renewed : halt == Halt::Skew ? Ending::Skew : Ending::Breakdown;
  }

  /// Shifts are known for the depth that is asked for.
  Ending goDeeper(LinearSystem<Types>& system, int iteration) {
    depth_.learnt();
    system.tell(iteration, {EventKind::DepthFromNow, l()});
    bases_.restartFrom(system, a_, zeta_);
    learnt_ = onward_ = true;
    return Ending::Renewed;
  }

  /// A pipeline has ended before the solve. Local.
  void setback(Progress<Types>& progress, bool brokeDown) {
    depth_.setback(progress.stop(), a_ + 1, brokeDown, !roughly_ && bounds_.wouldBe(used_));
    why_ = depth_.reason();
  }

  /// u_0 = r, z_0 = M^{-1} u_0.
  void precondition(LinearSystem<Types>& system) {
    system.kernels().scale(Scalar(1), *r_, u(0));
    if (preconditioned_) system.precondition(u(0), scratch_.get(), top(0));
  }

  void resize() {
    const auto map = p_->getMap();
    bases_.resize(map, l(), depth_.wanted(), preconditioned_);
    products_.begin(map->getComm(), l(), preconditioned_);
  }

  bool isTold(const std::optional<Ending>& ending) {
    told_ = ending;
    return told_.has_value();
  }

  /// Whether shifts come from products that count: an estimate costs applications of M that do not.
  bool learnsShifts(LinearSystem<Types>& system) const { return system.sparesProducts() && !bounds_.known(); }

  Vector r_;  ///< b - A x, before a cycle and after it; elsewhere scratch
  typename ReductionBatch<Types>::Slot uz_, uu_;
  Scalar square_ = 0, size_ = 0;   ///< (u_0, z_0) and (u_0, u_0)
  std::optional<Ending> told_;     ///< by Progress
  EigenvalueBounds used_;          ///< for the shifts of this cycle
  bool roughly_ = false;           ///< they come from its first product
  bool begun_ = false;             ///< the solve
  bool forgotten_ = false;         ///< what was recalled for it
  bool onward_ = false;            ///< u_0 and z_0 are there for the next cycle
  bool claims_ = false;            ///< the cycle has ended with a claim
  int freshAt_ = 0, begunAt_ = 0;  ///< iterations before the last cycle that began without a direction; before the last
  bool learnt_ = false;            ///< the shifts for a deeper pipeline; nothing has been lost
  bool along_ = false;             ///< p_ is the direction that led to x
  Cause why_ = Cause::None;        ///< the cycle has ended as it has
};

}  // namespace capstan
