#pragma once
/// \file
/// IDR(s), the biorthogonal variant, with one reduction for each product with A.
///
/// Source: [van Gijzen and Sonneveld 2011], preconditioned from the right, algorithm 913 (the prototype of figure 2);
/// (P, r) and the products of a new g with P are reduced together, before g is made biorthogonal, as in [Collignon and
/// van Gijzen 2011]; omega keeps convergence as in [Sleijpen and van der Vorst 1995].
/// `line k` beside a statement: docs/methods/idr.md.
///
/// An iteration is one product: s of them make new columns of G and U, the next one takes r to the next Sonneveld
/// space.
///
/// Cost of an iteration: 1 reduction of s + 3 to 3 s + 1 numbers (2 s + 3 where r goes to the next space), 1 A, 1
/// M^{-1}; in the mean of s + 1 iterations, and with s = 4, 38 flops a row and 22 vectors read and written. A solve of
/// n iterations: n + 2 reductions, n + 2 A (the first and the last residual among them), n M^{-1}. Storage: 3 s + 2
/// vectors (3 s + 3 with a preconditioner, 1 more with a left and a right one), 1 more where the guess is not zero,
/// after a restart and where a claim is examined. Overlap: none.
///
/// | paper       | here          | shape               | meaning                                                   |
/// |-------------|---------------|---------------------|-----------------------------------------------------------|
/// | r, x        | r, x          | n x 1, distributed  | residual, iterate                                         |
/// | P           | shadow        | s vectors of n x 1, | shadow space: random, the same on any number of ranks     |
/// |             |               | distributed         |                                                           |
/// | G, U        | g, u          | s vectors of n x 1, | G = A U; g_k is orthogonal to p_1, ..., p_{k-1}           |
/// |             |               | distributed         |                                                           |
/// | M           | m             | s x s, replicated   | P^T G, lower triangular                                   |
/// | f           | f             | s numbers,          | P^T r                                                     |
/// |             |               | replicated          |                                                           |
/// | c           | c             | s numbers,          | M c = f, of the columns k, ..., s                         |
/// |             |               | replicated          |                                                           |
/// | v           | v, vHat       | n x 1, distributed  | r - G c, and M^{-1} v; v in the place of t                |
/// | t           | t             | n x 1, distributed  | A M^{-1} r                                                |
/// | alpha, beta | a, beta       | numbers, replicated | what makes g_k biorthogonal; f_k / M_kk                   |
/// | omega       | omega         | number, replicated  | (t, r) / (t, t), larger where the angle is near 90        |
/// |             |               |                     | degrees                                                   |
///
/// The norm of the next residual comes from (r, g), (g, g) and (G, g), which are reduced with the others, so that a
/// solve ends without a product that nobody needs. Where nothing but rounding is left of it, it is reduced: 1 reduction
/// more.

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "belos_ext/problem/vector_like.hpp"
#include "belos_ext/supervision/progress.hpp"

namespace capstan::tuning::idr {
/// The least cosine of the angle of t and r that omega is taken for as it is. Source: [Sleijpen and van der Vorst
/// 1995].
inline constexpr double kappa = 0.7;
/// Cycles in a row that gained nothing, and so end IDR. Chosen: as for BiCGStab.
inline constexpr int mostFruitless = 2;
}  // namespace capstan::tuning::idr

namespace capstan {

template <class Types>
class Idr final : public Method<Types> {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using Vector = Teuchos::RCP<MultiVector>;
  using Slot = typename ReductionBatch<Types>::Slot;

  static constexpr Treatment treatment = [] {
    Treatment how;
    how.goesBack = how.examines = true;
    how.patience = 2;  // an iteration is half of one of BiCGStab's
    how.mostFruitless = tuning::idr::mostFruitless;
    how.restart = EventKind::NewShadowSpace;
    return how;
  }();

  static Cost cost(const SolverOptions& options, bool preconditioned) {
    const double s = options.shadowSpace, mean = 1 / (s + 1);
    // Of directions, their products, updates, and the step to the next space.
    const double flops = (s + 2 * s * (s + 1)) + (4 * s * s + 4 * s) + (2 * s * s + 2 * s) + (4 * s + 10);
    const double read = preconditioned ? s * (s + 1) + 4 * s : s * (s + 1) + 2 * s, last = preconditioned ? 8 : 7;
    const double entries = read + (s * s + s * (s - 1) / 2 + 2 * s) + (s * (s - 1) + 8 * s - 2) + (s + last);
    return {1, 1, 1, 3 * s + (preconditioned ? 3 : 2), flops * mean, 8 * entries * mean};
  }

