#pragma once
/// \file
/// The Orthomin form of enlarged CG: new directions come from the residuals, as those of CG do. Two reductions an
/// iteration, or one.
///
/// Source: [Grigori and Tissot 2019], Orthomin; block CG of [O'Leary 1980], whose right-hand sides here are the parts
/// of one residual. As in [Dubrulle 2001], BCGrQ, the residuals are made orthonormal in every iteration, in the inner
/// product of M^{-1}, since their columns would soon be dependent otherwise. One thing differs: the first column of R
/// is r itself, so that its direction, CG's own, is the last one to be dropped. T is the Cholesky factor U with its
/// first row divided by U_11, which leaves that column as it is.
/// `line k` beside a statement: docs/methods/ecg.md, which has the algorithm.
///
/// Fused: V = M^{-1} AZ is made before the first reduction, where N = R^T W is reduced anew, and N' predicted:
/// N' = N - F^T K - K^T F + K^T (AP^T V C^{-1}) K with F = AP^T W. So rounding does not gather in N, as in [Chen and
/// Carson 2020]. W = (W - V C^{-1} K) T^{-1} follows R, and is renewed now and then.
///
/// Where N' is too small to be predicted it is reduced. Where it is not positive, since M is indefinite or R dependent,
/// the solve goes on with inner products of Z: N = Z^T R and Z = (W - P AP^T W) T^{-1}, with C instead of U. So it does
/// from the beginning where constants are taken out of what M makes: N would hold them. With two reductions it does so
/// too where the first steps see that M is not linear and symmetric, such as multigrid that scales its corrections: R^T
/// W is not symmetric then, or AP^T W not - C N^{-1} N'. Steps by Z^T R are optimal, and directions by AP^T W
/// conjugate, whatever M is: flexible, as [Notay 2000] makes CG.
///
/// | here             | shape                 | meaning                                                       |
/// |------------------|-----------------------|---------------------------------------------------------------|
/// | pair_ = [AZ R]   | n x 2 t, distributed  | A Z, then A P; residuals, whose first column is r             |
/// | hidden_ = [V W]  | n x 2 t, distributed  | M^{-1} AZ, then M^{-1} AP; M^{-1} R. Fused, and with M, only  |
/// | products_        | t x t, replicated     | N = R^T W = Z^T R, T, and what is taken of P from W           |
/// | k_               | t x t, replicated     | K                                                             |
/// | crossed_         | t x t, replicated     | AP^T W of the new W. Fused only                               |
///
/// Cost of an iteration: enlarged_cg.hpp.

#include "belos_ext/convergence/definiteness_watch.hpp"
#include "belos_ext/solvers/enlarged_cg/enlarged_directions.hpp"
#include "belos_ext/solvers/enlarged_cg/residual_products.hpp"

namespace capstan {

template <class Types>
class Orthomin final : public EnlargedDirections<Types> {
 public:
  using Base = EnlargedDirections<Types>;
  using typename Base::MultiVector;
  using typename Base::Outcome;
  using typename Base::Scalar;
  using typename Base::Small;

  /// \param fused one reduction an iteration
  explicit Orthomin(bool fused) : fused_(fused) {}

  void prepare(LinearSystem<Types>& system, const MultiVector& b, int t) override {
    this->prepareShared(system, b, t);
    pair_.prepare(b, 2 * t);
    if (carries()) hidden_.prepare(b, 2 * t);
    stale_ = false;
    sinceRenewal_ = steps_ = 0;
  }

  MultiVector& parts() override { return pair_.columns(width_, width_); }
  MultiVector& part(int number) override { return pair_.column(width_ + number); }

  void begin(LinearSystem<Types>& system) override {
    MultiVector& z = z_.columns(width_);
    precondition(system, parts(), z);  // line 1
    lags_ = false;
    isPredicted_ = true;
    byDirections_ = this->projects();
    if (byDirections_) {
      removeConstants(system, z_);
    } else {
      normalizeParts(system, z);  // line 2
    }
    if (carries()) copy(system, z_.columns(width_), w());
  }

