#pragma once
/// \file
/// The Orthomin form of enlarged CG: new directions come from the residuals, as those of CG do. Two reductions an
/// iteration, or one.
///
/// Source: [Grigori and Tissot 2019], Orthomin; block CG of [O'Leary 1980], whose right-hand sides here are the parts
/// of one residual. Two things differ, for rounding's sake. The first column of R is r itself, so that its direction,
/// CG's own, is the last one to be dropped. And R is multiplied by C^{-1} in every iteration, as its columns would soon
/// be dependent otherwise (compare [Dubrulle 2001]).
///
///     AZ = A Z
///     reduce Z^T AZ = C^T C, Z^T R
///     P = Z C^{-1}, AP = AZ C^{-1};  K = C^{-T} (Z^T R),  T = C, its first row divided by C_11
///     x = x + P K e_1,  R = (R - AP K) T^{-1}
///     W = M^{-1} R
///     reduce beta = AP^T W
///     Z = W - P beta
///
/// Fused: V = M^{-1} AZ is made before the first reduction, and W = (W - V C^{-1} K) T^{-1} follows R, so that beta
/// comes from products reduced there, as in [Chen and Carson 2020]: beta = C^{-T} (AZ^T W - AZ^T V C^{-1} K) T^{-1}
/// with the old W. W is renewed now and then.
///
/// | here             | shape                 | meaning                                                       |
/// |------------------|-----------------------|---------------------------------------------------------------|
/// | pair_ = [AZ R]   | n x 2 t, distributed  | A Z, then A P; residuals, whose first column is r             |
/// | hidden_ = [V W]  | n x 2 t, distributed  | M^{-1} AZ, then M^{-1} AP; M^{-1} R. Fused, and with M, only  |
/// | crossed_, square_| t x t, replicated     | AZ^T W and AZ^T V                                             |
/// | K, T             | t x t, replicated     | as above                                                      |
///
/// Cost of an iteration: enlarged_cg.hpp.

#include "belos_ext/solvers/enlarged_cg/enlarged_directions.hpp"

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
    sinceRenewal_ = 0;
  }

  MultiVector& parts() override { return pair_.columns(width_, width_); }
  MultiVector& part(int number) override { return pair_.column(width_ + number); }

  void begin(LinearSystem<Types>& system) override {
    precondition(system, parts(), z_.columns(width_));
    removeConstants(system, z_);
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
    const bool whole = fused_ && !preconditioned_;                           // V = AZ and W = R
    const auto own = batch.symmetricProducts(z, pair_.columns(2 * width_));  // Z^T [AZ R]
    const auto images =
        batch.symmetricProducts(az, pair_.columns(whole ? 2 * width_ : width_ + 1));  // AZ^T [AZ r or R]
    const auto hidden = carries() ? batch.symmetricProducts(az, hidden_.columns(2 * width_)) : images;
    const auto rr = batch.norm2(this->r());
    const auto sums = carries() ? enterSums(hidden_) : std::vector<Slot>();
    if (carries()) {
      system.reduce(batch);
    } else {
      system.applyAndReduce(z, az, batch);
    }
    const Scalar square = batch[rr];
    const Small products = this->matrix(own), ofImages = this->matrix(images), ofHidden = this->matrix(hidden);
    const int t = width_;
    this->noteEnergy(products(0, t));
    removeConstants(system, sums, hidden_);
    if (const auto outcome = this->factorize(copyOf(block(products, 0, 0, t, t))); outcome != Outcome::Moved)
      return outcome;
    if (this->drops()) dropColumns(system);
    k_ = this->solvedTransposed(chosen(block(products, 0, t, t, t), kept_, kept_));
    k_.scale(sign_);
    if (!allFinite(k_) || !std::isfinite(square)) return Outcome::NotFinite;
    const Small step = copyOf(block(k_, 0, 0, width_, 1));
    predict(square, chosen(ofImages, kept_, kept_), chosen(block(ofImages, 0, t, t, 1), kept_, {0}),
            this->solved(step));
    if (fused_) {
      crossed_ = chosen(block(ofHidden, 0, t, t, t), kept_, kept_);
      square_ = chosen(ofHidden, kept_, kept_);
    }
    this->move(system, step, x);
    t_ = factor_;
    for (int j = width_ - 1; j >= 0; --j) t_(0, j) /= factor_(0, 0);
    system.kernels().orthonormalize(nullptr, &pair_.columns(width_), factor_, parts(), k_, t_);  // AP, R
    return Outcome::Moved;
  }

  void next(LinearSystem<Types>& system) override {
    const bool renews = carries() && (stale_ || ++sinceRenewal_ >= tuning::cg::renewal);
    Small beta = fused_ ? betaFromProducts() : Small();
    if (carries()) system.kernels().orthonormalize(nullptr, &v(), factor_, w(), k_, t_);  // M^{-1} AP, W
    swap(z_, previous_);
    MultiVector& z = z_.columns(width_);
    const bool applies = preconditioned_ && (!carries() || renews);
    if (applies) precondition(system, parts(), z);  // W = M^{-1} R
    if (renews) {
      removeConstants(system, z_);
      copy(system, z, w());
      sinceRenewal_ = 0;
      stale_ = false;
    }
    MultiVector& residuals = applies ? z : carries() ? w() : parts();
    if (!fused_) beta = reducedBeta(system, residuals);
    beta.scale(sign_);
    if (applies) {
      system.kernels().update(previous_.columns(width_), beta, z);  // Z = W - P beta
    } else {
      system.kernels().updateFrom(residuals, previous_.columns(width_), beta, z);
    }
  }

  void replaced(LinearSystem<Types>&) override { stale_ = true; }

 private:
  using Base::batch_, Base::factor_, Base::kept_, Base::preconditioned_, Base::previous_, Base::sign_, Base::width_,
      Base::z_;
  using Base::chosen, Base::copy, Base::enterSums, Base::removeConstants, Base::precondition, Base::predict;
  using typename Base::Slot;

  /// Whether V and W are blocks of their own.
  bool carries() const { return fused_ && preconditioned_; }
  MultiVector& v() { return hidden_.columns(width_); }
  MultiVector& w() { return hidden_.columns(width_, width_); }

  Small reducedBeta(LinearSystem<Types>& system, const MultiVector& residuals) {
    batch_->clear();
    const auto beta = batch_->innerProducts(pair_.columns(width_), residuals);  // AP^T W
    const auto sums = enterSums(z_);
    system.reduce(*batch_);
    removeConstants(system, sums, z_);
    return this->matrix(beta);
  }

  Small betaFromProducts() const {
    Small beta = copyOf(crossed_);
    multiply<Scalar>(-1, Teuchos::NO_TRANS, square_, Teuchos::NO_TRANS, this->solved(k_), 1, beta);
    beta = this->solvedTransposed(beta);
    solveRight(t_, beta);
    return beta;
  }

  /// Dependent directions and their residuals are no longer carried.
  void dropColumns(LinearSystem<Types>& system) {
    std::vector<int> second = kept_;
    for (int& number : second) number += width_;
    const int left = static_cast<int>(kept_.size());
    z_.gather(system, kept_);
    pair_.gather(system, kept_);
    pair_.gather(system, second, left);
    if (carries()) hidden_.gather(system, kept_);
    if (carries()) hidden_.gather(system, second, left);
    width_ = left;
  }

  bool fused_, stale_ = false;
  int sinceRenewal_ = 0;
  ColumnBlock<Types> pair_, hidden_;
  Small k_, t_, crossed_, square_;
};

}  // namespace capstan