  using Options = MethodOptions<ShadowOptions, FallbackOptions>;
  void configure(const Options& options) { wanted_ = options.shadowSpace; }

  void prepare(LinearSystem<Types>& system, const MultiVector& b, JudgedResidual<Types>& judged) override {
    batch_ = &judged.batch();
    preconditioned_ = system.preconditioned();
    const bool otherMap = r_.is_null() || r_->getMap().get() != b.getMap().get();
    s_ = std::min(static_cast<std::size_t>(wanted_), std::max<std::size_t>(b.getGlobalLength(), 1));
    const bool makesShadow = otherMap || shadow_.size() < s_ || cycles_ > 1;
    for (auto* vectors : {&shadow_, &g_, &u_}) {
      vectors->resize(s_);
      for (Vector& vector : *vectors) vectorLike(b, vector);
    }
    for (Vector* vector : {&r_, &t_}) vectorLike(b, *vector);
    if (preconditioned_) vectorLike(b, vHat_);
    if (system.hasLeft() && system.hasRight()) vectorLike(b, between_);
    cycles_ = 0;
    if (makesShadow) fillShadow(system);
  }
  Vector& residual() override { return r_; }

  Ending cycle(Progress<Types>& progress, Start) override {
    auto& system = progress.system();
    if (progress.steps() == 0 && progress.stop().iterations() == 0) system.startUpEnds();
    if (cycles_++ > 0) fillShadow(system);  // line 1
    begin(progress.residual().square());    // line 1
    // A square that may have underflowed is no product to divide by.
    const Scalar least = static_cast<Scalar>(progress.x().getGlobalLength()) * std::numeric_limits<Scalar>::min();
    if (!(rr_ > least)) return Ending::Breakdown;
    for (;;) {                                // line 2
      for (std::size_t k = 0; k < s_; ++k) {  // line 3
        if (const auto ending = stepInSpace(progress, k)) return *ending;
      }
      filled_ = true;
      if (const auto ending = stepToNextSpace(progress)) return *ending;
    }
  }

 private:
  /// G = U = 0, M = I; nothing of these is read before it is made. Local.
  void begin(Scalar rr) {
    rr_ = rr;
    filled_ = knowsF_ = false;
    omega_ = 1;  // line 1
    m_.assign(s_ * s_, Scalar(0));
    gram_.assign(s_ * s_, Scalar(0));
    f_.assign(s_, Scalar(0));
    c_.assign(s_, Scalar(0));
  }

  /// A new column k of G and U, r made orthogonal to p_k. Nothing: go on. Collective.
  std::optional<Ending> stepInSpace(Progress<Types>& progress, std::size_t k) {
    auto& system = progress.system();
    MultiVector &r = *r_, &g = *g_[k], &u = *u_[k];
    makeDirection(system, k);  // lines 4, 5: u_k = U c + omega M^{-1} (r - G c)
    enterProducts(progress, k);
    system.applyAndReduce(u, g, *batch_);                    // lines 5, 6: g_k = A u_k; P^T g_k, (r, g_k), ...
    const auto [along, square, terms] = biorthogonalize(k);  // lines 7, 8
    progress.tookMeasure(std::sqrt(static_cast<double>(rr_)));
    const Scalar mkk = m(k, k);
    if (!std::isfinite(mkk)) return Ending::NotFinite;
    if (isRounding(mkk, lengthOfShadow(r) * std::sqrt(gg_))) return Ending::Breakdown;
    const Scalar beta = f_[k] / mkk;  // line 9
    if (!std::isfinite(beta) || !std::isfinite(square)) return Ending::NotFinite;

    SweepList<Types> sweep(r.getLocalLength());
    for (std::size_t i = 0; i < k; ++i) sweep.axpy(-a_[i], *g_[i], g);  // line 8
    for (std::size_t i = 0; i < k; ++i) sweep.axpy(-a_[i], *u_[i], u);  // line 8
    sweep.axpy(beta, u, progress.x());                                  // line 9: x = x + beta u_k
    sweep.axpy(-beta, g, r);                                            // line 9: r = r - beta g_k
    system.kernels().sweep(sweep);
    for (std::size_t j = k + 1; j < s_; ++j) f_[j] -= beta * m(j, k);  // line 9
    return follow(progress, rr_ - 2 * beta * along + beta * beta * square,
                  rr_ + 2 * std::abs(beta) * terms.along + beta * beta * terms.square);  // line 10
  }