  Outcome step(LinearSystem<Types>& system, MultiVector& x) override {
    auto& batch = *batch_;
    MultiVector &z = z_.columns(width_), &az = pair_.columns(width_);
    if (carries()) {
      system.act(Action::Operator, z, az);
      precondition(system, az, v());
    }
    batch.clear();
    const bool whole = fused_ && !preconditioned_;     // V = AZ and W = R
    const auto gram = batch.symmetricProducts(z, az);  // line 5
    const auto images =
        batch.symmetricProducts(az, pair_.columns(whole ? 2 * width_ : width_ + 1));  // line 5: AZ^T [AZ R]
    const auto hidden = carries() ? batch.symmetricProducts(az, hidden_.columns(2 * width_)) : images;
    const auto n = byDirections_ ? batch.innerProducts(z, parts())
                   : fused_      ? batch.symmetricProducts(parts(), carries() ? w() : parts())
                                 : images;  // known
    const auto rr = whole && !byDirections_ ? n : batch.norm2(this->r());
    const auto sums = carries() ? enterSums(hidden_) : std::vector<Slot>();
    this->enterSmoothing(az);
    if (carries()) {
      system.reduce(batch);
    } else {
      system.applyAndReduce(z, az, batch);  // lines 4, 5
    }
    const int t = width_;
    const Small ofImages = this->matrix(images), ofHidden = this->matrix(hidden);
    const Scalar square = this->matrix(rr)(0, 0);
    if (fused_ || byDirections_) products_.take(this->matrix(n));
    this->noteEnergy(products_.n()(0, 0));
    removeConstants(system, sums, hidden_);
    if (const auto outcome = this->factorize(this->matrix(gram)); outcome != Outcome::Moved) return outcome;  // line 5
    if (this->drops()) dropColumns(system);
    k_ = this->solvedTransposed(products_.n());  // line 6
    k_.scale(sign_);
    if (!allFinite(k_) || !std::isfinite(square)) return Outcome::NotFinite;
    const Small step = copyOf(block(k_, 0, 0, width_, 1));
    const Small ofKept = chosen(ofImages, kept_, kept_), ofResidual = chosen(block(ofImages, 0, t, t, 1), kept_, {0});
    predict(square, ofKept, ofResidual, this->solved(step));  // line 5
    this->smooth(system, x, z_.columns(width_), pair_.columns(width_), square, ofKept, ofResidual);
    this->move(system, step, x);  // lines 6, 7
    if (fused_) {
      predictProducts(chosen(ofHidden, kept_, kept_), chosen(block(ofHidden, 0, t, t, t), kept_, kept_));
      system.kernels().orthonormalize(nullptr, &pair_.columns(width_), factor_, parts(), k_,
                                      products_.t());  // AP, R
    } else {
      advanceResiduals(system);  // lines 6, 7
    }
    return Outcome::Moved;
  }

  void next(LinearSystem<Types>& system) override {
    swap(z_, previous_);
    MultiVector &z = z_.columns(width_), &old = previous_.columns(width_);
    if (!fused_) {
      precondition(system, parts(), z);  // line 8: W
      return byDirections_ ? conjugateDirections(system, z) : normalizeDirections(system, z);
    }
    const bool renews = carries() && (stale_ || ++sinceRenewal_ >= tuning::preconditioner::renewal);
    if (carries()) system.kernels().orthonormalize(nullptr, &v(), factor_, w(), k_, products_.t());  // M^{-1} AP, W
    if (!isPredicted_) normalizeLate(system);
    Small back = copyOf(products_.back());
    solveRight(products_.t(), back);
    if (renews) {
      precondition(system, parts(), z);  // W = M^{-1} R
      removeConstants(system, z_);
      copy(system, z, w());
      sinceRenewal_ = 0;
      stale_ = false;
      system.kernels().update(old, back, z);
    } else {
      system.kernels().updateFrom(carries() ? w() : parts(), old, back, z);
    }
  }

  void replaced(LinearSystem<Types>&) override { stale_ = true; }

 private:
  using Base::batch_, Base::factor_, Base::kept_, Base::preconditioned_, Base::previous_, Base::sign_, Base::width_,
      Base::varies_, Base::z_;
  using Base::chosen, Base::copy, Base::enterSums, Base::removeConstants, Base::precondition, Base::predict;
  using typename Base::Slot;

  /// Whether V and W are blocks of their own.
  bool carries() const { return fused_ && preconditioned_; }
  MultiVector& v() { return hidden_.columns(width_); }
  MultiVector& w() { return hidden_.columns(width_, width_); }

  /// R = R - AP K. The R of an iteration with two reductions has yet to be multiplied by T^{-1}, since T is known late.
  void advanceResiduals(LinearSystem<Types>& system) {
    Small k = k_;
    if (byDirections_) {
      products_.keepFirst(factor_);
    } else if (lags_) {
      k = product(k_, products_.t());
    } else {
      products_.keepAsTheyAre();
    }
    system.kernels().orthonormalize(nullptr, &pair_.columns(width_), factor_, parts(), k, products_.t());  // lines 6, 7
    lags_ = false;
  }

  /// Fused: T and what is taken of P, from inner products of the old W. \param square AZ^T V \param crossed AZ^T W
  void predictProducts(Small square, const Small& crossed) {
    solveRight(factor_, square);
    const Small f = this->solvedTransposed(crossed);
    crossed_ = copyOf(f);
    multiply<Scalar>(-1, Teuchos::NO_TRANS, this->solvedTransposed(square), Teuchos::NO_TRANS, k_, 1, crossed_);
    isPredicted_ = byDirections_ || products_.predict(f, crossed_, k_, this->energySign(), factor_);
    if (byDirections_) products_.conjugate(crossed_, sign_, factor_);
  }