  /// r is orthogonal to P: omega takes it to the next Sonneveld space. Nothing: go on. Collective.
  std::optional<Ending> stepToNextSpace(Progress<Types>& progress) {
    auto& system = progress.system();
    auto& batch = *batch_;
    MultiVector &r = *r_, &t = *t_;
    if (preconditioned_) system.precondition(r, between_.get(), *vHat_);  // line 11
    MultiVector& vHat = preconditioned_ ? *vHat_ : r;                     // v = r
    batch.clear();
    progress.takeMeasure();
    const auto tr = batch.dot(t, r), tt = batch.norm2(t), rr = batch.norm2(r);  // line 12
    std::vector<Slot> ofT, ofR;
    for (const Vector& p : shadow_) {
      ofT.push_back(batch.dot(*p, t));  // line 12
      ofR.push_back(batch.dot(*p, r));  // line 12
    }
    system.applyAndReduce(vHat, t, batch);  // lines 11, 12: t = A v
    rr_ = batch[rr];
    progress.tookMeasure(std::sqrt(static_cast<double>(rr_)));
    const Scalar lengths = std::sqrt(batch[tt]) * std::sqrt(rr_),
                 cosine = std::abs(batch[tr]) / std::max(lengths, std::numeric_limits<Scalar>::min());
    if (!std::isfinite(batch[tr]) || !std::isfinite(lengths)) return Ending::NotFinite;
    if (isRounding(batch[tr], lengths)) return Ending::Breakdown;
    omega_ = batch[tr] / batch[tt];                    // line 13
    if (cosine < kappa()) omega_ *= kappa() / cosine;  // line 13
    if (!std::isfinite(omega_)) return Ending::NotFinite;
    for (std::size_t j = 0; j < s_; ++j) f_[j] = batch[ofR[j]] - omega_ * batch[ofT[j]];  // line 14
    system.kernels().sweep(axpy(omega_, vHat, progress.x()), axpy(-omega_, t, r));        // line 14
    const Scalar middle = 2 * omega_ * batch[tr], last = omega_ * omega_ * batch[tt];
    return follow(progress, rr_ - middle + last, rr_ + std::abs(middle) + last);  // line 15
  }

  /// u_k = sum of c_i u_i + omega M^{-1} (r - sum of c_i g_i), i = k, ..., s. Collective.
  void makeDirection(LinearSystem<Types>& system, std::size_t k) {
    auto& kernels = system.kernels();
    MultiVector &r = *r_, &u = *u_[k];
    if (!filled_) {
      if (preconditioned_) system.precondition(r, between_.get(), *vHat_);
      return kernels.axpby(omega_, preconditioned_ ? *vHat_ : r, Scalar(0), u);
    }
    for (std::size_t i = k; i < s_; ++i) {
      c_[i] = f_[i];                                                 // line 4
      for (std::size_t j = k; j < i; ++j) c_[i] -= m(i, j) * c_[j];  // line 4
      c_[i] /= m(i, i);                                              // line 4
    }
    if (preconditioned_) {
      SweepList<Types> residual(r.getLocalLength());
      residual.axpby(Scalar(1), r, Scalar(0), *t_);
      for (std::size_t i = k; i < s_; ++i) residual.axpy(-c_[i], *g_[i], *t_);  // line 4
      kernels.sweep(residual);
      system.precondition(*t_, between_.get(), *vHat_);  // line 5
    }
    SweepList<Types> sweep(r.getLocalLength());
    sweep.axpby(omega_, preconditioned_ ? *vHat_ : r, c_[k], u);            // line 5
    for (std::size_t i = k + 1; i < s_; ++i) sweep.axpy(c_[i], *u_[i], u);  // line 5
    for (std::size_t i = k; i < s_ && !preconditioned_; ++i) sweep.axpy(-omega_ * c_[i], *g_[i], u);
    kernels.sweep(sweep);
  }

  /// The products of column k before it is biorthogonal. Local.
  void enterProducts(Progress<Types>& progress, std::size_t k) {
    auto& batch = *batch_;
    const MultiVector &r = *r_, &g = *g_[k];
    batch.clear();
    progress.takeMeasure();
    slots_ = {};
    slots_.rg = batch.dot(r, g);
    slots_.gg = batch.norm2(g);
    slots_.rr = batch.norm2(r);
    for (const Vector& p : shadow_) {
      slots_.pg.push_back(batch.dot(*p, g));
      if (!knowsF_) slots_.pr.push_back(batch.dot(*p, r));
    }
    for (std::size_t i = 0; i < k; ++i) {
      slots_.ofG.push_back(batch.dot(*g_[i], g));
      slots_.ofR.push_back(batch.dot(*g_[i], r));
    }
  }

  /// (r, g_k) and (g_k, g_k), and the sizes of their terms.
  struct Norms {
    Scalar along, square;
    struct {
      Scalar along, square;
    } terms;
  };

  /// g_k = g_k - sum of a_i g_i is orthogonal to p_i, i < k: its coefficients, its column of M, and its products.
  Norms biorthogonalize(std::size_t k) {
    const auto& batch = *batch_;
    rr_ = batch[slots_.rr];
    gg_ = batch[slots_.gg];
    for (std::size_t j = 0; j < s_ && !knowsF_; ++j) f_[j] = batch[slots_.pr[j]];
    knowsF_ = true;
    for (std::size_t j = 0; j < s_; ++j) m(j, k) = batch[slots_.pg[j]];
    a_.assign(k, Scalar(0));
    for (std::size_t i = 0; i < k; ++i) {
      a_[i] = m(i, k) / m(i, i);  // line 7
      m(i, k) = 0;
      for (std::size_t j = i + 1; j < s_; ++j) m(j, k) -= a_[i] * m(j, i);  // line 8
    }
    Norms norms{batch[slots_.rg], gg_, {std::abs(batch[slots_.rg]), gg_}};
    for (std::size_t i = 0; i < k; ++i) {
      const Scalar ofR = a_[i] * batch[slots_.ofR[i]], ofG = a_[i] * batch[slots_.ofG[i]];
      Scalar among = batch[slots_.ofG[i]], terms = std::abs(among);  // (g_i, g_k)
      for (std::size_t j = 0; j < k; ++j) {
        among -= a_[j] * gram(i, j);
        terms += std::abs(a_[j] * gram(i, j));
      }
      gram(i, k) = gram(k, i) = among;
      norms.along -= ofR;
      norms.square -= ofG + a_[i] * among;
      norms.terms.along += std::abs(ofR);
      norms.terms.square += std::abs(ofG) + std::abs(a_[i]) * terms;
    }
    gram(k, k) = norms.square;
    return norms;
  }

  /// The residual has this square, which terms of these sizes, together, have made. Nothing: go on. Collective.
  std::optional<Ending> follow(Progress<Types>& progress, Scalar square, Scalar terms) {
    const double norm = std::sqrt(static_cast<double>(std::max(square, Scalar(0))));
    if (const auto ending = progress.follow({norm, square < 0 || hasCancelled(square, terms)})) return ending;
    rr_ = static_cast<Scalar>(progress.recursive()) * static_cast<Scalar>(progress.recursive());
    const Scalar least = static_cast<Scalar>(progress.x().getGlobalLength()) * std::numeric_limits<Scalar>::min();
    return rr_ > least ? std::nullopt : std::optional(Ending::Breakdown);
  }

  /// P of this cycle: the same in every solve. Local.
  void fillShadow(LinearSystem<Types>& system) {
    const std::size_t first = static_cast<std::size_t>(std::max(cycles_ - 1, 0)) * s_;
    for (std::size_t j = 0; j < s_; ++j) system.kernels().scatter(*shadow_[j], first + j + 1);
  }
  /// || p_j ||, about: its entries are uniform in (-1, 1).
  static Scalar lengthOfShadow(const MultiVector& r) { return std::sqrt(static_cast<Scalar>(r.getGlobalLength()) / 3); }
  static constexpr Scalar kappa() { return static_cast<Scalar>(tuning::idr::kappa); }

  Scalar& m(std::size_t i, std::size_t j) { return m_[i * s_ + j]; }
  Scalar& gram(std::size_t i, std::size_t j) { return gram_[i * s_ + j]; }

  struct Slots {
    Slot rg, gg, rr;
    std::vector<Slot> pg, pr, ofG, ofR;  ///< P^T g, P^T r, and of the columns before: (g_i, g), (g_i, r)
  };

  int wanted_ = 4;
  std::size_t s_ = 0;
  int cycles_ = 0;  ///< of the solve
  bool preconditioned_ = false, filled_ = false, knowsF_ = false;
  Scalar rr_ = 0, gg_ = 0, omega_ = 1;
  std::vector<Scalar> m_, gram_, f_, c_, a_;  ///< P^T G, G^T G, P^T r
  std::vector<Vector> shadow_, g_, u_;
  Vector r_, t_, vHat_, between_;
  ReductionBatch<Types>* batch_ = nullptr;  ///< of the solve
  Slots slots_;
};

}  // namespace capstan