  /// Fused, where N' could not be predicted: one reduction more.
  void normalizeLate(LinearSystem<Types>& system) {
    batch_->clear();
    const auto reduced = batch_->symmetricProducts(parts(), carries() ? w() : parts());
    system.reduce(*batch_);
    byDirections_ = !advances(this->matrix(reduced));
    if (byDirections_) products_.conjugate(crossed_, sign_, factor_);
    system.kernels().triangularSolve(parts(), products_.t());
    if (carries()) system.kernels().triangularSolve(w(), products_.t());
  }

  /// Two reductions: Z from W before normalisation, with T and what is taken of P from N', which is reduced.
  void normalizeDirections(LinearSystem<Types>& system, MultiVector& z) {
    batch_->clear();
    const bool watches = preconditioned_ && ++steps_ <= tuning::preconditioner::firstSteps;
    const auto reduced = watches ? batch_->innerProducts(parts(), z) : batch_->symmetricProducts(parts(), z);  // line 9
    const auto measured = watches ? batch_->innerProducts(pair_.columns(width_), z) : reduced;                 // AP^T W
    system.reduce(*batch_);                                                                                    // line 9
    const Small inner = this->matrix(reduced);
    lags_ = advances(inner);  // lines 9, 10
    if (watches && lags_) {
      varies_ = !products_.symmetric(inner) || !products_.conjugates(this->matrix(measured), sign_);
    }
    if (varies_ || !lags_) {
      lags_ = false;
      byDirections_ = true;
      products_.conjugate(watches ? this->matrix(measured) : reducedCrossed(system, z), sign_, factor_);
      system.kernels().triangularSolve(parts(), products_.t());
    }
    system.kernels().orthonormalize(&previous_.columns(width_), nullptr, Small(), z, products_.back(),
                                    products_.t());  // line 10
  }

  bool advances(const Small& reduced) {
    return products_.advance(reduced, this->energySign(), factor_, nullptr, tuning::orthogonalization::rounding);
  }

  /// Two reductions, where N' is not positive: Z = W - P AP^T W.
  void conjugateDirections(LinearSystem<Types>& system, MultiVector& z) {
    Small beta = reducedCrossed(system, z);
    beta.scale(sign_);
    system.kernels().update(previous_.columns(width_), beta, z);
  }
  /// AP^T W; constants are taken out of W besides.
  Small reducedCrossed(LinearSystem<Types>& system, const MultiVector& w) {
    batch_->clear();
    const auto crossed = batch_->innerProducts(pair_.columns(width_), w);
    const auto sums = enterSums(z_);
    system.reduce(*batch_);
    removeConstants(system, sums, z_);
    return this->matrix(crossed);
  }

  /// The parts of the residual made orthonormal, and those dropped that depend on others. Their norms may be far
  /// apart; where a solve begins with them as they are, rounding in the smaller ones costs iterations to the end.
  void normalizeParts(LinearSystem<Types>& system, const MultiVector& z) {
    batch_->clear();
    const bool watches = !fused_ && preconditioned_;
    const auto n = watches ? batch_->innerProducts(parts(), z) : batch_->symmetricProducts(parts(), z);
    system.reduce(*batch_);  // line 2
    products_.take(this->matrix(n));
    this->noteEnergy(products_.n()(0, 0));
    varies_ = watches && !products_.symmetric(products_.n());
    Small definite = copyOf(products_.n());
    definite.scale(this->energySign());
    kept_ = independentColumns<Scalar>(definite, tuning::orthogonalization::rounding);
    if (!kept_.empty() && this->drops()) dropColumns(system);
    const Small left = copyOf(products_.n());
    byDirections_ = varies_ || kept_.empty() || !products_.normalize(left, this->energySign(), nullptr, Scalar(0));
    if (byDirections_) return;
    system.kernels().triangularSolve(parts(), products_.t());             // line 2
    system.kernels().triangularSolve(z_.columns(width_), products_.t());  // line 2
  }

  /// Dependent directions and their residuals are no longer carried.
  void dropColumns(LinearSystem<Types>& system) {
    if (lags_) system.kernels().triangularSolve(parts(), products_.t());
    lags_ = false;
    std::vector<int> second = kept_;
    for (int& number : second) number += width_;
    const int left = static_cast<int>(kept_.size());
    z_.gather(system, kept_);
    pair_.gather(system, kept_);
    pair_.gather(system, second, left);
    if (carries()) hidden_.gather(system, kept_);
    if (carries()) hidden_.gather(system, second, left);
    products_.take(chosen(products_.n(), kept_, kept_));
    width_ = left;
  }

  bool fused_, stale_ = false;
  bool byDirections_ = false;  ///< N' is not positive, or M not linear and symmetric
  bool lags_ = false;          ///< R is to be multiplied by T^{-1}
  bool isPredicted_ = true;    ///< N', fused
  int sinceRenewal_ = 0;
  int steps_ = 0;  ///< that were looked at for an M that is not linear and symmetric, or one more
  ColumnBlock<Types> pair_, hidden_;
  ResidualProducts<Scalar> products_;
  Small k_, crossed_;
};

}  // namespace capstan
